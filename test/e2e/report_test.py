"""report(): one page that says what is so, whatever a run is like, and lets nobody's markup through."""

import html.parser
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree

import psycopg2
import pytest
from digits import GREENPLUM, SOURCE, create_database, drop_database, query, value

DATABASE = "hopper_report"
HOSTILE = "<script>alert('1')</script>\" onload=\"alert(2)"
MODELS = "\"Mo\"\"dels <i>\""
GRID = "$${'loss': ['categorical_crossentropy'], 'metrics': [['accuracy']], 'optimizer_params_list': [{'optimizer': ['SGD'], 'lr': %s}]}$$"
long_on_segments = pytest.mark.skipif(GREENPLUM, reason="minutes on a cluster, to see what one server shows")
SECTIONS = ["What was asked for", "The winner", "Leaderboard", "Learning curves", "Parameters", "Importance of parameters",
            "Importance of features", "Overfitting", "Cost", "Confusion", "Calibration", "Visits", "Again"]


class Page(html.parser.HTMLParser):
    """Tags, attributes and the text of a page; of each section, by its heading, the text too."""

    def __init__(self, text):
        super().__init__()
        self.bytes, self.tags, self.attributes, self.sections, self.open = len(text.encode()), [], set(), {}, []
        self.source = text
        self.feed(text)
        self.close()
        # A drawing that is no XML has markup of somebody else's in it.
        self.drawings = [xml.etree.ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", text, re.S)]

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)
        if tag == "h2":
            self.sections[""] = ""

    def handle_endtag(self, tag):
        if tag == "h2":
            self.name = self.sections.pop("")
            self.sections[self.name] = ""
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if self.open and self.open[-1] == "h2":
            self.sections[""] += data
        elif self.sections and self.open and self.open[-1] not in ("script", "style"):
            self.sections[self.name] += data + " "

    def drawing(self, name):
        return next(svg for svg in self.drawings if svg.find("title").get("id") == name + "-t")


def report(connection, what, sections=None):
    page = Page(value(connection, "SELECT hopper.report(%s)", what))
    assert list(page.sections) == (sections or SECTIONS)
    assert page.tags.count("script") == page.tags.count("style") == 1
    assert "http" not in page.source and not {name for name in page.attributes if name.startswith("on")}
    for svg in page.drawings:
        assert svg.get("role") == "img" and svg.find("title").text and svg.find("desc").text
    return page


def fit(connection, table, rates, validation=True, iterations=4, more=""):
    query(connection, f"DROP TABLE IF EXISTS configs, configs_summary; SELECT hopper.generate_model_configs('networks', 'configs', ARRAY[1], {GRID % rates},"
                      " $${'batch_size': [32]}$$)")
    query(connection, f"SELECT hopper.fit_multiple_model('packed', %s, 'configs', {iterations}"
                      + (", validation_table => 'packed_validation'" if validation else "") + more + ")", table)


@pytest.fixture(scope="module")
def connection():
    connection = create_database(DATABASE)
    query(connection, "SET client_min_messages = error")
    for statement in ("DROP TABLE IF EXISTS packed, packed_summary, packed_validation, packed_validation_summary",
                      "CREATE TABLE letters AS SELECT i AS id, sin(i)::real AS \"<b>\", cos(i)::real AS \"a & b\","
                      " CASE WHEN sin(i) * cos(i) > 0 THEN '</title><script>' WHEN sin(i) > 0 THEN 'it''s \"up\"' ELSE 'a & b' END AS \"<i>y\""
                      " FROM generate_series(1, 300) AS i",
                      "SELECT hopper.training_preprocessor('letters', 'packed', '\"<i>y\"', '\"<b>\", \"a & b\"', validation_fraction => 0.3)",
                      "SELECT hopper.mlp('networks', 'packed', hidden => 8)"):
        query(connection, statement)
    yield connection
    connection.close()
    drop_database(DATABASE)


