"""The archive for the hosts of a cluster holds all that they need."""

import os
import re
import shutil
import subprocess

import psycopg2
import pytest

from cluster import HOME, control, segment_processes
from conftest import CSV, SOURCE
from digits import PLAIN, query, value

GPHOME = os.environ.get("GPHOME", "/usr/local/greenplum-db")


@pytest.fixture
def unpacked():
    """A fresh copy of Greenplum with the archive in it, running in the place of the other."""
    folder, archive = HOME / "unpacked", HOME / "model_hopper.tar.gz"
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run(["cp", "-aL", GPHOME, folder], check=True)
    assert not list((folder / "lib" / "postgresql").glob("*hopper*"))
    subprocess.run([SOURCE / "scripts" / "package-greenplum", os.environ["HOPPER_BUILD"], archive],
                   check=True, stdin=subprocess.DEVNULL, timeout=600)
    subprocess.run(["tar", "-xzf", archive, "-C", folder], check=True)
    archive.unlink()
    control("stop")
    control("start", files=folder)
    yield folder
    control("stop", files=folder)
    control("start")
    shutil.rmtree(folder)


def connect(database):
    connection = psycopg2.connect(os.environ["HOPPER_GREENPLUM"], dbname=database)
    connection.autocommit = True
    return connection


def newest(folder, name):
    """The newest version of the symbols `name` that the archive's libraries want."""
    found = [(0,)]
    files = [folder / "lib" / "postgresql" / file for file in
             ("model_hopper.so", "libhopper_core.so", "libhopper_torch.so")]
    files += (folder / "lib" / "postgresql" / "model_hopper").iterdir()
    for file in files:
        symbols = subprocess.run(["objdump", "-T", file], check=True, capture_output=True,
                                 text=True).stdout
        found += [tuple(map(int, version.split(".")))
                  for version in re.findall(rf"\b{name}_(\d[\d.]*)", symbols)]
    return max(found)


def test_an_unpacked_archive_trains(unpacked):
    # Red Hat 8's.
    assert (2, 17) <= newest(unpacked, "GLIBC") <= (2, 28)
    assert (3, 4, 11) <= newest(unpacked, "GLIBCXX") <= (3, 4, 25)
    assert newest(unpacked, "CXXABI") <= (1, 3, 11)
    admin = connect("postgres")
    query(admin, "DROP DATABASE IF EXISTS hopper_unpacked")
    query(admin, "CREATE DATABASE hopper_unpacked")
    connection = connect("hopper_unpacked")
    query(connection, "CREATE EXTENSION model_hopper")
    query(connection, "CREATE TABLE digits (id integer PRIMARY KEY, label integer, pixels smallint[])")
    with connection.cursor() as cursor, open(CSV, encoding="ascii") as file:
        cursor.copy_expert("COPY digits FROM STDIN CSV HEADER", file)
    query(connection, "SELECT hopper.training_preprocessor('digits', 'packed', 'label', 'pixels',"
          " normalizing_const := 16)")
    query(connection, "SELECT hopper.load_model('models', %s)", PLAIN)
    metric = value(connection, "SELECT best_value FROM hopper.fit('packed', 'out', 'models', 1,"
                   " 'loss=''categorical_crossentropy'', metrics=[''accuracy''],"
                   " optimizer=''Adam(lr=0.01)''', 'batch_size=32', 5)")
    assert metric > 0.9
    for processes in segment_processes(connection).values():
        maps = "".join(open(f"/proc/{process}/maps", encoding="utf-8").read() for process in processes)
        ours = ("libtorch", "libc10", "hopper", "libgomp", "libcuda", "libcupti")
        loaded = {line.split(maxsplit=5)[5] for line in maps.splitlines()
                  if any(name in line for name in ours)}
        assert str(unpacked / "lib" / "postgresql" / "model_hopper" / "libtorch_cpu.so") in loaded
        assert all(path.startswith(str(unpacked)) for path in loaded), loaded
    connection.close()
    query(admin, "DROP DATABASE hopper_unpacked")
    admin.close()
