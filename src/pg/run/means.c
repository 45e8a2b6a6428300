/*
 * means.c
 *		record_means(): what a cross-validation comes to, in the record of runs.
 */
#include "pg/train/store.h"

/*
 * record_means(model_table, output_table, began, metric, trials, means): the run that has trained
 * these models, of the last fold, is the cross-validation's. The metric may be NULL: configurations
 * that cannot be compared.
 */
HOPPER_SPI_FUNCTION(hopper_sql_record_means)
{
	hopper_name models = hopper_name_argument(fcinfo, 0, "model_table");
	hopper_means means;
	hopper_run_row row;

	hopper_require_argument(fcinfo, 1, "output_table");
	hopper_require_argument(fcinfo, 2, "began");
	hopper_store_read(hopper_store_run_of(hopper_relation_oid(&models, false)), false, &row);
	row.function = "cross_validate";
	row.model_table = hopper_string_argument(fcinfo, 1);
	means.began = PG_GETARG_TIMESTAMPTZ(2);
	means.metric = hopper_string_argument(fcinfo, 3);
	means.trials = HOPPER_IF(!PG_ARGISNULL(4), HOPPER_PARAM(INT4ARRAYOID, PG_GETARG_DATUM(4)));
	means.values = HOPPER_IF(!PG_ARGISNULL(5), HOPPER_PARAM(FLOAT8ARRAYOID, PG_GETARG_DATUM(5)));
	hopper_store_means(&row, &means);
	PG_RETURN_VOID();
}
