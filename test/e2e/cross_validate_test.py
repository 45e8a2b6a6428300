"""cross_validate(): folds and metrics are scikit-learn's (test/baseline/generate_folds.py), and nothing is known of a fold that is tested."""

import json
import statistics
import threading

import psycopg2
import pytest
from digits import GREENPLUM, SOURCE, connect, create_database, drop_database, outputs, pid, query, value, wait_until

DATABASE = "hopper_cross_validate"
TABLE = json.loads((SOURCE / "test" / "baseline" / "folds.json").read_text())
# Without the epoch that is best for rows of validation.
PLAIN = '{"hidden": [4], "restore_best": false, "batch_size": 32}'


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    query(connection, "SET client_min_messages = error")
    query(connection, "CREATE TABLE patients (bmi float8, pressure float8, s5 float8, progress float8, late boolean, hospital text)")
    for row in TABLE["grouped"]["rows"]:
        query(connection, "INSERT INTO patients VALUES (%s, %s, %s, %s, %s, %s)", *row)
    yield connection
    connection.close()
    drop_database(DATABASE)


@pytest.mark.parametrize("case", TABLE["stratified"])
def test_classes_are_dealt_as_by_stratified_k_fold(database, case):
    """The column that holds the folds has a name of its own."""
    classes = [i for i, n in enumerate(case["counts"]) for _ in range(n)]
    query(database, "DROP TABLE IF EXISTS dealt, dealt_folds, dealt_means, labelled")
    query(database, "CREATE TABLE labelled AS SELECT i::text AS id, y, sin(i) AS fold FROM unnest(%s::int[]) WITH ORDINALITY AS u(y, i)"
                    " UNION ALL SELECT 'none', NULL, 0", classes)
    query(database, "ALTER TABLE labelled ADD PRIMARY KEY (id)")
    query(database, "SELECT hopper.cross_validate('labelled', 'dealt', 'y', folds => %s, num_iterations => 1, recipe => 'realmlp_small',"
                    " options => %s, validation_fraction => 0)", len(case["folds"]), PLAIN)
    counts = query(database, "SELECT array_agg(n ORDER BY y) FROM (SELECT f, y, count(*)::int AS n FROM"
                             " (SELECT fold_ AS f, y FROM dealt_folds) r GROUP BY 1, 2) c GROUP BY f")
    assert sorted(row for row, in counts) == case["folds"]
    # Each row is tested once.
    total = sum(case["counts"])
    assert query(database, "SELECT sum(test_rows), min(training_rows + test_rows), max(training_rows + test_rows) FROM dealt"
                           " WHERE metric = 'loss'") == [(total, total, total)]
    assert value(database, "SELECT count(DISTINCT id) FROM dealt_folds") == total


@pytest.mark.parametrize("made", ["", "_folds", "_fold1_rows", "_fold2_test_rows", "_fold1_packed", "_fold2_packed_validation_summary", "_fold1_test",
                                  "_fold2_test_summary", "_fold1_networks", "_fold2_configs", "_fold1_configs_summary", "_fold2_models", "_fold1_models_info"])
def test_what_is_there_is_refused_before_a_row_is_read(database, made):
    query(database, "CREATE OR REPLACE FUNCTION unreadable(float8) RETURNS float8 LANGUAGE plpgsql AS $$ BEGIN RAISE 'a row was read'; END $$")
    query(database, "CREATE OR REPLACE VIEW unreadable_rows AS SELECT unreadable(bmi) AS bmi, late FROM patients")
    call = "SELECT hopper.cross_validate('unreadable_rows', 'taken', 'late', folds => 2, num_iterations => 1, recipe => 'resnet')"
    query(database, f"CREATE TABLE taken{made} (mine integer)")
    with pytest.raises(psycopg2.errors.DuplicateTable, match=f'"taken{made}" already exists'):
        query(database, call)
    query(database, f"DROP TABLE taken{made}")
    with pytest.raises(psycopg2.Error, match="a row was read"):
        query(database, call)


