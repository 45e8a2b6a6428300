/*
 * ranges.c
 *		How large the numbers of features and labels are. On a cluster segments look at the rows
 *		that they encode, and their coordinator puts together what they found.
 */
#include "pg/pack/pack.h"

#define MOST_FEATURES 1000		/* of longer rows nobody standardises each */
#define SOME_ROWS 1000			/* of large arrays that are looked at */

/*
 * Columns of numbers, and arrays. A list of integers may be one of ids, of several inputs some may
 * have a layer that standardises, and bytes are divided by the networks of mlp() and cnn().
 */
static bool
features_are_looked_at(const hopper_pack_job *job)
{
	const hopper_pack_values *x = &job->x;
	bool		is_real = x->type == HOPPER_FLOAT32 || x->type == HOPPER_FLOAT64;

	if (job->request.validation || x->padding.given || x->type == HOPPER_UINT8)
		return false;
	return x->layout == PACK_SCALARS || (x->layout == PACK_ARRAY && (is_real || x->rank > 1));
}

bool
hopper_pack_features_are_alike(const hopper_pack_job *job)
{
	return job->x.rank > 1 || job->x.count > MOST_FEATURES;
}

/* Of masks and the like all values together. */
static bool
labels_are_alike(const hopper_pack_job *job)
{
	return job->y.count > MOST_FEATURES;
}

void
hopper_pack_start_ranges(hopper_pack_job *job)
{
	hopper_pack_ranges *ranges = &job->ranges;
	int			n;

	if (features_are_looked_at(job))
		ranges->n_features = hopper_pack_features_are_alike(job) ? 1 : Max((int) job->x.count, 1);
	if (job->y_kind != HOPPER_LABEL_CLASS)
		ranges->n_labels = labels_are_alike(job) ? 1 : Max((int) job->y.count, 1);
	n = ranges->n_features + ranges->n_labels;
	ranges->least = palloc(sizeof(double) * 2 * Max(n, 1));
	ranges->largest = ranges->least + n;
	for (int i = 0; i < n; i++)
	{
		ranges->least[i] = INFINITY;
		ranges->largest[i] = -INFINITY;
	}
}

static inline void
look_at(int32 type, const char *values, int64 n, bool alike, double *restrict least,
		double *restrict largest)
{
	for (int64 i = 0; i < n; i++)
	{
		double		number = hopper_number_at(type, values, i);
		int64		at = alike ? 0 : i;

		least[at] = Min(least[at], number);
		largest[at] = Max(largest[at], number);
	}
}

void
hopper_pack_look_at_numbers(hopper_pack_job *job, const char *body)
{
	hopper_pack_ranges *ranges = &job->ranges;
	const hopper_pack_values *x = &job->x;
	bool		alike = hopper_pack_features_are_alike(job);
	bool		some = job->source.row_number <= SOME_ROWS;

	if (ranges->n_features == 0 || (alike && !some))
		;
	else if (x->type == HOPPER_FLOAT32 && !alike)
		look_at(HOPPER_FLOAT32, body, x->count, false, ranges->least, ranges->largest);
	else if (x->type == HOPPER_INT32 && !alike)
		look_at(HOPPER_INT32, body, x->count, false, ranges->least, ranges->largest);
	else
		look_at(x->type, body, x->count, alike, ranges->least, ranges->largest);
	alike = labels_are_alike(job);
	if (ranges->n_labels > 0 && (some || !alike))
		look_at(job->y.type, body + job->row.x_size, job->y.count, alike,
				ranges->least + ranges->n_features, ranges->largest + ranges->n_features);
}

/* Of n of a row's labels from `first` on. */
static bool
range_of_labels(const hopper_pack_ranges *ranges, int64 first, int64 n, double *least,
				double *largest)
{
	*least = INFINITY;
	*largest = -INFINITY;
	n = Min(n, ranges->n_labels - first);
	for (int64 i = ranges->n_features + first; n > 0; i++, n--)
	{
		*least = Min(*least, ranges->least[i]);
		*largest = Max(*largest, ranges->largest[i]);
	}
	return *least <= *largest && isfinite(*least) && isfinite(*largest);
}

void
hopper_pack_finish_ranges(hopper_pack_job *job)
{
	hopper_pack_ranges *ranges = &job->ranges;
	int64		first = 0;

	/* Of features the absolute values are asked for. */
	for (int i = 0; i < ranges->n_features; i++)
		ranges->largest[i] = Max(ranges->largest[i], -ranges->least[i]);
	if (job->n_outputs == 0)
		ranges->has_label_range = range_of_labels(ranges, 0, ranges->n_labels,
												  &ranges->least_label, &ranges->largest_label);
	for (int i = 0; i < job->n_outputs; i++)
	{
		hopper_output *output = &job->outputs[i];
		int64		n = hopper_shape_count(output->rank, output->shape);

		output->has_label_range = output->kind != HOPPER_LABEL_CLASS && !labels_are_alike(job) &&
			range_of_labels(ranges, first, n, &output->least_label, &output->largest_label);
		first += n;
	}
}

/* --- as bytes: the least, then the largest --- */

struct varlena *
hopper_pack_ranges_bytes(const hopper_pack_job *job)
{
	const hopper_pack_ranges *ranges = &job->ranges;
	Size		size = sizeof(double) * 2 * (ranges->n_features + ranges->n_labels);
	struct varlena *bytes = palloc(VARHDRSZ + size);

	SET_VARSIZE(bytes, VARHDRSZ + size);
	memcpy(VARDATA(bytes), ranges->least, size);
	return bytes;
}

bool
hopper_pack_add_ranges(hopper_pack_job *job, struct varlena *bytes)
{
	hopper_pack_ranges *ranges = &job->ranges;
	const char *at = VARDATA_ANY(bytes);
	int			n = ranges->n_features + ranges->n_labels;

	if (VARSIZE_ANY_EXHDR(bytes) != sizeof(double) * 2 * n)
		return false;
	for (int i = 0; i < n; i++)
	{
		ranges->least[i] = Min(ranges->least[i], hopper_number_at(HOPPER_FLOAT64, at, i));
		ranges->largest[i] = Max(ranges->largest[i], hopper_number_at(HOPPER_FLOAT64, at, n + i));
	}
	return true;
}
