/*
 * load_hops.c
 *		The data of a run into the memory of the segments.
 */
#include "pg/greenplum/coordinator/hops.h"

#include "access/xact.h"

#include "pg/greenplum/wire.h"

/* "(1), (2)" */
static char *
key_rows(const int32 *keys, int n)
{
	StringInfo	words = makeStringInfo();

	for (int i = 0; i < n; i++)
		appendStringInfo(words, "%s(%d)", i > 0 ? ", " : "", keys[i]);
	return words->data;
}

static uint64
load_splits(hopper_hops *hops, const hopper_packed *train, const hopper_packed *valid)
{
	const hopper_packed *splits[] = {train, valid};
	const hopper_segment_run *run = hops->run;
	int			n;
	/* Of the segments with training data. */
	const int32 *keys = hopper_distinct_keys(run->train_keys, run->train.n_partitions, &n);

	return hopper_calls_once(
		hopper_calls_over_buffers("segment_data($1, $2, k, s, p, b, n, x, y, c), k", splits,
								  run->everywhere ? key_rows(keys, n) : NULL),
		false, SPI_OK_SELECT,
		HOPPER_PARAMS(HOPPER_INT8(hops->run->id), HOPPER_BYTEA(hops->description)));
}

/* What segment_load_end() returned in row `row` of SPI_tuptable: three lines. */
typedef struct answer
{
	int			segment;
	char	   *class;
	char	   *build;
	hopper_data_plan plan;
} answer;

static answer
read_answer(uint64 row)
{
	char	   *text = hopper_cell(row, 1);
	char	   *lines[3] = {text};
	answer		found = {0};
	hopper_data_plan *plan = &found.plan;

	for (int i = 1; i < lengthof(lines) && lines[i - 1]; i++)
		if ((lines[i] = strchr(lines[i - 1], '\n')) != NULL)
			*lines[i]++ = '\0';
	if (lines[2] == NULL ||
		sscanf(lines[2], "%d %d " INT64_FORMAT " " INT64_FORMAT " " INT64_FORMAT " %d",
			   &found.segment, &plan->max_reads, &plan->bytes_data, &plan->bytes_models,
			   &plan->bytes_aside, &plan->n_waiting) != 6)
		elog(ERROR, "a segment returned an unknown answer");
	found.class = lines[0];
	found.build = lines[1];
	return found;
}

static void
refuse_differences(const answer *first, const answer *other)
{
	if (strcmp(first->build, other->build) != 0)
		hopper_unmet(errmsg("segments have different builds of model_hopper"),
					 errdetail("Segment %d has %s; segment %d has %s.", first->segment,
							   first->build, other->segment, other->build),
					 errhint("Install the libraries of one build on all hosts, and reconnect."));
	if (strcmp(first->class, other->class) != 0)
		hopper_unmet(errmsg("segments have different numerics classes"),
					 errdetail("Segment %d has \"%s\"; segment %d has \"%s\".", first->segment,
							   first->class, other->segment, other->class),
					 errhint("Install the same libraries on all hosts; their CPUs must have the "
							 "same vector instructions."));
}

/* The answers that are in SPI_tuptable; the first of all is `first`. */
static void
take_answers(hopper_hops *hops, uint64 n, answer *first)
{
	hopper_data_plan *most = &hops->plan;

	for (uint64 row = 0; row < n; row++)
	{
		answer		other = read_answer(row);

		if (hops->n_keys == 0)
			*first = other;
		refuse_differences(first, &other);
		most->max_reads = Max(most->max_reads, other.plan.max_reads);
		most->bytes_data = Max(most->bytes_data, other.plan.bytes_data);
		most->bytes_models = Max(most->bytes_models, other.plan.bytes_models);
		most->bytes_aside = Max(most->bytes_aside, other.plan.bytes_aside);
		most->n_waiting = Max(most->n_waiting, other.plan.n_waiting);
		hops->keys[hops->n_keys] = hopper_key_cell(NULL, row, 2);
		hops->segments[hops->n_keys++] = other.segment;
	}
	SPI_freetuptable(SPI_tuptable);
}

char *
hopper_hops_load(hopper_hops *hops)
{
	const hopper_segment_run *run = hops->run;
	int			most_keys = 2 * run->train.n_partitions + run->valid.n_partitions;
	answer		first = {0};
	bool		at_once;

	/*
	 * The run's number is another one after a loss: all segments begin anew. And who trains is
	 * known when the data are loaded.
	 */
	hops->description = hopper_describe(&hopper_run_description, run);
	/* Else a statement that only reads would be a transaction of its own on the segments. */
	ExecutorMarkTransactionDoesWrites();
	hops->loaded = true;
	hops->n_keys = 0;
	hops->keys = palloc(most_keys * sizeof(int32));
	hops->segments = palloc(most_keys * sizeof(int32));
	memset(&hops->plan, 0, sizeof(hops->plan));
	/* What stays where it lies would move if it were read together. */
	at_once = run->everywhere || hops->valid == NULL;
	take_answers(hops, load_splits(hops, hops->train, at_once ? hops->valid : NULL), &first);
	if (hops->n_keys == 0)
		elog(ERROR, "no segment has loaded data of \"%s\"", hops->train->table.shown);
	if (!at_once)
		take_answers(hops, load_splits(hops, NULL, hops->valid), &first);
	return first.class;
}

int32
hopper_hops_segment(const hopper_hops *hops, int32 key)
{
	for (int i = 0; i < hops->n_keys; i++)
		if (hops->keys[i] == key)
			return hops->segments[i];
	return -1;
}
