"""What the generators find: nothing, since every finding is mended and has a test of its own.

test/hostile/random_calls.py, table_damage.py and two_sessions.py run longer by themselves.
"""

import pytest

import random_calls
import stage
import table_damage
import two_sessions


@pytest.fixture(autouse=True)
def database():
    stage.create().close()
    yield
    stage.destroy()


@pytest.fixture
def session(database):
    connection = stage.connect()
    yield connection
    connection.close()


def test_random_calls_harm_nobody(session):
    outcome = random_calls.run(session, 10_000, seed=20)
    # A generator whose calls are all refused would prove little.
    assert sorted(name for name, codes in outcome.items() if "00000" not in codes) == []


def test_damaged_tables_harm_nobody(session):
    outcome = table_damage.run(session, 60, seed=3)
    # All of them still work where the damage is elsewhere.
    assert [reader for reader, codes in outcome.items() if "00000" not in codes] == []


@pytest.mark.chance
def test_sessions_at_once_harm_nobody():
    statements, findings = two_sessions.run(60, seed=1)
    assert findings == []
    # What a machine that does much else gets through; three a second on one that does not.
    assert statements > 30
