// SPDX-License-Identifier: Apache-2.0
#include "cli/timeloop.h"

#include <cmath>
#include <cstdio>
#include <filesystem>

#include "cli/failure.h"
#include "sluice/hardware_generated.h"

namespace sluice::cli {
namespace {

constexpr char kAxes[] = "MNK";
constexpr const char* kData[3] = {"B", "A", "P"};  // the operand that lacks this axis
constexpr const char* kLicense = "# SPDX-License-Identifier: Apache-2.0\n";

std::string Energy(double pj) {
  char text[32];
  std::snprintf(text, sizeof text, "%.12g", pj);
  return text;
}

std::string Number(int64_t value) { return std::to_string(value); }

std::string Problem(const std::array<int64_t, 3>& extent) {
  std::string text = std::string(kLicense) + R"(problem:
  shape:
    name: GEMM
    dimensions: [ M, N, K ]
    data-spaces:
    - name: A
      projection: [ [ [M] ], [ [K] ] ]
    - name: B
      projection: [ [ [N] ], [ [K] ] ]
    - name: P
      projection: [ [ [M] ], [ [N] ] ]
      read-write: True
  instance:
)";
  for (int d = 0; d < 3; ++d) {
    text += std::string("    ") + kAxes[d] + ": " + Number(extent[d]) + "\n";
  }
  return text;
}

// One storage element, indented.
std::string Storage(const std::string& indent, const std::string& name,
                    const char* kind, const GemmMemory& memory) {
  std::string text = indent + "- name: " + name + "\n" + indent + "  class: " + kind +
                     "\n" + indent + "  attributes:\n";
  if (memory.words != 0) {
    text += indent + "    entries: " + std::to_string(memory.words) + "\n";
  }
  return text + indent + "    word-bits: 8\n" + indent + "    block-size: 1\n";
}

std::string Architecture(const GemmMemories& memories) {
  const EnergyUnit unit = UnitOf(memories.mac_pj);
  std::vector<WordEnergy> words;
  for (const GemmMemory* memory :
       {&memories.outer, &memories.middle, &memories.inner}) {
    if (memory == &memories.inner && !memories.has_inner) continue;
    words.push_back(
        {memory->name, memory->read_pj * unit.per_pj, memory->write_pj * unit.per_pj});
  }
  std::string text = std::string(kLicense) + UnitComment(unit) +
                     "architecture:\n  version: 0.3\n" +
                     "  subtree:\n  - name: system\n    local:\n" +
                     Storage("    ", memories.outer.name, "DRAM", memories.outer) +
                     "    subtree:\n    - name: chip\n      local:\n" +
                     Storage("      ", memories.middle.name, "SRAM", memories.middle) +
                     "      subtree:\n      - name: PE[0.." +
                     std::to_string(memories.pes - 1) + "]\n        local:\n";
  if (memories.has_inner) {
    text += Storage("        ", memories.inner.name, "regfile", memories.inner);
  }
  return text +
         "        - name: MAC\n          class: intmac\n          attributes:\n" +
         "            datawidth: 8\n            energy: " +
         WholeEnergy(memories.mac_pj, unit) + "\n" + EnergyTable(words);
}

std::string Loops(const std::string& target, const char* type, const int64_t factor[3],
                  const uint8_t order[4]) {
  std::string text = "- target: " + target + "\n  type: " + type + "\n  factors:";
  for (int d = 0; d < 3; ++d) {
    text += std::string(" ") + kAxes[d] + "=" + Number(factor[d]);
  }
  text += "\n  permutation: ";
  for (int i = 0; i < 3; ++i) text += kAxes[order[i]];
  return text + "\n";
}

std::string Bypass(const std::string& target, uint8_t holds) {
  std::string keep, bypass;
  for (const int d : {1, 0, 2}) {
    std::string& list = (holds >> d & 1) != 0 ? keep : bypass;
    list += std::string(list.empty() ? "" : ", ") + kData[d];
  }
  return "- target: " + target + "\n  type: bypass\n  keep: [" + keep +
         "]\n  bypass: [" + bypass + "]\n";
}

std::string Mapping(const std::array<int64_t, 3>& extent, const GemmMemories& memories,
                    const sluice_gemm_mapping_t& m) {
  static const uint8_t kAnyOrder[4] = {0, 1, 2, 0};
  int64_t outer[3], middle[3], spatial[3];
  for (int d = 0; d < 3; ++d) {
    outer[d] = extent[d] / m.middle_tile[d];
    middle[d] = m.middle_tile[d] / (m.spatial[d] * m.inner_tile[d]);
    spatial[d] = m.spatial[d];
    // Without a memory in the PE, its loops run at the middle memory.
    if (!memories.has_inner) middle[d] *= m.inner_tile[d];
  }
  std::string text = std::string(kLicense) + "mapping:\n" +
                     Loops(memories.outer.name, "temporal", outer, m.outer_order) +
                     Loops(memories.middle.name, "temporal", middle, m.middle_order) +
                     Loops(memories.middle.name, "spatial", spatial, kAnyOrder) +
                     "  split: 3\n";
  if (memories.has_inner) {
    text += Loops(memories.inner.name, "temporal", m.inner_tile, kAnyOrder);
  }
  text += Bypass(memories.middle.name, m.middle_holds);
  if (memories.has_inner) text += Bypass(memories.inner.name, m.inner_holds);
  return text;
}

GemmMemory MemoryOf(const wire::Level& level, const char* otherwise) {
  GemmMemory memory;
  memory.name = level.name() != nullptr ? level.name()->str() : otherwise;
  memory.name = PlainName(memory.name);
  memory.words = level.capacity_bytes();
  memory.read_pj = level.read_pj_per_bit() * 8;
  memory.write_pj = level.write_pj_per_bit() * 8;
  return memory;
}

}  // namespace