def test_nothing_that_is_given_is_markup(connection):
    fit(connection, MODELS, "[0.1, 0.5]", more=f", name => $h${HOSTILE}$h$, description => $h${HOSTILE}$h$")
    page = report(connection, MODELS)
    assert HOSTILE in page.sections["What was asked for"] and "<b>, a & b" in page.sections["What was asked for"]
    classes = [text.text for text in page.drawing("confusion").iter("text") if text.get("text-anchor") == "end"]
    assert sorted(classes) == sorted(["</title><script>", "a & b", "it's \"up\""])
    assert "hopper.report('public." + MODELS.replace("'", "''") + "')" in page.sections["Again"]
    # Its statements do all of it again.
    digests = f'SELECT mst_key, state_digest FROM {MODELS[:-1]}_info" ORDER BY 1'
    before = query(connection, digests)
    again = page.sections["Again"]
    packing = "\n".join(line[3:] for line in again.splitlines() if line.startswith("-- "))
    assert packing.count("training_preprocessor(") == 1 and "http" not in packing
    query(connection, "SELECT hopper.drop_model(%s); SELECT hopper.drop_packed('packed'); SELECT hopper.drop_packed('packed_validation')", MODELS)
    query(connection, packing)
    query(connection, again)
    assert query(connection, digests) == before != []
    numbered = report(connection, value(connection, "SELECT max(run) FROM hopper.runs"))
    assert HOSTILE in numbered.sections["What was asked for"]


@long_on_segments
def test_a_search_of_a_hundred_trials(connection):
    query(connection, "SELECT hopper.training_preprocessor('letters', 'whole', '\"<i>y\"', '\"<b>\", \"a & b\"', validation_fraction => 0.3, partitions => 1)")
    query(connection, f"SELECT hopper.automl('whole', 'hundred', 'networks', 'hundred_best', ARRAY[1], {GRID % '[0.001, 1.0, $q$log$q$]'},"
          .replace("$q$", "'") + " $${'batch_size': [16, 32, 64]}$$, 'random', 'num_configs=100, num_iterations=9', objective => 'accuracy',"
          " validation_table => 'whole_validation')")
    page = report(connection, "hundred")
    # Were the run longer its curves would have 50 points.
    assert 90000 < page.bytes <= 200000 - 100 * 41 * len(" 123.4,123.4")
    best, measured = query(connection, "SELECT mst_key, value FROM hopper.best_config('hundred')")[0]
    assert f"Configuration {best}:" in page.sections["The winner"] and f"{measured:.4g}"[:5] in page.sections["The winner"]
    assert "with 95 % confidence between" in page.sections["The winner"]
    lines = page.drawing("curves").findall(".//polyline")
    assert len(lines) == 101 and {line.get("data-k") for line in lines} == {str(key) for key in range(1, 101)}
    assert len(page.drawing("parallel").findall(".//polyline")) == 100
    for name in ("overfitting", "cost"):
        assert len(page.drawing(name).findall(".//circle")) == 99
    shares = [text.text for text in page.drawing("importance").iter("text")]
    assert shares[0::2] == [row[0] for row in query(connection, "SELECT parameter FROM hopper.param_importance('hundred') ORDER BY rank")]
    cells = [int(text.text) for text in page.drawing("confusion").iter("text") if text.get("class") == "key"]
    rows = value(connection, "SELECT validation_rows FROM hundred_summary")
    assert sum(cells) == rows
    bins = [re.fullmatch(r"(\d+) rows: (\S+) expected, (\S+) right", dot.find("title").text).groups()
            for dot in page.drawing("calibration").findall(".//circle")]
    assert sum(int(n) for n, _, _ in bins) == rows
    assert abs(sum(int(n) * float(right) for n, _, right in bins) - measured * rows) < 0.1
    assert {path.get("data-k") for path in page.drawing("gantt").findall("path")} <= {str(key) for key in range(1, 101)}


