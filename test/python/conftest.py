"""A database with packed digits and configurations, and connections of each driver to it."""

import json
import os
import pathlib
import sys
import warnings

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "clients/python/src"))
os.environ["KERAS_BACKEND"] = "jax"  # before anybody imports keras
os.environ["MPLBACKEND"] = "agg"

import psycopg  # noqa: E402
import psycopg2  # noqa: E402
import pytest  # noqa: E402
import sqlalchemy  # noqa: E402

import model_hopper  # noqa: E402

DATABASE = "hopper_python"
MLP = {"class_name": "Sequential", "config": {"layers": [
    {"class_name": "Flatten", "config": {}},
    {"class_name": "Dense", "config": {"units": 16, "activation": "relu"}},
    {"class_name": "Dense", "config": {"units": 10, "activation": "softmax"}}]}}
GRID = {"loss": ["categorical_crossentropy"], "metrics": ["accuracy"],
        "optimizer_params_list": [{"optimizer": ["Adam"], "lr": [0.01, 0.001]}]}
LONG = 10_000_000  # iterations of a run that is to be interrupted


def plain_connection(driver=psycopg):
    connection = driver.connect(dbname=DATABASE)
    connection.autocommit = True
    return connection


def ask(statement, *parameters):
    """What another session sees."""
    connection = plain_connection()
    with connection:
        return connection.execute(statement, parameters).fetchall()


def exists(table):
    return ask("SELECT to_regclass(%s) IS NOT NULL", table) == [(True,)]


@pytest.fixture(scope="session")
def database():
    def admin(statement):
        with psycopg.connect(dbname="postgres", autocommit=True) as connection:
            connection.execute(statement)

    admin(f'DROP DATABASE IF EXISTS "{DATABASE}" WITH (FORCE)')
    admin(f'CREATE DATABASE "{DATABASE}"')
    with plain_connection() as connection:
        connection.execute("CREATE EXTENSION model_hopper")
        connection.execute("CREATE TABLE digits (id integer PRIMARY KEY, label integer, pixels smallint[])")
        with connection.cursor().copy("COPY digits FROM STDIN CSV HEADER") as copy:
            copy.write((SOURCE / "examples/digits.csv").read_bytes())
        connection.execute("SELECT hopper.training_preprocessor('digits', 'packed', 'label', 'pixels',"
                           " normalizing_const => 16, validation_fraction => 0.2)")
        connection.execute("SELECT hopper.load_model('architectures', %s)", [json.dumps(MLP)])
        connection.execute("SELECT hopper.generate_model_configs('architectures', 'configs', ARRAY[1], %s, %s)",
                           [repr(GRID), "{'batch_size': [32]}"])
        connection.execute("SELECT hopper.fit_multiple_model('packed', 'models', 'configs', 3,"
                           " validation_table => 'packed_validation')")
    yield DATABASE
    admin(f'DROP DATABASE "{DATABASE}" WITH (FORCE)')


def engine(driver):
    return sqlalchemy.create_engine(f"postgresql+{driver}://", connect_args={"dbname": DATABASE})


KINDS = ["psycopg", "psycopg2", "psycopg-transactions", "psycopg2-transactions", "engine-psycopg", "engine-psycopg2",
         "alchemy-psycopg", "alchemy-psycopg2"]


def open_connection(kind):
    """A connection or engine, and what closes it."""
    kind, _, more = kind.partition("-")
    if kind == "engine":
        made = engine(more)
        return made, made.dispose
    if kind == "alchemy":
        made = engine(more).connect()
        return made, made.close
    made = {"psycopg": psycopg, "psycopg2": psycopg2}[kind].connect(dbname=DATABASE)
    made.autocommit = not more
    return made, made.close


@pytest.fixture(params=KINDS)
def connection(request, database):
    made, close = open_connection(request.param)
    yield made
    close()


@pytest.fixture
def hopper(connection):
    """A client on each kind of connection in turn."""
    with model_hopper.Hopper(connection, progress=False) as client:
        yield client


@pytest.fixture(params=["psycopg", "psycopg2"])
def each(request, database):
    """A client with each driver in turn."""
    with model_hopper.connect(dbname=DATABASE, driver=request.param, progress=False) as client:
        yield client


@pytest.fixture
def one(database):
    """A client on one kind of connection, for what does not depend on it."""
    with model_hopper.connect(dbname=DATABASE, progress=False) as client:
        yield client


@pytest.fixture(scope="session")
def torch():
    """PyTorch where this machine has it: in this environment, or Debian's python3-torch."""
    sys.path.append(os.environ.get("HOPPER_PYTHON_TORCH", "/usr/lib/python3/dist-packages"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Debian's is older than this numpy
        return pytest.importorskip("torch", reason="no PyTorch: install Debian's python3-torch")


@pytest.fixture(autouse=True)
def nothing_left():
    """Each test finds the tables of the database and no others."""
    yield
    kept = {"digits", "packed", "packed_summary", "packed_validation", "packed_validation_summary", "architectures",
            "configs", "configs_summary", "models", "models_info", "models_state", "models_summary"}
    try:
        made = {row[0] for row in ask("SELECT relname FROM pg_class WHERE relkind IN ('r', 'v') AND"
                                      " relnamespace = 'public'::regnamespace")}
    except psycopg.OperationalError:
        return
    for table in made - kept:
        ask_nothing(f'DROP TABLE IF EXISTS "{table}"')


def ask_nothing(statement):
    with plain_connection() as connection:
        connection.execute(statement)


warnings.simplefilter("default")
