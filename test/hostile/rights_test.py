"""A table that takes another's place is whose the other was, and shows to nobody more of itself."""

import psycopg2
import pytest

from digits import connect, drop_database, query, value

DATABASE = "hopper_rights"
ROLES = ("hopper_rights_group", "hopper_rights_member", "hopper_rights_reader", "hopper_rights_newcomer")
GROUP, MEMBER, READER, NEWCOMER = ROLES
MODEL = """{"class_name": "Sequential", "config": {"name": "s", "layers": [
  {"class_name": "InputLayer", "config": {"batch_input_shape": [null, 2], "name": "in"}},
  {"class_name": "Dense", "config": {"name": "out", "units": 2, "activation": "softmax"}}]}}"""
COMPILE = "loss='categorical_crossentropy', optimizer='SGD(lr=0.1)', metrics=['accuracy']"
GRID = ("{'loss': ['categorical_crossentropy'], 'metrics': ['accuracy'],"
        " 'optimizer_params_list': [{'optimizer': ['SGD'], 'lr': [0.01, 0.1]}]}")
MODELS = ("", "_info", "_summary", "_state")
SEARCHED = MODELS + ("_trials", "_rungs", "_decisions")
# What makes tables in the place of others, and which.
CALLS = {
    "packing": ("hopper.training_preprocessor('points', 'p', 'y', 'x', validation_fraction => 0.25, replace => true)",
                ("p", "p_summary", "p_validation", "p_validation_summary")),
    "validation": ("hopper.validation_preprocessor('points', 'v', 'y', 'x', 'packed', replace => true)",
                   ("v", "v_summary")),
    "configurations": ("hopper.load_model_selection_table('models', 'c', '{1}', ARRAY[$$" + COMPILE + "$$],"
                       " ARRAY['batch_size=8'], replace => true)", ("c", "c_summary")),
    "grid": ("hopper.generate_model_configs('models', 'g', '{1}', $$" + GRID + "$$, $${'batch_size': [8]}$$,"
             " replace => true)", ("g", "g_summary")),
    "training": ("hopper.fit_multiple_model('packed', 'm', 'configs', 1, replace => true)",
                 tuple("m" + suffix for suffix in MODELS)),
    "search": ("hopper.automl('packed', 's', 'models', 's_configs', '{1}', $$" + GRID + "$$, $${'batch_size': [8]}$$,"
               " 'random', 'num_configs=2, num_iterations=1', replace => true)",
               tuple("s" + suffix for suffix in SEARCHED) + ("s_configs", "s_configs_summary")),
    "copy": ("hopper.copy_model('run', 'copied', replace => true)", tuple("copied" + suffix for suffix in MODELS)),
    "predictions": ("hopper.predict('run', 'points', 'id', 'x', 'pr', mst_key => 1, replace => true)", ("pr",)),
    "predictions without training": ("hopper.predict_byom('filled', 1, 'points', 'id', 'x', 'by', replace => true)",
                                     ("by",)),
    "evaluation": ("hopper.evaluate('run', 'packed', 'e', mst_key => 1, confusion_table => 'ec', replace => true)",
                   ("e", "ec")),
}
STATE = """
    SELECT relname, relowner::regrole::text, relrowsecurity, relforcerowsecurity,
        (SELECT array_agg(a::text ORDER BY a::text) FROM unnest(relacl) a),
        (SELECT array_agg(p::text ORDER BY p::text) FROM (SELECT polname, polcmd, polpermissive, polroles::regrole[],
            pg_get_expr(polqual, oid), pg_get_expr(polwithcheck, oid) FROM pg_policy WHERE polrelid = c.oid) p)
    FROM pg_class c WHERE relname = ANY (%s) ORDER BY relname"""


