"""The wheel, its types, and that it needs nothing."""

import pathlib
import re
import subprocess
import sys

import model_hopper
from conftest import SOURCE

CLIENT = SOURCE / "clients/python"


def run(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout.strip()


def test_wheel(tmp_path):
    wheel = run(SOURCE / "scripts/build-python", tmp_path / "dist")
    assert not (CLIENT / "build").exists() and not list(CLIENT.glob("**/*.egg-info"))
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "fresh")
    python = tmp_path / "fresh/bin/python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-index", "--disable-pip-version-check",
        wheel)
    said = run(python, "-c", "import model_hopper as m; print(m.__file__); print(m.__version__)", cwd=tmp_path)
    file, version = said.splitlines()
    assert file.startswith(str(tmp_path)) and version == model_hopper.__version__
    assert (pathlib.Path(file).parent / "py.typed").exists()
    # Without a driver it says what to install.
    missing = subprocess.run([python, "-c", "import model_hopper; model_hopper.connect()"], capture_output=True, text=True)
    assert "pip install" in missing.stderr.splitlines()[-1]


def test_version_is_the_extensions():
    control = (SOURCE / "model_hopper.control").read_text()
    assert model_hopper.__version__ == re.search(r"default_version = '(.*)'", control)[1]
    assert f'version = "{model_hopper.__version__}"' in (CLIENT / "pyproject.toml").read_text()


def test_types():
    checked = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", SOURCE / "build/mypy"], cwd=CLIENT,
                             capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout


def test_what_is_public_has_docstrings():
    for name in model_hopper.__all__:
        thing = getattr(model_hopper, name)
        assert thing.__doc__, name
    for name, method in vars(model_hopper.Hopper).items():
        assert name.startswith("_") or method.__doc__, name
