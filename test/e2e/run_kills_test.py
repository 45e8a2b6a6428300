"""Kills at random moments, of which bench/run_kills.py does more: a run ends as one that nobody killed."""

import pathlib
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "bench/run_kills.py"


@pytest.mark.chance
def test_ten_kills():
    done = subprocess.run([sys.executable, SCRIPT, "--kills", "10", "--runs", "plateau,warm,hyperband,asha", "--most", "3"],
                          capture_output=True, text=True, timeout=1200, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(": equal, ") >= 4
