/*
 * comments.c
 *		What tables that our functions make say about themselves in psql's \d+. A column's name
 *		means the same in every table, so there is one list of meanings.
 */
#include "pg/server/glue.h"

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "commands/comment.h"
#include "utils/lsyscache.h"

static const struct
{
	const char *column;
	const char *meaning;
}			meanings[] = {
	/* architectures and configurations */
	{"model_id", "number of the architecture"},
	{"model_arch", "architecture: Keras' JSON"},
	{"model_weights", "weights: float32 values in the order of Keras' get_weights()"},
	{"name", "as it was given"},
	{"description", "as it was given"},
	{"mst_key", "number of the configuration (model selection tuple)"},
	{"compile_params", "loss, optimizer and metrics, in Keras' words"},
	{"fit_params", "batch size, epochs and so on, in Keras' words"},
	{"model_arch_table", "table of architectures"},
	{"model_selection_table", "table of configurations"},
	{"object_table", "MADlib's table of custom functions; none here"},

	/* packed tables */
	{"partition_id", "partition, from 0"},
	{"buffer_id", "buffer, from 0, ascending with the partitions"},
	{"n", "examples in this buffer"},
	{"checksum", "of the packed bytes"},
	{"source_table", "table that the rows come from"},
	{"output_table", "packed table"},
	{"dependent_varname", "label column of the source"},
	{"independent_varname", "feature columns of the source"},
	{"dependent_vartype", "SQL type of the label column"},
	{"independent_vartype", "SQL types of the feature columns"},
	{"buffer_size", "rows of the largest buffer"},
	{"normalizing_const", "features are divided by it when a model reads them"},
	{"num_classes", "number of classes; NULL where labels are numbers"},
	{"distribution_rules", "on which segments the partitions are"},
	{"__internal_gpu_config__", "for MADlib's sake"},
	{"independent_type", "what features are packed as"},
	{"independent_shape", "shape of an example"},
	{"outputs", "where a label has several parts: names, types, shapes and classes (JSON)"},
	{"inputs", "where an example has several: names, number of columns, types, shapes (JSON)"},
	{"padding", "how sequences are filled up: by input the side, value and cut (JSON)"},
	{"label_kind", "class, value or array"},
	{"class_counts", "rows of each class, in the order of the classes"},
	{"label_range", "the least and the largest label that is a number"},
	{"label_type", "what labels are packed as"},
	{"label_shape", "shape of a label"},
	{"n_rows", "rows packed"},
	{"partitions", "number of partitions"},
	{"starts", "first partition of each group of partitions at which models start"},
	{"seed", "of the random numbers"},
	{"packed_bytes", "features and labels together"},
	{"training_table", "of validation data: the packed training table that it goes with"},
	{"format_version", "of packed tables"},
	{"segment_rows", "rows on each segment, from segment 0"},

	/* models */
	{"part", "place of this part of the state, from 0"},
	{"state", "weights, the optimizer's moments and counters, for warm starts"},
	{"model_type", "what trained the model"},
	{"model_size", "kilobytes of weights"},
	{"metrics_elapsed_time", "seconds of training until the metrics of this iteration were known"},
	{"metrics_type", "names of the metrics; the first one ranks"},
	{"loss_type", "name of the loss"},
	{"training_metrics_final", "first metric on the training data, at the end"},
	{"training_loss_final", "loss on the training data, at the end"},
	{"training_metrics", "first metric on the training data, per value of metrics_iters"},
	{"training_loss", "loss on the training data, per value of metrics_iters"},
	{"validation_metrics_final", "first metric on the validation data, at the end"},
	{"validation_loss_final", "loss on the validation data, at the end"},
	{"validation_metrics", "first metric on the validation data, per value of metrics_iters"},
	{"validation_loss", "loss on the validation data, per value of metrics_iters"},
	{"metrics_iters", "iterations at which metrics were taken, counted over warm starts"},
	{"training_metrics_all", "all metrics on the training data, in the order of metrics_type"},
	{"validation_metrics_all", "all metrics on the validation data, in the order of metrics_type"},
	{"status", "done, stopped (early) or failed"},
	{"error", "why it failed"},
	{"error_detail", "more about why it failed"},
	{"iterations", "finished ones, counted over warm starts"},
	{"seconds_training", "of the last call"},
	{"seconds_evaluating", "of the last call"},
	{"seconds_waiting", "of the last call: ready to go on, but no thread was free"},
	{"examples_per_second", "trained ones, in the last call"},
	{"parameters", "numbers that the model consists of"},
	{"state_digest", "equal for equal models"},
	{"best_iteration", "of what early stopping watches"},
	{"learning_rate", "of the next iteration"},
	{"validation_table", "packed table that models were compared by"},
	{"model", "table of models"},
	{"model_info", "table with a row per configuration"},
	{"num_iterations", "passes over the training data"},
	{"metrics_compute_frequency", "metrics were taken at every so many iterations"},
	{"warm_start", "whether training went on from earlier models"},
	{"start_training_time", "when the call began"},
	{"end_training_time", "when the call ended"},
	{"madlib_version", "for MADlib's sake: version of model_hopper"},
	{"threads", "threads that trained"},
	{"dtype", "what products of layers were computed in"},
	{"training_metrics_mode", "how training metrics were taken: running, final or every"},
	{"validation_freq", "models were validated at every so many iterations"},
	{"numerics_class", "models of one class can be continued and compared bit by bit"},
	{"seconds", "that the call took"},
	{"seconds_busy", "of all threads together, in which they trained or evaluated"},
	{"models_trained", "how many"},
	{"models_failed", "how many"},
	{"best_mst_key", "the best configuration"},
	{"best_metric", "what the best configuration is the best by"},
	{"best_value", "its value"},
	{"source_checksum", "of the training data"},
	{"validation_checksum", "of the validation data"},
	{"training_rows", "rows trained on"},
	{"validation_rows", "rows validated on"},
	{"version", "of model_hopper"},

	/* evaluation and prediction */
	{"loss", "loss on these data"},
	{"metric", "the first of metrics"},
	{"metrics", "values, in the order of metrics_type"},
	{"row_id", "index of the class"},
	{"class", "the class; NULL where a place has none"},
	{"confusion_arr", "examples of this class by predicted class, in the order of row_id"},
	{"examples", "examples of this class"},
	{"predicted", "examples that were predicted to be of this class"},
	{"precision", "share of the right ones among those predicted"},
	{"recall", "share of those found among those that there are"},
	{"f1_score", "harmonic mean of precision and recall"},
	{"class_name", "label column of the training data"},
	{"class_value", "class"},
	{"prob", "probability of the class"},
	{"rank", "1: the most probable class"},
};

