/*
 * hops.c
 *		The statements of a run on the segments: working tables, data into memory, models on their
 *		way, results into the output tables. How models enter and leave is in open_hops.c.
 *
 * Everything happens in the caller's transaction. The working tables <out>_hop_a, <out>_hop_b,
 * <out>_hop_log and, where models have rested, <out>_hop_rest are dropped at the end; an error
 * takes them back with the transaction.
 */
#include "pg/greenplum/coordinator/hops.h"

#include "catalog/pg_type.h"
#include "utils/array.h"

#define PART_BYTES (64 * 1024 * 1024)

static void
execute(SPIPlanPtr plan, Datum *values, int expected)
{
	int			rc = SPI_execute_plan(plan, values, NULL, false, 0);

	if (rc != expected)
		elog(ERROR, "SPI_execute_plan failed: %s", SPI_result_code_string(rc));
}

/* --- working tables and data --- */

char *
hopper_hops_of_keys(const int32 *mst_keys, int n)
{
	StringInfo	words = makeStringInfo();

	appendStringInfoString(words, " WHERE mst_key OPERATOR(pg_catalog.=) ANY ('{");
	for (int i = 0; i < n; i++)
		appendStringInfo(words, "%s%d", i ? "," : "", mst_keys[i]);
	appendStringInfoString(words, "}'::pg_catalog.int4[])");
	return words->data;
}

void
hopper_hops_create_table(const hopper_name *table)
{
	hopper_require_absent(table);
	hopper_exec("CREATE UNLOGGED TABLE %s (key pg_catalog.int4, mst_key pg_catalog.int4,"
				" next_key pg_catalog.int4, part pg_catalog.int4, n_parts pg_catalog.int4,"
				" done pg_catalog.bool, missing pg_catalog.bool, report pg_catalog.bytea,"
				" result pg_catalog.bytea, body pg_catalog.bytea)"
				HOPPER_DISTRIBUTED_BY("key"), table->quoted);
	hopper_exec("ALTER TABLE %s ALTER COLUMN body SET STORAGE EXTERNAL,"
				" ALTER COLUMN report SET STORAGE EXTERNAL", table->quoted);
}

void
hopper_hops_begin(hopper_hops *hops, const hopper_segment_run *run, const hopper_packed *train,
				  const hopper_packed *valid, const hopper_name *model)
{
	memset(hops, 0, sizeof(*hops));
	hops->run = run;
	hops->train = train;
	hops->valid = valid;
	hops->tables[0] = hopper_name_with_suffix(model, "hop_a");
	hops->tables[1] = hopper_name_with_suffix(model, "hop_b");
	hops->log = hopper_name_with_suffix(model, "hop_log");
	for (int i = 0; i < 2; i++)
		hopper_hops_create_table(&hops->tables[i]);
	hopper_require_absent(&hops->log);
	hopper_exec("CREATE UNLOGGED TABLE %s (key pg_catalog.int4, value pg_catalog.text)"
				HOPPER_DISTRIBUTED_BY("key"), hops->log.quoted);
}

static void
load_split(hopper_hops *hops, const hopper_packed *packed, hopper_split split)
{
	Oid			types[] = {INT8OID, BYTEAOID};
	Datum		values[2];
	char	   *columns;
	SPIPlanPtr	plan;

	columns = psprintf("k, segment_data($1, $2, k, %d, p, b, n, x, y, c)", split);
	plan = hopper_calls_prepare(psprintf("INSERT INTO %s (key, value) %s", hops->log.quoted,
										 hopper_calls_over_buffers(columns, packed)), 2, types);
	values[0] = Int64GetDatum(hops->run->id);
	values[1] = PointerGetDatum(hops->description);
	hopper_calls_execute(plan, values, false, SPI_OK_INSERT);
	SPI_freeplan(plan);
}

/*
 * The numerics class of all segments, from the two lines that each returned; palloc'ed.
 * SPI_tuptable has a row a different answer.
 */
