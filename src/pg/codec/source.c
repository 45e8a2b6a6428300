/*
 * source.c
 *		Columns and rows of a user's table or view, and how messages name a row.
 */
#include "pg/codec/rows.h"

#include "access/sysattr.h"

#include "pg/server/row_types.h"

void
hopper_pack_resolve_column(Oid relation, const char *name, hopper_pack_column *column)
{
	int32		typmod;
	Oid			collation;

	get_atttypetypmodcoll(relation, hopper_require_column(relation, name), &column->declared,
						  &typmod, &collation);
	column->name = pstrdup(name);
	column->qualified_type = hopper_type_name(column->declared, typmod);
	/* It is stored, and read where another search_path holds. */
	column->sql_type = column->qualified_type;
	if (strncmp(column->sql_type, "pg_catalog.", strlen("pg_catalog.")) == 0)
		column->sql_type += strlen("pg_catalog.");
	column->type = getBaseType(column->declared);
}

void
hopper_pack_set_row_types(hopper_pack_source *source, int n_more, const Oid *more, bool named)
{
	source->n_columns = source->n_x + n_more;
	/* What comes last names the row, too, where nothing follows. */
	source->first_key = source->n_columns + (named ? 1 : 0);
	if (named)
		source->n_columns += source->n_keys + (source->has_tableoid ? 1 : 0) +
			(source->has_ctid ? 1 : 0);
	source->column_types = palloc0(sizeof(Oid) * source->n_columns);
	for (int i = 0; i < source->n_x; i++)
		source->column_types[i] = source->x[i].declared;
	memcpy(source->column_types + source->n_x, more, sizeof(Oid) * n_more);
}

static bool
may_read(Oid relation, AttrNumber column)
{
	return pg_class_aclcheck(relation, GetUserId(), ACL_SELECT) == ACLCHECK_OK ||
		pg_attribute_aclcheck(relation, column, GetUserId(), ACL_SELECT) == ACLCHECK_OK;
}

/* By inheritance: its rows may lie in other tables, too. */
static bool
has_children(Oid relation)
{
	return hopper_any(hopper_select("SELECT 1 FROM pg_catalog.pg_inherits"
									" WHERE inhparent OPERATOR(pg_catalog.=) %u LIMIT 1",
									relation));
}

void
hopper_pack_find_row_names(hopper_pack_source *source, Oid relation)
{
	char		relkind = get_rel_relkind(relation);
	bool		has_key;
	bool		has_parts;
	AttrNumber	number;
	uint64		n_rows;
	uint64		row;

	if (relkind != RELKIND_RELATION && !hopper_is_partitioned(relkind) &&
		relkind != RELKIND_MATVIEW)
		return;
	n_rows = hopper_select("SELECT a.attname::pg_catalog.text, a.attnum"
						   " FROM pg_catalog.pg_index i, pg_catalog.pg_attribute a"
						   " WHERE i.indrelid OPERATOR(pg_catalog.=) %u AND i.indisprimary"
						   " AND a.attrelid OPERATOR(pg_catalog.=) i.indrelid"
						   " AND a.attnum OPERATOR(pg_catalog.=) ANY"
						   " (i.indkey::pg_catalog.int2[])"
						   " ORDER BY a.attnum",
						   relation);
	source->keys = palloc(sizeof(char *) * (n_rows + 1));
	has_key = n_rows > 0;
	for (row = 0; row < n_rows; row++)
	{
		source->keys[row] = hopper_cell(row, 1);
		number = (AttrNumber) hopper_int_cell(&source->name, row, 2, 1, PG_INT16_MAX);
		has_key = has_key && may_read(relation, number);
	}
	if (has_key)
	{
		source->n_keys = (int) n_rows;
		return;
	}
	has_parts = hopper_is_partitioned(relkind) || has_children(relation);
	source->has_ctid = hopper_backend.has_ctid(relation) &&
		may_read(relation, SelfItemPointerAttributeNumber) &&
		(!has_parts || may_read(relation, TableOidAttributeNumber));
	source->has_tableoid = source->has_ctid && has_parts;
}

void
hopper_pack_append_row_names(const hopper_pack_source *source, StringInfo query)
{
	int			i;

	for (i = 0; i < source->n_keys; i++)
		appendStringInfo(query, ", %s", hopper_identifier(source->keys[i]));
	if (source->has_tableoid)
		appendStringInfoString(query, ", tableoid::pg_catalog.regclass");
	if (source->has_ctid)
		appendStringInfoString(query, ", ctid");
}

char *
hopper_pack_row_list(const hopper_pack_source *source, const char *more, bool named)
{
	StringInfo	list = makeStringInfo();

	for (int i = 0; i < source->n_x; i++)
		appendStringInfo(list, "%s%s", i ? ", " : "", hopper_identifier(source->x[i].name));
	if (more)
		appendStringInfo(list, ", %s", more);
	if (named)
		hopper_pack_append_row_names(source, list);
	return list->data;
}

void
hopper_pack_deform(hopper_pack_source *source, HeapTuple tuple)
{
	Datum	   *values = palloc(source->desc->natts * sizeof(Datum));
	bool	   *nulls = palloc(source->desc->natts * sizeof(bool));

	heap_deform_tuple(tuple, source->desc, values, nulls);
	source->values = values;
	source->nulls = nulls;
}

void
hopper_pack_begin_rows(hopper_pack_source *source, TupleDesc desc)
{
	hopper_require_row_types(desc, source->n_columns, source->column_types, source->name.shown);
	source->desc = desc;
}

/* Numbers and ctids say nothing without the segment. */
static const char *
place_of_row(const hopper_pack_source *source)
{
	return source->segment < 0 ? "" : psprintf(" on segment %d", source->segment);
}

/* As text, "null" as in the server's own messages: what names a row to predict from may be NULL. */
static const char *
value_text(const hopper_pack_source *source, int column)
{
	return source->nulls[column - 1] ? "null"
		: hopper_text_of(TupleDescAttr(source->desc, column - 1)->atttypid,
						 source->values[column - 1]);
}

char *
hopper_pack_row_name(const hopper_pack_source *source)
{
	StringInfo	name = makeStringInfo();
	int			at = source->first_key;
	int			i;

	if (source->n_keys == 0 && !source->has_ctid)
		return psprintf("Row number " INT64_FORMAT "%s", source->row_number,
						place_of_row(source));
	if (source->n_keys > 0)
	{
		appendStringInfoString(name, "Row (");
		for (i = 0; i < source->n_keys; i++)
			appendStringInfo(name, "%s%s", i ? ", " : "", source->keys[i]);
		appendStringInfoString(name, ")=(");
		for (i = 0; i < source->n_keys; i++)
			appendStringInfo(name, "%s%s", i ? ", " : "",
							 value_text(source, at + i));
		appendStringInfoChar(name, ')');
		return name->data;
	}
	appendStringInfoString(name, "Row at ");
	if (source->has_tableoid)
		appendStringInfo(name, "%s ", value_text(source, at++));
	appendStringInfo(name, "ctid %s%s", value_text(source, at), place_of_row(source));
	return name->data;
}
