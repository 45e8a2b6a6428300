/*
 * classes.c
 *		Classes of a label column: boolean, integers, text and enums become indexes 0, 1, ...
 *
 * Classes are sorted: false before true, numbers by value, enums in their own order, text by its
 * bytes whatever the database's collation is. NULL is a class like any other and comes first.
 */
#include "pg/pack/pack.h"

/* A label of so many different whole numbers is taken for a number, of fewer for classes. */
#define FEWEST_WHOLE_NUMBERS 20

typedef struct hopper_pack_class_key
{
	int64		number;			/* PACK_BOOL, PACK_INTEGER */
	const char *text;			/* PACK_TEXT */
	int			length;
	int32		index;
} hopper_pack_class_key;

void
hopper_pack_judge_label(hopper_pack_job *job)
{
	hopper_pack_request *request = &job->request;
	const hopper_pack_column *y = &job->source.y;
	uint64		n;

	if (!request->by_schema || request->validation || request->label_kind != 0 ||
		request->num_classes > 0 || hopper_pack_label_family(y->type) != PACK_INTEGER)
		return;
	n = hopper_select("SELECT DISTINCT %s FROM %s WHERE %s IS NOT NULL LIMIT %d",
					  hopper_identifier(y->name), job->source.name.quoted,
					  hopper_identifier(y->name), FEWEST_WHOLE_NUMBERS);
	if (n < FEWEST_WHOLE_NUMBERS)
	{
		/* No and yes. */
		if (n > 2)
			ereport(NOTICE, errmsg("label column \"%s\" of \"%s\" holds %d whole numbers: they are "
								   "taken for classes", y->name, job->source.name.shown, (int) n),
					errhint("For numbers to be predicted pass label_kind => 'value'."));
		return;
	}
	request->label_kind = HOPPER_LABEL_VALUE;
	ereport(NOTICE, errmsg("label column \"%s\" of \"%s\" holds %d whole numbers or more: they "
						   "are taken for numbers to be predicted", y->name, job->source.name.shown,
						   FEWEST_WHOLE_NUMBERS),
			errhint("For classes pass label_kind => 'class', or make it a text in a view."));
}

char *
hopper_pack_label_expression(const hopper_pack_column *y, hopper_pack_family family)
{
	const char *name = hopper_identifier(y->name);

	switch (family)
	{
		case PACK_BOOL:
			return psprintf("%s::pg_catalog.int4::pg_catalog.int8", name);
		case PACK_INTEGER:
			return psprintf("%s::pg_catalog.int8", name);
		case PACK_TEXT:
			return psprintf("%s::pg_catalog.text", name);
		default:
			return pstrdup(y->expression ? y->expression : name);
	}
}

static int
compare_keys(const void *a, const void *b)
{
	const hopper_pack_class_key *x = a;
	const hopper_pack_class_key *y = b;
	int			order;

	if (x->text == NULL)
		return x->number < y->number ? -1 : x->number > y->number;
	order = memcmp(x->text, y->text, Min(x->length, y->length));
	return order ? order : x->length - y->length;
}

#define MAX_LABEL_SHOWN 100		/* bytes */

/* In quotes; of a document's length its beginning. */
static char *
shown_label(const char *label, int length)
{
	if (length <= MAX_LABEL_SHOWN)
		return psprintf("\"%.*s\"", length, label);
	return psprintf("\"%.*s...\"", pg_mbcliplen(label, length, MAX_LABEL_SHOWN), label);
}

char *
hopper_pack_list_classes(const hopper_pack_classes *classes)
{
	StringInfo	text = makeStringInfo();
	int			i;

	for (i = 0; i < classes->n && i < 10; i++)
	{
		if (i)
			appendStringInfoString(text, ", ");
		if (classes->names[i] == NULL)
			appendStringInfoString(text, "NULL");
		else if (classes->family == PACK_TEXT)
			appendStringInfoString(text, shown_label(classes->names[i],
													  (int) strlen(classes->names[i])));
		else
			appendStringInfoString(text, classes->names[i]);
	}
	if (classes->n > i)
		appendStringInfo(text, " and %d more", classes->n - i);
	return text->data;
}

void
hopper_pack_finish_classes(hopper_pack_classes *classes)
{
	int			i;

	classes->type = classes->num_classes <= 256 ? HOPPER_UINT8
		: classes->num_classes <= 32768 ? HOPPER_INT16 : HOPPER_INT32;
	classes->null_class = -1;
	classes->keys = palloc0(sizeof(hopper_pack_class_key) * (classes->n + 1));
	classes->n_keys = 0;
	for (i = 0; i < classes->n; i++)
	{
		hopper_pack_class_key *key = &classes->keys[classes->n_keys];

		if (classes->names[i] == NULL)
		{
			classes->null_class = i;
			continue;
		}
		key->index = i;
		if (classes->family == PACK_TEXT)
		{
			key->text = classes->names[i];
			key->length = strlen(classes->names[i]);
		}
		else if (classes->family == PACK_BOOL)
			key->number = classes->names[i][0] == 't';
		else
			key->number = strtoll(classes->names[i], NULL, 10);
		classes->n_keys++;
	}
	qsort(classes->keys, classes->n_keys, sizeof(hopper_pack_class_key), compare_keys);
}

