/*
 * claim.c
 *		names_like() and claim_names(): what auto_fit() and cross_validate() are going to make, and
 *		what they refuse before they read a row; show_as(): what messages call it.
 */
#include "pg/search/automl.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "utils/acl.h"
#include "utils/array.h"

#include "pg/catalog/models.h"
#include "pg/pack/pack.h"
#include "pg/train/outputs.h"
#include "pg/train/store.h"

/* What auto_fit() says of its views and its table, by which it knows them again. */
#define KEPT_APART "rows that auto_fit() keeps apart"
#define STEPS "what auto_fit() did"

/* What is there has to be of this kind, with this comment. */
static bool
claim_commented(const hopper_name *name, char kind, const char *comment)
{
	Oid			relation = hopper_relation_oid(name, false);

	if (!hopper_any(hopper_select_latest("SELECT 1 FROM pg_class c JOIN pg_description d"
										 " ON d.objoid = c.oid AND d.objsubid = 0"
										 " AND d.classoid = 'pg_class'::regclass"
										 " WHERE c.oid = %u AND c.relkind = '%c'"
										 " AND strpos(d.description, %s) = 1", relation, kind,
										 hopper_literal(comment))))
		hopper_raise(ERRCODE_WRONG_OBJECT_TYPE, errmsg("\"%s\" cannot be replaced", name->shown),
					 errdetail("It is not a %s that hopper.auto_fit() made.",
							   kind == 'v' ? "view" : "table"),
					 errhint("Choose another name."));
	if (!hopper_is_owner(relation))
		aclcheck_error(ACLCHECK_NOT_OWNER, HOPPER_OBJECT_TABLE, name->shown);
	hopper_claim_name(name);
	return true;
}

/* Networks that others have added stay. */
static bool
claim_networks(const hopper_name *name)
{
	Oid			relation = hopper_require_model_table(name);

	if (!hopper_is_owner(relation))
		aclcheck_error(ACLCHECK_NOT_OWNER, HOPPER_OBJECT_TABLE, name->shown);
	/* This one stays, and networks are added to it. */
	if (hopper_hides_rows(relation))
		hopper_raise(ERRCODE_INSUFFICIENT_PRIVILEGE,
					 errmsg("row-level security of \"%s\" holds for its owner, too", name->shown),
					 errdetail("It may hide networks that are to be replaced, and refuse new "
							   "ones."),
					 errhint("Let its owner write it: ALTER TABLE %s NO FORCE ROW LEVEL SECURITY",
							 name->quoted));
	return false;
}

typedef enum claim_kind
{
	/* A relation of its own: */
	CLAIM_NEW,
	CLAIM_VIEW,
	CLAIM_NETWORKS,
	CLAIM_STEPS,
	/* Tables that go together: */
	CLAIM_CONFIGS,
	CLAIM_PACKED,
	CLAIM_TEST,
	CLAIM_SEARCH,
	CLAIM_PASSING				/* models that are dropped before the function ends */
} claim_kind;

static const char *const claim_words[] = {
	[CLAIM_NEW] = "new",[CLAIM_VIEW] = "view",[CLAIM_NETWORKS] = "networks",
	[CLAIM_STEPS] = "steps",[CLAIM_CONFIGS] = "configs",[CLAIM_PACKED] = "packed",
	[CLAIM_TEST] = "test",[CLAIM_SEARCH] = "search",[CLAIM_PASSING] = "passing",
};