@pytest.mark.parametrize("label, loss, metrics", [("progress", "mse", ["root_mean_squared_error"]), ("late", "binary_crossentropy", ["accuracy", "auc"])])
def test_a_linear_model_has_scikit_learns_metrics(database, label, loss, metrics):
    """A group is a fold here; statistics of the columns are those of the others."""
    query(database, "SELECT hopper.training_preprocessor('patients', %s, %s, 'bmi, pressure, s5')", f"all_{label}", label)
    network = value(database, "SELECT hopper.mlp('networks', %s, '{}', name => %s)", f"all_{label}", label)
    query(database, "SELECT hopper.load_model_selection_table('networks', %s, ARRAY[%s], ARRAY[%s], ARRAY['batch_size=512'])", f"linear_{label}", network,
          f"loss='{loss}', metrics={metrics}, optimizer='Adam(lr=0.02)'")
    rows = query(database, f"SELECT metric, mean, deviation, fold_values FROM hopper.cross_validate('patients', 'by_{label}', '{label}',"
                           f" 'bmi, pressure, s5', 3, 150, 'linear_{label}', group_varname => 'hospital',"
                           " treatments => '{\"bmi\": \"standardize\", \"pressure\": \"standardize\", \"s5\": \"standardize\"}')")
    fold_of = dict(query(database, f"SELECT DISTINCT hospital, fold FROM by_{label}_folds"))
    assert fold_of == {"c": 1, "a": 2, "b": 3}  # the largest first
    for metric, mean, deviation, values in rows:
        assert mean == pytest.approx(statistics.mean(values)) and deviation == pytest.approx(statistics.stdev(values))
        if metric == "loss" and label == "progress":
            continue  # of standardised labels
        for hospital, fold in fold_of.items():
            assert values[fold - 1] == pytest.approx(TABLE["grouped"]["folds"][hospital][metric], rel=3e-3)
    assert [row[0] for row in rows] == [*sorted(metrics), "loss"]


def test_a_fold_by_hand_has_the_same_bits(database):
    """Nothing but the other folds' rows has a part in it; the folds are those of the seed."""
    query(database, "CREATE TABLE shops AS SELECT i AS id, (ARRAY['n', 's', 'e', NULL])[1 + i % 4] AS region, sin(i * 1.7) * 10 ^ (i % 3) AS income,"
                    " i % 3 + sin(i) > 1 AS open FROM generate_series(1, 400) AS i")
    query(database, "ALTER TABLE shops ADD PRIMARY KEY (id)")
    options = ['{"hidden": [8], "batch_size": 32, "iterations": 3, "metrics": ["auc"], "monitor": "val_auc"}', '{"batch_size": 64, "iterations": 3, "metrics": ["auc"], "monitor": "val_auc"}']
    rows = query(database, f"SELECT mst_key, metric, rank, mean, fold_values FROM hopper.cross_validate('shops', 'crossed', 'open', folds => 3,"
                           f" num_iterations => 3, recipe => 'realmlp', options => '[{','.join(options)}]', seed => 4)")
    query(database, "CREATE VIEW others AS SELECT id, region, income, open FROM crossed_folds WHERE fold <> 2")
    query(database, "CREATE VIEW kept AS SELECT * FROM crossed_folds WHERE fold = 2")
    query(database, "SELECT hopper.training_preprocessor('others', 'hand', 'open', '*', validation_fraction => 0.2, seed => 4,"
                    " treatments => '{\"id\": \"drop\"}')")
    query(database, "SELECT hopper.validation_preprocessor('kept', 'hand_test', packed_table => 'hand')")
    for i, text in enumerate(options, 1):
        network = query(database, "SELECT * FROM hopper.tabular('by_hand', 'hand', 'realmlp', %s, %s)", text, str(i))[0]
        query(database, f"SELECT hopper.load_model_selection_table('by_hand', 'hand{i}', ARRAY[{network[0]}], ARRAY[%s], ARRAY[%s])", *network[1:3])
    query(database, "INSERT INTO hand1 (model_id, compile_params, fit_params) SELECT model_id, compile_params, fit_params FROM hand2")
    query(database, "SELECT hopper.fit_multiple_model('hand', 'handy', 'hand1', 3, validation_table => 'hand_validation', seed => 4)")
    for key, metric, rank, mean, values in rows:
        loss, auc = query(database, f"SELECT loss, metric FROM hopper.evaluate('handy', 'hand_test', mst_key => {key})")[0]
        assert values[1] == (loss if metric == "loss" else auc)
        means = sorted((row[3] for row in rows if row[1] == metric), reverse=metric == "auc")
        assert rank == means.index(mean) + 1
    assert value(database, "SELECT count(*) FROM pg_class WHERE relname LIKE 'crossed_fold_\\_%%'") == 0
    # Another seed, other folds.
    query(database, "SELECT hopper.cross_validate('shops', 'recrossed', 'open', folds => 3, num_iterations => 1, recipe => 'realmlp_small',"
                    f" options => '{PLAIN}', validation_fraction => 0, seed => 5)")
    assert 0 < value(database, "SELECT count(*) FROM crossed_folds a JOIN recrossed_folds b USING (id) WHERE a.fold = b.fold") < 250


