/*
 * ready.c
 *		Models that stay ready in the session: which of them, for how long, and their computing.
 */
#include "pg/predict/ready.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "pg/server/ceilings.h"
#include "pg/server/row_types.h"
#include "pg/train/outputs.h"

#define MAX_READY 8
/* Of each model, beside its weights. */
#define MODEL_OVERHEAD (64 * 1024)
/* The last use of a model that is being read, which may call predict_row() itself. */
#define BEING_READ PG_UINT64_MAX

static hopper_ready_model ready[MAX_READY];
static uint64 n_uses = 0;
static uint64 n_made = 0;

/* Also called when the session ends: the predictor has a thread. */
static void
free_ready_model(void *handle)
{
	hopper_ready_model *entry = handle;

	if (entry->predictor)
		entry->api->free(entry->predictor);
	if (entry->schema)
		hopper_core()->schema.free(entry->schema);
	entry->schema = NULL;
	if (entry->event_fd >= 0)
		close(entry->event_fd);
	MemoryContextDelete(entry->context);
	entry->predictor = NULL;
	entry->context = NULL;
}

static void
drop_ready_model(hopper_ready_model *entry)
{
	if (entry->context)
		hopper_guard_release(entry->guard);
}

static void
drop_ready_models(void)
{
	for (int i = 0; i < MAX_READY; i++)
		drop_ready_model(&ready[i]);
}

/* What a call looks at: locked, no name means another table before the call ends. */
typedef struct model_tables
{
	hopper_outputs outputs;
	Oid			model;
	Oid			info;
	Oid			summary;
} model_tables;

/* A plain table alone: what stands behind views, foreign tables and children is not seen here. */
static bool
has_versions(Oid relation)
{
	return get_rel_relkind(relation) == RELKIND_RELATION && !has_subclass(relation);
}

/*
 * Whether the caller may read the model's tables as they are: asked with each call, because rights
 * are revoked and roles change in a session. Where only some columns are his, reading tells.
 */
static bool
may_read(const model_tables *tables)
{
	const Oid	relations[] = {tables->model, tables->info, tables->summary};

	for (int i = 0; i < lengthof(relations); i++)
		if (pg_class_aclcheck(relations[i], GetUserId(), ACL_SELECT) != ACLCHECK_OK)
			return false;
	return true;
}

/* Where each row has all rights to be seen, the tables tell without a statement. */
static bool
versions_from_tables(const model_tables *tables, bool has_key, int32 mst_key, StringInfo text)
{
	const Oid	relations[] = {tables->model, tables->info, tables->summary};

	for (int i = 0; i < lengthof(relations); i++)
	{
		bool		is_summary = relations[i] == tables->summary;
		int64		n;

		if (hopper_hides_rows(relations[i]) ||
			!hopper_backend.row_versions(relations[i], is_summary || !has_key ? NULL : "mst_key",
										 mst_key, text, &n))
			return false;
		/* as the statement finds none, or two */
		if ((is_summary || has_key) && n != 1)
			resetStringInfo(text);
		if (text->len == 0)
			break;
	}
	return true;
}

static void
versions_by_statement(const model_tables *tables, bool has_key, int32 mst_key, StringInfo text)
{
	const hopper_outputs *outputs = &tables->outputs;
	char	   *found;

	/* Which one is the best depends on all that there are. */
	if (has_key)
		hopper_select("SELECT concat_ws(' ', m.tableoid, m.xmin, m.cmin, m.ctid,"
					  " i.tableoid, i.xmin, i.cmin, i.ctid, s.tableoid, s.xmin, s.cmin, s.ctid)"
					  " FROM %s m JOIN %s i USING (mst_key), %s s WHERE m.mst_key = %d LIMIT 2",
					  outputs->model.quoted, outputs->info.quoted, outputs->summary.quoted,
					  mst_key);
	else
		hopper_select("SELECT concat_ws(' ', s.tableoid, s.xmin, s.cmin, s.ctid, (SELECT"
					  "  string_agg(concat_ws(' ', m.tableoid, m.xmin, m.cmin, m.ctid, i.tableoid,"
					  "   i.xmin, i.cmin, i.ctid), ',' ORDER BY m.mst_key, i.mst_key)"
					  "  FROM %s m FULL JOIN %s i USING (mst_key))) FROM %s s LIMIT 2",
					  outputs->model.quoted, outputs->info.quoted, outputs->summary.quoted);
	found = SPI_processed == 1 ? hopper_cell(0, 1) : NULL;
	if (found)
		appendStringInfoString(text, found);
}

