// SPDX-License-Identifier: Apache-2.0
#include "cli/timeloop_layer.h"

#include <algorithm>
#include <vector>

#include "cli/failure.h"
#include "cli/timeloop.h"
#include "sluice/hardware_generated.h"

namespace sluice::cli {
namespace {

constexpr char kDims[] = "NKCPQRSG";
constexpr const char* kOperands[3] = {"Inputs", "Weights", "Outputs"};
constexpr const char* kLicense = "# SPDX-License-Identifier: Apache-2.0\n";

std::string NameOf(const wire::Level& level, uint32_t index) {
  return PlainName(level.name() != nullptr ? level.name()->str()
                                           : "level" + std::to_string(index));
}

int64_t Spatial(const sluice_layer_mapping_t& m, uint32_t level, int dim) {
  int64_t factor = 1;
  for (const auto& axis : m.spatial[level]) factor *= axis[dim];
  return factor;
}

// The extent that the loops of all levels cover together.
int64_t Covered(const sluice_layer_mapping_t& m, int dim) {
  int64_t product = 1;
  for (uint32_t l = 0; l < m.levels; ++l)
    product *= m.temporal[l][dim] * Spatial(m, l, dim);
  return product;
}

// Input rows from one window to the next; rows between windows are not counted as data.
int64_t Step(const sluice_layer_mapping_t& m, int axis) {
  return std::min<int64_t>(m.stride[axis],
                           (m.extent[kR + axis] - 1) * m.dilation[axis] + 1);
}

std::string Problem(const sluice_layer_mapping_t& m) {
  std::string text = std::string(kLicense) + R"(problem:
  shape:
    name: Layer
    dimensions: [ N, K, C, P, Q, R, S, G ]
    coefficients:
    - name: Hstride
      default: 1
    - name: Wstride
      default: 1
    - name: Hdilation
      default: 1
    - name: Wdilation
      default: 1
    data-spaces:
)";
  if ((m.operands & 2) != 0) {
    text +=
        "    - name: Weights\n"
        "      projection: [ [ [G] ], [ [K] ], [ [C] ], [ [R] ], [ [S] ] ]\n";
  }
  text += R"(    - name: Inputs
      projection: [ [ [N] ], [ [G] ], [ [C] ], [ [R, Hdilation], [P, Hstride] ], [ [S, Wdilation], [Q, Wstride] ] ]
    - name: Outputs
      projection: [ [ [N] ], [ [G] ], [ [K] ], [ [P] ], [ [Q] ] ]
      read-write: True
  instance:
)";
  for (int d = 0; d < kDimCount; ++d) {
    text += std::string("    ") + kDims[d] + ": " + std::to_string(Covered(m, d));
    if (Covered(m, d) != m.extent[d]) {
      text += "  # of which " + std::to_string(m.extent[d]) + " are work";
    }
    text += "\n";
  }
  const char* names[2] = {"H", "W"};
  for (int axis = 0; axis < 2; ++axis) {
    text += std::string("    ") + names[axis] +
            "stride: " + std::to_string(Step(m, axis)) + "\n    " + names[axis] +
            "dilation: " + std::to_string(m.dilation[axis]) + "\n";
  }
  return text;
}

std::string Storage(const std::string& indent, const std::string& name,
                    const char* kind, const wire::Level& level, uint32_t word_bytes) {
  std::string text = indent + "- name: " + name + "\n" + indent + "  class: " + kind +
                     "\n" + indent + "  attributes:\n";
  if (level.capacity_bytes() != 0) {
    text += indent +
            "    entries: " + std::to_string(level.capacity_bytes() / word_bytes) +
            "\n";
  }
  return text + indent + "    word-bits: " + std::to_string(8 * word_bytes) + "\n" +
         indent + "    block-size: 1\n";
}

// Units below one instance of the level.
uint64_t UnitsBelow(const wire::Hardware& hardware, uint32_t level) {
  uint64_t units = 1;
  for (const wire::Fanout* fanout : *hardware.fanouts()) {
    if (fanout->level() == level) units *= fanout->extent();
  }
  return units;
}

