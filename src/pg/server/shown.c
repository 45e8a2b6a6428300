/*
 * shown.c
 *		What messages call tables: tables in the making by the names that they will have.
 *
 * What is to replace other tables is filled under names that nobody has (server/tables.c), which
 * say nothing to users. They are known here until the exchange, so that whatever names such a
 * table on the way, a function that is called by a statement of ours say, calls it what the user
 * does.
 */
#include "pg/server/glue.h"

typedef struct making
{
	struct making *next;
	hopper_guard *guard;
	char	   *schema;
	char	   *name;			/* those of its companions begin with it and "_" */
	char	   *shown;
} making;

/* Tables in the making, of statements that have not ended. */
static making *makings = NULL;

static void
forget(void *handle)
{
	making	   *gone = handle;

	for (making **at = &makings; *at; at = &(*at)->next)
		if (*at == gone)
		{
			*at = gone->next;
			break;
		}
	free(gone->schema);
	free(gone->name);
	free(gone->shown);
	free(gone);
}

char *
hopper_name_shown(const char *schema, bool qualified, const char *name)
{
	for (const making *one = makings; one && schema; one = one->next)
	{
		size_t		length = strlen(one->name);

		if (strcmp(schema, one->schema) == 0 && strncmp(name, one->name, length) == 0 &&
			(name[length] == '\0' || name[length] == '_'))
			return psprintf("%s%s", one->shown, name + length);
	}
	return qualified ? psprintf("%s.%s", schema, name) : pstrdup(name);
}

void
hopper_show_as(const hopper_name *name, const hopper_name *as)
{
	making	   *made = calloc(1, sizeof(making));

	if (made)
	{
		made->schema = strdup(name->schema);
		made->name = strdup(name->name);
		made->shown = strdup(as->shown);
	}
	if (made == NULL || made->schema == NULL || made->name == NULL || made->shown == NULL)
	{
		if (made)
			forget(made);
		hopper_raise(ERRCODE_OUT_OF_MEMORY, errmsg("out of memory"));
	}
	made->guard = hopper_guard_add(made, forget);
	made->next = makings;
	makings = made;
}

void
hopper_show_itself(const hopper_name *name)
{
	for (making *one = makings; one; one = one->next)
		if (strcmp(name->schema, one->schema) == 0 && strcmp(name->name, one->name) == 0)
		{
			hopper_guard_release(one->guard);
			return;
		}
}
