// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/hardware_files.h"
#include "cli/report.h"
#include "cli/session.h"
#include "sluice/presets.h"

namespace sluice::cli {
namespace {

void List(bool json) {
  Json list = Json::array();
  Report report("hardware presets");
  for (uint32_t i = 0; i < sluice_preset_count(); ++i) {
    const char* name = sluice_preset_name(i);
    const HardwareFacts facts = FactsOf(LoadHardware(name));
    list.push_back({{"name", name},
                    {"macs_per_cycle", facts.macs_per_cycle},
                    {"scratchpad_bytes", facts.scratchpad_bytes},
                    {"dram_bytes_per_cycle", facts.dram_bytes_per_cycle},
                    {"clock_hz", facts.clock_hz}});
    report.Line(name, Grouped(facts.macs_per_cycle) + " MAC/cycle",
                BytesText(facts.scratchpad_bytes) + " scratchpad, DRAM " +
                    Fixed(facts.dram_bytes_per_cycle, 0) + " B/cycle, " +
                    Fixed(static_cast<double>(facts.clock_hz) / 1e6, 0) + " MHz");
  }
  if (json) {
    std::cout << Json({{"hardware", list}}).dump(1) << "\n";
  } else {
    std::cout << report.Text();
  }
}

}  // namespace

void Run(const HardwareCommand& command) {
  if (command.list) return List(command.json);
  if (command.name.empty()) {
    throw Failure(kUsage, "name a preset or a descriptor file, or use --list");
  }
  const Bytes bytes = LoadHardware(command.name);
  Session session(0);
  session.LoadHardware(bytes);  // says what is wrong with it
  if (!command.output.empty()) {
    WriteFile(command.output, bytes.data(), bytes.size());
    return;
  }
  std::cout << HardwareAsJson(bytes);
}

}  // namespace sluice::cli
