/*
 * prepare.c
 *		The order of things in a training, beside the training itself: how it is prepared, how a run
 *		goes on in another session, and how its outputs are filled.
 *
 * Everything that can be wrong is refused before the first batch is computed. Output tables are
 * made before training and their filling is rehearsed; they belong to the caller's transaction,
 * which takes them back when training fails.
 */
#include "pg/train/fit.h"

#include "pg/catalog/configs.h"
#include "pg/server/watch.h"
#include "pg/train/ranking.h"
#include "pg/train/store.h"
#include "pg/train/warm_start.h"

/*
 * What the call does not say is as it was: with another seed several calls would not be what one
 * long call is, and who has named a run need not do it each time.
 */
static void
take_arguments(hopper_fit *request, const hopper_outputs *outputs)
{
	hopper_run_record *record = &request->record;
	bool		isnull;
	Datum		seed;

	if (hopper_select("SELECT seed::pg_catalog.int8, name::pg_catalog.text,"
					  " description::pg_catalog.text FROM %s", outputs->summary.quoted) != 1)
		hopper_refuse_damaged(&outputs->summary, "It does not have one row.");
	seed = hopper_value(0, 1, INT8OID, &isnull);
	if (!request->seed_given && !isnull)
		request->options.seed = (uint64_t) DatumGetInt64(seed);
	if (record->name == NULL)
		record->name = hopper_cell(0, 2);
	if (record->description == NULL)
		record->description = hopper_cell(0, 3);
}

/* The keys of the configurations that are trained, as an SQL array. */
static char *
keys_literal(const hopper_fit *request)
{
	return hopper_keys_literal(request->n_configs, &request->configs->mst_key,
							   sizeof(hopper_config));
}

/* Models that the call does not train again go with the outputs that it writes anew. */
static void
tell_dropped(const hopper_fit *request, const hopper_outputs *outputs)
{
	int64		n = hopper_number(&outputs->model,
								  hopper_select("SELECT count(*) FROM %s WHERE mst_key <> ALL (%s)",
												outputs->model.quoted, keys_literal(request)));

	if (n > 0)
		ereport(NOTICE, errmsg("%s of \"%s\" that this call does not train will be dropped",
							   hopper_plural(n, "model", "models"), request->shown),
				request->has_selection
				? errhint("Name those to train in mst_keys, of a selection table with all of "
						  "them, to keep the others.")
				: 0);
}

/* Checks the earlier run and takes its states and histories. */
static void
take_over(hopper_fit *request, const hopper_outputs *outputs, const hopper_packed *train,
		  hopper_history **histories)
{
	hopper_trained earlier;

	hopper_outputs_lock(outputs);
	/* What another session that held the lock has committed meanwhile is where this one goes on. */
	PushActiveSnapshot(GetTransactionSnapshot());
	hopper_read_trained_data(&request->output, &earlier);
	hopper_check_compatible(train, "training table", &earlier.data, request->output.shown);
	if (strcmp(earlier.data.desc.y_column, train->desc.y_column) != 0)
		hopper_wrong(errmsg("training table \"%s\" does not fit \"%s\"", train->table.shown,
							request->output.shown),
					 errdetail("Its label column is \"%s\", that of \"%s\" is \"%s\".",
							   train->desc.y_column, request->output.shown,
						   earlier.data.desc.y_column));
	take_arguments(request, outputs);
	if (!request->keeps_others)
		tell_dropped(request, outputs);
	if (request->durable)
		hopper_outputs_continue(&request->staging, outputs, request->configs, request->n_configs,
								request->keeps_others);
	/* Segments copy states from table to table. A run of its own checks them when it opens. */
	hopper_warm_start(outputs, &train->desc, request->configs, request->n_configs, histories,
					  HOPPER_DATA_ON_SEGMENTS && !request->durable);
	PopActiveSnapshot();
}

