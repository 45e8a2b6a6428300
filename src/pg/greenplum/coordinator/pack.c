/*
 * pack.c
 *		Packing on the segments: the coordinator's part. Keys come here, rows do not.
 */
#include "pg/greenplum/pack.h"

#include "cdb/cdbutil.h"
#include "nodes/makefuncs.h"

#include "pg/server/row_types.h"

#define KEYS_AT_ONCE 4096
#define MOST_DIMENSIONS 6		/* of an array */
#define MOST_KEYS_NAMED 50		/* of equal rows: of more, all rows are looked at */

/* --- shapes --- */

bool
hopper_pack_learn_shape_remotely(const hopper_pack_source *named, hopper_pack_values *values)
{
	hopper_pack_source source = *named;
	StringInfo	query = makeStringInfo();
	const char *column;
	int64		shape[MOST_DIMENSIONS] = {1};
	int			rank = 0;

	if (values->shape_known)
		return true;
	if (values->n_parts > 0)
	{
		bool		any = true;

		for (int i = 0; i < values->n_parts; i++)
			any = hopper_pack_learn_shape_remotely(named, &values->parts[i]) && any;
		hopper_pack_values_know_inputs(values);
		return any;
	}
	column = hopper_identifier(values->columns[0].name);
	for (int i = 0; i < MOST_DIMENSIONS; i++)
		appendStringInfo(query, "%spg_catalog.array_length(%s, %d)", i ? ", " : "SELECT ", column,
						 i + 1);
	hopper_pack_append_row_names(&source, query);
	appendStringInfo(query, " FROM %s", source.name.quoted);
	if (hopper_select("%s WHERE pg_catalog.array_length(%s, 1) IS NOT NULL LIMIT 1", query->data,
					  column) == 0)
	{
		hopper_pack_values_learn_shape(values, 1, shape, pstrdup("no row"));
		return hopper_select("SELECT 1 FROM %s LIMIT 1", source.name.quoted) > 0;
	}
	source.desc = SPI_tuptable->tupdesc;
	hopper_pack_deform(&source, SPI_tuptable->vals[0]);
	source.first_key = MOST_DIMENSIONS + 1;
	source.row_number = 1;
	for (; rank < MOST_DIMENSIONS; rank++)
	{
		if (hopper_cell(0, rank + 1) == NULL)
			break;
		shape[rank] = hopper_key_cell(&source.name, 0, rank + 1);
	}
	hopper_pack_values_learn_shape(values, rank, shape, hopper_pack_row_name(&source));
	SPI_freetuptable(SPI_tuptable);
	return true;
}

/* --- the working table --- */

static void
create_rows_table(const hopper_pack_job *job, hopper_name *rows)
{
	const hopper_name *output = &job->request.output;
	Oid			schema = RangeVarGetCreationNamespace(makeRangeVar(output->schema, output->name,
																   -1));

	*rows = hopper_name_with_suffix(output, "pack_rows");
	hopper_require_absent(rows);
	/* beside a temporary table it is temporary, too */
	hopper_exec("CREATE %s TABLE %s (key pg_catalog.bytea, stratum pg_catalog.int4,"
				" body pg_catalog.bytea)" HOPPER_DISTRIBUTED_RANDOMLY,
				isTempNamespace(schema) ? "" : "UNLOGGED", rows->quoted);
	hopper_exec("ALTER TABLE %s ALTER COLUMN body SET STORAGE EXTERNAL", rows->quoted);
}

/* The users' functions in the source run with the caller's search_path. */
static void
encode_rows(hopper_pack_job *job, const hopper_name *rows)
{
	Oid			types[] = {BYTEAOID};
	Datum		values[] = {PointerGetDatum(hopper_describe(&hopper_job_description, job))};
	SPIPlanPtr	plan = hopper_prepare(psprintf("INSERT INTO %s SELECT * FROM %s(TABLE(%s), $1)",
											   rows->quoted, hopper_own_name("segment_encode"),
											   hopper_pack_row_query(job)), 1, types, 0);
	int			rc = SPI_execute_plan(plan, values, NULL, false, 0);

	if (rc != SPI_OK_INSERT)
		elog(ERROR, "SPI_execute_plan failed: %s", SPI_result_code_string(rc));
	SPI_freeplan(plan);
}

#define OF_ROWS "stratum OPERATOR(pg_catalog.<>) -1"	/* PACK_STRATUM_OF_RANGES */

