/*
 * call.c
 *		The statement of a run, and the settings that it depends on.
 */
#include "pg/run/call.h"

#include "tcop/tcopprot.h"

void
hopper_require_one_select(const char *statement)
{
	List	   *parsed = pg_parse_query(statement);

	if (list_length(parsed) == 1 && IsA(hopper_raw_statement(linitial(parsed)), SelectStmt))
		return;
	hopper_wrong(errmsg("a run is made of one SELECT that calls a function that trains"),
				 errhint("For example: SELECT hopper.submit($$SELECT "
						 "hopper.fit_multiple_model('packed', 'models', 'configs', 10)$$);"));
}

char *
hopper_settings_text(void)
{
	static const char *const names[] = {"hopper.memory_limit", "hopper.mix_numerics",
	"hopper.notice_interval", "hopper.threads"};
	StringInfo	text = makeStringInfo();

	for (int i = 0; i < lengthof(names); i++)
		appendStringInfo(text, "%s=%s\n", names[i], hopper_setting(names[i]));
	return text->data;
}

void
hopper_apply_settings(const char *search_path, const char *settings)
{
	char	   *rest = pstrdup(settings ? settings : "");
	char	   *line;

	if (search_path)
		hopper_set_for_now("search_path", search_path);
	while ((line = strsep(&rest, "\n")) != NULL)
	{
		char	   *value = strchr(line, '=');

		if (value == NULL)
			continue;
		*value++ = '\0';
		hopper_set_for_now(line, value);
	}
}
