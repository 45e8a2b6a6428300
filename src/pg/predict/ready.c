/*
 * ready.c
 *		Models that stay ready in the session: which of them, for how long, and their computing.
 */
#include "pg/predict/ready.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "catalog/pg_class.h"
#include "utils/lsyscache.h"

#include "pg/server/ceilings.h"
#include "pg/server/words.h"

#define MAX_READY 8
/* Of each model, beside its weights. */
#define MODEL_OVERHEAD (64 * 1024)

static hopper_ready_model ready[MAX_READY];
static uint64 n_uses = 0;

/* Also called when the session ends: the predictor has a thread. */
static void
free_ready_model(void *handle)
{
	hopper_ready_model *entry = handle;

	hopper_torch()->predictor.free(entry->predictor);
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

/*
 * Changes whenever the model's row or the summary does, or the tables are replaced: transaction,
 * command and place of the rows. One transaction may train, predict and train again, and write its
 * rows to the same place each time.
 */
static void
current_version(const hopper_name *table, bool has_key, int32 mst_key, char *version)
{
	hopper_name summary = hopper_name_with_suffix(table, "summary");
	char	   *text;
	uint8		key[16];

	/* Rows of a view have no version: its model is read anew for each call. */
	version[0] = '\0';
	if (get_rel_relkind(hopper_relation_oid(table, false)) == RELKIND_VIEW ||
		get_rel_relkind(hopper_relation_oid(&summary, false)) == RELKIND_VIEW)
		return;
	/* Which one is the best depends on all that there are. */
	if (has_key)
		hopper_select("SELECT concat_ws(' ', m.tableoid, m.xmin, m.cmin, m.ctid,"
					  " s.tableoid, s.xmin, s.cmin, s.ctid)"
					  " FROM %s m, %s s WHERE m.mst_key = %d LIMIT 2", table->quoted,
					  summary.quoted, mst_key);
	else
		hopper_select("SELECT concat_ws(' ', s.tableoid, s.xmin, s.cmin, s.ctid, (SELECT"
					  "  string_agg(concat_ws(' ', m.tableoid, m.xmin, m.cmin, m.ctid), ','"
					  "   ORDER BY m.mst_key) FROM %s m)) FROM %s s LIMIT 2", table->quoted,
					  summary.quoted);
	text = SPI_processed == 1 ? hopper_cell(0, 1) : NULL;
	if (text)
	{
		/* Not md5(), which servers that follow FIPS 140 do not have. */
		hopper_core()->row_key(0, text, strlen(text), "", 0, key);
		for (int i = 0; i < (int) sizeof(key); i++)
			snprintf(version + 2 * i, 3, "%02x", key[i]);
	}
	SPI_freetuptable(SPI_tuptable);
}

/* Strings and arrays of the model that the entry keeps for itself. */
static void
keep_model(hopper_ready_model *entry, const hopper_trained *trained)
{
	hopper_predict_model *model = &entry->model;
	char	  **names;

	hopper_predict_from_trained(trained, model);
	model->shown = pstrdup(model->shown);
	model->class_name = pstrdup(model->class_name);
	if (model->padding)
	{
		hopper_pack_padding *padding = palloc(sizeof(hopper_pack_padding));

		*padding = *model->padding;
		model->padding = padding;
	}
	names = palloc(Max(model->n_class_values, 1) * sizeof(char *));
	for (int i = 0; i < model->n_class_values; i++)
		names[i] = model->class_values[i] ? pstrdup(model->class_values[i]) : NULL;
	model->class_values = (const char *const *) names;
	/* The predictor has its own copy of these. */
	model->model_arch = NULL;
	model->weights = NULL;
}

static int64
keep_limit(void)
{
	return HOPPER_BYTES(hopper_keep_memory);
}

/* A free place, with room for a model of so many bytes beside those that stay. */
static hopper_ready_model *
make_room(int64 bytes)
{
	for (;;)
	{
		hopper_ready_model *oldest = NULL;
		hopper_ready_model *place = NULL;
		int64		kept = 0;

		for (int i = 0; i < MAX_READY; i++)
		{
			hopper_ready_model *entry = &ready[i];

			if (entry->context == NULL)
			{
				place = entry;
				continue;
			}
			kept += entry->bytes;
			if (oldest == NULL || entry->last_use < oldest->last_use)
				oldest = entry;
		}
		if (place && (oldest == NULL || kept + bytes <= keep_limit()))
			return place;
		drop_ready_model(oldest);
	}
}

/* Makes the predictor, which then counts its memory until it is freed or expires. */
static void
create_predictor(hopper_ready_model *entry, const hopper_trained *trained,
				 const hopper_data_desc *desc)
{
	const hopper_torch_api *torch = hopper_torch();
	int64		limit = hopper_effective_memory_limit();
	int64	   *counter;
	int32_t		n_outputs;
	hopper_prediction_plan plan = {.rows = 1,.batches = 1};
	hopper_error error;

	if (!hopper_try_memory(entry->bytes, &counter))
		hopper_refuse_memory(entry->bytes);
	/* Nothing below ends in an error before the bytes have another owner. */
	if (torch->predictor.create(trained->config.model_arch, trained->config.model_arch_size,
								trained->config.weights, trained->config.n_weights, desc, NULL, 1,
								limit, entry->event_fd, &entry->predictor, &n_outputs,
								&error) != 0 ||
		torch->predictor.plan(entry->predictor, &plan, &error) != 0 ||
		torch->predictor.expire(entry->predictor, hopper_keep_time, counter, entry->bytes,
								&error) != 0)
	{
		if (counter)
			__atomic_fetch_sub(counter, entry->bytes, __ATOMIC_RELAXED);
		hopper_throw(&error);
	}
	entry->n_outputs = n_outputs;
}

static hopper_ready_model *
make_ready(const hopper_name *table, Oid relation, bool has_key, int32 mst_key, int32 asked_type,
		   const char *version)
{
	hopper_ready_model *entry;
	MemoryContext caller;
	hopper_trained trained;
	hopper_data_desc desc = {0};
	int64		bytes;

	hopper_read_trained(table, has_key, mst_key, &trained);
	if (trained.inputs.n > 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("model \"%s\" has several inputs, which predict_row() cannot take",
						trained.outputs.model.shown),
				 errdetail("It has the inputs %s.",
						   hopper_columns_words(trained.inputs.n, trained.inputs.names)),
				 errhint("Use hopper.predict_rows() or hopper.predict(), which find their columns "
						 "by their names.")));
	if (trained.desc.n_outputs > 1)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("model \"%s\" has several outputs, which predict_row() does not name",
						trained.outputs.model.shown),
				 errhint("Use hopper.predict_rows() or hopper.predict().")));
	desc.x_type = asked_type;
	if (asked_type == READY_BYTES)
	{
		hopper_predict_model model;

		hopper_predict_from_trained(&trained, &model);
		desc.x_type = hopper_predict_bytes_type(&model);
	}
	desc.x_rank = trained.desc.x_rank;
	memcpy(desc.x_shape, trained.desc.x_shape, sizeof(desc.x_shape));
	desc.y_kind = HOPPER_LABEL_VALUE;
	desc.y_type = HOPPER_FLOAT32;
	desc.n_partitions = 1;
	desc.normalizing_const = trained.desc.normalizing_const;
	desc.table_name = trained.outputs.model.shown;
	desc.x_column = trained.desc.x_column;
	desc.y_column = trained.desc.y_column;

	bytes = trained.config.n_weights * (int64) sizeof(float) + MODEL_OVERHEAD;
	hopper_on_discard(drop_ready_models);
	(void) hopper_torch();		/* whose functions free the entry */
	entry = make_room(bytes);
	memset(entry, 0, sizeof(*entry));
	entry->bytes = bytes;
	entry->event_fd = -1;
	entry->context = AllocSetContextCreate(TopMemoryContext, "hopper predict_row",
										   ALLOCSET_SMALL_SIZES);
	entry->guard = hopper_guard_add_for_session(entry, free_ready_model);
	/* It has no relation until it is complete: nobody finds it, and it is the first to go. */
	entry->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (entry->event_fd < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not create an event descriptor: %m")));
	create_predictor(entry, &trained, &desc);
	caller = MemoryContextSwitchTo(entry->context);
	keep_model(entry, &trained);
	hopper_predict_bind_outputs(&entry->model, entry->n_outputs);
	MemoryContextSwitchTo(caller);
	entry->relation = relation;
	entry->has_key = has_key;
	entry->mst_key = mst_key;
	entry->asked_type = asked_type;
	entry->x_type = desc.x_type;
	strlcpy(entry->version, version, sizeof(entry->version));
	return entry;
}

