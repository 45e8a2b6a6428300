"""Lists as long as a role likes: no function compares each element with each, or computes without hearing
that its statement is to end."""

import json

import psycopg2
import pytest

from digits import connect, cpu_seconds, drop_database, query, value

DATABASE = "hopper_long_lists"
# Milliseconds until the statement is to end, and seconds that the backend computes at most: what PostgreSQL
# itself needs to read the lists, what the function did until then, and what it did without hearing of it.
TIMEOUT = 300
LIMIT = 1.2
MODEL = json.dumps({"class_name": "Sequential", "config": {"name": "s", "layers": [
    {"class_name": "Dense", "config": {"name": "out", "units": 2, "activation": "softmax",
                                       "batch_input_shape": [None, 2]}}]}})
# Keras refuses two layers of one name, its files do not.
DEEP = "SELECT %s FROM deep"
GRID = ("'{''loss'': [''mse''], ''optimizer_params_list'': [{''optimizer'': [''SGD''], ''lr'': [0.1]}]}'")
COMPILE = "'loss=''categorical_crossentropy'', optimizer=''SGD()'''"


def names(n, begin="c"):
    return f"(SELECT string_agg('{begin}' || i, ',') FROM generate_series(1, {n}) i)"


def dictionary(n):
    return f"(SELECT '{{' || string_agg('\"k' || i || '\":\"x\"', ',') || '}}' FROM generate_series(1, {n}) i)"


CHOICES = "(SELECT string_agg('\"c' || i || '\"', ',') FROM generate_series(1, 20000) i)"
PACK = "SELECT hopper.training_preprocessor('points', 'made', %s, %s)"
SPACE = "SELECT * FROM hopper.describe_space('models', 1, space => "
REST = "\"compile_params\": {\"loss\": {\"hopper\": \"p1\"}}}')"
# Each parameter is there when the one before it is 1.
CHAIN = ("(SELECT string_agg('\"p' || i || '\": {\"values\": [1, 2], \"when\": {\"p' || i - 1 || '\": [1]}}', ', ')"
         " FROM generate_series(1, 20000) i)")
