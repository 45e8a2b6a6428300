/*
 * hops.c
 *		The statements of a run on the segments: working tables, models on their way, results into
 *		the output tables. How data come into memory is in load_hops.c, how models enter and leave
 *		in open_hops.c.
 *
 * Everything happens in the caller's transaction. The working tables are <out>_hop_a, <out>_hop_b
 * where there is a second hop, and <out>_hop_rest where models have rested. They are made when they
 * are needed and dropped at the end; an error takes them back with the transaction. The first hop
 * goes from hop_a to hop_a, as making a table takes a cluster longer than a small training; a row's
 * `hop` says for which hop it is. Small models that need not move are told to the coordinator by
 * their first hop, which is their last one as a rule: then there is no working table.
 *
 * The segments' functions run in the processes that write: these insert what comes of a hop, and of
 * a statement that only reads they have the slice that answers the coordinator.
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

/* --- working tables --- */

void
hopper_hops_create_table(const hopper_name *table, bool large)
{
	hopper_exec("CREATE UNLOGGED TABLE %s (key pg_catalog.int4, hop pg_catalog.int4,"
				" mst_key pg_catalog.int4, next_key pg_catalog.int4, part pg_catalog.int4,"
				" n_parts pg_catalog.int4, done pg_catalog.bool, missing pg_catalog.bool,"
				" report pg_catalog.bytea, result pg_catalog.bytea, body pg_catalog.bytea)"
				HOPPER_DISTRIBUTED_BY("key"), table->quoted);
	if (large)
		hopper_exec("ALTER TABLE %s ALTER COLUMN body SET STORAGE EXTERNAL,"
					" ALTER COLUMN report SET STORAGE EXTERNAL", table->quoted);
}

void
hopper_hops_begin(hopper_hops *hops, const hopper_segment_run *run, const hopper_packed *train,
				  const hopper_packed *valid, const hopper_name *model, bool small)
{
	memset(hops, 0, sizeof(*hops));
	hops->run = run;
	hops->train = train;
	hops->valid = valid;
	hops->small = small;
	hops->tables[0] = hopper_name_with_suffix(model, "hop_a");
	hops->tables[1] = hopper_name_with_suffix(model, "hop_b");
	hops->rest = hopper_name_with_suffix(model, "hop_rest");
	for (int i = 0; i < lengthof(hops->tables); i++)
		hopper_require_absent(&hops->tables[i]);
	hopper_require_absent(&hops->rest);
}

static const hopper_name *
table_at(hopper_hops *hops, int at)
{
	if (!hops->made[at])
		hopper_hops_create_table(&hops->tables[at], at > 0 || !hops->small);
	hops->made[at] = true;
	return &hops->tables[at];
}

const hopper_name *
hopper_hops_table(hopper_hops *hops)
{
	return table_at(hops, hops->at);
}

uint64
hopper_hops_ask(hopper_hops *hops, const char *call, int n, const hopper_param *params)
{
	return hopper_calls_once(psprintf("SELECT %s FROM gp_dist_random('pg_catalog.gp_id')", call),
							 false, SPI_OK_SELECT, n, params);
}

