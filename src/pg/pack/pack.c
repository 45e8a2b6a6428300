/*
 * pack.c
 *		training_preprocessor() and validation_preprocessor(): the course of packing.
 */
#include "pg/pack/pack.h"

#include "portability/instr_time.h"

/* A packed table, its summary and, of a split, its validation table: their number. */
static int
tables_of(const hopper_name *packed, bool split, hopper_table *tables)
{
	hopper_name validation;

	tables[0] = (hopper_table) {*packed, HOPPER_TABLE_PACKED};
	tables[1] = (hopper_table) {hopper_name_with_suffix(packed, "summary"),
	HOPPER_TABLE_PACKED_SUMMARY};
	if (!split)
		return 2;
	validation = hopper_name_with_suffix(packed, "validation");
	tables[2] = (hopper_table) {validation, HOPPER_TABLE_PACKED};
	tables[3] = (hopper_table) {hopper_name_with_suffix(&validation, "summary"),
	HOPPER_TABLE_PACKED_SUMMARY};
	return PACK_TABLES;
}

typedef struct split_search
{
	const hopper_name *packed;
	bool		found;
} split_search;

/* Schema and name, as a summary holds them. */
static bool
read_names(const char *written, char **schema, char **name)
{
	List	   *parts;

	if (written == NULL || !SplitIdentifierString(pstrdup(written), '.', &parts) ||
		list_length(parts) != 2)
		return false;
	*schema = linitial(parts);
	*name = lsecond(parts);
	return true;
}

/*
 * Whether rows for validation that lie beside `packed` were put aside when it was packed: the names
 * that both had then say so, whatever their schema is called now. Where both have been renamed
 * since, nothing may have the training table's old name.
 */
static bool
goes_with(const hopper_name *packed, const char *training, const char *validation)
{
	char	   *schema;
	char	   *name;
	char	   *own_schema;
	char	   *own_name;
	hopper_name beside;

	if (!read_names(training, &schema, &name) || !read_names(validation, &own_schema, &own_name) ||
		strcmp(schema, own_schema) != 0)
		return training && strcmp(training, packed->quoted) == 0;
	beside = hopper_name_beside(packed, name);
	return strcmp(name, packed->name) == 0 ||
		(strcmp(own_name, psprintf("%s_validation", name)) == 0 &&
		 !OidIsValid(hopper_relation_oid(&beside, true)));
}

static void
look_for_split(void *state)
{
	split_search *search = state;
	hopper_table tables[PACK_TABLES];
	Oid			owner;

	(void) tables_of(search->packed, true, tables);
	for (int i = 2; i < PACK_TABLES; i++)
	{
		Oid			relation = hopper_relation_oid(&tables[i].name, true);

		if (!hopper_is_table(relation, tables[i].kind) || !hopper_is_owner(relation))
			return;
	}
	owner = hopper_owner(hopper_source_oid(&tables[3].name));
	/* Another session that packs the same may have been waited for. */
	PushActiveSnapshot(GetTransactionSnapshot());
	/* It is his own, if not by name: a superuser's, or that of a role he is a member of. */
	search->found = hopper_select_as(owner, psprintf("SELECT training_table, output_table FROM %s"
													 " LIMIT 1", tables[3].name.quoted)) > 0 &&
		goes_with(search->packed, hopper_cell(0, 1), hopper_cell(0, 2));
	PopActiveSnapshot();
}

/*
 * Whether rows of a split lie beside a packed table, or lay beside one that is gone. No lock stays,
 * which would come before those of the tables that these belong to.
 */
static bool
has_split(const hopper_name *packed)
{
	split_search search = {.packed = packed};
	ErrorData  *error = hopper_look(look_for_split, &search);

	/* Beside a name as long as names may be there is none. */
	if (error && error->sqlerrcode != ERRCODE_UNDEFINED_TABLE &&
		error->sqlerrcode != ERRCODE_NAME_TOO_LONG)
		ReThrowError(error);
	return search.found;
}

