"""replace => true: others use the old tables until the new ones are ready."""

import itertools
import re
import threading
import time

import psycopg2
import pytest

import beside
from digits import (ADAM, connect, create_database, drop_database, pid, query, select, threads,
                    value, wait_until)

DATABASE = "hopper_replace"
FIT = ("SELECT models_trained FROM hopper.fit_multiple_model('packed', 'm', 'configs', %s,"
       " validation_table => 'packed_validation', threads => 2, replace => %s)")
# What a training that has begun says.
BEGUN = " over 1,438 rows"
PREDICT = "SELECT count(*) FROM hopper.predict_row('m', 1, (SELECT pixels FROM digits WHERE id = 1))"


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    select(connection, "configs", [(1, 1, ADAM, "batch_size=32"), (2, 1, ADAM, "batch_size=64")])
    query(connection, FIT, 1, False)
    yield connection
    connection.close()
    drop_database(DATABASE)


@pytest.fixture
def training(database):
    """A session that trains until it is cancelled, in the place of "m"."""
    connection = connect(DATABASE)
    errors = []

    def run():
        try:
            query(connection, FIT, 1000000, True)
        except psycopg2.Error as error:
            errors.append(error)

    process = pid(connection)
    others = threads(process)
    thread = threading.Thread(target=run)
    thread.start()
    wait_until(lambda: threads(process) > others)
    yield connection
    connection.cancel()
    thread.join()
    connection.close()
    assert errors and errors[0].pgcode == "57014"


def test_the_old_models_are_used_meanwhile(database, training):
    before = query(database, "SELECT mst_key, md5(model_weights) FROM m ORDER BY 1")
    query(database, "SET statement_timeout = '20s'")
    assert value(database, PREDICT) == 10
    assert value(database, "SELECT count(*) FROM hopper.leaderboard('m')") == 2
    query(database, "SELECT hopper.predict('m', 'digits', 'id', 'pixels', 'p', mst_key => 1, replace => true)")
    with pytest.raises(psycopg2.errors.ObjectInUse, match="another session is making the table"):
        query(database, FIT, 1, True)
    query(database, "RESET statement_timeout")
    training.cancel()
    assert query(database, "SELECT mst_key, md5(model_weights) FROM m ORDER BY 1") == before


# --- at the end of the training nothing that others do costs it ---

class Statement(beside.Statement):
    def __init__(self, statement, settings=""):
        super().__init__(DATABASE, statement, settings)


class Training(Statement):
    """It has begun."""

    def __init__(self, statement, settings=""):
        super().__init__(statement, settings)
        self.trains()


class Run(Training):
    """A training in the place of "m"."""

    iterations = itertools.count(500)  # other ones are other models

    def __init__(self, settings=""):
        super().__init__(FIT.replace("models_trained", "model_table, models_trained")
                         % (next(self.iterations), True), settings)


@pytest.fixture
def reader(database):
    connection = connect(DATABASE)
    yield connection
    connection.close()


def seeds(connection, table="m"):
    return value(connection, f"SELECT md5(string_agg(model_weights, '' ORDER BY mst_key)) FROM {table}")


def test_a_reader_is_waited_for_whatever_the_lock_timeout_says(database, reader):
    before = seeds(database)
    run = Run(settings="SET lock_timeout = '200ms'")
    query(reader, "BEGIN")
    query(reader, "SELECT count(*) FROM m_info")
    run.waits(database)
    time.sleep(0.6)
    query(reader, "COMMIT")
    notices = run.end()
    assert run.error is None
    assert run.rows == [("m", 2)]
    assert 'waiting for other sessions that use "m_info"' in notices
    assert seeds(database) != before
    assert value(database, "SELECT max(array_length(metrics_iters, 1)) FROM m_info") > 1


