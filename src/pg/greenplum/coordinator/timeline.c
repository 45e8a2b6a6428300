/*
 * timeline.c
 *		What the seconds of the statements on the segments went to.
 */
#include "pg/greenplum/coordinator/timeline.h"

void
hopper_segment_timeline_begin(hopper_segment_timeline *timeline, hopper_training *training,
							  const hopper_hops *hops, TimestampTz run_started)
{
	memset(timeline, 0, sizeof(*timeline));
	timeline->training = training;
	timeline->hops = hops;
	timeline->run_started = run_started;
	hopper_grow(timeline->statements, 1, timeline->allocated);
	hopper_grow(timeline->visits, 1, timeline->allocated_visits);
}

void
hopper_segment_timeline_statement(hopper_segment_timeline *timeline, TimestampTz then)
{
	hopper_statement *statement;

	hopper_grow(timeline->statements, timeline->n_statements + 1, timeline->allocated);
	statement = &timeline->statements[timeline->n_statements++];
	statement->started = hopper_seconds_between(timeline->run_started, then);
	statement->seconds = hopper_seconds_since(then);
	statement->working = 0;
}

void
hopper_segment_timeline_visit(hopper_segment_timeline *timeline, const hopper_visit *visit,
							  int since)
{
	hopper_statement_visit entry = {*visit, since + Max(visit->hop, 0)};

	hopper_grow(timeline->visits, timeline->n_visits + 1, timeline->allocated_visits);
	timeline->visits[timeline->n_visits++] = entry;
}

/*
 * The statement of a visit. A model whose segment had lost its data sat out a statement; its later
 * ones are then taken for the statement before, or for the last.
 */
static hopper_statement *
statement_of(const hopper_segment_timeline *timeline, const hopper_statement_visit *visit)
{
	return &timeline->statements[Min(visit->statement, timeline->n_statements - 1)];
}

static double
end_of(const hopper_visit *visit)
{
	return visit->started + visit->read + visit->train + visit->evaluate;
}

static int
config_of(const hopper_training *training, int32 mst_key)
{
	int			at = hopper_training_place(training, mst_key);

	if (at >= 0)
		return at;
	elog(ERROR, "the segments told of configuration %d, which is not in the run", mst_key);
}

void
hopper_segment_timeline_settle(hopper_segment_timeline *timeline)
{
	hopper_training *training = timeline->training;
	int			n = timeline->n_statements > 0 ? timeline->n_visits : 0;

	for (int i = 0; i < n; i++)
	{
		hopper_statement *statement = statement_of(timeline, &timeline->visits[i]);

		/* clocks of several hosts may differ in their speed, a little */
		statement->working = Min(Max(statement->working, end_of(&timeline->visits[i].visit)),
								 statement->seconds);
	}
	for (int i = 0; i < n; i++)
	{
		const hopper_statement_visit *entry = &timeline->visits[i];
		hopper_visit visit = entry->visit;
		const hopper_statement *statement = statement_of(timeline, entry);
		double		hopping = statement->seconds - statement->working;
		bool		first = i == 0 || entry[-1].visit.mst_key != visit.mst_key ||
			entry[-1].statement != entry->statement;
		bool		last = i + 1 == n || entry[1].visit.mst_key != visit.mst_key ||
			entry[1].statement != entry->statement;

		/* the barrier */
		if (last)
			visit.wait += Max(statement->working - end_of(&visit), 0);
		if (first)
			visit.hopping = hopping;
		/* half of the moving before the work, half of it after */
		visit.started += statement->started + hopping / 2;
		hopper_timeline_add(training->timeline, config_of(training, visit.mst_key),
							hopper_hops_segment(timeline->hops, visit.worker), &visit);
	}
	for (int i = 0; i < timeline->n_statements; i++)
		training->info.seconds_hop += (timeline->statements[i].seconds -
									   timeline->statements[i].working) *
			training->info.n_workers;
	timeline->n_statements = 0;
	timeline->n_visits = 0;
}
