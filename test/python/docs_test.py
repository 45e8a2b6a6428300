"""The Python of pages of docs/guide and of examples/notebook.ipynb, in new databases, from the top of the repository."""

import json
import re

import psycopg
import pytest

from conftest import SOURCE

FENCE = re.compile(r"^(<!-- not run:.*-->\n)?```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DATABASE = "documentation_python"


def admin(statement):
    with psycopg.connect(dbname="postgres", autocommit=True) as connection:
        connection.execute(statement)


@pytest.fixture
def fresh(monkeypatch):
    monkeypatch.chdir(SOURCE)
    monkeypatch.setenv("PGDATABASE", DATABASE)
    (SOURCE / "build/python").mkdir(parents=True, exist_ok=True)  # the wheel's folder, for figures too
    admin(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
    admin(f"CREATE DATABASE {DATABASE}")
    yield
    admin(f"DROP DATABASE {DATABASE} WITH (FORCE)")


@pytest.mark.parametrize("page", ["docs/guide/python.md", "docs/guide/transfer_learning.md"])
def test_page(fresh, page):
    text = (SOURCE / page).read_text(encoding="utf-8")
    blocks = [match for match in FENCE.finditer(text) if not match.group(1)]
    assert len(blocks) >= 5
    names = {}
    for match in blocks:
        # As many empty lines before it as are above it in the page, so that an error names the page's line.
        above = "\n" * text.count("\n", 0, match.start(2))
        exec(compile(above + match.group(2), page, "exec"), names)
    assert names["board"].validation_metric[0] > 0.8


def test_notebook(fresh, capsys):
    notebook = json.loads((SOURCE / "examples/notebook.ipynb").read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 8 and not any(cell["outputs"] for cell in cells)
    names = {}
    for place, cell in enumerate(cells, 1):
        exec(compile("".join(cell["source"]), f"notebook.ipynb, code cell {place}", "exec"), names)
    assert names["right"] > 0.85
    assert "new digits are read correctly" in capsys.readouterr().out