def test_a_view_that_was_made_meanwhile_keeps_the_old_tables(database):
    before = seeds(database)
    run = Run()
    query(database, "CREATE VIEW on_m AS SELECT mst_key, model_weights FROM m")
    query(database, "GRANT SELECT ON m TO PUBLIC")
    notices = run.end()
    assert run.error is None
    assert run.rows == [("m", 2)]
    kept = re.search('the old "m" could not be dropped, it is named "(hopper_old_[0-9]+)" now', notices).group(1)
    assert re.search(r"view (public\.)?on_m depends on table (public\.)?m", notices)
    assert seeds(database) != before
    assert seeds(database, "on_m") == seeds(database, kept) == before
    assert value(database, "SELECT relacl::text ~ '=r/' FROM pg_class WHERE oid = 'm'::regclass")
    # It is a model like any other.
    assert value(database, "SELECT count(*) FROM hopper.leaderboard(%s)", kept) == 2
    query(database, "DROP VIEW on_m")
    assert value(database, "SELECT hopper.drop_model(%s)", kept) == 4
    assert value(database, "SELECT count(*) FROM pg_class WHERE relname LIKE 'hopper\\_%%'") == 0


def test_a_deadlock_does_not_cost_the_models(database, reader):
    """A reader of the old models then waits for the packed table, which the run has read."""
    before = seeds(database)
    run = Run(settings="SET deadlock_timeout = '300ms'")
    # Of the two the run looks first, whichever waits first.
    query(reader, "SET deadlock_timeout = '60s'")
    query(reader, "BEGIN")
    query(reader, "SELECT count(*) FROM m")
    locker = threading.Thread(target=query, args=(reader, "LOCK TABLE packed"))
    locker.start()
    notices = run.end()
    assert run.error is None
    made = re.search('"m" could not be replaced, what was computed is in "(hopper_new_[0-9]+)"', notices).group(1)
    assert "deadlock detected" in notices
    assert run.rows == [(made, 2)]
    locker.join()
    query(reader, "COMMIT")
    assert seeds(database) == before
    assert value(database, "SELECT model FROM " + made + "_summary").endswith(made)
    # As the hint says.
    query(database, "SELECT hopper.rename_model(%s, 'm', replace => true)", made)
    assert seeds(database) != before


def test_nothing_keeps_a_name_of_the_making(database):
    """Constraints and indexes, too: from PostgreSQL 18 on NOT NULL is a constraint that has a name."""
    query(database, FIT, 1, True)
    assert query(database, "SELECT conname::text FROM pg_constraint WHERE conname LIKE 'hopper\\_new%%'"
                 " UNION ALL SELECT relname::text FROM pg_class WHERE relname LIKE 'hopper\\_new%%'") == []


def test_a_cancel_is_heard_while_it_waits(database, reader):
    before = seeds(database)
    run = Run()
    query(reader, "BEGIN")
    query(reader, "SELECT count(*) FROM m")
    run.waits(database)
    run.connection.cancel()
    run.end()
    assert run.error.pgcode == "57014"
    query(reader, "COMMIT")
    assert seeds(database) == before


def test_what_the_end_needs_is_tried_before(database):
    """Nobody may give rights, or other names, to tables: it is found out before the training."""
    query(database, "GRANT SELECT ON m TO PUBLIC; ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC")
    for command in ("GRANT", "REVOKE", "ALTER TABLE"):
        query(database, "CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN"
              " IF TG_TAG <> 'ALTER TABLE' OR to_regclass('public.m') IS NULL"
              "  AND EXISTS (SELECT FROM pg_class WHERE relname ~ 'hopper_new_[0-9]+_state')"
              " THEN RAISE 'not today'; END IF; END $$")
        query(database, f"CREATE EVENT TRIGGER refuse ON ddl_command_start WHEN TAG IN ('{command}')"
              " EXECUTE FUNCTION refuse()")
        del database.notices[:]
        with pytest.raises(psycopg2.Error, match="not today"):
            query(database, FIT, 1, True)
        assert not any(BEGUN in line for line in database.notices)
        query(database, "DROP EVENT TRIGGER refuse")
        query(database, "DROP FUNCTION refuse")
    # Where nothing is refused it does say so.
    query(database, FIT, 1, True)
    assert any(BEGUN in line for line in database.notices)
    query(database, "ALTER DEFAULT PRIVILEGES REVOKE SELECT ON TABLES FROM PUBLIC")


# --- searching and packing end as training does ---

SEARCH = ("SELECT model_table FROM hopper.automl(packed_table => 'packed', model_table => 's',"
          " model_arch_table => 'architectures', model_selection_table => 's_best', model_id_list => ARRAY[1],"
          " compile_params_grid => '{''loss'': [''categorical_crossentropy''],"
          " ''optimizer_params_list'': [{''optimizer'': [''Adam''], ''lr'': [0.001, 0.1, ''log'']}]}',"
          " fit_params_grid => '{''batch_size'': [32]}', automl_method => 'random',"
          " automl_params => 'num_configs=2, num_iterations=%d', seed => %d, threads => 2, replace => true)")
