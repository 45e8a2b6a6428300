/*
 * sizes.c
 *		How large models are, before they are trained.
 */
#include "pg/train/outputs.h"

static int64
weights_bytes(const hopper_config *config, const hopper_data_desc *data)
{
	hopper_rows *rows;
	hopper_error error;
	int64		parameters = 0;

	if (config->model_arch == NULL ||
		hopper_core()->describe_model(config->model_arch, config->model_arch_size, data, &rows,
									  &error) != 0)
		return 0;
	rows = hopper_take_rows(rows);
	if (rows->n_rows > 0)
	{
		/* "parameters" of the last row, which adds up the others */
		const char *cell = rows->cells[(Size) (rows->n_rows - 1) * rows->n_columns + 4];

		parameters = cell ? strtoll(cell, NULL, 10) : 0;
	}
	return parameters * (int64) sizeof(float);
}

int64
hopper_weights_of_all(const hopper_config *configs, int n, const hopper_data_desc *data)
{
	int64		bytes = 0;
	int64		all = 0;

	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (i == 0 || configs[i].model_arch != configs[i - 1].model_arch)
			bytes = weights_bytes(&configs[i], data);
		all += bytes;
	}
	return all;
}

#define SMALL_BYTES (16 * 1024)
#define MOST_ARCHITECTURES 16	/* that are looked at */

bool
hopper_outputs_are_large(const hopper_config *configs, int n, const hopper_data_desc *data)
{
	const char *small[MOST_ARCHITECTURES];
	int			n_small = 0;

	if (!HOPPER_DATA_ON_SEGMENTS)
		return true;
	for (int i = 0; i < n; i++)
	{
		int			known = 0;

		while (known < n_small && small[known] != configs[i].model_arch)
			known++;
		if (known < n_small)
			continue;
		if (n_small == MOST_ARCHITECTURES || weights_bytes(&configs[i], data) > SMALL_BYTES)
			return true;
		small[n_small++] = configs[i].model_arch;
	}
	return false;
}
