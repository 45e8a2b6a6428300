/*
 * scales.c
 *		Whether features are of about the size that networks learn well from. Whoever packs a table
 *		as it stands gets models that know next to nothing, and no error: a hint tells.
 */
#include "pg/pack/pack.h"

#include <math.h>

#define MOST_FEATURES 1000		/* of longer rows nobody standardises each */
#define SOME_ROWS 1000			/* of large arrays that are looked at */
#define LARGE 100.0				/* after division by normalizing_const */

/*
 * Columns of numbers, and arrays. A list of integers may be one of ids, of several inputs some may
 * have a layer that standardises, and bytes are divided by the networks of mlp() and cnn().
 */
static bool
are_looked_at(const hopper_pack_job *job)
{
	const hopper_pack_values *x = &job->x;
	bool		is_real = x->type == HOPPER_FLOAT32 || x->type == HOPPER_FLOAT64;

	if (job->request.validation || x->padding.given || x->type == HOPPER_UINT8)
		return false;
	return x->layout == PACK_SCALARS || (x->layout == PACK_ARRAY && (is_real || x->rank > 1));
}

/* Of an image, or of very many features, all values together. */
static bool
are_alike(const hopper_pack_job *job)
{
	return job->x.rank > 1 || job->x.count > MOST_FEATURES;
}

void
hopper_pack_start_scales(hopper_pack_job *job)
{
	if (are_looked_at(job))
		job->largest = palloc0(sizeof(double) * (are_alike(job) ? 1 : Max(job->x.count, 1)));
}

/* Rows in the sort are not aligned. */
#define NUMBER_AT(c_type) \
	do { \
		c_type		number; \
		memcpy(&number, x + i * sizeof(number), sizeof(number)); \
		return (double) number; \
	} while (0)

static double
number_at(int32 type, const char *x, int64 i)
{
	switch (type)
	{
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

void
hopper_pack_look_at_scales(hopper_pack_job *job, const char *x)
{
	bool		alike = are_alike(job);

	if (job->largest == NULL || (alike && job->source.row_number > SOME_ROWS))
		return;
	for (int64 i = 0; i < job->x.count; i++)
	{
		double	   *largest = &job->largest[alike ? 0 : i];

		*largest = Max(*largest, fabs(number_at(job->x.type, x, i)));
	}
}

char *
hopper_pack_scales_hint(const hopper_pack_job *job)
{
	const hopper_pack_source *source = &job->source;
	int			large = 0;
	int64		at = 0;
	char	   *name;

	if (job->largest == NULL)
		return NULL;
	if (are_alike(job))
		return job->largest[0] / job->x.divisor <= LARGE ? NULL
			: psprintf("Networks learn badly from large numbers, and \"%s\" goes up to %g: pass "
					   "normalizing_const, by which they are divided.",
					   source->n_x > 1 ? "features" : source->x[0].name, job->largest[0]);
	for (int64 i = 0; i < job->x.count; i++)
	{
		large += job->largest[i] / job->x.divisor > LARGE;
		at = job->largest[i] > job->largest[at] ? i : at;
	}
	if (large == 0)
		return NULL;
	name = job->x.layout == PACK_SCALARS ? psprintf("\"%s\"", source->x[at].name)
		: psprintf("\"%s\"[" INT64_FORMAT "]", source->x[0].name, at + 1);
	return psprintf("Networks learn badly from large numbers, and %s%s up to %g: subtract the mean "
					"and divide by the standard deviation in a view.", name,
					large > 1 ? psprintf(", one of %d, goes", large) : " goes", job->largest[at]);
}