def test_groups_and_equal_rows_are_not_separated(database):
    """Sizes of folds differ by no more than the largest group has."""
    query(database, 'CREATE TABLE visits AS SELECT floor(sqrt(i)) AS "Family", i % 40 AS seen, 0.5 * (i % 2) AS bought FROM generate_series(1, 900) AS i')
    for name, more, key in (("kin", ", group_varname => 'Family'", '"Family"'), ("alike", "", "seen, bought")):
        columns = "'seen'" if name == "kin" else "'*', treatments => '{\"Family\": \"drop\"}'"
        source = "visits" if name == "kin" else "twice"
        query(database, "CREATE OR REPLACE VIEW twice AS SELECT seen, bought, 0 AS \"Family\" FROM visits")
        query(database, f"SELECT hopper.cross_validate('{source}', '{name}', 'bought', {columns}, num_iterations => 1, recipe => 'realmlp_small',"
                        f" options => '{PLAIN}', validation_fraction => 0{more})")
        assert value(database, f"SELECT max(n) FROM (SELECT count(DISTINCT fold) AS n FROM {name}_folds GROUP BY {key}) AS g") == 1
        sizes = [n for n, in query(database, f"SELECT count(*) FROM {name}_folds GROUP BY fold")]
        assert len(sizes) == 5 and sum(sizes) == 900
        assert max(sizes) - min(sizes) <= value(database, f"SELECT max(n) FROM (SELECT count(*) AS n FROM {name}_folds GROUP BY {key}) AS g")
    # Classes of the same features, too.
    query(database, "CREATE VIEW torn AS SELECT 'place ' || i % 30 AS place, i % 7 < 3 AS yes FROM generate_series(1, 900) AS i")
    query(database, "SELECT hopper.cross_validate('torn', 'torn_apart', 'yes', num_iterations => 1, recipe => 'realmlp_small',"
                    f" options => '{PLAIN}', validation_fraction => 0)")
    assert value(database, "SELECT max(n) FROM (SELECT count(DISTINCT fold) AS n FROM torn_apart_folds GROUP BY place) AS g") == 1


@pytest.mark.parametrize("arguments, error", [
    ("'patients', NULL, 'late', recipe => 'realmlp'", "must not be NULL"), ("'nowhere', 'c', 'late', recipe => 'realmlp'", 'relation "nowhere" does not exist'),
    ("'patients', 'c', 'lat', recipe => 'realmlp'", 'column "lat" of "patients" does not exist'),
    ("'patients', 'c', 'lat'", 'column "lat" of "patients" does not exist'),
    ("'patients', 'c', 'late', recipe => 'realmlp', group_varname => 'ward'", 'column "ward" of "patients" does not exist'),
    ("'patients', 'A C', 'late', recipe => 'realmlp'", 'argument "output_table" is not a valid table name: A C'),
    ("'patients', repeat('c', 30), 'late', recipe => 'realmlp'", 'table name "c+" is too long'),
    ("'patients', 'c', 'late', folds => 1, recipe => 'realmlp'", "folds must be from 2 to 100"),
    ("'patients', 'c', 'late', num_iterations => 0, recipe => 'realmlp'", "num_iterations must be 1 or more"),
    ("'patients', 'c', 'late'", "either model_selection_table or recipe must be given"),
    ("'patients', 'c', 'late', recipe => 'realmlp', model_selection_table => 's'", "either model_selection_table or recipe must be given"),
    ("'patients', 'c', 'late', recipe => 'realmlp', options => '[1]'", "options must be a JSON object"),
    ("'patients', 'c', 'late', recipe => 'realmlp', options => '[]'", "options must be a JSON object"),
    ("'patients', 'c', 'late', recipe => 'realmlp', options => '{\"learning_rate\": [0.1, 0.2]}'", "options hold a range"),
    ("'patients', 'c', 'late', recipe => 'nonsense'", "nonsense"), ("'patients', 'c', 'late', recipe => 'realmlp', label_kind => 'text'", "label_kind"),
    ("'patients', 'c', 'late', recipe => 'realmlp', group_varname => 'hospital'", '"patients" has too few groups for 5 folds'),
    ("'patients', 'c', 'hospital', folds => 2, recipe => 'realmlp', group_varname => 'hospital'", 'class "a" of column "hospital" lies in one fold alone'),
    ("'patients', 'c', 'late', '*', recipe => 'realmlp', treatments => '{\"wing\": \"log\"}'", "wing"),
    ("'patients', 'c', 'late', 'wing', recipe => 'realmlp'", r'column "wing" of relation "patients \(fold 1\)" does not exist'),
    ("'patients', 'c', 'late', model_selection_table => 'nowhere'", "nowhere")])