static char *
agreed_class(uint64 n)
{
	char	   *answers[2] = {"none", "none"};
	char	   *builds[2] = {"none", "none"};

	for (uint64 row = 0; row < Min(n, 2); row++)
	{
		char	   *line;

		answers[row] = hopper_cell(row, 1);
		line = answers[row] ? strchr(answers[row], '\n') : NULL;
		if (line == NULL)
			elog(ERROR, "segment %s returned an unknown answer", hopper_cell(row, 2));
		*line = '\0';
		builds[row] = line + 1;
	}
	if (n == 1)
		return answers[0];
	if (strcmp(builds[0], builds[1]) != 0)
		hopper_raise(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
					 errmsg("segments have different builds of model_hopper"),
					 errdetail("Segment %s has %s; segment %s has %s.",
							   n > 0 ? hopper_cell(0, 2) : "none", builds[0],
							   n > 1 ? hopper_cell(1, 2) : "none", builds[1]),
					 errhint("Install the libraries of one build on all hosts, and reconnect."));
	hopper_raise(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
				 errmsg("segments have different numerics classes"),
				 errdetail("Segment %s has \"%s\"; segment %s has \"%s\".",
						   n > 0 ? hopper_cell(0, 2) : "none", answers[0],
						   n > 1 ? hopper_cell(1, 2) : "none", answers[1]),
				 errhint("Install the same libraries on all hosts; their CPUs must have the "
						 "same vector instructions."));
	pg_unreachable();
}

/* The segments' memory, also on those that have lost it. */
static void
release(hopper_hops *hops)
{
	Oid			types[] = {INT8OID};
	Datum		values[] = {Int64GetDatum(hops->run->id)};
	SPIPlanPtr	plan;

	/*
	 * The processes that insert hold the data. The key itself is what is inserted: rows that could
	 * belong to another segment would come from processes of their own.
	 */
	plan = hopper_calls_prepare(psprintf("INSERT INTO %s (key, value) SELECT key,"
										 " segment_release($1)::pg_catalog.text FROM %s",
										 hops->log.quoted, hops->log.quoted), 1, types);
	hopper_calls_execute(plan, values, false, SPI_OK_INSERT);
	SPI_freeplan(plan);
}

/* Of what segment_load_end() returns. */
#define LINE(n) "pg_catalog.split_part(value, E'\\n', " n ")"
#define NUMBER(n) "pg_catalog.split_part(" LINE("3") ", ' ', " n ")::pg_catalog.int8"

char *
hopper_hops_load(hopper_hops *hops)
{
	char	   *numerics_class;
	uint64		n;

	/*
	 * The run's number is another one after a loss: all segments begin anew. And who trains is
	 * known when the data are loaded.
	 */
	hops->description = hopper_describe_run(hops->run);
	hops->loaded = true;
	hopper_exec("TRUNCATE %s", hops->log.quoted);
	load_split(hops, hops->train, HOPPER_SPLIT_TRAIN);
	if (hops->valid)
		load_split(hops, hops->valid, HOPPER_SPLIT_VALID);
	n = hopper_select_latest("SELECT " LINE("1") " OPERATOR(pg_catalog.||) E'\\n'"
							 " OPERATOR(pg_catalog.||) " LINE("2") ","
							 " pg_catalog.min(gp_segment_id) FROM %s GROUP BY 1 ORDER BY 2",
							 hops->log.quoted);
	numerics_class = agreed_class(n);
	SPI_freetuptable(SPI_tuptable);
	hopper_select_latest("SELECT pg_catalog.max(" NUMBER("1") "), pg_catalog.max(" NUMBER("2") "),"
						 " pg_catalog.max(" NUMBER("3") "), pg_catalog.max(" NUMBER("4") "),"
						 " pg_catalog.max(" NUMBER("5") ") FROM %s", hops->log.quoted);
	hops->plan.max_reads = (int32) hopper_int_cell(&hops->log, 0, 1, 0, PG_INT32_MAX);
	hops->plan.bytes_data = hopper_int_cell(&hops->log, 0, 2, 0, PG_INT64_MAX);
	hops->plan.bytes_models = hopper_int_cell(&hops->log, 0, 3, 0, PG_INT64_MAX);
	hops->plan.bytes_aside = hopper_int_cell(&hops->log, 0, 4, 0, PG_INT64_MAX);
	hops->plan.n_waiting = (int32) hopper_int_cell(&hops->log, 0, 5, 0, PG_INT32_MAX);
	SPI_freetuptable(SPI_tuptable);
	return numerics_class;
}