@pytest.mark.skipif(GREENPLUM, reason="predictions are not explained on a cluster yet")
def test_features_that_the_best_model_reads(connection):
    fit(connection, "reading", "[0.1, 0.5]", iterations=12)
    best = value(connection, "SELECT mst_key FROM hopper.leaderboard('reading', 1)")
    page = report(connection, "reading")
    measure = "SELECT feature, importance FROM hopper.feature_importance('reading', %s, %s, most_rows => %s)"
    source, most, seen = re.search(r"on at most (\d+) rows of (\S+?)(, some of which the models were trained on)?\. ", page.sections["Importance of features"]).group(2, 1, 3)
    rows = query(connection, measure, source, best, int(most))
    assert source == "public.letters" and seen and {name for name, _ in rows} == {"<b>", "a & b"}
    drawing = page.drawing("features")
    assert [text.text for text in drawing.iter("text") if text.get("text-anchor") == "end"] == [name for name, _ in rows]
    widths = [float(bar.get("width")) for bar in drawing.iter("rect")]
    assert rows[0][1] > rows[1][1] > 0 and abs(widths[1] / widths[0] - rows[1][1] / rows[0][1]) < 0.01
    # Rows of its own for validation are rows that no model has seen.
    query(connection, "CREATE TABLE unseen AS SELECT * FROM letters WHERE id % 2 = 0")
    query(connection, "SELECT hopper.validation_preprocessor('unseen', 'unseen_packed', '\"<i>y\"', '\"<b>\", \"a & b\"', 'packed')")
    fit(connection, "judged", "[0.5]", validation=False, more=", validation_table => 'unseen_packed'")
    assert "rows of public.unseen. " in report(connection, "judged").sections["Importance of features"]
    # What takes long is a statement to run.
    query(connection, "SET search_path = hopper, public")
    why = value(connection, "SELECT why FROM report_features('judged', 1, 1000000000, (SELECT row_to_json(s) FROM judged_summary s))")
    query(connection, "RESET search_path")
    assert why.startswith("It takes long") and len(query(connection, why.partition(": ")[2])) == 2
    query(connection, "DROP TABLE unseen")
    assert 'relation "public.unseen" does not exist' in report(connection, "judged").sections["Importance of features"]


def test_a_curve_is_where_its_values_are(connection):
    fit(connection, "curved", "[0.5]", iterations=3)
    page = report(connection, "curved")
    frame = page.drawing("curves")
    points = [tuple(map(float, point.split(","))) for point in frame.find(".//polyline[@class='best']").get("points").split()]
    assert [x for x, _ in points] == [60, 382.5, 705]
    values = [row[0] for row in query(connection, "SELECT value FROM hopper.learning_curves('curved') WHERE metric = 'accuracy'"
                                      " AND split = 'validation' ORDER BY iteration")]
    # Values as the axis says, by two of its numbers
    marks = [(float(text.get("y")), float(text.text)) for text in frame.findall("g[@class='label']/text") if text.get("x") == "54"]
    (y0, v0), (y1, v1) = marks[0], marks[-1]
    for (_, y), measured in zip(points, values):
        assert abs(v0 + (v1 - v0) * (y - y0) / (y1 - y0) - measured) < 0.002


def test_without_validation_data_it_says_so(connection):
    fit(connection, "unvalidated", "[0.1, 0.5]", validation=False)
    page = report(connection, "unvalidated")
    assert "measured on the rows that were trained on" in page.sections["What was asked for"]
    assert "Without validation data nobody knows." in page.sections["Overfitting"]
    assert "There are no validation data" in page.sections["Confusion"] and "There are no validation data" in page.sections["Calibration"]
    assert "confidence" not in page.sections["The winner"]


def test_one_trial_has_nobody_to_be_compared_with(connection):
    fit(connection, "single", "[0.1]")
    page = report(connection, "single")
    assert "The trials do not differ" in page.sections["Parameters"] and "It takes two trials" in page.sections["Cost"]
    assert len(page.drawing("curves").findall(".//polyline")) == 2
    assert "from the second" not in page.sections["The winner"]


def test_failures_and_values_that_are_no_numbers(connection):
    fit(connection, "failing", "[0.1, 1e30, 1e38]")
    assert value(connection, "SELECT count(*) FROM failing_info WHERE status = 'failed'") > 0
    for what in ("failing", value(connection, "SELECT max(run) FROM hopper.runs")):
        page = report(connection, what)
        assert re.search(r"3, [12] of them failed", page.sections["What was asked for"])
        assert "Configuration 1" in page.sections["The winner"] and "failed" in page.sections["Leaderboard"]
        assert "NaN" not in page.drawing("curves").find(".//polyline").get("points")