static void
read_ranges(hopper_pack_job *job, const hopper_name *rows)
{
	const Oid	type = BYTEAOID;
	uint64		n = hopper_select_latest("SELECT key FROM %s WHERE NOT (" OF_ROWS ")",
										 rows->quoted);

	hopper_require_row_types(SPI_tuptable->tupdesc, 1, &type, rows->shown);
	hopper_pack_start_ranges(job);
	for (uint64 row = 0; row < n; row++)
	{
		bool		isnull;
		Datum		bytes = hopper_value(row, 1, BYTEAOID, &isnull);

		if (isnull || !hopper_pack_add_ranges(job, DatumGetByteaPP(bytes)))
			elog(ERROR, "a row of the working table is damaged");
	}
	SPI_freetuptable(SPI_tuptable);
}

static void
count_rows(hopper_pack_job *job, const hopper_name *rows)
{
	uint64		n = hopper_select_latest("SELECT stratum, pg_catalog.count(*) FROM %s WHERE "
										 OF_ROWS " GROUP BY stratum ORDER BY stratum",
										 rows->quoted);

	hopper_pack_start_counting(job);
	for (uint64 row = 0; row < n; row++)
		hopper_pack_count_rows(job, hopper_key_cell(rows, row, 1),
							   hopper_int_cell(rows, row, 2, 1, PG_INT64_MAX));
	SPI_freetuptable(SPI_tuptable);
}

/* --- the order --- */

static void
start_plan(hopper_pack_plan *plan, const hopper_pack_job *job, const hopper_pack_output *output,
		   bool validation)
{
	int32		n = 0;

	memset(plan, 0, sizeof(*plan));
	plan->validation = validation;
	plan->row = job->row;
	plan->n_strata = job->n_strata;
	plan->limits = hopper_palloc0_huge((Size) job->n_strata * PACK_PLACE_SIZE);
	plan->any = hopper_palloc0_huge((Size) job->n_strata * sizeof(bool));
	for (int32 i = 0; i < output->partitions; i++)
		n += hopper_pack_output_buffers(output, i);
	plan->ends = hopper_palloc0_huge((Size) n * PACK_PLACE_SIZE);
	plan->partitions = hopper_palloc0_huge((Size) n * sizeof(int32));
	plan->rows = hopper_palloc0_huge((Size) n * sizeof(int32));
	plan->keys = hopper_palloc0_huge((Size) n * sizeof(int32));
}

static void
take_row(hopper_pack_plan *plan, hopper_pack_output *output, const char *place)
{
	if (!hopper_pack_output_row(output))
		return;
	memcpy(plan->ends + (Size) plan->n_buffers * PACK_PLACE_SIZE, place, PACK_PLACE_SIZE);
	plan->partitions[plan->n_buffers] = output->partition;
	plan->rows[plan->n_buffers] = output->filled;
	plan->keys[plan->n_buffers] = output->keys[output->partition];
	plan->n_buffers++;
	hopper_pack_output_next(output);
}

/* Buffers end where places say, so that one out of order would put rows into other buffers. */
static void
require_ascending(const hopper_name *rows, const char *last, const char *place)
{
	if (memcmp(last, place, PACK_PLACE_SIZE) >= 0)
		hopper_raise(ERRCODE_INTERNAL_ERROR,
					 errmsg("the server does not return the rows of \"%s\" in the order of their "
							"keys", rows->shown),
					 errdetail("They were asked for in ascending order of a column of type bytea."),
					 errhint("This is a fault of the server, or of an operator class of type "
							 "bytea."));
}

/* Keys that several rows have. */
typedef struct copied_keys
{
	int			n;
	char		last[PACK_KEY_SIZE];
	StringInfoData names;		/* of the first MOST_KEYS_NAMED, SQL */
} copied_keys;

static void
add_copied_key(copied_keys *copied, const char *key)
{
	if (copied->n > 0 && memcmp(copied->last, key, PACK_KEY_SIZE) == 0)
		return;
	memcpy(copied->last, key, PACK_KEY_SIZE);
	if (copied->n++ < MOST_KEYS_NAMED)
		appendStringInfo(&copied->names, "%spg_catalog.decode(%s, 'hex')",
						 copied->n > 1 ? ", " : "",
						 hopper_literal(hopper_hex((const uint8_t *) key, PACK_KEY_SIZE)));
}

