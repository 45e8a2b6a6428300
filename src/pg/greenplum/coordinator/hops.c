/*
 * hops.c
 *		The statements of a run on the segments: working tables, data into memory, models on their
 *		way, results into the output tables. How models enter and leave is in open_hops.c.
 *
 * Everything happens in the caller's transaction. The working tables are <out>_hop_a, <out>_hop_b
 * where there is a second hop, and <out>_hop_rest where models have rested. They are dropped at the
 * end; an error takes them back with the transaction. The first hop goes from hop_a to hop_a, as
 * making a table takes a cluster longer than a small training; a row's `hop` says for which hop it
 * is. Rows of hop_a without a model are there for the segments' functions, one for each key: who
 * inserts or updates them are the processes that hold the data.
 */
#include "pg/greenplum/coordinator/hops.h"

#include "pg/greenplum/reports.h"

#define PART_BYTES (64 * 1024 * 1024)
#define ROW_BYTES 1024			/* of a row without its body, at least about */

static void
execute(SPIPlanPtr plan, Datum *values, int expected)
{
	int			rc = SPI_execute_plan(plan, values, NULL, false, 0);

	if (rc != expected)
		elog(ERROR, "SPI_execute_plan failed: %s", SPI_result_code_string(rc));
}

/* --- working tables and data --- */

void
hopper_hops_create_table(const hopper_name *table, bool large)
{
	hopper_exec("CREATE UNLOGGED TABLE %s (key pg_catalog.int4, hop pg_catalog.int4,"
				" mst_key pg_catalog.int4, next_key pg_catalog.int4, part pg_catalog.int4,"
				" n_parts pg_catalog.int4, done pg_catalog.bool, missing pg_catalog.bool,"
				" answer pg_catalog.text, report pg_catalog.bytea, result pg_catalog.bytea,"
				" body pg_catalog.bytea)" HOPPER_DISTRIBUTED_BY("key"), table->quoted);
	if (large)
		hopper_exec("ALTER TABLE %s ALTER COLUMN body SET STORAGE EXTERNAL,"
					" ALTER COLUMN report SET STORAGE EXTERNAL", table->quoted);
}

void
hopper_hops_begin(hopper_hops *hops, const hopper_segment_run *run, const hopper_packed *train,
				  const hopper_packed *valid, const hopper_name *model, bool large)
{
	memset(hops, 0, sizeof(*hops));
	hops->run = run;
	hops->train = train;
	hops->valid = valid;
	hops->tables[0] = hopper_name_with_suffix(model, "hop_a");
	hops->tables[1] = hopper_name_with_suffix(model, "hop_b");
	hops->rest = hopper_name_with_suffix(model, "hop_rest");
	for (int i = 0; i < lengthof(hops->tables); i++)
		hopper_require_absent(&hops->tables[i]);
	hopper_require_absent(&hops->rest);
	hopper_hops_create_table(&hops->tables[0], large);
}

/* "(1), (2)" */
static char *
key_rows(const int32 *keys, int n)
{
	StringInfo	words = makeStringInfo();

	for (int i = 0; i < n; i++)
		appendStringInfo(words, "%s(%d)", i > 0 ? ", " : "", keys[i]);
	return words->data;
}

uint64
hopper_hops_ask(hopper_hops *hops, const char *call, int n, const hopper_param *params)
{
	const hopper_name *table = &hops->tables[0];

	/* Without them since the table was truncated. */
	if (!hops->has_keys)
	{
		hopper_exec("INSERT INTO %s (key) VALUES %s", table->quoted,
					key_rows(hops->keys, hops->n_keys));
		hops->has_keys = true;
	}
	return hopper_calls_once(psprintf("UPDATE %s SET part = %s WHERE mst_key IS NULL"
									  " RETURNING part", table->quoted, call), false,
							 SPI_OK_UPDATE_RETURNING, n, params);
}

