"""The SQL of the demo and of the documentation runs on the cluster as it is written."""

import os
import re
import shutil
import subprocess

import pytest

from conftest import SOURCE, connect
from digits import query, value

FENCE = re.compile(r"^(<!-- not (?:run|on Greenplum):[^\n]*-->\n)?```sql\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Pages that do not speak of one kind of server alone.
PAGES = ["README.md", "docs/README.md"] + sorted(
    str(page.relative_to(SOURCE)) for folder in ("guide", "reference") for page in (SOURCE / "docs" / folder).glob("*.md"))

pytestmark = pytest.mark.skipif(shutil.which("psql") is None, reason="no psql")


def run(database, text):
    """In a new database, from the top of the repository; the output."""
    admin = connect("HOPPER_GREENPLUM", "postgres")
    query(admin, f"DROP DATABASE IF EXISTS {database}")
    query(admin, f"CREATE DATABASE {database}")
    admin.close()
    done = subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1",
                           os.environ["HOPPER_GREENPLUM"] + f" dbname={database}"],
                          input=text, capture_output=True, text=True, cwd=SOURCE, timeout=400,
                          check=False, env={**os.environ, "PAGER": "cat"})
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    return done.stdout


def test_the_demo(greenplum):
    run("hopper_demo", (SOURCE / "examples" / "digits.sql").read_text(encoding="ascii"))
    connection = connect("HOPPER_GREENPLUM", "hopper_demo")
    assert value(connection, "SELECT max(validation_metric) FROM hopper.leaderboard('models')") >= 0.97
    assert value(connection, "SELECT count(*) FROM hopper.leaderboard('models')"
                 " WHERE status = 'done'") == 16
    connection.close()


@pytest.mark.parametrize("page", PAGES)
def test_pages(greenplum, page):
    text = (SOURCE / page).read_text(encoding="utf-8")
    script = "".join(match.group(2) for match in FENCE.finditer(text) if not match.group(1))
    if not script:
        return  # a page without SQL
    if "CREATE EXTENSION" not in script:
        script = "CREATE EXTENSION model_hopper;\n" + script
    run("hopper_pages", script)
