/*
 * segment_description.c
 *		A run as bytes: what every segment has to know of it.
 *
 * The format is private to one version of the glue; versions are compared before it is read.
 */
#include "pg/segments.h"

#ifdef GP_VERSION_NUM

#include "cdb/cdbvars.h"
#include "lib/stringinfo.h"

typedef struct reader
{
	const char *at;
	const char *end;
} reader;

static void
put_int(StringInfo out, int64 value)
{
	appendBinaryStringInfo(out, (const char *) &value, sizeof(value));
}

static void
put_bytes(StringInfo out, const void *bytes, size_t size)
{
	put_int(out, (int64) size);
	appendBinaryStringInfo(out, bytes, (int) size);
}

/* NULL stays NULL. */
static void
put_text(StringInfo out, const char *text)
{
	if (text == NULL)
		put_int(out, -1);
	else
		put_bytes(out, text, strlen(text));
}

static int64
get_int(reader *in)
{
	int64		value;

	if (in->end - in->at < (ptrdiff_t) sizeof(value))
		elog(ERROR, "the description of a run is truncated");
	memcpy(&value, in->at, sizeof(value));
	in->at += sizeof(value);
	return value;
}

static char *
get_bytes(reader *in, size_t *size)
{
	int64		length = get_int(in);
	char	   *bytes;

	if (length < 0)
		return NULL;
	if (in->end - in->at < length)
		elog(ERROR, "the description of a run is truncated");
	bytes = palloc(length + 1);
	memcpy(bytes, in->at, length);
	bytes[length] = '\0';
	in->at += length;
	if (size)
		*size = (size_t) length;
	return bytes;
}

static int
get_count(reader *in)
{
	int64		count = get_int(in);

	if (count < 0 || count > in->end - in->at)
		elog(ERROR, "the description of a run is damaged");
	return (int) count;
}

static void
put_desc(StringInfo out, const hopper_data_desc *desc)
{
	hopper_data_desc plain = *desc;

	plain.class_values = NULL;
	plain.table_name = plain.x_column = plain.y_column = NULL;
	put_bytes(out, &plain, sizeof(plain));
	for (int i = 0; i < desc->n_class_values; i++)
		put_text(out, desc->class_values[i]);
	put_text(out, desc->table_name);
	put_text(out, desc->x_column);
	put_text(out, desc->y_column);
}

static void
get_struct(reader *in, void *value, size_t expected)
{
	size_t		size;
	char	   *bytes = get_bytes(in, &size);

	if (bytes == NULL || size != expected)
		elog(ERROR, "the description of a run comes from another version");
	memcpy(value, bytes, size);
}

static void
get_desc(reader *in, hopper_data_desc *desc)
{
	const char **values;

	get_struct(in, desc, sizeof(*desc));
	values = palloc(sizeof(char *) * (Max(desc->n_class_values, 0) + 1));
	for (int i = 0; i < desc->n_class_values; i++)
		values[i] = get_bytes(in, NULL);
	desc->class_values = values;
	desc->table_name = get_bytes(in, NULL);
	desc->x_column = get_bytes(in, NULL);
	desc->y_column = get_bytes(in, NULL);
}

bytea *
hopper_describe_run(const hopper_segment_run *run)
{
	hopper_run_options options = run->options;
	StringInfoData out;
	bytea	   *result;

	initStringInfo(&out);
	put_text(&out, HOPPER_VERSION);
	put_text(&out, hopper_library_ids());
	put_int(&out, run->id);
	options.starts = NULL;
	options.precision = NULL;
	put_bytes(&out, &options, sizeof(options));
	put_bytes(&out, run->options.starts, sizeof(int32) * run->options.n_starts);
	put_text(&out, run->options.precision);
	put_desc(&out, &run->train);
	put_bytes(&out, run->train_keys, sizeof(int32) * run->train.n_partitions);
	put_int(&out, run->has_valid);
	if (run->has_valid)
	{
		put_desc(&out, &run->valid);
		put_bytes(&out, run->valid_keys, sizeof(int32) * run->valid.n_partitions);
	}
	put_int(&out, run->segments_on_host);
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
	result = palloc(VARHDRSZ + out.len);
	SET_VARSIZE(result, VARHDRSZ + out.len);
	memcpy(VARDATA(result), out.data, out.len);
	pfree(out.data);
	return result;
}

void
hopper_read_run(const bytea *description, hopper_segment_run *run)
{
	reader		in = {VARDATA_ANY(description),
	VARDATA_ANY(description) + VARSIZE_ANY_EXHDR(description)};
	char	   *version = get_bytes(&in, NULL);
	char	   *libraries;

	if (version == NULL || strcmp(version, HOPPER_VERSION) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("model_hopper of this segment is of another version than that of the "
						"coordinator"),
				 errdetail("The coordinator has %s, the segment %s.", version ? version : "none",
						   HOPPER_VERSION),
				 errhint("Install the same version on all hosts, and reconnect.")));
	libraries = get_bytes(&in, NULL);
	if (libraries == NULL || strcmp(libraries, hopper_library_ids()) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("segment %d has another build of model_hopper than the coordinator",
						GpIdentity.segindex),
				 errdetail("The coordinator has %s; the segment has %s.",
						   libraries ? libraries : "none", hopper_library_ids()),
				 errhint("Install the libraries of one build on all hosts, and reconnect.")));
	memset(run, 0, sizeof(*run));
	run->id = get_int(&in);
	get_struct(&in, &run->options, sizeof(run->options));
	run->options.starts = (const int32_t *) get_bytes(&in, NULL);
	run->options.precision = get_bytes(&in, NULL);
	get_desc(&in, &run->train);
	run->train_keys = (int32 *) get_bytes(&in, NULL);
	run->has_valid = get_int(&in) != 0;
	if (run->has_valid)
	{
		get_desc(&in, &run->valid);
		run->valid_keys = (int32 *) get_bytes(&in, NULL);
	}
	run->segments_on_host = (int) get_int(&in);
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