void
hopper_pack_read_classes(const hopper_pack_request *request, const hopper_pack_source *source,
						 const char *labelled, hopper_pack_classes *classes)
{
	uint64		n_rows;
	uint64		row;
	bool		is_text = get_typtype(source->y.type) != TYPTYPE_ENUM &&
		hopper_pack_label_family(source->y.type) == PACK_TEXT;

	memset(classes, 0, sizeof(*classes));
	classes->family = hopper_pack_label_family(source->y.type);
	n_rows = hopper_select_at_once("SELECT s.v::pg_catalog.text FROM (SELECT DISTINCT %s%s AS v"
								   " FROM %s%s) s ORDER BY s.v NULLS FIRST LIMIT %d",
								   hopper_identifier(source->y.name),
								   is_text ? "::pg_catalog.text COLLATE pg_catalog.\"C\"" : "",
								   source->name.quoted, labelled, PACK_MAX_CLASSES + 1);
	if (n_rows > PACK_MAX_CLASSES)
		hopper_raise(ERRCODE_PROGRAM_LIMIT_EXCEEDED,
					 errmsg("column \"%s\" of \"%s\" holds more than %d classes", source->y.name,
							source->name.shown, PACK_MAX_CLASSES),
					 errhint("Is it a key? For numbers to be predicted pass label_kind => "
							 "'value'."));
	classes->n = (int) n_rows;
	classes->names = palloc0(sizeof(char *) * (n_rows + 1));
	for (row = 0; row < n_rows; row++)
		classes->names[row] = hopper_cell(row, 1);
	SPI_freetuptable(SPI_tuptable);
	classes->num_classes = Max(request->num_classes, classes->n);
	if (request->num_classes > 0 && request->num_classes < classes->n)
		hopper_wrong(errmsg("num_classes is %d but column \"%s\" of \"%s\" holds %d classes",
							request->num_classes, source->y.name, source->name.shown, classes->n),
					 errdetail("They are %s.", hopper_pack_list_classes(classes)),
					 errhint("Pass num_classes => %d or more, or leave it out.", classes->n));
	hopper_pack_finish_classes(classes);
}

void
hopper_pack_training_classes(const hopper_pack_request *request, const hopper_pack_source *source,
							 hopper_pack_classes *classes)
{
	const hopper_packed *training = &request->training;
	const hopper_data_desc *desc = &training->desc;
	Oid			trained;
	int			i;

	memset(classes, 0, sizeof(*classes));
	classes->family = hopper_pack_label_family(source->y.type);
	/* not by the type's name, which may stand for another one by now */
	trained = OidIsValid(training->class_values_type)
		? getBaseType(get_element_type(getBaseType(training->class_values_type))) : InvalidOid;
	if (OidIsValid(training->class_values_type) &&
		classes->family != hopper_pack_label_family(trained))
		hopper_raise(ERRCODE_DATATYPE_MISMATCH,
					 errmsg("column \"%s\" of \"%s\" is of type %s but \"%s\" was packed with "
							"labels of type %s", source->y.name, source->name.shown,
							source->y.sql_type, training->table.shown, training->y_sql_type),
					 errhint("Cast the column in a view."));
	classes->n = desc->n_class_values;
	classes->num_classes = desc->num_classes;
	classes->names = palloc0(sizeof(char *) * (classes->n + 1));
	for (i = 0; i < classes->n; i++)
		classes->names[i] = desc->class_values[i] ? pstrdup(desc->class_values[i]) : NULL;
	hopper_pack_finish_classes(classes);
}

int32
hopper_pack_class_index(const hopper_pack_job *label, const hopper_pack_source *source,
						Datum value, bool isnull)
{
	const hopper_pack_classes *classes = &label->classes;
	const hopper_pack_request *request = &label->request;
	hopper_pack_class_key key = {0};
	const hopper_pack_class_key *found = NULL;

	if (isnull && classes->null_class >= 0)
		return classes->null_class;
	if (!isnull)
	{
		if (classes->family == PACK_TEXT)
		{
			text	   *label = DatumGetTextPP(value);

			key.text = VARDATA_ANY(label);
			key.length = VARSIZE_ANY_EXHDR(label);
		}
		else
			key.number = DatumGetInt64(value);
		found = bsearch(&key, classes->keys, classes->n_keys, sizeof(hopper_pack_class_key),
						compare_keys);
	}
	if (found == NULL)
	{
		char	   *shown;

		if (isnull)
			shown = "NULL";
		else if (classes->family == PACK_TEXT)
			shown = shown_label(key.text, key.length);
		else if (classes->family == PACK_BOOL)
			shown = key.number ? "true" : "false";
		else
			shown = psprintf(INT64_FORMAT, key.number);
		if (!request->validation)
			hopper_unmet(errmsg("rows of \"%s\" changed while they were read", source->name.shown),
						 errdetail("%s has label %s, which was not there before.",
								   hopper_pack_row_name(source), shown),
						 errhint("Pack a table, or a view without volatile functions."));
		hopper_wrong(errmsg("column \"%s\" of \"%s\" holds a label that \"%s\" was not packed with",
							label->source.y.name, source->name.shown,
							request->training.table.shown),
					 errdetail("%s has label %s; the classes are %s.", hopper_pack_row_name(source),
							   shown, hopper_pack_list_classes(classes)),
					 errhint("Leave such rows out, or pack the training data with all classes."));
	}
	return found->index;
}