static uint64
load_splits(hopper_hops *hops, const hopper_packed *train, const hopper_packed *valid)
{
	const hopper_packed *splits[] = {train, valid};
	const hopper_segment_run *run = hops->run;
	int			n;
	/* Of the segments with training data. */
	const int32 *keys = hopper_distinct_keys(run->train_keys, run->train.n_partitions, &n);

	return hopper_calls_once(
		psprintf("INSERT INTO %s (key, answer) %s RETURNING answer, gp_segment_id, key",
				 hops->tables[0].quoted,
				 hopper_calls_over_buffers("k, segment_data($1, $2, k, s, p, b, n, x, y, c)",
										   splits, run->everywhere ? key_rows(keys, n) : NULL)),
		false, SPI_OK_INSERT_RETURNING,
		HOPPER_PARAMS(HOPPER_INT8(hops->run->id), HOPPER_BYTEA(hops->description)));
}

/* What segment_load_end() returned in row `row` of SPI_tuptable: three lines. */
typedef struct answer
{
	char	   *segment;
	char	   *class;
	char	   *build;
	hopper_data_plan plan;
} answer;

static answer
read_answer(uint64 row)
{
	char	   *text = hopper_cell(row, 1);
	char	   *lines[3] = {text};
	answer		found = {.segment = hopper_cell(row, 2)};
	hopper_data_plan *plan = &found.plan;

	for (int i = 1; i < lengthof(lines) && lines[i - 1]; i++)
		if ((lines[i] = strchr(lines[i - 1], '\n')) != NULL)
			*lines[i]++ = '\0';
	if (lines[2] == NULL ||
		sscanf(lines[2], "%d " INT64_FORMAT " " INT64_FORMAT " " INT64_FORMAT " %d",
			   &plan->max_reads, &plan->bytes_data, &plan->bytes_models, &plan->bytes_aside,
			   &plan->n_waiting) != 5)
		elog(ERROR, "segment %s returned an unknown answer", found.segment);
	found.class = lines[0];
	found.build = lines[1];
	return found;
}

static void
refuse_differences(const answer *first, const answer *other)
{
	if (strcmp(first->build, other->build) != 0)
		hopper_raise(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
					 errmsg("segments have different builds of model_hopper"),
					 errdetail("Segment %s has %s; segment %s has %s.", first->segment,
							   first->build, other->segment, other->build),
					 errhint("Install the libraries of one build on all hosts, and reconnect."));
	if (strcmp(first->class, other->class) != 0)
		hopper_raise(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
					 errmsg("segments have different numerics classes"),
					 errdetail("Segment %s has \"%s\"; segment %s has \"%s\".", first->segment,
							   first->class, other->segment, other->class),
					 errhint("Install the same libraries on all hosts; their CPUs must have the "
							 "same vector instructions."));
}

/* The answers that are in SPI_tuptable; the first of all is `first`. */
static void
take_answers(hopper_hops *hops, uint64 n, answer *first)
{
	hopper_data_plan *most = &hops->plan;

	for (uint64 row = 0; row < n; row++)
	{
		answer		other = read_answer(row);

		if (hops->n_keys == 0)
			*first = other;
		refuse_differences(first, &other);
		most->max_reads = Max(most->max_reads, other.plan.max_reads);
		most->bytes_data = Max(most->bytes_data, other.plan.bytes_data);
		most->bytes_models = Max(most->bytes_models, other.plan.bytes_models);
		most->bytes_aside = Max(most->bytes_aside, other.plan.bytes_aside);
		most->n_waiting = Max(most->n_waiting, other.plan.n_waiting);
		hops->keys[hops->n_keys] = hopper_key_cell(NULL, row, 3);
		hops->segments[hops->n_keys++] = hopper_key_cell(NULL, row, 2);
	}
	SPI_freetuptable(SPI_tuptable);
}