@long_on_segments
def test_of_many_trials_it_draws_some_and_says_so(connection):
    fit(connection, "many", "[0.5, 0.1]", iterations=2)
    best = value(connection, "SELECT mst_key FROM hopper.leaderboard('many', 1)")
    # Rows of trials that others have trained, all worse
    query(connection, "INSERT INTO many_info SELECT r.* FROM many_info AS t, generate_series(3, 10000) AS k, LATERAL jsonb_populate_record(t,"
          " jsonb_build_object('mst_key', k, 'compile_params', regexp_replace(t.compile_params, 'lr=[0-9.]+', 'lr=' || k / 1e5),"
          " 'validation_metrics_final', t.validation_metrics_final * k / 1e5)) AS r WHERE t.mst_key = %s", best)
    page = report(connection, "many")
    assert "10000; shown are the best 100 and every 50. of the others" in page.sections["What was asked for"]
    assert f"Configuration {best}" in page.sections["The winner"] and page.bytes < 400000
    assert len(page.drawing("overfitting").findall(".//circle")) == 99 + 9900 // 50


def test_values_that_are_no_numbers_are_not_drawn(connection):
    """Curves as a loss that explodes gives them; no trial has a number at the end."""
    query(connection, "SET search_path = hopper, public")
    try:
        def curves(*points):
            document = {"best": 1, "split": "validation", "metric": "validation loss", "trials": [{"key": 1, "value": "NaN"}, {"key": 2, "value": "Infinity"}],
                        "curves": [{"key": key, "split": "validation", "points": each} for key, each in enumerate(points, 1)],
                        "names": ["lr"]}
            return [value(connection, f"SELECT {call}", json.dumps(document)) for call in (
                "report_curves(%s)", "report_parallel(%s)", "report_scatter(%s, 'cost', 'seconds', 'Cost', 'seconds', true)", "report_winner(%s)")]

        drawn, parallel, scatter, winner = curves([[1, "0.5"], [2, "NaN"], [3, "0.25"]], [[1, "NaN"], [2, "-Infinity"]])
        line, = Page(drawn).drawings[0].findall(".//polyline")
        assert line.get("data-k") == "1" and len(line.get("points").split()) == 2
        assert "do not differ" in parallel and "two trials with values" in scatter and "<b>NaN</b>" in winner
        assert "No iteration was evaluated yet." in curves([[1, "NaN"]], [[1, "Infinity"]])[0]
    finally:
        query(connection, "RESET search_path")


def test_numbers_have_no_classes(connection):
    query(connection, "SELECT hopper.training_preprocessor('letters', 'numbers', '\"<b>\"', '\"a & b\"', validation_fraction => 0.2)")
    query(connection, "SELECT hopper.mlp('numeric', 'numbers', hidden => 4)")
    query(connection, "SELECT hopper.fit('numbers', 'regressed', 'numeric', 1, $$loss='mse', optimizer='SGD(lr=0.01)'$$, 'batch_size=32', 2,"
                      " validation_table => 'numbers_validation')")
    page = report(connection, "regressed", [name.replace("Calibration", "Predictions and labels") for name in SECTIONS])
    assert len(page.drawing("truth").findall(".//circle")) == value(connection, "SELECT validation_rows FROM regressed_summary")
    assert "Labels are numbers" in page.sections["Confusion"] and "validation loss" in page.sections["The winner"]


@pytest.mark.skipif(GREENPLUM, reason="a cluster trains in the foreground")
def test_a_run_that_has_not_ended(connection):
    query(connection, "DROP TABLE IF EXISTS configs, configs_summary")
    query(connection, f"SELECT hopper.generate_model_configs('networks', 'configs', ARRAY[1], {GRID % '[0.1, 0.2]'}, $${{'batch_size': [32]}}$$)")
    run = value(connection, "SELECT hopper.create_run($$SELECT hopper.fit_multiple_model('packed', 'later', 'configs', 3)$$)")
    page = report(connection, run)
    assert f"{run}, created" in page.sections["What was asked for"] and "No iteration was evaluated yet." in page.sections["Learning curves"]
    assert f"hopper.report({run})" in page.sections["Again"]
    query(connection, "SELECT hopper.drop_run(%s)", run)


def test_others_see_nothing(connection):
    fit(connection, "closed", "[0.1]", iterations=1)
    run = value(connection, "SELECT max(run) FROM hopper.runs")
    query(connection, "CREATE ROLE curious")
    query(connection, "SET ROLE curious")
    try:
        with pytest.raises(psycopg2.errors.InsufficientPrivilege):
            query(connection, "SELECT hopper.report('closed')")
        with pytest.raises(psycopg2.errors.UndefinedObject, match="there is no run"):
            query(connection, "SELECT hopper.report(%s)", run)
    finally:
        query(connection, "RESET ROLE; DROP ROLE curious")


