"""Which files of the glue call which, and in what circles.

A circle of calls is a set of files of src/pg of which each calls functions of some other one, directly or through
more files, and is called by it. What is called as hopper_backend.member() or hopper_backend.part->member() is what the
server's table of that name holds (src/pg/backend.h).
"""

import collections
import re

# In the glue's style a definition begins in the first column; its type stands in a line of its own.
DEFINED = re.compile(r"^(?:HOPPER_\w*FUNCTION\()?(hopper_\w+)[()]", re.M)
NO_CODE = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\])*"', re.S)
# A table that src/pg/backend.h describes, what it holds, and a call through it.
TABLE = re.compile(r"^const struct hopper_\w+ (\w+) = \{\n(.*?)^\};", re.M | re.S)
ENTRY = re.compile(r"\.(\w+) = &?(\w+)")
THROUGH = re.compile(r"\bhopper_backend\.(\w+)(?:->(\w+))?\(")
# The room that a server is built without.
SERVERS = {"PostgreSQL": "greenplum", "Greenplum": "local"}


def reachable(leads, begin):
    seen, left = set(), [begin]
    while left:
        new = leads[left.pop()] - seen
        seen |= new
        left += new
    return seen


def circles_of_calls(glue, without):
    """Lists of files, relative to src/pg, which call each other in circles."""
    texts = {str(path.relative_to(glue)): NO_CODE.sub(" ", path.read_text("utf-8"))
             for path in sorted(glue.rglob("*.c")) if path.relative_to(glue).parts[0] != without}
    home = {name: file for file, text in texts.items() for name in DEFINED.findall(text)}
    tables = {name: {member: (held, file) for member, held in ENTRY.findall(body)}
              for file, text in texts.items() for name, body in TABLE.findall(text)}

    def behind(member, of_part):
        held, file = tables["hopper_backend"][member]
        if of_part:
            held, file = tables[held][of_part]
        return home.get(held, file)

    leads = collections.defaultdict(set)
    for file, text in texts.items():
        named = {home[name] for name in set(re.findall(r"\bhopper_\w+", TABLE.sub("", text))) & home.keys()}
        leads[file] = (named | {behind(*call) for call in THROUGH.findall(text)}) - {file}
    reached = {file: reachable(leads, file) for file in texts}
    return sorted({tuple(other for other in texts if other in reached[file] and file in reached[other])
                   for file in texts if file in reached[file]}, key=lambda circle: (-len(circle), circle))