int32
hopper_hops_first_key(const hopper_hops *hops, int32 mst_key)
{
	const hopper_run_options *options = &hops->run->options;
	int32		partition;
	hopper_error error;

	HOPPER_CHECK(hopper_core()->first_partition(options->starts, options->n_starts, mst_key,
												&partition, &error), error);
	return hops->run->train_keys[partition];
}

/* One model as it starts, in parts. */
static void
put_model(hopper_hops *hops, SPIPlanPtr plan, const hopper_config *config)
{
	char		kind = HOPPER_ENVELOPE_NEW;
	const char *bytes = NULL;
	size_t		size = 0;
	int32		key = hopper_hops_first_key(hops, config->mst_key);
	int32		n_parts;

	if (config->weights)
	{
		kind = HOPPER_ENVELOPE_WEIGHTS;
		bytes = (const char *) config->weights;
		size = config->n_weights * sizeof(float);
	}
	n_parts = (int32) (size / PART_BYTES + 1);
	for (int32 part = 0; part < n_parts; part++)
	{
		size_t		at = (size_t) part * PART_BYTES;
		size_t		n = Min(size - at, PART_BYTES);
		size_t		extra = part == 0 ? 1 : 0;
		bytea	   *body = palloc(VARHDRSZ + n + extra);
		Datum		values[6];

		SET_VARSIZE(body, VARHDRSZ + n + extra);
		if (extra)
			*VARDATA(body) = kind;
		if (n > 0)
			memcpy(VARDATA(body) + extra, bytes + at, n);
		values[0] = Int32GetDatum(key);
		values[1] = Int32GetDatum(config->mst_key);
		values[2] = Int32GetDatum(part);
		values[3] = Int32GetDatum(n_parts);
		values[4] = PointerGetDatum(body);
		execute(plan, values, SPI_OK_INSERT);
		pfree(body);
	}
}

void
hopper_hops_put_models(hopper_hops *hops, const hopper_config *configs, int n)
{
	/* Models that start from their seed in one statement, those with weights one by one. */
	Oid			types[] = {INT4OID, INT4OID, INT4OID, INT4OID, BYTEAOID};
	SPIPlanPtr	plan = hopper_prepare(psprintf("INSERT INTO %s"
										" (key, next_key, mst_key, part, n_parts, body)"
										" VALUES ($1, $1, $2, $3, $4, $5)",
										hops->tables[hops->at].quoted), 5, types);
	StringInfo	fresh = makeStringInfo();

	for (int i = 0; i < n; i++)
	{
		const hopper_config *config = &configs[i];
		int32		key = hopper_hops_first_key(hops, config->mst_key);

		if (config->weights)
			put_model(hops, plan, config);
		else
			appendStringInfo(fresh, "%s(%d, %d, %d, 0, 1, '%c'::pg_catalog.bytea)",
							 fresh->len ? ", " : "", key, key, config->mst_key,
							 HOPPER_ENVELOPE_NEW);
	}
	if (fresh->len > 0)
		hopper_exec("INSERT INTO %s (key, next_key, mst_key, part, n_parts, body) VALUES %s",
					hops->tables[hops->at].quoted, fresh->data);
	SPI_freeplan(plan);
}

