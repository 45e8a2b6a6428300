"""Tables as they are: columns become what scikit-learn's transformers make of them, and rows of the
table are predicted as packed ones are."""

import json
import pathlib

import numpy
import psycopg2
import pytest
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer, RobustScaler, StandardScaler

from digits import GREENPLUM, create_database, drop_database, query, value

DATABASE = "hopper_treatments"
ROWS = 500
TREATMENTS = """{"age": "standardize", "hours": {"treatment": "quantile", "quantiles": 20},
    "plan": {"treatment": "one_hot", "min_frequency": 10}}"""


def table():
    """Rows of id, age, income, hours, plan, member, label, fold."""
    random = numpy.random.default_rng(29)
    age = random.integers(18, 90, ROWS)
    income = numpy.round(random.lognormal(8, 1, ROWS), 2)
    income[random.random(ROWS) < 0.1] = numpy.nan
    hours = numpy.round(random.exponential(30, ROWS), 1)
    plan = random.choice(["basic", "gold", "silver", "rare", None], ROWS, p=[0.5, 0.2, 0.17, 0.01, 0.12])
    member = random.random(ROWS) < 0.3
    fold = random.random(ROWS) < 0.2
    plan[numpy.flatnonzero(fold)[:3]] = "only for validation"
    label = numpy.where(age + 10 * member + random.normal(0, 8, ROWS) > 55, "yes", "no")
    return [(i, int(age[i]), None if numpy.isnan(income[i]) else float(income[i]), float(hours[i]),
             plan[i], bool(member[i]), str(label[i]), bool(fold[i])) for i in range(ROWS)]


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    query(connection, "CREATE TABLE people (id int PRIMARY KEY, age int, income float8, hours real,"
          " plan text, member boolean, label text, fold boolean)")
    for row in table():
        query(connection, "INSERT INTO people VALUES (%s, %s, %s, %s, %s, %s, %s, %s)", *row)
    yield connection
    connection.close()
    drop_database(DATABASE)


def expected_rows(rows, train):
    """What scikit-learn makes of the rows, fitted on others."""
    def column(at, of):
        return numpy.array([row[at] for row in of], dtype=object).reshape(-1, 1)

    def numbers(at, of):
        return numpy.array([[numpy.nan if row[at] is None else row[at]] for row in of], dtype=float)

    age = StandardScaler().fit(numbers(1, train)).transform(numbers(1, rows))
    known = numbers(2, train)
    known = known[~numpy.isnan(known)].reshape(-1, 1)
    imputed = SimpleImputer(strategy="median").fit(numbers(2, train)).transform(numbers(2, rows))
    income = RobustScaler().fit(known).transform(imputed)
    income = income / numpy.sqrt(1 + (income / 3) ** 2)
    missing = numpy.isnan(numbers(2, rows))
    # What the server holds of a real.
    hours = QuantileTransformer(n_quantiles=20, output_distribution="normal", subsample=None).fit(
        numbers(3, train).astype(numpy.float32).astype(float)).transform(
            numbers(3, rows).astype(numpy.float32).astype(float))
    encoder = OneHotEncoder(min_frequency=10, handle_unknown="infrequent_if_exist",
                            sparse_output=False).fit(column(4, train))
    names = list(encoder.get_feature_names_out(["p"]))
    plan = encoder.transform(column(4, rows))[:, [names.index(name) for name in (
        "p_basic", "p_gold", "p_silver", "p_infrequent_sklearn", "p_None")]]
    member = numbers(5, rows)
    return numpy.concatenate([age, income, missing, hours, plan, member], axis=1)


def packed_rows(connection, name):
    cursor = connection.cursor()
    cursor.execute(f"SELECT features FROM {name} ORDER BY buffer_id")
    return numpy.concatenate([numpy.frombuffer(row[0], dtype="<f4").reshape(-1, 10)
                              for row in cursor.fetchall()])


def notices(connection, text):
    """What the server says to it, each with its detail."""
    del connection.notices[:]
    query(connection, text)
    return list(connection.notices)


