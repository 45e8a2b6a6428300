"""The private cluster: nobody gets in without the password that its owner alone can read."""

import os
import stat

import psycopg2
import pytest

from cluster import HOME


def test_the_password_is_wanted(greenplum, monkeypatch, tmp_path):
    port = int(greenplum.get_dsn_parameters()["port"])
    psycopg2.connect(os.environ["HOPPER_GREENPLUM"], dbname="postgres").close()
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "none"))
    for host in ("127.0.0.1", "/tmp"):
        with pytest.raises(psycopg2.OperationalError, match="no password supplied"):
            psycopg2.connect(os.environ["HOPPER_GREENPLUM"], dbname="postgres", host=host)
    for number in range(port + 1, port + 4):  # the segments
        with pytest.raises(psycopg2.OperationalError):
            psycopg2.connect(os.environ["HOPPER_GREENPLUM"], dbname="postgres", port=number)


def test_its_files_are_closed():
    for name in (".", "data", "passwords", "password"):
        assert stat.S_IMODE(os.stat(HOME / name).st_mode) & 0o077 == 0, name