/* The statement that moves and trains the models, and tells what they report. */
static char *
hop_query(const hopper_name *from, const hopper_name *to)
{
	return psprintf("INSERT INTO %s SELECT k, (r).mst_key, (r).next_key, (r).part, (r).n_parts,"
					" (r).done, (r).missing, (r).report, (r).result, (r).body"
					" FROM (SELECT next_key AS k, segment_emit(segment_visit($1, 0, false, $2,"
					" mst_key, part, n_parts, body), next_key) AS r"
					" FROM %s GROUP BY next_key) s"
					" RETURNING mst_key, part, done, missing, gp_segment_id,"
					" CASE WHEN done THEN report END, result,"
					" CASE part WHEN -1 THEN pg_catalog.length(body) END",
					to->quoted, from->quoted);
}

uint64
hopper_hops_move(hopper_hops *hops, bool halts)
{
	Oid			types[] = {INT8OID, BOOLOID};
	Datum		values[2];
	int			from = hops->at;
	SPITupleTable *told;
	uint64		n;

	CHECK_FOR_INTERRUPTS();
	hops->n_statements++;
	if (hops->plans[from] == NULL)
		hops->plans[from] = hopper_calls_prepare(hop_query(&hops->tables[from],
														   &hops->tables[1 - from]), 2, types);
	values[0] = Int64GetDatum(hops->run->id);
	values[1] = BoolGetDatum(halts);
	hopper_calls_execute(hops->plans[from], values, false, SPI_OK_INSERT_RETURNING);
	told = SPI_tuptable;
	n = SPI_processed;
	hopper_exec("TRUNCATE %s", hops->tables[from].quoted);
	SPI_tuptable = told;
	SPI_processed = n;
	hops->at = 1 - from;
	return n;
}

/* --- results --- */

/* Nothing comes here. */
void
hopper_hops_write(hopper_hops *hops, const hopper_name *from, const hopper_config *configs, int n,
				  const hopper_name *model, const hopper_name *state)
{
	Oid			types[] = {TEXTOID, INT4ARRAYOID};
	SPIPlanPtr	plan = hopper_prepare(psprintf("INSERT INTO %s (mst_key, model_weights, model_arch)"
										" SELECT mst_key, body, $1::pg_catalog.json FROM %s"
										" WHERE part OPERATOR(pg_catalog.=) -1"
										" AND mst_key OPERATOR(pg_catalog.=) ANY ($2)",
										model->quoted, from->quoted), 2, types);
	Datum	   *keys = palloc(sizeof(Datum) * n);
	int32	   *all = palloc(sizeof(int32) * n);
	int			alike = 0;

	for (int i = 0; i < n; i++)
	{
		const hopper_config *config = &configs[i];
		Datum		values[2];

		keys[alike++] = Int32GetDatum(all[i] = config->mst_key);
		if (i + 1 < n && config[1].model_arch == config->model_arch)
			continue;
		values[0] = CStringGetTextDatum(hopper_from_utf8(config->model_arch));
		values[1] = PointerGetDatum(construct_array(keys, alike, INT4OID, sizeof(int32), true,
													'i'));
		execute(plan, values, SPI_OK_INSERT);
		alike = 0;
	}
	SPI_freeplan(plan);
	hopper_exec("INSERT INTO %s (mst_key, part, state) SELECT mst_key, part, body FROM %s"
				"%s AND part OPERATOR(pg_catalog.>=) 0"
				" AND pg_catalog.length(body) OPERATOR(pg_catalog.>) 0",
				state->quoted, from->quoted, hopper_hops_of_keys(all, n));
}

void
hopper_hops_free_plans(hopper_hops *hops)
{
	for (int i = 0; i < 2; i++)
	{
		if (hops->plans[i])
			SPI_freeplan(hops->plans[i]);
		hops->plans[i] = NULL;
	}
}

void
hopper_hops_end(hopper_hops *hops)
{
	release(hops);
	hopper_hops_free_plans(hops);
	for (int i = 0; i < 2; i++)
		hopper_exec("DROP TABLE %s", hops->tables[i].quoted);
	hopper_exec("DROP TABLE %s", hops->log.quoted);
}