/* Whether something is there that will be replaced. */
static bool
claim(claim_kind kind, const hopper_name *name, bool replace)
{
	hopper_table tables[Max(HOPPER_MODEL_TABLES, PACK_TABLES)];
	int			n = HOPPER_CONFIGS_TABLES;

	if (kind < CLAIM_CONFIGS &&
		(kind == CLAIM_NEW || !replace || !OidIsValid(hopper_relation_oid(name, true))))
	{
		hopper_require_absent(name);
		return false;
	}
	switch (kind)
	{
		case CLAIM_VIEW:
			return claim_commented(name, 'v', KEPT_APART);
		case CLAIM_STEPS:
			return claim_commented(name, 'r', STEPS);
		case CLAIM_NETWORKS:
			return claim_networks(name);
		case CLAIM_PACKED:
		case CLAIM_TEST:
			return hopper_pack_make_room(name, kind == CLAIM_PACKED, replace, tables);
		case CLAIM_CONFIGS:
			hopper_search_config_tables(name, tables);
			break;
		default:
			n = hopper_search_model_tables(name, tables);
			break;
	}
	return kind == CLAIM_PASSING ? hopper_make_room(tables, HOPPER_OUTPUT_TABLES, false)
		: hopper_make_room(tables, n, replace);
}

typedef struct claimed
{
	claim_kind	kind;
	hopper_name name;
} claimed;

static claimed *
read_outputs(ArrayType *outputs, const hopper_name *name, int *n_claimed)
{
	Datum	   *texts;
	bool	   *nulls;
	int			n = hopper_elements(outputs, &texts, &nulls);
	claimed    *all = palloc(Max(n, 1) * sizeof(claimed));

	*n_claimed = 0;
	for (int i = 0; i + 1 < n; i += 2)
	{
		const char *kind = nulls[i] ? "" : TextDatumGetCString(texts[i]);
		const char *ending = nulls[i + 1] ? "" : TextDatumGetCString(texts[i + 1]);

		CHECK_FOR_INTERRUPTS();
		for (int k = 0; k < lengthof(claim_words); k++)
			if (strcmp(claim_words[k], kind) == 0)
				all[(*n_claimed)++] = (claimed)
		{
			(claim_kind) k, *ending ? hopper_name_with_suffix(name, ending) : *name
		};
	}
	return all;
}

/* Said of the name that the user gave, whichever of the tables is there. */
static void
refuse_taken(const hopper_name *name, const claimed *outputs, int n, bool replaceable)
{
	StringInfo	there = makeStringInfo();
	int			n_there = 0;

	for (int i = 0; i < n; i++)
	{
		if (!OidIsValid(hopper_relation_oid(&outputs[i].name, true)))
			continue;
		if (n_there++ < 3)
			appendStringInfo(there, "%s\"%s\"", n_there > 1 ? ", " : "", outputs[i].name.shown);
	}
	if (n_there == 0)
		return;
	if (n_there > 3)
		appendStringInfo(there, " and %d more", n_there - 3);
	hopper_raise(ERRCODE_DUPLICATE_TABLE, errmsg("the name \"%s\" is taken", name->shown),
				 errdetail("%s already %s.", there->data, n_there == 1 ? "exists" : "exist"),
				 replaceable ? errhint("Choose another name, or pass replace => true to take the "
									   "place of what an earlier call has made.")
				 : errhint("Choose another name, or drop it first."));
}

/* The temporary ones among them, as a list for DROP VIEW. */
static char *
temporary_views(const claimed *outputs, int n)
{
	StringInfo	list = makeStringInfo();

	for (int i = 0; i < n; i++)
	{
		Oid			found = RelnameGetRelid(outputs[i].name.name);

		if (OidIsValid(found) && get_rel_relkind(found) == RELKIND_VIEW &&
			isTempNamespace(get_rel_namespace(found)))
			appendStringInfo(list, "%spg_temp.%s", list->len ? ", " : "",
							 hopper_identifier(outputs[i].name.name));
	}
	return list->data;
}

/*
 * Statements that name it would find another one, such as a temporary table, or the view that an
 * earlier call has made of one.
 */
