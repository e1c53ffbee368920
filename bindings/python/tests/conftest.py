# SPDX-License-Identifier: Apache-2.0
import os
import pathlib

import pytest

import sluice

ROOT = pathlib.Path(os.environ.get("SLUICE_ROOT", pathlib.Path(__file__).parents[3]))
MODEL = ROOT / "tests/models/residual_cnn_int8.tflite"


@pytest.fixture(scope="session")
def graph():
    return sluice.Graph.load(MODEL)


@pytest.fixture(scope="session")
def plan(graph):
    return sluice.schedule(graph, "mcu-256k")


@pytest.fixture(scope="session")
def tool():
    if not os.environ.get("SLUICE_TOOL"):
        pytest.skip("without the tool (SLUICE_TOOL)")
    return os.environ["SLUICE_TOOL"]