hopper_ready_model *
hopper_ready_get(const hopper_name *table, bool has_key, int32 mst_key, int32 asked_type)
{
	Oid			relation = hopper_relation_oid(table, false);
	char		version[READY_VERSION_SIZE];
	hopper_ready_model *entry = NULL;
	hopper_trained trained;
	hopper_name summary;

	/* Its errors are those of a table that is none of training. */
	summary = hopper_name_with_suffix(table, "summary");
	if (get_attnum(relation, "model_weights") == InvalidAttrNumber ||
		!OidIsValid(hopper_relation_oid(&summary, true)))
		hopper_read_trained_data(table, &trained);
	current_version(table, has_key, mst_key, version);
	for (int i = 0; i < MAX_READY; i++)
	{
		hopper_ready_model *found = &ready[i];

		if (found->context == NULL || found->relation != relation ||
			found->has_key != has_key || found->mst_key != mst_key ||
			found->asked_type != asked_type)
			continue;
		if (found->busy || version[0] == '\0' || strcmp(found->version, version) != 0 ||
			!hopper_torch()->predictor.touch(found->predictor))
			drop_ready_model(found);
		else
			entry = found;
	}
	if (entry == NULL)
		entry = make_ready(table, relation, has_key, mst_key, asked_type, version);
	entry->last_use = ++n_uses;
	return entry;
}

const float *
hopper_ready_compute(hopper_ready_model *entry, const char *features, size_t size)
{
	const hopper_torch_api *torch = hopper_torch();
	const float *outputs;
	int32_t		n;
	hopper_error error;
	int			done;

	entry->busy = true;
	HOPPER_CHECK(torch->predictor.submit(entry->predictor, features, size, 1, &error), error);
	while ((done = torch->predictor.take(entry->predictor, &outputs, &n, &error)) == 0)
		hopper_wait(entry->event_fd, -1);
	if (done < 0)
		hopper_throw(&error);
	entry->busy = false;
	return outputs;
}

void
hopper_ready_leave(hopper_ready_model *entry)
{
	if (entry->bytes > keep_limit())
		drop_ready_model(entry);
}
