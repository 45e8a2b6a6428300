"""The private server of the demo and the tests: nobody but its owner gets in."""

import os
import pathlib
import shlex
import stat
import subprocess

import psycopg2
import pytest

from digits import SOURCE, connect, value

STRANGER = 54321  # a user and a group that are no one's


def as_stranger(action):
    """What `action` raises in a process of another user; None where it succeeds."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        outcome = b""
        try:
            os.setgroups([])
            os.setgid(STRANGER)
            os.setuid(STRANGER)
            action()
        except Exception as error:  # whatever it is, the parent judges it
            outcome = str(error).encode()
        os.write(writing, outcome)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        outcome = file.read().decode()
    assert os.waitpid(child, 0)[1] == 0
    return outcome or None


def socket_folder():
    return pathlib.Path(os.environ["PGHOST"])


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def test_its_folders_are_closed():
    folder = socket_folder()
    assert mode(folder) == 0o700
    assert mode(folder / f".s.PGSQL.{os.environ['PGPORT']}") == 0o700
    assert mode(folder.parent) & 0o007 == 0
    assert mode(folder.parent / "data") == 0o700
    assert value(connect("postgres"), "SHOW listen_addresses") == ""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can try it as somebody else")
def test_a_stranger_cannot_connect():
    connect("postgres").close()
    assert "Permission denied" in as_stranger(lambda: psycopg2.connect(dbname="postgres"))


@pytest.mark.skipif(os.getuid() != 0, reason="only root can try it as somebody else")
def test_a_server_that_was_left_open_is_closed():
    folder = socket_folder()
    os.chmod(folder, 0o755)
    os.chmod(folder.parent, 0o755)
    subprocess.run([SOURCE / "scripts" / "server", "start", os.environ["HOPPER_BUILD"]],
                   check=True, stdin=subprocess.DEVNULL)
    assert mode(folder) == 0o700
    assert mode(folder.parent) & 0o007 == 0


def test_env_names_the_socket():
    text = subprocess.run([SOURCE / "scripts" / "server", "env", os.environ["HOPPER_BUILD"]],
                          check=True, capture_output=True, text=True).stdout
    assert f"PGHOST={socket_folder()}" in shlex.split(text)