/* What would make the validation worth nothing, or is there and not used. `valid` may be NULL. */
static void
tell_validation(const hopper_fit *request, const hopper_packed *train, const hopper_packed *valid)
{
	hopper_name beside;
	Oid			oid;

	if (valid)
	{
		if (strcmp(valid->checksum, train->checksum) == 0)
			ereport(WARNING, errmsg("validation table \"%s\" holds the training data",
									request->validation.shown),
					errdetail("How well models do on what they were trained on says nothing of "
							  "other rows."),
					errhint("Split the rows with validation_fraction of "
							"hopper.training_preprocessor()."));
		return;
	}
	/* Packing could not have made one. */
	if (strlen(request->source.name) + strlen("_validation") >= NAMEDATALEN)
		return;
	beside = hopper_name_with_suffix(&request->source, "validation");
	oid = hopper_relation_oid(&beside, true);
	if (OidIsValid(oid) && get_attnum(oid, "buffer_id") != InvalidAttrNumber)
		ereport(NOTICE, errmsg("\"%s\" is not used: models are compared on the training data",
							   beside.shown),
				errhint("Pass validation_table => %s.",
						hopper_literal(hopper_written_name(&beside))));
}

/* Of models that stay beside those that are trained: `ranked` has room for all. */
static int
ranked_others(const hopper_fit *request, hopper_ranked_config **ranked)
{
	int			n = request->n_configs;
	uint64		others;

	others = hopper_select("SELECT compile_params::pg_catalog.text,"
						   " metrics_type::pg_catalog.text[] FROM %s WHERE status <> 'failed'"
						   " AND mst_key <> ALL (%s) ORDER BY mst_key",
						   request->staging.info.quoted, keys_literal(request));
	*ranked = repalloc(*ranked, (n + others) * sizeof(**ranked));
	for (uint64 row = 0; row < others; row++)
		(*ranked)[n + row] = hopper_ranked_by_info(row, 1, 2);
	SPI_freetuptable(SPI_tuptable);
	return (int) others;
}

/*
 * What the models are compared by, which is told before they are trained: at the end they are
 * compared with those that stay, too.
 */
static void
choose_ranking(hopper_fit *request, bool has_others, hopper_ranking *ranking)
{
	hopper_ranked_config *ranked = palloc(request->n_configs * sizeof(*ranked));
	const char *rank_by = request->record.rank_by;
	bool		asked = rank_by != NULL;
	int			n = request->n_configs;

	for (int i = 0; i < n; i++)
		ranked[i] = hopper_ranked_by_architecture(&request->configs[i]);
	if (has_others)
		n += ranked_others(request, &ranked);
	if (!asked)
		rank_by = request->compared_by || !request->warm_start ? request->compared_by
			: hopper_own_ranking(&request->outputs.model);
	hopper_rank_configs(n, ranked, &request->train.desc, rank_by, !asked, ranking);
	if (!asked)
		hopper_tell_ranking(ranking, request->shown);
	/* Whatever fails on the way. */
	request->record.rank_by = ranking->n_groups == 1 ? ranking->ranks[0].name : NULL;
	pfree(ranked);
}

/* Whether the tables that are filled get the place of others. */
static bool
replaces(const hopper_fit *request)
{
	return strcmp(request->staging.model.name, request->outputs.model.name) != 0;
}

/* The data, and what settings a training has for its own statements. */
static void
begin_fit(hopper_fit *request)
{
	request->level = NewGUCNestLevel();
	hopper_outputs_take_back(&request->output);
	request->outputs = hopper_outputs_named(&request->output);
	if (!request->durable)
		request->staging = request->outputs;
	if (request->shown == NULL)
		request->shown = request->output.shown;
	/* Our statements are many and touch few rows; the planner thinks otherwise of the arrays. */
	hopper_disable_jit();
	hopper_disable_orca();
	hopper_read_packed(&request->source, false, &request->train);
	hopper_backend.require_partitions(&request->train);
	if (request->has_validation)
		hopper_read_compatible(&request->validation, "validation table", &request->train,
							   request->source.shown, &request->valid);
	request->train.desc.validation = request->has_validation ? 1 : -1;
}

