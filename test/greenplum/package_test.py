"""The archive for the hosts of a cluster holds all that they need, and its script installs it on all of them."""

import os
import pathlib
import re
import shutil
import subprocess

import psycopg2
import pytest
from psycopg2.extensions import parse_dsn

from cluster import HOME, control, segment_processes
from conftest import CSV, SOURCE
from digits import PLAIN, query, value

GPHOME = os.environ.get("GPHOME", "/usr/local/greenplum-db")
SSH = """#!/usr/bin/env bash
# A host is a folder beside that of this one, and its name the end of its name.
[ "$1 $2" = "-o BatchMode=yes" ] || exit 2
[ -d "$GPHOME.$3" ] || { echo "ssh: connect to host $3 port 22: No route to host" >&2; exit 255; }
exec bash -c "${4//$GPHOME/$GPHOME.$3}"
"""


def files_in(folder):
    return {path.relative_to(folder) for path in folder.rglob("*")}


@pytest.fixture(name="archive", scope="module")
def fixture_archive():
    """The folder that the archive holds."""
    folder = HOME / "archive"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    # It compiles and packs, and waits for nobody: how long that takes is the machine's affair.
    subprocess.run([SOURCE / "scripts" / "package-greenplum", os.environ["HOPPER_BUILD"], folder / "archive.tar"],
                   check=True, stdin=subprocess.DEVNULL)
    subprocess.run(["tar", "-xf", folder / "archive.tar", "-C", folder], check=True)
    (folder / "archive.tar").unlink()
    yield folder / "model_hopper"
    shutil.rmtree(folder)


@pytest.fixture(name="small")
def fixture_small(archive, tmp_path):
    """The archive without what is large: libtorch, and what is linked with it."""
    folder, work = tmp_path / "model_hopper", tmp_path / "work"
    shutil.copytree(archive, folder)
    parts = [(folder / "libraries.tar.gz", work / "libraries"), (next(folder.glob("greenplum*/server.tar.gz")), work / "server")]
    for file, tree in parts:
        tree.mkdir(parents=True)
        subprocess.run(["tar", "-xzf", file, "-C", tree], check=True)
    for library in (work / "libraries/lib/postgresql").rglob("*torch*.so*"):
        library.unlink()
    listed = work / "server/share/model_hopper/files"
    lines = listed.read_text(encoding="ascii").splitlines(keepends=True)
    listed.write_text("".join(line for line in lines if any((tree / line[66:].rstrip("\n")).exists() for _, tree in parts)), encoding="ascii")
    for file, tree in parts:
        subprocess.run(["tar", "-czf", file, "-C", tree, "."], check=True)
    return folder


