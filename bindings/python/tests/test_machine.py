# SPDX-License-Identifier: Apache-2.0
import json
import pickle

import pytest

import sluice


def test_a_machine_is_the_same_as_preset_dictionary_json_and_file(tmp_path):
    machine = sluice.Machine.preset("mcu-256k")
    assert machine.scratchpad_bytes == 256 << 10 and machine.name == "mcu-256k"
    assert sluice.Machine.from_dict(machine.to_dict()).hash == machine.hash
    (tmp_path / "m.json").write_text(json.dumps(machine.to_dict()))
    assert sluice.Machine.load(tmp_path / "m.json").hash == machine.hash
    (tmp_path / "m.slh").write_bytes(machine.to_bytes())
    assert sluice.Machine.load(tmp_path / "m.slh").hash == machine.hash
    assert pickle.loads(pickle.dumps(machine)).hash == machine.hash


def test_every_preset_has_engines_and_facts():
    for name in sluice.presets():
        machine = sluice.Machine.preset(name)
        assert len(machine.engines) == machine.understood.engines > 0
        assert isinstance(machine.doubts, list)


def test_fields_are_replaced_by_path_and_misspelt_ones_refused():
    machine = sluice.Machine.preset("mcu-256k")
    level = machine.to_dict()["scratchpad_level"]
    path = f"levels.{level}.capacity_bytes"
    assert machine.replace({path: 1 << 20}).scratchpad_bytes == 1 << 20
    with pytest.raises(ValueError, match="capacity_byte"):
        machine.replace({f"levels.{level}.capacity_byte": 1})


def test_mistakes_are_exceptions():
    with pytest.raises(sluice.BadArgument, match="mcu-256k"):
        sluice.Machine.preset("mcu")
    with pytest.raises(sluice.BadInput):
        sluice.Machine.from_dict({"levelz": []})
