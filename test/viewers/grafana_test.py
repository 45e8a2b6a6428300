"""The dashboard for Grafana: each of its queries runs, as Grafana fills it in, and shows what is there."""

import json
import pathlib
import re

from conftest import query

DASHBOARD = pathlib.Path(__file__).resolve().parents[2] / "examples/grafana/model_hopper.json"


def test_its_queries_show_what_is_there(connection, run_of):
    dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    names = dict(query(connection, next(each for each in dashboard["templating"]["list"] if each["name"] == "run")["query"]))
    assert {run: f"{run}: {table}" for table, run in run_of.items()}.items() <= names.items()
    found = {}
    for panel in dashboard["panels"]:
        text = re.sub(r"\$__timeFilter\(([^)]*)\)", r"\1 BETWEEN now() - interval '1 day' AND now()", panel["targets"][0]["rawSql"])
        text = text.replace("${run:sqlstring}", f"'{run_of['models']}'")
        assert "$" not in text
        found[panel["title"]] = query(connection, text)
    assert {row[0] for row in found["Runs"]} >= set(run_of.values())
    assert {row[1] for row in found["What happened"]} >= set(run_of.values())
    curves = found["What the trials of the run are compared by"]
    assert {trial for _, trial, _ in curves} == {"trial 1", "trial 2"} and len(curves) == 12
    assert found["Failed runs"] == [(0,)] and len(found["Threads in use"]) == 1
