"""The plans that a session's statements run with, those inside functions too: the server prints them."""

import re

from digits import query, value
from kernels import motion_types


class Notices:
    """psycopg2 keeps the last 50 of a list only."""

    def __init__(self):
        self.all = []

    def append(self, text):
        self.all.append(text)

    def __iter__(self):
        return iter(self.all)


def watch_plans(connection):
    connection.notices = Notices()
    query(connection, "SET debug_print_plan = on")
    query(connection, "SET client_min_messages = log")


def plans_with(connection, aggregate):
    """The motions of each plan made since watch_plans() that computes this aggregate."""
    printed = [text for text in connection.notices if text.startswith("LOG:  plan:")]
    oid = value(connection, f"SELECT '{aggregate}'::regproc::oid")
    types = motion_types(connection)
    return [motions(text, types) for text in printed if re.search(rf":aggfnoid {oid}\b", text)]


def motions(printed, types):
    """Of each motion of a plan: its kind, what it hashes, and the nodes above and below it."""
    found, stack = [], []
    tree = printed[printed.index(":planTree"):printed.index("\n   :rtable ")]
    for line in tree.splitlines():
        line = line.strip()
        if line.startswith("{"):
            stack.append(line[1:].rstrip())
            if stack[-1] == "MOTION":
                found.append({"above": list(stack[:-1]), "below": [], "depth": len(stack)})
            for motion in found:
                if len(stack) > motion["depth"] and "MOTION" in stack[:-1]:
                    motion["below"].append(stack[-1])
        elif line.startswith("}"):
            stack.pop()
        elif stack and stack[-1] == "MOTION" and line.startswith(":motionType "):
            found[-1]["kind"] = types[line.split()[1]]
    assert not stack
    return found
