/*
 * model_rows.c
 *		What models leave in the output tables: weights, states and how they did; of a run that goes
 *		on, as checkpoints.
 *
 * Models may be thousands, each of them small: their rows go through one plan a table, and what
 * they take the place of goes by one statement a table.
 */
#include "pg/train/outputs.h"

#include "pg/train/output_rows.h"

/*
 * A state in one value. Small, so that the copies that the server makes of it on its way into the
 * table do not count.
 */
#define STATE_PART_BYTES (4 * 1024 * 1024)

/* Models whose metrics one statement writes: to segments each takes longer than what it writes. */
#define INFOS_AT_ONCE (HOPPER_DATA_ON_SEGMENTS ? 32 : 1)

/* Of several models. */
typedef struct model_writers
{
	hopper_output_writer model;
	hopper_output_writer state;
	hopper_output_writer info;
	MemoryContext all;
	MemoryContext one;			/* of one model's rows */
	MemoryContext kept;			/* of infos */
	const hopper_output_row *infos[32];
	int			n_infos;
	bytea	   *part;			/* room for a part of a state */
} model_writers;

static void
begin_models(model_writers *writers, const hopper_outputs *outputs)
{
	memset(writers, 0, sizeof(*writers));
	writers->model.table = &outputs->model;
	writers->state.table = &outputs->state;
	writers->info.table = &outputs->info;
	writers->all = CurrentMemoryContext;
	writers->one = AllocSetContextCreate(writers->all, "hopper rows of a model",
										 ALLOCSET_DEFAULT_SIZES);
	writers->kept = AllocSetContextCreate(writers->all, "hopper metrics of models",
										  ALLOCSET_DEFAULT_SIZES);
}

static void
write_infos(model_writers *writers)
{
	if (writers->n_infos > 0)
		hopper_output_write_rows(&writers->info, writers->infos, writers->n_infos);
	writers->n_infos = 0;
	MemoryContextReset(writers->kept);
}

static void
add_info(model_writers *writers, const hopper_training *training, int at)
{
	MemoryContext caller = MemoryContextSwitchTo(writers->kept);

	writers->infos[writers->n_infos++] =
		hopper_info_row(&training->configs[at], &training->results[at], training->histories[at]);
	MemoryContextSwitchTo(caller);
	if (writers->n_infos == INFOS_AT_ONCE)
		write_infos(writers);
}

static void
end_models(model_writers *writers)
{
	write_infos(writers);
	hopper_output_end(&writers->model);
	hopper_output_end(&writers->state);
	hopper_output_end(&writers->info);
	if (writers->part)
		pfree(writers->part);
	MemoryContextDelete(writers->one);
	MemoryContextDelete(writers->kept);
}

/*
 * The next bytes of its state image, `size` at most; 0 behind the last. `take`: the core then frees
 * them, and training->results[at] has their digest; else it has halted, and keeps them.
 */
static size_t
state_of(hopper_training *training, int at, bool take, void *bytes, size_t size)
{
	const hopper_run_api *run = training->run ? training->api : NULL;
	size_t		n;

	if (training->rehearsed)
	{
		n = Min(size, training->results[at].state_size);
		memset(bytes, 0, n);
		training->results[at].state_size -= n;
	}
	else
		HOPPER_CHECK((take ? run->take_state : run->copy_state) (
			training->run, training->configs[at].mst_key, bytes, size, &n, hopper_fault));
	CHECK_FOR_INTERRUPTS();
	return n;
}

