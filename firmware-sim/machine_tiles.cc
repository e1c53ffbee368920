// SPDX-License-Identifier: Apache-2.0
// COMPUTE: a tile of a layer.
#include <numeric>

#include "machine_parts.h"

namespace sluice_sim {
namespace {

// An operand's extents and strides for CheckTile, with no data behind them.
Box Shadow(const Access& access, uint8_t* somewhere) {
  const sluice_walk_operand_t& o = access.operand;
  Box box;
  box.data = somewhere;
  box.dtype = static_cast<int>(o.dtype);
  for (int a = 0; a < 4; ++a) {
    box.extent[a] = o.extent[a];
    box.stride[a] = o.stride[a];
  }
  return box;
}

// One operand of a tile: its index in the block, and the tile's box for it.
struct TileOperand {
  uint32_t index;
  Box* box;
  bool read, write;
  const char* role;
};
constexpr int kTileOperands = 6;

Trap FillTile(const Machine& m, const sluice_tile_t& record, uint8_t flags,
              Flight* flight, Tile* tile) {
  sluice_kernel_t kernel;
  sluice_walk_kernel(&m.walker, flight->visit.instance, record.kernel, &kernel);
  flight->op = kernel.op;
  flight->layer = kernel.layer;
  const Layer& layer = m.graph.layers[kernel.layer];
  tile->op = kernel.op;
  tile->cancel = m.graph.cancel;
  for (uint32_t i = 0; i < kernel.attribute_count; ++i) {
    tile->attributes.push_back(sluice_walk_attribute(&m.walker, &kernel, i));
  }
  tile->first = (flags & SLUICE_FLAG_FIRST) != 0;
  tile->last = (flags & SLUICE_FLAG_LAST) != 0;
  for (int a = 0; a < 4; ++a) {
    tile->origin[a] = record.origin[a];
    tile->pad[a] = record.pad[a];
  }
  tile->c_begin = record.c_begin;
  tile->c_end = record.c_end;
  tile->layer.input = m.graph.tensors[layer.inputs[0]].extent;
  tile->layer.padded = m.padded[layer.inputs[0]];
  tile->layer.output = m.graph.tensors[layer.outputs[0]].extent;
  if (layer.input(1) != kAbsent) {
    tile->layer.second = m.graph.tensors[layer.input(1)].extent;
  }
  return {};
}

// MACs of a box / peak, or element operations / vector peak; at least 1.
uint64_t LeastCycles(const Machine& m, const Work& work) {
  return BandwidthCycles(
      work.times,
      work.macs ? m.hardware.macs_per_cycle : m.hardware.vector_ops_per_cycle,
      work.each);
}

// Tiles on the MAC array are cut at its granules, or at the end of the tensor.
std::string BrokenGranule(const Machine& m, const Tile& t) {
  const Granules& g = m.hardware.granules;
  if (OpOf(t.op).count != Count::kMacs) return "";
  const auto cut = [](int64_t begin, int64_t length, int64_t all, int64_t granule) {
    const bool ends = begin + length == all || (begin + length) % granule == 0;
    return begin % granule == 0 && ends;
  };
  const Extent& whole = t.layer.output;
  const Extent& part = t.target().extent;
  if (!cut(t.origin[3], part[3], whole[3], g.k)) return "k";
  const int64_t channels = t.layer.input[3] / t.groups();
  if (!t.is_depthwise() && !cut(t.c_begin, t.c_end - t.c_begin, channels, g.c)) {
    return "c";
  }
  if (g.p == 1) return "";
  if (!g.crosses_rows || whole[1] == 1) {
    return cut(t.origin[2], part[2], whole[2], g.p) ? "" : "p";
  }
  const int64_t rows = g.p / std::gcd(int64_t{g.p}, int64_t{whole[2]});
  const bool kept = part[2] == whole[2] && cut(t.origin[1], part[1], whole[1], rows);
  return kept ? "" : "p";
}

// Checks that the operands are those of the layer and have its tensors' dtypes. A tile
// that is not the last of its sum may name parameters, although it does not read them.
Trap CheckOperands(const Machine& m, const Layer& layer, const sluice_tile_t& record,
                   const Tile& tile) {
  const Op& op = OpOf(layer.op);
  const auto input_as = [&](InputAs as) -> uint32_t {
    if (op.second == as) return layer.input(1);
    return op.third == as ? layer.input(2) : kAbsent;
  };
  const struct {
    const char* role;
    const Box& box;
    uint32_t tensor;
    bool on_last;
  } operands[] = {{"input0", tile.input0, layer.input(0), false},
                  {"input1", tile.input1, input_as(InputAs::kInput1), false},
                  {"weight", tile.weight, input_as(InputAs::kWeight), false},
                  {"parameters", tile.parameters, input_as(InputAs::kParameters), true},
                  {"output", tile.output, layer.outputs[0], true}};
  if (record.parameters != SLUICE_NONE && input_as(InputAs::kParameters) == kAbsent) {
    return {"tile", "operands: parameters is none of the operator's"};
  }
  for (const auto& o : operands) {
    if (!o.box.present()) {
      if (o.tensor == kAbsent || o.on_last) continue;
      return {"tile", std::string("operands: ") + o.role + " is missing"};
    }
    if (o.tensor == kAbsent) {
      return {"tile",
              std::string("operands: ") + o.role + " is none of the operator's"};
    }
    if (o.box.dtype != m.graph.tensors[o.tensor].dtype) {
      return {"tile", std::string("dtype: ") + o.role + " has another than its tensor"};
    }
    const bool filter =
        &o.box == &tile.weight && !op.matrix && op.slide != Slide::kNone;
    const Extent& whole = m.graph.tensors[o.tensor].extent;
    if (filter && (o.box.extent[1] != whole[1] || o.box.extent[2] != whole[2])) {
      return {"tile", "extents: weight lacks taps of the filter"};
    }
  }
  return {};
}

// Writes results to a dense copy, which lands on completion; an accumulator's old sums
// are copied there first.
void ComputeTile(const Machine& m, const TileOperand* operands, Flight* flight,
                 Tile* tile) {
  Access target;
  for (int i = 0; i < kTileOperands; ++i) {
    const TileOperand& o = operands[i];
    if (o.index == SLUICE_NONE) continue;
    const Access access =
        Reach(m, *flight, o.index, EngineOf(m, *flight).record.node, o.write, o.role);
    const Box box = m.memory.At(access);
    *o.box = o.box == &tile->weight && OpOf(tile->op).matrix ? FilterOf(box) : box;
    if (o.write) target = access;
  }
  flight->result.resize(static_cast<size_t>(target.operand.bytes));
  const Box home = m.memory.At(target);
  Box& out = tile->last ? tile->output : tile->accumulator;
  out = DenseBox(flight->result.data(), home.dtype, home.extent);
  if (!tile->last && !tile->first) CopyBox(home, out);
  RunTile(*tile);
}

}  // namespace

Trap StartTile(const Machine& m, const sluice_instruction_t& instruction,
               Flight* flight) {
  sluice_tile_t record;
  sluice_walk_tile(&m.walker, &flight->visit, instruction.descriptor, &record);
  Tile tile;
  if (Trap trap = FillTile(m, record, instruction.flags, flight, &tile)) return trap;
  flight->end = flight->start + record.cycles;
  const TileOperand operands[kTileOperands] = {
      {record.input0, &tile.input0, true, false, "input0"},
      {record.input1, &tile.input1, true, false, "input1"},
      {record.weight, &tile.weight, true, false, "weight"},
      {tile.last ? record.parameters : SLUICE_NONE, &tile.parameters, true, false,
       "parameters"},
      {record.accumulator, &tile.accumulator, !tile.first, !tile.last, "accumulator"},
      {tile.last ? record.output : SLUICE_NONE, &tile.output, false, true, "output"}};
  uint8_t nothing = 0;
  for (const TileOperand& o : operands) {
    if (o.index == SLUICE_NONE) continue;
    const Access access =
        Reach(m, *flight, o.index, EngineOf(m, *flight).record.node, o.write, o.role);
    if (access.operand.region != SLUICE_REGION_GBUF) {
      return {"region", std::string(o.role) + " is not in the scratchpad"};
    }
    *o.box = Shadow(access, &nothing);
    if (o.write) flight->accesses.push_back(access);
    if (o.read) {
      flight->accesses.push_back(access);
      flight->accesses.back().write = false;
    }
  }
  if (Trap trap = CheckOperands(m, m.graph.layers[flight->layer], record, tile))
    return trap;
  if (OpOf(tile.op).matrix) tile.weight = FilterOf(tile.weight);
  const std::string wrong = CheckTile(tile);
  if (!wrong.empty()) return {"tile", wrong};
  const std::string broken = BrokenGranule(m, tile);
  if (!broken.empty()) return {"tile", "the array demands multiples of its " + broken};
  if (WhyNot(m.graph, m.hardware, m.graph.layers[flight->layer]) != 0) {
    return {"tile", "the machine cannot do this layer"};
  }
  const Work work = WorkOf(tile);
  if (record.cycles < LeastCycles(m, work)) {
    return {"tile", "cycles: declares " + std::to_string(record.cycles) +
                        ", the peak needs " + std::to_string(LeastCycles(m, work))};
  }
  (work.macs ? flight->macs : flight->vector_ops) = work.times * work.each;
  if (Trap trap = CheckAccesses(m, *flight)) return trap;
  if (m.functional) ComputeTile(m, operands, flight, &tile);
  return {};
}

}  // namespace sluice_sim
