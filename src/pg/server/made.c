/*
 * made.c
 *		Tables that the functions make. They are ordinary tables, which users rename, copy and drop:
 *		they are known by their columns, and nothing else keeps account of them.
 */
#include "pg/server/made.h"

#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/comment.h"
#include "commands/defrem.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#define MAX_COLUMNS 8
#define MAX_TABLES 8

/* Columns that others' tables hardly have all of, and what drops such tables. */
static const struct
{
	const char *what;
	const char *drop;
	const char *columns[MAX_COLUMNS + 1];
} kinds[] =
{
	[HOPPER_MADE_MODELS] =
	{"a table of trained models", "hopper.drop_model()",
	{"mst_key", "model_weights", "model_arch"}},
	[HOPPER_MADE_STATES] =
	{"a table of states of training", NULL, {"mst_key", "part", "state"}},
	[HOPPER_MADE_INFOS] =
	{"a table of metrics of training", NULL,
	{"mst_key", "compile_params", "metrics_iters", "model_type", "state_digest"}},
	[HOPPER_MADE_RUN] =
	{"a summary of training", NULL,
	{"model", "model_info", "start_training_time", "source_checksum", "independent_shape"}},
	[HOPPER_MADE_TRIALS] =
	{"a table of a search's trials", NULL,
	{"mst_key", "parameters", "iterations", "value", "status", "parent", "compile_params"}},
	[HOPPER_MADE_DECISIONS] =
	{"a table of a search's decisions", NULL,
	{"number", "decision", "mst_key", "s", "i", "reason", "virtual_time"}},
	[HOPPER_MADE_RUNGS] =
	{"a table of a search's results", NULL,
	{"mst_key", "iterations", "objectives", "constraints", "kept", "virtual_time"}},
	[HOPPER_MADE_PACKED] =
	{"a packed table", "hopper.drop_packed()",
	{"partition_id", "buffer_id", "n", "checksum"}},
	[HOPPER_MADE_PACKED_SUMMARY] =
	{"a summary of packed data", NULL,
	{"output_table", "independent_shape", "label_kind", "packed_bytes", "training_table",
	"format_version"}},
	[HOPPER_MADE_PREDICTIONS] = {"a table of predictions", NULL, {NULL}},
	[HOPPER_MADE_EVALUATION] =
	{"a table of an evaluation", NULL, {"loss", "metric", "metrics_type", "loss_type", "metrics"}},
	[HOPPER_MADE_CONFUSION] =
	{"a confusion table", NULL,
	{"row_id", "class", "confusion_arr", "examples", "predicted", "recall", "f1_score"}},
	[HOPPER_MADE_CONFIGS] =
	{"a model selection table", NULL, {"mst_key", "model_id", "compile_params", "fit_params"}},
	[HOPPER_MADE_CONFIGS_SUMMARY] =
	{"a summary of a model selection table", NULL, {"model_arch_table", "object_table"}},
};

/* Columns that some version's tables lack: what they called them, or NULL for nothing like them. */
static const struct
{
	const char *now;
	const char *before;
	bool		needed;			/* to read what it goes with, where it is not NULL */
} changed[] =
{
	{"training_metrics_mode", "training_metrics", true},	/* 0.1.0 */
	{"dtype", "precision", true},
	{"inputs", NULL, true},
	{"outputs", NULL, true},
	{"padding", NULL, true},
	{"class_counts", NULL, false},
	{"label_range", NULL, false},
	{"validation_freq", NULL, false},
};

const char *
hopper_column_there(Oid relation, const char *column)
{
	if (get_attnum(relation, column) != InvalidAttrNumber)
		return column;
	for (int i = 0; i < lengthof(changed); i++)
		if (strcmp(column, changed[i].now) == 0)
			return changed[i].before == NULL ||
				get_attnum(relation, changed[i].before) != InvalidAttrNumber
				? changed[i].before : column;
	return column;
}

bool
hopper_column_needed(const char *column)
{
	for (int i = 0; i < lengthof(changed); i++)
		if (strcmp(column, changed[i].now) == 0)
			return changed[i].needed;
	return true;
}

const char *
hopper_column_selected(Oid relation, const char *column)
{
	const char *there = hopper_column_there(relation, column);

	return there ? hopper_identifier(there) : "NULL::pg_catalog.text";
}

const char *
hopper_made_drop(hopper_made_kind kind)
{
	return kinds[kind].drop;
}

const char *
hopper_made_what(hopper_made_kind kind)
{
	return kinds[kind].what;
}

const char *const *
hopper_made_columns(hopper_made_kind kind)
{
	return kinds[kind].columns;
}

bool
hopper_is_gone(Oid relation)
{
	return get_rel_relkind(relation) == '\0';
}

