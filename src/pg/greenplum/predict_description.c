/*
 * predict_description.c
 *		A prediction as bytes for the segments.
 */
#include "pg/greenplum/predict.h"

static void
pass_output(hopper_wire *wire, hopper_predict_model *model)
{
	model->class_name = hopper_wire_required_text(wire, model->class_name);
	model->link = (hopper_link) hopper_wire_between(wire, model->link, HOPPER_LINK_NONE,
													HOPPER_LINK_SOFTMAX);
	model->link_width = hopper_wire_int(wire, model->link_width);
	model->is_value = hopper_wire_bool(wire, model->is_value);
	hopper_wire_array_in(wire, &model->scale, 1, sizeof(model->scale));
	model->is_array = hopper_wire_bool(wire, model->is_array);
	model->is_each = hopper_wire_bool(wire, model->is_each);
	model->class_type = hopper_wire_oid(wire, model->class_type);
	if (wire->reads && model->is_each && model->class_type != INT2OID &&
		model->class_type != INT4OID && model->class_type != INT8OID &&
		model->class_type != TEXTOID)
		hopper_refuse_description();
	/* what does not fit the values is an array of one dimension */
	model->rank = (int) hopper_wire_between(wire, model->rank, 0, HOPPER_MAX_RANK);
	for (int i = 0; i < model->rank; i++)
		model->shape[i] = hopper_wire_int(wire, model->shape[i]);
	model->n_classes = (int) hopper_wire_between(wire, model->n_classes, 0, PACK_MAX_CLASSES);
	model->n_class_values = hopper_wire_count(wire, model->n_class_values, sizeof(int64));
	model->class_values = hopper_wire_texts(wire, model->class_values, model->n_class_values);
	/* among the outputs: hopper_predict_bind_outputs() looks */
	model->first = hopper_wire_int(wire, model->first);
	model->count = hopper_wire_int32(wire, model->count);
}

static void
pass_model(hopper_wire *wire, hopper_predict_model *model)
{
	model->shown = hopper_wire_required_text(wire, model->shown);
	model->model_arch = hopper_wire_bytes(wire, model->model_arch, &model->model_arch_size);
	if (model->model_arch == NULL)
		hopper_refuse_description();
	hopper_wire_floats(wire, &model->weights);
	model->data.desc.normalizing_const =
		hopper_wire_number(wire, model->data.desc.normalizing_const);
	model->layer = hopper_wire_text(wire, model->layer);
	pass_output(wire, model);
	model->n_parts = (int) hopper_wire_between(wire, model->n_parts, 0, HOPPER_MAX_OUTPUTS);
	model->parts = hopper_wire_items(wire, model->parts, model->n_parts,
									 sizeof(hopper_predict_model));
	for (int i = 0; i < model->n_parts; i++)
	{
		model->parts[i].shown = model->shown;
		pass_output(wire, &model->parts[i]);
	}
}

/* A type whose values the role could make in any statement of its own. */
static void
require_label_type(Oid type)
{
	AclResult	result;

	if (get_typtype(type) == TYPTYPE_PSEUDO)
		hopper_refuse_description();
	result = pg_type_aclcheck(type, GetUserId(), ACL_USAGE);
	if (result != ACLCHECK_OK)
		aclcheck_error_type(result, type);
}

/* The labels as text: their type has the same number on all segments. */
static void
pass_labels(hopper_wire *wire, hopper_prediction *run)
{
	run->labels.oid = hopper_wire_oid(wire, run->labels.type || wire->reads ? run->labels.oid
									  : InvalidOid);
	if (!OidIsValid(run->labels.oid))
		return;
	if (wire->reads)
		require_label_type(run->labels.oid);
	run->labels.n = hopper_wire_count(wire, run->labels.n, sizeof(int64));
	run->labels.values = hopper_wire_items(wire, run->labels.values, run->labels.n, sizeof(Datum));
	run->labels.nulls = hopper_wire_items(wire, run->labels.nulls, run->labels.n, sizeof(bool));
	for (int i = 0; i < run->labels.n; i++)
	{
		char	   *label = wire->reads || run->labels.nulls[i] ? NULL
			: hopper_text_of(run->labels.oid, run->labels.values[i]);

		label = hopper_wire_text(wire, label);
		run->labels.nulls[i] = label == NULL;
		if (wire->reads && label)
			run->labels.values[i] = hopper_value_of(run->labels.oid, label);
	}
}

typedef struct described_prediction
{
	hopper_prediction run;
	int			threads;		/* hopper.threads of the coordinator */
	int			segments_on_host;
} described_prediction;

static void
pass_prediction(hopper_wire *wire, void *thing)
{
	described_prediction *described = thing;
	hopper_prediction *run = &described->run;

	pass_model(wire, &run->model);
	pass_labels(wire, run);
	run->what.kind = (hopper_predict_kind) hopper_wire_between(wire, run->what.kind, PREDICT_ALL,
															   PREDICT_COLUMNS);
	run->what.k = hopper_wire_natural(wire, run->what.k);
	run->what.threshold = hopper_wire_number(wire, run->what.threshold);
	hopper_pack_wire_source(wire, &run->rows);
	run->rows.may_lack = hopper_wire_bool(wire, run->rows.may_lack);
	hopper_pack_wire_values(wire, &run->values, run->rows.n_x, run->rows.x);
	described->threads = (int) hopper_wire_between(wire, described->threads, 0,
												   HOPPER_MAX_THREADS);
	described->segments_on_host = hopper_wire_natural(wire, described->segments_on_host);
}

static const hopper_description prediction_description = {
	HOPPER_DESCRIBES_PREDICTION, pass_prediction, sizeof(described_prediction)
};

bytea *
hopper_predict_describe(const hopper_prediction *run, int segments_on_host)
{
	described_prediction sent = {*run, hopper_threads, segments_on_host};

	return hopper_describe(&prediction_description, &sent);
}

void
hopper_predict_read_description(const bytea *description, hopper_prediction *run)
{
	described_prediction read;

	hopper_read_description(description, &prediction_description, &read);
	*run = read.run;
	run->source = run->rows.name;
	/* which a value's unit comes from, too */
	run->model.schema = run->values.schema;
	run->work.threads = hopper_segment_threads(read.threads, read.segments_on_host);
}