@pytest.fixture(scope="module")
def database():
    drop_database(DATABASE)
    admin = connect("postgres")
    for role in ROLES:
        query(admin, f"DROP ROLE IF EXISTS {role}")
        query(admin, f"CREATE ROLE {role}")
    query(admin, f"GRANT {GROUP} TO {MEMBER}")
    query(admin, f"CREATE DATABASE {DATABASE}")
    connection = connect(DATABASE)
    query(connection, "SET client_min_messages = warning")
    query(connection, "CREATE EXTENSION model_hopper")
    query(connection, f"CREATE SCHEMA w AUTHORIZATION {GROUP}; GRANT USAGE ON SCHEMA w TO PUBLIC")
    query(connection, f"SET SESSION AUTHORIZATION {MEMBER}; SET search_path = w")
    query(connection, "CREATE TABLE points AS SELECT i AS id, ARRAY[i % 2, i % 3]::real[] AS x,"
          " i % 2 AS y FROM generate_series(1, 40) i")
    query(connection, "SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x')")
    query(connection, "SELECT hopper.load_model('models', %s)", MODEL)
    query(connection, "SELECT hopper.load_model('filled', %s, decode(repeat('00', 24), 'hex'))", MODEL)
    query(connection, "SELECT hopper.load_model_selection_table('models', 'configs', '{1}',"
          " ARRAY[%s], ARRAY['batch_size=8'])", COMPILE)
    query(connection, "SELECT hopper.fit_multiple_model('packed', 'run', 'configs', 1)")
    # Of this name there is another function for whoever has another search_path.
    query(connection, "CREATE FUNCTION allowed() RETURNS boolean LANGUAGE sql AS 'SELECT true'")
    yield connection
    connection.close()
    drop_database(DATABASE)
    for role in reversed(ROLES):
        query(admin, f"DROP ROLE {role}")
    admin.close()


def make(connection, call):
    query(connection, "SET client_min_messages = warning")
    query(connection, "SELECT " + call)


def protect(connection, table):
    """Of a group, for some readers, with some rows."""
    query(connection, f"""
        GRANT SELECT ON {table} TO {READER};
        GRANT UPDATE ON {table} TO {NEWCOMER} WITH GRANT OPTION;
        ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
        ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
        CREATE POLICY "some rows" ON {table} FOR SELECT TO {READER}, {NEWCOMER} USING (w.allowed() AND {table} IS NULL);
        CREATE POLICY own ON {table} FOR SELECT TO {GROUP} USING (true);
        CREATE POLICY less ON {table} AS RESTRICTIVE USING (true) WITH CHECK (false);
        ALTER TABLE {table} OWNER TO {GROUP}""")


@pytest.mark.parametrize("name", CALLS)
def test_it_is_as_before(database, name):
    call, tables = CALLS[name]
    make(database, call.replace(", replace => true", ""))
    for table in tables:
        protect(database, table)
    before = query(database, STATE, list(tables))
    assert len(before) == len(tables) and all(row[2:4] == (True, True) for row in before)
    query(database, f"ALTER DEFAULT PRIVILEGES IN SCHEMA w GRANT SELECT, DELETE ON TABLES TO {NEWCOMER}, PUBLIC")
    oids = query(database, "SELECT %s::regclass::oid", tables[0])
    make(database, call)
    query(database, f"ALTER DEFAULT PRIVILEGES IN SCHEMA w REVOKE SELECT, DELETE ON TABLES FROM {NEWCOMER}, PUBLIC")
    assert query(database, "SELECT %s::regclass::oid", tables[0]) != oids
    assert query(database, STATE, list(tables)) == before
    query(database, f"RESET SESSION AUTHORIZATION; SET ROLE {READER}")
    assert value(database, f"SELECT count(*) FROM {tables[0]}") == 0
    query(database, f"RESET ROLE; SET SESSION AUTHORIZATION {MEMBER}")


