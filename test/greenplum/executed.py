"""What the statements inside a function really did on the cluster: their plans' motions."""

import os
import re
import subprocess

from conftest import DATABASE, connect
from kernels import motion_types


def executed(statement):
    """[(SQL, [(kind of motion, [(column or "<>", type oid)])])] of all statements inside `statement`.

    The server prints the plans that it executes; nothing here plans a statement again.
    """
    # psql shows the context of a message, which names the statement.
    done = subprocess.run(["psql", "-X", "-q", "-v", "SHOW_CONTEXT=always", "-c",
                           "SET debug_pretty_print = off; SET debug_print_plan = on;"
                           f" SET client_min_messages = log; {statement}",
                           os.environ["HOPPER_GREENPLUM"] + f" dbname={DATABASE}"],
                          capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    connection = connect("HOPPER_GREENPLUM")
    types = motion_types(connection)
    connection.close()
    found = []
    for notice in re.split(r"^(?=LOG:|NOTICE:|WARNING:)", done.stderr, flags=re.MULTILINE):
        sql = re.search(r'^CONTEXT:  SQL statement "(.*?)"\s*\Z', notice, re.DOTALL | re.MULTILINE)
        if not re.match(r"LOG:  plan:\n", notice) or sql is None:
            continue
        text = " ".join(notice.split())
        motions = []
        for motion in re.finditer(r"\{MOTION :motionID \d+ :motionType (\d) .*?:targetlist (.*?) :qual ",
                                  text):
            columns = re.findall(r"\{TARGETENTRY :expr \{(?:\w+) .*?:(?:var|const|aggfn|func|opresult)\w*"
                                 r"type (\d+) .*?:resname (\S+)", motion.group(2))
            motions.append((types[motion.group(1)], [(name, oid) for oid, name in columns]))
        found.append((" ".join(sql.group(1).split()), motions))
    assert found, "no statement was seen"
    return found


def gathered(statements):
    """The columns that some motion brings to one process, with their types."""
    return {(name, oid) for _, motions in statements for kind, columns in motions
            if kind == "fixed" for name, oid in columns}
