# SPDX-License-Identifier: Apache-2.0
import pickle
import subprocess
import sys

import numpy
import pytest

import sluice
from conftest import MODEL, ROOT


def test_a_model_is_read_from_a_path_and_from_bytes(graph):
    again = sluice.Graph.from_tflite(MODEL.read_bytes(), name=MODEL.stem)
    assert again.hash == graph.hash
    assert graph.import_report.numbers == "exact"
    assert [port.shape for port in graph.inputs] == [(1, 32, 32, 3)]
    assert graph.layers[0].op == "conv" and graph.layers[0].inputs[0] == 0
    assert graph.tensors[0].dtype == "int8"


def test_a_model_s_file_is_the_graph_that_the_tool_makes(graph, tool, tmp_path):
    subprocess.run([tool, "import", MODEL, "-o", tmp_path / "g.slg"], check=True,
                   stdout=subprocess.DEVNULL)
    assert (tmp_path / "g.slg").read_bytes() == graph.to_bytes()
    page = sluice.schedule(graph, "mcu-256k").to_html()
    assert f'"title":"{MODEL.stem} on mcu-256k"' in page
    assert '"title":"mine on' in sluice.schedule(
        sluice.Graph.from_tflite(MODEL, name="mine"), "mcu-256k").to_html()


@pytest.mark.parametrize("name", ["qlinear", "qdq_cnn"])
def test_an_onnx_model_is_read_where_the_build_reads_them(name, tool, tmp_path):
    model = ROOT / f"tests/fuzz/corpus/onnx/{name}.onnx"
    if not sluice.reads("onnx") or not model.exists():
        pytest.skip("this build reads no ONNX models")
    graph = sluice.Graph.load(model)
    assert graph.import_report.format == "onnx" and graph.layers
    assert sluice.Graph.from_onnx(model.read_bytes(), name=name).to_bytes() == graph.to_bytes()
    subprocess.run([tool, "import", model, "-o", tmp_path / "tool.slg"], check=True,
                   stdout=subprocess.DEVNULL)
    assert (tmp_path / "tool.slg").read_bytes() == graph.to_bytes()
    plan = sluice.schedule(graph, "mcu-256k")
    assert plan.simulate().cycles == plan.report.latency_cycles


# ONNX, floats: present_h = x + past_h, y = Relu(present_h), all of 1 x 4.
RECURRENT = bytes.fromhex(
    "08083a97010a1b0a01780a06706173745f68120970726573656e745f6822034164640a140a0970726573656e"
    "745f68120179220452656c751201675a130a0178120e0a0c080112080a0208010a0208045a180a0670617374"
    "5f68120e0a0c080112080a0208010a02080462130a0179120e0a0c080112080a0208010a020804621b0a0970"
    "726573656e745f68120e0a0c080112080a0208010a02080442040a00100d")
RANGES = {"x": (-1, 1), "past_h": (-2, 2), "present_h": (-2, 2), "y": (0, 2)}


def test_states_and_ranges_are_given_by_name():
    if not sluice.reads("onnx"):
        pytest.skip("this build reads no ONNX models")

    def states(graph):
        return [t.name for t in graph.tensors if t.kind == "state"]
    plain = sluice.Graph.from_onnx(RECURRENT)
    assert not states(plain) and plain.import_report.numbers == "shapes_only"
    named = sluice.Graph.from_onnx(RECURRENT, states={"past_h": "present_h"})
    found = sluice.Graph.from_onnx(RECURRENT, find_states=True, ranges=RANGES)
    assert states(named) == ["past_h"] and len(states(found)) == 1
    assert found.import_report.numbers == "quantised"
    with pytest.raises(sluice.BadArgument, match="nothing"):
        sluice.Graph.from_onnx(RECURRENT, states={"nothing": "present_h"})
    with pytest.raises(sluice.BadInput, match="present_h"):
        sluice.Graph.from_onnx(RECURRENT, ranges={"x": (-1, 1), "past_h": (-2, 2)})
    for wrong in ({"x": 1}, {"x": (1, 2, 3)}, {"x": ("a", 2)}, {3: (1, 2)}, [1]):
        with pytest.raises((TypeError, sluice.BadArgument), match="ranges"):
            sluice.Graph.from_onnx(RECURRENT, ranges=wrong)
    for wrong in ({"past_h": 1}, {3: "y"}, ["past_h"]):
        with pytest.raises((TypeError, sluice.BadArgument), match="states"):
            sluice.Graph.from_onnx(RECURRENT, states=wrong)


def test_damage_is_an_exception_with_the_sentence():
    with pytest.raises(sluice.BadInput) as caught:
        sluice.Graph.from_bytes(b"no graph at all")
    assert caught.value.diagnostic.stage == "graph" and str(caught.value)
    with pytest.raises(ValueError):  # the builtin it is one of
        sluice.Graph.from_tflite(b"TFL3" * 9)


