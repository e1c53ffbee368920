// SPDX-License-Identifier: Apache-2.0
#include "verify/verify.h"

#include "base/rng.h"
#include "cases.h"
#include "judged_case.h"
#include "support/changed_image.h"

namespace sluice_test {
namespace {

constexpr uint32_t kDma = kDmaEngine;
constexpr uint32_t kHost = kHostEngine;
constexpr uint32_t kCompute = ComputeEngine(0);

ListedInstruction& At(Case* c, uint32_t engine, size_t number, size_t block = 0) {
  return c->stream.blocks[block].lists[engine][number - 1];  // 1-based, as in waits
}
sluice_tile_t& Tile(Case* c, size_t i) { return c->stream.blocks[0].tiles[i]; }
sluice_transfer_t& Transfer(Case* c, size_t i) {
  return c->stream.blocks[0].transfers[i];
}
sluice_operand_t& Operand(Case* c, uint32_t i) {
  return c->stream.blocks[0].operands[i];
}
sluice_shape_t& Shape(Case* c, uint32_t operand) {
  return c->stream.blocks[0].shapes[Operand(c, operand).shape];
}
// Moves an engine's instruction out of its list.
void Drop(Case* c, uint32_t engine, size_t number) {
  auto& list = c->stream.blocks[0].lists[engine];
  list.erase(list.begin() + static_cast<long>(number) - 1);
}

TEST_CASE("verify: a double-buffered convolution is accepted and recounted") {
  const Case c = ConvCase();
  const Verdict v = Judge(c);
  INFO(v.rule << ": " << v.message);
  REQUIRE(v.status == sluice::Status::kOk);
  CHECK(v.counts.dram_read_bytes == static_cast<int64_t>(c.report.dram_read_bytes));
  CHECK(v.counts.dram_write_bytes == static_cast<int64_t>(c.report.dram_write_bytes));
  CHECK(v.counts.peak_buffer_bytes == 1056);
}

TEST_CASE("verify: valid streams of other kinds are accepted") {
  SUBCASE("sum in two pieces of C") { CheckAccepted(AccumulateCase()); }
  SUBCASE("two instances with waits across blocks") { CheckAccepted(AddCase()); }
  SUBCASE("concat, slice and reshape as views") { CheckAccepted(ConcatCase()); }
  SUBCASE("gather and host call") { CheckAccepted(GatherHostCase()); }
  SUBCASE("two nodes, multicast, forward, in place") { CheckAccepted(NodesCase()); }
}

TEST_CASE("verify: every single dropped wait that matters is caught") {
  // In each case every wait is needed, but for those implied by another one.
  const Case cases[] = {ConvCase(), AccumulateCase(), ConcatCase(), GatherHostCase(),
                        NodesCase()};
  for (const Case& whole : cases) {
    for (size_t e = 0; e < whole.stream.blocks[0].lists.size(); ++e) {
      for (size_t i = 0; i < whole.stream.blocks[0].lists[e].size(); ++i) {
        const Waits& waits = whole.stream.blocks[0].lists[e][i].waits;
        for (size_t w = 0; w < waits.size(); ++w) {
          Case c = whole;
          Waits& fewer = c.stream.blocks[0].lists[e][i].waits;
          fewer.erase(fewer.begin() + static_cast<long>(w));
          CAPTURE(e);
          CAPTURE(i);
          CheckRejected(c, "order");
        }
      }
    }
  }
}

TEST_CASE("verify: a wait that is weakened by one is caught") {
  Case c = ConvCase();
  At(&c, kCompute, 3).waits[0].count = 5;  // before input 2 has arrived
  CheckRejected(c, "order");
  c = ConvCase();
  At(&c, kDma, 5).waits[0].count = 1;
  CheckAccepted(c);                    // what it was already
  At(&c, kDma, 7).waits[0].count = 1;  // output 1 is stored before tile 1 ran
  CheckRejected(c, "order");
}

TEST_CASE("verify: engines that wait for each other are a deadlock") {
  Case c = ConvCase();
  At(&c, kDma, 1).waits.push_back(After(kCompute, 1));
  CheckRejected(c, "deadlock");
  c = ConvCase();
  At(&c, kDma, 2).waits.push_back(After(kDma, 2));
  CheckRejected(c, "deadlock");
}

TEST_CASE("verify: a buffer used again too early is caught") {
  Case c = ConvCase();
  // Input 2 goes where input 0 lies, and does not wait for tile 0 any more.
  std::swap(At(&c, kDma, 5), At(&c, kDma, 6));
  for (ListedInstruction& i : c.stream.blocks[0].lists[kDma]) {
    if (!i.waits.empty() && i.waits[0].count == 1) i.waits.clear();
  }
  CheckRejected(c, "order");
  c = ConvCase();  // tile 2 writes over output 0 while its store may still run
  At(&c, kCompute, 3).waits[0].count = 3;
  CheckRejected(c, "order");
}

TEST_CASE("verify: shifted and swapped buffers are caught") {
  Case c = ConvCase();
  Operand(&c, Tile(&c, 1).input0).offset_lo += 8;
  CheckRejected(c, "content");
  c = ConvCase();
  Operand(&c, Tile(&c, 0).weight).offset_lo += 1;
  CheckRejected(c, "content");
  c = ConvCase();
  std::swap(Tile(&c, 0).input0, Tile(&c, 3).input0);  // both of 3 rows
  CheckRejected(c, "order");
  c = ConvCase();
  Operand(&c, Transfer(&c, 2).dst).offset_lo += 32;
  CheckRejected(c, "content");
  c = ConvCase();
  Operand(&c, Tile(&c, 1).parameters).offset_lo += 2;
  CheckRejected(c, "alignment");
}

TEST_CASE("verify: a wrong slice or stride of DRAM is caught") {
  Case c = ConvCase();
  Operand(&c, Transfer(&c, 3).src).offset_lo += 32;  // input 1 from one row further on
  CheckRejected(c, "content");
  c = AccumulateCase();
  Operand(&c, Transfer(&c, 3).src).offset_lo -= 8;  // the first half of C once more
  CheckRejected(c, "content");
  c = AccumulateCase();
  Shape(&c, Transfer(&c, 2).src).stride[0] = 8;  // of the weight's output channels
  CheckRejected(c, "content");
  c = ConcatCase();
  Operand(&c, Transfer(&c, 5).src).offset_lo -= 1;
  CheckRejected(c, "content");
  c = ConcatCase();
  Shape(&c, Transfer(&c, 3).dst).stride[2] = 8;
  CheckRejected(c, "content");
}

TEST_CASE("verify: a lost or misplaced store is caught") {
  Case c = ConvCase();
  Drop(&c, kDma, 10);
  c.report.dram_write_bytes -= 64;
  CheckRejected(c, "output");
  c = ConvCase();
  Operand(&c, Transfer(&c, 9).dst).offset_lo = 0;  // tile 3 over tile 0
  CheckRejected(c, "output");
  c = ConcatCase();
  std::swap(Transfer(&c, 3).dst, Transfer(&c, 4).dst);  // halves of the concat
  CheckRejected(c, "content");
}

TEST_CASE("verify: wrong first and last flags are caught") {
  Case c = AccumulateCase();
  At(&c, kCompute, 1).record.flags = 0;
  CheckRejected(c, "content");  // adds to what was never written
  c = AccumulateCase();
  At(&c, kCompute, 2).record.flags = SLUICE_FLAG_FIRST | SLUICE_FLAG_LAST;
  CheckRejected(c, "accumulate");
  c = AccumulateCase();
  At(&c, kCompute, 2).record.flags = 0;
  CheckRejected(c, "content");
  c = AccumulateCase();
  At(&c, kCompute, 2).record.flags = SLUICE_FLAG_FIRST;
  CheckRejected(c, "content");
  c = ConvCase();
  At(&c, kCompute, 1).record.flags = SLUICE_FLAG_FIRST;
  CheckRejected(c, "tile");
  c = AddCase();
  At(&c, kCompute, 1).record.flags = SLUICE_FLAG_LAST;
  CheckRejected(c, "accumulate");
}

TEST_CASE("verify: gaps and overlaps of C ranges are caught") {
  Case c = AccumulateCase();
  c.stream.blocks[0].lists[kCompute].erase(c.stream.blocks[0].lists[kCompute].begin());
  At(&c, kCompute, 1).record.flags = SLUICE_FLAG_LAST;
  At(&c, kDma, 6).waits[0].count = 1;
  CheckRejected(c, "content");
  // The first piece twice, then last: channels twice, others missing.
  c = AccumulateCase();
  Tile(&c, 1).c_begin = 0;
  Tile(&c, 1).c_end = 8;
  Tile(&c, 1).input0 = Tile(&c, 0).input0;
  Tile(&c, 1).weight = Tile(&c, 0).weight;
  CheckRejected(c, "accumulate");
  // A last tile that finds only half.
  c = AccumulateCase();
  Tile(&c, 0).c_end = 7;
  CheckRejected(c, "tile");
}

TEST_CASE("verify: an accumulator of another box is caught") {
  Case c = AccumulateCase();
  // The second tile takes [1,1,2,8] of the output only.
  Four small = {1, 1, 2, 8};
  BlockBuilder& b = c.stream.blocks[0];
  Tile(&c, 1).origin[1] = 1;
  Tile(&c, 1).output = b.Dense(0, SLUICE_DTYPE_INT8, small, 416);
  Tile(&c, 1).accumulator = b.Dense(0, SLUICE_DTYPE_INT32, small, 288);
  Tile(&c, 1).input0 = b.Dense(0, SLUICE_DTYPE_INT8, small, 128 + 16);
  CheckRejected(c, "accumulate");
}

TEST_CASE("verify: wrong regions and bindings are caught") {
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
  c.stream.bindings[6 + 4].base_lo = 128;  // b of tile 0 once more
  CheckRejected(c, "content");
  c = AddCase();
  c.stream.bindings[6].base_lo += 8;
  CheckRejected(c, "alignment");
  c = AddCase();
  c.stream.bindings[6 + 2].base_lo += 64;
  CheckRejected(c, "bounds");
}

TEST_CASE("verify: addresses beyond a region or the scratchpad are caught") {
  Case c = ConvCase();
  c.stream.region_bytes[SLUICE_REGION_GBUF] -= 1;
  CheckRejected(c, "bounds");
  c = ConvCase();
  c.stream.region_bytes[SLUICE_REGION_OUTPUT] -= 1;
  CheckRejected(c, "bounds");
  c = ConvCase();
  c.hardware.scratchpad_bytes = 1040;
  CheckRejected(c, "bounds");
  c = ConvCase();
  c.stream.gbuf_bytes = 1040;
  CheckRejected(c, "bounds");
  c = ConvCase();
  Operand(&c, Tile(&c, 0).input0).offset_hi = 0xffffffff;
  CheckRejected(c, "bounds");
  c = ConvCase();
  Shape(&c, Tile(&c, 0).input0).stride[1] = 0xffffffff;
  CheckRejected(c, "bounds");
}

TEST_CASE("verify: a tile that disagrees with its layer is caught") {
  Case c = ConvCase();
  Tile(&c, 0).pad[0] = 0;
  CheckRejected(c, "tile");
  c = ConvCase();
  std::swap(Tile(&c, 0).pad[0], Tile(&c, 0).pad[2]);
  CheckRejected(c, "tile");
  c = ConvCase();
  c.stream.attributes[SLUICE_CONV_STRIDE_H] = 2;
  CheckRejected(c, "tile");
  c = ConvCase();
  c.stream.attributes[SLUICE_CONV_OUTPUT_ZERO] += 1;
  CheckRejected(c, "tile");
  c = ConvCase();
  c.stream.kernels[0].op = SLUICE_OP_DEPTHWISE_CONV;
  CheckRejected(c, "tile");
  c = ConvCase();
  Tile(&c, 1).origin[1] = 4;  // pads fit, input and output do not
  CheckRejected(c, "content");
  c = ConvCase();
  Tile(&c, 3).origin[1] = 7;
  CheckRejected(c, "tile");
  c = ConvCase();
  Tile(&c, 1).c_end = 7;
  CheckRejected(c, "accumulate");
  c = ConvCase();
  Tile(&c, 1).weight = SLUICE_NONE;
  CheckRejected(c, "tile");
  c = ConvCase();
  Operand(&c, Tile(&c, 1).input0).dtype = SLUICE_DTYPE_UINT8;
  CheckRejected(c, "tile");
  c = ConvCase();
  Shape(&c, Tile(&c, 1).input0).extent[1] = 3;
  CheckRejected(c, "tile");
  c = ConcatCase();
  Tile(&c, 0).kernel = 1;
  CheckRejected(c, "content");
}

TEST_CASE("verify: too few cycles are caught") {
  Case c = ConvCase();
  Tile(&c, 2).cycles = 71;  // 2*4*8 outputs * 9 * 8 MACs / 64 = 72
  CheckRejected(c, "cycles");
  c = AddCase();
  Tile(&c, 0).cycles = 7;
  CheckRejected(c, "cycles");
  c = GatherHostCase();
  c.stream.blocks[0].host_calls[0].cycles_lo = 99;
  CheckRejected(c, "cycles");
}

TEST_CASE("verify: a report that the stream does not bear out is caught") {
  Case c = ConvCase();
  c.report.dram_read_bytes -= 1;
  CheckRejected(c, "traffic");
  c = ConvCase();
  c.report.dram_write_bytes += 64;
  CheckRejected(c, "traffic");
  Judged judged(ConvCase());
  judged.plan.report.peak_buffer_bytes -= 32;
  CHECK(judged.OfImage(ConvCase().stream.Image()).rule == "report");
}

TEST_CASE("verify: an in-place result is legal only just over an input") {
  Case c = NodesCase();
  CheckAccepted(c);
  BlockBuilder& b = c.stream.blocks[0];
  Tile(&c, 0).output = b.Dense(0, SLUICE_DTYPE_INT8, {1, 2, 4, 8}, 32);
  Transfer(&c, 3).src = Tile(&c, 0).output;
  CheckRejected(c, "order");
}

TEST_CASE("verify: an index that is not the layer's is caught") {
  Case c = GatherHostCase();
  Transfer(&c, 1).index =
      c.stream.blocks[0].Dense(0, SLUICE_DTYPE_INT32, {1, 1, 1, 2}, 0);
  CheckRejected(c, "tile");
  c = GatherHostCase();
  Transfer(&c, 1).src = c.stream.blocks[0].Dense(1, SLUICE_DTYPE_INT8, {1, 1, 9, 8}, 8);
  CheckRejected(c, "tile");  // not the whole table
  c = GatherHostCase();
  At(&c, kHost, 1).waits[0].count = 2;
  CheckRejected(c, "order");
}

TEST_CASE("verify: a plan of another graph or other hardware is refused") {
  Judged judged(ConvCase());
  const Bytes image = ConvCase().stream.Image();
  judged.plan.graph_hash ^= 1;
  CHECK(judged.OfImage(image).rule == "structure");
  judged.plan.graph_hash ^= 1;
  judged.plan.hardware_hash ^= 1;
  CHECK(judged.OfImage(image).rule == "structure");
}

TEST_CASE(
    "verify: a first wait beyond the waits is refused even where none is waited for") {
  const Case c = ConvCase();
  Bytes image = c.stream.Image();
  const sluice_block_t block = BlockOf(image);
  const size_t first = block.instruction_offset;
  sluice_instruction_t instruction;
  std::memcpy(&instruction, image.data() + first, sizeof instruction);
  REQUIRE(instruction.wait_count == 0);
  const size_t field = first + offsetof(sluice_instruction_t, first_wait);
  Judged judged(c);
  Put(&image, field, block.wait_count);
  RehashAll(&image);
  CHECK(judged.OfImage(image).status == sluice::Status::kOk);
  Put(&image, field, block.wait_count + 1);
  RehashAll(&image);
  const Verdict v = judged.OfImage(image);
  CHECK(v.status == sluice::Status::kRejected);
  CHECK(v.rule == "structure");
}

TEST_CASE("verify: layers and kernels of unknown operators are refused") {
  const Case c = AddCase();
  Judged judged(c);
  for (const int code : {0, int{SLUICE_OP_COUNT}, 0xffff}) {
    CAPTURE(code);
    const uint16_t op = static_cast<uint16_t>(code);
    // A reader would not let such a graph pass; the judge asks by itself.
    auto* layers = const_cast<sluice::Layer*>(judged.graph.layers.data());
    const uint16_t right = layers[0].op;
    layers[0].op = op;
    const Verdict v = judged.OfImage(c.stream.Image());
    CHECK(v.status == sluice::Status::kUnsupported);
    CHECK(v.message == "a layer of unknown op " + std::to_string(code));
    layers[0].op = right;
    Bytes kernel = c.stream.Image();
    Put(&kernel, HeaderOf(kernel).kernel_offset + offsetof(sluice_kernel_t, op), op);
    RehashAll(&kernel);
    CHECK(judged.OfImage(kernel).status == sluice::Status::kRejected);
  }
  CHECK(judged.OfImage(c.stream.Image()).status == sluice::Status::kOk);
}

TEST_CASE("verify: running out of memory is an answer") {
  Judged judged(ConcatCase());
  const Bytes image = ConcatCase().stream.Image();
  bool refused = false, accepted = false;
  for (uint64_t bytes = 64; bytes < 1 << 20 && !accepted; bytes += 1024) {
    const sluice::Status status = judged.OfImage(image, bytes).status;
    refused = refused || status == sluice::Status::kOutOfMemory;
    accepted = status == sluice::Status::kOk;
    CHECK((accepted || status == sluice::Status::kOutOfMemory));
  }
  CHECK(refused);
  CHECK(accepted);
}

}  // namespace
}  // namespace sluice_test
