/*
 * results.c
 *		What trained models leave behind, from the core or from a temporary file.
 *
 * Where models wait for memory, a result is put aside as soon as its model is done. The file
 * belongs to the statement: it goes with an error, and temp_file_limit counts it.
 */
#include "pg/train/results.h"

#include "commands/tablespace.h"
#include "storage/buffile.h"

#define PIECE_BYTES (1024 * 1024)

struct hopper_aside
{
	BufFile    *file;
	int			end_file;		/* where the next result begins */
	off_t		end;
	struct hopper_aside_model
	{
		bool		there;
		int			file;
		off_t		at;			/* what is to be read next */
		size_t		state_left;
	}		   *models;
};

static void
read_aside(struct hopper_aside *aside, struct hopper_aside_model *model, void *bytes, size_t size)
{
	hopper_seek_file(aside->file, model->file, model->at);
	hopper_read_file(aside->file, bytes, size);
	BufFileTell(aside->file, &model->file, &model->at);
}

static void
aside_context(void *arg)
{
	errcontext("results of configuration %d in a temporary file, where they wait for their tables",
			   *(const int32 *) arg);
}

static struct hopper_aside *
open_aside(const hopper_training *training)
{
	struct hopper_aside *aside = palloc0(sizeof(struct hopper_aside));

	aside->models = palloc0(training->n_configs * sizeof(struct hopper_aside_model));
	PrepareTempTablespaces();
	aside->file = hopper_buffile_create("model_hopper_results");
	return aside;
}

void
hopper_results_put_aside(hopper_training *training, int at)
{
	ErrorContextCallback context =
	{error_context_stack, aside_context, (void *) &training->configs[at].mst_key};
	struct hopper_aside *aside = training->aside;
	struct hopper_aside_model *model;
	char	   *piece = palloc(PIECE_BYTES);
	float	   *weights;
	size_t		n;

	error_context_stack = &context;
	if (aside == NULL)
		aside = training->aside = open_aside(training);
	model = &aside->models[at];
	model->file = aside->end_file;
	model->at = aside->end;
	model->state_left = 0;
	hopper_seek_file(aside->file, aside->end_file, aside->end);
	while ((n = hopper_results_state(training, at, true, piece, PIECE_BYTES)) > 0)
	{
		hopper_write_file(aside->file, piece, n);
		model->state_left += n;
	}
	hopper_training_look(training, at);
	pfree(piece);
	n = training->results[at].n_weights * sizeof(float);
	weights = MemoryContextAllocHuge(CurrentMemoryContext, Max(n, 1));
	hopper_results_weights(training, at, true, weights);
	hopper_write_file(aside->file, weights, n);
	pfree(weights);
	BufFileTell(aside->file, &aside->end_file, &aside->end);
	model->there = true;
	error_context_stack = context.previous;
}

size_t
hopper_results_state(hopper_training *training, int at, bool take, void *bytes, size_t size)
{
	const hopper_run_api *run = training->run ? &hopper_torch()->run : NULL;
	size_t		n;

	if (training->rehearsed)
	{
		n = Min(size, training->results[at].state_size);
		memset(bytes, 0, n);
		training->results[at].state_size -= n;
	}
	else if (hopper_results_are_aside(training, at))
	{
		struct hopper_aside_model *model = &training->aside->models[at];

		n = Min(size, model->state_left);
		if (n > 0)
			read_aside(training->aside, model, bytes, n);
		model->state_left -= n;
	}
	else
		HOPPER_CHECK((take ? run->take_state : run->copy_state) (
			training->run, training->configs[at].mst_key, bytes, size, &n, hopper_fault));
	CHECK_FOR_INTERRUPTS();
	return n;
}

void
hopper_results_weights(hopper_training *training, int at, bool take, float *weights)
{
	const hopper_model_result *result = &training->results[at];
	const hopper_run_api *run = training->run ? &hopper_torch()->run : NULL;
	int32		key = training->configs[at].mst_key;

	if (training->rehearsed)
		memset(weights, 0, result->n_weights * sizeof(float));
	else if (hopper_results_are_aside(training, at))
		read_aside(training->aside, &training->aside->models[at], weights,
				   result->n_weights * sizeof(float));
	else if (take)
	{
		hopper_training_look(training, at);
		HOPPER_CHECK(run->take_weights(training->run, key, weights, result->n_weights,
									   hopper_fault));
	}
	else
		HOPPER_CHECK(run->copy_weights(training->run, key, weights, result->n_parameters,
									   hopper_fault));
}

/* --- of a training that is open --- */

void
hopper_results_grow(hopper_training *training)
{
	struct hopper_aside *aside = training->aside;

	if (aside == NULL)
		return;
	aside->models = repalloc(aside->models,
							 training->n_configs * sizeof(struct hopper_aside_model));
	memset(&aside->models[training->n_configs - 1], 0, sizeof(struct hopper_aside_model));
}

bool
hopper_results_are_aside(const hopper_training *training, int at)
{
	return training->aside && training->aside->models[at].there;
}

size_t
hopper_results_aside_size(const hopper_training *training, int at)
{
	return training->aside->models[at].state_left;
}

/* The file only grows: what one has put there stays for others. */
void
hopper_results_share(hopper_training *training, int at, int with)
{
	training->aside->models[with] = training->aside->models[at];
}

void
hopper_results_forget(hopper_training *training, int at)
{
	if (hopper_results_are_aside(training, at))
		training->aside->models[at].there = false;
}

void
hopper_results_push_state(const hopper_training *training, int at)
{
	struct hopper_aside_model model = training->aside->models[at];
	char	   *piece = palloc(PIECE_BYTES);

	while (model.state_left > 0)
	{
		size_t		n = Min(model.state_left, PIECE_BYTES);

		read_aside(training->aside, &model, piece, n);
		model.state_left -= n;
		HOPPER_CHECK(hopper_torch()->run.add_state(training->run, training->configs[at].mst_key,
												   (const uint8_t *) piece, n, hopper_fault));
		CHECK_FOR_INTERRUPTS();
	}
	pfree(piece);
	training->aside->models[at].there = false;
}

void
hopper_results_end(hopper_training *training)
{
	if (training->aside)
		BufFileClose(training->aside->file);
	training->aside = NULL;
}