bool
hopper_pack_make_room(const hopper_name *packed, bool split, bool replace, hopper_table *tables)
{
	int			n = tables_of(packed, split, tables);

	/* Rows for validation that were packed for other data stay. */
	if (split && !has_split(packed))
		for (int i = 2; i < n; i++)
			hopper_require_absent(&tables[i].name);
	return hopper_make_room(tables, n, replace);
}

/* What is there and may be replaced stays until the new tables are filled. */
static void
make_room(hopper_pack_job *job)
{
	const hopper_pack_request *request = &job->request;
	hopper_making *making = &job->making;

	hopper_require_other_table(&request->output, "output_table", &request->source,
							   "source_table");
	if (request->validation)
		hopper_require_other_table(&request->output, "output_table", &request->training.table,
								   "packed_table");
	making->n = hopper_pack_is_split(request) ? PACK_TABLES : 2;
	making->replaces = hopper_pack_make_room(&request->output, making->n > 2, request->replace,
											 making->tables);
	memcpy(making->made, making->tables, sizeof(making->made));
	if (!making->replaces)
		return;
	/* Rows that the old table had put aside may be among those that the new one is trained on. */
	if (!request->validation && making->n == 2 && has_split(&request->output))
		making->n = tables_of(&request->output, true, making->tables);
	hopper_name_new(making->tables, making->n, "", making->made);
}

/* What is computed is in the place of the old tables, or stays where it was made. */
static void
replace_tables(const hopper_pack_job *job)
{
	const hopper_table *made = job->making.made;

	if (hopper_making_end(&job->making))
		return;
	for (int i = 0; i < job->making.n; i += 2)
		if (OidIsValid(hopper_relation_oid(&made[i + 1].name, true)))
			hopper_change("UPDATE %s SET output_table = %s, training_table = %s",
						  made[i + 1].name.quoted, hopper_literal(made[i].name.quoted),
						  i > 0 ? hopper_literal(made[0].name.quoted) : "training_table");
}

/* Greenplum: each segment's share of the rows. */
static char *
shares(const hopper_pack_output *output)
{
	StringInfo	text = makeStringInfo();

	appendStringInfoString(text, "Rows on the segments from 0 on: ");
	for (int i = 0; i < output->n_all_segments; i++)
		appendStringInfo(text, "%s%s", i ? ", " : "", hopper_count_words(output->segment_rows[i]));
	appendStringInfoChar(text, '.');
	return text->data;
}

/* "The labels are 3 classes: "a", "b", "c"." */
static char *
labels_sentence(const hopper_pack_job *job)
{
	StringInfo	text = makeStringInfo();

	if (job->n_outputs > 0)
	{
		for (int i = 0; i < job->n_outputs; i++)
			appendStringInfo(text, "%s%s%s", i ? " " : "",
							 job->n_outputs > 1 ? psprintf("Output \"%s\": ",
														   job->outputs[i].name) : "",
							 labels_sentence(job->parts[i]));
		return text->data;
	}
	if (job->y_kind == HOPPER_LABEL_CLASS)
		appendStringInfo(text, "The labels are %s: %s.",
						 hopper_plural(job->classes.n, "class", "classes"),
						 hopper_pack_list_classes(&job->classes));
	else if (job->y_kind == HOPPER_LABEL_ARRAY)
		appendStringInfoString(text, "The labels are arrays.");
	else if (job->least_label && job->largest_label)
		appendStringInfo(text, "The labels are numbers from %s to %s.%s", job->least_label,
						 job->largest_label, job->may_be_classes
						 ? " All are whole: where they are classes, cast the column to integer in "
						 "a view." : "");
	else
		appendStringInfoString(text, "The labels are numbers.");
	if (job->n_unlabelled > 0)
		appendStringInfo(text, " %s without a label %s left out.",
						 hopper_plural(job->n_unlabelled, "row", "rows"),
						 job->n_unlabelled == 1 ? "is" : "are");
	return text->data;
}