std::string Architecture(const wire::Hardware& hardware,
                         const sluice_layer_mapping_t& m) {
  const uint32_t word = std::max(1u, m.element_bytes[2]);
  const double mac_pj = m.vector != 0 ? hardware.vector_op_pj() : hardware.mac_pj();
  const EnergyUnit unit = UnitOf(mac_pj);
  std::string text = std::string(kLicense) + UnitComment(unit) +
                     "architecture:\n  version: 0.3\n  subtree:\n";
  std::string indent = "  ", range;
  std::vector<WordEnergy> words;
  for (uint32_t l = m.levels; l-- > 0;) {
    const wire::Level& level = *hardware.levels()->Get(l);
    const std::string name = NameOf(level, l);
    words.push_back({name, level.read_pj_per_bit() * 8 * word * unit.per_pj,
                     level.write_pj_per_bit() * 8 * word * unit.per_pj});
    text += indent + "- name: " + name + "_node" + range + "\n" + indent +
            "  local:\n" +
            Storage(indent + "  ", name,
                    l + 1 == m.levels ? "DRAM"
                    : l == 0          ? "regfile"
                                      : "SRAM",
                    level, word) +
            indent + "  subtree:\n";
    indent += "  ";
    const uint64_t units = UnitsBelow(hardware, l);
    range = units > 1 ? "[0.." + std::to_string(units - 1) + "]" : "";
  }
  return text + indent + "- name: unit" + range + "\n" + indent + "  local:\n" +
         indent + "  - name: MAC\n" + indent + "    class: intmac\n" + indent +
         "    attributes:\n" + indent + "      datawidth: " + std::to_string(8 * word) +
         "\n" + indent + "      energy: " + WholeEnergy(mac_pj, unit) + "\n" +
         EnergyTable(words);
}

std::string Nest(const std::string& target, const char* type,
                 const int64_t factor[kDimCount], const uint8_t order[kDimCount]) {
  std::string text = "- target: " + target + "\n  type: " + type + "\n  factors:";
  for (int d = 0; d < kDimCount; ++d) {
    text += std::string(" ") + kDims[d] + "=" + std::to_string(factor[d]);
  }
  text += "\n  permutation: ";
  for (int i = 0; i < kDimCount; ++i) text += kDims[order[i]];
  return text + "\n";
}

std::string Mapping(const wire::Hardware& hardware, const sluice_layer_mapping_t& m) {
  std::string text = std::string(kLicense) + "mapping:\n";
  for (uint32_t l = m.levels; l-- > 0;) {
    const std::string name = NameOf(*hardware.levels()->Get(l), l);
    text += Nest(name, "temporal", m.temporal[l], m.order[l]);
    int64_t spatial[kDimCount];
    for (int d = 0; d < kDimCount; ++d) spatial[d] = Spatial(m, l, d);
    if (UnitsBelow(hardware, l) > 1) {
      text += Nest(name, "spatial", spatial, m.order[l]) + "  split: 8\n";
    }
    if (l + 1 == m.levels) continue;
    std::string keep, bypass;
    for (int v = 0; v < 3; ++v) {
      if ((m.operands >> v & 1) == 0) continue;
      std::string& list = (m.hold[l] >> v & 1) != 0 ? keep : bypass;
      list += std::string(list.empty() ? "" : ", ") + kOperands[v];
    }
    text += "- target: " + name + "\n  type: bypass\n  keep: [" + keep +
            "]\n  bypass: [" + bypass + "]\n";
  }
  return text;
}

}  // namespace

void WriteTimeloopLayer(const std::string& folder, const Bytes& hardware,
                        const sluice_layer_mapping_t& mapping) {
  if (mapping.levels == 0) {
    throw Failure(kUsage,
                  "--timeloop: a core array computes this layer, it has no loops");
  }
  // The library has verified the bytes.
  const wire::Hardware& machine = *wire::GetHardware(hardware.data());
  WriteTimeloopTexts(folder, {Problem(mapping), Architecture(machine, mapping),
                              Mapping(machine, mapping)});
}

}  // namespace sluice::cli
