/*
 * problems.c
 *		From the problems of many configurations to one report.
 *
 * A mistake in a grid is in every configuration that the grid makes. The report shows it once, with
 * the keys that it concerns.
 */
#include "pg/catalog/problems.h"

#include "access/hash.h"
#include "utils/hsearch.h"

/* A report longer than this helps nobody; check_configs() has the rest. */
#define MAX_SHOWN 50

typedef struct problem_group
{
	const hopper_problem *problem;	/* the first of its kind */
	int			n_keys;
	int			allocated;
	int32	   *keys;			/* ascending as the problems are */
} problem_group;

void
hopper_add_problem(hopper_problems *problems, hopper_problem problem)
{
	hopper_grow(problems->items, problems->n + 1, problems->allocated);
	problem.order = problems->n;
	problems->items[problems->n++] = problem;
}

static int
compare_problems(const void *a, const void *b)
{
	const hopper_problem *x = a;
	const hopper_problem *y = b;

	CHECK_FOR_INTERRUPTS();
	if (x->mst_key != y->mst_key)
		return x->mst_key < y->mst_key ? -1 : 1;
	if (x->is_error != y->is_error)
		return x->is_error ? -1 : 1;
	return x->order - y->order;
}

void
hopper_sort_problems(hopper_problems *problems)
{
	if (problems->n > 1)
		qsort(problems->items, problems->n, sizeof(hopper_problem), compare_problems);
}

static void
add_rows(hopper_problems *problems, const hopper_rows *rows)
{
	enum
	{
		KEY, SEVERITY, CODE, MESSAGE, DETAIL, HINT, N_COLUMNS
	};
	int			row;

	if (rows->n_columns != N_COLUMNS)
		elog(ERROR, "the core reports problems in an unknown form");
	for (row = 0; row < rows->n_rows; row++)
	{
		const char *const *cells = rows->cells + (size_t) row * N_COLUMNS;
		hopper_problem problem;

		problem.mst_key = atoi(cells[KEY]);
		problem.is_error = strcmp(cells[SEVERITY], "error") == 0;
		problem.sqlstate = hopper_sqlstate(atoi(cells[CODE]));
		problem.message = hopper_from_utf8(cells[MESSAGE]);
		problem.detail = cells[DETAIL] && cells[DETAIL][0] ? hopper_from_utf8(cells[DETAIL]) : NULL;
		problem.hint = cells[HINT] && cells[HINT][0] ? hopper_from_utf8(cells[HINT]) : NULL;
		hopper_add_problem(problems, problem);
	}
}

/* What of the configurations is checked between two looks at cancel. */
#define CHECKED_AT_ONCE 256
#define BYTES_CHECKED_AT_ONCE (16 * 1024 * 1024)

static int
end_of_part(const hopper_config *configs, int from, int n)
{
	size_t		bytes = 0;
	int			end = from;

	do
	{
		bytes += configs[end].model_arch_size + configs[end].n_weights * sizeof(float);
		end++;
	}
	while (end < n && end - from < CHECKED_AT_ONCE && bytes < BYTES_CHECKED_AT_ONCE);
	return end;
}

static void
check_part(hopper_problems *problems, const hopper_config *configs, int n,
		   const hopper_data_desc *desc)
{
	hopper_rows *rows = hopper_made(hopper_core()->check_configs(configs, n, desc, HOPPER_MADE));

	add_rows(problems, rows);
	pfree(rows);
}

void
hopper_add_core_problems(hopper_problems *problems, const hopper_config *configs, int n,
						 const hopper_data_desc *desc)
{
	for (int from = 0, end; from < n; from = end)
	{
		end = end_of_part(configs, from, n);
		check_part(problems, configs + from, end - from, desc);
		CHECK_FOR_INTERRUPTS();
	}
}

/* --- groups of equal problems --- */

/* The key of the hash table is a pointer to a problem; its words are what is compared. */
static uint32
hash_problem(const void *key, Size size)
{
	const hopper_problem *problem = *(const hopper_problem *const *) key;
	const char *texts[] = {problem->message, problem->detail, problem->hint};
	uint32		hash = (uint32) problem->sqlstate;

	for (int i = 0; i < lengthof(texts); i++)
	{
		const char *words = texts[i] ? texts[i] : "";

		hash = (hash << 5 | hash >> 27) ^
			DatumGetUInt32(hash_any((const unsigned char *) words, (int) strlen(words)));
	}
	return hash;
}

static bool
same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* As a hash table wants it: 0 where they are the same. */
static int
differ(const void *x, const void *y, Size size)
{
	const hopper_problem *a = *(const hopper_problem *const *) x;
	const hopper_problem *b = *(const hopper_problem *const *) y;

	return !(a->sqlstate == b->sqlstate && same_text(a->message, b->message) &&
			 same_text(a->detail, b->detail) && same_text(a->hint, b->hint));
}

typedef struct known_problem
{
	const hopper_problem *problem;	/* the key */
	int			group;
} known_problem;

static void
add_key(problem_group *group, int32 key)
{
	if (group->n_keys > 0 && group->keys[group->n_keys - 1] == key)
		return;
	hopper_grow(group->keys, group->n_keys + 1, group->allocated);
	group->keys[group->n_keys++] = key;
}

/*
 * Groups of equal problems of one severity, in order of first appearance. All are counted, the
 * first MAX_SHOWN are there.
 */
