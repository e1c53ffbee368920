// SPDX-License-Identifier: Apache-2.0
#include "presets/presets.h"

#include "import/error.h"
#include "presets/embedded.h"
#include "presets/hardware_json.h"
#include "sluice/hardware_generated.h"

namespace sluice::presets {

using import::Error;
using import::Fault;

namespace {

const wire::Hardware& Checked(const Bytes& bytes) {
  flatbuffers::Verifier verifier(bytes.data(), bytes.size());
  if (bytes.size() < 12 || !wire::VerifyHardwareBuffer(verifier)) {
    throw Error(Fault::kBadInput, "not a hardware descriptor, or a damaged one");
  }
  return *wire::GetHardware(bytes.data());
}

}  // namespace

const EmbeddedFile& FindPreset(const std::string& name) {
  for (const EmbeddedFile& preset : HardwarePresets()) {
    if (name == preset.name) return preset;
  }
  std::string message = "no hardware preset is called " + name + "; presets:";
  for (const EmbeddedFile& preset : HardwarePresets()) {
    message += std::string(" ") + preset.name;
  }
  throw Error(Fault::kBadArgument, message);
}

Bytes LoadPreset(const std::string& name) {
  const EmbeddedFile& preset = FindPreset(name);
  return Bytes(preset.data, preset.data + preset.size);
}

std::string HardwareAsJson(const Bytes& bytes) {
  Checked(bytes);
  return HardwareToJson(bytes.data());
}

HardwareFacts FactsOf(const Bytes& bytes) {
  const wire::Hardware& hardware = Checked(bytes);
  HardwareFacts facts = {};
  if (hardware.name() != nullptr) {
    facts.name = hardware.name()->str();
    facts.name_at = static_cast<size_t>(
        reinterpret_cast<const uint8_t*>(hardware.name()->c_str()) - bytes.data());
  }
  facts.nodes = hardware.node_cols() * hardware.node_rows();
  facts.clock_hz = hardware.clock_hz();
  facts.macs_per_cycle = hardware.macs_per_cycle();
  facts.vector_ops_per_cycle = hardware.vector_ops_per_cycle();
  const auto* levels = hardware.levels();
  if (levels == nullptr || levels->size() == 0) return facts;
  const wire::Level& dram = *levels->Get(levels->size() - 1);
  if (dram.bytes_per_cycle_denominator() != 0) {
    facts.dram_bytes_per_cycle =
        static_cast<double>(dram.bytes_per_cycle_numerator()) /
        static_cast<double>(dram.bytes_per_cycle_denominator());
  }
  if (hardware.scratchpad_level() < levels->size()) {
    facts.scratchpad_bytes = levels->Get(hardware.scratchpad_level())->capacity_bytes();
  }
  return facts;
}

}  // namespace sluice::presets
