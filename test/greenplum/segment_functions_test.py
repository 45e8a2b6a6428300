"""Any role may call the functions of the segments, with any bytes: the cluster stays up, and nothing
of other roles comes out."""

import random
import re
import struct

import psycopg2
import pytest

from conftest import DATABASE, connect
from descriptions import (ENTRY, EVALUATION, PACKING, PLAN, PREDICTION, RUN, SEAL, Sealer, catch, payload)
from digits import dense, query, sequential, value

FLAT = sequential(dense("hidden", 8, "relu"), dense("output", 4, "softmax"), shape=(64,))
COMPILE = "loss='categorical_crossentropy', metrics=['accuracy'], optimizer='Adam(lr=0.01)'"
REFUSED = "42501"  # insufficient_privilege
DAMAGED = "22023"  # invalid_parameter_value
OTHER_BUILD = "55000"
# How often random damage is tried, of each kind.
TRIES = 60


def session(role):
    connection = connect("HOPPER_GREENPLUM")
    query(connection, f"SET ROLE {role}")
    query(connection, f"SET search_path = {role}")
    query(connection, "SET optimizer = off")
    return connection


def fill(role, first):
    """12,000 rows of 256 bytes, of which a segment with 1 MB reads its share in turns."""
    connection = session(role)
    query(connection, "SET client_min_messages = warning")
    query(connection, "CREATE TABLE rows AS SELECT i AS id, i %% 4 AS label,"
          " (SELECT array_agg(((i * k) %% 97 + %s)::real) FROM generate_series(1, 64) k) AS x"
          " FROM generate_series(1, 12000) i DISTRIBUTED BY (id)", first)
    query(connection, "SELECT hopper.training_preprocessor('rows', 'packed', 'label', 'x',"
          " partitions := 12)")
    query(connection, "SELECT hopper.load_model('models', %s)", FLAT)
    return connection


@pytest.fixture(scope="module")
def tenants(greenplum):
    for role in ("tenant", "neighbour"):
        query(greenplum, f"CREATE ROLE {role}")
        query(greenplum, f"CREATE SCHEMA {role} AUTHORIZATION {role}")
        fill(role, 1 if role == "tenant" else 1000).close()
    yield greenplum
    for role in ("tenant", "neighbour"):
        query(greenplum, "SET client_min_messages = warning")
        query(greenplum, f"DROP OWNED BY {role} CASCADE")
        query(greenplum, f"DROP ROLE {role}")
        query(greenplum, "RESET client_min_messages")


# One trial after the other.
SEARCH = ("SELECT * FROM hopper.automl('packed', '{name}_searched', 'models', '{name}_best', ARRAY[1], %s,"
          " '{{''batch_size'': [32]}}', 'grid', 'num_iterations=1', parallel := 1, threads := 1)")
GRID = ("{'loss': ['categorical_crossentropy'], 'metrics': [['accuracy']],"
        " 'optimizer_params_list': [{'optimizer': ['SGD'], 'lr': [0.01, 0.02]}]}")
KINDS = [RUN, EVALUATION, PACKING, PLAN, PREDICTION, ENTRY]
FOUND = {}  # by the fixture `tenant`, of its session
FIT = ("SELECT * FROM hopper.fit('packed', '{}', 'models', 1, %s, 'batch_size=32', 1,"
       " threads := 1)")


def catch_all(connection, name):
    """A description of each kind, of this session."""
    found = catch(connection, SEARCH.format(name=name), GRID)
    query(connection, "SET hopper.memory_limit = 1")
    found.update(catch(connection, FIT.format(name), COMPILE))
    query(connection, "RESET hopper.memory_limit")
    found.update(catch(connection, f"SELECT * FROM hopper.evaluate('{name}', 'packed')"))
    found.update(catch(connection, f"SELECT hopper.training_preprocessor('rows', '{name}_packed',"
                       " 'label', 'x', partitions := 3)"))
    found.update(catch(connection, f"SELECT hopper.predict('{name}', 'rows', 'id', 'x',"
                       f" '{name}_predicted')"))
    assert sorted(found) == KINDS
    return found


