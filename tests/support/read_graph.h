// SPDX-License-Identifier: Apache-2.0
// Specs read into the structs of model/, for tests of the folders behind io.
#ifndef SLUICE_TESTS_SUPPORT_READ_GRAPH_H_
#define SLUICE_TESTS_SUPPORT_READ_GRAPH_H_

#include <doctest/doctest.h>

#include "base/memory.h"
#include "io/read.h"
#include "support/malloc_allocator.h"
#include "support/wire_builder.h"

namespace sluice_test {

// A graph and a machine in memory of their own. Fails the test if either is not valid.
struct Nouns {
  sluice::Memory memory{Allocator(), 0};
  sluice::Arena arena{&memory};
  sluice::Graph graph = {};
  sluice::Hardware hardware = {};
  sluice::Diagnostic diagnostic = {};

  explicit Nouns(const GraphSpec& spec, const HardwareSpec& hw = HardwareSpec())
      : Nouns(GraphBytes(spec), HardwareBytes(hw)) {}
  Nouns(const Bytes& g, const Bytes& h) {
    const sluice::Status read =
        sluice::ReadGraph(g.data(), g.size(), &arena, &graph, &diagnostic);
    INFO(diagnostic.message);
    REQUIRE(read == sluice::Status::kOk);
    REQUIRE(sluice::ReadHardware(h.data(), h.size(), &arena, &hardware, &diagnostic) ==
            sluice::Status::kOk);
  }

  static sluice_allocator_t Allocator() { return Malloc(); }
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_READ_GRAPH_H_
