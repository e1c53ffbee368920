// SPDX-License-Identifier: Apache-2.0
// A plan executed by tokens alone: the simulator's memory and machine under a token
// machine, and a layer to try it on.
//
// Input   graph, hardware and plan; what sluice_tokens made of the plan's stream
// Output  whether all bytes are those of the untiled run
// Users link sluice_sim and sluice_wire.
#ifndef SLUICE_TESTS_SUPPORT_TOKEN_RUN_H_
#define SLUICE_TESTS_SUPPORT_TOKEN_RUN_H_

#include <doctest/doctest.h>

#include <vector>

#include "firmware-sim/machine.h"
#include "firmware-sim/placed.h"
#include "support/token_machine.h"
#include "support/wire_builder.h"

namespace sluice_test {

inline std::vector<uint32_t> Depths(const TokensOfStream& tokens, uint32_t depth) {
  return std::vector<uint32_t>(tokens.channels.size(), depth);
}

// The simulator's memory and machine under a token machine.
struct TokenRun {
  TokenRun(const Bytes& graph_bytes, const Bytes& hardware_bytes,
           const Bytes& plan_bytes)
      : graph_bytes_(graph_bytes), plan_bytes_(plan_bytes) {
    REQUIRE(ReadGraph(graph_bytes_.data(), graph_bytes_.size(), &graph).empty());
    REQUIRE(
        ReadHardware(hardware_bytes.data(), hardware_bytes.size(), &hardware).empty());
    REQUIRE(
        ReadPlan(plan_bytes_.data(), plan_bytes_.size(), graph.tensors.size(), &plan)
            .empty());
    REQUIRE(sluice_walk_open(&walker, plan.image, plan.image_size, nullptr) ==
            SLUICE_WALK_OK);
    options.functional = true;
    options.seed = 3;
    REQUIRE(ParameterValues(graph, options, &parameters).empty());
    sluice_walk_set_parameters(&walker, parameters.data(),
                               static_cast<uint32_t>(parameters.size()));
    for (uint32_t r = 0; r < SLUICE_REGION_COUNT; ++r) {
      region_bytes[r] = sluice_walk_region_bytes(&walker, r);
    }
  }
  Bytes Image() const { return Bytes(plan.image, plan.image + plan.image_size); }

  // Whether the outputs equal those of the untiled run.
  bool Run(const TokensOfStream& tokens, uint32_t depth, uint64_t seed) {
    sluice_sim::Memory memory(1, region_bytes, true);
    sluice_sim::Machine device(walker, graph, hardware, &memory, true);
    sluice_sim::Values values(graph.tensors.size());
    const sluice_sim::PlacedRun run = {options, graph, plan, parameters, &memory};
    REQUIRE_FALSE(FillMemory(run, &values));
    std::vector<sluice_sim::Flight> flight(walker.engines);
    bool trapped = false;
    const auto event = [&](const sluice_walk_cursor_t* cursors, uint32_t e, bool ends) {
      if (trapped) return;
      if (ends) return CompleteFlight(device, flight[e]);
      sluice_instruction_t instruction;
      REQUIRE(sluice_walk_next(&walker, cursors, e, &instruction) == 1);
      flight[e] = sluice_sim::Flight();
      flight[e].engine = e;
      flight[e].visit = cursors[e].visit;
      flight[e].instruction = sluice_walk_position(&walker, cursors, e);
      const sluice_sim::Trap trap = StartInstruction(device, instruction, &flight[e]);
      CHECK_MESSAGE(!trap, trap.code, ": ", trap.text);
      trapped = bool(trap);
    };
    const Bytes image = Image();
    TokenMachine machine(image, tokens);
    const TokenMachine::Outcome out =
        machine.Run(Depths(tokens, depth), seed, TokenMachine::kNobody, event);
    CHECK(out.ended);
    CHECK(out.waits_held);
    if (trapped || !out.ended) return false;
    sluice_sim::SimulateResult result;
    const sluice_sim::Trap trap = JudgeOutputs(run, &values, &result);
    return !trap && result.mismatches == 0 && result.compared_bytes > 0;
  }

  Bytes graph_bytes_, plan_bytes_;
  sluice_sim::Graph graph;
  sluice_sim::Hardware hardware;
  sluice_sim::Plan plan;
  sluice_walker_t walker{};
  sluice_sim::SimulateOptions options;
  std::vector<int32_t> parameters;
  uint64_t region_bytes[SLUICE_REGION_COUNT] = {};
};

// One fully connected layer of 256 x 256 x 256.
inline GraphSpec FullyConnected256() {
  const int32_t n = 256;
  std::vector<int32_t> parameters;
  for (int32_t k = 0; k < n; ++k) {
    parameters.insert(parameters.end(), {37 * k - 100, (1 << 30) + 1000003 * k, -8});
  }
  std::vector<int32_t> attributes(SLUICE_CONV_ATTRIBUTES);
  attributes[SLUICE_CONV_INPUT_ZERO] = 3;
  attributes[SLUICE_CONV_OUTPUT_ZERO] = -5;
  attributes[SLUICE_CONV_ACT_MIN] = -128;
  attributes[SLUICE_CONV_ACT_MAX] = 127;
  GraphSpec g;
  g.tensors.push_back({{n, n}, SLUICE_DTYPE_INT8, 1, 0, 0});
  g.tensors.push_back({{n, n}, SLUICE_DTYPE_INT8, 3, 3, 11});
  g.tensors.push_back(g.Inline({n, 3}, SLUICE_DTYPE_INT32, parameters));
  g.tensors.push_back({{n, n}, SLUICE_DTYPE_INT8, 2, 0, 0});
  g.layers.push_back({SLUICE_OP_FULLY_CONNECTED, {0, 1, 2}, {3}, attributes});
  return g;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_TOKEN_RUN_H_
