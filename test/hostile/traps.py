"""Functions, operators, types and tables that take the place of pg_catalog's wherever a statement
leaves the choice to the search_path. A function that is called, by itself or for an operator, raises
an error that names it."""

import pathlib
import re

# Types for which better matches are planted than pg_catalog's own, which take any type or a wider one.
CONCRETE = ["int2", "int4", "int8", "float8", "text", "name", "oid", "bool", "tid", "xid", "_text", "_float8",
            "_int4", "_int2"]
OPERATORS = ["=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "||", "%"]
TYPES = ["json", "bytea", "text", "int2", "int4", "int8", "float4", "float8", "bool", "varchar", "oid", "name",
         "numeric", "regclass", "timestamptz", "interval", "serial", "tid"]
TABLES = ["pg_class", "pg_namespace", "pg_attribute", "pg_index", "pg_extension", "pg_type"]

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# All words of the sources: each function of pg_catalog that is one of them is planted.
WORDS = sorted({word for folder in ("src/pg", "sql") for path in (SOURCE / folder).rglob("*.*")
                for word in re.findall(r"[a-z_][a-z0-9_]*", path.read_text(encoding="utf-8"))})

BODY = "LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''planted {0}''; END'"

PLANT = r"""
DO $do$
DECLARE
    f record;
    body text;
    name text;
    made integer := 0;
BEGIN
    -- What a schema before pg_catalog in the path hides: the same signatures.
    FOR f IN
        SELECT p.proname, p.proretset,
            (SELECT string_agg(format('%%I.%%I', n.nspname, t.typname), ', ' ORDER BY a.at)
                FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY a (type, at)
                JOIN pg_type t ON t.oid = a.type JOIN pg_namespace n ON n.oid = t.typnamespace) AS arguments,
            (SELECT format('%%I.%%I', n.nspname, t.typname) FROM pg_type t
                JOIN pg_namespace n ON n.oid = t.typnamespace
                WHERE t.oid = p.prorettype AND t.typtype <> 'p') AS result
        FROM pg_proc p
        WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname = ANY (%(words)s) AND NOT EXISTS (
            SELECT FROM pg_type t WHERE t.oid = ANY (p.proargtypes) AND t.typtype = 'p'
                AND t.typname NOT IN ('anyelement', 'anyarray', 'anynonarray', 'anyenum'))
    LOOP
        body := %(body)s;
        EXECUTE format('CREATE OR REPLACE FUNCTION %%I.%%I(%%s) RETURNS %%s%%s %%s', %(schema)s, f.proname,
            f.arguments, CASE WHEN f.proretset THEN 'SETOF ' ELSE '' END,
            coalesce(f.result, 'pg_catalog.text'), replace(body, '{0}', f.proname));
        made := made + 1;
    END LOOP;
    -- What is a better match than pg_catalog's, wherever the schema stands: a type instead of any.
    FOR f IN
        SELECT DISTINCT p.proname, p.proretset, c.type,
            (SELECT string_agg('pg_catalog.' || quote_ident(CASE WHEN t.typname = 'any' OR
                t.typname LIKE 'any%%' THEN c.type ELSE t.typname END), ', ' ORDER BY a.at)
                FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY a (type, at)
                JOIN pg_type t ON t.oid = a.type) AS arguments
        FROM pg_proc p, unnest(%(types)s::text[]) AS c (type)
        WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname = ANY (%(words)s) AND EXISTS (
            SELECT FROM pg_type t WHERE t.oid = ANY (p.proargtypes)
                AND t.typname IN ('any', 'anyelement', 'anyarray', 'anynonarray')) AND NOT EXISTS (
            SELECT FROM pg_type t WHERE t.oid = ANY (p.proargtypes) AND t.typtype = 'p'
                AND t.typname NOT IN ('any', 'anyelement', 'anyarray', 'anynonarray'))
    LOOP
        BEGIN
            EXECUTE format('CREATE FUNCTION %%I.%%I(%%s) RETURNS pg_catalog.text %%s', %(schema)s,
                f.proname, f.arguments, replace(%(body)s, '{0}', f.proname));
            made := made + 1;
        EXCEPTION WHEN duplicate_function THEN NULL;
        END;
    END LOOP;
    -- Operators: all pairs of types, pg_catalog's own signatures among them.
    FOR f IN
        SELECT l.type AS l, r.type AS r
        FROM unnest(%(types)s::text[]) AS l (type), unnest(%(types)s::text[]) AS r (type)
    LOOP
        EXECUTE format('CREATE FUNCTION %%I."operator"(pg_catalog.%%I, pg_catalog.%%I)'
            ' RETURNS pg_catalog.bool %%s', %(schema)s, f.l, f.r, replace(%(body)s, '{0}', 'operator'));
        FOREACH name IN ARRAY %(operators)s::text[] LOOP
            EXECUTE format('CREATE OPERATOR %%I.%%s (LEFTARG = pg_catalog.%%I, RIGHTARG = pg_catalog.%%I,'
                ' PROCEDURE = %%I."operator")', %(schema)s, name, f.l, f.r, %(schema)s);
            made := made + 1;
        END LOOP;
    END LOOP;
    RAISE NOTICE 'planted %%', made;
END $do$
"""


def plant(cursor, schema):
    """Fills a schema that exists; a session that has it in its path is to name everything in full."""
    cursor.execute("SET check_function_bodies = off")
    cursor.execute(PLANT, {"schema": schema, "types": CONCRETE, "operators": OPERATORS, "body": BODY,
                           "words": WORDS})
    cursor.execute("RESET check_function_bodies")
    for name in TYPES:
        cursor.execute(f"CREATE DOMAIN {schema}.{name} AS pg_catalog.varchar CHECK (false)")
    for name in TABLES:
        cursor.execute(f"CREATE TABLE {schema}.{name} (planted pg_catalog.int4)")


def plant_temporary(cursor):
    """Tables, and with them types, that come before all schemas of the path."""
    for name in TYPES:
        cursor.execute(f'CREATE TEMPORARY TABLE "{name}" (planted pg_catalog.int4)')