/*
 * Changes whenever the model's rows or the summary do, or the tables are replaced: transaction,
 * command and place of the rows. One transaction may train, predict and train again, and write its
 * rows to the same place each time. False where there are no such rows.
 */
static bool
current_version(const model_tables *tables, bool readable, bool has_key, int32 mst_key,
				char *version)
{
	StringInfoData text;
	uint8		key[16];
	bool		found;

	/* Where rows have no version, as in a view, the model is read anew for each call. */
	version[0] = '\0';
	if (!has_versions(tables->model) || !has_versions(tables->summary) ||
		!has_versions(tables->info))
		return true;
	initStringInfo(&text);
	if (!readable || !versions_from_tables(tables, has_key, mst_key, &text))
	{
		resetStringInfo(&text);
		versions_by_statement(tables, has_key, mst_key, &text);
	}
	found = text.len > 0;
	if (found)
	{
		/* Not md5(), which servers that follow FIPS 140 do not have. */
		hopper_core()->row_key(0, text.data, text.len, "", 0, key);
		strlcpy(version, hopper_hex(key, sizeof(key)), READY_VERSION_SIZE);
	}
	pfree(text.data);
	return found;
}

/* As prediction sees the model; `trained` lies in the entry's memory, the predictor gets `desc`. */
static void
describe_model(hopper_ready_model *entry, hopper_trained *trained, const hopper_data_desc *desc)
{
	hopper_predict_model *model = &entry->model;

	hopper_predict_from_trained(trained, model);
	entry->features = *desc;
	/* That one is freed with the statement. */
	model->schema = NULL;
	if (trained->data.schema_text)
	{
		hopper_row_schema *schema = hopper_schema_open_unguarded(trained->data.schema_text);

		entry->schema = schema->handle;
		model->schema = schema;
	}
	/* The predictor has its own copy of these. */
	pfree((char *) model->model_arch);
	model->model_arch = NULL;
	memset(&model->weights, 0, sizeof(model->weights));
}

static int64
keep_limit(void)
{
	return HOPPER_BYTES(hopper_keep_memory);
}

/* The place that is used next: a free one, or that of the model which was not used for longest. */
static hopper_ready_model *
make_place(void)
{
	hopper_ready_model *place = &ready[0];

	for (int i = 1; i < MAX_READY && place->context; i++)
		if (ready[i].context == NULL || ready[i].last_use < place->last_use)
			place = &ready[i];
	if (place->context && place->last_use == BEING_READ)
		elog(ERROR, "too many models are read within each other");
	drop_ready_model(place);
	memset(place, 0, sizeof(*place));
	place->last_use = BEING_READ;
	return place;
}

/* Room for the model's bytes beside those of others that stay. */
static void
make_room(const hopper_ready_model *entry)
{
	for (;;)
	{
		hopper_ready_model *oldest = NULL;
		int64		kept = 0;

		for (int i = 0; i < MAX_READY; i++)
		{
			if (ready[i].context == NULL || ready[i].last_use == BEING_READ)
				continue;
			kept += ready[i].bytes;
			if (oldest == NULL || ready[i].last_use < oldest->last_use)
				oldest = &ready[i];
		}
		if (oldest == NULL || kept + entry->bytes <= keep_limit())
			return;
		drop_ready_model(oldest);
	}
}

/* Makes the predictor, which then counts its memory until it is freed or expires. */
static void
create_predictor(hopper_ready_model *entry, const hopper_trained *trained,
				 const hopper_data_desc *desc)
{
	const hopper_predictor_api *api;
	int64		limit = hopper_effective_memory_limit();
	int64	   *counter;
	int32_t		n_outputs;
	hopper_prediction_plan plan = {.rows = 1,.batches = 1};

	api = hopper_predict_library(trained->config.model_arch, trained->config.model_arch_size, desc,
								 NULL);
	entry->api = api;
	if (!hopper_try_memory(entry->bytes, &counter))
		hopper_refuse_memory(entry->bytes);
	/* Nothing here ends in an error before the bytes have another owner. */
	if (api->create(trained->config.model_arch, trained->config.model_arch_size,
					trained->config.n_weights, desc, NULL, 1, limit, entry->event_fd,
					&entry->predictor, &n_outputs, hopper_fault) != 0 ||
		api->expire(entry->predictor, hopper_keep_time, counter, entry->bytes, hopper_fault) != 0)
	{
		if (counter)
			__atomic_fetch_sub(counter, entry->bytes, __ATOMIC_RELAXED);
		hopper_throw(hopper_fault);
	}
	hopper_predict_push_weights(api, entry->predictor, &trained->weights);
	HOPPER_CHECK(api->plan(entry->predictor, &plan, hopper_fault));
	entry->n_outputs = n_outputs;
	entry->keep_time = hopper_keep_time;
}

