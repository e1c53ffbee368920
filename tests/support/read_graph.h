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

// Two layers, one after the other, that requantise [1, rows, 4, 8].
inline GraphSpec TwoRequantized(int32_t rows) {
  GraphSpec spec;
  spec.tensors = {
      {{1, rows, 4, 8}, kI8, 1}, {{1, rows, 4, 8}, kI8, 0}, {{1, rows, 4, 8}, kI8, 2}};
  const std::vector<int32_t> same = {0, 1 << 30, 1, 0, -128, 127};
  spec.layers = {{SLUICE_OP_REQUANTIZE, {0}, {1}, same},
                 {SLUICE_OP_REQUANTIZE, {1}, {2}, same}};
  return spec;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_READ_GRAPH_H_