def sorted_rows(rows):
    rows = numpy.asarray(rows, dtype=float)
    return rows[numpy.lexsort(numpy.round(rows, 4).T)]


def test_columns_become_what_scikit_learn_makes_of_them(database):
    query(database, "SELECT hopper.training_preprocessor('people', 'people_packed', 'label', '*',"
          " fold_column => 'fold', treatments => %s)", TREATMENTS)
    rows = table()
    train = [row for row in rows if not row[7]]
    put_aside = [row for row in rows if row[7]]
    numpy.testing.assert_allclose(sorted_rows(packed_rows(database, "people_packed")),
                                  sorted_rows(expected_rows(train, train)), rtol=2e-5, atol=2e-5)
    numpy.testing.assert_allclose(sorted_rows(packed_rows(database, "people_packed_validation")),
                                  sorted_rows(expected_rows(put_aside, train)), rtol=2e-5, atol=2e-5)


def test_rows_of_the_table_are_predicted_as_packed_ones(database):
    query(database, "SELECT hopper.training_preprocessor('people', 'chosen_packed', 'label', '*',"
          " fold_column => 'fold', treatments => %s)", TREATMENTS)
    model = value(database, "SELECT hopper.mlp('networks', 'chosen_packed', '{16}')")
    query(database, "SELECT hopper.fit('chosen_packed', 'models', 'networks', %s, 'loss=binary_crossentropy,"
          " optimizer=Adam(lr=0.01), metrics=[accuracy]', 'batch_size=32, epochs=1', 15,"
          " validation_table => 'chosen_packed_validation')", model)
    query(database, "SELECT hopper.predict('models', 'people', 'id', output_table => 'predicted',"
          " pred_type => 'response')")
    right = value(database, "SELECT avg((predicted_label = label)::int)::float8 FROM predicted"
                  " JOIN people USING (id) WHERE fold")
    measured = value(database, "SELECT metric FROM hopper.evaluate('models', 'chosen_packed_validation')")
    assert right == pytest.approx(measured, abs=1e-6)
    assert right > 0.75
    query(database, "SELECT hopper.create_predict_function('models', 'guess')")
    guessed = "SELECT count(*) FROM people JOIN predicted USING (id) WHERE id < 50 AND" \
              " guess(age, income, hours, plan, member) = predicted_label"
    if not GREENPLUM:
        assert value(database, guessed) == 50
        return
    with pytest.raises(psycopg2.errors.FeatureNotSupported, match="where they lie on the segments"):
        query(database, guessed)
    row = query(database, "SELECT age, income, hours, plan, member, predicted_label FROM people JOIN predicted USING (id) WHERE id = 7")[0]
    assert value(database, "SELECT guess(%s, %s, %s, %s, %s)", *row[:-1]) == row[-1]