static hopper_history **
new_histories(hopper_fit *request)
{
	MemoryContext caller;
	hopper_history **histories;

	/* What may be large does not wait for the client's ROLLBACK. */
	request->memory_guard = hopper_guarded_context(&request->memory);
	caller = MemoryContextSwitchTo(request->memory);
	histories = palloc(request->n_configs * sizeof(hopper_history *));
	for (int i = 0; i < request->n_configs; i++)
		histories[i] = hopper_history_new(request->configs[i].mst_key, request->n_configs,
										  request->options.memory_limit);
	MemoryContextSwitchTo(caller);
	return histories;
}

static void
describe_training(hopper_fit *request, hopper_history **histories)
{
	hopper_training *training = &request->training;

	training->function = request->function;
	training->shown = request->shown;
	training->quoted = hopper_written_name(&request->output);
	training->options = request->options;
	training->options.n_starts = request->train.n_starts;
	training->options.starts = request->train.starts;
	training->options.data_name = psprintf("%s %s", request->train.checksum,
										   request->has_validation ? request->valid.checksum : "");
	training->train = &request->train;
	training->valid = request->has_validation ? &request->valid : NULL;
	training->n_configs = request->n_configs;
	training->configs = request->configs;
	if (request->options.use_gpus)
		training->wants_libtorch = "use_gpus";
	if (training->wants_libtorch == NULL)
		training->wants_libtorch = hopper_wants_libtorch(request->configs, request->n_configs,
														 &request->train.desc);
	training->histories = histories;
	training->saved = palloc0(Max(request->n_configs, 1) * sizeof(hopper_saved));
	for (int i = 0; i < request->n_configs && histories; i++)
	{
		hopper_saved *saved = &training->saved[i];

		saved->earlier = saved->stored = saved->stored_until = histories[i]->last_earlier;
		saved->there = request->warm_start;
	}
	training->ranking = &request->ranking;
	training->rank_by = request->record.rank_by;
	training->threads_given = request->threads_given;
	training->stored = &request->staging;
	training->save = hopper_outputs_write_ended;
	training->keeps_others = request->keeps_others;
}

static void
make_room(hopper_fit *request)
{
	hopper_outputs room = hopper_outputs_make_room(&request->outputs, request->replace);

	if (!request->durable)
		request->staging = room;
}

/*
 * Of a run that others may steer, other models may come; and what event triggers do to its tables
 * after an ALTER is to be found by the rehearsal.
 */
static void
create_outputs(hopper_fit *request)
{
	hopper_outputs_create(&request->staging, &request->train,
						  request->durable || hopper_event_triggers_exist() ||
						  hopper_outputs_are_large(request->configs, request->n_configs,
												   &request->train.desc));
}

/*
 * A warm start that is a run of its own goes on with copies of the models, whose place they take
 * at the end. Returns the configurations as they were given: what the models make of them is found
 * out again whenever the run is opened.
 */
static hopper_config *
begin_continuing(hopper_fit *request)
{
	Size		size = Max(request->n_configs, 1) * sizeof(hopper_config);

	hopper_outputs_lock(&request->outputs);
	(void) hopper_outputs_make_room(&request->outputs, true);
	create_outputs(request);
	request->continues = hopper_outputs_digest(&request->outputs);
	return memcpy(palloc(size), request->configs, request->n_configs * sizeof(hopper_config));
}

/* What one takes of memory, or -1. */
static int64
needs(hopper_fit *request)
{
	int64		bytes;

	begin_fit(request);
	describe_training(request, NULL);
	bytes = hopper_backend.training->needs(&request->training);
	AtEOXact_GUC(true, request->level);
	return bytes;
}

int
hopper_fits_at_once(hopper_fit *const *fits, int n)
{
	int64		most = 0;

	for (int i = 0; i < n; i++)
	{
		int64		bytes = needs(fits[i]);

		if (bytes < 0)
			return 1;
		most = Max(most, bytes);
	}
	return (int) Max(Min(fits[0]->options.memory_limit / Max(most, 1), PG_INT32_MAX), 1);
}