char *
hopper_hops_load(hopper_hops *hops)
{
	const hopper_segment_run *run = hops->run;
	int			most_keys = 2 * run->train.n_partitions + run->valid.n_partitions;
	answer		first = {0};

	/*
	 * The run's number is another one after a loss: all segments begin anew. And who trains is
	 * known when the data are loaded.
	 */
	hops->description = hopper_describe_run(run);
	if (hops->loaded)
		hopper_exec("DELETE FROM %s WHERE mst_key IS NULL", hops->tables[0].quoted);
	hops->loaded = true;
	hops->has_keys = true;
	hops->n_keys = 0;
	hops->keys = palloc(most_keys * sizeof(int32));
	hops->segments = palloc(most_keys * sizeof(int32));
	memset(&hops->plan, 0, sizeof(hops->plan));
	/* What stays where it lies would move if it were read together. */
	hops->at_once = run->everywhere || hops->valid == NULL;
	take_answers(hops, load_splits(hops, hops->train, hops->at_once ? hops->valid : NULL), &first);
	if (hops->n_keys == 0)
		elog(ERROR, "no segment has loaded data of \"%s\"", hops->train->table.shown);
	if (!hops->at_once)
		take_answers(hops, load_splits(hops, NULL, hops->valid), &first);
	return first.class;
}

int32
hopper_hops_first_key(const hopper_hops *hops, int32 mst_key)
{
	const hopper_run_options *options = &hops->run->options;
	int32		partition;

	HOPPER_CHECK(hopper_core()->first_partition(options->starts, options->n_starts, mst_key,
												&partition, hopper_fault));
	return hops->run->train_keys[partition];
}

/* One model as it starts, in parts. */
static void
put_model(SPIPlanPtr plan, const hopper_config *config, int32 key, int32 hop)
{
	char		kind = HOPPER_ENVELOPE_NEW;
	const char *bytes = NULL;
	size_t		size = 0;
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
		values[5] = Int32GetDatum(hop);
		execute(plan, values, SPI_OK_INSERT);
		pfree(body);
	}
}

void
hopper_hops_put_models(hopper_hops *hops, const hopper_config *configs, const int32 *keys, int n)
{
	Oid			types[] = {INT4OID, INT4OID, INT4OID, INT4OID, BYTEAOID, INT4OID};
	SPIPlanPtr	plan = hopper_prepare(psprintf("INSERT INTO %s"
										" (key, next_key, mst_key, part, n_parts, body, hop)"
										" VALUES ($1, $1, $2, $3, $4, $5, $6)",
										hops->tables[hops->at].quoted), 6, types, 0);

	if (hops->n_begin == 0)
		hops->begin = makeStringInfo();
	for (int i = 0; i < n; i++)
	{
		const hopper_config *config = &configs[i];

		if (config->weights)
		{
			put_model(plan, config, keys[i], hops->n_statements);
			hops->bytes[hops->at] += config->n_weights * sizeof(float);
			hops->has_models = true;
		}
		else
			appendStringInfo(hops->begin, "%s(%d, %d)", hops->n_begin++ > 0 ? ", " : "", keys[i],
							 config->mst_key);
	}
	SPI_freeplan(plan);
}

/*
 * Models that begin from their seeds, as the next hop is to find them: beside the segments' keys,
 * which are in the first table once each, or as rows of the table from which it moves the others.
 * One alone is put into a row: of a list of one Greenplum 7 makes constants, and then misses the
 * key that it is to group by.
 */
static const char *
models_that_begin(hopper_hops *hops)
{
	const hopper_name *from = &hops->tables[hops->at];
	const char *begin = psprintf("(VALUES %s) v (key, mst_key)", hops->begin->data);
	bool		many = hops->n_begin > 1;

	hops->n_begin = 0;
	if (hops->n_statements == 0 && hops->at_once && !hops->has_models && many)
		return psprintf("(SELECT k.key, v.mst_key, 0 AS part, 1 AS n_parts,"
						" '%c'::pg_catalog.bytea AS body FROM %s k JOIN %s"
						" ON k.key OPERATOR(pg_catalog.=) v.key WHERE k.mst_key IS NULL)",
						HOPPER_ENVELOPE_NEW, from->quoted, begin);
	hopper_exec("INSERT INTO %s (key, next_key, mst_key, part, n_parts, body, hop)"
				" SELECT key, key, mst_key, 0, 1, '%c'::pg_catalog.bytea, %d FROM %s",
				from->quoted, HOPPER_ENVELOPE_NEW, hops->n_statements, begin);
	return NULL;
}

