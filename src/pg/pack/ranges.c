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

	if (features_are_looked_at(job))
	{
		ranges->n_features = hopper_pack_features_are_alike(job) ? 1 : Max((int) job->x.count, 1);
		ranges->largest = palloc0(sizeof(double) * ranges->n_features);
	}
	if (job->y_kind == HOPPER_LABEL_CLASS)
		return;
	ranges->n_labels = labels_are_alike(job) ? 1 : Max((int) job->y.count, 1);
	ranges->least_labels = palloc(sizeof(double) * ranges->n_labels);
	ranges->largest_labels = palloc(sizeof(double) * ranges->n_labels);
	for (int i = 0; i < ranges->n_labels; i++)
	{
		ranges->least_labels[i] = INFINITY;
		ranges->largest_labels[i] = -INFINITY;
	}
}

/* Rows in the sort are not aligned. */
#define NUMBER_AT(c_type) \
	do { \
		c_type		number; \
		memcpy(&number, values + i * sizeof(number), sizeof(number)); \
		return (double) number; \
	} while (0)

static inline double
number_at(int32 type, const char *values, int64 i)
{
	switch (type)
	{
		case HOPPER_UINT8:
			NUMBER_AT(uint8);
		case HOPPER_INT16:
			NUMBER_AT(int16);
		case HOPPER_INT32:
			NUMBER_AT(int32);
		case HOPPER_INT64:
			NUMBER_AT(int64);
		case HOPPER_FLOAT32:
			NUMBER_AT(float);
		default:
			NUMBER_AT(double);
	}
}

/* Inlined with a type that is known it has no switch for each number. */
static inline void
find_largest(int32 type, const char *values, int64 n, bool alike, double *restrict largest)
{
	for (int64 i = 0; i < n; i++, largest += alike ? 0 : 1)
		*largest = Max(*largest, fabs(number_at(type, values, i)));
}

static void
look_at_features(hopper_pack_job *job, const char *x)
{
	bool		alike = hopper_pack_features_are_alike(job);

	if (job->ranges.n_features == 0 || (alike && job->source.row_number > SOME_ROWS))
		return;
	if (job->x.type == HOPPER_FLOAT32 && !alike)
		find_largest(HOPPER_FLOAT32, x, job->x.count, false, job->ranges.largest);
	else if (job->x.type == HOPPER_INT32 && !alike)
		find_largest(HOPPER_INT32, x, job->x.count, false, job->ranges.largest);
	else
		find_largest(job->x.type, x, job->x.count, alike, job->ranges.largest);
}

static void
look_at_labels(hopper_pack_job *job, const char *y)
{
	bool		alike = labels_are_alike(job);

	if (job->ranges.n_labels == 0 || (alike && job->source.row_number > SOME_ROWS))
		return;
	for (int64 i = 0; i < job->y.count; i++)
	{
		double		number = number_at(job->y.type, y, i);
		double	   *least = &job->ranges.least_labels[alike ? 0 : i];
		double	   *largest = &job->ranges.largest_labels[alike ? 0 : i];

		*least = Min(*least, number);
		*largest = Max(*largest, number);
	}
}

void
hopper_pack_look_at_numbers(hopper_pack_job *job, const char *body)
{
	look_at_features(job, body);
	look_at_labels(job, body + job->row.x_size);
}

/* Of n of a row's labels from `first` on. */
static bool
range_of_labels(const hopper_pack_ranges *ranges, int64 first, int64 n, double *least,
				double *largest)
{
	*least = INFINITY;
	*largest = -INFINITY;
	for (int64 i = first; i < Min(first + n, ranges->n_labels); i++)
	{
		*least = Min(*least, ranges->least_labels[i]);
		*largest = Max(*largest, ranges->largest_labels[i]);
	}
	return *least <= *largest && isfinite(*least) && isfinite(*largest);
}

void
hopper_pack_finish_ranges(hopper_pack_job *job)
{
	hopper_pack_ranges *ranges = &job->ranges;
	int64		first = 0;

	if (job->n_outputs == 0)
		ranges->has_label_range = range_of_labels(ranges, 0, ranges->n_labels,
												  &ranges->least_label, &ranges->largest_label);
	for (int i = 0; i < job->n_outputs; i++)
	{
		hopper_output *output = &job->outputs[i];
		int64		n = 1;

		for (int k = 0; k < output->rank; k++)
			n *= output->shape[k];
		output->has_label_range = output->kind != HOPPER_LABEL_CLASS && !labels_are_alike(job) &&
			range_of_labels(ranges, first, n, &output->least_label, &output->largest_label);
		first += n;
	}
}

/* --- as bytes: of features, then of labels --- */

static Size
bytes_of_ranges(const hopper_pack_ranges *ranges)
{
	return sizeof(double) * (ranges->n_features + 2 * ranges->n_labels);
}

struct varlena *
hopper_pack_ranges_bytes(const hopper_pack_job *job)
{
	const hopper_pack_ranges *ranges = &job->ranges;
	struct varlena *bytes = palloc(VARHDRSZ + bytes_of_ranges(ranges));
	char	   *at = VARDATA(bytes);

	SET_VARSIZE(bytes, VARHDRSZ + bytes_of_ranges(ranges));
	if (ranges->n_features > 0)
		memcpy(at, ranges->largest, sizeof(double) * ranges->n_features);
	at += sizeof(double) * ranges->n_features;
	if (ranges->n_labels == 0)
		return bytes;
	memcpy(at, ranges->least_labels, sizeof(double) * ranges->n_labels);
	at += sizeof(double) * ranges->n_labels;
	memcpy(at, ranges->largest_labels, sizeof(double) * ranges->n_labels);
	return bytes;
}

bool
hopper_pack_add_ranges(hopper_pack_job *job, struct varlena *bytes)
{
	hopper_pack_ranges *ranges = &job->ranges;
	const char *at = VARDATA_ANY(bytes);
	int			n_labels = ranges->n_labels;

	if (VARSIZE_ANY_EXHDR(bytes) != bytes_of_ranges(ranges))
		return false;
	for (int i = 0; i < ranges->n_features; i++)
		ranges->largest[i] = Max(ranges->largest[i], number_at(HOPPER_FLOAT64, at, i));
	at += sizeof(double) * ranges->n_features;
	for (int i = 0; i < n_labels; i++)
	{
		ranges->least_labels[i] = Min(ranges->least_labels[i], number_at(HOPPER_FLOAT64, at, i));
		ranges->largest_labels[i] = Max(ranges->largest_labels[i],
										number_at(HOPPER_FLOAT64, at, n_labels + i));
	}
	return true;
}