void
hopper_fit_prepare(hopper_fit *request)
{
	hopper_history **histories;
	hopper_config *asked = NULL;

	begin_fit(request);
	if (!request->warm_start)
		make_room(request);
	else if (request->durable)
		asked = begin_continuing(request);
	histories = new_histories(request);
	if (request->warm_start)
		take_over(request, &request->outputs, &request->train, histories);
	hopper_require_valid_configs(request->configs, request->n_configs, &request->train.desc);
	choose_ranking(request, request->warm_start && request->keeps_others, &request->ranking);
	tell_validation(request, &request->train, request->has_validation ? &request->valid : NULL);
	if (!request->warm_start)
		create_outputs(request);
	describe_training(request, histories);
	hopper_outputs_rehearse(&request->staging, &request->training, &request->record);
	if (replaces(request) && request->warm_start)
		hopper_outputs_refuse_losses(&request->outputs);
	if (replaces(request) && (request->replace || request->warm_start))
		hopper_outputs_rehearse_replace(&request->outputs, &request->staging, request->warm_start);
	if (asked)
		memcpy(request->configs, asked, request->n_configs * sizeof(hopper_config));
	request->record.started = GetCurrentTimestamp();
}

/* Whether somebody wants more iterations of what has ended, in this row of SPI_tuptable. */
static bool
trains_further(const hopper_fit *request, uint64 row)
{
	return hopper_cell(row, 2) && hopper_int_cell(&request->staging.info, row, 2, 0, PG_INT32_MAX) <
		request->target(request, hopper_key_cell(&request->staging.info, row, 1));
}

/* Leaves the configurations that have not ended in an earlier session of the run. */
static void
leave_unfinished(hopper_fit *request)
{
	uint64		n = hopper_select("SELECT mst_key, CASE status WHEN 'done' THEN iterations END"
								  " FROM %s WHERE status IN ('done', 'stopped')"
								  " ORDER BY mst_key", request->staging.info.quoted);
	int			left = 0;
	uint64		row = 0;

	for (int i = 0; i < request->n_configs; i++)
	{
		int32		key = request->configs[i].mst_key;

		while (row < n && hopper_key_cell(&request->staging.info, row, 1) < key)
			row++;
		if (row == n || hopper_key_cell(&request->staging.info, row, 1) != key ||
			trains_further(request, row))
			request->configs[left++] = request->configs[i];
	}
	if (left < request->n_configs)
		request->keeps_others = true;
	request->n_configs = left;
}

/* What a checkpoint that is damaged had told of metrics is told again. */
static void
mend_checkpoints(const hopper_fit *request)
{
	if (hopper_checkpoints_are_sound(&request->staging, request->configs, request->n_configs))
		return;
	for (int i = 0; i < request->n_configs; i++)
	{
		int32		key = request->configs[i].mst_key;
		bool		has_one = hopper_select("SELECT FROM %s WHERE mst_key = %d",
											request->staging.model.quoted, key) > 0;
		bool		continues = request->earlier(request, key) > 0;
		int32		behind = has_one ? hopper_mend_checkpoint(&request->staging, key, continues)
			: -1;

		if (behind >= 0)
			hopper_store_forget(request->training.number, key, behind);
		CHECK_FOR_INTERRUPTS();
	}
}

void
hopper_fit_goes_on(hopper_training *training, int at)
{
	hopper_history *history = training->histories[at];
	hopper_saved *saved = &training->saved[at];

	*saved = (hopper_saved) {
		.stored = history->last_earlier,.stored_until = history->last_earlier,.there = true
	};
	history->last_earlier = 0;
	history->n_metrics_earlier = 0;
	history->metrics_earlier = NULL;
}

