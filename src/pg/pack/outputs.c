/*
 * outputs.c
 *		The packed tables of one call, once its rows are counted: how many rows go into each, and
 *		what is said where labels or the split leave nothing to learn from.
 */
#include "pg/pack/pack.h"

bool
hopper_pack_is_split(const hopper_pack_request *request)
{
	return request->validation_fraction > 0 || request->fold_column;
}

/* `at` among the job's tables */
static void
init_output(const hopper_pack_job *job, hopper_pack_output *output, int at, int64 n_rows,
			int32 partitions)
{
	memset(output, 0, sizeof(*output));
	output->table = job->making.made[at].name;
	output->named = job->making.tables[at].name.quoted;
	output->x_column = hopper_pack_feature_column(job);
	output->y_column = hopper_packed_label(job->source.y.name);
	output->n_rows = n_rows;
	output->n_class_counts = job->classes.n;
	output->partitions = partitions;
	output->buffer_size = job->request.buffer_size;
	output->x_size = job->row.x_size;
	output->y_size = job->row.y_size;
	output->n_segments = hopper_backend.chosen_segments(job->request.distribution_rules,
														&output->segments);
	hopper_pack_output_begin(output);
}

static void
check_split(const hopper_pack_job *job, int64 n_validation)
{
	const hopper_pack_request *request = &job->request;
	int64		n_training = job->n_rows - n_validation;

	if (request->validation_fraction > 0 && (n_validation == 0 || n_training == 0))
		hopper_wrong(errmsg("validation_fraction %g of the " INT64_FORMAT " rows of \"%s\" leaves "
							"no row for %s", request->validation_fraction, job->n_rows,
							job->source.name.shown, n_validation == 0 ? "validation" : "training"),
					 job->y_kind == HOPPER_LABEL_CLASS
					 ? errdetail("It is taken of each class and rounded.")
					 : 0,
					 errhint("Give a %s one, or more rows.",
							 n_validation == 0 ? "larger" : "smaller"));
	if (request->fold_column && (n_validation == 0 || n_training == 0))
		hopper_wrong(errmsg("column \"%s\" of \"%s\" leaves no row for %s", job->source.fold.name,
							job->source.name.shown, n_validation == 0 ? "validation" : "training"),
					 errhint("True marks a row for validation, false for training."));
	if (request->partitions > n_training)
		hopper_wrong(errmsg("partitions is %d but there %s only %s to train on",
							request->partitions, n_training == 1 ? "is" : "are",
							hopper_plural(n_training, "row", "rows")));
}

static void
check_starts(const hopper_pack_request *request, int32 partitions)
{
	if (request->n_starts > 0 && request->starts[request->n_starts - 1] >= partitions)
		hopper_wrong(errmsg("starts names partition %d but there %s only %s",
							request->starts[request->n_starts - 1], partitions == 1 ? "is" : "are",
							hopper_plural(partitions, "partition", "partitions")),
					 errdetail("Partitions count from 0."));
}

/* Keys and measurements look like classes, too, where they are integers or text. */
#define MOST_CLASSES_ANYWAY 100
/* An integer column of as many values rather holds numbers: a WARNING asks. */
#define MOST_INTEGER_CLASSES 50

static void
require_real_classes(const hopper_pack_job *job)
{
	const hopper_pack_source *source = &job->source;
	int			n = job->classes.n;

	for (int i = 0; i < job->n_outputs; i++)
	{
		job->parts[i]->n_rows = job->n_rows;
		require_real_classes(job->parts[i]);
	}
	if (job->y_kind == HOPPER_LABEL_CLASS && !job->request.validation && n == 1)
		ereport(WARNING, errmsg("column \"%s\" of \"%s\" holds one class only", source->y.name,
								source->name.shown),
				errdetail("Each row has the label %s.", hopper_pack_list_classes(&job->classes)),
				errhint("A model learns nothing from it: pack rows of other classes, too."));
	if (job->y_kind != HOPPER_LABEL_CLASS || job->request.validation ||
		job->request.label_kind == HOPPER_LABEL_CLASS)
		return;
	if (n == job->n_rows && n > MOST_CLASSES_ANYWAY)
		hopper_wrong(errmsg("each of the %s rows of \"%s\" would be a class of its own",
							hopper_count_words(n), source->name.shown),
					 errdetail("Label column \"%s\" of type %s has as many values.", source->y.name,
							   source->y.sql_type),
					 errhint("Is it a key? For numbers to be predicted pass label_kind => "
							 "'value'; 'class' packs them as classes all the same."));
	if (n >= MOST_INTEGER_CLASSES && job->classes.family == PACK_INTEGER &&
		job->request.num_classes == 0)
		ereport(WARNING, errmsg("each of the %s integers in column \"%s\" of \"%s\" becomes a "
								"class", hopper_count_words(n), source->y.name, source->name.shown),
				errhint("For a number to be predicted pass label_kind => 'value'; 'class' packs "
						"them as classes without this warning."));
	else if (n > MOST_CLASSES_ANYWAY && n > job->n_rows / 2)
		ereport(WARNING,
				errmsg("the %s rows of \"%s\" have labels of %s classes",
					   hopper_count_words(job->n_rows), source->name.shown, hopper_count_words(n)),
				errhint("For numbers to be predicted pass label_kind => 'value'."));
}

bool
hopper_pack_open_outputs(hopper_pack_job *job, hopper_pack_output *training,
						 hopper_pack_output *validation)
{
	const hopper_pack_request *request = &job->request;
	int64		n_validation;

	if (job->n_rows == 0)
		hopper_wrong(errmsg("\"%s\" holds no rows", job->source.name.shown));
	require_real_classes(job);
	n_validation = hopper_pack_split_rows(job);
	check_split(job, n_validation);
	hopper_pack_look_at_split(job);
	hopper_pack_finish_ranges(job);
	init_output(job, training, 0, job->n_rows - n_validation, request->partitions);
	training->class_counts = hopper_pack_class_counts(job, false);
	check_starts(request, training->partitions);
	if (!hopper_pack_is_split(request))
		return false;
	init_output(job, validation, 2, n_validation, 0);
	validation->class_counts = hopper_pack_class_counts(job, true);
	return true;
}