@pytest.fixture(scope="module")
def tenant(tenants):
    connection = session("tenant")
    FOUND.update(catch_all(connection, "mine"))
    query(connection, "CREATE TABLE drive AS SELECT DISTINCT __dist_key__ AS key FROM packed"
          " DISTRIBUTED BY (key)")
    yield connection
    connection.close()


def calls(of):
    """Statements that open a description of that kind, given once or twice."""
    some = "0, 0, 1, '\\x00'::bytea, '\\x00'::bytea, decode(repeat('00', 16), 'hex')"
    return {
        RUN: [f"SELECT key, hopper.segment_data({{run}}, %s, key, 0, {some}) FROM drive GROUP BY key"],
        EVALUATION: [
            f"SELECT key, hopper.segment_evaluation(%s, key, {some}) FROM drive GROUP BY key",
            "SELECT * FROM hopper.segment_evaluation_total(%s, '\\x0102'::bytea)"],
        PACKING: ["SELECT count(*) FROM hopper.segment_encode(TABLE(SELECT x, label::bigint, ctid"
                  " FROM rows WHERE id < 100), %s)",
                  "SELECT count(*) FROM hopper.segment_encode(TABLE(SELECT id, label FROM rows), %s)"],
        PLAN: ["SELECT count(hopper.segment_slot(%s, decode(repeat('0f', 16), 'hex'), label, 0, ctid))"
               " FROM rows",
               "SELECT (r).n FROM (SELECT hopper.segment_buffer(%s, 0, id, decode(repeat('00', 257),"
               " 'hex')) AS r FROM rows WHERE id < 4) s"],
        PREDICTION: ["SELECT count(*) FROM hopper.segment_predict(TABLE(SELECT x, id FROM rows"
                     " WHERE id < 100), %s) AS t (id integer, class_name text, class_value text,"
                     " prob float8, rank integer, predicted_label integer)"],
        ENTRY: ["SELECT hopper.segment_enter({run}, %s) FROM drive"]}[of]


def run_of(description):
    return struct.unpack_from("<q", description, payload(description))[0]


def outcome(connection, of, statement, description):
    """SQLSTATE of a call, None where there was no error; the cluster must be there afterwards."""
    if of in (RUN, ENTRY):
        try:
            run = run_of(description)
        except struct.error:
            run = 1
        statement = statement.replace("{run}", str(run))
    try:
        query(connection, statement, psycopg2.Binary(bytes(description)))
        return None
    except psycopg2.Error as error:
        assert error.pgcode is not None and not error.pgcode.startswith(("57P", "08")), str(error)
        return error.pgcode


@pytest.mark.parametrize("of", KINDS)
def test_a_genuine_description_is_taken(tenant, of):
    """Or the tests below would show nothing."""
    code = outcome(tenant, of, calls(of)[0], FOUND[of])
    assert code == ("XX001" if of == EVALUATION else None)  # its buffer is no buffer


@pytest.mark.parametrize("of", KINDS)
def test_what_no_coordinator_made_is_refused(tenant, of):
    genuine = FOUND[of]
    shared = payload(genuine)
    changed = bytearray(genuine)
    changed[-SEAL - 1] ^= 1
    forged = [b"", b"x", bytes(1000), genuine[:-1], genuine + b"\0", changed,
              genuine[:-SEAL], genuine[:-SEAL] + bytes(SEAL)]
    forged += [genuine[:length] for length in range(0, shared + 40, 7)]
    for statement in calls(of):
        for description in forged:
            assert outcome(tenant, of, statement, description) in \
                (REFUSED, DAMAGED, OTHER_BUILD), len(description)


@pytest.mark.parametrize("of", KINDS)
def test_what_another_kind_is_about_is_refused(tenant, of):
    for other in KINDS:
        if other != of:
            assert outcome(tenant, of, calls(of)[0], FOUND[other]) == REFUSED


