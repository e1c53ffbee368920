// SPDX-License-Identifier: Apache-2.0
#include "cli/hardware_files.h"

#include <unistd.h>

#include "cli/embedded.h"
#include "cli/failure.h"
#include "cli/hardware_json.h"
#include "sluice/hardware_generated.h"

namespace sluice::cli {
namespace {

const wire::Hardware& Checked(const Bytes& bytes) {
  flatbuffers::Verifier verifier(bytes.data(), bytes.size());
  if (bytes.size() < 12 || !wire::VerifyHardwareBuffer(verifier)) {
    throw Failure(kBadInput, "not a hardware descriptor, or a damaged one");
  }
  return *wire::GetHardware(bytes.data());
}

}  // namespace

Bytes LoadHardware(const std::string& name) {
  for (const EmbeddedFile& preset : HardwarePresets()) {
    if (name == preset.name) return Bytes(preset.data, preset.data + preset.size);
  }
  const std::string extension = FileExtension(name);
  const bool looks_like_file =
      !extension.empty() || name.find('/') != std::string::npos;
  if (!looks_like_file && access(name.c_str(), F_OK) != 0) {
    std::string message = "no hardware preset or file is called " + name + "; presets:";
    for (const EmbeddedFile& preset : HardwarePresets()) {
      message += std::string(" ") + preset.name;
    }
    throw Failure(kBadInput, message);
  }
  Bytes bytes = ReadFile(name);
  if (extension != ".json") return bytes;
  std::string error;
  Bytes binary = HardwareFromJson(std::string(bytes.begin(), bytes.end()), &error);
  if (binary.empty()) throw Failure(kBadInput, name + ": " + error);
  return binary;
}

std::string HardwareAsJson(const Bytes& bytes) {
  Checked(bytes);
  return HardwareToJson(bytes.data());
}

HardwareFacts FactsOf(const Bytes& bytes) {
  const wire::Hardware& hardware = Checked(bytes);
  HardwareFacts facts = {};
  if (hardware.name() != nullptr) facts.name = hardware.name()->str();
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

}  // namespace sluice::cli