static void
refuse_hidden(const claimed *outputs, int n)
{
	for (int i = 0; i < n; i++)
	{
		const hopper_name *name = &outputs[i].name;
		bool		searched = !name->qualified && name->schema != NULL;
		Oid			found = searched ? RelnameGetRelid(name->name) : InvalidOid;
		char	   *views;

		if (!OidIsValid(found) || found == hopper_relation_oid(name, true))
			continue;
		views = temporary_views(outputs, n);
		if (!isTempNamespace(get_rel_namespace(found)))
			hopper_raise(ERRCODE_DUPLICATE_TABLE,
						 errmsg("\"%s\" is found in schema \"%s\", and would be made in \"%s\"",
								name->name, get_namespace_name(get_rel_namespace(found)),
								name->schema),
						 errhint("Choose another name, or write the schema before it."));
		hopper_raise(ERRCODE_DUPLICATE_TABLE,
					 errmsg("a temporary %s \"%s\" hides what would be made in \"%s\"",
							get_rel_relkind(found) == RELKIND_VIEW ? "view" : "table", name->name,
							name->schema),
					 *views ? errdetail("Views of a temporary table are temporary, also those that "
										"an earlier call has made.") : 0,
					 *views ? errhint("Drop what is left of it: DROP VIEW %s", views)
					 : errhint("Choose another name, or drop it first."));
	}
}

static void
refuse_while_made(const hopper_name *name)
{
	int64		run = hopper_store_making(name, 0);

	if (run != 0)
		hopper_raise(ERRCODE_OBJECT_IN_USE,
					 errmsg("run " INT64_FORMAT " is making \"%s\"", run, name->shown),
					 errhint("Choose another name, wait for the run with hopper.wait(" INT64_FORMAT
							 "), or end it with hopper.cancel(" INT64_FORMAT ").", run, run));
}

/* names_like(name, argument, longest): longest is an ending that has to fit. */
HOPPER_FUNCTION(hopper_sql_names_like)
{
	hopper_name name = hopper_name_argument(fcinfo, 0, hopper_string_argument(fcinfo, 1));
	StringInfo	pattern = makeStringInfo();
	bool		quoted = false;

	(void) hopper_name_with_suffix(&name, hopper_string_argument(fcinfo, 2));
	for (const char *c = hopper_written_name(&name); *c; c++)
	{
		quoted = *c == '"' && c[1] == '\0';
		if (!quoted)
			appendStringInfoChar(pattern, *c);
		if (*c == '%')
			appendStringInfoChar(pattern, '%');
	}
	appendStringInfoString(pattern, quoted ? "%s\"" : "%s");
	PG_RETURN_TEXT_P(cstring_to_text(pattern->data));
}

/*
 * claim_names(name, outputs, replace, source): outputs are pairs of a kind and an ending of the
 * name. Who asked for a model of the source has written no view: messages do not name these.
 */
HOPPER_FUNCTION(hopper_sql_claim_names)
{
	hopper_name name = hopper_name_argument(fcinfo, 0, "name");
	bool		replace = !PG_ARGISNULL(2) && PG_GETARG_BOOL(2);
	bool		replaces = false;
	bool		searches = false;
	claimed    *outputs;
	hopper_name source;
	int			n;

	hopper_require_argument(fcinfo, 1, "outputs");
	hopper_require_argument(fcinfo, 3, "source");
	source = hopper_name_of(PG_GETARG_OID(3));
	hopper_connect();
	outputs = read_outputs(PG_GETARG_ARRAYTYPE_P(1), &name, &n);
	for (int i = 0; i < n; i++)
		searches |= outputs[i].kind == CLAIM_SEARCH;
	if (hopper_taker_of_fits && !hopper_taker_of_fits->several)
		hopper_raise(ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("this function trains several times"));
	if (hopper_taker_of_fits)
		hopper_taker_of_fits->waits = true;
	refuse_while_made(&name);
	if (!replace)
		refuse_taken(&name, outputs, n, searches);
	refuse_hidden(outputs, n);
	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		replaces |= claim(outputs[i].kind, &outputs[i].name, replace);
		if (outputs[i].kind == CLAIM_VIEW)
			hopper_show_as(&outputs[i].name, &source);
	}
	hopper_finish();
	PG_RETURN_BOOL(replaces);
}

/* show_as(name, shown) */
HOPPER_FUNCTION(hopper_sql_show_as)
{
	hopper_name name = hopper_name_argument(fcinfo, 0, "name");
	hopper_name as = {.shown = hopper_string_argument(fcinfo, 1)};

	hopper_show_as(&name, &as);
	PG_RETURN_VOID();
}