std::string EnergyTable(const std::vector<WordEnergy>& words) {
  std::string text = "ERT:\n  version: 0.3\n  tables:\n";
  for (const WordEnergy& word : words) {
    text += "  - name: " + word.memory + "\n    actions:\n";
    for (const char* action : {"read", "write"}) {
      const double energy = action[0] == 'r' ? word.read : word.write;
      text += std::string("    - name: ") + action +
              "\n      energy: " + Energy(energy) + "\n";
    }
  }
  return text;
}

std::string PlainName(std::string name) {
  for (char& c : name) {
    const bool plain =
        (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (!plain) c = '_';
  }
  return name;
}

EnergyUnit UnitOf(double mac_pj) {
  EnergyUnit unit = {0, 1};
  while (unit.digits < 9 && mac_pj * unit.per_pj * 10 < 2e9) {
    const double value = mac_pj * unit.per_pj;
    if (std::fabs(value - std::round(value)) <= 1e-9 * value) break;
    ++unit.digits;
    unit.per_pj *= 10;
  }
  return unit;
}

std::string UnitComment(const EnergyUnit& unit) {
  if (unit.digits == 0) return "";
  return "# Energies are in units of 1e-" + std::to_string(unit.digits) +
         " pJ: Timeloop reads that of a MAC as an integer.\n";
}

std::string WholeEnergy(double mac_pj, const EnergyUnit& unit) {
  return std::to_string(std::llround(mac_pj * unit.per_pj));
}

GemmMemories MemoriesOf(const Bytes& hardware, const sluice_gemm_mapping_t& mapping) {
  // The library has verified the bytes.
  const wire::Hardware* h = wire::GetHardware(hardware.data());
  GemmMemories memories;
  memories.outer = MemoryOf(*h->levels()->Get(mapping.outer_level), "outer");
  memories.middle.name = "none";
  memories.has_middle = mapping.middle_level != SLUICE_NO_INDEX;
  if (memories.has_middle) {
    memories.middle = MemoryOf(*h->levels()->Get(mapping.middle_level), "middle");
  }
  memories.has_inner = mapping.inner_level != SLUICE_NO_INDEX;
  memories.inner.name = "PE";
  if (memories.has_inner) {
    memories.inner = MemoryOf(*h->levels()->Get(mapping.inner_level), "inner");
  }
  memories.pes = 1;
  for (const wire::Fanout* fanout : *h->fanouts()) memories.pes *= fanout->extent();
  memories.mac_pj = h->mac_pj();
  return memories;
}

void WriteTimeloopTexts(const std::string& folder, const TimeloopTexts& texts) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Failure(kIo, folder + ": " + error.message());
  const auto write = [&](const char* name, const std::string& text) {
    WriteFile((std::filesystem::path(folder) / name).string(), text.data(),
              text.size());
  };
  write("problem.yaml", texts.problem);
  write("arch.yaml", texts.architecture);
  write("mapping.yaml", texts.mapping);
}

void WriteTimeloop(const std::string& folder, const std::array<int64_t, 3>& extent,
                   const GemmMemories& memories, const sluice_gemm_mapping_t& mapping) {
  if (!memories.has_middle) {
    throw Failure(kUsage,
                  "--timeloop needs a memory between the outer one and the PEs");
  }
  WriteTimeloopTexts(folder, {Problem(extent), Architecture(memories),
                              Mapping(extent, memories, mapping)});
}

}  // namespace sluice::cli