/* Also of another kind, whose columns are more than those of this one. */
bool
hopper_is_made_alone(Oid relation, hopper_made_kind kind)
{
	for (int i = 0; i < lengthof(kinds); i++)
		if (i != (int) kind && i != HOPPER_MADE_PREDICTIONS &&
			hopper_is_made(relation, (hopper_made_kind) i))
			return false;
	return hopper_is_made(relation, kind);
}

static bool
begins_with(Form_pg_attribute column, const char *text)
{
	return strncmp(NameStr(column->attname), text, strlen(text)) == 0;
}

/*
 * Predictions are an id and classes, or an id and predicted values with their probabilities, one or
 * of several outputs, or an id and what a layer gives, which only its comment tells from others'
 * arrays.
 */
static bool
has_predictions(Relation relation)
{
	TupleDesc	descriptor = RelationGetDescr(relation);
	static const char *const classes[] = {"class_name", "class_value", "prob"};
	int			n_predicted = 0;

	if (descriptor->natts == 2 && TupleDescAttr(descriptor, 1)->atttypid == FLOAT4ARRAYOID)
	{
		const char *comment = GetComment(RelationGetRelid(relation), RelationRelationId, 2);

		if (comment && strcmp(comment, HOPPER_LAYER_COMMENT) == 0)
			return true;
	}
	while (n_predicted + 1 < descriptor->natts &&
		   (begins_with(TupleDescAttr(descriptor, n_predicted + 1), "predicted_") ||
			(n_predicted > 0 &&
			 begins_with(TupleDescAttr(descriptor, n_predicted + 1), "prob_"))))
		n_predicted++;
	if (n_predicted > 0)
		return n_predicted == descriptor->natts - 1;
	for (int i = 0; i < lengthof(classes); i++)
		if (descriptor->natts < 2 + i ||
			strcmp(NameStr(TupleDescAttr(descriptor, 1 + i)->attname), classes[i]) != 0)
			return false;
	return true;
}

bool
hopper_is_made(Oid relation, hopper_made_kind kind)
{
	Relation	opened;
	bool		found;

	if (get_rel_relkind(relation) != RELKIND_RELATION)
		return false;
	for (int i = 0; kinds[kind].columns[i]; i++)
		if (get_attnum(relation, kinds[kind].columns[i]) == InvalidAttrNumber)
			return false;
	if (kind != HOPPER_MADE_PREDICTIONS)
		return true;
	opened = relation_open(relation, AccessShareLock);
	found = has_predictions(opened);
	relation_close(opened, AccessShareLock);
	return found;
}

/* --- locks --- */

static int
compare_groups(const void *a, const void *b)
{
	const hopper_made_group *one = a;
	const hopper_made_group *other = b;

	return strcmp(one->tables[0].name.quoted, other->tables[0].name.quoted);
}

void
hopper_lock_made(const hopper_made_group *groups, int n)
{
	hopper_made_group *ordered = memcpy(palloc(n * sizeof(*ordered)), groups,
										n * sizeof(*ordered));

	qsort(ordered, n, sizeof(*ordered), compare_groups);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < ordered[i].n; j++)
			(void) hopper_lock_if_there(&ordered[i].tables[j].name,
										ordered[i].alone ? AccessExclusiveLock : AccessShareLock,
										ordered[i].alone ? "ACCESS EXCLUSIVE" : "ACCESS SHARE");
	pfree(ordered);
}

void
hopper_lock_to_read(const hopper_made *tables, int n)
{
	hopper_lock_made(&(hopper_made_group) {.tables = tables,.n = n}, 1);
}

int
hopper_drop_made(const hopper_made *tables, int n, char **words)
{
	StringInfoData query;
	StringInfoData shown;
	const hopper_made *there[MAX_TABLES];
	int			n_there = 0;

	for (int i = 0; i < n; i++)
		if (OidIsValid(hopper_relation_oid(&tables[i].name, true)))
			there[n_there++] = &tables[i];
	initStringInfo(&query);
	initStringInfo(&shown);
	for (int i = 0; i < n_there; i++)
	{
		hopper_lock_table(&there[i]->name, AccessExclusiveLock, "ACCESS EXCLUSIVE");
		appendStringInfo(&query, "%s%s", i ? ", " : "DROP TABLE ", there[i]->name.quoted);
		appendStringInfo(&shown, "%s\"%s\"", i == 0 ? "" : i < n_there - 1 ? ", " : " and ",
						 there[i]->name.shown);
	}
	if (n_there > 0)
		hopper_exec("%s", query.data);
	if (words)
		*words = shown.data;
	return n_there;
}

/* --- names --- */

