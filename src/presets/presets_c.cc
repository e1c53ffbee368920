// SPDX-License-Identifier: Apache-2.0
// The C functions of presets.h.
#include "import/border.h"
#include "presets/hardware_json.h"
#include "presets/presets.h"
#include "sluice/presets.h"

using sluice::import::Bytes;
using sluice::import::Guarded;
using sluice::import::HandOver;
using sluice::import::MustBeThere;

namespace {

constexpr char kStage[] = "hardware";

Bytes Copy(const void* bytes, size_t size) {
  MustBeThere(bytes, "hardware");
  const auto* first = static_cast<const uint8_t*>(bytes);
  return Bytes(first, first + size);
}

}  // namespace

uint32_t sluice_preset_count(void) {
  return static_cast<uint32_t>(sluice::presets::HardwarePresets().size);
}

const char* sluice_preset_name(uint32_t index) {
  const auto presets = sluice::presets::HardwarePresets();
  return index < presets.size ? presets.data[index].name : nullptr;
}

sluice_status_t sluice_preset_find(const char* name, const void** out_bytes,
                                   size_t* out_size, sluice_diagnostic_t* diagnostic) {
  if (out_bytes != nullptr) *out_bytes = nullptr;
  if (out_size != nullptr) *out_size = 0;
  return Guarded(diagnostic, kStage, [&] {
    MustBeThere(name, "name");
    MustBeThere(out_bytes, "out_bytes");
    MustBeThere(out_size, "out_size");
    const auto& preset = sluice::presets::FindPreset(name);
    *out_bytes = preset.data;
    *out_size = preset.size;
  });
}

sluice_status_t sluice_hardware_from_json(const char* text, size_t size,
                                          const sluice_allocator_t* allocator,
                                          sluice_bytes_t* out_hardware,
                                          sluice_diagnostic_t* diagnostic) {
  if (out_hardware != nullptr) *out_hardware = {nullptr, 0};
  return Guarded(diagnostic, kStage, [&] {
    MustBeThere(text, "text");
    MustBeThere(out_hardware, "out_hardware");
    std::string error;
    const Bytes bytes =
        sluice::presets::HardwareFromJson(std::string(text, size), &error);
    if (bytes.empty()) {
      throw sluice::import::Error(sluice::import::Fault::kBadInput, error);
    }
    HandOver(bytes, allocator, out_hardware);
  });
}

sluice_status_t sluice_hardware_to_json(const void* hardware, size_t size,
                                        const sluice_allocator_t* allocator,
                                        sluice_bytes_t* out_text,
                                        sluice_diagnostic_t* diagnostic) {
  if (out_text != nullptr) *out_text = {nullptr, 0};
  return Guarded(diagnostic, kStage, [&] {
    MustBeThere(out_text, "out_text");
    const std::string text = sluice::presets::HardwareAsJson(Copy(hardware, size));
    HandOver(Bytes(text.begin(), text.end()), allocator, out_text);
  });
}

sluice_status_t sluice_hardware_describe(const void* hardware, size_t size,
                                         sluice_hardware_facts_t* out_facts,
                                         sluice_diagnostic_t* diagnostic) {
  return Guarded(diagnostic, kStage, [&] {
    MustBeThere(out_facts, "out_facts");
    const auto known = sluice::presets::FactsOf(Copy(hardware, size));
    sluice_hardware_facts_t facts = {};
    facts.nodes = known.nodes;
    facts.clock_hz = known.clock_hz;
    facts.macs_per_cycle = known.macs_per_cycle;
    facts.vector_ops_per_cycle = known.vector_ops_per_cycle;
    facts.scratchpad_bytes = known.scratchpad_bytes;
    facts.dram_bytes_per_cycle = known.dram_bytes_per_cycle;
    if (known.name_at != 0) {
      facts.name = static_cast<const char*>(hardware) + known.name_at;
    }
    if (sluice::import::WriteOut(facts, out_facts) != SLUICE_OK) {
      throw sluice::import::Error(sluice::import::Fault::kBadArgument,
                                  "out_facts.struct_size is not set");
    }
  });
}
