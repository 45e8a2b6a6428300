"""The Python of docs/guide/python.md, in order, in a new database, from the top of the repository."""

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
    admin(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
    admin(f"CREATE DATABASE {DATABASE}")
    yield
    admin(f"DROP DATABASE {DATABASE} WITH (FORCE)")


def test_page(fresh):
    text = (SOURCE / "docs/guide/python.md").read_text(encoding="utf-8")
    blocks = [match for match in FENCE.finditer(text) if not match.group(1)]
    assert len(blocks) >= 5
    names = {}
    for match in blocks:
        # As many empty lines before it as are above it in the page, so that an error names the page's line.
        above = "\n" * text.count("\n", 0, match.start(2))
        exec(compile(above + match.group(2), "docs/guide/python.md", "exec"), names)
    assert names["board"].validation_metric[0] > 0.8
