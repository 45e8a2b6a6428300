/*
 * rows.c
 *		A row of the source: checked and encoded, and which table it goes to.
 *
 * A row's stratum decides on training or validation: the class, each of which gives its own share,
 * and where there is a fold column its value (the last bit).
 */
#include "pg/pack/pack.h"

#include "pg/codec/refusals.h"

void
hopper_pack_set_row_shape(hopper_pack_job *job)
{
	hopper_pack_row_shape *row = &job->row;

	row->x_size = job->x.size;
	row->x_rank = job->x.rank;
	memcpy(row->x_shape, job->x.shape, sizeof(row->x_shape));
	if (job->y_kind == HOPPER_LABEL_CLASS)
	{
		row->y_size = hopper_core()->type_size(job->classes.type);
		row->y_rank = 0;
		return;
	}
	row->y_size = job->y.size;
	row->y_rank = job->y.rank;
	memcpy(row->y_shape, job->y.shape, sizeof(row->y_shape));
}

void
hopper_pack_learn_row_shape(hopper_pack_job *job, const Datum *values, const bool *nulls)
{
	int			n_x = job->source.n_x;

	hopper_pack_values_learn(&job->x, &job->source, values, nulls);
	if (job->y_kind != HOPPER_LABEL_CLASS)
		hopper_pack_values_learn(&job->y, &job->source, &values[n_x], &nulls[n_x]);
	hopper_pack_set_row_shape(job);
}

static bool
get_fold(const hopper_pack_source *source, Datum value, bool isnull)
{
	if (isnull)
		hopper_raise(ERRCODE_NULL_VALUE_NOT_ALLOWED,
					 errmsg("column \"%s\" of \"%s\" holds NULL", source->fold.name,
							source->name.shown),
					 errdetail("%s.", hopper_pack_row_name(source)),
					 errhint("True marks a row for validation, false for training."));
	return DatumGetBool(value);
}

/* Writes a label and returns its class; 0 where it is none. */
static int32
encode_label(const hopper_pack_job *label, const hopper_pack_source *source, const Datum *value,
			 const bool *isnull, char *out)
{
	int32		index;
	float		number;

	if (label->y_kind != HOPPER_LABEL_CLASS)
	{
		hopper_pack_values_encode(&label->y, source, value, isnull, out);
		return 0;
	}
	index = hopper_pack_class_index(label, source, *value, *isnull);
	number = (float) index;
	/* little-endian: of an index the low bytes come first */
	memcpy(out, label->classes.type == HOPPER_FLOAT32 ? (void *) &number : &index,
		   hopper_core()->type_size(label->classes.type));
	return index;
}

/* Of several outputs, and the weight. */
static void
encode_parts(const hopper_pack_job *job, const Datum *values, const bool *nulls, char *out)
{
	for (int i = 0; i < job->source.n_labels; i++)
	{
		const hopper_pack_job *part = job->parts[i];

		(void) encode_label(part, &job->source, &values[i], &nulls[i], out);
		if (i == job->n_outputs && hopper_number_at(HOPPER_FLOAT32, out, 0) < 0)
			hopper_pack_refuse_number(&job->source, &part->source.y, "a negative weight", 0, 1);
		out += part->y_kind == HOPPER_LABEL_CLASS ? sizeof(float) : part->y.size;
	}
}

int32
hopper_pack_encode_row(const hopper_pack_job *job, const Datum *values, const bool *nulls,
					   char *key, char *body)
{
	const hopper_pack_source *source = &job->source;
	int			n_x = source->n_x;
	int			fold = n_x + Max(source->n_labels, 1);
	char	   *y = body + job->row.x_size;
	int32		stratum = 0;

	hopper_pack_values_encode(&job->x, source, values, nulls, body);
	if (source->n_labels > 0)
		encode_parts(job, &values[n_x], &nulls[n_x], y);
	else
		stratum = encode_label(job, source, &values[n_x], &nulls[n_x], y);
	if (source->fold.name)
		stratum = 2 * stratum + (get_fold(source, values[fold], nulls[fold]) ? 1 : 0);
	hopper_core()->row_key((uint64) job->request.seed, body, job->row.x_size, y,
						   job->row.y_size, (uint8_t *) key);
	return stratum;
}