static size_t
write_state(model_writers *writers, hopper_training *training, int at, bool take)
{
	size_t		written = 0;
	size_t		n;
	hopper_output_row row;

	if (writers->part == NULL)
		writers->part = MemoryContextAlloc(writers->all, VARHDRSZ + STATE_PART_BYTES);
	for (int32 part = 0;; part++)
	{
		/* Filled to the brim, whatever pieces it comes in: parts are alike everywhere. */
		size_t		size = 0;

		while (size < STATE_PART_BYTES &&
			   (n = state_of(training, at, take, VARDATA(writers->part) + size,
							 STATE_PART_BYTES - size)) > 0)
			size += n;
		if (size == 0)
			break;
		SET_VARSIZE(writers->part, VARHDRSZ + size);
		hopper_begin_row(&row, &hopper_states_layout);
		hopper_fill(&row, "mst_key", HOPPER_INT4(training->configs[at].mst_key));
		hopper_fill(&row, "part", HOPPER_INT4(part));
		hopper_fill(&row, "state", HOPPER_PARAM(BYTEAOID, PointerGetDatum(writers->part)));
		hopper_output_write(&writers->state, &row);
		written += size;
		CHECK_FOR_INTERRUPTS();
		/* A copy begins anew when it is read on. */
		if (size < STATE_PART_BYTES)
			break;
	}
	return written;
}

/* `take`: as in state_of(), of which they come after; else those that it would deliver now. */
static void
weights_of(hopper_training *training, int at, bool take, float *weights, size_t size)
{
	const hopper_run_api *run = training->run ? training->api : NULL;

	if (training->rehearsed)
	{
		memset(weights, 0, size);
		return;
	}
	if (take)
		hopper_training_look(training, at);
	HOPPER_CHECK((take ? run->take_weights : run->copy_weights) (
		training->run, training->configs[at].mst_key, weights, size / sizeof(float),
		hopper_fault));
}

static void
write_weights(model_writers *writers, hopper_training *training, int at, bool take)
{
	const hopper_config *config = &training->configs[at];
	const hopper_model_result *result = &training->results[at];
	size_t		size = (size_t) (take ? result->n_weights : result->n_parameters) * sizeof(float);
	bytea	   *weights = palloc(VARHDRSZ + size);
	hopper_output_row row;

	SET_VARSIZE(weights, VARHDRSZ + size);
	weights_of(training, at, take, (float *) VARDATA(weights), size);
	hopper_begin_row(&row, &hopper_models_layout);
	hopper_fill(&row, "mst_key", HOPPER_INT4(config->mst_key));
	hopper_fill(&row, "model_weights", HOPPER_PARAM(BYTEAOID, PointerGetDatum(weights)));
	hopper_fill(&row, "model_arch", hopper_utf8_param(config->model_arch));
	hopper_output_write(&writers->model, &row);
	pfree(weights);
}

/* The state first: the core then frees all but the weights. */
static void
write_model(model_writers *writers, hopper_training *training, int at)
{
	size_t		size;

	size = write_state(writers, training, at, true);
	((hopper_config *) training->configs)[at].state_size = size;
	write_weights(writers, training, at, true);
}

static void
write_one(model_writers *writers, hopper_training *training, int at)
{
	MemoryContext caller = MemoryContextSwitchTo(writers->one);

	/* the segments have written theirs */
	if (training->results[at].status == HOPPER_MODEL_DONE &&
		(training->run || training->rehearsed))
		write_model(writers, training, at);
	add_info(writers, training, at);
	MemoryContextSwitchTo(caller);
	MemoryContextReset(writers->one);
	CHECK_FOR_INTERRUPTS();
}

static void
clear(const hopper_outputs *outputs, const char *of_keys)
{
	hopper_change("DELETE FROM %s%s", outputs->model.quoted, of_keys);
	hopper_change("DELETE FROM %s%s", outputs->state.quoted, of_keys);
	hopper_change("DELETE FROM %s%s", outputs->info.quoted, of_keys);
}

void
hopper_outputs_clear(hopper_training *training)
{
	const hopper_outputs *outputs = training->stored;
	int			n = training->n_configs;
	int32	   *old = palloc(n * sizeof(int32));
	int32	   *written = palloc(n * sizeof(int32));
	int			n_old = 0;
	int			n_written = 0;

	for (int i = 0; i < n; i++)
	{
		if (training->saved[i].written)
			written[n_written++] = training->configs[i].mst_key;
		else
			old[n_old++] = training->configs[i].mst_key;
		training->saved[i].there = training->saved[i].written;
	}
	if (training->keeps_others)
		clear(outputs, hopper_of_keys(n_old, old, sizeof(int32)));
	else
		clear(outputs, n_written == 0 ? ""
			  : psprintf(" WHERE mst_key OPERATOR(pg_catalog.<>) ALL (%s)",
						 hopper_keys_literal(n_written, written, sizeof(int32))));
	hopper_change("DELETE FROM %s", outputs->summary.quoted);
}

