"""What tests see differently on the kernels: PostgreSQL 9.4 in Greenplum 6, 12 in Greenplum 7."""

# enum MotionType by its name here: all rows to one process or to all, by a hash, to a row's own segment.
MOTIONS = {
    9: {"0": "redistribute", "1": "fixed", "2": "explicit"},
    12: {"0": "fixed", "1": "fixed", "2": "redistribute", "3": "fixed", "4": "explicit"},
}


def has_12(connection):
    """Whether the kernel is 12 or newer."""
    return connection.server_version >= 120000


def motion_types(connection):
    return MOTIONS[12 if has_12(connection) else 9]