int32
hopper_hops_first_key(const hopper_hops *hops, int32 mst_key)
{
	const hopper_run_options *options = &hops->run->options;
	int32		partition;

	HOPPER_CORE(first_partition, options->starts, options->n_starts, mst_key, &partition);
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

static const char *const begin_columns[] = {"segment", "key", "mst_key"};
static const char *const told_columns[] = {"key", "mst_key", "next_key", "part", "n_parts", "body"};

void
hopper_hops_put_models(hopper_hops *hops, const hopper_config *configs, const int32 *keys, int n)
{
	Oid			types[] = {INT4OID, INT4OID, INT4OID, INT4OID, BYTEAOID, INT4OID};
	SPIPlanPtr	plan = NULL;

	if (hops->begin.n == 0)
		hops->begin = hopper_own_rows_new(lengthof(begin_columns), begin_columns, n);
	for (int i = 0; i < n; i++)
	{
		const hopper_config *config = &configs[i];

		if (config->weights == NULL)
		{
			hopper_own_rows_add(&hops->begin,
								HOPPER_PARAMS(HOPPER_INT4(hopper_hops_segment(hops, keys[i])),
											  HOPPER_INT4(keys[i]),
											  HOPPER_INT4(config->mst_key)));
			continue;
		}
		if (plan == NULL)
			plan = hopper_prepare(psprintf("INSERT INTO %s (key, next_key, mst_key, part, n_parts,"
										   " body, hop) VALUES ($1, $1, $2, $3, $4, $5, $6)",
										   hopper_hops_table(hops)->quoted), 6, types, 0);
		put_model(plan, config, keys[i], hops->n_statements);
		hops->bytes[hops->at] += config->n_weights * sizeof(float);
		hops->has_models = true;
	}
	if (plan)
		SPI_freeplan(plan);
}

/*
 * Models that begin from their seeds, as rows on their segments; their arguments go to `params`, $1
 * is the run. Of a list of one value Greenplum 7 would make constants, and then miss the key that
 * the hop is to group by.
 */
static char *
models_that_begin(hopper_hops *hops, hopper_param *params)
{
	return psprintf("(SELECT v.segment, v.key, v.mst_key, 0 AS part, 1 AS n_parts,"
					" '%c'::pg_catalog.bytea AS body"
					" FROM gp_dist_random('pg_catalog.gp_id') g JOIN (SELECT%s) v"
					" ON g.gp_segment_id OPERATOR(pg_catalog.=) v.segment)", HOPPER_ENVELOPE_NEW,
					hopper_own_rows_query(&hops->begin, hops->run->id, params));
}

/* They are put into the table of those that are there. */
static void
put_begin(hopper_hops *hops)
{
	hopper_param params[HOPPER_OWN_COLUMNS + 1];
	const char *models = models_that_begin(hops, params);

	(void) hopper_calls_once(psprintf("INSERT INTO %s (key, next_key, mst_key, part, n_parts, body,"
									  " hop) SELECT key, key, mst_key, part, n_parts, body, %d"
									  " FROM %s m",
									  hopper_hops_table(hops)->quoted, hops->n_statements, models),
							 false, SPI_OK_INSERT, lengthof(begin_columns) + 1, params);
	hops->begin.n = 0;
}

/*
 * What the models of `models` bring, trained, as (r), with the key k of their segment, on which
 * they are, and `more`. $1 is the run.
 */
static char *
visit_query(const char *models, const char *milliseconds, const char *halts, const char *more)
{
	return psprintf("(SELECT key AS k, %ssegment_emit(segment_visit($1, %s, %s, mst_key, part,"
					" n_parts, body), key) AS r FROM %s m GROUP BY key) s", more, milliseconds,
					halts, models);
}

/* Into a table, with what they report, in the order of hopper_hops_move(). */
static char *
into_table(const char *visit, const char *hop, const hopper_name *to)
{
	return psprintf("INSERT INTO %s (key, hop, mst_key, next_key, part, n_parts, done, missing,"
					" report, result, body) SELECT k, %s OPERATOR(pg_catalog.+) 1, (r).mst_key,"
					" (r).next_key, (r).part, (r).n_parts, (r).done, (r).missing, (r).report,"
					" (r).result, (r).body FROM %s"
					" RETURNING mst_key, part, done, missing, gp_segment_id,"
					" CASE WHEN done THEN report END, result,"
					" pg_catalog.length(body)", to->quoted, hop, visit);
}

/* All that has come goes on from here: the current result is freed by who reads it. */
static void
take_told(hopper_hops *hops, uint64 n)
{
	hops->told = hopper_own_rows_new(lengthof(told_columns), told_columns, (int) n);
	for (uint64 row = 0; row < n; row++)
		hopper_own_rows_add(&hops->told, HOPPER_PARAMS(
			HOPPER_PARAM(INT4OID, hopper_told_value(row, 9, INT4OID)),
			HOPPER_PARAM(INT4OID, hopper_told_value(row, 1, INT4OID)),
			HOPPER_PARAM(INT4OID, hopper_told_value(row, 10, INT4OID)),
			HOPPER_PARAM(INT4OID, hopper_told_value(row, 2, INT4OID)),
			HOPPER_PARAM(INT4OID, hopper_told_value(row, 11, INT4OID)),
			HOPPER_PARAM(BYTEAOID, PointerGetDatum(PG_DETOAST_DATUM_COPY(
				hopper_told_value(row, 12, BYTEAOID))))));
}

/* All models begin: those that are small and stay where they are are told, not put anywhere. */
static uint64
begin_all(hopper_hops *hops, bool halts, int32 milliseconds)
{
	bool		tells = hops->small && hops->run->everywhere;
	hopper_param params[HOPPER_OWN_COLUMNS + 1];
	const char *visit = visit_query(models_that_begin(hops, params),
									psprintf("%d", milliseconds), halts ? "true" : "false",
									tells ? "pg_catalog.min(segment) AS segment, " : "");
	uint64		n;

	if (tells)
		visit = psprintf("SELECT (r).mst_key, (r).part, (r).done, (r).missing, segment,"
						 " CASE WHEN (r).done THEN (r).report END, (r).result,"
						 " pg_catalog.length((r).body), k, (r).next_key, (r).n_parts, (r).body"
						 " FROM %s", visit);
	else
		visit = into_table(visit, "0", hopper_hops_table(hops));
	hops->n_statements++;
	n = hopper_calls_once(visit, false, tells ? SPI_OK_SELECT : SPI_OK_INSERT_RETURNING,
						  lengthof(begin_columns) + 1, params);
	if (tells)
		take_told(hops, n);
	hops->begin.n = 0;
	return n;
}

void
hopper_hops_put_told(hopper_hops *hops)
{
	hopper_param params[HOPPER_OWN_COLUMNS + 1];
	const char *rows;

	if (hops->told.n == 0)
		return;
	rows = hopper_own_rows_query(&hops->told, hops->n_statements, params);
	(void) hopper_calls_once(psprintf("INSERT INTO %s (hop, %s) SELECT $1::pg_catalog.int4,%s",
									  hopper_hops_table(hops)->quoted,
									  hopper_own_rows_names(&hops->told, ""), rows),
							 false, SPI_OK_INSERT, lengthof(told_columns) + 1, params);
	hops->bytes[hops->at] += HOPPER_HOPS_MOST_DEAD; /* nobody has counted them */
	hops->told.n = 0;
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

	if (hops->n_statements > 0 && hops->bytes[to] >= HOPPER_HOPS_MOST_DEAD)
	{
		hopper_exec("TRUNCATE %s", hops->tables[to].quoted);
		hops->bytes[to] = 0;
	}
	(void) table_at(hops, to);
	return to;
}

/* From the table that the models are in to the other one. */
static uint64
go_on(hopper_hops *hops, bool halts, int32 milliseconds)
{
	Oid			types[] = {INT8OID, BOOLOID, INT4OID, INT4OID};
	Datum		values[4];
	int			from = hops->at;
	int			to = next_table(hops);

	if (hops->plans[from] == NULL)
	{
		const char *models = psprintf("(SELECT next_key AS key, mst_key, part, n_parts, body"
									  " FROM %s WHERE hop OPERATOR(pg_catalog.=) $4)",
									  hops->tables[from].quoted);

		hops->plans[from] = hopper_calls_prepare(into_table(visit_query(models, "$3", "$2", ""),
															"$4", &hops->tables[to]), 4, types);
	}
	values[0] = Int64GetDatum(hops->run->id);
	values[1] = BoolGetDatum(halts);
	values[2] = Int32GetDatum(milliseconds);
	values[3] = Int32GetDatum(hops->n_statements++);
	hopper_calls_execute(hops->plans[from], values, false, SPI_OK_INSERT_RETURNING);
	/* Another table is filled from the first one from now on. */
	if (to == from)
		hopper_hops_free_plans(hops);
	hops->at = to;
	return SPI_processed;
}

uint64
hopper_hops_move(hopper_hops *hops, bool halts, int32 milliseconds)
{
	uint64		n;

	CHECK_FOR_INTERRUPTS();
	if (hops->begin.n > 0 && hops->n_statements == 0 && !hops->has_models)
		n = begin_all(hops, halts, milliseconds);
	else
	{
		if (hops->begin.n > 0)
			put_begin(hops);
		n = go_on(hops, halts, milliseconds);
	}
	for (uint64 row = 0; row < n; row++)
		hops->bytes[hops->at] += ROW_BYTES + DatumGetInt32(hopper_told_value(row, 8, INT4OID));
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

/* The rows of models that are written: of a table, or what was told, as arguments from $1 on. */
typedef struct written
{
	const char *rows;
	const char *latest;
	int			n_params;
	hopper_param params[HOPPER_OWN_COLUMNS + 1 + MOST_ARCHITECTURES];
} written;

static void
fill(const char *statement, int n, const hopper_param *params)
{
	int			rc = hopper_execute_params(statement, n, params);

	if (rc != SPI_OK_INSERT)
		elog(ERROR, "SPI_execute failed: %s", SPI_result_code_string(rc));
}

static void
write_weights(written *from, const alike *models, int n, const hopper_name *to)
{
	StringInfo	architecture = makeStringInfo();
	StringInfo	keys = makeStringInfo();
	int			n_params = from->n_params;

	for (int i = 0; i < n; i++)
	{
		from->params[n_params++] = hopper_utf8_param(models[i].architecture);
		if (i + 1 < n)
			appendStringInfo(architecture, " WHEN mst_key OPERATOR(pg_catalog.=) ANY ('{%s}')"
							 " THEN $%d", models[i].keys->data, n_params);
		appendStringInfo(keys, "%s%s", i > 0 ? "," : "", models[i].keys->data);
	}
	fill(psprintf("INSERT INTO %s (mst_key, model_weights, model_arch)"
				  " SELECT mst_key, body, (%s%s%s$%d%s)::pg_catalog.json FROM %s"
				  " WHERE part OPERATOR(pg_catalog.=) -1"
				  " AND mst_key OPERATOR(pg_catalog.=) ANY ('{%s}')%s",
				  to->quoted, n > 1 ? "CASE" : "", architecture->data, n > 1 ? " ELSE " : "",
				  n_params, n > 1 ? " END" : "", from->rows, keys->data, from->latest),
		 n_params, from->params);
}

/* Nothing comes here, but what was told. */
void
hopper_hops_write(hopper_hops *hops, const hopper_name *from, const hopper_config *configs, int n,
				  const hopper_name *model, const hopper_name *state)
{
	written		source = {.rows = from->quoted,.latest = hopper_hops_latest(hops, from)};
	int32	   *all = palloc(sizeof(int32) * n);
	alike		models[MOST_ARCHITECTURES];
	int			n_models = 0;
	size_t		bytes = 0;

	if (hops->told.n > 0)
	{
		source.rows = psprintf("(SELECT%s) m",
							   hopper_own_rows_query(&hops->told, hops->run->id, source.params));
		source.latest = "";
		source.n_params = lengthof(told_columns) + 1;
	}
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
				write_weights(&source, models, n_models, model);
				at = n_models = 0;
				bytes = configs[i].model_arch_size;
			}
			models[n_models++] = (alike) {configs[i].model_arch, makeStringInfo()};
		}
		appendStringInfo(models[at].keys, "%s%d", models[at].keys->len ? "," : "", all[i]);
	}
	if (n_models > 0)
		write_weights(&source, models, n_models, model);
	fill(psprintf("INSERT INTO %s (mst_key, part, state) SELECT mst_key, part, body FROM %s"
				  "%s%s AND part OPERATOR(pg_catalog.>=) 0"
				  " AND pg_catalog.length(body) OPERATOR(pg_catalog.>) 0",
				  state->quoted, source.rows, hopper_of_keys(n, all, sizeof(int32)),
				  source.latest), source.n_params, source.params);
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
	const hopper_name *tables[] = {hops->made[0] ? &hops->tables[0] : NULL,
	hops->made[1] ? &hops->tables[1] : NULL, hops->rests ? &hops->rest : NULL};
	StringInfo	drop = makeStringInfo();

	/* The segments' memory, also of those that have lost it. */
	if (hops->loaded)
		(void) hopper_hops_ask(hops, "segment_release($1)",
							   HOPPER_PARAMS(HOPPER_INT8(hops->run->id)));
	hopper_hops_free_plans(hops);
	for (int i = 0; i < lengthof(tables); i++)
		if (tables[i])
			appendStringInfo(drop, "%s%s", drop->len ? ", " : "DROP TABLE ", tables[i]->quoted);
	if (drop->len)
		hopper_exec("%s", drop->data);
}
