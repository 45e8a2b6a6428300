/*
 * claim.c
 *		claim_names(): what auto_fit() and cross_validate() are going to make, refused before they
 *		read a row.
 */
#include "pg/search/automl.h"

#include "catalog/pg_type.h"
#include "utils/acl.h"
#include "utils/array.h"

#include "pg/catalog/models.h"
#include "pg/pack/pack.h"
#include "pg/train/outputs.h"

/* What auto_fit() says of its views, by which it knows them again (sql/functions/auto_fit.sql). */
#define KEPT_APART "rows that auto_fit() keeps apart"

/* Each says whether something is there that will be replaced. */
typedef bool (*claimer) (const hopper_name *name, bool replace);

static bool
claim_new(const hopper_name *name, bool replace)
{
	hopper_require_absent(name);
	return false;
}

static bool
claim_view(const hopper_name *name, bool replace)
{
	Oid			relation = hopper_relation_oid(name, true);

	if (!OidIsValid(relation) || !replace)
		return claim_new(name, replace);
	if (!hopper_any(hopper_select_latest("SELECT 1 FROM pg_class c JOIN pg_description d"
										 " ON d.objoid = c.oid AND d.objsubid = 0"
										 " AND d.classoid = 'pg_class'::regclass"
										 " WHERE c.oid = %u AND c.relkind = 'v'"
										 " AND d.description = %s", relation,
										 hopper_literal(KEPT_APART))))
		hopper_raise(ERRCODE_WRONG_OBJECT_TYPE, errmsg("\"%s\" cannot be replaced", name->shown),
					 errdetail("It is not a view that hopper.auto_fit() made."),
					 errhint("Choose another name."));
	hopper_claim_name(name);
	return true;
}

/* Networks that others have added stay. */
static bool
claim_networks(const hopper_name *name, bool replace)
{
	Oid			relation = hopper_relation_oid(name, true);

	if (!OidIsValid(relation) || !replace)
		return claim_new(name, replace);
	if (!hopper_is_owner(hopper_require_model_table(name)))
		aclcheck_error(ACLCHECK_NOT_OWNER, HOPPER_OBJECT_TABLE, name->shown);
	return false;
}

static bool
claim_configs(const hopper_name *name, bool replace)
{
	hopper_table tables[HOPPER_CONFIGS_TABLES];

	hopper_search_config_tables(name, tables);
	return hopper_make_room(tables, lengthof(tables), replace);
}

static bool
claim_packed(const hopper_name *name, bool replace)
{
	hopper_table tables[PACK_TABLES];

	return hopper_pack_make_room(name, true, replace, tables);
}

static bool
claim_test(const hopper_name *name, bool replace)
{
	hopper_table tables[PACK_TABLES];

	return hopper_pack_make_room(name, false, replace, tables);
}

static bool
claim_search(const hopper_name *name, bool replace)
{
	hopper_table tables[HOPPER_MODEL_TABLES];

	return hopper_make_room(tables, hopper_search_model_tables(name, tables), replace);
}

/* Models that are dropped before the function ends. */
static bool
claim_passing(const hopper_name *name, bool replace)
{
	hopper_table tables[HOPPER_OUTPUT_TABLES];
	hopper_outputs outputs = hopper_outputs_named(name);

	hopper_outputs_tables(&outputs, tables);
	return hopper_make_room(tables, lengthof(tables), false);
}

static const struct
{
	const char *kind;
	claimer		claim;
}			claimers[] = {
	{"new", claim_new}, {"view", claim_view}, {"networks", claim_networks},
	{"configs", claim_configs}, {"packed", claim_packed}, {"test", claim_test},
	{"search", claim_search}, {"passing", claim_passing},
};

/* claim_names(name, outputs, replace): outputs are pairs of a kind and an ending of the name. */
HOPPER_FUNCTION(hopper_sql_claim_names)
{
	hopper_name name = hopper_name_argument(fcinfo, 0, "name");
	bool		replace = !PG_ARGISNULL(2) && PG_GETARG_BOOL(2);
	bool		replaces = false;
	Datum	   *outputs;
	bool	   *nulls;
	int			n;

	if (hopper_taker_of_fits)
		hopper_raise(ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("this function trains several times, and a run trains once"),
					 errhint("Call the function itself, not through hopper.submit() or "
							 "hopper.create_run(). A search can be a run: hopper.automl()."));
	hopper_require_argument(fcinfo, 1, "outputs");
	hopper_connect();
	n = hopper_elements(PG_GETARG_ARRAYTYPE_P(1), &outputs, &nulls);
	for (int i = 0; i + 1 < n; i += 2)
	{
		const char *kind = nulls[i] ? "" : TextDatumGetCString(outputs[i]);
		const char *ending = nulls[i + 1] ? "" : TextDatumGetCString(outputs[i + 1]);
		hopper_name output = *ending ? hopper_name_with_suffix(&name, ending) : name;

		CHECK_FOR_INTERRUPTS();
		for (int k = 0; k < lengthof(claimers); k++)
			if (strcmp(claimers[k].kind, kind) == 0)
				replaces |= claimers[k].claim(&output, replace);
	}
	hopper_finish();
	PG_RETURN_BOOL(replaces);
}
