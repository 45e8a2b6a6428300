/*
 * segment_description.c
 *		A run as bytes: what every segment has to know of it.
 */
#include "pg/segments.h"

#ifdef GP_VERSION_NUM

#include "pg/segment_bytes.h"

bytea *
hopper_describe_run(const hopper_segment_run *run)
{
	hopper_run_options options = run->options;
	StringInfoData out;

	hopper_begin_description(&out);
	put_int(&out, run->id);
	options.starts = NULL;
	options.precision = NULL;
	options.gpus = NULL;
	put_bytes(&out, &options, sizeof(options));
	put_bytes(&out, run->options.starts, sizeof(int32) * run->options.n_starts);
	put_text(&out, run->options.precision);
	put_bytes(&out, run->options.gpus, sizeof(int32) * run->options.n_gpus);
	hopper_put_desc(&out, &run->train);
	put_bytes(&out, run->train_keys, sizeof(int32) * run->train.n_partitions);
	put_int(&out, run->has_valid);
	if (run->has_valid)
	{
		hopper_put_desc(&out, &run->valid);
		put_bytes(&out, run->valid_keys, sizeof(int32) * run->valid.n_partitions);
	}
	put_bytes(&out, run->tables, sizeof(run->tables));
	put_int(&out, run->segments_on_host);
	put_int(&out, run->n_segments);
	put_bytes(&out, run->segment_numbers, sizeof(int32) * run->n_segments);
	put_int(&out, run->drop_cache);
	put_text(&out, run->shown);
	put_int(&out, run->n_configs);
	for (int i = 0; i < run->n_configs; i++)
	{
		const hopper_config *config = &run->configs[i];

		put_int(&out, config->mst_key);
		put_int(&out, config->model_id);
		/* an architecture once, not once a configuration */
		if (i > 0 && config->model_arch == run->configs[i - 1].model_arch)
			put_int(&out, -1);
		else
			put_bytes(&out, config->model_arch, config->model_arch_size);
		put_text(&out, config->compile_params);
		put_text(&out, config->fit_params);
	}
	return hopper_end_description(&out);
}

void
hopper_read_run(const bytea *description, hopper_segment_run *run)
{
	reader		in;

	hopper_open_description(description, &in);
	memset(run, 0, sizeof(*run));
	run->id = get_int(&in);
	hopper_get_struct(&in, &run->options, sizeof(run->options));
	run->options.starts = (const int32_t *) get_bytes(&in, NULL);
	run->options.precision = get_bytes(&in, NULL);
	run->options.gpus = hopper_get_array(&in, run->options.n_gpus, sizeof(int32));
	hopper_get_desc(&in, &run->train);
	run->train_keys = (int32 *) get_bytes(&in, NULL);
	run->has_valid = get_int(&in) != 0;
	if (run->has_valid)
	{
		hopper_get_desc(&in, &run->valid);
		run->valid_keys = (int32 *) get_bytes(&in, NULL);
	}
	hopper_get_struct(&in, run->tables, sizeof(run->tables));
	run->segments_on_host = (int) get_int(&in);
	run->n_segments = (int) get_int(&in);
	run->segment_numbers = hopper_get_array(&in, run->n_segments, sizeof(int32));
	run->drop_cache = (int) get_int(&in);
	run->shown = get_bytes(&in, NULL);
	run->n_configs = get_count(&in);
	run->configs = palloc0(sizeof(hopper_config) * (run->n_configs + 1));
	for (int i = 0; i < run->n_configs; i++)
	{
		hopper_config *config = &run->configs[i];

		config->mst_key = (int32) get_int(&in);
		config->model_id = (int32) get_int(&in);
		config->model_arch = get_bytes(&in, &config->model_arch_size);
		if (config->model_arch == NULL)
		{
			if (i == 0)
				elog(ERROR, "the description of a run is damaged");
			config->model_arch = run->configs[i - 1].model_arch;
			config->model_arch_size = run->configs[i - 1].model_arch_size;
		}
		config->compile_params = get_bytes(&in, NULL);
		config->fit_params = get_bytes(&in, NULL);
	}
}

#endif							/* GP_VERSION_NUM */
