// SPDX-License-Identifier: Apache-2.0
#include "model/report.h"

#include "base/checked.h"

namespace sluice {

namespace {

int64_t BoxBytes(const BufferBox& box) {
  int64_t bytes = DtypeBytes(box.dtype);
  for (int32_t extent : box.extent) bytes *= extent;
  return bytes;
}

// One past the last byte of a box.
int64_t BoxEnd(const BufferBox& box) {
  int64_t last = box.offset + int64_t{DtypeBytes(box.dtype)};
  for (int a = 0; a < kAxes; ++a) last += int64_t{box.extent[a] - 1} * box.stride[a];
  return last;
}

struct Counts {
  int64_t dram_read = 0;
  int64_t dram_write = 0;
  int64_t pad_read = 0;  // scratchpad
  int64_t pad_write = 0;
  int64_t macs = 0;
  int64_t vector_ops = 0;
  int64_t peak = 0;
};

void CountTransfer(const Transfer& t, bool load, Counts* c) {
  const int64_t bytes = TransferBytes(t);
  (load ? c->dram_read : c->dram_write) += bytes;
  (load ? c->pad_write : c->pad_read) += bytes;
  c->peak = Max(c->peak, BoxEnd(t.buffer));
  if (t.indexed) c->pad_read += BoxBytes(t.index);
}

void CountTile(const TileStep& t, Counts* c) {
  for (int r = 0; r < kTileRoles; ++r) {
    if (!t.present[r]) continue;
    (r == kRoleOutput ? c->pad_write : c->pad_read) += BoxBytes(t.operand[r]);
    c->peak = Max(c->peak, BoxEnd(t.operand[r]));
  }
  if (t.has_accumulator) {
    if (!t.first) c->pad_read += BoxBytes(t.accumulator);
    if (!t.last) c->pad_write += BoxBytes(t.accumulator);
    c->peak = Max(c->peak, BoxEnd(t.accumulator));
  }
  c->macs += t.macs;
  c->vector_ops += t.vector_ops;
}

Counts CountProgram(const Program& program) {
  Counts c;
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    if (step.kind == StepKind::kLoad || step.kind == StepKind::kStore) {
      CountTransfer(program.transfers[step.item], step.kind == StepKind::kLoad, &c);
    } else if (step.kind == StepKind::kCompute) {
      CountTile(program.tiles[step.item], &c);
    }
  }
  return c;
}

// True when some elements of the tensor may never be needed by this reader.
bool MayReadInPart(const Graph& graph, const Layer& layer, size_t input) {
  if (layer.op == SLUICE_OP_SLICE || KindOf(layer.op) != LayerKind::kCompute)
    return true;
  if (input != 0) return false;
  if (layer.op == SLUICE_OP_RESIZE_BILINEAR || layer.op == SLUICE_OP_RESIZE_NEAREST) {
    return true;
  }
  for (int a = 1; a <= 2; ++a) {
    const Window w = WindowOf(graph, layer, a);
    if (w.stride > 1 || w.dilation > 1) return true;
  }
  return false;
}

// DRAM bytes every plan must move: inputs and constants that some reader needs whole,
// outputs once.
int64_t CompulsoryBytes(const Graph& graph) {
  int64_t bytes = 0;
  for (uint32_t t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    if (tensor.kind == TensorKind::kOutput) bytes += tensor.bytes;
    if (tensor.kind != TensorKind::kInput && tensor.kind != TensorKind::kConstant) {
      continue;
    }
    bool whole = false;
    for (uint32_t l = 0; l < graph.layers.size() && !whole; ++l) {
      const Layer& layer = graph.layers[l];
      for (size_t i = 0; i < layer.inputs.size(); ++i) {
        whole = whole || (layer.inputs[i] == t && !MayReadInPart(graph, layer, i));
      }
    }
    if (whole) bytes += tensor.bytes;
  }
  return bytes;
}

void FillBounds(const Graph& graph, const Hardware& hardware, sluice_report_t* report) {
  int64_t macs = 0;
  int64_t vector_ops = 0;
  for (uint32_t l = 0; l < graph.layers.size(); ++l) {
    const Layer& layer = graph.layers[l];
    if (KindOf(layer.op) != LayerKind::kCompute || layer.op == SLUICE_OP_PAD) continue;
    const TileBoxes whole =
        BoxesOf(graph, layer, WholeBox(graph.tensors[layer.outputs[0]]), 0,
                AccumulatedChannels(graph, layer));
    macs += whole.macs;
    vector_ops += whole.vector_ops;
  }
  const int64_t compulsory = CompulsoryBytes(graph);
  const Rational bandwidth = hardware.dram().bandwidth;
  const int64_t compute = CeilDivide(macs, hardware.macs_per_cycle) +
                          vector_ops / hardware.vector_ops_per_cycle;
  const int64_t dram =
      TransferCycles(compulsory, bandwidth.numerator, bandwidth.denominator);
  report->bound_latency_cycles = static_cast<uint64_t>(Max(compute, dram));
  double energy =
      static_cast<double>(compulsory) * 8 *
      Min(hardware.dram().read_pj_per_bit, hardware.dram().write_pj_per_bit);
  energy += static_cast<double>(macs) * hardware.mac_pj;
  energy += static_cast<double>(vector_ops) * hardware.vector_op_pj;
  energy +=
      static_cast<double>(report->bound_latency_cycles) * hardware.leakage_pj_per_cycle;
  report->bound_energy_pj = energy;
  report->spill_bytes = report->dram_read_bytes + report->dram_write_bytes -
                        static_cast<uint64_t>(compulsory);
}

}  // namespace

void FillReport(const Graph& graph, const Hardware& hardware, const Lowering& lowering,
                const Program& program, int64_t cycles, sluice_report_t* report) {
  const Counts c = CountProgram(program);
  const MemoryLevel& dram = hardware.dram();
  const MemoryLevel& pad = hardware.scratchpad();
  report->struct_size = sizeof *report;
  report->latency_cycles = static_cast<uint64_t>(cycles);
  report->dram_read_bytes = static_cast<uint64_t>(c.dram_read);
  report->dram_write_bytes = static_cast<uint64_t>(c.dram_write);
  report->peak_buffer_bytes = static_cast<uint64_t>(c.peak);
  report->macs = static_cast<uint64_t>(c.macs);
  report->vector_ops = static_cast<uint64_t>(c.vector_ops);
  report->energy_dram_pj =
      static_cast<double>(c.dram_read) * 8 * dram.read_pj_per_bit +
      static_cast<double>(c.dram_write) * 8 * dram.write_pj_per_bit;
  report->energy_scratchpad_pj =
      static_cast<double>(c.pad_read) * 8 * pad.read_pj_per_bit +
      static_cast<double>(c.pad_write) * 8 * pad.write_pj_per_bit;
  report->energy_compute_pj = static_cast<double>(c.macs) * hardware.mac_pj +
                              static_cast<double>(c.vector_ops) * hardware.vector_op_pj;
  report->energy_leakage_pj =
      static_cast<double>(cycles) * hardware.leakage_pj_per_cycle;
  report->energy_pj = report->energy_dram_pj + report->energy_scratchpad_pj +
                      report->energy_compute_pj + report->energy_leakage_pj;
  uint32_t layers = 0;
  for (uint32_t l = 0; l < graph.layers.size(); ++l) {
    layers += lowering.is_view[l] == 0 ? 1u : 0u;
  }
  report->layers = layers;
  report->tiles = static_cast<uint32_t>(program.tiles.size());
  report->instructions = static_cast<uint32_t>(program.steps.size());
  FillBounds(graph, hardware, report);
}

}  // namespace sluice
