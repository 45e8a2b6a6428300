/*
 * scales.c
 *		Whether features are of about the size that networks learn well from. Whoever packs a table
 *		as it stands gets models that know next to nothing, and no error: a hint tells.
 */
#include "pg/pack/pack.h"

#define LARGE 100.0				/* after division by normalizing_const */

char *
hopper_pack_scales_hint(const hopper_pack_job *job)
{
	const hopper_pack_source *source = &job->source;
	int			large = 0;
	const double *largest = job->ranges.largest;
	int64		at = 0;
	char	   *name;

	if (largest == NULL)
		return NULL;
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
	return psprintf("Networks learn badly from large numbers, and %s%s up to %g: subtract the mean "
					"and divide by the standard deviation in a view.", name,
					large > 1 ? psprintf(", one of %d, goes", large) : " goes", largest[at]);
}