/* The statement that moves and trains the models, and tells what they report. */
static char *
hop_query(const char *models, const hopper_name *to)
{
	return psprintf("INSERT INTO %s (key, hop, mst_key, next_key, part, n_parts, done, missing,"
					" report, result, body) SELECT k, $4 OPERATOR(pg_catalog.+) 1, (r).mst_key,"
					" (r).next_key, (r).part, (r).n_parts, (r).done, (r).missing, (r).report,"
					" (r).result, (r).body"
					" FROM (SELECT key AS k, segment_emit(segment_visit($1, $3, $2,"
					" mst_key, part, n_parts, body), key) AS r"
					" FROM %s m GROUP BY key) s"
					" RETURNING mst_key, part, done, missing, gp_segment_id,"
					" CASE WHEN done THEN report END, result,"
					" pg_catalog.length(body)",
					to->quoted, models);
}

/*
 * The table that the next hop fills, which holds nothing that anybody reads. TRUNCATE is a utility
 * statement, after which Greenplum 7 ends the session's readers on the segments and the hop starts
 * others, so the rows of some hops gather before it.
 */
static int
next_table(hopper_hops *hops)
{
	int			to = hops->n_statements == 0 ? 0 : 1 - hops->at;

	if (hops->n_statements == 1)
		hopper_hops_create_table(&hops->tables[1], true);
	else if (hops->n_statements > 1 && hops->bytes[to] >= HOPPER_HOPS_MOST_DEAD)
	{
		hopper_exec("TRUNCATE %s", hops->tables[to].quoted);
		hops->has_keys = hops->has_keys && to != 0;
		hops->bytes[to] = 0;
	}
	return to;
}

uint64
hopper_hops_move(hopper_hops *hops, bool halts, int32 milliseconds)
{
	Oid			types[] = {INT8OID, BOOLOID, INT4OID, INT4OID};
	Datum		values[4];
	int			from = hops->at;
	const char *models = NULL;
	int			to;
	uint64		n;

	CHECK_FOR_INTERRUPTS();
	if (hops->n_begin > 0)
		models = models_that_begin(hops);
	to = next_table(hops);
	if (models == NULL)
		models = psprintf("(SELECT next_key AS key, mst_key, part, n_parts, body FROM %s"
						  " WHERE hop OPERATOR(pg_catalog.=) $4)", hops->tables[from].quoted);
	if (hops->plans[from] == NULL)
		hops->plans[from] = hopper_calls_prepare(hop_query(models, &hops->tables[to]), 4, types);
	values[0] = Int64GetDatum(hops->run->id);
	values[1] = BoolGetDatum(halts);
	values[2] = Int32GetDatum(milliseconds);
	values[3] = Int32GetDatum(hops->n_statements++);
	hopper_calls_execute(hops->plans[from], values, false, SPI_OK_INSERT_RETURNING);
	n = SPI_processed;
	/* Another table is filled from the first one from now on. */
	if (to == from)
		hopper_hops_free_plans(hops);
	hops->at = to;
	for (uint64 row = 0; row < n; row++)
		hops->bytes[to] += ROW_BYTES + DatumGetInt32(hopper_told_value(row, 8, INT4OID));
	return n;
}

/* --- results --- */

/* " AND hop = 3": of the table in which models move, what the last hop has brought; palloc'ed */
char *
hopper_hops_latest(const hopper_hops *hops, const hopper_name *from)
{
	if (from == &hops->rest)
		return "";
	return psprintf(" AND hop OPERATOR(pg_catalog.=) %d", hops->n_statements);
}

/* Models of one architecture, with their keys. */
typedef struct alike
{
	const char *architecture;	/* UTF-8 */
	StringInfo	keys;			/* "1,2" */
} alike;