def test_descriptions_of_other_roles_and_sessions_are_refused(tenants, tenant):
    other_role, other_session = connect("HOPPER_GREENPLUM"), session("tenant")
    for connection in (other_role, other_session):
        query(connection, "SET search_path = tenant")
        for of in KINDS:
            assert outcome(connection, of, calls(of)[0], FOUND[of]) == REFUSED
        connection.close()
    # The role of the moment counts, not that of the session.
    query(tenants, "SET ROLE neighbour")
    sealer = Sealer(connect("HOPPER_GREENPLUM"), tenants, "tenant")
    description = sealer.again(FOUND[PLAN], lambda bytes_: bytes_)
    slot = ("SELECT hopper.segment_slot(%s, decode(repeat('0f', 16), 'hex'), 0, 0, '(0,1)')")
    assert outcome(tenants, PLAN, slot, description) == REFUSED
    query(tenants, "RESET ROLE")
    query(tenants, "SET ROLE tenant")
    assert outcome(tenants, PLAN, slot, description) is None
    query(tenants, "RESET ROLE")


@pytest.mark.parametrize("of", KINDS)
def test_sealed_damage_does_no_harm(tenants, tenant, of):
    """The checks behind the seal: truncated everywhere, and bytes that are others."""
    sealer = Sealer(connect("HOPPER_GREENPLUM"), tenant)
    genuine = FOUND[of]
    begin, end = payload(genuine), len(genuine) - SEAL
    generator = random.Random(of)
    statement = calls(of)[0]
    query(tenant, "SET statement_timeout = '20s'")
    for _ in range(TRIES // 2):
        at = generator.randrange(begin, end)
        code = outcome(tenant, of, statement, sealer.again(genuine, lambda b, at=at: b[:at]))
        assert code == DAMAGED
    for _ in range(TRIES):
        def flip(bytes_):
            for _ in range(generator.choice((1, 1, 2, 8))):
                bytes_[generator.randrange(begin, min(end, begin + 4000))] = \
                    generator.choice((0, 1, 127, 128, 255, generator.randrange(256)))
            return bytes_
        outcome(tenant, of, generator.choice(calls(of)), sealer.again(genuine, flip))
    # Every number of its first part, one after another: lengths, counts, types, sizes.
    for at in range(begin, min(end - 8, begin + 8 * TRIES), 8):
        def replace(bytes_, at=at):
            bytes_[at:at + 8] = struct.pack("<q", generator.choice(
                (-1, -2**63, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 1 << 40)))
            return bytes_
        outcome(tenant, of, generator.choice(calls(of)), sealer.again(genuine, replace))
    query(tenant, "RESET statement_timeout")
    assert value(tenant, "SELECT count(*) FROM rows") == 12000


VISIT = ("SELECT (r).mst_key, (r).missing, length((r).report) FROM (SELECT hopper.segment_emit("
         "hopper.segment_visit(%s, 1, false, 1, 0, 1, %s), key) AS r"
         " FROM drive GROUP BY key) s")


def visit(connection, description):
    """A model trained by hand on the partitions that the segments read in turns."""
    run = run_of(description)
    data = calls(RUN)[0].replace("{run}", str(run))
    query(connection, "BEGIN")
    try:
        query(connection, data, psycopg2.Binary(description))
        return query(connection, VISIT, run, psycopg2.Binary(b"N"))
    finally:
        query(connection, "ROLLBACK")


def test_rights_are_those_of_the_role_that_calls(tenants, tenant):
    superuser = connect("HOPPER_GREENPLUM")
    mine, theirs = (value(superuser, f"SELECT '{role}.packed'::regclass::oid::integer")
                    for role in ("tenant", "neighbour"))
    sealer = Sealer(superuser, tenant)
    genuine = FOUND[RUN]
    assert genuine.count(struct.pack("<q", mine)) == 1
    rows = visit(tenant, genuine)
    assert [row[0] for row in rows] == [1, 1, 1] and not any(row[1] for row in rows)
    other = sealer.again(genuine, lambda b: b.replace(struct.pack("<q", mine),
                                                      struct.pack("<q", theirs)))
    with pytest.raises(psycopg2.Error) as error:
        visit(tenant, other)
    assert error.value.pgcode == REFUSED
    assert re.search("permission denied for (relation|table) packed", str(error.value))
    # A relation that is none, and one that is no packed table.
    for relation in (1, value(superuser, "SELECT 'pg_authid'::regclass::oid::integer")):
        with pytest.raises(psycopg2.Error) as error:
            visit(tenant, sealer.again(genuine, lambda b, r=relation: b.replace(
                struct.pack("<q", mine), struct.pack("<q", r))))
        assert error.value.pgcode in ("42P01", "42703", "42501", "55000")
    # The right to read its columns is enough, as it is for a SELECT.
    query(superuser, "GRANT USAGE ON SCHEMA neighbour TO tenant")
    query(superuser, "GRANT SELECT (__dist_key__, partition_id, buffer_id, n, x, label, checksum)"
          " ON neighbour.packed TO tenant")
    assert len(visit(tenant, other)) == 3
    query(superuser, "REVOKE ALL ON neighbour.packed FROM tenant")
    superuser.close()


def test_nulls(tenant):
    for call in ["* FROM hopper.segment_evaluation_total(NULL, NULL)",
                 "* FROM hopper.segment_encode(TABLE(SELECT 1), NULL)",
                 "* FROM hopper.segment_predict(TABLE(SELECT 1), NULL) AS t (id integer)",
                 "hopper.segment_data(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
                 "hopper.segment_visit(NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
                 "hopper.segment_evaluation(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
                 "hopper.segment_buffer(NULL, NULL, NULL, NULL)",
                 "hopper.segment_enter(NULL, NULL)",
                 "hopper.segment_release(NULL)"]:
        with pytest.raises(psycopg2.Error) as error:
            query(tenant, "SELECT " + call)
        assert error.value.pgcode == "22004", call
    assert query(tenant, "SELECT hopper.segment_emit(NULL, NULL)") == []
    assert query(tenant, "SELECT hopper.segment_slot(NULL, NULL, NULL, NULL, NULL),"
                 " hopper.segment_rank_copy(NULL, NULL)") == [(None, None)]


COLLECT = ("SELECT hopper.segment_visit(1, 1, true, 1, 0, 1, repeat('secret', 20000)::bytea)"
           " FROM generate_series(1, 5)")
EMIT = "SELECT length((r).body) FROM (SELECT hopper.segment_emit(0, 1) AS r) s"


def test_models_that_wait_do_not_outlive_their_statement(tenant):
    """They lay in the statement's memory, and another statement emitted what was there since."""
    query(tenant, COLLECT)
    query(tenant, "SELECT length(repeat('abcd', 200000))")
    assert query(tenant, EMIT) == []


WIDE = sequential(dense("hidden", 1500, "relu"), dense("output", 4, "softmax"), shape=(64,))


def test_models_in_files_do_not_outlive_their_statement(tenant):
    """Their files did not, and a later statement read what the process had open under their numbers."""
    model = value(tenant, "SELECT hopper.load_model('models', %s)", WIDE)
    query(tenant, "SELECT hopper.load_model_selection_table('models', 'wide', %s, ARRAY[%s],"
          " (SELECT array_agg('batch_size=' || b) FROM generate_series(32, 37) b))", [model], COMPILE)
    query(tenant, "SET hopper.memory_limit = 9")
    description = catch(tenant, "SELECT * FROM hopper.fit_multiple_model('packed', 'wide_run', 'wide', 1, threads := 1)")[RUN]
    query(tenant, "RESET hopper.memory_limit")
    run = run_of(description)
    query(tenant, "BEGIN")
    query(tenant, calls(RUN)[0].replace("{run}", str(run)), psycopg2.Binary(description))
    query(tenant, "SELECT hopper.segment_visit(%s, 1, false, k, 0, 1, 'N') FROM drive, generate_series(1, 6) k GROUP BY key", run)
    assert query(tenant, "SELECT hopper.segment_emit(0, key) FROM drive GROUP BY key") == []
    query(tenant, "ROLLBACK")


def test_models_that_wait_are_for_their_role(tenants):
    """What a function of another role takes, in whose statement they came."""
    connection = connect("HOPPER_GREENPLUM")
    for role in ("tenant", "neighbour"):
        query(connection, f"CREATE FUNCTION {role}.take() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER"
              f" AS $f$ BEGIN RETURN (SELECT count(*) FROM ({EMIT}) e); END $f$;"
              f" ALTER FUNCTION {role}.take() OWNER TO {role}")
    query(connection, "GRANT USAGE ON SCHEMA neighbour TO tenant")
    query(connection, "SET ROLE tenant")
    taken = COLLECT.replace("::bytea)", "::bytea) IS NULL, {}.take()")
    assert query(connection, taken.format("neighbour")) == [(False, 0)]
    assert query(connection, taken.format("tenant")) == [(False, 5)]
    connection.close()


def test_the_secret_is_its_owners(tenants, tenant):
    assert query(tenant, "SELECT umoptions FROM pg_user_mappings"
                 " WHERE srvname = 'hopper_segments'") == [(None,)]
    assert query(tenant, "SELECT option_value FROM information_schema.user_mapping_options"
                 " WHERE foreign_server_name = 'hopper_segments'") in ([], [(None,)])
    for statement in ("SELECT * FROM pg_user_mapping", "SELECT hopper.segment_new_secret()",
                      "ALTER USER MAPPING FOR PUBLIC SERVER hopper_segments OPTIONS (SET secret 'x')",
                      "CREATE USER MAPPING FOR CURRENT_USER SERVER hopper_segments"):
        with pytest.raises(psycopg2.Error) as error:
            query(tenant, statement)
        assert error.value.pgcode == REFUSED, statement
    statement = "SELECT umoptions FROM pg_user_mappings WHERE srvname = 'hopper_segments'"
    before = value(tenants, statement)
    query(tenants, "SELECT hopper.segment_new_secret()")
    assert value(tenants, statement) != before
    # Sealed under the one before.
    assert outcome(tenant, PLAN, calls(PLAN)[0], FOUND[PLAN]) == REFUSED
    FOUND.update(catch_all(tenant, "renewed"))
    nodes = query(tenants, "SELECT umoptions FROM gp_dist_random('pg_user_mapping')")
    assert len(nodes) == 3 and len(set(map(str, nodes))) == 1


def test_a_definers_function_trains_with_its_owners_rights(tenants):
    """Seals follow the role of the moment, on the coordinator and on the segments."""
    connection = session("neighbour")
    query(connection, "CREATE FUNCTION neighbour.train() RETURNS integer LANGUAGE sql"
          " SECURITY DEFINER SET search_path = neighbour AS $f$ SELECT 1 FROM hopper.fit('packed',"
          " 'definers', 'models', 1, $$" + COMPILE + "$$, 'batch_size=32', 1) $f$")
    connection.close()
    query(tenants, "GRANT USAGE ON SCHEMA neighbour TO tenant")
    connection = session("tenant")
    assert value(connection, "SELECT neighbour.train()") == 1
    connection.close()


def test_the_coordinators_own_rows_are_packed(tenants):
    """A catalog's rows come from a process of the coordinator, which needs the secret, too."""
    connection = session("tenant")
    query(connection, "CREATE VIEW of_the_catalog AS SELECT oid::integer AS id,"
          " ARRAY[oid::integer % 7, oid::integer % 5]::real[] AS x, oid::integer % 2 AS label"
          " FROM pg_catalog.pg_proc WHERE oid < 2000")
    rows = value(connection, "SELECT count(*) FROM of_the_catalog")
    query(connection, "SELECT hopper.training_preprocessor('of_the_catalog', 'catalog_packed',"
          " 'label', 'x')")
    assert value(connection, "SELECT sum(n) FROM catalog_packed") == rows
    connection.close()


def test_the_extension_can_be_dropped(greenplum):
    """With its server and mapping, and made again."""
    database = f"{DATABASE}_again"
    query(greenplum, f"DROP DATABASE IF EXISTS {database}")
    query(greenplum, f"CREATE DATABASE {database}")
    connection = connect("HOPPER_GREENPLUM", database)
    for _ in range(2):
        query(connection, "CREATE EXTENSION model_hopper")
        assert value(connection, "SELECT count(*) FROM pg_user_mapping") == 1
        query(connection, "SELECT hopper.segment_new_secret()")
        query(connection, "DROP EXTENSION model_hopper")
        assert value(connection, "SELECT count(*) FROM pg_user_mapping") == 0
    connection.close()
    query(greenplum, f"DROP DATABASE {database}")