def test_what_is_refused(database, arguments, error):
    before, path = outputs(database), value(database, "SHOW search_path")
    with pytest.raises(psycopg2.Error, match=error):
        query(database, f"SELECT hopper.cross_validate({arguments})")
    assert outputs(database) == before
    assert value(database, "SHOW search_path") == path


def test_a_line_for_each_fold_and_none_of_tables_that_are_gone(database):
    query(database, "SET client_min_messages = notice")
    database.notices.clear()
    query(database, f"SELECT hopper.cross_validate('patients', 'told', 'late', folds => 2, num_iterations => 1, recipe => 'realmlp', options => '{PLAIN}')")
    assert value(database, "SHOW client_min_messages") == "notice"
    query(database, "SET client_min_messages = error")
    rows, half = value(database, "SELECT count(*) FROM patients"), value(database, "SELECT count(*) FROM told_folds WHERE fold = 2")
    # What packing tells of columns and labels is told of the first fold.
    assert [told.split('"')[1] for told in database.notices if " rows of " in told] == ["patients (fold 1)"]
    assert "told_fold" not in "".join(database.notices)
    assert [told for told in database.notices if told.startswith("NOTICE:  fold")] == [
        f"NOTICE:  fold 1 of 2: trained on {half} rows, tested on {rows - half}\n",
        f"NOTICE:  fold 2 of 2: trained on {rows - half} rows, tested on {half}\n"]


# --- all folds at the same time ---

@pytest.fixture(scope="module")
def three(database):
    """Data of unequal sizes with the same two networks, and what each is trained to alone: digests of states, and metrics."""
    networks = ["'{24}'", "'{200,200}'"]
    for n in (1, 2, 3):
        query(database, f"CREATE TABLE part{n} AS SELECT sin(i * {n}) AS a, cos(i * 1.7) AS b, i % 3 = {n - 1} AS y FROM generate_series(1, {800 * n}) AS i")
        query(database, f"SELECT hopper.training_preprocessor('part{n}', 'part{n}_packed', 'y', 'a, b', validation_fraction => 0.25, partitions => 4)")
        ids = [value(database, f"SELECT hopper.mlp('part_networks', 'part{n}_packed', {text})") for text in networks]
        query(database, f"SELECT hopper.load_model_selection_table('part_networks', 'part{n}_configs', ARRAY{ids}, ARRAY["
                        "$$loss='binary_crossentropy', metrics=['auc'], optimizer='Adam(lr=0.01)'$$], ARRAY['batch_size=16, epochs=1', 'batch_size=64'])")
        query(database, FIT.format(n, f"alone{n}", 4))
    return [results(database, f"alone{n}") for n in (1, 2, 3)]


FIT = ("SELECT hopper.fit_multiple_model('part{0}_packed', '{1}', 'part{0}_configs', {2}, validation_table := 'part{0}_packed_validation',"
       " metrics_compute_frequency := 2, seed := 3)")


def results(database, models):
    return query(database, "SELECT mst_key, state_digest, training_loss, training_metrics, validation_loss, validation_metrics, metrics_iters"
                           f" FROM {models}_info ORDER BY 1")


def together(connection, name, iterations=4):
    query(connection, "SELECT hopper.fit_together(%s)", [FIT.format(n, f"{name}{n}", iterations) for n in (1, 2, 3)])
    return [results(connection, f"{name}{n}") for n in (1, 2, 3)]


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_each_of_those_that_train_together_has_the_bits_that_it_has_alone(database, three, threads):
    query(database, f"SET hopper.threads = {threads}")
    assert together(database, f"by{threads}_") == three
    query(database, "RESET hopper.threads")
    assert all(len({row[1] for row in rows}) == 4 for rows in three)