static problem_group *
group_problems(const hopper_problems *problems, bool is_error, int *n_groups)
{
	problem_group *groups = palloc0(sizeof(problem_group) * (MAX_SHOWN + 1));
	HASHCTL		control = {0};
	HTAB	   *known;

	control.keysize = sizeof(hopper_problem *);
	control.entrysize = sizeof(known_problem);
	control.hash = hash_problem;
	control.match = differ;
	control.hcxt = CurrentMemoryContext;
	known = hash_create("hopper problems", 256, &control,
						HASH_ELEM | HASH_FUNCTION | HASH_COMPARE | HASH_CONTEXT);
	*n_groups = 0;
	for (int i = 0; i < problems->n; i++)
	{
		const hopper_problem *problem = &problems->items[i];
		known_problem *entry;
		bool		found;

		CHECK_FOR_INTERRUPTS();
		if (problem->is_error != is_error)
			continue;
		entry = hash_search(known, &problem, HASH_ENTER, &found);
		if (!found)
		{
			entry->group = (*n_groups)++;
			if (entry->group < MAX_SHOWN)
				groups[entry->group].problem = problem;
		}
		if (entry->group < MAX_SHOWN)
			add_key(&groups[entry->group], problem->mst_key);
	}
	hash_destroy(known);
	return groups;
}

/* "configuration 3", "configurations 1-4, 7" */
static char *
keys_shown(const problem_group *group)
{
	StringInfo	text = makeStringInfo();
	int			first = 0;

	appendStringInfoString(text, group->n_keys == 1 ? "configuration " : "configurations ");
	while (first < group->n_keys)
	{
		int			last = first;

		while (last + 1 < group->n_keys && group->keys[last + 1] == group->keys[last] + 1)
			last++;
		if (first > 0)
			appendStringInfoString(text, ", ");
		if (text->len > 200)
		{
			appendStringInfoString(text, "...");
			break;
		}
		if (last > first)
			appendStringInfo(text, "%d-%d", group->keys[first], group->keys[last]);
		else
			appendStringInfo(text, "%d", group->keys[first]);
		first = last + 1;
	}
	return text->data;
}

/* The problem's own detail, and whom it concerns where that is not obvious; or NULL. */
static char *
group_detail(const problem_group *group, int n_configs)
{
	const char *detail = group->problem->detail;

	if (n_configs == 1)
		return detail ? pstrdup(detail) : NULL;
	return psprintf("%s%sThis concerns %s.", detail ? detail : "", detail ? " " : "",
					keys_shown(group));
}

/* Configurations with errors; the problems are sorted. */
static int
count_failing(const hopper_problems *problems)
{
	int			count = 0;
	const hopper_problem *last = NULL;
	int			i;

	for (i = 0; i < problems->n; i++)
	{
		const hopper_problem *problem = &problems->items[i];

		if (problem->is_error && (last == NULL || last->mst_key != problem->mst_key))
		{
			last = problem;
			count++;
		}
	}
	return count;
}

static void
throw_groups(const hopper_problems *problems, const problem_group *groups, int n_groups,
			 int n_configs)
{
	const hopper_problem *first = groups[0].problem;
	StringInfo	detail = makeStringInfo();
	int			g;

	if (n_groups == 1)
	{
		char	   *only_detail = group_detail(&groups[0], n_configs);

		hopper_raise(first->sqlstate, errmsg_internal("%s", first->message),
					 only_detail ? errdetail_internal("%s", only_detail) : 0,
					 first->hint ? errhint("%s", first->hint) : 0);
	}
	for (g = 0; g < n_groups; g++)
	{
		const hopper_problem *problem = groups[g].problem;

		if (g > 0)
			appendStringInfoChar(detail, '\n');
		if (g == MAX_SHOWN)
		{
			appendStringInfo(detail, "There are %d more.", n_groups - g);
			break;
		}
		if (n_configs > 1)
		{
			char	   *keys = keys_shown(&groups[g]);

			keys[0] = pg_toupper((unsigned char) keys[0]);
			appendStringInfo(detail, "%s: ", keys);
		}
		else
			appendStringInfo(detail, "%d. ", g + 1);
		appendStringInfo(detail, "%s.", problem->message);
		if (problem->detail)
			appendStringInfo(detail, " %s", problem->detail);
		if (problem->hint)
			appendStringInfo(detail, " %s", problem->hint);
	}
	hopper_raise(first->sqlstate,
				 n_configs == 1 ? errmsg("the configuration has %d problems", n_groups)
				 : errmsg("%d of %d configurations have problems", count_failing(problems),
						  n_configs),
				 errdetail_internal("%s", detail->data),
				 errhint("hopper.check_configs() lists the problems of a selection table as "
						 "rows."));
}

void
hopper_report_problems(hopper_problems *problems, int n_configs)
{
	int			n_groups;
	problem_group *groups;
	int			g;

	hopper_sort_problems(problems);
	groups = group_problems(problems, true, &n_groups);
	if (n_groups > 0)
		throw_groups(problems, groups, n_groups, n_configs);
	groups = group_problems(problems, false, &n_groups);
	for (g = 0; g < Min(n_groups, MAX_SHOWN); g++)
	{
		const hopper_problem *problem = groups[g].problem;
		char	   *detail = group_detail(&groups[g], n_configs);

		ereport(WARNING, errcode(problem->sqlstate),
				errmsg_internal("%s", problem->message),
				detail ? errdetail_internal("%s", detail) : 0,
				problem->hint ? errhint("%s", problem->hint) : 0);
	}
	if (n_groups > MAX_SHOWN)
		ereport(WARNING,
				errmsg("there are %d more warnings about configurations", n_groups - MAX_SHOWN),
				errhint("hopper.check_configs() lists the problems of a selection table as rows."));
}