/* Reads all keys in order and notes where buffers and the validation part end. */
static copied_keys
rank_rows(hopper_pack_job *job, const hopper_name *rows, hopper_pack_output *const outputs[2],
		  hopper_pack_plan plans[2])
{
	const Oid	types[4] = {BYTEAOID, INT4OID, INT4OID, TIDOID};
	SPIPlanPtr	plan;
	Portal		portal;
	char		place[PACK_PLACE_SIZE];
	char		last[PACK_PLACE_SIZE];
	bool		is_first = true;
	copied_keys copied = {0};

	initStringInfo(&copied.names);
	plan = SPI_prepare_cursor(psprintf("SELECT key, stratum, gp_segment_id, ctid FROM %s"
									   " WHERE " OF_ROWS
									   " ORDER BY key, gp_segment_id, ctid", rows->quoted), 0,
							  NULL, CURSOR_OPT_NO_SCROLL);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
	/* sees what this statement has written */
	portal = SPI_cursor_open(NULL, plan, NULL, NULL, false);
	for (;;)
	{
		SPITupleTable *table;
		uint64		n;

		CHECK_FOR_INTERRUPTS();
		SPI_cursor_fetch(portal, true, KEYS_AT_ONCE);
		table = SPI_tuptable;
		n = SPI_processed;
		if (n == 0)
			break;
		hopper_require_row_types(table->tupdesc, lengthof(types), types, rows->shown);
		for (uint64 row = 0; row < n; row++)
		{
			Datum		values[4];
			bool		nulls[4];
			bytea	   *key;
			int32		stratum;
			int			to_validation;

			heap_deform_tuple(table->vals[row], table->tupdesc, values, nulls);
			key = nulls[0] || nulls[1] ? NULL : DatumGetByteaPP(values[0]);
			stratum = DatumGetInt32(values[1]);
			if (key == NULL || VARSIZE_ANY_EXHDR(key) != PACK_KEY_SIZE || stratum < 0 ||
				stratum >= job->n_strata)
				elog(ERROR, "a row of the working table is damaged");
			hopper_pack_write_place(place, VARDATA_ANY(key), DatumGetInt32(values[2]),
									(ItemPointer) DatumGetPointer(values[3]));
			if (!is_first)
			{
				require_ascending(rows, last, place);
				if (memcmp(last, place, PACK_KEY_SIZE) == 0)
					add_copied_key(&copied, place);
			}
			memcpy(last, place, PACK_PLACE_SIZE);
			is_first = false;
			to_validation = hopper_pack_to_validation(job, stratum) ? 1 : 0;
			if (to_validation)
				for (int side = 0; side < 2; side++)
				{
					memcpy(plans[side].limits + (Size) stratum * PACK_PLACE_SIZE, place,
						   PACK_PLACE_SIZE);
					plans[side].any[stratum] = true;
				}
			take_row(&plans[to_validation], outputs[to_validation], place);
		}
		SPI_freetuptable(table);
	}
	SPI_cursor_close(portal);
	SPI_freeplan(plan);
	return copied;
}

/*
 * Gives each of equal rows its own key. The window goes over keys alone, and only copies are
 * written anew. A place is compared as text, which is hashed, where its type can only be sorted.
 */
static void
rank_copies(const hopper_name *rows, const copied_keys *copied)
{
	const char *among = copied->n > MOST_KEYS_NAMED ? ""
		: psprintf(" AND key IN (%s)", copied->names.data);

	hopper_exec("UPDATE %s SET key = %s(key, n.copy) FROM"
				" (SELECT gp_segment_id AS segment, ctid AS place, pg_catalog.row_number()"
				" OVER (PARTITION BY key, stratum) AS copy FROM %s WHERE " OF_ROWS "%s) n"
				" WHERE n.copy > 1 AND gp_segment_id = n.segment"
				" AND ctid::text = n.place::text%s",
				rows->quoted, hopper_own_name("segment_rank_copy"), rows->quoted, among, among);
}

/* --- the move --- */

/*
 * The window brings the rows to their segments and sorts them once, by key, buffer and rank; the
 * aggregate below the insert needs neither another motion nor another sort.
 */