SEARCHED = ["", "_decisions", "_info", "_rungs", "_state", "_summary", "_trials"]


def tables(connection, begin):
    """What follows `begin` and a number in names of tables."""
    names = [name for name, in query(connection, "SELECT relname::text FROM pg_class WHERE relkind = 'r' ORDER BY 1")]
    return [re.sub(f"^{begin}_[0-9]+", "", name) for name in names if re.match(f"{begin}_[0-9]", name)]


@pytest.fixture
def searched(database):
    query(database, SEARCH % (1, 1))
    yield
    query(database, "SELECT hopper.drop_model('s')")
    query(database, "DROP TABLE s_best, s_best_summary")
    assert value(database, "SELECT count(*) FROM pg_class WHERE relname LIKE 'hopper\\_%%'") == 0


def test_a_searchs_old_models_are_used_meanwhile(database, searched, reader):
    before = seeds(database, "s")
    run = Training(SEARCH % (400, 2), settings="SET lock_timeout = '200ms'")
    query(reader, "SET statement_timeout = '20s'")
    query(reader, "BEGIN")
    assert value(reader, "SELECT count(*) FROM hopper.leaderboard('s')") == 2
    assert query(reader, "SELECT iterations FROM s_trials") == [(1,), (1,)]
    run.waits(database)
    time.sleep(0.6)
    query(reader, "COMMIT")
    run.end()
    assert run.error is None
    assert run.rows == [("s",)]
    assert seeds(database, "s") != before
    assert query(database, "SELECT iterations FROM s_trials") == [(400,), (400,)]
    assert query(database, "SELECT model, model_info, model_selection_table FROM s_summary") == [
        ("public.s", "public.s_info", "public.s_best")]


def test_a_deadlock_does_not_cost_a_search(database, searched, reader):
    before = seeds(database, "s")
    run = Training(SEARCH % (400, 2), settings="SET deadlock_timeout = '300ms'")
    query(reader, "SET deadlock_timeout = '60s'")
    query(reader, "BEGIN")
    query(reader, "SELECT count(*) FROM s_trials")
    locker = threading.Thread(target=query, args=(reader, "LOCK TABLE packed"))
    locker.start()
    notices = run.end()
    assert run.error is None
    made = re.search('"s" could not be replaced, what was computed is in "(hopper_new_[0-9]+)"', notices).group(1)
    assert "deadlock detected" in notices
    assert run.rows == [(made,)]
    locker.join()
    query(reader, "COMMIT")
    assert seeds(database, "s") == before
    assert tables(database, "hopper_new") == SEARCHED
    assert query(database, f"SELECT model, model_info, model_selection_table FROM {made}_summary") == [
        (f"public.{made}", f"public.{made}_info", "public.s_best")]
    query(database, "SELECT hopper.rename_model(%s, 's', replace => true)", made)
    assert query(database, "SELECT iterations FROM s_trials") == [(400,), (400,)]


@pytest.mark.parametrize("by", ["search", "training"])
def test_a_view_keeps_all_that_goes_with_old_models(database, searched, by):
    """What a search left beside them, too, whatever takes their place."""
    before = seeds(database, "s"), query(database, "SELECT parameters FROM s_trials ORDER BY mst_key")
    run = Training(SEARCH % (400, 2) if by == "search" else FIT.replace("'m'", "'s'") % (500, True))
    query(database, "CREATE VIEW on_s AS SELECT mst_key FROM s")
    notices = run.end()
    assert run.error is None
    kept = re.search('the old "s" could not be dropped, it is named "(hopper_old_[0-9]+)" now', notices).group(1)
    assert tables(database, "hopper_old") == SEARCHED
    assert (seeds(database, kept),
            query(database, f"SELECT parameters FROM {kept}_trials ORDER BY mst_key")) == before
    assert (value(database, "SELECT to_regclass('s_trials') IS NULL")) == (by == "training")
    query(database, "DROP VIEW on_s")
    assert value(database, "SELECT hopper.drop_model(%s)", kept) == 7


