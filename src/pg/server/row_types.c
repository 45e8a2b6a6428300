/*
 * row_types.c
 *		The one comparison of fetched rows with what was looked up.
 */
#include "pg/server/row_types.h"

void
hopper_refuse_changed(const char *shown, const char *detail)
{
	hopper_unmet(errmsg("\"%s\" changed while it was in use", shown),
				 errdetail("%s", detail),
				 errhint("Let nobody replace it, its columns or their types meanwhile, "
						 "functions of its own included."));
	pg_unreachable();
}

void
hopper_require_first_types(TupleDesc descriptor, int n, const Oid *types, const char *shown)
{
	for (int i = 0; i < n; i++)
	{
		Form_pg_attribute column = TupleDescAttr(descriptor, i);

		if (column->attisdropped)
			hopper_refuse_changed(shown, psprintf("Its column %d is gone.", i + 1));
		if (OidIsValid(types[i]) && column->atttypid != types[i])
			hopper_refuse_changed(shown,
								  psprintf("Column \"%s\" is of type %s now; it was of type %s.",
										   NameStr(column->attname),
										   format_type_be(column->atttypid),
										   format_type_be(types[i])));
	}
}

void
hopper_require_row_types(TupleDesc descriptor, int n, const Oid *types, const char *shown)
{
	if (descriptor->natts != n)
		hopper_refuse_changed(shown, psprintf("Its rows have %d columns instead of %d.",
											  descriptor->natts, n));
	hopper_require_first_types(descriptor, n, types, shown);
}