def test_labels_are_scaled_each_and_given_back_in_their_units(database):
    """A number, a whole number of many values and classes; with weights, and one label alone with weights."""
    query(database, "CREATE VIEW homes AS SELECT id, age, plan, member, label, fold, 250000.0 + 1000 * age + 20000 * member::int AS price,"
          " 2 * age AS visits, (1 + age / 50)::real AS weight FROM people")
    said = "".join(notices(database, "SELECT hopper.training_preprocessor('homes', 'homes_packed', 'price, label, visits',"
                                     " 'age, plan, member', fold_column => 'fold', weight_varname => 'weight')"))
    assert 'label column "visits" of "homes" holds 20 whole numbers or more' in said and "Networks come to large numbers" not in said
    rows = query(database, "SELECT price::float8, visits::float8, fold, label, weight FROM homes")
    train, aside = ([row for row in rows if row[2] is fold] for fold in (False, True))
    scaler = StandardScaler().fit([row[:2] for row in train])
    outputs = {each.get("name"): each for each in json.loads(value(database, "SELECT outputs FROM homes_packed_summary"))}
    for i, name in enumerate(["price", "visits"]):
        values = [row[i] for row in train]
        assert [outputs[name][key] for key in ("mean", "deviation", "least", "largest")] == pytest.approx(
            [scaler.mean_[i], scaler.scale_[i], min(values), max(values)], rel=1e-12)
    assert outputs["label"]["classes"] == ["no", "yes"]
    for name, of in (("homes_packed", train), ("homes_packed_validation", aside)):
        packed = numpy.concatenate([numpy.frombuffer(bytes(part), numpy.float32).reshape(-1, 4)
                                    for part, in query(database, f"SELECT labels FROM {name}")])
        scaled = scaler.transform([row[:2] for row in of])
        expected = [(price, row[3] == "yes", visits, row[4]) for (price, visits), row in zip(scaled, of)]
        numpy.testing.assert_allclose(sorted_rows(packed), sorted_rows(expected), rtol=1e-6, atol=1e-6)

    network = value(database, "SELECT hopper.mlp('networks', 'homes_packed', '{16}')")
    compile_params = "loss={'price': 'mse', 'label': 'binary_crossentropy', 'visits': 'mse'}, optimizer='Adam(lr=0.02)', metrics=%s"
    fit = "SELECT hopper.fit('homes_packed', 'homes_models', 'networks', %s, %s, 'batch_size=32', 20, validation_table => 'homes_packed_validation')"
    query(database, fit, network, compile_params % "{'price': ['mae', 'rmse'], 'label': ['accuracy'], 'visits': ['mse']}")
    query(database, "SELECT hopper.predict('homes_models', 'homes', 'id', output_table => 'homes_predicted')")
    predicted = query(database, "SELECT predicted_price, price::float8, predicted_visits, visits::float8, predicted_label = label"
                                " FROM homes_predicted JOIN homes USING (id) WHERE fold")
    price, visits = (numpy.array([row[i] - row[i + 1] for row in predicted]) for i in (0, 2))
    assert numpy.abs(price).mean() < 5000
    shown = dict(zip(*query(database, "SELECT metrics_type, metrics FROM hopper.evaluate('homes_models', 'homes_packed_validation')")[0]))
    assert shown["price_mae"] == pytest.approx(numpy.abs(price).mean(), rel=1e-4)
    assert shown["price_rmse"] == pytest.approx(numpy.sqrt((price ** 2).mean()), rel=1e-4)
    assert shown["visits_mse"] == pytest.approx((visits ** 2).mean(), rel=1e-4)
    assert shown["label_accuracy"] == pytest.approx(numpy.mean([row[4] for row in predicted]), abs=1e-6)
    assert shown["price_loss"] < 1  # of what is trained
    for at in range(2):
        column = ["price", "visits"][at]
        assert value(database, f"SELECT bool_and(predicted_{column} BETWEEN (o.v->>'least')::float8 AND (o.v->>'largest')::float8)"
                               " FROM homes_predicted, homes_packed_summary, json_array_elements(outputs::json) AS o (v)"
                               " WHERE o.v->>'name' = %s", column)
    single = dict(query(database, "SELECT output, value FROM hopper.predict_row('homes_models', (SELECT h FROM homes AS h WHERE id = 7))"
                                  " WHERE value IS NOT NULL"))
    assert (single["price"], single["visits"]) == pytest.approx(
        query(database, "SELECT predicted_price, predicted_visits FROM homes_predicted WHERE id = 7")[0])
    with pytest.raises(psycopg2.Error, match='metric "price_mape" cannot be given in the unit of the labels'):
        query(database, fit.replace("homes_models", "others"), network, compile_params % "{'price': ['mape']}")

    # By its name a label is left as it is, as it is by itself.
    query(database, "SELECT hopper.training_preprocessor('homes', 'plain_homes', 'price, visits', 'age, plan', label_kind => 'value',"
                    """ treatments => '{"visits": "none"}')""")
    scaled = value(database, "SELECT array_agg((o.v->>'deviation') IS NOT NULL) FROM plain_homes_summary, json_array_elements(outputs::json) AS o (v)")
    assert scaled == [True, False]
    query(database, "SELECT hopper.training_preprocessor('homes', 'weighted_homes', 'price', 'age, plan, member', weight_varname => 'weight')")
    network = value(database, "SELECT hopper.mlp('networks', 'weighted_homes', '{16}')")
    query(database, "SELECT hopper.fit('weighted_homes', 'weighted_models', 'networks', %s, 'loss=mse, optimizer=Adam(lr=0.02), metrics=[mae]',"
                    " 'batch_size=32', 20)", network)
    query(database, "SELECT hopper.predict('weighted_models', 'homes', 'id', output_table => 'weighted_predicted')")
    error = value(database, "SELECT avg(abs(predicted_price - price))::float8 FROM weighted_predicted JOIN homes USING (id)")
    assert error < 5000
    assert value(database, "SELECT metrics[1] FROM hopper.evaluate('weighted_models', 'weighted_homes')") == pytest.approx(error, rel=0.02)


