// SPDX-License-Identifier: Apache-2.0
#include "model/tile_cycles.h"

namespace sluice {

namespace {

// How often the array must be filled for a tile.
int64_t PassesOf(const MacArray& array, const Layer& layer, const TileBoxes& boxes,
                 int64_t channels) {
  // A layer without a sum over channels (depthwise) feeds the array one input channel.
  const int64_t summed = Max<int64_t>(channels, 1);
  const int64_t steps = boxes.macs / (boxes.filters * summed);
  const Box& out = boxes.box[kRoleOutput];
  // A weight gradient's outputs are taps of a filter. The array, which computes several
  // pixels at once for other layers, computes several steps of the sum at once here.
  const bool gradient = TraitsOf(layer).sum == SumRule::kErrorRows;
  const int64_t rows = gradient ? 1 : int64_t{out.extent[0]} * out.extent[1];
  const int64_t row = gradient ? steps : out.extent[2];
  const int64_t taps = steps / (rows * row);  // of the filter, for each pixel
  const int64_t pixels = array.crosses_rows ? CeilDivide(rows * row, array.p)
                                            : rows * CeilDivide(row, array.p);
  const int64_t inputs = array.packs_filter ? CeilDivide(taps * summed, array.c)
                                            : taps * CeilDivide(summed, array.c);
  int64_t passes = 0;
  return CheckedMultiply(CeilDivide(boxes.filters, array.k) * pixels, inputs, &passes)
             ? passes
             : kManyCycles;
}

// Rows (axis 1) or columns (2) of inputs 0 and 1 that a tile reads. Both follow from
// the extents of its output alone, not from where in the layer the tile lies: searches
// price tiles before they know their places. Padding under a window counts as read.
void ReadAlong(const Graph& graph, const Layer& layer, const TileBoxes& boxes, int axis,
               int64_t read[2]) {
  const OpTraits& traits = TraitsOf(layer);
  const int64_t out = boxes.box[kRoleOutput].extent[axis];
  const int64_t all = graph.tensors[layer.inputs[0]].extent[axis];
  read[0] = boxes.box[kRoleInput0].extent[axis];
  read[1] = boxes.box[kRoleInput1].extent[axis];
  const Window w = WindowOf(graph, layer, axis);
  const auto under = [&](int64_t windows) {
    const int64_t reach =
        (windows - 1) * w.stride + int64_t{w.filter - 1} * w.dilation + 1;
    return Min(reach, windows * w.filter);  // strides may skip some
  };
  if (traits.scatters) {
    read[0] = Min((out + w.filter - 2) / w.stride + 1, all);
    if (traits.form == Form::kPoolGradient) {
      read[1] =
          Min<int64_t>(under(read[0]), graph.tensors[layer.inputs[1]].extent[axis]);
    }
  } else if (traits.window == WindowRule::kFilter ||
             traits.window == WindowRule::kPool) {
    read[0] = Min(under(out), all);
  } else if (traits.window == WindowRule::kPads) {
    read[0] = Min(out, all);
  } else if (traits.form == Form::kResize) {
    const int64_t whole = graph.tensors[layer.outputs[0]].extent[axis];
    read[0] = Min(CeilDivide(out * all, whole) + 1, Min(all, 2 * out));
  }
}

// Elements of inputs 0 and 1 that a tile reads.
void ElementsRead(const Graph& graph, const Layer& layer, const TileBoxes& boxes,
                  int64_t elements[2]) {
  int64_t along[2][2];
  for (int a = 1; a <= 2; ++a) ReadAlong(graph, layer, boxes, a, along[a - 1]);
  for (int r = 0; r < 2; ++r) {
    const Box& box = boxes.box[r == 0 ? kRoleInput0 : kRoleInput1];
    elements[r] = along[0][r] * along[1][r] * box.extent[0] * box.extent[3];
  }
}

}  // namespace

int64_t ArrayCycles(const Hardware& hardware, const Layer& layer,
                    const TileBoxes& boxes, int64_t channels) {
  const MacArray& array = hardware.array;
  if (boxes.macs == 0 || array.k == 0) return LeastCycles(hardware, boxes);
  const int64_t pass =
      CeilDivide(int64_t{array.k} * array.c * array.p, hardware.macs_per_cycle) +
      array.fill_cycles + array.drain_cycles;
  int64_t cycles = 0;
  if (!CheckedMultiply(PassesOf(array, layer, boxes, channels), pass, &cycles)) {
    return kManyCycles;
  }
  return Min(Max(cycles, LeastCycles(hardware, boxes)), kManyCycles);
}

int64_t ScratchpadBytes(const Graph& graph, const Layer& layer,
                        uint32_t accumulator_bytes, const TileBoxes& boxes,
                        TileSum sum) {
  const TileOperands operands = OperandsOf(layer);
  int64_t read[2];
  ElementsRead(graph, layer, boxes, read);
  int64_t bytes = 0;
  for (int r = 0; r < kTileRoles; ++r) {
    if (operands.tensor[r] == kNone) continue;
    if (!sum.last && (r == kRoleParameters || r == kRoleOutput)) continue;
    const int64_t elements = r == kRoleInput0   ? read[0]
                             : r == kRoleInput1 ? read[1]
                                                : boxes.box[r].elements();
    bytes += elements * graph.tensors[operands.tensor[r]].element_bytes;
  }
  const int64_t partial = boxes.box[kRoleOutput].elements() * accumulator_bytes;
  return bytes + (sum.first ? 0 : partial) + (sum.last ? 0 : partial);
}

int64_t ScratchpadCycles(const Hardware& hardware, const Graph& graph,
                         const Layer& layer, const TileBoxes& boxes, TileSum sum) {
  const Rational bandwidth = hardware.scratchpad().bandwidth;
  if (bandwidth.numerator == 0) return 0;
  const int64_t bytes =
      ScratchpadBytes(graph, layer, hardware.accumulator_bytes, boxes, sum);
  return Min(TransferCycles(bytes, bandwidth.numerator, bandwidth.denominator),
             kManyCycles);
}

int64_t TileCycles(const Hardware& hardware, const Graph& graph, const Layer& layer,
                   const TileBoxes& boxes, TileSum sum) {
  return Max(ArrayCycles(hardware, layer, boxes, sum.channels),
             ScratchpadCycles(hardware, graph, layer, boxes, sum));
}

int64_t LeastCycles(const Hardware& hardware, const TileBoxes& boxes) {
  const int64_t cycles =
      boxes.macs == 0 ? CeilDivide(boxes.vector_ops, hardware.vector_ops_per_cycle)
                      : CeilDivide(boxes.macs, hardware.macs_per_cycle);
  return Max<int64_t>(1, cycles);
}

int64_t LeastTileCycles(const Hardware& hardware, const Graph& graph,
                        const Layer& layer, const TileBoxes& boxes, TileSum sum) {
  return Max(LeastCycles(hardware, boxes),
             ScratchpadCycles(hardware, graph, layer, boxes, sum));
}

TileCost DeclaredCost(const PricedLayer& of, const TileBoxes& boxes, TileSum sum) {
  TileCost cost = {};
  const int32_t* extent = boxes.box[kRoleOutput].extent;
  if (of.coster.cost != nullptr &&
      of.coster.cost(of.coster.user, of.index, extent, sum.channels, &cost)) {
    cost.cycles =
        Max(cost.cycles, LeastTileCycles(of.hardware, of.graph, of.layer, boxes, sum));
    return cost;
  }
  return TileCost{TileCycles(of.hardware, of.graph, of.layer, boxes, sum), 0};
}

}  // namespace sluice
