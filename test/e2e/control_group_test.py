"""What runs take unless they are told otherwise: no more than a container or a service may use of its machine."""

import os
import pathlib
import time

import pytest
from digits import PLAIN, connect, create_database, drop_database, pid, query

DATABASE = "hopper_control_group"
MOUNT = pathlib.Path("/sys/fs/cgroup")
GIGABYTE = 1 << 30


def own(controller):
    """This process' group of version 1, which has a hierarchy for each controller."""
    for line in pathlib.Path("/proc/self/cgroup").read_text(encoding="ascii").splitlines():
        _, controllers, group = line.split(":", 2)
        if controller in controllers.split(",") and (MOUNT / controllers).is_dir():
            # A container sees its own at the top, whatever name it has outside.
            inside = MOUNT / controllers / group.lstrip("/")
            return inside if inside.is_dir() else MOUNT / controllers
    return None


def limits(names):
    """{folder: {file: text}} of a new group that has one processor's time and a gigabyte."""
    if (MOUNT / "cgroup.controllers").exists():
        return {MOUNT / names: {"cpu.max": "100000 100000", "memory.max": str(GIGABYTE)}}
    cpu, memory = own("cpu"), own("memory")
    if cpu is None or memory is None:
        pytest.skip("no control groups of processors and memory")
    return {cpu / names: {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "100000"},
            memory / names: {"memory.limit_in_bytes": str(GIGABYTE)}}


def remove(folder):
    """Once the processes in it have ended."""
    for _ in range(200):
        if not (folder / "cgroup.procs").read_text(encoding="ascii"):
            break
        time.sleep(0.05)
    folder.rmdir()


@pytest.fixture(name="groups")
def fixture_groups():
    made = []
    try:
        for folder, files in limits(f"hopper_test_{os.getpid()}").items():
            folder.mkdir()
            made.append(folder)
            for name, text in files.items():
                (folder / name).write_text(text, encoding="ascii")
        yield made
    except OSError as error:
        pytest.skip(f"control groups cannot be made here: {error}")
    finally:
        for folder in made:
            remove(folder)


@pytest.fixture(name="connection")
def fixture_connection():
    connection = create_database(DATABASE)
    query(connection, "SELECT hopper.load_model('architectures', %s)", PLAIN)
    yield connection
    connection.close()
    drop_database(DATABASE)


def defaults(connection):
    """Workers that a run of two models would have, and its limit of memory in bytes, where all is asked for."""
    query(connection, "SET hopper.memory_limit = '1000000GB'; SET client_min_messages = error")
    found = dict(query(connection, "SELECT item, predicted FROM hopper.explain_fit('packed', 'model', 'configs', 1)"
                       " WHERE item IN ('workers', 'memory limit')"))
    return found["workers"], found["memory limit"]


def test_defaults_keep_to_the_limits_of_a_control_group(connection, groups):
    query(connection, "SELECT hopper.load_model_selection_table('architectures', 'configs', '{1}',"
          " ARRAY[$$loss='categorical_crossentropy', optimizer='SGD(lr=0.1)'$$], ARRAY['batch_size=32', 'batch_size=64'])")
    session = connect(DATABASE)
    workers, memory = defaults(session)
    assert workers == min(2, len(os.sched_getaffinity(0)))
    assert memory > GIGABYTE, "a machine for this test has more"
    for group in groups:
        (group / "cgroup.procs").write_text(str(pid(session)), encoding="ascii")
    # Three quarters of what the server's own memory and libtorch in this session leave.
    shared = query(session, "SELECT setting::bigint * 8192 FROM pg_settings WHERE name = 'shared_buffers'")[0][0]
    assert defaults(session) == (1, (GIGABYTE - shared - (64 << 20)) * 3 // 4)
    session.close()
