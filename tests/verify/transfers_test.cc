// SPDX-License-Identifier: Apache-2.0
// LOAD, STORE, FORWARD and HOST: memories, shapes, gathered rows.
#include <algorithm>

#include "base/rng.h"
#include "cases.h"
#include "judged_case.h"
#include "model/engines.h"

namespace sluice_test {
namespace {

TEST_CASE("transfers: a wrong slice or stride of DRAM is caught") {
  Case c = ConvCase();
  Operand(&c, Transfer(&c, 3).src).offset_lo += 32;  // input 1 one row too far
  CheckRejected(c, "content");
  c = AccumulateCase();
  Operand(&c, Transfer(&c, 3).src).offset_lo -= 8;  // the first half of C again
  CheckRejected(c, "content");
  c = AccumulateCase();
  Shape(&c, Transfer(&c, 2).src).stride[0] = 8;  // stride of the output channels
  CheckRejected(c, "content");
  c = ConcatCase();
  Operand(&c, Transfer(&c, 5).src).offset_lo -= 1;
  CheckRejected(c, "content");
  c = ConcatCase();
  Shape(&c, Transfer(&c, 3).dst).stride[2] = 8;
  CheckRejected(c, "content");
}

TEST_CASE("transfers: a load of two given tensors is caught") {
  Case c = ConcatCase();
  BlockBuilder& block = c.stream.blocks[0];
  const Four both = {2, 4, 4, 8};
  Transfer(&c, 0).src = block.Dense(2, SLUICE_DTYPE_INT8, both, 0);
  Transfer(&c, 0).dst = block.Dense(0, SLUICE_DTYPE_INT8, both, 0);
  CheckRejected(c, "structure");
}

TEST_CASE("transfers: an index that is not the layer's is caught") {
  Case c = GatherHostCase();
  Transfer(&c, 1).index =
      c.stream.blocks[0].Dense(0, SLUICE_DTYPE_INT32, {1, 1, 1, 2}, 0);
  CheckRejected(c, "tile");
  c = GatherHostCase();
  Transfer(&c, 1).src = c.stream.blocks[0].Dense(1, SLUICE_DTYPE_INT8, {1, 1, 9, 8}, 8);
  CheckRejected(c, "tile");  // the source is not the whole table
  c = GatherHostCase();
  At(&c, kHost, 1).waits[0].count = 2;
  CheckRejected(c, "order");
}

TEST_CASE("transfers: wrong regions and bindings are caught") {
  Case c = ConvCase();
  c.stream.bindings[3].region = SLUICE_REGION_INPUT;  // stores over the input
  CheckRejected(c, "structure");
  c = ConvCase();
  c.stream.bindings[2].region = SLUICE_REGION_CONST;
  CheckRejected(c, "content");
  c = ConvCase();
  c.stream.bindings[0].region = SLUICE_REGION_WORKSPACE;
  c.stream.region_bytes[SLUICE_REGION_WORKSPACE] = 4096;
  CheckRejected(c, "structure");
  c = AddCase();
  c.stream.bindings[6 + 5].base_lo = 0;  // tile 1 stored over tile 0
  CheckRejected(c, "output");
  c = AddCase();
  c.stream.bindings[6 + 4].base_lo = 128;  // loads b of tile 0 again
  CheckRejected(c, "content");
  c = AddCase();
  c.stream.bindings[6].base_lo += 8;
  CheckRejected(c, "alignment");
  c = AddCase();
  c.stream.bindings[6 + 2].base_lo += 64;
  CheckRejected(c, "bounds");
}

TEST_CASE("transfers: each opcode moves between its memories") {
  const std::string wrong =
      "instance 0, instruction 0: a transfer between the wrong memories";
  Case c = ConvCase();
  At(&c, kDma, 1).record.opcode = SLUICE_OPCODE_STORE;
  Transfer(&c, 0).role = SLUICE_ROLE_OUTPUT;
  CheckRejected(c, "structure", wrong);
  c = ConvCase();
  std::swap(Transfer(&c, 0).src, Transfer(&c, 0).dst);
  CheckRejected(c, "structure", wrong);
  c = NodesCase();  // forwards the graph's input from DRAM
  Transfer(&c, 2).src = Transfer(&c, 0).src;
  CheckRejected(c, "structure");
  c = ConvCase();
  Operand(&c, Transfer(&c, 9).dst).slot = 2;
  Operand(&c, Transfer(&c, 9).dst).offset_lo = 0;
  CheckRejected(c, "structure",
                "instance 0, instruction 9: writes a region that is read only");
}

TEST_CASE("transfers: both sides have one dtype and one shape") {
  Case c = ConvCase();
  Operand(&c, Transfer(&c, 0).src).dtype = SLUICE_DTYPE_UINT8;
  CheckRejected(c, "structure",
                "instance 0, instruction 0: source and destination dtypes differ");
  c = ConvCase();
  Shape(&c, Transfer(&c, 0).src).extent[0] = 7;
  CheckRejected(c, "structure",
                "instance 0, instruction 0: source and destination shapes differ");
}

TEST_CASE("transfers: as many descriptors as the queue's longest row asks for") {
  Case c = ConvCase();
  Transfer(&c, 0).descriptors = 2;
  CheckRejected(c, "tile",
                "instance 0, instruction 0: a transfer of 2 descriptors that takes 1");
  QueueSpec queue;            // one that loads and stores everything
  queue.max_row_bytes = 288;  // half of the weight
  c.hardware.queues = {queue};
  CheckRejected(c, "tile",
                "instance 0, instruction 0: a transfer of 2 descriptors that takes 1");
  c.hardware.queues[0].max_axes = 1;  // the halves are no rows at one pitch
  CheckAccepted(c);
  Transfer(&c, 0).descriptors = 1;
  CheckRejected(c, "tile",
                "instance 0, instruction 0: a transfer of 1 descriptors that takes 2");
}

TEST_CASE("transfers: gathered rows are a layer's, whole and of its output") {
  Case c = GatherHostCase();
  c.graph.tensors.push_back({{10, 8}, SLUICE_DTYPE_INT8, 3, 3, 6});
  c.places.push_back(
      PlaceAt(SLUICE_REGION_CONST, 80, {1, 1, 10, 8}, SLUICE_DTYPE_INT8));
  c.stream.region_bytes[SLUICE_REGION_CONST] = 160;
  CheckAccepted(c);
  Operand(&c, Transfer(&c, 1).src).offset_lo = 80;  // a table that no layer reads
  CheckRejected(c, "content",
                "instance 0, instruction 1: the source is not the layer's table");
  c = GatherHostCase();
  Shape(&c, Transfer(&c, 1).index).extent[3] = 2;  // here and in the load of the index
  Shape(&c, Transfer(&c, 0).src).extent[3] = 2;
  CheckRejected(c, "tile",
                "instance 0, instruction 1: an indexed load of the wrong shape");
}

TEST_CASE("transfers: the host reads and writes whole tensors, as long as it says") {
  Case c = GatherHostCase();
  c.stream.blocks[0].host_calls[0].cycles_lo = 99;
  CheckRejected(c, "cycles", "instance 0, instruction 3: fewer than the layer takes");
  c = GatherHostCase();
  c.stream.blocks[0].host_calls[0].inputs = 0;
  CheckRejected(c, "tile", "instance 0, instruction 3: a host call of another layer");
  c = GatherHostCase();
  const uint32_t first = c.stream.blocks[0].host_calls[0].first_operand;
  Shape(&c, first).extent[2] = 2;
  CheckRejected(c, "tile",
                "instance 0, instruction 3: a host call's operand is not the whole "
                "tensor in DRAM");
  c = GatherHostCase();
  Operand(&c, first + 1).slot = 5;  // its output overwrites its input
  CheckRejected(
      c, "order",
      "instance 0, instruction 3: overwrites not ordered after instruction 1 of "
      "engine column 1, which touches the same bytes");
}

// A load of a box between strides of its own on each side, of a queue's limits. States too
// many descriptors, so that the judge says how many it takes.
std::string TakenBy(const QueueSpec& queue, const Four& box, const Four& dram,
                    const Four& scratch) {
  Case c;
  c.hardware.queues = {queue};
  c.hardware.scratchpad_bytes = 1 << 20;
  const uint8_t i8 = SLUICE_DTYPE_INT8;
  const std::vector<int32_t> dims(box.begin(), box.end());
  c.graph.tensors.push_back({dims, i8, 1, 0, 0});
  c.graph.tensors.push_back({dims, i8, 2, 0, 0});
  const std::vector<int32_t> attributes = {1, 1 << 30, 1, 2, -128, 127};
  c.graph.layers.push_back({SLUICE_OP_REQUANTIZE, {0}, {1}, attributes});
  c.places = {{SLUICE_REGION_INPUT, 0, dram},
              PlaceAt(SLUICE_REGION_OUTPUT, 0, box, i8)};
  BlockBuilder& b = OneBlock(&c, 1 << 19, 0, 1 << 19, 1 << 19, 0);
  c.stream.AddKernel(SLUICE_OP_REQUANTIZE, 0, attributes);
  b.Load(b.Strided(2, i8, box, dram, 0), b.Strided(0, i8, box, scratch, 0));
  b.transfers.back().descriptors = 65535;
  const Verdict v = Judge(c);
  CHECK(v.status == sluice::Status::kRejected);
  return v.message;
}

TEST_CASE(
    "transfers: descriptors of random boxes and queues are what the planner counts") {
  sluice::Rng rng(5);
  int several = 0;
  for (int round = 0; round < 3000; ++round) {
    CAPTURE(round);
    QueueSpec spec;
    spec.max_rows = rng.Below(2) == 0 ? 0 : 1 + rng.Below(6);
    spec.max_row_bytes = rng.Below(2) == 0 ? 0 : 1 + rng.Below(12);
    spec.max_axes = rng.Below(2) == 0 ? 0 : 1 + rng.Below(4);
    Four box, dram, scratch;
    uint32_t next_dram = 1, next_scratch = 1;
    for (size_t a = 4; a-- > 0;) {
      box[a] = 1 + rng.Below(a == 3 ? 24 : 5);
      dram[a] = next_dram + (rng.Below(3) == 0 ? rng.Below(4) : 0);
      scratch[a] = next_scratch + (rng.Below(3) == 0 ? rng.Below(4) : 0);
      next_dram = dram[a] * box[a];
      next_scratch = scratch[a] * box[a];
    }
    sluice::Queue queue;
    queue.max_rows = spec.max_rows;
    queue.max_row_bytes = spec.max_row_bytes;
    queue.max_axes = spec.max_axes;
    int32_t extent[4];
    for (size_t a = 0; a < 4; ++a) extent[a] = static_cast<int32_t>(box[a]);
    const int64_t want =
        WorkOf(queue, {extent, dram.data(), scratch.data(), 1, false}).descriptors;
    CHECK(TakenBy(spec, box, dram, scratch) ==
          "instance 0, instruction 0: a transfer of 65535 descriptors that takes " +
              std::to_string(want));
    several += want > 1;
  }
  CHECK(several > 1000);
}

// GatherHostCase with an index of six elements, of which three in a row select rows.
Case PartOfIndex() {
  Case c = GatherHostCase();
  const uint8_t i8 = SLUICE_DTYPE_INT8, i32 = SLUICE_DTYPE_INT32;
  c.graph.tensors[1].dims = {6};
  c.graph.tensors[2].dims = c.graph.tensors[3].dims = {6, 8};
  c.places[1] = PlaceAt(SLUICE_REGION_INPUT, 0, {1, 1, 1, 6}, i32);
  c.places[2] = PlaceAt(SLUICE_REGION_WORKSPACE, 0, {1, 1, 6, 8}, i8);
  c.places[3] = PlaceAt(SLUICE_REGION_OUTPUT, 0, {1, 1, 6, 8}, i8);
  for (const uint32_t region : {SLUICE_REGION_OUTPUT, SLUICE_REGION_WORKSPACE}) {
    c.stream.region_bytes[region] = 48;
  }
  c.stream.region_bytes[SLUICE_REGION_INPUT] = 24;
  return c;
}

TEST_CASE("transfers: an index is neighbouring elements of the layer's index") {
  const std::string apart =
      "instance 0, instruction 1: the index is not contiguous elements of the layer's "
      "index";
  // Of three rows of six the host call lacks the others.
  CheckRejected(PartOfIndex(), "tile");
  Case c = PartOfIndex();
  Shape(&c, Transfer(&c, 0).src).stride[3] = 8;  // every second element
  CheckRejected(c, "content", apart);
  // Two elements and, behind a gap, the third.
  c = PartOfIndex();
  BlockBuilder& b = c.stream.blocks[0];
  const uint8_t i32 = SLUICE_DTYPE_INT32;
  Transfer(&c, 0).src = b.Dense(2, i32, {1, 1, 1, 2}, 0);
  Transfer(&c, 0).dst = b.Dense(0, i32, {1, 1, 1, 2}, 0);
  b.Load(b.Dense(2, i32, {1, 1, 1, 1}, 12), b.Dense(0, i32, {1, 1, 1, 1}, 8));
  auto& list = b.lists[kDma];
  std::rotate(list.begin() + 1, list.end() - 1, list.end());
  At(&c, kHost, 1).waits[0].count = 4;
  CheckRejected(
      c, "content",
      "instance 0, instruction 2: the index is not contiguous elements of the "
      "layer's index");
}

TEST_CASE("transfers: rows come from the layer's table alone") {
  Case c = GatherHostCase();
  c.graph.tensors.push_back({{10, 8}, SLUICE_DTYPE_INT8, 3, 3, 6});
  c.places.push_back(
      PlaceAt(SLUICE_REGION_CONST, 80, {1, 1, 10, 8}, SLUICE_DTYPE_INT8));
  c.stream.region_bytes[SLUICE_REGION_CONST] = 160;
  Transfer(&c, 1).src =
      c.stream.blocks[0].Dense(1, SLUICE_DTYPE_INT8, {1, 1, 20, 8}, 0);
  CheckRejected(c, "content",
                "instance 0, instruction 1: the source is not the layer's table");
  c = GatherHostCase();
  Transfer(&c, 1).kernel = 0;
  CheckRejected(c, "tile",
                "instance 0, instruction 1: an indexed load for a layer of another op");
}

TEST_CASE("transfers: an index is read in the order of its tensor") {
  for (const bool swapped : {false, true}) {
    Case c = GatherHostCase();
    const uint8_t i8 = SLUICE_DTYPE_INT8, i32 = SLUICE_DTYPE_INT32;
    const Four index = {1, 1, 3, 2}, rows = {1, 1, 6, 8};
    c.graph.tensors[1].dims = {3, 2};
    c.graph.tensors[2].dims = c.graph.tensors[3].dims = {6, 8};
    c.places[1] = PlaceAt(SLUICE_REGION_INPUT, 0, index, i32);
    c.places[2] = PlaceAt(SLUICE_REGION_WORKSPACE, 0, rows, i8);
    c.places[3] = PlaceAt(SLUICE_REGION_OUTPUT, 0, rows, i8);
    c.stream.region_bytes[SLUICE_REGION_GBUF] = 80;
    c.stream.region_bytes[SLUICE_REGION_INPUT] = 24;
    c.stream.region_bytes[SLUICE_REGION_OUTPUT] = 48;
    c.stream.region_bytes[SLUICE_REGION_WORKSPACE] = 48;
    BlockBuilder& b = c.stream.blocks[0];
    Transfer(&c, 0).src = b.Dense(2, i32, index, 0);
    Transfer(&c, 0).dst = b.Dense(0, i32, index, 0);
    Transfer(&c, 1).index = swapped ? b.Strided(0, i32, {1, 1, 2, 3}, {24, 24, 4, 8}, 0)
                                    : b.Dense(0, i32, index, 0);
    Transfer(&c, 1).dst = Transfer(&c, 2).src = b.Dense(0, i8, rows, 32);
    Transfer(&c, 2).dst = b.host_calls[0].first_operand = b.Dense(5, i8, rows, 0);
    b.Dense(3, i8, rows, 0);
    c.report = {0, 24 + 48, 48};
    if (!swapped) CheckAccepted(c);
    if (swapped) {
      CheckRejected(
          c, "content",
          "instance 0, instruction 1: the index is not contiguous elements of "
          "the layer's index");
    }
  }
}

}  // namespace
}  // namespace sluice_test
