// SPDX-License-Identifier: Apache-2.0
// Schedules a graph for a machine that is described here, field by field.
//   example GRAPH.slg HARDWARE.slh PLAN.slp    writes both descriptor and plan
#include <cstdio>
#include <fstream>
#include <iterator>

#include "sluice/sluice.hpp"

namespace {

// A microcontroller's NPU: 256 KiB of scratchpad, 8 x 16 MACs.
std::vector<uint8_t> Machine() {
  sluice::HardwareBuilder machine;
  machine.name = "example";
  machine.clock_hz = 400000000;
  machine.levels.resize(2);
  machine.levels[0].name = "SRAM";
  machine.levels[0].capacity_bytes = 256 * 1024;
  machine.levels[0].read_pj_per_bit = machine.levels[0].write_pj_per_bit = 0.884;
  machine.levels[0].bytes_per_cycle_numerator = 32;
  machine.levels[0].alignment_bytes = 16;
  machine.levels[1].name = "DRAM";
  machine.levels[1].read_pj_per_bit = machine.levels[1].write_pj_per_bit = 20.3;
  machine.levels[1].bytes_per_cycle_numerator = 1;
  machine.macs_per_cycle = 128;
  machine.mac_pj = 0.3;
  machine.vector_ops_per_cycle = 16;
  machine.vector_op_pj = 0.3;
  machine.array.k = 8;
  machine.array.c = 16;
  machine.dma_latency_cycles = 32;
  return machine.Bytes();
}

bool Write(const char* path, sluice::View bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  return file.good();
}

int Complain(const sluice::Error& error) {
  std::fprintf(stderr, "%s: %s\n", error.status_name(), error.message());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 3;
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<uint8_t> model((std::istreambuf_iterator<char>(file)), {});
  const std::vector<uint8_t> machine = Machine();

  auto context = sluice::Context::Create(sluice::ContextOptions().MaxBytes(64 << 20));
  if (!context) return Complain(context.error());
  auto graph = context->ReadGraph(model);
  if (!graph) return Complain(graph.error());
  auto hardware = context->ReadHardware(machine);
  if (!hardware) return Complain(hardware.error());
  auto plan = context->Schedule(*graph, *hardware,
                                sluice::ScheduleOptions().MaxIterations(50).Seed(7));
  if (!plan) return Complain(plan.error());
  auto verified = context->Verify(*graph, *hardware, *plan);
  if (!verified) return Complain(verified.error());

  std::printf("%llu cycles, stream of %zu bytes, %llu bytes of memory at most\n",
              static_cast<unsigned long long>(plan->report().latency_cycles),
              plan->stream().size(),
              static_cast<unsigned long long>(context->memory().peak_bytes));
  return Write(argv[2], machine) && Write(argv[3], plan->bytes()) ? 0 : 6;
}