def test_what_is_left_out_is_told(database):
    query(database, "CREATE VIEW more AS SELECT p.*, 7 AS constant, 'note ' || id AS note,"
          " NULL::real AS nothing, '{}'::json AS document FROM people p")
    said = notices(database, "SELECT hopper.training_preprocessor('more', 'more_packed', 'label', '*',"
                   " fold_column => 'fold', treatments => '{\"id\": \"drop\"}')")
    for words in ('"document" (json)', 'column "constant" is left out: it holds one value only',
                  'column "note" is left out: it holds no category often enough',
                  'column "nothing" is left out: it holds nothing but NULL'):
        assert any(words in notice for notice in said), (words, said)
    assert not any("nothing but NULL\nHINT" in notice for notice in said), said
    said = notices(database, "SELECT hopper.training_preprocessor('people', 'by_id', 'id', 'age, plan')")
    assert any("they are taken for numbers to be predicted" in notice for notice in said), said


def test_what_is_no_number_counts_as_null(database):
    """The packed bytes and the rows to predict are those of a table that has NULL instead."""
    columns = {"r": ("real", "robust"), "d": ("float8", "standardize"), "q": ("numeric", "quantile"), "l": ("float8", "log"), "p": ("numeric", "none")}
    for missing in ("NULL", "NaN"):
        query(database, f"CREATE TABLE gaps_{missing} AS SELECT id, label, fold, age, "
              + ", ".join(f"CASE WHEN id % 9 = {at} THEN {'NULL' if missing == 'NULL' else repr(missing)} ELSE (id % 97 - 40)::{kind} END AS {name}"
                          for at, (name, (kind, _)) in enumerate(columns.items()))
              + " FROM people")
    treated = json.dumps({name: treatment for name, (_, treatment) in columns.items()})
    said = {missing: notices(database, f"SELECT hopper.training_preprocessor('gaps_{missing}', 'filled_{missing}', 'label', 'age, r, d, q, l, p',"
                             f" fold_column => 'fold', treatments => '{treated}')") for missing in ("NULL", "NaN")}
    rows = value(database, "SELECT count(*) FROM people WHERE NOT fold AND id % 9 = 1")
    assert f'NOTICE:  column "d" holds NaN in {rows} rows, which counts as NULL\n' in said["NaN"]
    assert sum("holds NaN" in notice for notice in said["NaN"]) == 5 and not any("holds NaN" in notice for notice in said["NULL"])
    described, packed = ([query(database, text.format(missing)) for missing in ("NULL", "NaN")] for text in (
        "SELECT feature, treatment, on_null, slots, statistics FROM hopper.describe_features('filled_{}')",
        "SELECT md5(features) FROM filled_{} ORDER BY buffer_id"))
    assert described[0] == described[1] and [row[2] for row in described[0][1:]] == ["indicator"] * 5
    assert packed[0] == packed[1]
    given = "SELECT features FROM hopper.transform_rows('filled_NULL', 'gaps_{}') ORDER BY 1"
    assert query(database, given.format("NaN")) == query(database, given.format("NULL"))
    # Where NULL is refused it is the value that cannot be used.
    with pytest.raises(psycopg2.errors.InvalidParameterValue, match=f'column "d" of "[^"]+" holds NULL in {rows} rows, which its treatment refuses'):
        query(database, "SELECT hopper.training_preprocessor('gaps_NaN', 'refused', 'label', 'age, d', fold_column => 'fold',"
              " treatments => '{\"d\": {\"null\": \"refuse\"}}')")


