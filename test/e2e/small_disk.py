"""A small file system as a tablespace, where the machine lets us mount one."""

import contextlib
import os
import subprocess
import tempfile

import pytest

from digits import query


@contextlib.contextmanager
def small_tablespace(connection, megabytes, owned_as):
    """The folder of the tablespace "small", which holds so much and belongs to the owner of a file of
    the server's. The test is skipped where nothing can be mounted."""
    folder = tempfile.mkdtemp()
    try:
        owner = os.stat(owned_as)
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=700,uid={owner.st_uid},gid={owner.st_gid}",
             "tmpfs", folder], capture_output=True, check=False)
        if mounted.returncode != 0:
            pytest.skip(f"no small file system: {mounted.stderr.decode().strip()}")
        try:
            query(connection, f"CREATE TABLESPACE small LOCATION '{folder}'")
            yield folder
            query(connection, "DROP TABLESPACE small")
        finally:
            subprocess.run(["umount", folder], check=True)
    finally:
        os.rmdir(folder)
