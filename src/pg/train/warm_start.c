/*
 * warm_start.c
 *		Reading states and histories back from the output tables.
 */
#include "pg/train/warm_start.h"

#include "pg/train/ranking.h"

/* An array cell of SPI_tuptable: its values, or 0 where it is NULL. */
static int
array_cells(int column, Oid type, Datum **values, bool **nulls)
{
	bool		isnull;
	Datum		array = hopper_value(0, column, get_array_type(type), &isnull);

	*values = NULL;
	return isnull ? 0 : hopper_elements(DatumGetArrayTypeP(array), values, nulls);
}

/* The text of compile_params that it was trained with, or NULL. */
static char *
read_history(const hopper_outputs *outputs, hopper_history *history)
{
	static const char *const sides[2] = {"training", "validation"};
	Datum	   *iterations,
			   *elapsed,
			   *names,
			   *values;
	bool	   *nulls;
	char	   *compile_params;
	int			n,
				n_elapsed;

	if (hopper_select("SELECT metrics_iters, metrics_elapsed_time, metrics_type, training_loss,"
					  " validation_loss, training_metrics_all, validation_metrics_all, iterations,"
					  " compile_params::pg_catalog.text FROM %s WHERE mst_key = %d",
					  outputs->info.quoted, history->mst_key) != 1)
		hopper_raise(ERRCODE_DATA_CORRUPTED,
					 errmsg("\"%s\" has no row with mst_key %d", outputs->info.shown,
							history->mst_key));
	n = array_cells(1, INT4OID, &iterations, &nulls);
	for (int i = 0; i < n; i++)
		if (nulls[i] || DatumGetInt32(iterations[i]) < 1)
			hopper_refuse_cell(&outputs->info, 0, 1);
	history->last_earlier = (int32) hopper_int_cell(&outputs->info, 0, 8, 0, PG_INT32_MAX);
	n_elapsed = array_cells(2, FLOAT8OID, &elapsed, &nulls);
	history->n_metrics_earlier = Min(array_cells(3, TEXTOID, &names, &nulls), HOPPER_MAX_METRICS);
	history->metrics_earlier = palloc(Max(history->n_metrics_earlier, 1) * sizeof(char *));
	for (int i = 0; i < history->n_metrics_earlier; i++)
		history->metrics_earlier[i] = nulls[i] ? "" : TextDatumGetCString(names[i]);

	for (int i = 0; i < n; i++)
	{
		int			at = hopper_history_point(history, DatumGetInt32(iterations[i]));
		hopper_point *point = hopper_history_at(history, at);

		/* Ascending, so that its places are those of the points. */
		if (at != i)
			hopper_raise(ERRCODE_DATA_CORRUPTED,
						 errmsg("column \"metrics_iters\" of \"%s\" %s", outputs->info.shown,
								history->n == i ? "has an iteration twice" : "does not ascend"));
		point->elapsed = i < n_elapsed ? DatumGetFloat8(elapsed[i]) : 0;
		history->elapsed_earlier = Max(history->elapsed_earlier, point->elapsed);
	}
	for (int split = 0; split < 2; split++)
	{
		int			n_values = array_cells(4 + split, FLOAT8OID, &values, &nulls);

		for (int i = 0; i < Min(n, n_values); i++)
		{
			hopper_history_at(history, i)->known[split] = !nulls[i];
			hopper_history_at(history, i)->loss[split] = nulls[i] ? 0 : DatumGetFloat8(values[i]);
		}
		n_values = array_cells(6 + split, FLOAT8OID, &values, &nulls);
		if (n_values == 0)
			continue;
		if (n_values != history->n_metrics_earlier * n)
			hopper_raise(ERRCODE_DATA_CORRUPTED,
						 errmsg("column \"%s_metrics_all\" of \"%s\" does not fit its other "
								"columns", sides[split], outputs->info.shown));
		for (int at = 0; at < n_values; at++)
		{
			if (!nulls[at])
				hopper_history_set_metric(history, at % n, split, at / n,
										  DatumGetFloat8(values[at]));
		}
	}
	compile_params = hopper_cell(0, 9);
	/* A checkpoint that was damaged had trained further than the one before. */
	while (history->n > 0 &&
		   hopper_history_at(history, history->n - 1)->iteration > history->last_earlier)
		history->n--;
	SPI_freetuptable(SPI_tuptable);
	return compile_params;
}