PACK = ("SELECT hopper.training_preprocessor('slow', 'again', 'label', 'pixels', seed => %d,"
        " validation_fraction => 0.2, replace => true)")
PACKED = ["", "_summary", "_validation", "_validation_summary"]


@pytest.fixture
def packing(database):
    """A function that packs in the place of "again", until `database` gives up lock 1."""
    query(database, "CREATE FUNCTION pause() RETURNS boolean LANGUAGE plpgsql AS"
          " $$ BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN true; END $$")
    query(database, "CREATE VIEW slow AS SELECT label, pixels FROM digits WHERE pause()")
    query(database, PACK % 1)
    query(database, "SELECT pg_advisory_lock(1)")

    def begin(settings=""):
        run = Statement(PACK % 2, settings)
        run.waits(database)
        return run

    yield begin
    query(database, "SELECT pg_advisory_unlock_all()")
    query(database, "SELECT hopper.drop_packed('again')")
    query(database, "DROP VIEW slow")
    query(database, "DROP FUNCTION pause()")
    assert value(database, "SELECT count(*) FROM pg_class WHERE relname LIKE 'hopper\\_%%'") == 0


def packed_names(connection, table):
    return query(connection, f"SELECT t.output_table, v.output_table, v.training_table FROM {table}_summary t,"
                 f" {table}_validation_summary v")


def seed_of(connection, table="again"):
    return value(connection, f"SELECT seed FROM {table}_summary")


def test_packing_waits_for_readers_of_the_old_rows(database, packing, reader):
    # Whoever began to wait first looks for deadlocks first, however slow the machine is.
    run = packing("SET lock_timeout = '200ms'; SET deadlock_timeout = '3s'")
    query(reader, "SET deadlock_timeout = '60s'")
    query(reader, "BEGIN")
    query(reader, "SELECT count(*) FROM again_validation")
    query(database, "SELECT pg_advisory_unlock(1)")
    run.waits(database)
    # All is packed, and the old rows are there: who reads on in other old tables is let go first.
    assert value(reader, "SELECT sum(n) FROM again") > 1000
    run.waits(database)
    time.sleep(0.6)
    query(reader, "COMMIT")
    run.end()
    assert run.error is None
    assert seed_of(database) == 2
    assert packed_names(database, "again") == [("public.again", "public.again_validation", "public.again")]


def test_a_deadlock_does_not_cost_what_was_packed(database, packing, reader):
    run = packing("SET deadlock_timeout = '300ms'")
    query(reader, "SET deadlock_timeout = '60s'")
    query(reader, "BEGIN")
    query(reader, "SELECT count(*) FROM again")
    locker = threading.Thread(target=query, args=(reader, "LOCK TABLE digits"))
    locker.start()
    wait_until(lambda: value(database, "SELECT count(*) FROM pg_locks WHERE relation = 'digits'::regclass"
                             " AND NOT granted") > 0)
    query(database, "SELECT pg_advisory_unlock(1)")
    notices = run.end()
    assert run.error is None
    assert run.rows == [(1797,)]
    made = re.search('"again" could not be replaced, what was computed is in "(hopper_new_[0-9]+)"', notices).group(1)
    assert "deadlock detected" in notices
    assert all(f'"{made}{end}"' in notices for end in PACKED)
    locker.join()
    query(reader, "COMMIT")
    assert seed_of(database) == 1 and seed_of(database, made) == 2
    assert tables(database, "hopper_new") == PACKED
    assert packed_names(database, made) == [(f"public.{made}", f"public.{made}_validation", f"public.{made}")]
    query(database, f"SELECT hopper.fit('{made}', 'of_it', 'architectures', 1, $p${ADAM}$p$, 'batch_size=32',"
          f" num_iterations => 1, validation_table => '{made}_validation')")
    query(database, "SELECT hopper.drop_model('of_it')")
    assert value(database, "SELECT hopper.drop_packed(%s)", made) == 4


