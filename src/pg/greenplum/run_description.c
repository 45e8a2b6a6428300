/*
 * run_description.c
 *		A run as bytes: what every segment has to know of it.
 */
#include "pg/greenplum/segments.h"

#include "pg/catalog/configs.h"
#include "pg/greenplum/wire.h"

static void
put_table(StringInfo out, const hopper_segment_table *table)
{
	hopper_put_int(out, table->relation);
	hopper_put_text(out, table->x_column);
	hopper_put_text(out, table->y_column);
}

static void
get_table(hopper_reader *in, hopper_segment_table *table)
{
	table->relation = (Oid) hopper_get_int_between(in, 1, PG_UINT32_MAX);
	hopper_get_field(in, table->x_column, sizeof(table->x_column));
	hopper_get_field(in, table->y_column, sizeof(table->y_column));
}

/* All but event_fd and device_number, which each segment has of its own. */
static void
put_options(StringInfo out, const hopper_run_options *options)
{
	hopper_put_int(out, (int64) options->seed);
	hopper_put_int(out, options->num_iterations);
	hopper_put_int(out, options->metrics_compute_frequency);
	hopper_put_int(out, options->validation_freq);
	hopper_put_int(out, options->training_metrics);
	hopper_put_int(out, options->threads);
	hopper_put_int(out, options->n_starts);
	hopper_put_bytes(out, options->starts, sizeof(int32) * options->n_starts);
	hopper_put_int(out, options->memory_limit);
	hopper_put_text(out, options->precision);
	hopper_put_text(out, options->data_name);
	hopper_put_int(out, options->mix_numerics);
	hopper_put_int(out, options->threads_per_model);
	hopper_put_int(out, options->use_gpus);
	hopper_put_int(out, options->n_gpus);
	hopper_put_bytes(out, options->gpus, sizeof(int32) * options->n_gpus);
	hopper_put_int(out, options->fuse);
}

/* What the core takes for granted is checked; it checks the rest. */
static void
get_options(hopper_reader *in, hopper_run_options *options)
{
	options->seed = (uint64) hopper_get_int(in);
	options->num_iterations = (int32) hopper_get_int_between(in, 1, PG_INT32_MAX);
	options->metrics_compute_frequency = (int32) hopper_get_int_between(in, 1, PG_INT32_MAX);
	options->validation_freq = (int32) hopper_get_int_between(in, 0, PG_INT32_MAX);
	options->training_metrics = (int32) hopper_get_int_between(in, HOPPER_METRICS_RUNNING,
															   HOPPER_METRICS_EVERY);
	options->threads = hopper_get_int32(in);
	options->n_starts = hopper_get_int32(in);
	options->starts = hopper_get_array(in, options->n_starts, sizeof(int32));
	options->memory_limit = hopper_get_int(in);
	options->precision = hopper_get_required_text(in);
	options->data_name = hopper_get_text(in);
	options->mix_numerics = hopper_get_bool(in);
	options->threads_per_model = hopper_get_int32(in);
	options->use_gpus = hopper_get_bool(in);
	options->n_gpus = hopper_get_int32(in);
	options->gpus = hopper_get_array(in, options->n_gpus, sizeof(int32));
	options->fuse = hopper_get_bool(in);
	options->event_fd = -1;
}

/* stints, done: NULL where all train as long as the run. */
static void
put_configs(StringInfo out, int n, const hopper_config *configs, const int32 *stints,
			const int32 *done, const hopper_data_desc *data)
{
	hopper_put_int(out, n);
	for (int i = 0; i < n; i++)
	{
		const hopper_config *config = &configs[i];

		hopper_put_int(out, config->mst_key);
		hopper_put_int(out, config->model_id);
		/* an architecture once, not once a configuration */
		if (i > 0 && config->model_arch == configs[i - 1].model_arch)
			hopper_put_int(out, -1);
		else
			hopper_put_bytes(out, config->model_arch, config->model_arch_size);
		hopper_put_text(out, config->compile_params);
		hopper_put_text(out, hopper_balanced_params(config->fit_params, data));
		hopper_put_int(out, stints ? stints[i] : 0);
		hopper_put_int(out, done ? done[i] : 0);
	}
}

