// SPDX-License-Identifier: Apache-2.0
// Lists that are ordered by tokens alone keep every wait of the stream and end, in any
// order of engines. Plans executed this way give the reference's bytes.
#include <doctest/doctest.h>

#include <string>

#include "support/random_graph.h"
#include "support/random_stream.h"
#include "support/simulation.h"
#include "support/token_machine.h"
#include "support/token_run.h"

namespace sluice_test {
namespace {

// Runs the lists in some random orders.
void CheckOrder(const Bytes& image, const TokensOfStream& tokens, uint32_t depth,
                uint64_t seed) {
  TokenMachine machine(image, tokens);
  CHECK(machine.placed());
  for (uint64_t run = 0; run < 4; ++run) {
    const TokenMachine::Outcome out =
        machine.Run(Depths(tokens, depth), seed * 16 + run);
    REQUIRE(out.ended);
    REQUIRE(out.waits_held);
  }
}

TEST_CASE("tokens keep every wait of random streams, in random orders") {
  Library library;
  uint64_t relays = 0, popped = 0, lost = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    const StreamBuilder stream = MakeRandomStream(seed);
    const Bytes image = stream.Image();
    const uint32_t engines = stream.engines();
    for (const auto& channels :
         {AllPairs(engines, 0), StarOf(seed % engines, engines, 0)}) {
      TokensOfStream tokens;
      REQUIRE(MakeTokens(&library, image, channels, &tokens));
      CheckOrder(image, tokens, 0, seed);
      CheckOrder(image, tokens, tokens.common_depth, seed);
      relays += tokens.relay.size();
      TokensOfStream untold =
          tokens;  // without tokens order is lost: the machine must see it
      for (auto& step : untold.instruction) step = {0, 0};
      for (auto& relay : untold.relay) relay.step = {0, 0};
      lost += !TokenMachine(image, untold).Run(Depths(untold, 0), seed).waits_held;
      for (const auto& step : tokens.instruction) popped += step.pops != 0;
      CHECK((channels.size() != engines * (engines - 1) || tokens.relay.empty()));
    }
  }
  MESSAGE("relays ", relays, ", instructions that pop ", popped);
  CHECK(relays > 100);
  CHECK(popped > 1000);
  CHECK(lost > 600);
}

// A ring has a single path from each engine to every other, through all engines
// between.
TEST_CASE("relays form chains where the way is long") {
  Library library;
  uint64_t relays = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    const StreamBuilder stream = MakeRandomStream(seed);
    const uint32_t engines = stream.engines();
    std::vector<sluice_token_channel_t> ring;
    for (uint32_t e = 0; e < engines; ++e) ring.push_back({e, (e + 1) % engines, 0, 0});
    const Bytes image = stream.Image();
    TokensOfStream tokens;
    REQUIRE(MakeTokens(&library, image, ring, &tokens));
    CheckOrder(image, tokens, 0, seed);
    CheckOrder(image, tokens, tokens.common_depth, seed);
    relays += tokens.relay.size();
  }
  CHECK(relays > 100);
}

TEST_CASE("a wait between engines that no channels join is refused by name") {
  StreamBuilder s;
  s.engine_table.assign(3, {SLUICE_DOES_COMPUTE, 0, SLUICE_NO_QUEUE, 0, 0});
  s.blocks.emplace_back();
  s.blocks[0].Append(0, SLUICE_OPCODE_COMPUTE, 0, 0, {});
  s.blocks[0].Append(2, SLUICE_OPCODE_COMPUTE, 0, 0, {After(0, 1)});
  s.AddInstance(0, 0, 0);
  Library library;
  TokensOfStream tokens;
  const Bytes image = s.Image();
  CHECK_FALSE(MakeTokens(&library, image, {{0, 1, 0, 0}, {2, 1, 0, 0}}, &tokens));
  CHECK(library.status == SLUICE_INFEASIBLE);
  CHECK(std::string(library.diagnostic.rule) == "path");
  CHECK(library.diagnostic.instruction == 1);
  CHECK(
      std::string(library.diagnostic.message) ==
      "instruction 1 needs engine 2 to wait for engine 0, and no channels lead there");
  // A relay on engine 1, which has no instruction of its own, passes the token on.
  REQUIRE(MakeTokens(&library, image, {{0, 1, 0, 0}, {1, 2, 0, 0}}, &tokens));
  REQUIRE(tokens.relay.size() == 1);
  CHECK(tokens.relay[0].engine == 1);
  CHECK(tokens.relay[0].before == SLUICE_NO_INDEX);
  CHECK(tokens.relay[0].step.pops == 1);
  CHECK(tokens.relay[0].step.pushes == 2);
  CHECK(tokens.instruction[0].pushes == 1);
  CHECK(tokens.instruction[1].pops == 2);
}