/* Whether the losses of two texts of compile_params are different numbers. */
static bool
has_another_loss(const hopper_config *config, const char *earlier, const hopper_data_desc *data)
{
	hopper_ranked_config ranked[2];
	hopper_rows *rows;
	int			code;

	ranked[0] = ranked[1] = hopper_ranked_by_architecture(config);
	ranked[0].compile_params = hopper_to_utf8(earlier);
	if (strcmp(ranked[0].compile_params, config->compile_params) == 0)
		return false;
	code = hopper_core()->rank_configs(2, ranked, data, "loss", 0, &rows, hopper_fault);
	if (code == HOPPER_INVALID_PARAMETER)
		return true;
	HOPPER_CHECK(code);
	pfree(hopper_take_rows(rows));
	return false;
}

/* Beside those to come they would look like a jump, and the best of both would be compared. */
static void
drop_losses(const hopper_config *config, hopper_history *history)
{
	ereport(WARNING, errmsg("configuration %d changed its loss", config->mst_key),
			errdetail("The losses of its earlier iterations become NULL: they cannot be "
					  "compared with those to come."));
	for (int i = 0; i < history->n; i++)
	{
		hopper_point *point = hopper_history_at(history, i);

		point->known[HOPPER_SPLIT_TRAIN] = point->known[HOPPER_SPLIT_VALID] = false;
	}
}

pg_attribute_noreturn() static void
refuse_gap(const hopper_outputs *outputs, int32 mst_key)
{
	hopper_raise(ERRCODE_DATA_CORRUPTED,
				 errmsg("the state of configuration %d in \"%s\" lacks a part", mst_key,
						outputs->state.shown));
}

pg_attribute_noreturn() static void
refuse_damaged(const hopper_outputs *outputs, int32 mst_key, const hopper_error *error)
{
	hopper_raise(hopper_sqlstate(error->code),
				 errmsg("the state of configuration %d in \"%s\" is damaged", mst_key,
						outputs->state.shown),
				 errdetail("%s%s%s", hopper_from_utf8(error->message), error->detail[0] ? ": " : "",
						   hopper_from_utf8(error->detail)),
				 errhint("Leave this configuration out of the selection table, or train anew."));
}

/* The size of a state and the number of its parts; false where there is none. */
static bool
measure_state(const hopper_outputs *outputs, hopper_config *config, int64 *n_parts)
{
	hopper_select("SELECT count(*), coalesce(sum(octet_length(state)), 0)::int8,"
				  " coalesce(max(part)::int8 + 1, 0), coalesce(min(part), 0), count(DISTINCT part)"
				  " FROM %s WHERE mst_key = %d AND part >= 0", outputs->state.quoted,
				  config->mst_key);
	*n_parts = hopper_int_cell(&outputs->state, 0, 1, 0, PG_INT64_MAX);
	config->state_size = (size_t) hopper_int_cell(&outputs->state, 0, 2, 0, PG_INT64_MAX);
	if (hopper_int_cell(&outputs->state, 0, 3, PG_INT64_MIN, PG_INT64_MAX) != *n_parts ||
		hopper_int_cell(&outputs->state, 0, 4, PG_INT64_MIN, PG_INT64_MAX) != 0 ||
		hopper_int_cell(&outputs->state, 0, 5, 0, PG_INT64_MAX) != *n_parts)
		refuse_gap(outputs, config->mst_key);
	SPI_freetuptable(SPI_tuptable);
	return *n_parts > 0 && config->state_size > 0;
}

static void
push_part(const hopper_training *training, int32 mst_key, const bytea *part)
{
	int			code = training->api->add_state(training->run, mst_key,
												(const uint8_t *) VARDATA_ANY(part),
												VARSIZE_ANY_EXHDR(part), hopper_fault);

	if (code == HOPPER_CORRUPT)
		refuse_damaged(training->stored, mst_key, hopper_fault);
	HOPPER_CHECK(code);
}

void
hopper_push_state(const hopper_training *training, int at)
{
	const hopper_outputs *outputs = training->stored;
	hopper_config config = training->configs[at];
	int64		n_parts;

	/* What take_over() has seen, the lock keeps as it was. */
	PushActiveSnapshot(GetTransactionSnapshot());
	if (!measure_state(outputs, &config, &n_parts) ||
		config.state_size != training->configs[at].state_size)
		elog(ERROR, "the state of configuration %d changed while it was read", config.mst_key);
	for (int64 part = 0; part < n_parts; part++)
	{
		bool		isnull;
		Datum		value;
		bytea	   *bytes;

		CHECK_FOR_INTERRUPTS();
		isnull = hopper_select("SELECT state FROM %s WHERE mst_key = %d AND part = " INT64_FORMAT,
							   outputs->state.quoted, config.mst_key, part) != 1;
		value = isnull ? (Datum) 0 : hopper_value(0, 1, BYTEAOID, &isnull);
		if (isnull)
			refuse_gap(outputs, config.mst_key);
		bytes = DatumGetByteaPP(value);
		if (VARSIZE_ANY_EXHDR(bytes) > 0)
			push_part(training, config.mst_key, bytes);
		if ((Pointer) bytes != DatumGetPointer(value))
			pfree(bytes);
		SPI_freetuptable(SPI_tuptable);
	}
	PopActiveSnapshot();
}