/* NULL where the name means nothing. */
static const char *
meaning_of(const char *column)
{
	for (int i = 0; i < lengthof(meanings); i++)
		if (strcmp(meanings[i].column, column) == 0)
			return meanings[i].meaning;
	return NULL;
}

void
hopper_comment_table(const hopper_name *table, const char *comment)
{
	Oid			relation = hopper_relation_oid(table, false);
	Relation	opened = relation_open(relation, AccessShareLock);

	hopper_create_comments(relation, RelationRelationId, 0, comment);
	/* By the table's columns: the server's cache keeps each name that a table was asked for. */
	for (int i = 0; i < RelationGetNumberOfAttributes(opened); i++)
	{
		Form_pg_attribute column = TupleDescAttr(RelationGetDescr(opened), i);
		const char *meaning = column->attisdropped ? NULL : meaning_of(NameStr(column->attname));

		if (meaning)
			hopper_create_comments(relation, RelationRelationId, column->attnum, meaning);
	}
	relation_close(opened, NoLock);
	CommandCounterIncrement();
}

void
hopper_comment_column(const hopper_name *table, const char *column, const char *comment)
{
	Oid			relation = hopper_relation_oid(table, false);
	AttrNumber	number = get_attnum(relation, column);

	if (number != InvalidAttrNumber)
		hopper_create_comments(relation, RelationRelationId, number, comment);
	CommandCounterIncrement();
}