static void
report(const hopper_pack_job *job, const hopper_pack_output *training,
	   const hopper_pack_output *validation, double seconds)
{
	char	   *also = "";
	char	   *hint = hopper_pack_scales_hint(job);
	int64		bytes = training->bytes;
	int64		n_buffers = training->n_buffers;

	if (validation)
	{
		also = psprintf(", %s for validation", hopper_count_words(validation->n_rows));
		bytes += validation->bytes;
		n_buffers += validation->n_buffers;
	}
	ereport(NOTICE,
			errmsg("packed %s of \"%s\" into %d %s%s, %s, %s in %.1f s",
				   hopper_plural(training->n_rows, "row", "rows"), job->source.name.shown,
				   training->partitions, training->partitions == 1 ? "partition" : "partitions",
				   also, hopper_plural(n_buffers, "buffer", "buffers"),
				   hopper_bytes_words(bytes), seconds),
			errdetail("%s%s%s%s", labels_sentence(job), job->padded ? job->padded : "",
					  training->segment_rows ? "\n" : "",
					  training->segment_rows ? shares(training) : ""),
			hint ? errhint("%s", hint) : 0);
}

/* Packs; SPI is connected. Returns the number of rows of the source. */
static int64
pack(hopper_pack_job *job)
{
	const hopper_pack_request *request = &job->request;
	bool		split = hopper_pack_is_split(request);
	hopper_pack_output training;
	hopper_pack_output validation;
	instr_time	start, end;

	INSTR_TIME_SET_CURRENT(start);
	hopper_pack_open_source(&job->request, &job->source);
	make_room(job);
	hopper_pack_survey(job);
	hopper_pack_require_free_names(job);
	hopper_pack_set_features(job);
	hopper_pack_set_labels(job);
	hopper_pack_create_tables(job, split ? PACK_TABLES : 2);
	hopper_pack_read_labels(job);
	hopper_pack_set_padding(job);
	hopper_backend.pack(job, &training, &validation);

	hopper_pack_summary_write(job, &training,
							  request->validation ? request->training.table.quoted : NULL);
	if (split)
		hopper_pack_summary_write(job, &validation, request->output.quoted);
	replace_tables(job);
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, start);
	report(job, &training, split ? &validation : NULL, INSTR_TIME_GET_DOUBLE(end));
	return job->n_rows;
}

HOPPER_SPI_FUNCTION(hopper_sql_training_preprocessor)
{
	hopper_pack_job *job = palloc0(sizeof(hopper_pack_job));

	hopper_pack_training_arguments(fcinfo, &job->request);
	PG_RETURN_INT64(pack(job));
}

HOPPER_SPI_FUNCTION(hopper_sql_validation_preprocessor)
{
	hopper_pack_job *job = palloc0(sizeof(hopper_pack_job));

	hopper_pack_validation_arguments(fcinfo, &job->request);
	PG_RETURN_INT64(pack(job));
}

/* drop_packed(packed_table) -> number of tables; with the rows that its split put aside */
HOPPER_SPI_FUNCTION(hopper_sql_drop_packed)
{
	hopper_name packed = hopper_name_argument(fcinfo, 0, "packed_table");
	hopper_table tables[PACK_TABLES];
	char	   *words;
	int			n;

	n = tables_of(&packed, has_split(&packed), tables);
	for (int i = 0; i < n; i++)
	{
		Oid			relation = hopper_relation_oid(&tables[i].name, true);

		if (!OidIsValid(relation))
			continue;
		if (!hopper_is_table(relation, tables[i].kind))
			hopper_raise(ERRCODE_WRONG_OBJECT_TYPE,
						 errmsg("\"%s\" is not a table that packing made", tables[i].name.shown),
						 i == 0 && hopper_is_table(relation, HOPPER_TABLE_MODELS)
						 ? errhint("It holds models, which hopper.drop_model() drops.")
						 : errhint("Give the table that hopper.training_preprocessor() or "
								   "hopper.validation_preprocessor() made."));
		if (!hopper_is_owner(relation))
			aclcheck_error(ACLCHECK_NOT_OWNER, HOPPER_OBJECT_TABLE, tables[i].name.shown);
	}
	n = hopper_drop_tables(tables, n, &words);
	if (n > 0)
		ereport(NOTICE, errmsg("dropped %s", words));
	else
		ereport(NOTICE,
				errmsg("there is no packed table \"%s\", nothing was dropped", packed.shown));
	PG_RETURN_INT32(n);
}
