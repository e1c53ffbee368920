// SPDX-License-Identifier: Apache-2.0
// A lowering whose commands, fences and steps are recorded, not run.
#ifndef SLUICE_TESTS_TARGETS_GEMMINI_RECORDED_H_
#define SLUICE_TESTS_TARGETS_GEMMINI_RECORDED_H_

#include <array>
#include <vector>

extern "C" {
#include "bindings/targets/gemmini/sluice_gemmini_internal.h"
}

namespace gemmini_model {

struct Fixture {
  using Command = std::array<uint64_t, 3>;
  std::vector<Command> commands;  // but for configurations
  std::vector<sluice_gemmini_step> steps;
  std::vector<unsigned char> lines = std::vector<unsigned char>(SLUICE_GEMMINI_ROWS);
  sluice_gemmini_input input{};
  sluice_gemmini_port port{};
  sluice_gemmini_counts counts{};
  lowering_t lowering{};

  Fixture() {
    input.lines = lines.data();
    port.user = this;
    port.command = [](void* user, uint32_t funct, uint64_t rs1, uint64_t rs2) {
      if (funct != SLUICE_GEMMINI_CONFIG)
        static_cast<Fixture*>(user)->commands.push_back({funct, rs1, rs2});
      return 0;
    };
    port.fence = [](void*) { return 0; };
    port.host = [](void* user, const sluice_gemmini_step* step) {
      static_cast<Fixture*>(user)->steps.push_back(*step);
      return 0;
    };
    lowering.in = &input;
    lowering.port = &port;
    lowering.counts = &counts;
  }
};

// A dense int8 box of GBUF.
inline sluice_walk_operand_t Box(uint64_t offset,
                                 const std::array<uint32_t, 4>& extent) {
  sluice_walk_operand_t o{};
  o.region = SLUICE_REGION_GBUF;
  o.dtype = SLUICE_DTYPE_INT8;
  o.offset = offset;
  o.bytes = 1;
  for (size_t a = 4; a-- > 0;) {
    o.extent[a] = extent[a];
    o.stride[a] = static_cast<uint32_t>(o.bytes);
    o.bytes *= extent[a];
  }
  o.span = o.bytes;
  return o;
}

}  // namespace gemmini_model

#endif  // SLUICE_TESTS_TARGETS_GEMMINI_RECORDED_H_
