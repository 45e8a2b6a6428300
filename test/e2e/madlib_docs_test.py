"""MADlib's documentation of deep learning, statement by statement, on sql/compat/madlib.sql.

MADlib's text is not here: MADLIB_CHECKOUT names a git clone of apache/madlib with its tags. Statements that fail must be
those that docs/guide/from_madlib.md names.
"""

import html
import os
import re
import subprocess
from pathlib import Path

import psycopg2
import pytest
from digits import GREENPLUM, connect, drop_database, query

ROOT = Path(__file__).resolve().parents[2]
CHECKOUT = os.environ.get("MADLIB_CHECKOUT", "")
PAGES = "src/ports/postgres/modules/deep_learning"
DATABASE = "hopper_madlib_docs"
SQL = re.compile(r"\s*(?:--[^\n]*\n\s*)*(ALTER|COPY|CREATE|DELETE|DROP|INSERT|SELECT|SET|TRUNCATE|UPDATE|WITH)\b", re.I)
TOKEN = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|(\$\w*\$).*?\1|;|[^'\"$;-]+|.", re.S)
# What MADlib's pages call of MADlib beside deep learning, and the catalog of a cluster.
BESIDE = """
    CREATE FUNCTION madlib.train_test_split(source text, output text, share float8, test_share float8, per text,
        columns text, replacement boolean, apart boolean) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
        EXECUTE format('CREATE TABLE %1$s_train AS SELECT * FROM %2$s ORDER BY id LIMIT (SELECT count(*) * %3$s FROM %2$s)',
                       output, source, share);
        EXECUTE format('CREATE TABLE %1$s_test AS SELECT * FROM %2$s WHERE id NOT IN (SELECT id FROM %1$s_train)', output, source);
    END $$"""
CLUSTER = "CREATE VIEW public.gp_segment_configuration AS SELECT 2 AS dbid, 0 AS content, 'p' AS role, 'localhost' AS hostname"
# Functions in Python are made, not run, where the server has no PL/Python.
PYTHON = re.compile(r"LANGUAGE\s+'?plpython\w*'?", re.I)
# What a page does in Python, from a client.
CLIENT = {"madlib_keras_custom_function": "SELECT madlib.load_custom_function('custom_function_table', 'x', n, n)"
                                          " FROM unnest(ARRAY['squared_error', 'rmse']) AS n"}
# docs/guide/from_madlib.md names them: what is in a statement, and in its error.
FAILS = {'SELECT load_weights()': "", "SET model_weights = model_weights FROM iris_model": "", "my_custom_loss": "",
         "SELECT * FROM mst_table": 'relation "mst_table" does not exist'}
if GREENPLUM:  # of a cluster without GPUs
    FAILS.update({"training_preprocessor_dl('image_data'": "No host of a segment has a GPU",
                  "FROM image_data_packed_summary": "does not exist"})


def statements(text):
    """Statements of the examples, in their order."""
    for block in re.findall(r'<pre class="example">(.*?)</pre>', text, re.S):
        text = html.unescape(block).replace("\\#", "#")
        text = re.sub(r"^\\+x.*$", "", text, flags=re.M)
        one = ""
        for token in TOKEN.finditer(text):
            if token.group() != ";":
                one += token.group()
                continue
            if SQL.match(one):
                yield one.strip()
            one = ""


@pytest.mark.skipif(not CHECKOUT, reason="set MADLIB_CHECKOUT to a git clone of apache/madlib, with its tags")
@pytest.mark.parametrize("tag", ["rel/v1.18.0", "rel/v2.1.0"])
def test_the_documentation_runs(tag):
    names = subprocess.run(["git", "-C", CHECKOUT, "ls-tree", "--name-only", tag, PAGES + "/"], capture_output=True,
                           text=True, check=True).stdout.split()
    failed, n = [], 0
    for name in (name for name in names if name.endswith(".sql_in")):
        text = subprocess.run(["git", "-C", CHECKOUT, "show", f"{tag}:{name}"], capture_output=True, text=True,
                              check=True).stdout
        drop_database(DATABASE)
        admin = connect("postgres")
        query(admin, f'CREATE DATABASE "{DATABASE}"')
        admin.close()
        connection = connect(DATABASE)
        query(connection, "CREATE EXTENSION model_hopper")
        subprocess.run(["psql", "-X", "-q", "-d", DATABASE, "-f", ROOT / "sql/compat/madlib.sql"], check=True)
        query(connection, BESIDE)
        if not GREENPLUM:
            query(connection, CLUSTER)
        query(connection, "SET check_function_bodies = off")
        query(connection, CLIENT.get(Path(name).stem, "SELECT 1"))
        for statement in statements(text):
            n += 1
            try:
                query(connection, PYTHON.sub("LANGUAGE plpgsql", statement))
            except psycopg2.Error as error:
                failed.append((Path(name).stem, statement, str(error).strip()))
        connection.close()
    drop_database(DATABASE)
    print(f"{tag}: {n} statements, {len(failed)} failed")
    for page, statement, error in failed:
        print(f"-- {page}\n{statement}\n   {error}")
    assert n > 200 and len(failed) <= len(FAILS)
    assert [one for one in failed
            if not any(text in one[1] and words in one[2] for text, words in FAILS.items())] == []