/* Which inputs were bytea when the model was trained. */
static bool *
trained_bytes(const hopper_packed *data, int n)
{
	bool	   *is_bytea = palloc0(n * sizeof(bool));

	for (int i = 0, at = 0; i < n && at < data->n_x_columns; i++)
	{
		is_bytea[i] = strcmp(data->x_sql_types[at], "bytea") == 0;
		at += data->inputs.n > 0 ? data->inputs.columns[i] : 1;
	}
	return is_bytea;
}

/* What the predictor is to be given. */
static void
describe_features(const hopper_trained *trained, const bool *is_bytea, hopper_data_desc *desc)
{
	const hopper_packed *data = &trained->data;

	memset(desc, 0, sizeof(*desc));
	desc->x_type = is_bytea[0] ? hopper_predict_bytes_type(&data->desc)
		: data->schema_text ? HOPPER_FLOAT32 : HOPPER_FLOAT64;
	desc->x_rank = data->desc.x_rank;
	memcpy(desc->x_shape, data->desc.x_shape, sizeof(desc->x_shape));
	if (data->desc.n_inputs > 0)
	{
		hopper_input *inputs = palloc(data->desc.n_inputs * sizeof(hopper_input));

		memcpy(inputs, data->desc.inputs, data->desc.n_inputs * sizeof(hopper_input));
		for (int i = 0; i < data->desc.n_inputs; i++)
			if (!is_bytea[i])
				inputs[i].type = HOPPER_FLOAT64;
		desc->n_inputs = data->desc.n_inputs;
		desc->inputs = inputs;
		desc->x_type = 0;
	}
	desc->y_kind = HOPPER_LABEL_VALUE;
	desc->y_type = HOPPER_FLOAT32;
	desc->n_partitions = 1;
	desc->normalizing_const = data->desc.normalizing_const;
	desc->table_name = trained->outputs.model.shown;
	desc->x_column = data->desc.x_column;
	desc->y_column = data->desc.y_column;
}

/* Reads the model and makes its predictor; the entry's memory is the current one. */
static void
fill(hopper_ready_model *entry, const hopper_name *table, int n_asked, const bool *is_bytea)
{
	static const hopper_predict_what shown = {.by_output = true,.best_at_each = true};
	hopper_name own = hopper_name_itself(table);
	hopper_trained trained;
	const hopper_packed *data = &trained.data;
	hopper_data_desc desc;
	bool	   *as_trained;
	Size		size;

	hopper_read_trained(&own, entry->has_key, entry->mst_key, &trained);
	entry->n_inputs = Max(data->inputs.n, 1);
	if (is_bytea && n_asked != entry->n_inputs)
		hopper_refuse_changed(table->shown, "It has other inputs now.");
	size = entry->n_inputs * sizeof(bool);
	as_trained = trained_bytes(data, entry->n_inputs);
	entry->is_bytea = memcpy(palloc(size), is_bytea ? is_bytea : as_trained, size);
	entry->as_trained = memcmp(entry->is_bytea, as_trained, size) == 0;
	describe_features(&trained, entry->is_bytea, &desc);
	entry->bytes = trained.config.n_weights * (int64) sizeof(float) + MODEL_OVERHEAD;
	make_room(entry);
	entry->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (entry->event_fd < 0)
		ereport(ERROR, errcode_for_file_access(),
				errmsg("could not create an event descriptor: %m"));
	create_predictor(entry, &trained, &desc);
	hopper_floats_release(&trained.weights);
	describe_model(entry, &trained, &desc);
	hopper_predict_bind_outputs(&entry->model, entry->n_outputs);
	entry->output = hopper_predict_output_create(&entry->model, &shown, entry->n_outputs, 0, NULL,
												 NULL);
}

