// SPDX-License-Identifier: Apache-2.0
#include "model/report.h"

#include "base/checked.h"

namespace sluice {

namespace {

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
  double tile_scratchpad_pj = 0;  // of tiles that declare their energy
  double tile_compute_pj = 0;
  int64_t other_macs = 0;  // of tiles that do not
  int64_t other_vector_ops = 0;
};

void CountTransfer(const Program& program, const TransferForm& t, bool load,
                   Counts* c) {
  const BufferBox& buffer = program.box(t.buffer);
  const int64_t bytes = BoxBytes(buffer);
  (load ? c->dram_read : c->dram_write) += bytes;
  (load ? c->pad_write : c->pad_read) += bytes;
  c->peak = Max(c->peak, BoxEnd(buffer));
  if (t.index != kNoBox) c->pad_read += BoxBytes(program.box(t.index));
}

void CountTile(const Program& program, const TileForm& t, Counts* c) {
  const bool declared = t.energy_pj() > 0;
  for (int r = 0; r < kTileRoles; ++r) {
    if (t.operand[r] == kNoBox) continue;
    const BufferBox& box = program.box(t.operand[r]);
    if (!declared) (r == kRoleOutput ? c->pad_write : c->pad_read) += BoxBytes(box);
    c->peak = Max(c->peak, BoxEnd(box));
  }
  if (t.accumulator != kNoBox) {
    const BufferBox& box = program.box(t.accumulator);
    if (t.first == 0) c->pad_read += BoxBytes(box);
    if (t.last == 0 && !declared) c->pad_write += BoxBytes(box);
    c->peak = Max(c->peak, BoxEnd(box));
  }
  c->macs += t.macs;
  c->vector_ops += t.vector_ops;
  if (declared) {
    c->tile_scratchpad_pj += t.scratchpad_pj();
    c->tile_compute_pj += t.energy_pj() - t.scratchpad_pj();
  } else {
    c->other_macs += t.macs;
    c->other_vector_ops += t.vector_ops;
  }
}

Counts CountProgram(const Program& program) {
  Counts c;
  for (size_t i = 0; i < program.size(); ++i) {
    const Step step = program.step(i);
    if (step.kind == StepKind::kLoad || step.kind == StepKind::kStore) {
      CountTransfer(program, program.transfer_form(step.item),
                    step.kind == StepKind::kLoad, &c);
    } else if (step.kind == StepKind::kCompute) {
      CountTile(program, program.tile_form(step.item), &c);
    }
  }
  return c;
}

// True when the windows along an axis leave no input row out.
bool CoversAxis(const Window& w, int64_t in, int64_t out) {
  const int64_t window = int64_t{w.filter - 1} * w.dilation + 1;
  const bool dense = w.dilation == 1 || w.filter == 1
                         ? w.stride <= window
                         : w.stride == 1 && out >= w.dilation;
  return dense && (out - 1) * w.stride - w.pad_before + window >= in;
}

// True when every element of that input is needed for the whole output.
bool ReadsWhole(const Graph& graph, const Layer& layer, size_t input) {
  switch (layer.op) {
    case SLUICE_OP_SLICE:
    case SLUICE_OP_RESIZE_BILINEAR:
    case SLUICE_OP_RESIZE_NEAREST:
    case SLUICE_OP_TRANSPOSED_CONV:
      return false;
    case SLUICE_OP_STATE_APPEND:  // the rows stay in the state
    case SLUICE_OP_GATHER:
      return input == 1;
    case SLUICE_OP_CONV:
    case SLUICE_OP_DEPTHWISE_CONV:
    case SLUICE_OP_MAX_POOL:
    case SLUICE_OP_AVERAGE_POOL:
      break;
    default:
      return true;
  }
  if (input != 0) return true;
  const Tensor& in = graph.tensors[layer.inputs[0]];
  const Tensor& out = graph.tensors[layer.outputs[0]];
  return CoversAxis(WindowOf(graph, layer, 1), in.extent[1], out.extent[1]) &&
         CoversAxis(WindowOf(graph, layer, 2), in.extent[2], out.extent[2]);
}

// What every plan must do with a tensor. The host reads and writes DRAM by itself, so
// what only it touches is never moved.
enum : uint8_t {
  kWhole = 1,     // an output depends on each element
  kMoved = 2,     // each element is read by the DMA, or written for an output
  kHostMade = 4,  // written by the host, or a part of it is
};

bool IsOutputOrState(const Tensor& t) {
  return t.kind == TensorKind::kOutput || t.kind == TensorKind::kState;
}

bool IsNeededWhole(const Graph& graph, const Layer& layer, Span<const uint8_t> needs) {
  for (uint32_t t : layer.outputs) {
    if (IsOutputOrState(graph.tensors[t]) || (needs[t] & kWhole) != 0) return true;
  }
  return false;
}

// True when what the layer reads passes through the DMA: a copy may be a view, unless
// what it makes has to be moved itself.
bool MovesInputs(const Graph& graph, const Layer& layer, Span<const uint8_t> needs) {
  const LayerKind kind = KindOf(layer.op);
  if (kind != LayerKind::kCopy) return kind != LayerKind::kHost;
  const uint32_t out = layer.outputs[0];
  return IsOutputOrState(graph.tensors[out]) || (needs[out] & kMoved) != 0;
}

Status FindNeeds(const Graph& graph, Arena* scratch, Span<uint8_t>* needs) {
  SLUICE_TRY(scratch->Allocate(graph.tensors.size(), needs));
  for (size_t l = graph.layers.size(); l-- > 0;) {
    const Layer& layer = graph.layers[l];
    if (!IsNeededWhole(graph, layer, *needs)) continue;
    const bool moves = MovesInputs(graph, layer, *needs);
    for (size_t i = 0; i < layer.inputs.size(); ++i) {
      if (layer.inputs[i] == kNone || !ReadsWhole(graph, layer, i)) continue;
      (*needs)[layer.inputs[i]] |= static_cast<uint8_t>(kWhole | (moves ? kMoved : 0));
    }
  }
  for (const Layer& layer : graph.layers) {
    const LayerKind kind = KindOf(layer.op);
    bool host = kind == LayerKind::kHost;
    for (uint32_t t : layer.inputs) {
      host = host || (kind == LayerKind::kCopy && ((*needs)[t] & kHostMade) != 0);
    }
    for (uint32_t t : layer.outputs) {
      if (host) (*needs)[t] |= kHostMade;
    }
  }
  return Status::kOk;
}

// DRAM bytes every plan must move: inputs, constants and states that are needed whole,
// outputs and appended rows once. Rows that a run appends itself may never be loaded.
int64_t CompulsoryBytes(const Graph& graph, Span<const uint8_t> needs) {
  int64_t bytes = 0;
  for (uint32_t t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    const bool given =
        tensor.kind == TensorKind::kInput || tensor.kind == TensorKind::kConstant;
    if ((tensor.kind == TensorKind::kOutput && (needs[t] & kHostMade) == 0) ||
        ((given || tensor.kind == TensorKind::kState) && (needs[t] & kMoved) != 0)) {
      bytes += tensor.bytes;
    }
  }
  for (const Layer& layer : graph.layers) {
    if (layer.op != SLUICE_OP_STATE_APPEND) continue;
    const bool loaded = (needs[layer.inputs[0]] & kMoved) != 0;
    if (!loaded) bytes += graph.tensors[layer.inputs[1]].bytes;
  }
  return bytes;
}

void FillBounds(const Graph& graph, const Hardware& hardware, Span<const uint8_t> whole,
                sluice_report_t* report) {
  int64_t macs = 0;
  int64_t vector_ops = 0;
  for (uint32_t l = 0; l < graph.layers.size(); ++l) {
    const Layer& layer = graph.layers[l];
    if (KindOf(layer.op) != LayerKind::kCompute || layer.op == SLUICE_OP_PAD ||
        !IsNeededWhole(graph, layer, whole)) {
      continue;
    }
    const TileBoxes boxes =
        BoxesOf(graph, layer, WholeBox(graph.tensors[layer.outputs[0]]), 0,
                AccumulatedChannels(graph, layer));
    macs += boxes.macs;
    vector_ops += boxes.vector_ops;
  }
  const int64_t compulsory = CompulsoryBytes(graph, whole);
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

void FillCosts(const Hardware& hardware, const Program& program, int64_t cycles,
               sluice_report_t* report) {
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
      static_cast<double>(c.pad_write) * 8 * pad.write_pj_per_bit +
      c.tile_scratchpad_pj;
  report->energy_compute_pj =
      static_cast<double>(c.other_macs) * hardware.mac_pj +
      static_cast<double>(c.other_vector_ops) * hardware.vector_op_pj +
      c.tile_compute_pj;
  report->energy_leakage_pj =
      static_cast<double>(cycles) * hardware.leakage_pj_per_cycle;
  report->energy_pj = report->energy_dram_pj + report->energy_scratchpad_pj +
                      report->energy_compute_pj + report->energy_leakage_pj;
}

Status FillReport(const Graph& graph, const Hardware& hardware,
                  const Lowering& lowering, const Program& program, int64_t cycles,
                  Arena* scratch, sluice_report_t* report) {
  ArenaScope scope(scratch);
  Span<uint8_t> whole;
  SLUICE_TRY(FindNeeds(graph, scratch, &whole));
  FillCosts(hardware, program, cycles, report);
  uint32_t layers = 0;
  for (uint32_t l = 0; l < graph.layers.size(); ++l) {
    layers += lowering.is_view[l] == 0 ? 1u : 0u;
  }
  report->layers = layers;
  report->tiles = static_cast<uint32_t>(program.tile_count());
  report->instructions = static_cast<uint32_t>(program.size());
  FillBounds(graph, hardware, whole, report);
  return Status::kOk;
}

}  // namespace sluice
