"""Row-level security: models are trained and rows predicted of what the caller sees, by whichever process."""

import re

import psycopg2
import pytest

from digits import GREENPLUM, connect, create_database, drop_database, query, value

pytestmark = pytest.mark.skipif(GREENPLUM, reason="Greenplum 6 has no policies")
DATABASE = "hopper_row_security"
ROLE = "hopper_tenant"
FIT = "SELECT hopper.auto_fit('shared', 'y', '{}', 1, treatments => '{{\"tenant\": \"drop\"}}'{})"


@pytest.fixture(scope="module", name="database")
def fixture_database():
    connection = create_database(DATABASE)
    query(connection, "DROP ROLE IF EXISTS hopper_tenant_reader; CREATE ROLE hopper_tenant_reader")
    query(connection, f"DROP ROLE IF EXISTS {ROLE}; CREATE ROLE {ROLE} LOGIN; GRANT ALL ON SCHEMA public TO {ROLE}")
    # What one tenant's rows teach is wrong of the other's.
    query(connection, "CREATE TABLE shared AS SELECT i AS id, i % 2 AS tenant, i % 31 AS a, (i % 31 > 15) = (i % 2 = 1) AS y FROM generate_series(1, 800) AS i;"
                      " ALTER TABLE shared ENABLE ROW LEVEL SECURITY; CREATE POLICY own ON shared FOR SELECT USING (tenant = 1);"
                      f" GRANT SELECT ON shared TO {ROLE}")
    yield connection
    query(connection, f"DROP OWNED BY {ROLE}, hopper_tenant_reader")
    connection.close()
    drop_database(DATABASE)
    admin = connect("postgres")
    query(admin, f"DROP ROLE {ROLE}, hopper_tenant_reader")
    admin.close()


@pytest.fixture(name="tenant")
def fixture_tenant(database):
    connection = connect(DATABASE)
    query(connection, f"SET SESSION AUTHORIZATION {ROLE}")
    yield connection
    connection.close()


def in_the_background(tenant, statement):
    run = value(tenant, "SELECT hopper.submit(%s)", statement)
    assert value(tenant, "SELECT hopper.wait(%s, 120)", run) == "done"


def by_call(tenant, statement):
    query(tenant, "CALL hopper.train(%s)", value(tenant, "SELECT hopper.create_run(%s)", statement))


WAYS = {"in the foreground": query, "by CALL": by_call, "in the background": in_the_background}


def expect_own_rows(tenant, models):
    kept = int(re.match(r"(\d+) rows", value(tenant, f"SELECT result FROM {models}_steps WHERE step = 1")).group(1))
    assert kept + value(tenant, f"SELECT sum(n_rows) FROM (SELECT n_rows FROM {models}_packed_summary"
                                f" UNION ALL SELECT n_rows FROM {models}_packed_validation_summary) AS s") == 400
    output = f"{models}_guessed"
    query(tenant, "SELECT hopper.predict(%s, 'shared', 'id', output_table => %s, pred_type => 'response', replace => true)", models, output)
    assert query(tenant, f"SELECT count(*), count(s.id), avg((s.y = g.predicted_y)::int) > 0.9 FROM {output} AS g LEFT JOIN shared AS s USING (id)") == [
        (400, 400, True)]


@pytest.mark.parametrize("way", WAYS)
def test_rows_that_the_caller_sees_alone(tenant, way):
    models = way.replace(" ", "_").lower()
    WAYS[way](tenant, FIT.format(models, ""))
    expect_own_rows(tenant, models)


@pytest.mark.parametrize("way", WAYS)
def test_folds_are_of_rows_that_the_caller_sees(tenant, way):
    name = "folded_" + way.replace(" ", "_").lower()
    WAYS[way](tenant, f"SELECT hopper.cross_validate('shared', '{name}', 'y', folds => 2, num_iterations => 1, recipe => 'resnet')")
    assert query(tenant, f"SELECT count(*), min(tenant) FROM {name}_folds") == [(400, 1)]
    assert value(tenant, f"SELECT DISTINCT training_rows + test_rows FROM {name}") == 400


def test_what_reads_rows_beside_predict(tenant):
    models = "beside"
    query(tenant, FIT.format(models, ""))
    assert value(tenant, "SELECT count(*) FROM hopper.transform_rows(%s, 'shared')", models) == 400
    assert value(tenant, "SELECT count(*) FROM hopper.predict_rows(%s, NULL::shared)", models) == 400
    query(tenant, "SELECT hopper.create_predict_function(%s, 'answer', replace => true)", models)
    assert query(tenant, "SELECT count(*), avg((y = answer(id, a))::int) > 0.9 FROM shared") == [(400, True)]


@pytest.mark.parametrize("way", WAYS)
def test_models_with_policies_are_replaced(tenant, way):
    """These hold for the owner, too, and let nobody write: the new tables have them when all is written."""
    models = "secured_" + way.replace(" ", "_").lower()
    query(tenant, FIT.format(models, ""))
    tables = [models + end for end in ("", "_info", "_summary", "_trials", "_steps", "_packed", "_packed_summary")]
    for table in tables:
        query(tenant, f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY; CREATE POLICY look ON {table} FOR SELECT USING (true)")
    WAYS[way](tenant, FIT.format(models, ", replace => true"))
    expect_own_rows(tenant, models)
    assert value(tenant, "SELECT count(*) FROM pg_class JOIN pg_policy ON polrelid = pg_class.oid WHERE relforcerowsecurity AND relname = ANY (%s)",
                 tables) == len(tables) - 1  # the table of steps is made anew
    with pytest.raises(psycopg2.errors.InsufficientPrivilege, match="violates row-level security"):
        query(tenant, f"INSERT INTO {models} (mst_key) VALUES (100)")


def test_views_and_steps_that_are_replaced_keep_the_rights_of_others(tenant):
    query(tenant, FIT.format("granted", ""))
    query(tenant, "GRANT SELECT ON granted_steps TO PUBLIC; GRANT SELECT ON granted_test_rows TO hopper_tenant_reader WITH GRANT OPTION")
    rights = "SELECT relname, relacl::text FROM pg_class WHERE relname LIKE 'granted%' AND relacl IS NOT NULL ORDER BY 1"
    before = query(tenant, rights)
    assert len(before) == 2
    query(tenant, FIT.format("granted", ", replace => true"))
    assert query(tenant, rights) == before


def test_networks_that_policies_hide_are_refused_before_work(tenant):
    query(tenant, FIT.format("hidden", ""))
    query(tenant, "ALTER TABLE hidden_networks ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY; CREATE POLICY look ON hidden_networks FOR SELECT USING (true)")
    with pytest.raises(psycopg2.errors.InsufficientPrivilege, match='row-level security of "hidden_networks" holds for its owner') as error:
        query(tenant, FIT.format("hidden", ", replace => true"))
    query(tenant, re.search("HINT:  .*(ALTER TABLE .*)", str(error.value)).group(1))
    query(tenant, FIT.format("hidden", ", replace => true"))
