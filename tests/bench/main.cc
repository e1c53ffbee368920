// SPDX-License-Identifier: Apache-2.0
// sluice-bench NAME [--json]: prints one table, or one JSON object.
#include <cstdio>
#include <cstring>

struct Bench {
  const char* name;
  int (*run)(bool json);
};

// Declarations and kBenches; written by CMake from the names in CMakeLists.txt.
#include "bench_table.h"

int main(int argc, char** argv) {
  const char* name = nullptr;
  bool json = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0) {
      json = true;
    } else {
      name = argv[i];
    }
  }
  for (const Bench& bench : kBenches) {
    if (name != nullptr && std::strcmp(name, bench.name) == 0) return bench.run(json);
  }
  std::fprintf(stderr, "usage: sluice-bench NAME [--json]\nnames:");
  for (const Bench& bench : kBenches) std::fprintf(stderr, " %s", bench.name);
  std::fprintf(stderr, "\n");
  return 3;
}
