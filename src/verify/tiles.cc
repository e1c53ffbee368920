// SPDX-License-Identifier: Apache-2.0
// COMPUTE: a tile against the rules of its layer, and its accumulator.
#include <numeric>
#include <utility>

#include "base/checked.h"
#include "verify/ability.h"
#include "verify/follow.h"

namespace sluice {
namespace judge {

namespace {

// Whether [begin, begin + extent) begins and ends at multiples of a granule, or ends
// where the axis does.
bool KeepsTo(int64_t granule, int64_t begin, int64_t extent, int64_t end_of_axis) {
  const int64_t end = begin + extent;
  return begin % granule == 0 && (end % granule == 0 || end == end_of_axis);
}

// The name of the granule that a tile on the MAC array breaks, or null.
const char* BrokenGranule(const MacArray& array, const Tensor& out,
                          const sluice_tile_t& tile, const int64_t* extent,
                          const TileNeeds& needs) {
  if (!needs.macs || needs.gradient) return nullptr;
  const int32_t* whole = out.extent;
  if ((array.demands & 1) != 0 &&
      !KeepsTo(array.k, tile.origin[3], extent[3], whole[3])) {
    return "k";
  }
  if ((array.demands & 2) != 0 && needs.sum_channels != 0 &&
      !KeepsTo(array.c, tile.c_begin, int64_t{tile.c_end} - tile.c_begin,
               needs.sum_channels)) {
    return "c";
  }
  if ((array.demands & 4) == 0) return nullptr;
  if (!array.crosses_rows || whole[1] == 1) {
    return KeepsTo(array.p, tile.origin[2], extent[2], whole[2]) ? nullptr : "p";
  }
  // A pass goes on into the next row only where rows are whole.
  const int64_t rows = array.p / std::gcd(int64_t{array.p}, int64_t{whole[2]});
  const bool kept =
      extent[2] == whole[2] && KeepsTo(rows, tile.origin[1], extent[1], whole[1]);
  return kept ? nullptr : "p";
}

}  // namespace

// A tile and what follows from its layer.
struct TileStep {
  const Layer& layer;
  uint32_t layer_index;
  const sluice_tile_t& tile;
  uint8_t flags;
  const TileNeeds& needs;
};

static Status Wrong(const Judge& judge, const TileStep& step, const char* rule,
                    const char* what) {
  return Reject(judge, rule).Text(OpName(step.layer.op)).Text(": ").Text(what);
}

// Whether the tile's channels, flags and accumulator fit its layer's sum.
static Status CheckSum(const Judge& judge, const TileStep& step) {
  const sluice_tile_t& tile = step.tile;
  const int64_t channels = step.needs.sum_channels;
  const bool first = step.flags & SLUICE_FLAG_FIRST;
  const bool last = step.flags & SLUICE_FLAG_LAST;
  const char* const sums = "accumulate";
  if (channels == 0) {
    if (tile.c_begin != 0 || tile.c_end != 0) {
      return Wrong(judge, step, "tile", "a C range without a sum");
    }
    if (!first || !last) {
      return Wrong(judge, step, sums, "is no sum, so each tile is first and last");
    }
  } else {
    // The range lies inside the layer's C: else the tile would lack an input.
    const bool whole = tile.c_begin == 0 && tile.c_end == channels;
    if (first && last && !whole) {
      return Wrong(judge, step, sums, "first and last with a part of C");
    }
  }
  if ((first && last) != (tile.accumulator == SLUICE_NONE)) {
    return Wrong(judge, step, sums,
                 "an accumulator is needed unless the tile is first and last");
  }
  if (last && tile.output == SLUICE_NONE) {
    return Wrong(judge, step, "tile", "a last tile without output");
  }
  return Status::kOk;
}

static Status CheckTile(const Judge& judge, const TileStep& step,
                        const int64_t* extent) {
  const Layer& layer = step.layer;
  const sluice_tile_t& tile = step.tile;
  const TileNeeds& needs = step.needs;
  if (needs.wrong != nullptr) return Wrong(judge, step, "tile", needs.wrong);
  if ((tile.input1 != SLUICE_NONE) != ((needs.used & kUsesInput1) != 0) ||
      (tile.weight != SLUICE_NONE) != ((needs.used & kUsesWeight) != 0) ||
      (tile.parameters != SLUICE_NONE && (needs.used & kUsesParameters) == 0)) {
    return Wrong(judge, step, "tile", "an operand too many or too few");
  }
  for (int i = 0; i < 4; ++i) {
    if (tile.pad[i] == needs.pad[i]) continue;
    return Reject(judge, "tile")
        .Text(OpName(layer.op))
        .Say(": pad # is #, the window at this box needs #", i, tile.pad[i],
             needs.pad[i]);
  }
  const Tensor& out = judge.graph.tensors[layer.outputs[0]];
  const char* broken = BrokenGranule(judge.hardware.array, out, tile, extent, needs);
  if (broken != nullptr) {
    return Reject(judge, "granule")
        .Text(OpName(layer.op))
        .Text(": the array demands multiples of its ")
        .Text(broken);
  }
  const int64_t peak =
      needs.macs ? judge.hardware.macs_per_cycle : judge.hardware.vector_ops_per_cycle;
  if (peak > 0 && CeilDivide(needs.work, peak) > int64_t{tile.cycles}) {
    return Reject(judge, "cycles")
        .Text(OpName(layer.op))
        .Say(": declares # cycles, needs at least #", tile.cycles,
             CeilDivide(needs.work, peak));
  }
  return CheckSum(judge, step);
}

static Status ReadInputs(Follower* f, const TileStep& step, const Access& result,
                         bool* in_place) {
  const TileNeeds& needs = step.needs;
  const bool last = step.flags & SLUICE_FLAG_LAST;

  *in_place = false;
  for (uint32_t i = 0; i < needs.count; ++i) {
    const Need& need = needs.need[i];
    if (need.on_last && !last) continue;
    if (need.operand == SLUICE_NONE) {
      return Reject(*f->judge, "tile").Text(need.role).Text(" is missing");
    }
    const Tensor& tensor = f->judge->graph.tensors[need.tensor];
    Access access;
    SLUICE_TRY(Locate(f, need.operand, &access));
    if (need.rows_first && access.extent[2] == 1) {
      std::swap(access.extent[0], access.extent[2]);
      std::swap(access.stride[0], access.stride[2]);
    }
    bool fits = access.region == SLUICE_REGION_GBUF && access.dtype == tensor.dtype;
    for (int a = 0; a < kAxes; ++a) fits = fits && access.extent[a] == need.extent[a];
    if (!fits) {
      return Reject(*f->judge, "tile")
          .Tensor(need.tensor)
          .Text(OpName(step.layer.op))
          .Text(": ")
          .Text(need.role)
          .Text(" lacks the extents or dtype that the tile needs");
    }
    int64_t dense[kAxes], first = 0;
    DenseElements(tensor.extent, dense);
    for (int a = 0; a < kAxes; ++a) first += need.origin[a] * dense[a];
    SLUICE_TRY(Take(f, f->node, access.BoxWith(first, dense),
                    {need.tensor, step.layer_index, "content", need.role}));
    if (needs.elementwise && !need.throughout && access.base == result.base) {
      *in_place = true;
    }
  }
  return Status::kOk;
}

namespace {

// Adds [begin, end) to a sum's ranges; false when it overlaps one of them. *too_many:
// no room for another range.
bool AddRange(PartialSum* sum, int32_t begin, int32_t end, bool* too_many) {
  uint32_t i = 0;
  while (i < sum->ranges && sum->end[i] < begin) ++i;
  // sum->end[i] >= begin: range i touches on the left, lies apart on the right, or
  // overlaps.
  const bool left = i < sum->ranges && sum->end[i] == begin;
  const uint32_t right = left ? i + 1 : i;
  if (right < sum->ranges && sum->begin[right] < end) return false;
  const bool joins = right < sum->ranges && sum->begin[right] == end;
  if (left && joins) {
    sum->end[i] = sum->end[right];
    --sum->ranges;
    for (uint32_t r = right; r < sum->ranges; ++r) {
      sum->begin[r] = sum->begin[r + 1];
      sum->end[r] = sum->end[r + 1];
    }
    return true;
  }
  if (left) {
    sum->end[i] = end;
    return true;
  }
  if (joins) {
    sum->begin[right] = begin;
    return true;
  }
  *too_many = sum->ranges == kMaxRanges;
  if (*too_many) return false;
  for (uint32_t r = sum->ranges++; r > i; --r) {
    sum->begin[r] = sum->begin[r - 1];
    sum->end[r] = sum->end[r - 1];
  }
  sum->begin[i] = begin;
  sum->end[i] = end;
  return true;
}

}  // namespace

// Requires the accumulator to hold one partial sum of exactly this box.
static Status ReadAccumulator(Follower* f, const TileStep& step,
                              const Access& accumulator, PartialSum* sum) {
  int64_t dense[kAxes], first = 0;
  DenseElements(f->judge->graph.tensors[step.layer.outputs[0]].extent, dense);
  for (int a = 0; a < kAxes; ++a) first += step.tile.origin[a] * dense[a];
  f->parts.Truncate(0);
  SLUICE_TRY(ReadParts(&f->contents, f->node, accumulator.BoxWith(first, dense), false,
                       &f->parts));
  for (const Part& part : f->parts) {
    int64_t index = 0;
    if (part.root == f->parts[0].root && part.root != kNone &&
        IsPartial(f->contents, part.root) &&
        PartialOf(f->contents, part.root).layer == step.layer_index &&
        LiesDensely(part, dense, &index)) {
      continue;
    }
    return Reject(*f->judge, "accumulate")
        .Layer(step.layer_index)
        .Text("the accumulator does not hold a partial sum of this box");
  }
  *sum = PartialOf(f->contents, f->parts[0].root);
  return Status::kOk;
}

static Status Accumulate(Follower* f, const TileStep& step, const Access& accumulator) {
  const sluice_tile_t& tile = step.tile;

  const bool last = step.flags & SLUICE_FLAG_LAST;
  int64_t origin[kAxes];
  for (int a = 0; a < kAxes; ++a) origin[a] = tile.origin[a];
  PartialSum& sum = f->sum;
  sum = {};
  sum.layer = step.layer_index;
  f->plain_sum = true;
  if ((step.flags & SLUICE_FLAG_FIRST) == 0) {
    SLUICE_TRY(ReadAccumulator(f, step, accumulator, &sum));
    f->plain_sum = sum.ranges == 1 && sum.end[0] == static_cast<int32_t>(tile.c_begin);
  }
  bool too_many = false;
  if (!AddRange(&sum, static_cast<int32_t>(tile.c_begin),
                static_cast<int32_t>(tile.c_end), &too_many)) {
    if (too_many) {
      return Fail(f->judge->diagnostic, Status::kUnsupported, "verify")
          .Layer(step.layer_index)
          .Text("a sum over more than eight separate ranges of C");
    }
    return Reject(*f->judge, "accumulate")
        .Layer(step.layer_index)
        .Text("channels are added twice");
  }
  uint32_t root = kNone;  // a last tile leaves nothing useful in the accumulator
  if (last) {
    if (sum.ranges != 1 || sum.begin[0] != 0 || sum.end[0] != step.needs.sum_channels) {
      return Reject(*f->judge, "accumulate")
          .Layer(step.layer_index)
          .Text("the last tile of a sum has only some of the channels before it");
    }
  } else {
    SLUICE_TRY(RootOf(&f->contents, sum, &root));
  }
  return LayDown(f, f->node, root, accumulator, origin, false);
}

Status SeeTile(Follower* f, const sluice_instruction_t& instruction, SeenTile* seen) {
  const StreamView& s = f->judge->stream;
  const uint32_t visit = f->judge->step.visit;
  seen->tile = BlockOf(s, visit).tiles[instruction.descriptor];
  sluice_tile_t& tile = seen->tile;
  const bool inside = MoveTile(s, visit, &tile);
  const uint32_t kernel = InstanceOf(s, visit).first_kernel + tile.kernel;
  seen->layer_index = s.kernels[kernel].layer;
  const Layer& layer = s.executed[kernel];
  seen->layer = &layer;
  const bool last = instruction.flags & SLUICE_FLAG_LAST;
  const uint32_t result_operand = last ? tile.output : tile.accumulator;
  if (result_operand == SLUICE_NONE || layer.outputs.size() != 1) {
    return Reject(*f->judge, "tile")
        .Layer(seen->layer_index)
        .Text("a tile without a result");
  }
  Access& result = seen->result;
  Access& accumulator = seen->accumulator;
  SLUICE_TRY(Locate(f, result_operand, &result));
  if (tile.accumulator != SLUICE_NONE)
    SLUICE_TRY(Locate(f, tile.accumulator, &accumulator));
  const Tensor& out = f->judge->graph.tensors[layer.outputs[0]];
  bool fits = inside && result.region == SLUICE_REGION_GBUF;
  for (int a = 0; a < kAxes; ++a) {
    seen->origin[a] = tile.origin[a];
    fits = fits && seen->origin[a] + result.extent[a] <= out.extent[a];
    if (tile.accumulator != SLUICE_NONE) {
      fits = fits && accumulator.extent[a] == result.extent[a];
    }
  }
  if (last) fits = fits && result.dtype == out.dtype;
  if (tile.accumulator != SLUICE_NONE) {
    fits = fits && accumulator.dtype == SLUICE_DTYPE_INT32 &&
           accumulator.region == SLUICE_REGION_GBUF;
  }
  if (!fits) {
    return Reject(*f->judge, "tile")
        .Layer(seen->layer_index)
        .Text("output or accumulator is no box of the output, or of the wrong dtype");
  }
  SLUICE_TRY(CheckAble(*f->judge, layer));
  TileNeeds* needs = &seen->needs;
  NeedsOfTile(f->judge->graph, layer, tile, seen->origin, result.extent, needs);
  const TileStep step = {layer, seen->layer_index, tile, instruction.flags, *needs};
  return CheckTile(*f->judge, step, result.extent);
}

Status FollowTile(Follower* f, const sluice_instruction_t& instruction) {
  SeenTile seen;
  f->node = f->judge->stream.engine[f->order->engine[f->judge->step.engine]].node;
  SLUICE_TRY(SeeTile(f, instruction, &seen));
  CountTile(f, seen.tile, instruction.flags, seen.needs);
  if (f->judge->counts_only) return Status::kOk;
  const TileStep step = {*seen.layer, seen.layer_index, seen.tile, instruction.flags,
                         seen.needs};
  bool in_place;
  SLUICE_TRY(ReadInputs(f, step, seen.result, &in_place));
  if (seen.tile.accumulator != SLUICE_NONE) {
    SLUICE_TRY(Accumulate(f, step, seen.accumulator));
  }
  if ((instruction.flags & SLUICE_FLAG_LAST) == 0) return Status::kOk;
  return LayDown(f, f->node, seen.layer->outputs[0], seen.result, seen.origin,
                 in_place);
}

}  // namespace judge
}  // namespace sluice