void
hopper_name_like(const hopper_name *name, const hopper_made *tables, int n, hopper_made *named)
{
	size_t		first = strlen(tables[0].name.name);

	for (int i = 0; i < n; i++)
	{
		const char *end = tables[i].name.name + first;

		named[i].kind = tables[i].kind;
		/* Without its "_". */
		named[i].name = *end == '\0' ? *name : hopper_name_with_suffix(name, end + 1);
	}
}

static bool
is_any_there(const hopper_made *tables, int n)
{
	for (int i = 0; i < n; i++)
		if (OidIsValid(hopper_relation_oid(&tables[i].name, true)))
			return true;
	return false;
}

void
hopper_name_elsewhere(const hopper_made *tables, int n, const char *prefix, hopper_made *named)
{
	hopper_name beside = tables[0].name;
	int			number = MyProcPid;

	beside.name = pstrdup(prefix);
	do
	{
		hopper_name name = hopper_name_with_suffix(&beside, psprintf("%d", number++));

		hopper_name_like(&name, tables, n, named);
	} while (is_any_there(named, n));
}

void
hopper_name_new(const hopper_made *tables, int n, const char *what, hopper_made *named)
{
	hopper_name_elsewhere(tables, n, psprintf("hopper_new%s", what), named);
	hopper_show_as(&named[0].name, &tables[0].name);
	for (int i = 0; i < n; i++)
		named[i].name = hopper_name_itself(&named[i].name);
}

/* Those that the server has named after the table; a name that somebody gave one stays. */
static void
rename_not_nulls(Oid relation, const char *old_name, const hopper_name *new_name)
{
	uint64		n = hopper_select_latest("SELECT conname::text, attname::text FROM pg_constraint"
										 " JOIN pg_attribute ON attrelid = conrelid"
										 "  AND attnum = conkey[1]"
										 " WHERE conrelid = %u AND contype = 'n'", relation);
	SPITupleTable *found = SPI_tuptable;

	for (uint64 row = 0; row < n; row++)
	{
		const char *name;
		const char *column;

		SPI_tuptable = found;
		SPI_processed = n;
		name = hopper_cell(row, 1);
		column = hopper_cell(row, 2);
		if (strcmp(name, makeObjectName(old_name, column, "not_null")) == 0)
			hopper_exec("ALTER TABLE %s RENAME CONSTRAINT %s TO %s", new_name->quoted,
						hopper_identifier(name),
						hopper_identifier(makeObjectName(new_name->name, column, "not_null")));
	}
	SPI_freetuptable(found);
}

void
hopper_rename_made(const hopper_name *table, const hopper_name *new_name)
{
	Oid			relation = hopper_relation_oid(table, false);
	hopper_name key = *new_name;
	char	   *old_key;

	hopper_lock_table(table, AccessExclusiveLock, "ACCESS EXCLUSIVE");
	hopper_exec("ALTER TABLE %s RENAME TO %s", table->quoted, hopper_identifier(new_name->name));
	if (HOPPER_NAMES_NOT_NULL)
		rename_not_nulls(relation, table->name, new_name);
	if (hopper_select_latest("SELECT relname::text FROM pg_index JOIN pg_class"
							 " ON pg_class.oid = indexrelid WHERE indrelid = %u AND indisprimary",
							 relation) == 0)
		return;
	old_key = hopper_cell(0, 1);
	SPI_freetuptable(SPI_tuptable);
	key.name = makeObjectName(new_name->name, NULL, "pkey");
	/* A name for the eye: where another index has it, it stays as it is. */
	if (!OidIsValid(hopper_relation_oid(&key, true)))
		hopper_exec("ALTER INDEX %s.%s RENAME TO %s", hopper_identifier(new_name->schema),
					hopper_identifier(old_key), hopper_identifier(key.name));
}

static hopper_grants *
note_grants(const hopper_made *tables, int n)
{
	hopper_grants *grants = palloc(sizeof(hopper_grants));

	grants->n = 0;
	grants->tables = palloc(n * sizeof(hopper_name));
	grants->rights = palloc(n * sizeof(hopper_rights *));
	for (int i = 0; i < n; i++)
	{
		if (!OidIsValid(hopper_relation_oid(&tables[i].name, true)))
			continue;
		grants->tables[grants->n] = tables[i].name;
		grants->rights[grants->n++] = hopper_rights_of(&tables[i].name);
	}
	return grants;
}

hopper_grants *
hopper_drop_to_replace(const hopper_made *tables, int n)
{
	hopper_grants *grants = note_grants(tables, n);

	(void) hopper_drop_made(tables, n, NULL);
	return grants;
}

void
hopper_grant_again(const hopper_grants *grants)
{
	for (int i = 0; grants && i < grants->n; i++)
	{
		if (!OidIsValid(hopper_relation_oid(&grants->tables[i], true)))
			continue;
		hopper_close_table(&grants->tables[i]);
		hopper_give_rights(grants->rights[i], &grants->tables[i]);
	}
}
