/*
 * run_description.c
 *		A run as bytes: what every segment has to know of it.
 */
#include "pg/greenplum/segments.h"

#include "pg/catalog/configs.h"
#include "pg/greenplum/wire.h"

static void
pass_table(hopper_wire *wire, hopper_segment_table *table)
{
	table->relation = (Oid) hopper_wire_between(wire, table->relation, 1, PG_UINT32_MAX);
	hopper_wire_field(wire, table->x_column, sizeof(table->x_column));
	hopper_wire_field(wire, table->y_column, sizeof(table->y_column));
}

/*
 * All but event_fd and device_number, which each segment has of its own. What the core takes for
 * granted is checked; it checks the rest.
 */
static void
pass_options(hopper_wire *wire, hopper_run_options *options)
{
	options->seed = (uint64) hopper_wire_int(wire, (int64) options->seed);
	options->num_iterations = (int32) hopper_wire_between(wire, options->num_iterations, 1,
														  PG_INT32_MAX);
	options->metrics_compute_frequency =
		(int32) hopper_wire_between(wire, options->metrics_compute_frequency, 1, PG_INT32_MAX);
	options->validation_freq = hopper_wire_natural(wire, options->validation_freq);
	options->training_metrics = (int32) hopper_wire_between(wire, options->training_metrics,
															HOPPER_METRICS_RUNNING,
															HOPPER_METRICS_EVERY);
	options->threads = hopper_wire_int32(wire, options->threads);
	options->n_starts = hopper_wire_int32(wire, options->n_starts);
	options->starts = hopper_wire_array(wire, options->starts, options->n_starts, sizeof(int32));
	options->memory_limit = hopper_wire_int(wire, options->memory_limit);
	options->precision = hopper_wire_required_text(wire, options->precision);
	options->data_name = hopper_wire_text(wire, options->data_name);
	options->mix_numerics = hopper_wire_bool(wire, options->mix_numerics);
	options->threads_per_model = hopper_wire_int32(wire, options->threads_per_model);
	options->use_gpus = hopper_wire_bool(wire, options->use_gpus);
	options->n_gpus = hopper_wire_int32(wire, options->n_gpus);
	options->gpus = hopper_wire_array(wire, options->gpus, options->n_gpus, sizeof(int32));
	options->fuse = hopper_wire_bool(wire, options->fuse);
	if (wire->reads)
		options->event_fd = -1;
}

/* `data`: what they are trained on, where they are written. */
static void
pass_stints(hopper_wire *wire, int *n, hopper_segment_stint **stints, const hopper_data_desc *data)
{
	*n = hopper_wire_count(wire, *n, 7 * sizeof(int64));
	*stints = hopper_wire_items(wire, *stints, *n, sizeof(hopper_segment_stint));
	for (int i = 0; i < *n; i++)
	{
		hopper_segment_stint *stint = &(*stints)[i];
		hopper_config *config = &stint->config;
		const char *before = i > 0 ? stint[-1].config.model_arch : NULL;

		config->mst_key = hopper_wire_int32(wire, config->mst_key);
		config->model_id = hopper_wire_int32(wire, config->model_id);
		/* an architecture once, not once a configuration: NULL is the one before */
		if (wire->reads || config->model_arch != before)
			config->model_arch = hopper_wire_bytes(wire, config->model_arch,
												   &config->model_arch_size);
		else
			(void) hopper_wire_text(wire, NULL);
		if (config->model_arch == NULL)
		{
			if (before == NULL)
				hopper_refuse_description();
			config->model_arch = before;
			config->model_arch_size = stint[-1].config.model_arch_size;
		}
		if (!wire->reads)
			config->fit_params = hopper_balanced_params(config->fit_params, data);
		config->compile_params = hopper_wire_text(wire, config->compile_params);
		config->fit_params = hopper_wire_text(wire, config->fit_params);
		stint->iterations = (int32) hopper_wire_between(wire, stint->iterations, 1, PG_INT32_MAX);
		stint->done = hopper_wire_natural(wire, stint->done);
		if (stint->iterations > PG_INT32_MAX - stint->done)
			hopper_refuse_description();
	}
}

static void
pass_run(hopper_wire *wire, void *thing)
{
	hopper_segment_run *run = thing;

	run->id = hopper_wire_between(wire, run->id, 1, PG_INT64_MAX);
	pass_options(wire, &run->options);
	hopper_wire_desc(wire, &run->train);
	run->train_keys = hopper_wire_array(wire, run->train_keys, run->train.n_partitions,
										sizeof(int32));
	pass_table(wire, &run->tables[HOPPER_SPLIT_TRAIN]);
	run->has_valid = hopper_wire_bool(wire, run->has_valid);
	if (run->has_valid)
	{
		hopper_wire_desc(wire, &run->valid);
		run->valid_keys = hopper_wire_array(wire, run->valid_keys, run->valid.n_partitions,
											sizeof(int32));
		pass_table(wire, &run->tables[HOPPER_SPLIT_VALID]);
	}
	run->segments_on_host = (int) hopper_wire_between(wire, run->segments_on_host, 1,
													  PG_INT32_MAX);
	run->n_segments = (int) hopper_wire_between(wire, run->n_segments, 1, PG_INT32_MAX);
	run->segment_numbers = hopper_wire_array(wire, run->segment_numbers, run->n_segments,
											 sizeof(int32));
	run->everywhere = hopper_wire_bool(wire, run->everywhere);
	run->drop_cache = hopper_wire_natural(wire, run->drop_cache);
	run->shown = hopper_wire_required_text(wire, run->shown);
	run->stays_open = hopper_wire_bool(wire, run->stays_open);
	run->wants_libtorch = hopper_wire_text(wire, run->wants_libtorch);
	pass_stints(wire, &run->n_stints, &run->stints, &run->train);
}

const hopper_description hopper_run_description = {
	HOPPER_DESCRIBES_RUN, pass_run, sizeof(hopper_segment_run)
};

static void
pass_entry(hopper_wire *wire, void *thing)
{
	hopper_segment_entry *entry = thing;

	entry->run = hopper_wire_between(wire, entry->run, 1, PG_INT64_MAX);
	entry->n_stay = hopper_wire_natural(wire, entry->n_stay);
	entry->stay = hopper_wire_array(wire, entry->stay, entry->n_stay, sizeof(int32));
	pass_stints(wire, &entry->n_stints, &entry->stints, entry->train);
}

const hopper_description hopper_entry_description = {
	HOPPER_DESCRIBES_ENTRY, pass_entry, sizeof(hopper_segment_entry)
};
