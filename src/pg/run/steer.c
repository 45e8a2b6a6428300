/*
 * steer.c
 *		Steering a run: stop_trial(), pin_trial(), unpin_trial(), enqueue_trial(),
 *		set_iterations(), add_trials() and clone_trial().
 */

#include "utils/fmgroids.h"

#include "pg/catalog/configs.h"
#include "pg/run/driver.h"
#include "pg/run/lease.h"
#include "pg/search/automl.h"
#include "pg/server/own_tables.h"

#define STOP HOPPER_STOP_TRIAL
#define ITERATIONS "set iterations"
#define ADD "add trials"

void
hopper_steering_read(int64 run, hopper_steering *steering)
{
	uint64		n = hopper_own_select("SELECT event, coalesce(trial, 0), CASE event WHEN '"
									  ITERATIONS "' THEN detail::int4 END"
									  " FROM @extschema@.all_run_events WHERE run = " INT64_FORMAT
									  " AND event IN ('" STOP "', '" ITERATIONS "', '" ADD "')"
									  " ORDER BY at", run);

	steering->n = (int) n;
	steering->n_added = 0;
	steering->wants = palloc(Max(n, 1) * sizeof(*steering->wants));
	for (uint64 row = 0; row < n; row++)
	{
		const char *event = hopper_cell(row, 1);
		struct hopper_want *want = &steering->wants[row];

		want->trial = (int32) hopper_int_cell(NULL, row, 2, 0, PG_INT32_MAX);
		want->iterations = strcmp(event, STOP) == 0 ? 0 : strcmp(event, ADD) == 0 ? -1
			: (int32) hopper_int_cell(NULL, row, 3, 1, PG_INT32_MAX);
		steering->n_added += want->iterations < 0;
	}
}

int32
hopper_steering_target(const hopper_steering *steering, int32 trial, int32 planned)
{
	for (int i = steering->n - 1; i >= 0; i--)
	{
		const struct hopper_want *want = &steering->wants[i];

		if (want->iterations >= 0 && (want->trial == 0 || want->trial == trial))
			return want->iterations;
	}
	return planned;
}

/* --- in SQL --- */

/* A run that goes on. */
static void
read_steerable(FunctionCallInfo fcinfo, hopper_run_row *row)
{
	int64		run = hopper_run_argument(fcinfo);

	hopper_store_read_steered(run, false, row);
	hopper_store_require_role(row);
	hopper_wishes_hold(run);
	hopper_store_read_steered(run, false, row);
	if (row->outcome && strcmp(row->outcome, "failed") != 0)
		hopper_unmet(errmsg("run " INT64_FORMAT " is %s", run, row->outcome),
					 errhint("Train its models further with warm_start of "
							 "hopper.fit_multiple_model()."));
	if (strcmp(row->function, "cross_validate") == 0)
		hopper_raise(ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("run " INT64_FORMAT " compares configurations by folds", run),
					 errdetail("They train alike in each of them."));
}

static void
read_steerable_fit(FunctionCallInfo fcinfo, hopper_run_row *row)
{
	read_steerable(fcinfo, row);
	if (hopper_is_search(row))
		hopper_raise(ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("run " INT64_FORMAT " is a search", row->run),
					 errdetail("It decides by itself which trials there are and how far they "
							   "train."),
					 errhint("hopper.enqueue_trial() has it try parameters, and "
							 "hopper.pin_trial() has it train a trial to the end."));
}

static void
read_steerable_search(FunctionCallInfo fcinfo, hopper_run_row *row)
{
	read_steerable(fcinfo, row);
	if (!hopper_is_search(row))
		hopper_raise(ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("run " INT64_FORMAT " is not a search", row->run),
					 errdetail("It trains all of its trials to the end."),
					 errhint("hopper.set_iterations() changes how far they train, and "
							 "hopper.add_trials() adds others."));
}

/* ERROR 42704 where the run has no such trial. */
static int32
trial_argument(FunctionCallInfo fcinfo, int argument, int64 run)
{
	int32		trial;

	hopper_require_argument(fcinfo, argument, "trial");
	trial = PG_GETARG_INT32(argument);
	if (hopper_own_select("SELECT 1 FROM @extschema@.all_trials WHERE run = " INT64_FORMAT
						  " AND trial = %d", run, trial) == 0)
		hopper_raise(ERRCODE_UNDEFINED_OBJECT,
					 errmsg("run " INT64_FORMAT " has no trial %d", run, trial),
					 errhint("See SELECT trial, status FROM hopper.trials WHERE run = "
							 INT64_FORMAT ";", run));
	return trial;
}

/* stop_trial(run, trial) */
HOPPER_SPI_FUNCTION(hopper_sql_stop_trial)
{
	hopper_run_row row;
	int32		trial;

	read_steerable(fcinfo, &row);
	trial = trial_argument(fcinfo, 1, row.run);
	if (!hopper_is_search(&row) && hopper_store_has_ended(row.run, trial))
		ereport(NOTICE,
				errmsg("trial %d of run " INT64_FORMAT " has ended already", trial, row.run));
	hopper_store_event(row.run, STOP, trial, NULL);
	PG_RETURN_VOID();
}

static Datum
pin(FunctionCallInfo fcinfo, const char *event)
{
	hopper_run_row row;

	read_steerable_search(fcinfo, &row);
	hopper_store_event(row.run, event, trial_argument(fcinfo, 1, row.run), NULL);
	PG_RETURN_VOID();
}