@pytest.fixture(name="home")
def fixture_home():
    """A fresh copy of Greenplum."""
    folder = HOME / "unpacked"
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run(["cp", "-aL", GPHOME, folder], check=True)
    assert not list((folder / "lib" / "postgresql").glob("*hopper*"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(name="installed")
def fixture_installed(archive, home):
    """The archive's script has installed it; the cluster runs in that copy."""
    done = install(archive, home)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^1 hosts \(localhost\): 0\.\d\.\d, build [0-9a-f]{12}$", done.stdout, re.M), done.stdout
    control("stop")
    control("start", files=home)
    yield home
    control("stop", files=home)
    control("start")


@pytest.fixture(name="hosts")
def fixture_hosts(home):
    """Names for -f: this host, and two behind a stand-in for ssh. Their folders have what the script looks at."""
    folders = [pathlib.Path(f"{home}.{name}") for name in ("sdw1", "sdw2")]
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "lib/postgresql").mkdir(parents=True)
        (folder / "share/postgresql/extension").mkdir(parents=True)
        (folder / "bin").symlink_to(home / "bin")
        for library in (home / "lib").glob("*.so*"):
            (folder / "lib" / library.name).symlink_to(library)
    tools = HOME / "ssh"
    tools.mkdir(exist_ok=True)
    (tools / "ssh").write_text(SSH)
    (tools / "ssh").chmod(0o755)
    (tools / "hosts").write_text("# of the cluster\nlocalhost\nsdw1\nsdw2\n")
    yield tools
    for folder in (*folders, tools):
        shutil.rmtree(folder)


def install(archive, home, *arguments, tools=None):
    """The archive's script; `tools`: with hosts of its file, by its ssh."""
    where = parse_dsn(os.environ["HOPPER_GREENPLUM"])
    environment = {**os.environ, **{f"PG{name.upper()}": text for name, text in where.items()}, "GPHOME": str(home)}
    if tools:
        environment["PATH"] = f"{tools}:{environment['PATH']}"
        arguments = ("-f", tools / "hosts", *arguments)
    return subprocess.run([archive / "install", *arguments], env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=1800, check=False)


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


def test_what_the_archive_installs_trains(archive, installed):
    # Red Hat 8's.
    assert (2, 17) <= newest(installed, "GLIBC") <= (2, 28)
    assert (3, 4, 11) <= newest(installed, "GLIBCXX") <= (3, 4, 25)
    assert newest(installed, "CXXABI") <= (1, 3, 11)
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
        assert str(installed / "lib" / "postgresql" / "model_hopper" / "libtorch_cpu.so") in loaded
        assert all(path.startswith(str(installed)) for path in loaded), loaded
    connection.close()
    refused = install(archive, installed, "--uninstall")
    assert refused.returncode == 1
    assert re.search(r"databases have the extension:.* hopper_unpacked\b.*DROP EXTENSION model_hopper CASCADE$", refused.stderr), refused.stderr
    assert (installed / "lib/postgresql/model_hopper.so").exists()
    query(admin, "DROP DATABASE hopper_unpacked")
    admin.close()


def test_all_hosts_get_one_version(small, home, hosts):
    folders = [home, *(pathlib.Path(f"{home}.{name}") for name in ("sdw1", "sdw2"))]
    before = [files_in(folder) for folder in folders]
    # One host that cannot take it, and none gets it.
    (folders[2] / "bin").unlink()
    done = install(small, home, tools=hosts)
    assert (done.returncode, done.stderr) == (1, f"sdw2 has no Greenplum in {home}.sdw2\ninstall: nothing was changed on any host\n")
    assert [files_in(folder) for folder in folders[:2]] == before[:2]
    (folders[2] / "bin").symlink_to(home / "bin")
    done = install(small, home, tools=hosts)
    assert done.returncode == 0, done.stderr
    one = re.match(r"3 hosts \(localhost sdw1 sdw2\): (0\.\d\.\d, build [0-9a-f]{12})\n", done.stdout).group(1)
    # Two versions on the hosts.
    listed = folders[1] / "share/model_hopper/files"
    for name, found in (("lib/postgresql/libhopper_core.so", "a damaged installation"), (None, "none")):
        if name:
            (folders[1] / name).write_bytes(b"another")
        else:
            listed.unlink()
            (folders[1] / "lib/postgresql/model_hopper.so").unlink()
        done = install(small, home, "--check", tools=hosts)
        assert done.stdout == f"localhost: {one}\nsdw1: {found}\nsdw2: {one}\n"
        assert (done.returncode, done.stderr) == (
            1, "install: the hosts differ: training refuses that. Run install without --check, which gives all of them this version\n")
    assert install(small, home, tools=hosts).returncode == 0
    assert install(small, home, "--check", tools=hosts).stdout == f"3 hosts (localhost sdw1 sdw2): {one}\n"
    # What an earlier version had alone goes.
    leftover = folders[0] / "share/postgresql/extension/model_hopper--0.0.1.sql"
    leftover.write_text("")
    with open(folders[0] / "share/model_hopper/files", "a", encoding="ascii") as file:
        file.write(f"{'0' * 64}  {leftover.relative_to(folders[0])}\n")
    assert install(small, home, tools=hosts).returncode == 0
    assert not leftover.exists()
    # The cluster's databases are other tests', and run on other files: they are not asked.
    psql = home / "bin/psql"
    for answer, code in (("exit 2", 1), ("", 0)):
        psql.unlink()
        psql.write_text(f'#!/bin/sh\ncase "$*" in *datname*) echo template1 ;; *) {answer} ;; esac\n')
        psql.chmod(0o755)
        assert (home / "lib/postgresql/model_hopper.so").exists()
        done = install(small, home, "--uninstall", tools=hosts)
        assert done.returncode == code, done.stderr
    assert (done.stdout, done.stderr) == ("3 hosts (localhost sdw1 sdw2): none of them has it\n", "")
    assert [files_in(folder) for folder in folders] == before