CALLS = {
    "features": PACK % ("'y'", names(100000)),
    "inputs": PACK % ("'y'", dictionary(70000)),
    "labels": PACK % (names(100000), "'x'"),
    "outputs": PACK % (dictionary(70000), "'x'"),
    "id of predictions": f"SELECT hopper.predict('run', 'points', {names(100000)}, 'x', 'made')",
    "features of predictions": f"SELECT hopper.predict('run', 'points', 'id', {names(100000)}, 'made')",
    "more than anybody needs": PACK % ("'y'", "repeat('c,', 20000000)"),
    # PostgreSQL's own reading of an array hears nothing: ten millions take it two seconds.
    "keys": "SELECT hopper.fit_multiple_model('packed', 'made', 'many', 1,"
            " mst_keys => array_fill(1, ARRAY[1000000]))",
    "keys of a copy": "SELECT hopper.copy_model('run', 'made', array_fill(1, ARRAY[1000000]))",
    "models": "SELECT hopper.load_model_selection_table('models', 'made', array_fill(1, ARRAY[1000000]),"
              f" ARRAY[{COMPILE}], ARRAY['batch_size=8'])",
    "leaderboard": "SELECT * FROM hopper.leaderboard('others')",
    "leaderboard by a metric": "SELECT * FROM hopper.leaderboard('others', rank_by => 'accuracy')",
    "to_safetensors": DEEP % "hopper.to_safetensors(arch, weights)",
    "from_safetensors": DEEP % "hopper.from_safetensors(arch, file)",
    "to_onnx": DEEP % "hopper.to_onnx(arch, weights)",
    "to_pytorch": DEEP % "hopper.to_pytorch(arch)",
    "draws that are there": f"SELECT hopper.generate_model_configs('models', 'made', 1, {GRID},"
                            " '{''batch_size'': [1, 2, ''linear'']}', 'random', 9000)",
    "metrics that nobody knows": "SELECT hopper.fit('packed', 'made', 'models', 1,"
                                 f" 'optimizer=''SGD'', loss=''mse'', metrics=[' || {names(80000, 'acc')} || ']',"
                                 " 'batch_size=8', 1)",
    "arguments that nobody knows": "SELECT hopper.fit('packed', 'made', 'models', 1,"
                                   f" {COMPILE} || (SELECT string_agg(', a' || i || '=1', '')"
                                   " FROM generate_series(1, 80000) i), 'batch_size=8', 1)",
    "conditions": "SELECT * FROM hopper.describe_space('models', 1, space => '{\"parameters\": {\"a\": [' ||"
                  f" {CHOICES} || '], \"b\": {{\"type\": \"float\", \"low\": 0, \"high\": 1, \"when\": {{\"a\": [' ||"
                  f" {CHOICES} || ']}}}}}}, \"compile_params\": {{\"loss\": {{\"hopper\": \"a\"}}, \"optimizer\":"
                  " {\"hopper\": \"b\"}}}')",
    "losses of outputs": "SELECT hopper.fit('packed', 'made', 'models', 1, 'optimizer=''SGD'', loss=' ||"
                         f" replace({dictionary(80000)}, '\"', chr(39)), 'batch_size=8', 1)",
    "metrics that are known": f"SELECT hopper.fit('packed', 'made', 'models', 1, {COMPILE} || ', metrics=[' ||"
                              " (SELECT string_agg('''mse''', ',') FROM generate_series(1, 80000)) || ']',"
                              " 'batch_size=8', 1)",
    "metrics of outputs": f"SELECT hopper.fit('packed', 'made', 'models', 1, {COMPILE} || ', metrics=' ||"
                          f" replace(replace({dictionary(80000)}, '\"x\"', '\"mse\"'), '\"', chr(39)), 'batch_size=8', 1)",
    "weights of classes": f"SELECT hopper.fit('packed', 'made', 'models', 1, {COMPILE}, 'batch_size=8, class_weight='"
                          f" || replace(replace({dictionary(80000)}, '\"x\"', '1'), '\"', chr(39)), 1)",
    "arguments of a schedule": "SELECT hopper.fit('packed', 'made', 'models', 1, 'loss=''mse'', optimizer=''SGD(lr="
                               "ExponentialDecay(0.1' || (SELECT string_agg(', a' || i || '=1', '')"
                               " FROM generate_series(1, 80000) i) || '))''', 'batch_size=8', 1)",
    "parameters": SPACE + "'{\"parameters\": {' || (SELECT string_agg('\"p' || i || '\": [1, 2]', ', ')"
                  " FROM generate_series(1, 60000) i) || '}, " + REST,
    "parameters with conditions": SPACE + "'{\"parameters\": {\"p0\": [1, 2], ' || " + CHAIN + " || '}, " + REST,
    "parameters that go round": SPACE + "'{\"parameters\": {\"p0\": {\"values\": [1, 2], \"when\": {\"p20000\": [1]}}, '"
                                " || " + CHAIN + " || '}, " + REST,
    "parameters that are wrong": SPACE + "'{\"parameters\": {' || (SELECT string_agg('\"p' || i || '\": []', ', ')"
                                 " FROM generate_series(1, 60000) i) || '}, " + REST,
    "lengths of inputs": "SELECT hopper.training_preprocessor('points', 'made', 'y', 'x', pad_to =>"
                         f" replace({dictionary(80000)}, '\"x\"', '3'))",
    "classes of outputs": "SELECT hopper.training_preprocessor('points', 'made', 'y', 'x', num_classes =>"
                          " array_fill(1, ARRAY[300000]))",
    "models of a search": f"SELECT * FROM hopper.explain_automl('packed', 'models', array_fill(1, ARRAY[1000000]), {GRID},"
                          " '{}', 'random', 'num_configs=2, num_iterations=1')",
    "objectives": f"SELECT * FROM hopper.explain_automl('packed', 'models', 1, {GRID}, '{{}}', 'random',"
                  f" 'num_configs=2, num_iterations=1', objective => {names(100000, 'acc')})",
    "classes": "SELECT hopper.predict_byom('weighted', 1, 'points', 'id', 'x', 'made', class_values =>"
               " (SELECT array_agg(i::text) FROM generate_series(1, 300000) i))",
}