def test_a_column_that_is_dropped_by_its_name_is_not_told(database):
    query(database, "CREATE VIEW keyed AS SELECT md5(id::text)::uuid AS key, age, label, fold FROM people")
    for dropped in ('"drop"', '{"treatment": "drop"}'):
        said = notices(database, f"SELECT hopper.training_preprocessor('keyed', 'keyed_packed', 'label', '*', fold_column => 'fold',"
                       f" treatments => '{{\"key\": {dropped}}}', replace => true)")
        assert not any("left out" in notice for notice in said), said
    said = notices(database, "SELECT hopper.training_preprocessor('keyed', 'keyed_packed', 'label', '*', fold_column => 'fold', replace => true)")
    assert any('"key" (uuid)' in notice for notice in said), said


KERAS = json.loads((pathlib.Path(__file__).parent.parent / "baseline" / "keras_words.json").read_text())["cases"]


def test_words_have_the_ids_of_keras(database):
    """The ids are of keras.layers.TextVectorization, test/baseline/generate_keras_words.py."""
    for case in KERAS:
        query(database, "CREATE TABLE texts AS SELECT i AS id, note, i %% 2 = 0 AS label FROM unnest(%s::text[]) WITH ORDINALITY"
              " AS t(note, i)", case["train"])
        query(database, "CREATE TABLE others AS SELECT i, note FROM unnest(%s::text[]) WITH ORDINALITY AS t(note, i)",
              case["given"])
        query(database, "SELECT hopper.training_preprocessor('texts', 'texts_packed', 'label', 'note', treatments => %s)",
              json.dumps({"note": {"treatment": "words", "length": case["length"], "min_frequency": 1,
                                   "vocabulary": case["vocabulary"]}}))
        ids = query(database, "SELECT features FROM hopper.transform_rows('texts_packed', 'others')")
        assert sorted(row[0] for row in ids) == sorted(case["ids"])
        query(database, "DROP TABLE texts, others, texts_packed, texts_packed_summary")


def test_a_text_is_learnt_beside_other_columns(database):
    """What the label says is in the text alone; a text may be missing or without words."""
    query(database, "CREATE TABLE tickets AS SELECT i AS id, i % 7 AS urgency, CASE WHEN i % 10 < 8 THEN"
          " 'The ' || (ARRAY['app', 'page', 'bill'])[i % 3 + 1] || CASE WHEN i % 2 = 0 THEN ' CRASHES!' ELSE ' is fine.'"
          " END WHEN i % 10 = 8 THEN '?!' END AS note, i % 2 = 0 AS bad, i % 5 = 0 AS fold FROM generate_series(1, 400) i")
    query(database, "ALTER TABLE tickets ADD PRIMARY KEY (id)")
    query(database, "SELECT hopper.training_preprocessor('tickets', 'tickets_packed', 'bad', 'urgency, note',"
          " fold_column => 'fold', treatments => '{\"note\": {\"treatment\": \"words\", \"length\": 4}}')")
    model = value(database, "SELECT hopper.mlp('networks', 'tickets_packed', '{8}')")
    recipe = value(database, "SELECT model_id FROM hopper.tabular('networks', 'tickets_packed', 'realmlp_small')")
    for number in (model, recipe):
        query(database, "SELECT hopper.fit('tickets_packed', 'ticket_models', 'networks', %s, 'loss=binary_crossentropy,"
              " optimizer=Adam(lr=0.03), metrics=[accuracy]', 'batch_size=32, epochs=1', 10,"
              " validation_table => 'tickets_packed_validation')", number)
        query(database, "SELECT hopper.predict('ticket_models', 'tickets', 'id', output_table => 'ticket_guesses',"
              " pred_type => 'response')")
        right = value(database, "SELECT avg((predicted_bad = bad)::int)::float8 FROM ticket_guesses JOIN tickets"
                      " USING (id) WHERE fold AND id % 10 < 8")
        assert right == 1.0
        query(database, "DROP TABLE ticket_guesses, ticket_models, ticket_models_summary, ticket_models_info")