static void
move_rows(const hopper_name *rows, const hopper_pack_output *output, const hopper_pack_plan *plan)
{
	bytea	   *description = hopper_describe(&hopper_plan_description, plan);

	(void) hopper_calls_once(psprintf("INSERT INTO %s SELECT k, (r).partition_id, b, (r).n,"
							 " (r).x, (r).y, (r).x_shape, (r).y_shape, (r).checksum FROM"
							 " (SELECT k, b, segment_buffer($2, b, rank, body) AS r FROM"
							 " (SELECT k, b, body, pg_catalog.row_number()"
							 " OVER (PARTITION BY k ORDER BY b, key) AS rank FROM"
							 " (SELECT segment_slot_key(slot) AS k,"
							 " segment_slot_buffer(slot) AS b, key, body FROM"
							 " (SELECT segment_slot($1, key, stratum, gp_segment_id, ctid)"
							 " AS slot, key, body FROM %s WHERE " OF_ROWS " OFFSET 0) s1"
							 " WHERE slot IS NOT NULL) s2) s3"
							 " GROUP BY k, b) s4",
							 output->table.quoted, rows->quoted), false, SPI_OK_INSERT,
							 HOPPER_PARAMS(HOPPER_BYTEA(description), HOPPER_BYTEA(description)));
}

/* Checksums in order, and each segment's share. */
static void
read_buffers(hopper_pack_output *output)
{
	const Oid	types[3] = {INT4OID, INT4OID, BYTEAOID};
	uint64		n = hopper_select_latest("SELECT gp_segment_id, n, checksum FROM %s"
										 " ORDER BY buffer_id", output->table.quoted);

	if (n != (uint64) output->n_buffers)
		elog(ERROR, "\"%s\" has " UINT64_FORMAT " of %d buffers", output->table.shown, n,
			 output->n_buffers);
	hopper_require_row_types(SPI_tuptable->tupdesc, lengthof(types), types, output->table.shown);
	output->n_all_segments = getgpsegmentCount();
	output->segment_rows = palloc0(sizeof(int64) * output->n_all_segments);
	for (uint64 row = 0; row < n; row++)
	{
		HeapTuple	tuple = SPI_tuptable->vals[row];
		TupleDesc	descriptor = SPI_tuptable->tupdesc;
		Datum		values[3];
		bool		nulls[3];
		int32		segment;
		bytea	   *checksum;

		heap_deform_tuple(tuple, descriptor, values, nulls);
		segment = nulls[0] || nulls[1] || nulls[2] ? -1 : DatumGetInt32(values[0]);
		if (segment < 0 || segment >= output->n_all_segments)
			elog(ERROR, "a buffer of \"%s\" is damaged", output->table.shown);
		checksum = DatumGetByteaPP(values[2]);
		output->segment_rows[segment] += DatumGetInt32(values[1]);
		appendBinaryStringInfo(&output->checksums, VARDATA_ANY(checksum),
							   VARSIZE_ANY_EXHDR(checksum));
	}
	SPI_freetuptable(SPI_tuptable);
}

void
hopper_pack_move_rows(hopper_pack_job *job, hopper_pack_output *training,
					  hopper_pack_output *validation)
{
	hopper_pack_output *const outputs[2] = {training, validation};
	hopper_pack_plan	plans[2];
	hopper_pack_output unranked[2];
	copied_keys copied;
	hopper_name rows;
	int			n_outputs;
	int			level = NewGUCNestLevel();

	/* the plans that the comments promise; a hash of groups would hold all buffers at once */
	hopper_disable_orca();
	hopper_set_for_now("enable_hashagg", "off");
	hopper_require_segments();
	hopper_pack_learn_shape_remotely(&job->source, &job->x);
	if (job->y_kind != HOPPER_LABEL_CLASS)
		hopper_pack_learn_shape_remotely(&job->source, &job->y);
	hopper_pack_set_row_shape(job);
	create_rows_table(job, &rows);
	encode_rows(job, &rows);
	read_ranges(job, &rows);
	count_rows(job, &rows);
	n_outputs = hopper_pack_open_outputs(job, training, validation) ? 2 : 1;
	for (int i = 0; i < n_outputs; i++)
	{
		start_plan(&plans[i], job, outputs[i], i == 1);
		unranked[i] = *outputs[i];
	}
	copied = rank_rows(job, &rows, outputs, plans);
	if (copied.n > 0)
	{
		rank_copies(&rows, &copied);
		(void) hopper_pack_split_rows(job);
		for (int i = 0; i < n_outputs; i++)
		{
			*outputs[i] = unranked[i];
			start_plan(&plans[i], job, outputs[i], i == 1);
		}
		(void) rank_rows(job, &rows, outputs, plans);
	}
	for (int i = 0; i < n_outputs; i++)
	{
		hopper_pack_output_require_complete(outputs[i]);
		move_rows(&rows, outputs[i], &plans[i]);
		read_buffers(outputs[i]);
	}
	hopper_exec("DROP TABLE %s", rows.quoted);
	AtEOXact_GUC(true, level);
}