@pytest.fixture(scope="module")
def database():
    drop_database(DATABASE)
    admin = connect("postgres")
    query(admin, f"CREATE DATABASE {DATABASE}")
    admin.close()
    connection = connect(DATABASE)
    query(connection, "SET client_min_messages = error")
    query(connection, "CREATE EXTENSION model_hopper")
    query(connection, "CREATE TABLE points AS SELECT i AS id, ARRAY[i % 2, i % 3]::real[] AS x,"
          " i % 2 AS y FROM generate_series(1, 40) i")
    query(connection, "SELECT hopper.training_preprocessor('points', 'packed', 'y', 'x')")
    query(connection, "SELECT hopper.load_model('models', %s)", MODEL)
    query(connection, "SELECT hopper.load_model('weighted', %s, decode(repeat('0000803f', 6), 'hex'))", MODEL)
    query(connection, f"SELECT hopper.fit('packed', 'run', 'models', 1, {COMPILE}, 'batch_size=8', 1)")
    query(connection, "CREATE TABLE many_summary AS SELECT 'models'::text AS model_arch_table,"
          " NULL::text AS object_table")
    query(connection, f"CREATE TABLE many AS SELECT i AS mst_key, 1 AS model_id, {COMPILE}::text AS compile_params,"
          " 'batch_size=8'::text AS fit_params FROM generate_series(1, 9000) i")
    # Nobody can compare any two of them.
    query(connection, "CREATE TABLE others AS SELECT * FROM run")
    query(connection, "CREATE TABLE others_info AS SELECT * FROM run_info")
    columns = ", ".join(row[0] for row in query(
        connection, "SELECT attname FROM pg_attribute WHERE attrelid = 'run_info'::regclass AND attnum > 0"
        " AND attname NOT IN ('mst_key', 'compile_params') AND NOT attisdropped ORDER BY attnum"))
    query(connection, f"INSERT INTO others_info (mst_key, compile_params, {columns})"
          f" SELECT i, 'loss=''one of my own, number ' || i || '''', {columns} FROM run_info,"
          " generate_series(2, 150000) i")
    dense = ",".join(['{"class_name":"Dense","config":{"name":"d","units":1}}'] * 9998)
    arch = ('{"class_name":"Sequential","config":{"name":"s","layers":[{"class_name":"Dense","config":{"name":"d",'
            '"units":1,"batch_input_shape":[null,1]}},' + dense + "]}}")
    query(connection, "CREATE TABLE deep AS SELECT %s::json AS arch,"
          " decode(repeat('0000803f', 2 * 9999), 'hex') AS weights", arch)
    query(connection, "ALTER TABLE deep ADD file bytea; UPDATE deep SET file = hopper.to_safetensors(arch, weights)")
    yield connection
    connection.close()
    drop_database(DATABASE)


def test_keys_of_a_copy_are_one_question(database):
    """Not one each: that would take 20 microseconds a key."""
    session = connect(DATABASE)
    query(session, "SET client_min_messages = error")
    query(session, "SELECT * FROM hopper.leaderboard('run')")
    process = value(session, "SELECT pg_backend_pid()")
    began = cpu_seconds(process)
    assert value(session, "SELECT hopper.copy_model('run', 'made', array_fill(1, ARRAY[300000]))") == 1
    assert cpu_seconds(process) - began < 2
    with pytest.raises(psycopg2.Error, match="holds no model with mst_key 7$"):
        query(session, "SELECT hopper.copy_model('run', 'also', array_fill(1, ARRAY[300000]) || ARRAY[7, 5])")
    query(session, "SELECT hopper.drop_model('made')")
    session.close()


@pytest.mark.parametrize("name", CALLS)
def test_the_end_of_the_statement_is_heard(database, name):
    session = connect(DATABASE)
    query(session, "SET client_min_messages = error")
    # What a session loads first is no list.
    query(session, "SELECT * FROM hopper.leaderboard('run')")
    process = value(session, "SELECT pg_backend_pid()")
    query(session, f"SET statement_timeout = {TIMEOUT}")
    began = cpu_seconds(process)
    try:
        query(session, CALLS[name])
        ended = "in time"
    except psycopg2.Error as error:
        ended = error.pgcode
    took = cpu_seconds(process) - began
    print(f"{name}: {took:.2f} s, {ended}")
    assert took < LIMIT
    # Refused for what is wrong with it, cancelled, or done.
    assert ended in ("in time", "57014", "22023", "42703", "42701", "54000", "22P02"), ended
    query(session, "RESET statement_timeout")
    assert value(session, "SELECT 6 * 7") == 42
    session.close()
