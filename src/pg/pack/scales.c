/*
 * scales.c
 *		Whether features, and numbers to predict, are of about the size that networks learn well.
 *		Whoever packs a table as it stands gets models that know next to nothing, and no error: a
 *		hint tells.
 */
#include "pg/pack/pack.h"

#define LARGE 100.0				/* after division by normalizing_const */

static char *
features_hint(const hopper_pack_job *job)
{
	const hopper_pack_source *source = &job->source;
	int			large = 0;
	const double *largest = job->ranges.largest;
	int64		at = 0;
	char	   *name;

	if (hopper_pack_features_are_alike(job))
		return largest[0] / job->x.divisor <= LARGE ? NULL
			: psprintf("Networks learn badly from large numbers, and \"%s\" goes up to %g: pass "
					   "normalizing_const, by which they are divided.",
					   source->n_x > 1 ? "features" : source->x[0].name, largest[0]);
	for (int64 i = 0; i < job->x.count; i++)
	{
		large += largest[i] / job->x.divisor > LARGE;
		at = largest[i] > largest[at] ? i : at;
	}
	if (large == 0)
		return NULL;
	name = job->x.layout == PACK_SCALARS ? psprintf("\"%s\"", source->x[at].name)
		: psprintf("\"%s\"[" INT64_FORMAT "]", source->x[0].name, at + 1);
	return psprintf("Networks learn badly from large numbers, and %s%s up to %g: %s.", name,
					large > 1 ? psprintf(", one of %d, goes", large) : " goes", largest[at],
					job->x.layout == PACK_SCALARS
					? "pass treatments => '{}', which scales them"
					: "subtract the mean and divide by the standard deviation in a view");
}

static char *
label_hint(const char *name, bool known, double least, double largest)
{
	double		size = Max(fabs(least), fabs(largest));

	if (!known || size <= LARGE)
		return NULL;
	return psprintf("Networks come to large numbers slowly, and those to predict, \"%s\", go up to "
					"%g: subtract the mean and divide by the standard deviation in a view, and "
					"reckon back what is predicted.", name, size);
}

/* Of the first label that is one. */
static char *
labels_hint(const hopper_pack_job *job)
{
	const hopper_pack_ranges *ranges = &job->ranges;
	char	   *hint = NULL;

	if (job->n_outputs == 0)
		return job->y_kind != HOPPER_LABEL_VALUE ? NULL
			: label_hint(job->source.y.name, ranges->has_label_range,
						 ranges->least_label, ranges->largest_label);
	for (int i = 0; i < job->n_outputs && hint == NULL; i++)
	{
		const hopper_output *output = &job->outputs[i];

		if (output->kind == HOPPER_LABEL_VALUE)
			hint = label_hint(output->name, output->has_label_range, output->least_label,
							  output->largest_label);
	}
	return hint;
}

char *
hopper_pack_scales_hint(const hopper_pack_job *job)
{
	char	   *features = job->ranges.n_features > 0 ? features_hint(job) : NULL;
	/* Of rows for validation it was said of those to train on. */
	char	   *labels = job->request.validation ? NULL : labels_hint(job);

	return features && labels ? psprintf("%s\n%s", features, labels) : features ? features : labels;
}