/* --- whether states are sound --- */

typedef struct checking
{
	const hopper_outputs *outputs;
	char	   *keys;			/* of these configurations, as an SQL array */
	int32		key;			/* of one of them, and its state as far as it was read */
	uint8_t    *state;
	size_t		size;
	size_t		allocated;
	int64		n_parts;
	int64		iterations;		/* behind the last one that is sound */
	int64		n_sound;
} checking;

static void
add_part(checking *check, const bytea *part)
{
	size_t		size = VARSIZE_ANY_EXHDR(part);

	if (check->size + size > check->allocated)
	{
		check->allocated = Max(2 * check->allocated, check->size + size);
		check->state = repalloc_huge(check->state, check->allocated);
	}
	hopper_copy(check->state + check->size, VARDATA_ANY(part), size);
	check->size += size;
	check->n_parts++;
}

/* Its last part has been read. */
static void
check_state(checking *check)
{
	char		digest[33];
	hopper_error error;

	if (check->n_parts == 0)
		return;
	if (!hopper_accepts(hopper_core()->verify_state(check->state, check->size, digest,
													&check->iterations, &error), &error))
		refuse_damaged(check->outputs, check->key, &error);
	check->n_sound++;
	check->size = 0;
	check->n_parts = 0;
}

/* All of them in one pass; ERROR at the first that is damaged. */
static void
check_states(void *state)
{
	checking   *check = state;
	Portal		portal = hopper_backend.open_cursor(
		psprintf("SELECT s.mst_key, s.part, s.state FROM %s s WHERE s.part >= 0"
				 " AND s.mst_key = ANY (%s) AND EXISTS (SELECT 1 FROM %s m"
				 " WHERE m.mst_key = s.mst_key) ORDER BY s.mst_key, s.part",
				 check->outputs->state.quoted, check->keys, check->outputs->model.quoted), true);

	for (;;)
	{
		bool		isnull;
		Datum		value;
		bytea	   *part;
		int32		key;

		CHECK_FOR_INTERRUPTS();
		SPI_cursor_fetch(portal, true, 1);
		if (SPI_processed == 0)
			break;
		key = hopper_key_cell(&check->outputs->state, 0, 1);
		if (key != check->key)
			check_state(check);
		check->key = key;
		value = hopper_value(0, 3, BYTEAOID, &isnull);
		if (isnull || hopper_key_cell(&check->outputs->state, 0, 2) != check->n_parts)
			refuse_gap(check->outputs, key);
		part = DatumGetByteaPP(value);
		add_part(check, part);
		if ((Pointer) part != DatumGetPointer(value))
			pfree(part);
		SPI_freetuptable(SPI_tuptable);
	}
	check_state(check);
	SPI_cursor_close(portal);
}

/* Of one configuration. */
static void
check_one_state(void *state)
{
	checking   *check = state;

	check_states(check);
	if (check->n_sound == 0)
		hopper_raise(ERRCODE_DATA_CORRUPTED,
					 errmsg("configuration %d has no state in \"%s\"", check->key,
							check->outputs->state.shown));
}

static checking
new_check(const hopper_outputs *outputs, const int32 *keys, int n, Size stride)
{
	checking	check = {.outputs = outputs,.key = n == 1 ? *keys : 0,.allocated = 65536};

	check.keys = hopper_keys_literal(n, keys, stride);
	check.state = palloc(check.allocated);
	return check;
}

static void
end_check(checking *check)
{
	pfree(check->state);
	pfree(check->keys);
}

bool
hopper_checkpoints_are_sound(const hopper_outputs *outputs, const hopper_config *configs, int n)
{
	checking	check = new_check(outputs, &configs->mst_key, n, sizeof(hopper_config));
	int64		n_models = hopper_number(NULL, hopper_select(
		"SELECT count(*) FROM %s WHERE mst_key = ANY (%s)", outputs->model.quoted, check.keys));
	bool		sound = n_models == 0 || hopper_attempt(check_states, &check) == NULL;

	end_check(&check);
	return sound && check.n_sound == n_models;
}

static void
see_changes(void)
{
	CommandCounterIncrement();
	UpdateActiveSnapshotCommandId();
}

