# SPDX-License-Identifier: Apache-2.0
"""What holds of the package as a whole: layouts, the cost of a call, of an import."""
import subprocess
import sys
import time

import pytest

import sluice
from conftest import ROOT
from sluice._c import ffi


def test_structs_are_laid_out_as_the_library_s():
    """A struct whose size is wrong is refused: every report of a plan would fail. Those that
    the library fills have the size that it says."""
    plan = sluice.schedule(sluice.Graph.zoo("alexnet"), "soma-edge", solver="baseline")
    report = ffi.new("sluice_report_t*")
    report.struct_size = 1 << 20  # longer than any: what is written is set
    room = ffi.new("char[]", 1 << 20)
    made = ffi.cast("sluice_report_t*", room)
    made.struct_size = 1 << 20
    from sluice._library import lib

    assert lib.sluice_plan_report(plan._handle, made) == 0
    assert made.struct_size == ffi.sizeof("sluice_report_t")


def test_a_call_costs_little_beyond_the_c_call():
    """At most 50 us of CPU over C, measured with a graph of one layer."""
    from sluice._library import context, diagnostic, lib

    builder = sluice.GraphBuilder()
    x, y = builder.input([1, 4, 4, 4]), builder.output([1, 4, 4, 4])
    builder.layer("max_pool", [x], [y], {"window_h": 1, "window_w": 1, "stride_h": 1,
                                         "stride_w": 1, "act_min": -128, "act_max": 127})
    graph, machine = builder.finish(), sluice.Machine.preset("mcu-256k")

    def python():
        sluice.schedule(graph, machine, solver="baseline")

    def bare():
        raw, out, why = context(), ffi.new("sluice_plan_t**"), diagnostic()
        lib.sluice_schedule(raw, graph._handle, machine._handle, options, out, why)
        lib.sluice_plan_destroy(out[0])

    options = ffi.new("sluice_schedule_options_t*")
    options.struct_size, options.solver = ffi.sizeof(options[0]), 1
    word = ffi.new("uint32_t*")
    options.cancel, options.energy_exponent, options.delay_exponent = word, 1, 1

    def least(call):
        best = 1e9
        for _ in range(300):
            begin = time.thread_time()
            call()
            best = min(best, time.thread_time() - begin)
        return best * 1e6

    of_python, of_c = least(python), least(bare)
    print(f"a call takes {of_python:.1f} us, its C call {of_c:.1f} us")
    assert of_python - of_c < 50


def test_the_import_is_light():
    code = "import sys, sluice; print([m for m in ('pandas', 'matplotlib', 'numpy') if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_every_public_name_has_words():
    for name in sluice.__all__:
        value = getattr(sluice, name)
        if callable(value):
            assert value.__doc__, name


@pytest.mark.parametrize("program, arguments", [
    ("first_plan.py", []), ("sweep.py", []), ("growth.py", ["4", "2"])])
def test_the_guides_programs_run(tmp_path, program, arguments):
    guide = ROOT / "bindings/python/examples" / program
    if not guide.exists():
        pytest.skip("without the examples")
    out = subprocess.run([sys.executable, guide, *arguments], capture_output=True, text=True,
                         cwd=tmp_path)
    assert out.returncode == 0, out.stderr