TEST_CASE(
    "waits that others imply take no token, and an instruction takes a relay's place") {
  // Engine 2 waits for 0 and 1, and engine 1 has already waited for 0.
  StreamBuilder s;
  s.engine_table.assign(3, {SLUICE_DOES_COMPUTE, 0, SLUICE_NO_QUEUE, 0, 0});
  s.blocks.emplace_back();
  s.blocks[0].Append(0, SLUICE_OPCODE_COMPUTE, 0, 0, {});
  s.blocks[0].Append(1, SLUICE_OPCODE_COMPUTE, 0, 0, {After(0, 1)});
  s.blocks[0].Append(2, SLUICE_OPCODE_COMPUTE, 0, 0, {After(0, 1), After(1, 1)});
  s.blocks[0].Append(2, SLUICE_OPCODE_COMPUTE, 0, 0, {After(1, 1)});
  s.AddInstance(0, 0, 0);
  const Bytes image = s.Image();
  Library library;
  TokensOfStream tokens;
  REQUIRE(MakeTokens(&library, image, AllPairs(3, 0), &tokens));
  CHECK(tokens.relay.empty());
  uint32_t pops = 0;
  for (const auto& step : tokens.instruction) {
    pops += static_cast<uint32_t>(__builtin_popcountll(step.pops));
  }
  CHECK(pops == 2);
  // Engine 2's first instruction waits for engine 0 alone; the token goes through engine
  // 1's instruction.
  s.blocks[0].lists[2][0].waits.pop_back();
  REQUIRE(MakeTokens(&library, s.Image(), {{0, 1, 0, 0}, {1, 2, 0, 0}}, &tokens));
  CHECK(tokens.relay.empty());
  CHECK(tokens.instruction[1].pushes == 2);
}

// ---- Plans

uint32_t ComputeOf(const sluice_walker_t& walker) {
  for (uint32_t e = 0; e < walker.engines; ++e) {
    sluice_engine_t engine;
    sluice_walk_engine(&walker, e, &engine);
    if ((engine.does & SLUICE_DOES_COMPUTE) != 0) return e;
  }
  return 0;
}

TEST_CASE("plans of random graphs run by tokens give the reference's bytes") {
  Library library;
  int plans = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    HardwareSpec machine;
    machine.scratchpad_bytes = 2048u << seed % 3;
    machine.queues = seed % 2 == 0 ? LoadAndStore() : ParametersByCompute();
    const Bytes graph = GraphBytes(MakeRandomGraph(seed)),
                hardware = HardwareBytes(machine);
    const GraphPtr g = library.Graph(graph);
    const HardwarePtr h = library.Hardware(hardware);
    REQUIRE(g);
    REQUIRE(h);
    const PlanPtr plan =
        library.Schedule(g, h, 0, seed % 4 < 2 ? SLUICE_SOLVER_BASELINE : 0, 200);
    if (!plan) continue;  // does not fit
    ++plans;
    TokenRun run(graph, hardware, BytesOf(plan));
    const uint32_t engines = run.walker.engines;
    for (const auto& channels :
         {AllPairs(engines, 0), StarOf(ComputeOf(run.walker), engines, 0)}) {
      TokensOfStream tokens;
      REQUIRE(MakeTokens(&library, run.Image(), channels, &tokens));
      CHECK(run.Run(tokens, tokens.common_depth, seed));
      CHECK(run.Run(tokens, 255, seed + 1));
    }
  }
  CHECK(plans > 30);
}

// If the waits assume a single DMA engine, this layer gives wrong bytes on it.
TEST_CASE("a fully connected layer on a machine as VTA's, by waits and by tokens") {
  HardwareSpec machine;
  machine.scratchpad_bytes = 32 << 10;
  machine.queues = ParametersByCompute();
  const Bytes graph = GraphBytes(FullyConnected256()),
              hardware = HardwareBytes(machine);
  Library library;
  const GraphPtr g = library.Graph(graph);
  const HardwarePtr h = library.Hardware(hardware);
  for (const uint32_t solver : {SLUICE_SOLVER_BASELINE, SLUICE_SOLVER_DEFAULT}) {
    CAPTURE(solver);
    const PlanPtr plan = library.Schedule(g, h, 0, solver, 1000);
    REQUIRE(plan);
    const Bytes bytes = BytesOf(plan);
    sluice_sim::SimulateOptions options = SimulationOf(graph, hardware, bytes);
    options.functional = true;
    const sluice_sim::SimulateResult simulated = Simulate(options);
    CHECK_MESSAGE(simulated.ok, simulated.error);
    CHECK(simulated.mismatches == 0);
    uint64_t hash = SLUICE_OUTPUT_HASH_START;
    for (const Bytes& output : simulated.outputs) {
      hash = sluice_output_hash(hash, output.data(), output.size());
    }
    CHECK(hash == simulated.output_fnv1a);
    TokenRun run(graph, hardware, bytes);
    // Queue 0 loads, queue 1 stores, queue 2 computes and loads parameters; 3 is the
    // host.
    for (const uint32_t depth : {8u, 255u}) {
      const std::vector<sluice_token_channel_t> vta = {
          {0, 2, depth, 0}, {2, 0, depth, 0}, {2, 1, depth, 0}, {1, 2, depth, 0}};
      TokensOfStream tokens;
      REQUIRE_MESSAGE(MakeTokens(&library, run.Image(), vta, &tokens),
                      library.diagnostic.message);
      for (uint64_t seed = 0; seed < 3; ++seed) CHECK(run.Run(tokens, depth, seed));
      MESSAGE("depth ", depth, ": ", tokens.instruction.size(), " instructions, ",
              tokens.relay.size(), " relays, least common depth ", tokens.common_depth);
    }
  }
}

}  // namespace
}  // namespace sluice_test