static void
get_configs(hopper_reader *in, int *n, hopper_config **configs, int32 **stints, int32 **done)
{
	*n = hopper_get_count(in, 7 * sizeof(int64));
	*configs = palloc0(sizeof(hopper_config) * (*n + 1));
	*stints = palloc0(sizeof(int32) * (*n + 1));
	*done = palloc0(sizeof(int32) * (*n + 1));
	for (int i = 0; i < *n; i++)
	{
		hopper_config *config = &(*configs)[i];

		config->mst_key = hopper_get_int32(in);
		config->model_id = hopper_get_int32(in);
		config->model_arch = hopper_get_bytes(in, &config->model_arch_size);
		if (config->model_arch == NULL)
		{
			if (i == 0)
				hopper_refuse_description();
			config->model_arch = config[-1].model_arch;
			config->model_arch_size = config[-1].model_arch_size;
		}
		config->compile_params = hopper_get_text(in);
		config->fit_params = hopper_get_text(in);
		(*stints)[i] = hopper_get_natural(in);
		(*done)[i] = hopper_get_natural(in);
		if ((*stints)[i] > PG_INT32_MAX - (*done)[i])
			hopper_refuse_description();
	}
}

bytea *
hopper_describe_run(const hopper_segment_run *run)
{
	StringInfoData out;

	hopper_begin_description(&out, HOPPER_DESCRIBES_RUN);
	hopper_put_int(&out, run->id);
	put_options(&out, &run->options);
	hopper_put_desc(&out, &run->train);
	hopper_put_bytes(&out, run->train_keys, sizeof(int32) * run->train.n_partitions);
	hopper_put_int(&out, run->has_valid);
	if (run->has_valid)
	{
		hopper_put_desc(&out, &run->valid);
		hopper_put_bytes(&out, run->valid_keys, sizeof(int32) * run->valid.n_partitions);
	}
	put_table(&out, &run->tables[HOPPER_SPLIT_TRAIN]);
	if (run->has_valid)
		put_table(&out, &run->tables[HOPPER_SPLIT_VALID]);
	hopper_put_int(&out, run->segments_on_host);
	hopper_put_int(&out, run->n_segments);
	hopper_put_bytes(&out, run->segment_numbers, sizeof(int32) * run->n_segments);
	hopper_put_int(&out, run->drop_cache);
	hopper_put_text(&out, run->shown);
	put_configs(&out, run->n_configs, run->configs, run->stints, run->done, &run->train);
	return hopper_end_description(&out, HOPPER_DESCRIBES_RUN);
}

void
hopper_read_run(const bytea *description, hopper_segment_run *run)
{
	hopper_reader in;

	hopper_open_description(description, HOPPER_DESCRIBES_RUN, &in);
	memset(run, 0, sizeof(*run));
	run->id = hopper_get_int_between(&in, 1, PG_INT64_MAX);
	get_options(&in, &run->options);
	hopper_get_desc(&in, &run->train);
	run->train_keys = hopper_get_array(&in, run->train.n_partitions, sizeof(int32));
	run->has_valid = hopper_get_bool(&in);
	if (run->has_valid)
	{
		hopper_get_desc(&in, &run->valid);
		run->valid_keys = hopper_get_array(&in, run->valid.n_partitions, sizeof(int32));
	}
	get_table(&in, &run->tables[HOPPER_SPLIT_TRAIN]);
	if (run->has_valid)
		get_table(&in, &run->tables[HOPPER_SPLIT_VALID]);
	run->segments_on_host = (int) hopper_get_int_between(&in, 1, PG_INT32_MAX);
	run->n_segments = (int) hopper_get_int_between(&in, 1, PG_INT32_MAX);
	run->segment_numbers = hopper_get_array(&in, run->n_segments, sizeof(int32));
	run->drop_cache = hopper_get_natural(&in);
	run->shown = hopper_get_required_text(&in);
	get_configs(&in, &run->n_configs, &run->configs, &run->stints, &run->done);
	hopper_get_end(&in);
}

bytea *
hopper_describe_entry(const hopper_segment_entry *entry)
{
	StringInfoData out;

	hopper_begin_description(&out, HOPPER_DESCRIBES_ENTRY);
	hopper_put_int(&out, entry->run);
	hopper_put_int(&out, entry->n_stay);
	hopper_put_bytes(&out, entry->stay, sizeof(int32) * entry->n_stay);
	put_configs(&out, entry->n_configs, entry->configs, entry->stints, entry->done, entry->train);
	return hopper_end_description(&out, HOPPER_DESCRIBES_ENTRY);
}

void
hopper_read_entry(const bytea *description, hopper_segment_entry *entry)
{
	hopper_reader in;

	hopper_open_description(description, HOPPER_DESCRIBES_ENTRY, &in);
	memset(entry, 0, sizeof(*entry));
	entry->run = hopper_get_int_between(&in, 1, PG_INT64_MAX);
	entry->n_stay = hopper_get_natural(&in);
	entry->stay = hopper_get_array(&in, entry->n_stay, sizeof(int32));
	get_configs(&in, &entry->n_configs, &entry->configs, &entry->stints, &entry->done);
	for (int i = 0; i < entry->n_configs; i++)
		if (entry->stints[i] < 1)
			hopper_refuse_description();
	hopper_get_end(&in);
}