@pytest.mark.skipif(GREENPLUM, reason="segments train one after another")
def test_what_does_not_fit_into_memory_together_trains_in_portions_with_the_same_bits(database, three):
    at_once = {}
    query(database, "SET hopper.threads = 16")
    for limit in (1000, 40, 20, 10, 7, 5):
        query(database, f"SET hopper.memory_limit = '{limit}MB'")
        at_once[limit] = value(database, "SELECT hopper.fits_at_once(%s)", [FIT.format(3, "none", 4)])
        if at_once[limit] < 3:
            break
    # Four models for each thread are enough.
    assert sorted(at_once.values(), reverse=True) == list(at_once.values()) and at_once[1000] == 16
    assert at_once[limit] in (1, 2)
    assert together(database, "tight") == three
    query(database, "RESET hopper.memory_limit; RESET hopper.threads")


def test_what_cannot_be_trained_together_is_refused(database, three):
    fit = FIT.format(1, "refused", 1)
    for statements, error in (([fit, None], "must not be NULL"), ([fit, "SELECT 1"], "the statement trains nothing"),
                              ([fit, "DROP TABLE part1"], "one SELECT"), ([fit, f"{fit}, {fit[7:]}"], "each statement has to call"),
                              ([fit, FIT.format(1, "refused", 1)], '"refused" already exists'), ([fit, FIT.format(4, "refused", 1)], "part4_packed")):
        with pytest.raises(psycopg2.Error, match=error):
            query(database, "SELECT hopper.fit_together(%s)", statements)
        # What is called next trains as always.
        assert outputs(database, "refused%") == []
        query(database, FIT.format(1, "taken", 1))
        query(database, "SELECT hopper.drop_model('taken')")


@pytest.mark.skipif(GREENPLUM, reason="segments train one after another")
def test_folds_are_seen_to_train_together_and_are_cancelled(database):
    session = connect(DATABASE)
    process, failed = pid(session), []

    def cross():
        try:
            query(session, f"SELECT hopper.cross_validate('patients', 'endless', 'late', folds => 5, num_iterations => 10000000, recipe => 'realmlp_small',"
                           f" options => '{PLAIN}', validation_fraction => 0)")
        except psycopg2.Error as error:
            failed.append(error)
    thread = threading.Thread(target=cross)
    thread.start()
    seen = []

    def trains():
        seen[:] = query(database, "SELECT trials, trials_training, iterations, iterations_total FROM hopper.progress WHERE pid = %s", process)
        return bool(seen) and seen[0][2] > 100
    wait_until(trains)
    assert seen[0][:2] == (5, 5) and seen[0][3] == 5 * 10000000
    query(database, "SELECT pg_cancel_backend(%s)", process)
    thread.join(20)
    assert not thread.is_alive() and failed[0].pgcode == "57014" and failed[0].diag.context is None
    assert outputs(database, "endless%") == [] and value(session, "SELECT count(*) FROM hopper.progress WHERE pid = %s", process) == 0
    query(session, f"SELECT hopper.cross_validate('patients', 'ends', 'late', folds => 2, num_iterations => 1, recipe => 'realmlp_small', options => '{PLAIN}',"
                   " validation_fraction => 0)")
    session.close()


def test_the_error_of_a_fold_names_it(database):
    """Rows of the larger group overflow float32: what is trained on them fails, the other fold does not."""
    query(database, "CREATE TABLE shifts AS SELECT CASE WHEN i % 3 = 0 THEN 'night' ELSE 'day' END AS shift, (1e30 * (i % 3) + i)::float8 AS load, sin(i) AS stops"
                    " FROM generate_series(1, 90) AS i")
    query(database, "SELECT hopper.training_preprocessor('shifts', 'shifts_packed', 'stops', 'load', treatments => '{\"load\": \"none\"}')")
    network = value(database, "SELECT hopper.mlp('shift_networks', 'shifts_packed', '{}')")
    query(database, f"SELECT hopper.load_model_selection_table('shift_networks', 'shift_configs', ARRAY[{network}],"
                    " ARRAY[$$loss='mse', optimizer='SGD(lr=1e-5)'$$], ARRAY['batch_size=8'])")
    with pytest.raises(psycopg2.Error, match='no configuration of "shifted_fold2_models" finished') as caught:
        # Nobody waits for the other one to end where they train together.
        query(database, f"SELECT hopper.cross_validate('shifts', 'shifted', 'stops', 'load', 2, {2 if GREENPLUM else 50000000}, 'shift_configs',"
                        " group_varname => 'shift', treatments => '{\"load\": \"none\"}')")
    assert "became" in caught.value.diag.message_detail
    assert outputs(database, "shifted%") == []
