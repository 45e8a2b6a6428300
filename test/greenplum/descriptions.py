"""What the coordinator sends to the segments: catching it, changing it, sealing it again.

A role can see the descriptions of its own statements in their plans. The tests read the secret as a
superuser, so that what they have changed gets past the seal to the checks behind it.
"""

import hashlib
import hmac
import re
import struct

from digits import query, value

RUN, EVALUATION, PACKING, PLAN, PREDICTION, ENTRY = range(1, 7)
CONSTANT = re.compile(rb":consttype\s+17\s.*?:constvalue\s+\d+\s+\[\s+([-\d\s]+)\]", re.DOTALL)
SEAL = 32


def texts(description, n):
    """The first n texts, and where they end."""
    found, at = [], 0
    for _ in range(n):
        (length,) = struct.unpack_from("<q", description, at)
        found.append(description[at + 8:at + 8 + length])
        at += 8 + length
    return found, at


def kind(description):
    _, at = texts(description, 2)
    return struct.unpack_from("<q", description, at)[0]


def payload(description):
    """Where the part begins that differs from kind to kind."""
    return texts(description, 2)[1] + 8


def catch(connection, statement, *arguments):
    """The descriptions of a statement of this session, by their kinds."""
    library = value(connection, "SELECT extversion FROM pg_extension"
                    " WHERE extname = 'model_hopper'").encode()
    query(connection, "SET client_min_messages = log")
    query(connection, "SET debug_print_plan = on")
    query(connection, "SET debug_pretty_print = off")  # which breaks lines within numbers
    connection.notices = Endless()
    try:
        query(connection, statement, *arguments)
    finally:
        query(connection, "RESET debug_print_plan")
        query(connection, "RESET client_min_messages")
    found = {}
    for notice in connection.notices:
        for numbers in CONSTANT.findall(notice.encode()):
            bytes_ = bytes(int(number) & 255 for number in numbers.split())[4:]
            if len(bytes_) > 100 and bytes_[8:8 + len(library)] == library:
                found.setdefault(kind(bytes_), bytes_)
    connection.notices = []
    return found


class Endless(list):
    """psycopg2 keeps the last 50 notices of a list."""

    def __delitem__(self, _):
        pass


class Sealer:
    """Seals for one role in one session, as the coordinator does."""

    def __init__(self, superuser, connection, role=None):
        secret = value(superuser, "SELECT umoptions[1] FROM pg_user_mappings"
                       " WHERE srvname = 'hopper_segments'")
        self.secret = secret.split("=")[1].encode()
        self.session = int(value(connection, "SHOW gp_session_id"))
        self.database = value(connection, "SELECT oid::integer FROM pg_database"
                              " WHERE datname = current_database()")
        self.role = value(superuser, "SELECT oid::integer FROM pg_roles WHERE rolname = %s",
                          role or value(connection, "SELECT current_user"))

    def seal(self, unsealed, of=None):
        scope = struct.pack("<iiII", of or kind(unsealed), self.session, self.database, self.role)
        return unsealed + hmac.new(self.secret, scope + unsealed, hashlib.sha256).digest()

    def again(self, description, change):
        """The description with its unsealed bytes changed by a function."""
        return self.seal(bytes(change(bytearray(description[:-SEAL]))), kind(description))
