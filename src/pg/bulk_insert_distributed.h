/*
 * bulk_insert_distributed.h
 *		Rows into a new distributed table: an INSERT of a few thousand rows at a time, which the
 *		coordinator sends to their segments. Included by bulk_insert.c alone.
 */
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/array.h"
#include "utils/datum.h"

#define ROWS_AT_ONCE 4096

struct hopper_bulk_insert
{
	Relation	relation;
	int			n_columns;
	SPIPlanPtr	plan;
	MemoryContext rows;			/* values that are not yet written */
	int			n;
	Datum	  **values;			/* by column, then row */
	bool	  **nulls;
};

/* INSERT INTO t SELECT unnest($1), unnest($2), ... */
static SPIPlanPtr
prepare_rows(Relation relation)
{
	TupleDesc	descriptor = RelationGetDescr(relation);
	Oid		   *types = palloc(sizeof(Oid) * descriptor->natts);
	StringInfoData query;
	SPIPlanPtr	plan;

	initStringInfo(&query);
	appendStringInfo(&query, "INSERT INTO %s SELECT ",
					 quote_qualified_identifier(get_namespace_name(RelationGetNamespace(relation)),
												RelationGetRelationName(relation)));
	for (int i = 0; i < descriptor->natts; i++)
	{
		Oid			type = TupleDescAttr(descriptor, i)->atttypid;

		types[i] = get_array_type(type);
		appendStringInfo(&query, "%spg_catalog.unnest($%d)", i ? ", " : "", i + 1);
		if (!OidIsValid(types[i]))
		{
			/* arrays have no array of their own kind: their text travels */
			types[i] = TEXTARRAYOID;
			appendStringInfo(&query, "::%s", format_type_be(type));
		}
	}
	plan = SPI_prepare(query.data, descriptor->natts, types);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
	return plan;
}

hopper_bulk_insert *
hopper_bulk_insert_open(Oid relation)
{
	hopper_bulk_insert *insert = palloc0(sizeof(hopper_bulk_insert));

	insert->relation = heap_open(relation, RowExclusiveLock);
	insert->n_columns = RelationGetNumberOfAttributes(insert->relation);
	insert->plan = prepare_rows(insert->relation);
	insert->values = palloc(sizeof(Datum *) * insert->n_columns);
	insert->nulls = palloc(sizeof(bool *) * insert->n_columns);
	for (int i = 0; i < insert->n_columns; i++)
	{
		insert->values[i] = palloc(sizeof(Datum) * ROWS_AT_ONCE);
		insert->nulls[i] = palloc(sizeof(bool) * ROWS_AT_ONCE);
	}
	insert->rows = AllocSetContextCreate(CurrentMemoryContext, "hopper rows to insert",
										 ALLOCSET_DEFAULT_SIZES);
	return insert;
}

TupleDesc
hopper_bulk_insert_descriptor(const hopper_bulk_insert *insert)
{
	return RelationGetDescr(insert->relation);
}

static void
flush(hopper_bulk_insert *insert)
{
	MemoryContext caller = MemoryContextSwitchTo(insert->rows);
	Datum	   *arrays = palloc(sizeof(Datum) * insert->n_columns);
	int			lower = 1;

	if (insert->n > 0)
	{
		for (int i = 0; i < insert->n_columns; i++)
		{
			Form_pg_attribute column = TupleDescAttr(RelationGetDescr(insert->relation), i);
			Oid			type = column->atttypid;
			int16		length = column->attlen;
			bool		by_value = column->attbyval;
			char		alignment = column->attalign;

			if (!OidIsValid(get_array_type(type)))
			{
				Oid			output;
				bool		is_varlena;

				getTypeOutputInfo(type, &output, &is_varlena);
				for (int row = 0; row < insert->n; row++)
					if (!insert->nulls[i][row])
						insert->values[i][row] =
							CStringGetTextDatum(OidOutputFunctionCall(output,
																	  insert->values[i][row]));
				type = TEXTOID;
				length = -1;
				by_value = false;
				alignment = 'i';
			}
			arrays[i] = PointerGetDatum(construct_md_array(insert->values[i], insert->nulls[i], 1,
														   &insert->n, &lower, type, length,
														   by_value, alignment));
		}
		if (SPI_execute_plan(insert->plan, arrays, NULL, false, 0) != SPI_OK_INSERT)
			elog(ERROR, "SPI_execute_plan failed: %s", SPI_result_code_string(SPI_result));
	}
	insert->n = 0;
	MemoryContextSwitchTo(caller);
	MemoryContextReset(insert->rows);
}

void
hopper_bulk_insert_row(hopper_bulk_insert *insert, const Datum *values, const bool *nulls)
{
	MemoryContext caller = MemoryContextSwitchTo(insert->rows);

	for (int i = 0; i < insert->n_columns; i++)
	{
		Form_pg_attribute column = TupleDescAttr(RelationGetDescr(insert->relation), i);

		insert->nulls[i][insert->n] = nulls[i];
		insert->values[i][insert->n] = nulls[i] ? (Datum) 0
			: datumCopy(values[i], column->attbyval, column->attlen);
	}
	insert->n++;
	MemoryContextSwitchTo(caller);
	if (insert->n == ROWS_AT_ONCE)
		flush(insert);
}

void
hopper_bulk_insert_close(hopper_bulk_insert *insert)
{
	flush(insert);
	SPI_freeplan(insert->plan);
	heap_close(insert->relation, NoLock);
	MemoryContextDelete(insert->rows);
	pfree(insert);
}