void
hopper_outputs_clear_one(const hopper_outputs *outputs, int32 mst_key)
{
	clear(outputs, psprintf(" WHERE mst_key OPERATOR(pg_catalog.=) %d", mst_key));
}

/* The newest checkpoint becomes the one before, without its bytes being written again. */
static void
keep_checkpoints(const hopper_outputs *outputs, const char *of_keys)
{
	hopper_change("DELETE FROM %s%s AND part OPERATOR(pg_catalog.<) 0", outputs->state.quoted,
				  of_keys);
	hopper_change("UPDATE %s SET part = -1 OPERATOR(pg_catalog.-) part%s", outputs->state.quoted,
				  of_keys);
	hopper_change("DELETE FROM %s%s", outputs->model.quoted, of_keys);
	hopper_change("DELETE FROM %s%s", outputs->info.quoted, of_keys);
}

void
hopper_outputs_write_checkpoints(hopper_training *training, const int *which, int n)
{
	model_writers writers;
	int32	   *keys = palloc(Max(n, 1) * sizeof(int32));
	bool		stored;

	for (int i = 0; i < n; i++)
	{
		keys[i] = training->configs[which[i]].mst_key;
		training->saved[which[i]].there = true;
	}
	keep_checkpoints(training->stored, hopper_of_keys(n, keys, sizeof(int32)));
	stored = hopper_backend.training->store(training, which, n);
	begin_models(&writers, training->stored);
	for (int i = 0; i < n; i++)
	{
		int			at = which[i];
		MemoryContext caller = MemoryContextSwitchTo(writers.one);

		if (!stored)
			(void) write_state(&writers, training, at, false);
		hopper_training_look(training, at);
		if (!stored)
			write_weights(&writers, training, at, false);
		add_info(&writers, training, at);
		MemoryContextSwitchTo(caller);
		MemoryContextReset(writers.one);
	}
	end_models(&writers);
}

void
hopper_outputs_write_ended(hopper_training *training, const int *which, int n)
{
	model_writers writers;
	int32	   *keys = palloc(Max(n, 1) * sizeof(int32));
	int			n_there = 0;

	for (int i = 0; i < n; i++)
		if (training->saved[which[i]].there)
			keys[n_there++] = training->configs[which[i]].mst_key;
	if (n_there > 0)
		clear(training->stored, hopper_of_keys(n_there, keys, sizeof(int32)));
	(void) hopper_backend.training->store(training, which, n);
	begin_models(&writers, training->stored);
	for (int i = 0; i < n; i++)
	{
		hopper_saved *saved = &training->saved[which[i]];

		hopper_training_look(training, which[i]);
		write_one(&writers, training, which[i]);
		saved->there = saved->written = true;
		saved->stored = training->results[which[i]].iterations;
	}
	end_models(&writers);
}

void
hopper_outputs_write_models(hopper_training *training)
{
	int		   *which = palloc(Max(training->n_configs, 1) * sizeof(int));
	int			n = 0;

	for (int i = 0; i < training->n_configs; i++)
		if (!training->saved[i].written)
			which[n++] = i;
	if (n > 0)
		hopper_outputs_write_ended(training, which, n);
}

void
hopper_outputs_write_refused(const hopper_outputs *outputs, const hopper_config *config,
							 const char *error)
{
	hopper_model_result result = {.status = HOPPER_MODEL_FAILED};
	hopper_history history = {0};
	size_t		size = strlen(error);

	size = Min(size, sizeof(result.error) - 1);
	/* Not in the middle of a character. */
	while (size > 0 && (error[size] & 0xC0) == 0x80)
		size--;
	memcpy(result.error, error, size);
	hopper_output_insert(&outputs->info, hopper_info_row(config, &result, &history));
}