/* Of so many architectures, or of what one message takes easily, weights go into one statement. */
#define MOST_ARCHITECTURES 16
#define ARCHITECTURE_BYTES (1024 * 1024)

static void
write_weights(const hopper_name *from, const char *latest, const alike *models, int n,
			  const hopper_name *to)
{
	StringInfo	architecture = makeStringInfo();
	StringInfo	keys = makeStringInfo();
	Oid			types[MOST_ARCHITECTURES];
	Datum		values[MOST_ARCHITECTURES];
	SPIPlanPtr	plan;

	for (int i = 0; i < n; i++)
	{
		types[i] = TEXTOID;
		values[i] = CStringGetTextDatum(hopper_from_utf8(models[i].architecture));
		if (i + 1 < n)
			appendStringInfo(architecture, " WHEN mst_key OPERATOR(pg_catalog.=) ANY ('{%s}')"
							 " THEN $%d", models[i].keys->data, i + 1);
		appendStringInfo(keys, "%s%s", i > 0 ? "," : "", models[i].keys->data);
	}
	plan = hopper_prepare(psprintf("INSERT INTO %s (mst_key, model_weights, model_arch)"
								   " SELECT mst_key, body, (%s%s%s$%d%s)::pg_catalog.json FROM %s"
								   " WHERE part OPERATOR(pg_catalog.=) -1"
								   " AND mst_key OPERATOR(pg_catalog.=) ANY ('{%s}')%s",
								   to->quoted, n > 1 ? "CASE" : "", architecture->data,
								   n > 1 ? " ELSE " : "", n, n > 1 ? " END" : "", from->quoted,
								   keys->data, latest), n, types, 0);
	execute(plan, values, SPI_OK_INSERT);
	SPI_freeplan(plan);
}

/* Nothing comes here. */
void
hopper_hops_write(hopper_hops *hops, const hopper_name *from, const hopper_config *configs, int n,
				  const hopper_name *model, const hopper_name *state)
{
	char	   *latest = hopper_hops_latest(hops, from);
	int32	   *all = palloc(sizeof(int32) * n);
	alike		models[MOST_ARCHITECTURES];
	int			n_models = 0;
	size_t		bytes = 0;

	for (int i = 0; i < n; i++)
	{
		int			at = 0;

		all[i] = configs[i].mst_key;
		while (at < n_models && models[at].architecture != configs[i].model_arch)
			at++;
		if (at == n_models)
		{
			bytes += configs[i].model_arch_size;
			if (n_models > 0 && (n_models == MOST_ARCHITECTURES || bytes > ARCHITECTURE_BYTES))
			{
				write_weights(from, latest, models, n_models, model);
				at = n_models = 0;
				bytes = configs[i].model_arch_size;
			}
			models[n_models++] = (alike) {configs[i].model_arch, makeStringInfo()};
		}
		appendStringInfo(models[at].keys, "%s%d", models[at].keys->len ? "," : "", all[i]);
	}
	if (n_models > 0)
		write_weights(from, latest, models, n_models, model);
	hopper_exec("INSERT INTO %s (mst_key, part, state) SELECT mst_key, part, body FROM %s"
				"%s%s AND part OPERATOR(pg_catalog.>=) 0"
				" AND pg_catalog.length(body) OPERATOR(pg_catalog.>) 0",
				state->quoted, from->quoted, hopper_of_keys(n, all, sizeof(int32)), latest);
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
	/* The segments' memory, also of those that have lost it. */
	if (hops->loaded)
		(void) hopper_hops_ask(hops, "segment_release($1)",
							   HOPPER_PARAMS(HOPPER_INT8(hops->run->id)));
	hopper_hops_free_plans(hops);
	hopper_exec("DROP TABLE %s%s%s%s%s", hops->tables[0].quoted,
				hops->n_statements > 1 ? ", " : "",
				hops->n_statements > 1 ? hops->tables[1].quoted : "",
				hops->rests ? ", " : "", hops->rests ? hops->rest.quoted : "");
}