def test_a_view_keeps_packed_rows(database, packing):
    run = packing()
    query(database, "CREATE VIEW on_again AS SELECT count(*) FROM again_validation")
    query(database, "GRANT SELECT ON again TO PUBLIC")
    query(database, "SELECT pg_advisory_unlock(1)")
    notices = run.end()
    assert run.error is None
    kept = re.search('the old "again" could not be dropped, it is named "(hopper_old_[0-9]+)" now', notices).group(1)
    assert tables(database, "hopper_old") == PACKED
    assert seed_of(database) == 2 and seed_of(database, kept) == 1
    assert value(database, "SELECT relacl::text ~ '=r/' FROM pg_class WHERE oid = 'again'::regclass")
    query(database, "DROP VIEW on_again")
    for table in PACKED:
        query(database, f"DROP TABLE {kept}{table}")


def test_an_old_evaluation_is_read_while_another_is_made(database, reader):
    evaluate = ("SELECT loss FROM hopper.evaluate('m', 'packed_validation', 'e', mst_key => 1,"
                " confusion_table => 'c', replace => true)")
    query(database, evaluate)
    query(database, "CREATE TABLE old AS SELECT 'c'::regclass::oid c, 'e'::regclass::oid e")
    query(database, "CREATE FUNCTION pause() RETURNS event_trigger LANGUAGE plpgsql AS"
          " $$ BEGIN PERFORM pg_advisory_xact_lock_shared(1); END $$")
    query(database, "CREATE EVENT TRIGGER pause ON ddl_command_end WHEN TAG IN ('CREATE TABLE')"
          " EXECUTE FUNCTION pause()")
    query(database, "SELECT pg_advisory_lock(1)")
    run = Statement(evaluate, "SET lock_timeout = '20s'")
    run.waits(database)
    query(reader, "SET statement_timeout = '10s'")
    query(reader, "BEGIN")
    assert value(reader, "SELECT count(*) FROM e") == 1 and value(reader, "SELECT count(*) FROM c") == 10
    query(database, "SELECT pg_advisory_unlock(1)")
    query(reader, "COMMIT")
    run.end()
    assert run.error is None
    assert query(database, "SELECT c <> 'c'::regclass, e <> 'e'::regclass FROM old") == [(True, True)]
    assert value(database, "SELECT count(*) FROM e") == 1 and value(database, "SELECT count(*) FROM c") == 10
    query(database, "DROP EVENT TRIGGER pause")
    query(database, "DROP FUNCTION pause()")
    query(database, "DROP TABLE e, c, old")


def test_who_fills_a_table_first_is_waited_for(database, reader):
    """Two sessions that fill the same table for the first time: the second one's rows take the place of the first one's."""
    predict = "SELECT hopper.predict('m', 'digits', 'id', 'pixels', 'filled', 'response', mst_key => 1, replace => 'rows')"
    for ending in ("COMMIT", "ROLLBACK"):
        query(reader, "BEGIN")
        assert value(reader, predict) == 1797
        run = Statement(predict)
        run.waits(database)
        query(reader, ending)
        notices = run.end()
        assert run.error is None
        assert 'waiting for other sessions that use "filled"' in notices
        assert value(database, "SELECT count(*) FROM filled") == 1797
        query(database, "DROP TABLE filled")


def test_a_publication_that_does_not_have_the_new_tables(database):
    """It has the old ones, and subscribers would predict with these for ever."""
    query(database, "SELECT hopper.predict('m', 'digits', 'id', output_table => 'predicted'); CREATE TABLE kept AS SELECT * FROM m")
    query(database, 'CREATE PUBLICATION "all of it" FOR TABLE m, m_info, packed, predicted; CREATE PUBLICATION other FOR TABLE kept')
    replaced = {"public.m, public.m_info": FIT.replace("%s", "1", 1).replace("%s", "true"),
                "public.packed": "SELECT hopper.training_preprocessor('digits', 'packed', 'label', 'pixels',"
                " normalizing_const => 16, validation_fraction => 0.2, buffer_size => 100, replace => true)",
                "public.predicted": "SELECT hopper.predict('m', 'digits', 'id', output_table => 'predicted', replace => true)"}
    for tables, call in replaced.items():
        for told in True, False:
            del database.notices[:]
            query(database, call)
            warnings = [notice for notice in database.notices if notice.startswith("WARNING:  publication")]
            assert [f'publication "all of it" does not have the new {tables}\n' in warning for warning in warnings] == [True] * told
            assert all(f'ALTER PUBLICATION "all of it" ADD TABLE {tables};' in warning for warning in warnings)
    query(database, 'DROP PUBLICATION "all of it"; DROP PUBLICATION other; DROP TABLE kept, predicted')