void
hopper_pack_rank_copy(char *key, int64 copy)
{
	char		first[PACK_KEY_SIZE];

	if (copy == 0)
		return;
	memcpy(first, key, PACK_KEY_SIZE);
	hopper_core()->row_key((uint64) copy, first, PACK_KEY_SIZE, NULL, 0, (uint8_t *) key);
}

/* --- training or validation --- */

/* How many strata there can be. */
static int
count_strata(const hopper_pack_job *job)
{
	int			n = job->y_kind == HOPPER_LABEL_CLASS ? Max(job->classes.n, 1) : 1;

	return job->source.fold.name ? 2 * n : n;
}

void
hopper_pack_start_counting(hopper_pack_job *job)
{
	job->n_strata = count_strata(job);
	job->strata = hopper_palloc0_huge(sizeof(int64) * job->n_strata);
}

void
hopper_pack_count_rows(hopper_pack_job *job, int32 stratum, int64 n)
{
	if (stratum < 0 || stratum >= job->n_strata)
		elog(ERROR, "a packed row has stratum %d of %d", stratum, job->n_strata);
	job->strata[stratum] += n;
	job->n_rows += n;
}

int64
hopper_pack_split_rows(hopper_pack_job *job)
{
	int64		total = 0;
	int			i;

	job->quotas = hopper_palloc0_huge(sizeof(int64) * Max(job->n_strata, 1));
	for (i = 0; i < job->n_strata; i++)
	{
		if (job->source.fold.name)
			job->quotas[i] = i % 2 == 1 ? job->strata[i] : 0;
		else
			job->quotas[i] = (int64) floor(job->request.validation_fraction * job->strata[i] + 0.5);
		total += job->quotas[i];
	}
	return total;
}

int64 *
hopper_pack_class_counts(const hopper_pack_job *job, bool validation)
{
	int			width = job->source.fold.name ? 2 : 1;
	int64	   *counts;

	if (job->y_kind != HOPPER_LABEL_CLASS)
		return NULL;
	counts = hopper_palloc0_huge(sizeof(int64) * Max(job->classes.n, 1));
	for (int i = 0; i < width * job->classes.n; i++)
		counts[i / width] += validation ? job->quotas[i] : job->strata[i] - job->quotas[i];
	return counts;
}

void
hopper_pack_look_at_split(const hopper_pack_job *job)
{
	const hopper_pack_source *source = &job->source;
	int			width = source->fold.name ? 2 : 1;
	hopper_pack_classes trained = job->classes;
	hopper_pack_classes put_aside = job->classes;

	if (job->y_kind != HOPPER_LABEL_CLASS || job->request.validation || job->classes.n < 2)
		return;
	trained.names = palloc(sizeof(char *) * job->classes.n);
	put_aside.names = palloc(sizeof(char *) * job->classes.n);
	trained.n = put_aside.n = 0;
	for (int i = 0; i < job->classes.n; i++)
	{
		int64		n_training = 0;
		int64		n_validation = 0;

		for (int k = width * i; k < width * (i + 1); k++)
		{
			n_training += job->strata[k] - job->quotas[k];
			n_validation += job->quotas[k];
		}
		if (n_training > 0)
			trained.names[trained.n++] = job->classes.names[i];
		else if (n_validation > 0)
			put_aside.names[put_aside.n++] = job->classes.names[i];
	}
	if (put_aside.n == 0)
		return;
	if (trained.n == 1)
		ereport(WARNING, errmsg("column \"%s\" of \"%s\" holds one class only in the rows to "
								"train on", source->y.name, source->name.shown),
				errdetail("Each of them has the label %s; rows for validation have %s.",
						  hopper_pack_list_classes(&trained), hopper_pack_list_classes(&put_aside)),
				errhint("A model learns nothing from it: train on rows of other classes, too."));
	else
		ereport(WARNING, errmsg("rows of \"%s\" with the label %s are all for validation",
								source->name.shown, hopper_pack_list_classes(&put_aside)),
				errhint("No model can learn what it is not trained on: leave some of them to "
						"training."));
}

bool
hopper_pack_to_validation(hopper_pack_job *job, int32 stratum)
{
	/* the first of each stratum in rank order */
	return job->quotas[stratum]-- > 0;
}
