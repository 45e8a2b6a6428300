"""Clusters that a run cannot work on are refused before anything is trained."""

import os
import re
import shutil

import psycopg2
import pytest

from cluster import HOME, control, other_installation
from conftest import DATABASE, SOURCE, connect
from digits import outputs, query
from runs import digests, fit


def error_of(work):
    """What `work` ends with in a new session."""
    connection = psycopg2.connect(os.environ["HOPPER_GREENPLUM"], dbname=DATABASE)
    connection.autocommit = True
    with pytest.raises(psycopg2.Error) as error:
        work(connection)
    connection.close()
    return error


def refused(output):
    """The error of a run; nothing of it is left, and nothing was trained."""
    error = error_of(lambda connection: fit(connection, "packed_6", output, "configs_3"))
    assert "in iteration" not in (error.value.diag.context or "")
    return error.value


def works(output):
    connection = connect("HOPPER_GREENPLUM")
    assert outputs(connection, f"{output}%") == []
    fit(connection, "packed_6", output, "configs_3", 1)
    assert len(digests(connection, output)) == 3
    connection.close()


@pytest.fixture
def segment_1(on_segments):
    """Starts segment 1 with other files; it gets its own back."""
    # Tests before these have restarted the cluster under the shared connection.
    connection = connect("HOPPER_GREENPLUM")
    if outputs(connection, "complete") == []:
        fit(connection, "packed_6", "complete", "configs_1", 1)
    connection.close()

    def start(change):
        folder = other_installation()
        change(folder / "lib" / "postgresql")
        control("stop-segment", 1)
        control("start-segment", 1, files=folder)
    yield start
    control("stop-segment", 1)
    control("start-segment", 1)
    shutil.rmtree(HOME / "other")


# What else works on the segments.
OTHERS = ["hopper.training_preprocessor('digits', 'lacking_packed', 'label', 'pixels')",
          "* FROM hopper.evaluate('complete', 'packed_6')",
          "hopper.predict('complete', 'digits', 'id', 'pixels', 'lacking_predicted')"]


def without(name):
    return lambda folder: (folder / name).unlink()


def rebuilt(name):
    """Another build of a library: its id differs, and nothing else does."""
    def change(folder):
        path = folder / name
        data = bytearray(path.read_bytes())
        mode = os.stat(path).st_mode
        note = data.index(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0") + 16
        data[note] ^= 0xFF
        path.unlink()  # the file is linked with the other installation's
        path.write_bytes(data)
        path.chmod(mode)
    return change


@pytest.mark.parametrize("name", ["model_hopper.so", "libhopper_core.so", "libhopper_torch.so"])
def test_a_segment_without_a_library(segment_1, name):
    segment_1(without(name))
    error = refused(f"lacking_{name[:-3]}")
    assert error.pgcode == "58P01"
    assert error.diag.message_detail and "Install" in error.diag.message_hint
    assert "seg1" in str(error)
    for call in OTHERS[name == "libhopper_torch.so":]:  # packing has no use for it
        error = error_of(lambda connection, call=call: query(connection, f"SELECT {call}")).value
        assert error.pgcode == "58P01" and "Install" in error.diag.message_hint, call
    control("stop-segment", 1)
    control("start-segment", 1)
    works(f"lacking_{name[:-3]}")


@pytest.mark.parametrize("name", ["model_hopper.so", "libhopper_core.so", "libhopper_torch.so"])
def test_a_segment_with_another_build(segment_1, name):
    segment_1(rebuilt(name))
    error = refused(f"differing_{name[:-3]}")
    assert error.pgcode == "55000"
    assert name in error.diag.message_detail and "egment 1 has" in error.diag.message_detail
    assert error.diag.message_hint == "Install the libraries of one build on all hosts, and reconnect."
    control("stop-segment", 1)
    control("start-segment", 1)
    works(f"differing_{name[:-3]}")


CURRENT = re.search(r"default_version = '(.*)'", (SOURCE / "model_hopper.control").read_text(encoding="ascii")).group(1)


def of_version(version, *names):
    def change(folder):
        for name in names:
            path = folder / name
            data = path.read_bytes()
            mode = os.stat(path).st_mode
            assert data.count(f"{CURRENT}\0".encode()) and len(version) == len(CURRENT)
            path.unlink()
            path.write_bytes(data.replace(f"{CURRENT}\0".encode(), f"{version}\0".encode()))
            path.chmod(mode)
    return change


@pytest.mark.parametrize("version", ["0.0.1", "9.9.9"])
def test_a_segment_with_another_version(segment_1, version):
    segment_1(of_version(version, "model_hopper.so"))
    errors = [refused(f"version_{version[0]}")] + [
        error_of(lambda connection, call=call: query(connection, f"SELECT {call}")).value for call in OTHERS]
    for error in errors:
        assert error.pgcode == "55000" and "seg1" in str(error), error
        assert f"of version {CURRENT}, but the library is of version {version}" in error.diag.message_primary
        assert error.diag.message_hint == "Install the same version on all hosts, and reconnect."


def test_create_extension_with_an_older_library_on_a_segment(segment_1):
    """What the server would say is the symbol of the first function that it lacks."""
    segment_1(of_version("0.1.9", "model_hopper.so", "libhopper_core.so"))
    admin = connect("HOPPER_GREENPLUM")
    query(admin, f"DROP DATABASE IF EXISTS {DATABASE}_older")
    query(admin, f"CREATE DATABASE {DATABASE}_older")
    connection = connect("HOPPER_GREENPLUM", f"{DATABASE}_older")
    with pytest.raises(psycopg2.Error) as error:
        query(connection, "CREATE EXTENSION model_hopper")
    connection.close()
    query(admin, f"DROP DATABASE {DATABASE}_older")
    admin.close()
    assert error.value.pgcode == "55000"
    assert f"are of version {CURRENT}, but the library is of version 0.1.9" in error.value.diag.message_primary
    assert "on all hosts of a cluster" in error.value.diag.message_hint


def test_a_segment_that_is_down(on_segments):
    """Without a mirror nobody takes over."""
    control("stop-segment", 1)
    try:
        error = refused("down")
    finally:
        control("start-segment", 1)
    assert error.pgcode == "58M01"
    assert error.diag.message_detail and error.diag.message_hint
    works("down")