/* pin_trial(run, trial) */
HOPPER_SPI_FUNCTION(hopper_sql_pin_trial)
{
	return pin(fcinfo, HOPPER_PIN_TRIAL);
}

/* unpin_trial(run, trial) */
HOPPER_SPI_FUNCTION(hopper_sql_unpin_trial)
{
	return pin(fcinfo, HOPPER_UNPIN_TRIAL);
}

/* enqueue_trial(run, parameters) */
HOPPER_SPI_FUNCTION(hopper_sql_enqueue_trial)
{
	hopper_run_row row;
	char	   *parameters;

	read_steerable_search(fcinfo, &row);
	hopper_require_argument(fcinfo, 1, "parameters");
	parameters = hopper_string_argument(fcinfo, 1);
	(void) OidInputFunctionCall(F_JSON_IN, parameters, JSONOID, -1);
	hopper_store_event(row.run, HOPPER_ENQUEUE_TRIAL, 0, parameters);
	PG_RETURN_VOID();
}

/* set_iterations(run, iterations, trial) */
HOPPER_SPI_FUNCTION(hopper_sql_set_iterations)
{
	hopper_run_row row;
	int32		trial;
	int			iterations;

	read_steerable_fit(fcinfo, &row);
	hopper_require_argument(fcinfo, 1, "iterations");
	iterations = hopper_positive_argument(fcinfo, 1, "iterations", 1);
	trial = PG_ARGISNULL(2) ? 0 : trial_argument(fcinfo, 2, row.run);
	hopper_store_event(row.run, ITERATIONS, trial, psprintf("%d", iterations));
	PG_RETURN_VOID();
}

pg_attribute_noreturn() static void
refuse_without_configs(const hopper_run_row *row)
{
	hopper_raise(ERRCODE_FEATURE_NOT_SUPPORTED,
				 errmsg("run " INT64_FORMAT " has no table of configurations", row->run),
				 errdetail("hopper.fit() trains one."));
}

/*
 * The configurations of the run's selection table that are no trials yet; their number. Its tables
 * are read and written restricted, as in a step: whoever has taken the run's role lends its
 * functions nothing.
 */
static int
add_new_trials(const hopper_run_row *row)
{
	hopper_name selection;
	hopper_name models;
	hopper_outputs outputs;
	hopper_trained trained;
	hopper_config *configs;
	int			n;

	if (row->selection == NULL)
		refuse_without_configs(row);
	hopper_run_open_tables(row, false, &outputs, &selection);
	hopper_read_trained_data(&outputs.model, &trained);
	configs = hopper_load_configs(&selection, &models, &n);
	hopper_require_valid_configs(configs, n, &trained.data.desc);
	n = hopper_store_new_trials(row->run, configs, n);
	if (n > 0)
		hopper_store_event(row->run, ADD, 0, hopper_plural(n, "trial", "trials"));
	return n;
}

/* add_trials(run) -> how many rows of its selection table are new */
HOPPER_SPI_FUNCTION(hopper_sql_add_trials)
{
	hopper_run_row row;
	hopper_restricted before;
	int			n;

	read_steerable_fit(fcinfo, &row);
	before = hopper_restrict(GetUserId());
	n = add_new_trials(&row);
	hopper_unrestrict(&before);
	PG_RETURN_INT32(n);
}

/* clone_trial(run, trial, compile_params, fit_params) -> the new trial */
HOPPER_SPI_FUNCTION(hopper_sql_clone_trial)
{
	hopper_run_row row;
	hopper_name selection;
	hopper_outputs outputs;
	hopper_restricted before;
	const char *given[2];
	int32		trial;
	int32		clone;

	read_steerable_fit(fcinfo, &row);
	trial = trial_argument(fcinfo, 1, row.run);
	for (int i = 0; i < 2; i++)
		given[i] = PG_ARGISNULL(i + 2) ? NULL
			: hopper_literal(hopper_string_argument(fcinfo, i + 2));
	if (row.selection == NULL)
		refuse_without_configs(&row);
	if (given[0] == NULL && given[1] == NULL)
		hopper_wrong(errmsg("a clone needs other parameters than trial %d", trial),
					 errhint("Give compile_params or fit_params."));
	before = hopper_restrict(GetUserId());
	hopper_run_open_tables(&row, true, &outputs, &selection);
	hopper_select("SELECT max(mst_key) + 1 FROM %s", selection.quoted);
	clone = hopper_key_cell(&selection, 0, 1);
	hopper_change("INSERT INTO %s (mst_key, model_id, compile_params, fit_params)"
				  " SELECT %d, model_id, %s, %s FROM %s"
				  " WHERE mst_key OPERATOR(pg_catalog.=) %d", selection.quoted, clone,
				  given[0] ? given[0] : "compile_params", given[1] ? given[1] : "fit_params",
				  selection.quoted, trial);
	hopper_outputs_copy_one(&outputs, trial, clone);
	hopper_renew_snapshot();
	if (add_new_trials(&row) == 0)
		hopper_refuse_damaged(&selection, "It did not take a row.");
	hopper_store_inherit(row.run, clone, trial);
	hopper_unrestrict(&before);
	hopper_store_event(row.run, "cloned", clone, psprintf("from trial %d", trial));
	PG_RETURN_INT32(clone);
}