/* In its memory; what is not complete would keep that to the session's next call. */
static void
fill_or_drop(hopper_ready_model *entry, const hopper_name *table, int n_asked, const bool *is_bytea)
{
	MemoryContext caller = MemoryContextSwitchTo(entry->context);
	MemoryContext requested = hopper_request_context;

	hopper_request_context = entry->context;
	PG_TRY();
	{
		fill(entry, table, n_asked, is_bytea);
	}
	PG_CATCH();
	{
		hopper_request_context = requested;
		MemoryContextSwitchTo(caller);
		drop_ready_model(entry);
		PG_RE_THROW();
	}
	PG_END_TRY();
	hopper_request_context = requested;
	MemoryContextSwitchTo(caller);
}

static hopper_ready_model *
make_ready(const hopper_name *table, Oid relation, bool has_key, int32 mst_key, int n_asked,
		   const bool *is_bytea, const char *version)
{
	hopper_ready_model *entry;

	hopper_on_discard(drop_ready_models);
	entry = make_place();
	entry->event_fd = -1;
	entry->has_key = has_key;
	entry->mst_key = mst_key;
	entry->context = AllocSetContextCreate(TopMemoryContext, "hopper predict_row",
										   ALLOCSET_SMALL_SIZES);
	entry->guard = hopper_guard_add_for_session(entry, free_ready_model);
	fill_or_drop(entry, table, n_asked, is_bytea);
	/* Nobody finds it before it has a relation. */
	entry->relation = relation;
	strlcpy(entry->version, version, sizeof(entry->version));
	entry->serial = ++n_made;
	return entry;
}

hopper_ready_model *
hopper_ready_get(const hopper_name *table, bool has_key, int32 mst_key, int n_inputs,
				 const bool *is_bytea)
{
	char		version[READY_VERSION_SIZE];
	hopper_ready_model *entry = NULL;
	hopper_trained trained;
	model_tables tables = {.outputs = hopper_outputs_named(table)};
	bool		readable;

	hopper_outputs_open(&tables.outputs);
	tables.model = hopper_relation_oid(table, false);
	tables.info = hopper_relation_oid(&tables.outputs.info, true);
	tables.summary = hopper_relation_oid(&tables.outputs.summary, true);
	/* Its errors are those of a table that is none of training. */
	if (get_attnum(tables.model, "model_weights") == InvalidAttrNumber ||
		!OidIsValid(tables.summary) || !OidIsValid(tables.info))
		hopper_read_trained_data(table, &trained);
	readable = may_read(&tables);
	if (!current_version(&tables, readable, has_key, mst_key, version))
	{
		/* Tables that have been made since the statement began, by replace => true say. */
		hopper_see_latest();
		(void) current_version(&tables, readable, has_key, mst_key, version);
	}
	for (int i = 0; i < MAX_READY; i++)
	{
		hopper_ready_model *found = &ready[i];

		if (found->context == NULL || found->relation != tables.model ||
			found->has_key != has_key || found->mst_key != mst_key)
			continue;
		if (found->busy || !readable || version[0] == '\0' ||
			strcmp(found->version, version) != 0 || found->keep_time != hopper_keep_time ||
			!found->api->touch(found->predictor))
			drop_ready_model(found);
		else if (is_bytea == NULL ? found->as_trained
				 : found->n_inputs == n_inputs &&
				 memcmp(found->is_bytea, is_bytea, n_inputs * sizeof(bool)) == 0)
			entry = found;
	}
	if (entry == NULL)
		entry = make_ready(table, tables.model, has_key, mst_key, n_inputs, is_bytea, version);
	entry->last_use = ++n_uses;
	return entry;
}

bool
hopper_ready_is(const hopper_ready_model *entry, uint64 serial)
{
	return entry->context && entry->serial == serial && !entry->busy &&
		entry->keep_time == hopper_keep_time &&
		entry->api->touch(entry->predictor);
}

const float *
hopper_ready_compute(hopper_ready_model *entry, const char *features, size_t size)
{
	const hopper_predictor_api *api = entry->api;
	const float *outputs;
	int32_t		n;
	int			done;

	entry->busy = true;
	HOPPER_CHECK(api->submit(entry->predictor, features, size, 1, hopper_fault));
	while ((done = api->take(entry->predictor, &outputs, &n, hopper_fault)) == 0)
		hopper_wait(entry->event_fd, -1);
	if (done < 0)
		hopper_throw(hopper_fault);
	entry->busy = false;
	return outputs;
}

void
hopper_ready_leave(hopper_ready_model *entry)
{
	if (entry->bytes > keep_limit())
		drop_ready_model(entry);
}