/* The checkpoint before takes the place of the newest; false where there is none. */
static bool
take_checkpoint_before(const hopper_outputs *outputs, int32 mst_key)
{
	bool		has_one = hopper_select("SELECT FROM %s WHERE mst_key = %d AND part < 0 LIMIT 1",
										outputs->state.quoted, mst_key) > 0;

	SPI_freetuptable(SPI_tuptable);
	hopper_change("DELETE FROM %s WHERE mst_key = %d AND part >= 0", outputs->state.quoted,
				  mst_key);
	hopper_change("UPDATE %s SET part = -1 - part WHERE mst_key = %d", outputs->state.quoted,
				  mst_key);
	see_changes();
	return has_one;
}

int32
hopper_mend_checkpoint(const hopper_outputs *outputs, int32 mst_key, bool continues)
{
	bool		mended = false;

	for (;;)
	{
		checking	check = new_check(outputs, &mst_key, 1, sizeof(int32));
		ErrorData  *error = hopper_attempt(check_one_state, &check);
		bool		has_one;

		end_check(&check);
		if (error == NULL)
		{
			if (!mended)
				return -1;
			hopper_change("UPDATE %s SET iterations = " INT64_FORMAT " WHERE mst_key = %d",
						  outputs->info.quoted, check.iterations, mst_key);
			see_changes();
			return (int32) check.iterations;
		}
		/* Of XX000, too: before kernel 13 a table that lacks a piece of a value says so. */
		if (ERRCODE_TO_CATEGORY(error->sqlerrcode) != ERRCODE_TO_CATEGORY(ERRCODE_DATA_CORRUPTED))
			ReThrowError(error);
		mended = true;
		has_one = take_checkpoint_before(outputs, mst_key);
		if (!has_one && continues)
			ReThrowError(error);
		ereport(WARNING,
				errcode(ERRCODE_DATA_CORRUPTED),
				errmsg(has_one ? "the newest checkpoint of configuration %d is damaged, the one "
					   "before is used" : "no checkpoint of configuration %d is sound, it begins "
					   "anew", mst_key),
				errdetail("%s", error->message));
		if (has_one)
			continue;
		hopper_change("DELETE FROM %s WHERE mst_key = %d", outputs->model.quoted, mst_key);
		hopper_change("DELETE FROM %s WHERE mst_key = %d", outputs->info.quoted, mst_key);
		see_changes();
		return 0;
	}
}

/* The model goes on as it is, whatever architecture its configuration names now. */
static void
take_architecture(const hopper_outputs *outputs, hopper_config *config, const char *arch)
{
	const char *named = config->model_arch;
	size_t		named_size = config->model_arch_size;

	config->model_arch = hopper_to_utf8(arch);
	config->model_arch_size = strlen(config->model_arch);
	if (named == NULL || (named_size == config->model_arch_size &&
						  memcmp(named, config->model_arch, named_size) == 0))
		return;
	ereport(WARNING, errmsg("configuration %d of \"%s\" goes on with the architecture that it has",
							config->mst_key, outputs->model.shown),
			errdetail("Model %d, which it names now, is another one.", config->model_id),
			errhint("Give it another mst_key, or train into other output tables, to train that."));
	if (hopper_select("SELECT model_id FROM %s WHERE mst_key = %d AND model_id IS NOT NULL",
					  outputs->info.quoted, config->mst_key) > 0)
		config->model_id = hopper_key_cell(&outputs->info, 0, 1);
	SPI_freetuptable(SPI_tuptable);
}

void
hopper_warm_start(const hopper_outputs *outputs, const hopper_data_desc *data,
				  hopper_config *configs, int n, hopper_history **histories, bool checks_states)
{
	for (int i = 0; i < n; i++)
	{
		int64		n_parts;
		char	   *arch;
		char	   *earlier;

		if (hopper_select("SELECT model_arch::text FROM %s WHERE mst_key = %d",
						  outputs->model.quoted, configs[i].mst_key) == 0)
			continue;
		arch = hopper_cell(0, 1);
		SPI_freetuptable(SPI_tuptable);
		if (arch == NULL || !measure_state(outputs, &configs[i], &n_parts))
			hopper_unmet(errmsg("configuration %d of \"%s\" has no architecture or no state",
								configs[i].mst_key, outputs->model.shown),
						 errdetail("Training goes on from the state in \"%s\".",
								   outputs->state.shown),
						 errhint("Where it was removed, train anew: without warm_start, into "
								 "another table."));
		if (checks_states)
		{
			checking	check = new_check(outputs, &configs[i].mst_key, 1, sizeof(int32));

			check_one_state(&check);
			end_check(&check);
		}
		take_architecture(outputs, &configs[i], arch);
		configs[i].weights = NULL;
		configs[i].n_weights = 0;
		earlier = read_history(outputs, histories[i]);
		if (earlier && configs[i].compile_params && has_another_loss(&configs[i], earlier, data))
			drop_losses(&configs[i], histories[i]);
	}
}
