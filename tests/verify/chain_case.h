// SPDX-License-Identifier: Apache-2.0
// Three loops one after the other, and what a judge says of them, whether it follows all
// iterations or takes them over.
#ifndef SLUICE_TESTS_VERIFY_CHAIN_CASE_H_
#define SLUICE_TESTS_VERIFY_CHAIN_CASE_H_

#include <algorithm>
#include <vector>

#include "judged_case.h"

namespace sluice_test {

// Three requantisations of [1,rows,4,8] one after the other, row by row: a loop each. The
// tensors between them lie in the workspace, the first at `first`, the second at 0 with
// rows `pitch` bytes apart.
inline Case ChainCase(uint32_t rows, uint32_t first, uint32_t pitch) {
  Case c;
  const uint8_t i8 = SLUICE_DTYPE_INT8;
  const Four whole = {1, rows, 4, 8}, row = {1, 1, 4, 8};
  const std::vector<int32_t> attributes = {1, 1 << 30, 1, 2, -128, 127};
  const int32_t extent = static_cast<int32_t>(rows);
  for (const uint8_t kind : {1, 0, 0, 2}) {
    c.graph.tensors.push_back({{1, extent, 4, 8}, i8, kind, 0, 0});
  }
  c.places = {PlaceAt(SLUICE_REGION_INPUT, 0, whole, i8),
              PlaceAt(SLUICE_REGION_WORKSPACE, first, whole, i8),
              PlaceAt(SLUICE_REGION_WORKSPACE, 0, whole, i8),
              PlaceAt(SLUICE_REGION_OUTPUT, 0, whole, i8)};
  c.places[2].stride[1] = pitch;
  c.places[2].stride[0] = pitch * rows;
  StreamBuilder& s = c.stream;
  s.gbuf_bytes = c.hardware.scratchpad_bytes;
  s.region_bytes[SLUICE_REGION_GBUF] = 64;
  s.region_bytes[SLUICE_REGION_INPUT] = s.region_bytes[SLUICE_REGION_OUTPUT] =
      32 * rows;
  s.region_bytes[SLUICE_REGION_WORKSPACE] =
      std::max(first + 32 * rows, pitch * (rows - 1) + 32);
  s.blocks.emplace_back();
  BlockBuilder& b = s.blocks[0];
  b.slot_count = 3;
  b.kernel_count = 1;
  for (uint32_t l = 0; l < 3; ++l) {
    c.graph.layers.push_back({SLUICE_OP_REQUANTIZE, {l}, {l + 1}, attributes});
    s.AddKernel(SLUICE_OP_REQUANTIZE, l, attributes);
    s.AddBinding(SLUICE_REGION_GBUF, 0);
    int32_t step[2];
    for (uint32_t side = 0; side < 2; ++side) {
      const Place& place = c.places[l + side];
      s.AddBinding(place.region, static_cast<uint32_t>(place.offset));
      step[side] = static_cast<int32_t>(place.stride[1]);
    }
    s.AddInstance(0, 3 * l, l);
    s.instances[l].first_step = static_cast<uint32_t>(s.steps.size());
    s.loops.push_back({l, l, rows, SLUICE_NONE});
    for (const int32_t word :
         {static_cast<int32_t>(l), 0, 0, step[0], 0, step[1], 0, 0, 1, 0, 0, 0}) {
      s.steps.push_back(word);
    }
  }
  sluice_tile_t tile = EmptyTile(0, 4);
  tile.input0 = b.Dense(0, i8, row, 0);
  tile.output = b.Dense(0, i8, row, 32);
  b.Load(b.Dense(1, i8, row, 0), tile.input0, {AfterAllBut(0, ComputeEngine(0))});
  b.Compute(tile, {After(kDmaEngine, 1)});
  b.Store(tile.output, b.Dense(2, i8, row, 0), {After(ComputeEngine(0), 1)});
  c.report = {0, 96 * uint64_t{rows}, 96 * uint64_t{rows}};
  return c;
}

// The judgement of a case, which says how many instructions were followed.
inline Verdict JudgeChain(uint32_t rows, uint32_t first, uint32_t pitch) {
  const Case c = ChainCase(rows, first, pitch);
  Judged judged(c);
  return judged.OfImage(c.stream.Image());
}

// 100 rows; the first tensor of the workspace is behind the second, or row j of the second
// is stored where row j - 10 of the first was, which is loaded already.
inline void CheckChain(const Verdict& v) {
  CHECK(v.message == "");
  CHECK(v.counts.instructions == 900);
  CHECK(v.counts.tiles == 300);
  CHECK(v.counts.dram_read_bytes == 9600);
  CHECK(v.counts.dram_write_bytes == 9600);
}

// Row j of the second tensor is stored where row 2 j - 10 of the first is, which from
// j = 11 on is still to be loaded.
inline void CheckLostRow(const Verdict& v) {
  CHECK(v.status == sluice::Status::kRejected);
  CHECK(v.rule == "content");
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_VERIFY_CHAIN_CASE_H_