void
hopper_fit_resume(hopper_fit *request)
{
	hopper_training *training = &request->training;
	hopper_history **histories;

	begin_fit(request);
	if (request->searches)
		request->keeps_others = true;
	else
	{
		leave_unfinished(request);
		mend_checkpoints(request);
		if (request->warm_start)
			take_arguments(request, &request->staging);
	}
	histories = new_histories(request);
	hopper_warm_start(&request->staging, &request->train.desc, request->configs, request->n_configs,
					  histories, false);
	hopper_require_valid_configs(request->configs, request->n_configs, &request->train.desc);
	choose_ranking(request, request->keeps_others && !request->searches, &request->ranking);
	describe_training(request, histories);
	for (int i = 0; i < request->n_configs; i++)
	{
		training->saved[i].there = true;
		if (request->searches)
			hopper_fit_goes_on(training, i);
		/* Metrics of a warm start's or a clone's model are put in order once the core has them. */
		else
			training->saved[i].earlier = request->earlier(request, request->configs[i].mst_key);
	}
	request->record.started = GetCurrentTimestamp();
}

void
hopper_fit_start(hopper_fit *fit, hopper_progress *progress)
{
	hopper_training *training = &fit->training;

	training->costs = hopper_training_costs(training);
	hopper_backend.training->begin(training);
	for (int i = 0; i < training->n_configs; i++)
	{
		hopper_saved *saved = &training->saved[i];
		int32		left = training->options.num_iterations;

		hopper_training_look(training, i);
		hopper_training_order_metrics(training, i);
		if (fit->target)
		{
			saved->target = fit->target(fit, training->configs[i].mst_key);
			/* One that had no iteration left when its last checkpoint was written has ended. */
			left = Max(saved->target - saved->stored, 1);
		}
		hopper_backend.training->go_on(training, i, left, saved->stored - saved->earlier, false);
	}
	hopper_backend.training->close(training);
	hopper_backend.training->start(training);
	hopper_progress_start(progress, training);
}

/* Whether the models take the place of others: a warm start that of those that it went on with. */
static bool
may_replace(const hopper_fit *request)
{
	const char *now;

	if (!request->warm_start || !request->durable)
		return request->replace || !request->durable;
	now = hopper_outputs_digest(&request->outputs);
	if (now == NULL || request->continues == NULL)
		return false;
	if (strcmp(now, request->continues) == 0)
		return true;
	ereport(NOTICE, errmsg("models of \"%s\" have been trained by others since the run began to "
						   "go on with them", request->output.shown));
	return false;
}

void
hopper_fit_finish(hopper_fit *request)
{
	hopper_training *training = &request->training;
	int64		number;

	request->record.ended = GetCurrentTimestamp();
	hopper_outputs_write_models(training);
	/* It has one for those who look at the tables of a run that goes on. */
	if (request->durable)
		hopper_change("DELETE FROM %s", request->staging.summary.quoted);
	/* Of models that have ended in another session, or before the run, the tables alone know. */
	request->record.best = request->keeps_others
		? hopper_outputs_best(&request->staging, request->record.rank_by)
		: hopper_training_best(training, request->record.rank_by);
	hopper_outputs_write_summary(&request->staging, training, &request->record);
	if (replaces(request))
	{
		hopper_outputs_update_names(&request->staging, &request->outputs);
		if (!hopper_outputs_publish(&request->outputs, &request->staging, may_replace(request),
									request->warm_start))
		{
			request->output = hopper_name_itself(&request->staging.model);
			request->outputs = request->staging = hopper_outputs_named(&request->output);
			training->quoted = hopper_written_name(&request->output);
			hopper_outputs_update_names(&request->outputs, &request->outputs);
		}
	}
	number = hopper_journal_write(training, hopper_relation_oid(&request->outputs.model, false),
								  request->record.started);
	if (training->number == 0 && !request->passing)
		hopper_store_record(number, request);
}

static void
end_training(hopper_training *training)
{
	hopper_watch_end();
	hopper_backend.training->leave(training);
	if (training->run == NULL)
		return;
	hopper_guard_release(training->guard);
	if (training->leader == NULL)
		hopper_eventfd_close(training->event_fd);
	hopper_share_release(training->share);
	training->run = NULL;
	training->results = NULL;
}

void
hopper_fit_end(hopper_fit *request)
{
	end_training(&request->training);
	hopper_guard_release(request->memory_guard);
	/* true: what the users' triggers have set stays */
	AtEOXact_GUC(true, request->level);
}
