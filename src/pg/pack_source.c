/*
 * pack_source.c
 *		The table or view that is packed: its columns, the query over its rows, and how messages
 *		name a row.
 */
#include "pg/pack.h"

#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "utils/lsyscache.h"

static void
resolve_column(Oid relation, const char *name, pack_column *column)
{
	AttrNumber	number = hopper_require_column(relation, name);
	Oid			type;
	int32		typmod;
	Oid			collation;

	if (number < 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("system column \"%s\" cannot be packed", name)));
	get_atttypetypmodcoll(relation, number, &type, &typmod, &collation);
	column->name = pstrdup(name);
	column->sql_type = format_type_with_typemod(type, typmod);
	column->type = getBaseType(type);
}

/* Without a primary key ctid names a row, where the relation has one. */
static void
find_row_names(pack_source *source, Oid relation)
{
	char		relkind = get_rel_relkind(relation);
	uint64		n_rows;
	uint64		row;

	if (relkind != RELKIND_RELATION && !hopper_is_partitioned(relkind) &&
		relkind != RELKIND_MATVIEW)
		return;
	n_rows = hopper_select("SELECT a.attname::pg_catalog.text"
						   " FROM pg_catalog.pg_index i, pg_catalog.pg_attribute a"
						   " WHERE i.indrelid OPERATOR(pg_catalog.=) %u AND i.indisprimary"
						   " AND a.attrelid OPERATOR(pg_catalog.=) i.indrelid"
						   " AND a.attnum OPERATOR(pg_catalog.=) ANY"
						   " (i.indkey::pg_catalog.int2[])"
						   " ORDER BY a.attnum",
						   relation);
	source->keys = palloc(sizeof(char *) * (n_rows + 1));
	for (row = 0; row < n_rows; row++)
		source->keys[row] = hopper_cell(row, 1);
	source->n_keys = (int) n_rows;
	source->has_ctid = n_rows == 0 && hopper_has_ctid(relation);
	source->has_tableoid = n_rows == 0 && hopper_is_partitioned(relkind);
}

void
pack_open_source(const pack_request *request, pack_source *source)
{
	Oid			relation = hopper_source_oid(&request->source);
	ListCell   *cell;

	memset(source, 0, sizeof(*source));
	source->segment = -1;
	source->name = request->source;
	source->x = palloc0(sizeof(pack_column) * list_length(request->x_names));
	foreach(cell, request->x_names)
		resolve_column(relation, lfirst(cell), &source->x[source->n_x++]);
	resolve_column(relation, linitial(request->y_names), &source->y);
	if (request->fold_column)
	{
		resolve_column(relation, request->fold_column, &source->fold);
		if (source->fold.type != BOOLOID)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("column \"%s\" of \"%s\" is of type %s but fold_column must be boolean",
							source->fold.name, source->name.shown, source->fold.sql_type),
					 errhint("True marks a row for validation; a view can compute it.")));
	}
	find_row_names(source, relation);
}

void
pack_append_row_names(const pack_source *source, StringInfo query)
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
pack_row_query(pack_job *job)
{
	pack_source *source = &job->source;
	StringInfoData query;
	int			i;

	source->first_key = source->n_x + 2 + (source->fold.name ? 1 : 0);

	initStringInfo(&query);
	appendStringInfoString(&query, "SELECT ");
	for (i = 0; i < source->n_x; i++)
		appendStringInfo(&query, "%s, ", hopper_identifier(source->x[i].name));
	/* the family is PACK_NO_CLASS where labels are numbers */
	appendStringInfoString(&query, pack_label_expression(&source->y, job->classes.family));
	if (source->fold.name)
		appendStringInfo(&query, ", %s", hopper_identifier(source->fold.name));
	pack_append_row_names(source, &query);
	appendStringInfo(&query, " FROM %s", source->name.quoted);
	return query.data;
}

/* Numbers and ctids say nothing without the segment. */
static const char *
place_of_row(const pack_source *source)
{
	return source->segment < 0 ? "" : psprintf(" on segment %d", source->segment);
}

char *
pack_row_name(const pack_source *source)
{
	StringInfoData name;
	int			at = source->first_key;
	int			i;

	if (source->n_keys == 0 && !source->has_ctid)
		return psprintf("Row number " INT64_FORMAT "%s", source->row_number,
						place_of_row(source));
	initStringInfo(&name);
	if (source->n_keys > 0)
	{
		appendStringInfoString(&name, "Row (");
		for (i = 0; i < source->n_keys; i++)
			appendStringInfo(&name, "%s%s", i ? ", " : "", source->keys[i]);
		appendStringInfoString(&name, ")=(");
		for (i = 0; i < source->n_keys; i++)
			appendStringInfo(&name, "%s%s", i ? ", " : "",
							 SPI_getvalue(source->tuple, source->desc, at + i));
		appendStringInfoChar(&name, ')');
		return name.data;
	}
	appendStringInfoString(&name, "Row at ");
	if (source->has_tableoid)
		appendStringInfo(&name, "%s ", SPI_getvalue(source->tuple, source->desc, at++));
	appendStringInfo(&name, "ctid %s%s", SPI_getvalue(source->tuple, source->desc, at),
					 place_of_row(source));
	return name.data;
}