def test_graphs_of_the_zoo_are_batched_and_pickled():
    graph = sluice.Graph.zoo("mobilenet_v1", batch=2)
    assert graph.inputs[0].shape[0] == 2
    assert pickle.loads(pickle.dumps(graph)).hash == graph.hash
    assert "resnet50" in sluice.zoo_names()
    whole, lean = (sluice.Graph.zoo("resnet50", skip_unread=skip) for skip in (False, True))
    assert len(lean.layers) == len(whole.layers) + 3  # pools in front of three sums


def small(relu_max=127):
    builder = sluice.GraphBuilder("small")
    x = builder.input([1, 8, 8, 4], name="x")
    weight = builder.constant(numpy.ones((2, 1, 1, 4), "int8"))
    rows = numpy.array([[0, 1 << 30, 1], [3, 1 << 30, 1]], "int32")
    y = builder.output([1, 8, 8, 2], name="y")
    builder.layer("conv", [x, weight, builder.constant(rows)], [y],
                  {"stride_h": 1, "stride_w": 1, "dilation_h": 1, "dilation_w": 1, "groups": 1,
                   "act_min": -128, "act_max": relu_max}, name="sum")
    return builder.finish()


def test_a_graph_is_built_and_computes_what_was_built():
    graph = small()
    x = numpy.arange(256, dtype="int32").reshape(1, 8, 8, 4) % 7 - 3
    plan = sluice.schedule(graph, "mcu-256k")
    (y,) = plan.simulate({"x": x.astype("int8")}).outputs
    sums = x.sum(axis=-1)
    assert (y == numpy.stack([sums, sums + 3], axis=-1)).all()
    assert (sluice.reference(graph, [x.astype("int8")])[0] == y).all()


def test_a_damaged_file_or_one_of_another_kind_is_named(graph, plan, tmp_path):
    """What is wrong, where, and what would be right."""
    kinds = {"Graph.load": tmp_path / "g.slg", "Machine.load": tmp_path / "m.slh",
             "Plan.load": tmp_path / "p.slp"}
    graph.save(kinds["Graph.load"])
    plan.save(kinds["Plan.load"])
    kinds["Machine.load"].write_bytes(plan.machine.to_bytes())
    (tmp_path / "text").write_text("a text of some length")
    for kind, reader in (("graph", sluice.Graph.load), ("machine", sluice.Machine.load),
                         ("plan file", sluice.Plan.load)):
        for right, path in kinds.items():
            if right.lower().startswith(kind[:4]):
                path.write_bytes(path.read_bytes()[:100])
                with pytest.raises(sluice.BadInput, match=f"{path}: .*truncated or corrupt"):
                    reader(path)
            else:
                with pytest.raises(sluice.BadInput, match=f"{path} is a .*, which {right} reads"):
                    reader(path)
        with pytest.raises(sluice.BadInput, match=f"text is no {kind}: .*`sluice .* writes? one"):
            reader(tmp_path / "text")
    with pytest.raises(sluice.BadArgument, match="no network is called vgg; there are .*vgg16"):
        sluice.Graph.zoo("vgg")


def test_a_part_of_a_plan_file_that_is_damaged_is_named(plan, tmp_path):
    from sluice._plan_file import joined

    parts = [plan.to_bytes(), plan.graph.to_bytes(), plan.machine.to_bytes()]
    for i, name in enumerate(("the plan", "the plan's graph", "the plan's machine")):
        cut = [part[:200] if i == j else part for j, part in enumerate(parts)]
        (tmp_path / "p.slp").write_bytes(joined(*cut))
        with pytest.raises(sluice.BadInput, match=f"p.slp: {name} is damaged: "):
            sluice.Plan.load(tmp_path / "p.slp")


def test_what_needs_a_package_that_is_missing_says_so(plan, monkeypatch):
    again = sluice.Plan(plan.to_bytes(), plan.graph, plan.machine)
    cohort = sluice.coschedule([plan.graph] * 2, "mcu-256k")
    for package, use in (("pandas", lambda: again.layers), ("pandas", lambda: again.transfers),
                         ("pandas", lambda: cohort.turns),
                         ("matplotlib", again.plot)):
        with monkeypatch.context() as without:
            without.setitem(sys.modules, package, None)
            with pytest.raises(ImportError, match=f" needs {package}, which is not installed: "
                               f"pip install {package}"):
                use()


def test_what_is_wrong_with_a_builder_is_said():
    builder = sluice.GraphBuilder()
    x = builder.input([1, 4])
    with pytest.raises(ValueError, match="act_zero"):
        builder.layer("add", [x, x], [x], {"act_zero": 1})
    with pytest.raises(ValueError, match="int16"):
        builder.tensor([2], "int8", kind="constant", data=numpy.zeros(2, "int16"))
    builder.layer("add", [x], [x])
    with pytest.raises(sluice.SluiceError) as caught:
        builder.finish()
    assert caught.value.layer == 0


def test_inputs_of_another_type_or_name_are_refused(plan):
    with pytest.raises(ValueError, match="float64"):
        plan.simulate([numpy.zeros((1, 32, 32, 3))])
    with pytest.raises(ValueError, match="picture"):
        plan.simulate({"picture": numpy.zeros((1, 32, 32, 3), "int8")})