def test_who_may_read_the_models_alone_sees_these(connection):
    fit(connection, "granted", "[0.1]", iterations=1)
    # Each by itself: processes on segments may not know a role that is not committed.
    for statement in ("CREATE ROLE reader", "SELECT hopper.grant_model('granted', 'reader')", "SET ROLE reader"):
        query(connection, statement)
    try:
        page = report(connection, "granted")
    finally:
        query(connection, "RESET ROLE; DROP OWNED BY reader; DROP ROLE reader")
    assert "Configuration 1" in page.sections["The winner"] and len(page.drawing("curves").findall(".//polyline")) == 2
    for section in ("Importance of features", "Confusion", "Calibration"):
        assert re.search(r"permission denied for (table|relation) (packed|letters)", page.sections[section]), section


def test_it_leaves_nothing_and_finds_what_the_caller_finds(connection):
    fit(connection, "beside", "[0.1]", iterations=1)
    before = query(connection, "SELECT relname FROM pg_class WHERE relname LIKE 'hopper_report%'")
    query(connection, "CREATE SCHEMA aside; ALTER SCHEMA hopper RENAME TO renamed")
    try:
        query(connection, "SET search_path = aside, public")
        assert "Leaderboard" in value(connection, "SELECT renamed.report('beside')")
        with pytest.raises(psycopg2.errors.UndefinedTable):
            query(connection, "SELECT renamed.report('absent')")
        assert value(connection, "SHOW search_path") == "aside, public"
    finally:
        query(connection, "RESET search_path; ALTER SCHEMA renamed RENAME TO hopper; DROP SCHEMA aside")
    assert query(connection, "SELECT relname FROM pg_class WHERE relname LIKE 'hopper_report%'") == before == []


# Stands in for CIFAR-10, whose images are not in the repository: ten kinds that differ in brightness.
IMAGES = """import random, sys
draw = random.Random(10)
for i in range(int(sys.argv[2])):
    print(i, r"\\\\x" + bytes(b // 2 + i % 10 * 12 for b in draw.randbytes(3072)).hex(), f"kind {i % 10}", sep="\\t")
"""


@pytest.mark.parametrize("script, variables, pages", [
    ("gallery/digits.sql", {}, ["digits.html"]),
    pytest.param("cifar_talk.sql", {"rows": 100, "iterations": 1}, ["cifar_grid.html", "cifar_hyperband.html"], marks=long_on_segments)])
def test_the_gallery_is_what_the_report_gives(tmp_path, script, variables, pages):
    """Of the same searches: as many trials, parameters and curves, but for what clocks measure, and what other images give."""
    (tmp_path / "examples").symlink_to(SOURCE / "examples")
    (tmp_path / "images.py").write_text(IMAGES, encoding="utf-8")
    run = ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1"]
    given = [word for name, each in {**variables, "pages": tmp_path}.items() for word in ("-v", f"{name}={each}")]
    try:
        subprocess.run([*run, "-d", "postgres", "-c", "CREATE DATABASE hopper_gallery"], check=True)
        subprocess.run([*run, *given, "-d", "hopper_gallery", "-f", SOURCE / "examples" / script], check=True, cwd=tmp_path,
                       env={**os.environ, "PYTHON": sys.executable, "CIFAR": "images.py", "PAGER": ""})
    finally:
        drop_database("hopper_gallery")
    for page in pages:
        made, kept = (Page(path.read_text(encoding="utf-8")) for path in (tmp_path / page, SOURCE / "examples/gallery" / page))
        assert list(made.sections) == list(kept.sections) == SECTIONS
        for section in ("Parameters", "Again"):
            assert re.findall(r"[a-z_]+ :=|hopper\.\w+", made.sections[section]) == re.findall(r"[a-z_]+ :=|hopper\.\w+", kept.sections[section])
        for name, mark in (("curves", "polyline"), ("parallel", "polyline"), ("overfitting", "circle"), ("cost", "circle"), ("confusion", "rect")):
            counts = [len(page.drawing(name).findall(f".//{mark}")) for page in (made, kept)]
            assert counts[0] == counts[1] > 10, name
