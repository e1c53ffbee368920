// SPDX-License-Identifier: Apache-2.0
#include "solve/repair/layer_hash.h"

#include <doctest/doctest.h>

#include <functional>
#include <vector>

#include "support/read_graph.h"

namespace {

using sluice::kNone;
using sluice::PlanLayerHash;

// A convolution of a network input and a constant, and an activation of its result.
struct TwoLayers {
  std::vector<sluice::Tensor> tensors;
  std::vector<uint32_t> reads{0, 1}, writes{2}, reads_more{2, kNone}, writes_more{3};
  std::vector<int32_t> attributes{1, 2};
  std::vector<sluice::Layer> layers;

  TwoLayers() {
    const sluice::TensorKind kinds[] = {
        sluice::TensorKind::kInput, sluice::TensorKind::kConstant,
        sluice::TensorKind::kIntermediate, sluice::TensorKind::kOutput};
    for (int i = 0; i < 4; ++i) {
      sluice::Tensor t = {};
      for (int a = 0; a < 4; ++a) t.extent[a] = 2 + i + a;
      t.dtype = SLUICE_DTYPE_INT8;
      t.kind = kinds[i];
      t.producer = i < 2 ? kNone : static_cast<uint32_t>(i) - 2;
      tensors.push_back(t);
    }
    layers.resize(2);
    layers[0].op = SLUICE_OP_CONV;
    layers[1].op = SLUICE_OP_PRELU;
  }

  // Hash of the second layer, or of the first.
  PlanLayerHash Hash(size_t layer = 1) {
    layers[0].inputs = {reads.data(), reads.size()};
    layers[0].outputs = {writes.data(), writes.size()};
    layers[1].inputs = {reads_more.data(), reads_more.size()};
    layers[1].outputs = {writes_more.data(), writes_more.size()};
    layers[1].attributes = {attributes.data(), attributes.size()};
    sluice::Graph graph = {};
    graph.tensors = {tensors.data(), tensors.size()};
    graph.layers = {layers.data(), layers.size()};
    sluice::Memory memory{sluice_test::Nouns::Allocator(), 0};
    sluice::Arena arena{&memory};
    sluice::Span<PlanLayerHash> hashes;
    REQUIRE(HashLayers(graph, &arena, &hashes) == sluice::Status::kOk);
    REQUIRE(hashes.size() == 2);
    return hashes[layer];
  }
};

using Edit = std::function<void(TwoLayers*)>;

}  // namespace

TEST_CASE("a layer keeps its hash wherever it and its tensors stand") {
  TwoLayers moved;
  // The constant becomes the last tensor; names and offsets in files change too.
  moved.tensors.push_back(moved.tensors[1]);
  moved.reads[1] = 4;
  moved.tensors[4].name = moved.layers[0].name = 77;
  moved.tensors[4].source_offset = 1000;
  CHECK(moved.Hash(0) == TwoLayers().Hash(0));
  CHECK(moved.Hash(1) == TwoLayers().Hash(1));
}

TEST_CASE("a changed shape keeps the kind, another operator or arity does not") {
  const PlanLayerHash before = TwoLayers().Hash();
  const Edit shapes[] = {
      [](TwoLayers* t) { t->attributes[1] = 3; },
      [](TwoLayers* t) { t->attributes.pop_back(); },
      [](TwoLayers* t) { t->tensors[2].extent[3] += 1; },
      [](TwoLayers* t) { t->tensors[3].extent[0] += 1; },
      [](TwoLayers* t) { t->tensors[2].dtype = SLUICE_DTYPE_INT32; },
      [](TwoLayers* t) { t->tensors[3].dtype = SLUICE_DTYPE_INT32; },
      [](TwoLayers* t) { t->tensors[2].kind = sluice::TensorKind::kState; },
      [](TwoLayers* t) { t->layers[0].op = SLUICE_OP_ADD; },  // of the producer
      [](TwoLayers* t) { t->tensors[2].producer = kNone; },
      [](TwoLayers* t) { t->reads_more[1] = 1; }};
  for (const Edit& edit : shapes) {
    CAPTURE(&edit - shapes);
    TwoLayers after;
    edit(&after);
    CHECK(after.Hash().kind == before.kind);
    CHECK(after.Hash().shape != before.shape);
  }
  const Edit kinds[] = {[](TwoLayers* t) { t->layers[1].op = SLUICE_OP_ADD; },
                        [](TwoLayers* t) { t->reads_more.pop_back(); },
                        [](TwoLayers* t) { t->writes_more.push_back(2); }};
  for (const Edit& edit : kinds) {
    CAPTURE(&edit - kinds);
    TwoLayers after;
    edit(&after);
    CHECK(after.Hash().kind != before.kind);
    CHECK(after.Hash().shape != before.shape);
  }
}