def test_a_superuser_takes_nothing_away(database):
    call = "hopper.predict('run', 'points', 'id', 'x', 'of_member', mst_key => 1)"
    make(database, call)
    query(database, "RESET SESSION AUTHORIZATION")
    make(database, call.replace(")", ", replace => true)"))
    query(database, f"SET SESSION AUTHORIZATION {MEMBER}")
    assert value(database, "SELECT count(*) FROM of_member") == 80


def test_a_model_that_gets_anothers_name(database):
    for model in ("one", "other"):
        make(database, f"hopper.fit_multiple_model('packed', '{model}', 'configs', 1)")
    query(database, f"GRANT SELECT ON one TO {NEWCOMER}")
    query(database, f"GRANT SELECT ON other TO {READER}; ALTER TABLE other ENABLE ROW LEVEL SECURITY;"
          f" CREATE POLICY none ON other TO {READER} USING (false)")
    make(database, "hopper.rename_model('one', 'other', replace => true)")
    query(database, f"RESET SESSION AUTHORIZATION; SET ROLE {READER}")
    assert value(database, "SELECT count(*) FROM other") == 0
    query(database, f"RESET ROLE; SET ROLE {NEWCOMER}")
    assert value(database, "SELECT has_table_privilege('other', 'SELECT')")
    query(database, f"RESET ROLE; SET SESSION AUTHORIZATION {MEMBER}")


def test_a_policy_that_cannot_be_made(database):
    """Its column is no more: nobody but the caller sees the new rows, and a WARNING says why."""
    call = "hopper.predict('run', 'points', 'id', 'x', 'layered', mst_key => 1)"
    make(database, call)
    query(database, f"GRANT SELECT ON layered TO {READER}; ALTER TABLE layered ENABLE ROW LEVEL SECURITY;"
          " CREATE POLICY first ON layered USING (rank = 1)")
    query(database, f"ALTER DEFAULT PRIVILEGES IN SCHEMA w GRANT SELECT ON TABLES TO {READER}")
    del database.notices[:]
    make(database, call.replace(")", ", layer => 'out', replace => true)"))
    query(database, f"ALTER DEFAULT PRIVILEGES IN SCHEMA w REVOKE SELECT ON TABLES FROM {READER}")
    assert any('what others may do with "layered" could not be taken over' in notice for notice in database.notices)
    assert value(database, "SELECT count(*) FROM layered") == 40
    query(database, f"RESET SESSION AUTHORIZATION; SET ROLE {READER}")
    with pytest.raises(psycopg2.errors.InsufficientPrivilege):
        query(database, "SELECT 1 FROM layered")
    query(database, f"RESET ROLE; SET SESSION AUTHORIZATION {MEMBER}")
    query(database, "DROP TABLE layered")


def test_a_new_table_that_is_given_away(database):
    """By an event trigger, to a role that the caller is not: rows are not written past the right to do so."""
    query(database, "RESET SESSION AUTHORIZATION")
    query(database, f"""
        CREATE FUNCTION public.give_away() RETURNS event_trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
        DECLARE command record;
        BEGIN
            FOR command IN SELECT * FROM pg_event_trigger_ddl_commands() WHERE command_tag = 'CREATE TABLE' LOOP
                EXECUTE format('ALTER TABLE %s OWNER TO {READER}', command.object_identity);
            END LOOP;
        END $$;
        CREATE EVENT TRIGGER give_away ON ddl_command_end WHEN TAG IN ('CREATE TABLE')
            EXECUTE FUNCTION public.give_away()""")
    query(database, f"GRANT CREATE ON SCHEMA w TO {READER}; SET SESSION AUTHORIZATION {MEMBER}")
    try:
        with pytest.raises(psycopg2.errors.InsufficientPrivilege):
            query(database, "SELECT hopper.predict('run', 'points', 'id', 'x', 'given', mst_key => 1)")
    finally:
        query(database, "RESET SESSION AUTHORIZATION; DROP EVENT TRIGGER give_away;"
              f" REVOKE CREATE ON SCHEMA w FROM {READER}; SET SESSION AUTHORIZATION {MEMBER}")
