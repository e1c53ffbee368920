// SPDX-License-Identifier: Apache-2.0
// A process with its own flatbuffers and its own malloc that schedules a network. It
// prints a hash of the stream, which must not depend on its neighbours.
//   host [mimalloc]     with it: the process's malloc must be mimalloc's
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "other.h"
#include "sluice/sluice.hpp"

#define CHECK(condition)                                           \
  do {                                                             \
    if (!(condition)) {                                            \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
      return 1;                                                    \
    }                                                              \
  } while (0)

namespace {

std::vector<uint8_t> Machine() {
  sluice::HardwareBuilder machine;
  machine.levels.resize(2);
  machine.levels[0].name = "SRAM";
  machine.levels[0].capacity_bytes = 4096;
  machine.levels[0].bytes_per_cycle_numerator = 16;
  machine.levels[1].name = "DRAM";
  machine.levels[1].bytes_per_cycle_numerator = 1;
  machine.macs_per_cycle = machine.vector_ops_per_cycle = 8;
  return machine.Bytes();
}

std::vector<uint8_t> Network() {
  sluice::GraphBuilder g;
  uint32_t from = g.Input("in", {1, 64});
  for (int i = 0; i < 4; ++i) {
    const uint32_t w = g.Seeded("", {64, 64}, SLUICE_DTYPE_INT8, 1);
    const uint32_t p = g.Seeded("", {64, 3}, SLUICE_DTYPE_INT32, 2);
    const uint32_t to = i == 3 ? g.Output("out", {1, 64}) : g.Intermediate("", {1, 64});
    g.Layer("", SLUICE_OP_FULLY_CONNECTED, {from, w, p}, {to});
    from = to;
  }
  return g.Bytes();
}

// The library that a function of this process comes from.
const char* HomeOf(const char* name) {
  void* function = dlsym(RTLD_DEFAULT, name);
  Dl_info info;
  if (function == nullptr || dladdr(function, &info) == 0) return "";
  return info.dli_fname;
}

}  // namespace

int main(int argc, char** argv) {
  const bool mimalloc = argc > 1 && std::strcmp(argv[1], "mimalloc") == 0;
  // Neither the shared nor the static library brings an allocator along.
  for (const char* name : {"malloc", "free", "posix_memalign"}) {
    CHECK(std::strstr(HomeOf(name), mimalloc ? "libmimalloc" : "libc.so") != nullptr);
  }
  CHECK((dlsym(RTLD_DEFAULT, "mi_malloc") != nullptr) == mimalloc);
  void* before = std::malloc(100);
  const int own = CallTheNeighbour();
  CHECK(own == 13 && foreign_calls == 13);

  uint64_t hash = 0xcbf29ce484222325u;
  {
    auto context = sluice::Context::Create();
    CHECK(context);
    auto graph = context->ReadGraph(Network());
    CHECK(graph);
    auto hardware = context->ReadHardware(Machine());
    CHECK(hardware);
    auto plan = context->Schedule(
        *graph, *hardware,
        sluice::ScheduleOptions().Deadline(std::chrono::hours(1)).MaxIterations(30));
    CHECK(plan);
    CHECK(context->Verify(*graph, *hardware, *plan));
    CHECK(!context->ReadGraph(std::string_view("not a graph")));
    for (const uint8_t byte : plan->stream()) hash = (hash ^ byte) * 0x100000001b3u;
  }
  CHECK(foreign_calls == 13);       // sluice has called no function of the host
  CHECK(CallTheNeighbour() == 13);  // the host has called no function of sluice
  std::free(before);
  std::printf("stream %016llx\n", static_cast<unsigned long long>(hash));
  return 0;
}
