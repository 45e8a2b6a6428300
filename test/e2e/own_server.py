"""A second server of the same programs beside the private one, which a test may stop and kill."""

import contextlib
import os
import pathlib
import pwd
import signal
import subprocess
import time

import psycopg2


def as_server(*command):
    """PostgreSQL's programs refuse to work for root: as the owner of the server's sockets."""
    owner = pwd.getpwuid(os.stat(os.environ["PGHOST"]).st_uid)
    become = []
    if os.getuid() == 0:
        become = ["setpriv", f"--reuid={owner.pw_uid}", f"--regid={owner.pw_gid}", "--clear-groups"]
    done = subprocess.run([*become, *command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, cwd="/", check=False, timeout=120)
    assert done.returncode == 0, done.stderr


class OwnServer:
    def __init__(self, name, port):
        # Here the server's user may make a folder, and the way to the socket is short.
        self.data = pathlib.Path(os.environ["PGHOST"]) / name
        self.port = port

    def start(self, **settings):
        options = " ".join(f"-c {name}='{setting}'" for name, setting in settings.items())
        as_server("pg_ctl", "-w", "-t", "60", "-D", self.data, "-l", self.data / "log", "-o",
                  f"-p {self.port} -k {os.environ['PGHOST']} {options}", "start")

    def stop(self, mode="fast"):
        as_server("pg_ctl", "-w", "-t", "60", "-D", self.data, "-m", mode, "stop")

    def postmaster(self):
        return int((self.data / "postmaster.pid").read_text().split()[0])

    def kill(self):
        """The postmaster alone; its processes find out, and until they have ended no other one starts."""
        os.kill(self.postmaster(), signal.SIGKILL)

    def start_again(self, seconds=60, **settings):
        deadline = time.monotonic() + seconds
        while True:
            try:
                return self.start(**settings)
            except AssertionError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.5)

    def log(self):
        return (self.data / "log").read_text(encoding="utf-8", errors="replace")


@contextlib.contextmanager
def own_server(name, port):
    """Not started. Where clients connect to is the caller's to say, by PGPORT."""
    server = OwnServer(name, port)
    as_server("rm", "-rf", server.data)
    as_server("initdb", "-D", server.data, "-U", os.environ["PGUSER"], "-A", "trust", "-E", "UTF8", "--no-locale",
              "--no-sync")
    with open(server.data / "postgresql.conf", "a", encoding="utf-8") as conf:
        conf.write("listen_addresses = ''\nfsync = off\nhopper.max_threads = 1024\n")
    try:
        yield server
    finally:
        with contextlib.suppress(AssertionError, FileNotFoundError, psycopg2.Error):
            server.stop("immediate")
        as_server("rm", "-rf", server.data)
