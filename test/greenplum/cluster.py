"""What tests do to the cluster itself: its processes, its segments, its faults and its files."""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import threading
import time

import psycopg2
import pytest

from conftest import SOURCE, connect
from digits import query, value, wait_until

HOME = pathlib.Path(os.environ["HOPPER_GREENPLUM_HOME"])


def control(command, *arguments, files=None):
    """scripts/greenplum; `files`: the folder of another installation to start."""
    environment = {**os.environ, **({"GP_FILES": str(files)} if files else {})}
    subprocess.run([SOURCE / "scripts" / "greenplum", command, os.environ["HOPPER_BUILD"],
                    *map(str, arguments)], check=True, env=environment, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)


def other_installation():
    """A second copy of the installed files, whose files are linked, not copied."""
    folder = HOME / "other"
    if folder.exists():
        shutil.rmtree(folder)
    subprocess.run(["cp", "-al", HOME / "root", folder], check=True)
    return folder


def segment_processes(connection_or_process):
    """Processes on this machine that serve the session of a coordinator's backend, by segment."""
    process = connection_or_process
    if not isinstance(process, int):
        process = value(connection_or_process, "SELECT pg_backend_pid()")
    with open(f"/proc/{process}/cmdline", "rb") as file:
        port, session = re.match(rb"postgres: +(\d+),.*\bcon(\d+)\b", file.read()).groups()
    found = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                title = file.read()
        except OSError:
            continue
        match = re.match(rb"postgres: +(\d+),.*\bcon%s\b.*\bseg(\d+)" % session, title)
        # Another cluster has sessions of the same number, and its own ports.
        if match and int(match.group(1)) == int(port) + 1 + int(match.group(2)):
            found.setdefault(int(match.group(2)), []).append(int(entry))
    return found


def of_each(processes, look):
    """What `look` finds of each process that is still there: some only read, and may go."""
    found = {}
    for one in (one for segment in processes.values() for one in segment):
        try:
            found[one] = look(one)
        except (FileNotFoundError, ProcessLookupError):  # before it is opened, or before it is read
            pass
    return found


def seconds(processes):
    """What each of them has computed so far."""
    def look(one):
        with open(f"/proc/{one}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return of_each(processes, look)


def spent(before, after):
    return sum(after[one] - before[one] for one in after)


def broken_into(connection, statement, spend, act):
    """The error of a statement within which act(process, processes of segments) is called, once these have computed for `spend` seconds."""
    process = value(connection, "SELECT pg_backend_pid()")
    processes = segment_processes(process)

    def break_in():
        before = seconds(processes)
        try:
            wait_until(lambda: spent(before, seconds(processes)) > spend)
        finally:  # or it would not end
            act(process, processes)

    thread = threading.Thread(target=break_in)
    thread.start()
    with pytest.raises(psycopg2.Error) as error:
        query(connection, statement)
    thread.join()
    return error.value


def kill(segment, number=signal.SIGKILL):
    """For broken_into(): ends the process of a segment that trains. SIGKILL makes the segment's server start anew, as after a crash."""
    def act(_, processes):
        times = seconds({segment: processes[segment]})
        os.kill(max(times, key=times.get), number)  # others only read
    return act


def primaries(connection):
    """dbid of each segment, for gp_inject_fault()."""
    query(connection, "SET client_min_messages = warning")
    query(connection, "CREATE EXTENSION IF NOT EXISTS gp_inject_fault")
    return [row[0] for row in query(
        connection, "SELECT dbid FROM gp_segment_configuration WHERE content >= 0"
        " AND role = 'p' ORDER BY content")]


def set_fault(connection, name, kind, segments=(0, 1, 2), occurrence=None, table=""):
    """Of gp_inject_fault(); `occurrence`: the how manieth time, else always; `table`: which some places ask for."""
    first, last = (occurrence, occurrence) if occurrence else (1, -1)
    for segment in segments:
        query(connection, "SELECT gp_inject_fault(%s, %s, '', '', %s, %s, %s, 0, %s)", name, kind,
              table, first, last, primaries(connection)[segment])


def reset_fault(connection, name):
    for dbid in primaries(connection):
        query(connection, "SELECT gp_inject_fault(%s, 'reset', %s)", name, dbid)


def count_passes(connection, name, run):
    """How often each segment comes by a fault's place while `run` runs."""
    reset_fault(connection, name)
    set_fault(connection, name, "skip")
    run()
    status = [value(connection, "SELECT gp_inject_fault(%s, 'status', %s)", name, dbid)
              for dbid in primaries(connection)]
    reset_fault(connection, name)
    return [int(text.split("num times hit:'")[1].split("'")[0]) for text in status]


def held(watcher, connection, statement, occurrence, look):
    """Runs a statement; calls `look` while every segment is held before its hop of that number."""
    errors = []

    def run():
        try:
            query(connection, statement)
        except psycopg2.Error as error:
            errors.append(error)

    reset_fault(watcher, "hopper_segment_train")
    set_fault(watcher, "hopper_segment_train", "suspend", occurrence=occurrence)
    thread = threading.Thread(target=run)
    thread.start()
    try:
        for dbid in primaries(watcher):
            query(watcher, "SELECT gp_wait_until_triggered_fault('hopper_segment_train', 1, %s)", dbid)
        found = look()
    finally:
        reset_fault(watcher, "hopper_segment_train")
        thread.join()
    for error in errors:
        raise error
    return found


def limit_memory(process, more):
    """Lets a process have so many more bytes of address space than it has now."""
    with open(f"/proc/{process}/statm", encoding="ascii") as file:
        size = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    owner = os.stat(f"/proc/{process}")
    as_owner = [] if os.getuid() == owner.st_uid else [
        "setpriv", f"--reuid={owner.st_uid}", f"--regid={owner.st_gid}", "--clear-groups"]
    subprocess.run([*as_owner, "prlimit", f"--pid={process}", f"--as={size + more}:"], check=True)


@contextlib.contextmanager
def setting_of_segment(segment, name, text):
    """A setting in the configuration file of one segment: for sessions that begin in the meantime."""
    folder = HOME / "data" / f"segment{segment}"
    file = folder / "postgresql.conf"
    before = file.read_text(encoding="utf-8")

    def write(text):
        file.write_text(text, encoding="utf-8")
        os.kill(int((folder / "postmaster.pid").read_text(encoding="ascii").split()[0]),
                signal.SIGHUP)

    write(f"{before}\n{name} = {text}\n")
    try:
        yield
    finally:
        write(before)


def answer(connection):
    """A session whose process on a segment has gone finds out with the next statement."""
    try:
        query(connection, "SELECT count(*) FROM gp_dist_random('gp_id')")
    except psycopg2.Error:
        query(connection, "SELECT count(*) FROM gp_dist_random('gp_id')")


def reconnected():
    """A session whose segments answer: a server that has lost a process starts anew."""
    for _ in range(60):
        try:
            connection = connect("HOPPER_GREENPLUM")
            query(connection, "SELECT count(*) FROM gp_dist_random('gp_id')")
            return connection
        except psycopg2.Error:
            time.sleep(0.5)
    raise AssertionError("the cluster does not come back")


def disk_bytes():
    """What the tables of all databases of the segments take on disk now."""
    total = 0
    for folder in (HOME / "data").glob("segment*/base"):
        for root, _, files in os.walk(folder):
            for name in files:
                try:
                    total += os.stat(os.path.join(root, name)).st_size
                except OSError:  # gone in the meantime
                    pass
    return total