def test_other_sessions_settings_do_not_matter(database):
    """The text of numbers and times depends on settings, what is packed does not."""
    query(database, "CREATE VIEW timed AS SELECT age, income, hours, timestamptz '2024-01-01Z' +"
          " id * interval '7 hours 1 second' AS seen, date '2024-01-01' + id AS day, label FROM people")
    seen = []
    for settings in ("", "SET extra_float_digits = 0; SET timezone = 'Asia/Tokyo'; SET datestyle = german;"):
        query(database, settings + "SELECT hopper.training_preprocessor('timed', 'timed_packed', 'label', '*',"
              " validation_fraction => 0.2, replace => true)")
        seen.append(value(database, "SELECT checksum || schema::text FROM timed_packed_summary"))
    query(database, "RESET ALL")
    assert seen[0] == seen[1]


def test_a_damaged_schema_is_refused(database):
    query(database, "SELECT hopper.training_preprocessor('people', 'damaged', 'label', 'age, plan')")
    for path, changed in ((["width"], 99), (["columns", 0, "treatment"], "never"), (["columns", 0, "center"], "x"),
                          (["version"], 7), (["columns"], []), (["columns", 1, "values"], ["a", "a"])):
        query(database, "CREATE TABLE kept AS SELECT * FROM damaged_summary")
        schema = json.loads(value(database, "SELECT schema::text FROM damaged_summary"))
        part = schema
        for step in path[:-1]:
            part = part[step]
        part[path[-1]] = changed
        query(database, "UPDATE damaged_summary SET schema = %s", json.dumps(schema))
        with pytest.raises(psycopg2.Error) as refused:
            query(database, "SELECT hopper.describe_features('damaged')")
        assert refused.value.pgcode in ("XX001", "55000"), path
        query(database, "TRUNCATE damaged_summary; INSERT INTO damaged_summary SELECT * FROM kept;"
              " DROP TABLE kept")
    assert value(database, "SELECT count(*) FROM hopper.describe_features('damaged')") == 2


def test_few_different_rows_are_learnt_as_well_in_several_partitions(database):
    """Had each partition other ones, the last ones seen would count most: 0.008 of AUC less."""
    query(database, "DROP TABLE IF EXISTS few; CREATE TABLE few AS SELECT i AS id, 'kind ' || i % 12 AS kind,"
          " 'place ' || i % 13 AS place, i % 5 = 0 AS fold, ('x' || substr(md5(i::text), 1, 4))::bit(16)::int"
          " < 65536 / (1 + exp(5 * sin(3.0 * (i % 12)) + 2 * cos(2.0 * (i % 13)))) AS y"
          " FROM generate_series(1, 12000) AS i")
    auc = []
    for partitions in (4, 1):
        query(database, "SELECT hopper.training_preprocessor('few', 'few_packed', 'y', 'kind, place', fold_column => 'fold',"
              " partitions => %s, replace => true)", partitions)
        model, compiled, fitted = query(database, "SELECT model_id, compile_params, fit_params FROM hopper.tabular("
                                        "'few_networks', 'few_packed', replace => true, name => 'few',"
                                        " options => '{\"iterations\": 3, \"metrics\": [\"auc\"], \"monitor\": \"val_auc\"}')")[0]
        query(database, "SELECT hopper.fit('few_packed', 'few_models', 'few_networks', %s, %s, %s, 3, seed => 1,"
              " validation_table => 'few_packed_validation', replace => true)", model, compiled, fitted)
        auc.append(value(database, "SELECT validation_metrics_final FROM few_models_info"))
    assert auc[0] > auc[1] - 0.002
