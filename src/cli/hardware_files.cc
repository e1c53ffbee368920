// SPDX-License-Identifier: Apache-2.0
#include "cli/hardware_files.h"

#include <unistd.h>

#include "cli/answers.h"
#include "cli/models.h"
#include "sluice/presets.h"

namespace sluice::cli {

Bytes LoadHardware(const std::string& name) {
  std::string names;
  for (uint32_t i = 0; i < sluice_preset_count(); ++i) {
    names += std::string(" ") + sluice_preset_name(i);
    if (name != sluice_preset_name(i)) continue;
    const void* bytes = nullptr;
    size_t size = 0;
    sluice_diagnostic_t why = EmptyDiagnostic();
    MustBeDone(sluice_preset_find(name.c_str(), &bytes, &size, &why), why);
    const uint8_t* first = static_cast<const uint8_t*>(bytes);
    return Bytes(first, first + size);
  }
  const std::string extension = FileExtension(name);
  const bool looks_like_file =
      !extension.empty() || name.find('/') != std::string::npos;
  if (!looks_like_file && access(name.c_str(), F_OK) != 0) {
    throw Failure(kBadInput, "no hardware preset or file is called " + name +
                                 "; presets:" + names);
  }
  Bytes bytes = ReadFile(name);
  const std::string kind = KindOf(bytes);
  if (!kind.empty() && kind != "machine") {
    throw Failure(kBadInput, name + " is a " + kind +
                                 "; a machine is a preset, FILE.json or FILE.slh");
  }
  if (extension != ".json") return bytes;
  try {
    return HardwareFromJson(std::string(bytes.begin(), bytes.end()));
  } catch (const Failure& failure) {
    throw Failure(failure.code(), name + ": " + failure.what());
  }
}

Bytes HardwareFromJson(const std::string& text) {
  sluice_bytes_t bytes = {};
  sluice_diagnostic_t why = EmptyDiagnostic();
  MustBeDone(sluice_hardware_from_json(text.data(), text.size(), nullptr, &bytes, &why),
             why);
  return Taken(bytes);
}

std::string HardwareAsJson(const Bytes& hardware) {
  sluice_bytes_t text = {};
  sluice_diagnostic_t why = EmptyDiagnostic();
  MustBeDone(
      sluice_hardware_to_json(hardware.data(), hardware.size(), nullptr, &text, &why),
      why);
  const Bytes bytes = Taken(text);
  return std::string(bytes.begin(), bytes.end());
}

HardwareFacts FactsOf(const Bytes& hardware) {
  sluice_hardware_facts_t facts = {};
  facts.struct_size = sizeof facts;
  sluice_diagnostic_t why = EmptyDiagnostic();
  MustBeDone(sluice_hardware_describe(hardware.data(), hardware.size(), &facts, &why),
             why);
  return {facts.name == nullptr ? "" : facts.name,
          facts.clock_hz,
          facts.macs_per_cycle,
          facts.vector_ops_per_cycle,
          facts.scratchpad_bytes,
          facts.dram_bytes_per_cycle};
}

}  // namespace sluice::cli
