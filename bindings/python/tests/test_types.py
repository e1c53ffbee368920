# SPDX-License-Identifier: Apache-2.0
"""The package's types, as mypy reads them in a user's program."""
import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

import sluice
from conftest import ROOT

if importlib.util.find_spec("mypy") is None:
    pytest.skip("without mypy", allow_module_level=True)
PACKAGE = pathlib.Path(sluice.__file__).parent
PROGRAM = """
import sluice
graph = sluice.Graph.zoo("alexnet", batch=2)
plan = sluice.schedule(graph, "soma-edge", objective="edp", deadline=0.5)
cycles: int = plan.report.latency_cycles
found = sluice.sweep({"networks": "alexnet", "hardware": "soma-edge"}, workers=1)
rows: int = len(found.rows)
"""
WRONG = {"words: str = plan.report.latency_cycles": "Incompatible types in assignment",
         "sluice.schedule(7, 'soma-edge')": 'Argument 1 to "schedule"',
         "sluice.schedule(graph, 'soma-edge', dead_line=1)": "Unexpected keyword",
         "plan.latency": 'has no attribute "latency"'}


def said(folder, *what):
    """mypy's words on what a user checks, with the package found as an installed one."""
    env = {**os.environ, "MYPYPATH": str(PACKAGE.parent)}
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", ROOT / "bindings/python/pyproject.toml",
         "--cache-dir", folder / "cache", *what], capture_output=True, text=True, env=env,
        cwd=folder)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def test_every_public_name_is_exported_for_strict_users():
    modules = type(sluice)
    public = {name for name, value in vars(sluice).items()
              if not name.startswith("_") and not isinstance(value, modules)}
    assert public - {"lib", "text", "enum"} <= set(sluice.__all__)


def test_mypy_accepts_the_package_and_finds_a_user_s_mistakes(tmp_path):
    assert (PACKAGE / "py.typed").exists()
    (tmp_path / "right.py").write_text(PROGRAM)
    (tmp_path / "wrong.py").write_text(PROGRAM + "".join(f"{line}\n" for line in WRONG))
    assert "Success" in said(tmp_path, PACKAGE, "right.py")
    found = said(tmp_path, "wrong.py")
    for words in WRONG.values():
        assert words in found
    assert f"Found {len(WRONG)} errors" in found
