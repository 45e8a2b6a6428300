/*
 * beside.c
 *		Where a model's tables are: <out>_info and <out>_summary, or beside tables of these names in
 *		MADlib's shape, which sql/compat/madlib.sql makes for its scripts.
 */
#include "pg/train/outputs.h"

static hopper_outputs
outputs_with(const hopper_name *model, const char *info, const char *summary)
{
	hopper_outputs outputs;

	outputs.model = *model;
	outputs.state = hopper_name_with_suffix(model, "state");
	outputs.info = hopper_name_with_suffix(model, info);
	outputs.summary = hopper_name_with_suffix(model, summary);
	return outputs;
}

static hopper_outputs
outputs_beside(const hopper_name *model)
{
	return outputs_with(model, "metrics", "run");
}

/* A table of ours, of the owner `owner`. */
static bool
is_there(const hopper_name *table, hopper_table_kind kind, Oid owner)
{
	Oid			relation = hopper_relation_oid(table, true);

	return OidIsValid(relation) && hopper_is_table(relation, kind) &&
		hopper_owner(relation) == owner;
}

hopper_outputs
hopper_outputs_named(const hopper_name *model)
{
	hopper_outputs outputs = outputs_with(model, "info", "summary");
	hopper_outputs beside = outputs_beside(model);
	Oid			relation = hopper_relation_oid(model, true);
	Oid			owner;

	if (!OidIsValid(relation) || !OidIsValid(hopper_relation_oid(&beside.summary, true)))
		return outputs;
	owner = hopper_owner(relation);
	return !is_there(&outputs.summary, HOPPER_TABLE_RUN, owner) &&
		is_there(&beside.summary, HOPPER_TABLE_RUN, owner) &&
		is_there(&beside.info, HOPPER_TABLE_INFOS, owner) ? beside : outputs;
}

/* `column` marks a table in MADlib's shape. */
static void
take_back(const hopper_table *beside, const hopper_name *name, const char *column)
{
	Oid			relation = hopper_relation_oid(&beside->name, true);
	hopper_table shaped = {*name, beside->kind};

	if (!OidIsValid(relation) || !hopper_is_table(relation, beside->kind) ||
		!hopper_is_owner(relation))
		return;
	relation = hopper_relation_oid(name, true);
	if (OidIsValid(relation))
	{
		if (hopper_is_table(relation, beside->kind) || !hopper_is_owner(relation) ||
			get_rel_relkind(relation) != RELKIND_RELATION ||
			get_attnum(relation, column) == InvalidAttrNumber)
			return;
		(void) hopper_drop_tables(&shaped, 1, NULL);
	}
	hopper_rename_table(&beside->name, name);
}

void
hopper_outputs_take_back(const hopper_name *model)
{
	hopper_outputs outputs = outputs_with(model, "info", "summary");
	hopper_outputs beside = outputs_beside(model);

	take_back(&(hopper_table) {beside.info, HOPPER_TABLE_INFOS}, &outputs.info, "loss_type");
	take_back(&(hopper_table) {beside.summary, HOPPER_TABLE_RUN}, &outputs.summary,
			  "madlib_version");
}
