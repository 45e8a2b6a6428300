"""The plans that a session's statements run with, those inside functions too: the server prints them."""

import re

from digits import query, value


class Notices(list):
    """psycopg2 keeps the last 50 of a plain list only."""


def watch_plans(connection):
    connection.notices = Notices()
    query(connection, "SET debug_print_plan = on")
    query(connection, "SET client_min_messages = log")


def plans_with(connection, aggregate):
    """The motions of each plan made since watch_plans() that computes this aggregate."""
    printed = [text for text in connection.notices if text.startswith("LOG:  plan:")]
    oid = value(connection, f"SELECT '{aggregate}'::regproc::oid")
    return [motions(text) for text in printed if re.search(rf":aggfnoid {oid}\b", text)]


def motions(printed):
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
            found[-1]["kind"] = {"0": "redistribute", "1": "fixed", "2": "explicit"}[line.split()[1]]
    assert not stack
    return found
