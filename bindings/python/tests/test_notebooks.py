# SPDX-License-Identifier: Apache-2.0
"""The notebooks run from top to bottom, and show what they end their cells with."""
import ast
import json
import subprocess
import sys

import pytest

from conftest import ROOT

pytest.importorskip("matplotlib")
pytest.importorskip("pandas")
NOTEBOOKS = sorted((ROOT / "bindings/python/notebooks").glob("*.ipynb"))


def program(cells):
    """Cells as one program; the value of a cell's last expression is shown as a notebook
    would: its HTML, or its text."""
    lines = ["def show(value):",
             "    if value is not None:",
             "        print(getattr(value, '_repr_html_', lambda: repr(value))())"]
    for cell in cells:
        tree = ast.parse(cell)
        if isinstance(tree.body[-1], ast.Expr) and not cell.rstrip().endswith(";"):
            last = tree.body.pop()
            lines += [ast.unparse(tree), f"show({ast.unparse(last.value)})"]
        else:
            lines.append(cell)
    return "\n".join(lines)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom(path, tmp_path):
    book = json.loads(path.read_text(encoding="utf-8"))
    assert book["nbformat"] == 4 and book["nbformat_minor"] >= 5
    ids = [cell["id"] for cell in book["cells"]]
    assert len(set(ids)) == len(ids) and book["cells"][0]["source"][0].startswith("# ")
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    for cell in code:  # what a run made is not kept: it would be out of date
        assert cell["outputs"] == [] and cell["execution_count"] is None
    (tmp_path / "book.py").write_text(program(["".join(cell["source"]) for cell in code]))
    # As in a notebook, the main module is no file, which workers would begin anew.
    run = "exec(compile(open('book.py').read(), 'book.py', 'exec'))"
    done = subprocess.run([sys.executable, "-c", run], cwd=tmp_path, capture_output=True,
                          text=True, timeout=200)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip()


def test_there_are_five():
    assert [path.stem for path in NOTEBOOKS] == [
        "compare_two_accelerators", "first_plan", "measured_tile_costs", "size_my_scratchpad",
        "what_limits_my_network"]
