// SPDX-License-Identifier: Apache-2.0
#include "solve/fusion/fused_program.h"

#include "base/checked.h"
#include "model/tile_cycles.h"

namespace sluice {
namespace {

// Roles that are loaded once per group, in this order.
constexpr int kResident[] = {kRoleParameters, kRoleWeight};

// Element strides of a dense box.
void FrameStrides(const Box& frame, uint32_t element_bytes, uint32_t stride[kAxes]) {
  uint32_t step = element_bytes;
  for (int a = kAxes - 1; a >= 0; --a) {
    stride[a] = step;
    step *= static_cast<uint32_t>(frame.extent[a]);
  }
}

// `box` inside the dense `frame` at `offset`; its range is what it spans.
BufferBox BoxInFrame(int64_t offset, const Box& frame, const Box& box,
                     const Tensor& tensor) {
  BufferBox out = {};
  uint32_t stride[kAxes];
  FrameStrides(frame, tensor.element_bytes, stride);
  int64_t begin = offset;
  int64_t last = 0;
  for (int a = 0; a < kAxes; ++a) {
    begin += int64_t{box.begin[a] - frame.begin[a]} * stride[a];
    last += int64_t{box.extent[a] - 1} * stride[a];
    out.extent[a] = box.extent[a];
    out.stride[a] = stride[a];
  }
  out.offset = static_cast<uint32_t>(begin);
  out.range = BufferRange{static_cast<uint32_t>(begin),
                          static_cast<uint32_t>(begin + last + tensor.element_bytes)};
  out.dtype = tensor.dtype;
  return out;
}

bool Contains(const Box& outer, const Box& inner) {
  for (int a = 0; a < kAxes; ++a) {
    if (inner.begin[a] < outer.begin[a] ||
        inner.begin[a] + inner.extent[a] > outer.begin[a] + outer.extent[a]) {
      return false;
    }
  }
  return true;
}

void FindGroups(const GroupNotation& notation, FusedBuffers* out) {
  uint32_t group = 0;
  uint32_t fine = 0;
  for (size_t i = 0; i < notation.order.size(); ++i) {
    if (i != 0 && notation.cut[i] == kCutDram) ++group;
    if (i != 0 && notation.cut[i] != kCutNone) ++fine;
    out->group_of[notation.order[i]] = group;
    out->fine_group_of[notation.order[i]] = fine;
  }
}

// True when a later fine-grained group of the same fusion group reads the layer.
bool IsWhole(const FusionRun& run, const FusedBuffers& b, uint32_t layer) {
  const FusionLayer& l = run.problem.layers[layer];
  for (uint32_t c = l.first_consumer; c < l.first_consumer + l.consumers; ++c) {
    const uint32_t reader = run.problem.consumers[c];
    if (b.group_of[reader] == b.group_of[layer] &&
        b.fine_group_of[reader] != b.fine_group_of[layer]) {
      return true;
    }
  }
  return false;
}

// Collects the buffers.
class Collector {
 public:
  Collector(const FusionRun& run, const FusionResult& fused, FusedBuffers* out)
      : run_(run),
        list_(fused.list),
        dma_(fused.dma),
        alignment_(run.hardware->scratchpad().alignment_bytes),
        out_(out) {}

  void Loads() {
    for (uint32_t i = 0; i < list_.transfers; ++i) {
      const DramTensor& t = list_.transfer[i];
      out_->of_transfer[i] = kNone;
      if (t.kind == kStore) continue;
      out_->of_transfer[i] = count_;
      if (t.kind == kLoadInput) {
        Push(dma_.start[i], dma_.end[i], t.bytes, SourceBytes(t.source));
        continue;
      }
      const TileOperands operands = OperandsOf(run_.executed(t.layer));
      const CutBox& channels = list_.transfer_box[i];
      const TileBoxes boxes =
          WeightBoxes(run_, t.layer, channels.begin[3], channels.end[3]);
      for (int r : kResident) {
        const uint32_t tensor = operands.tensor[r];
        if (tensor == kNone) continue;
        const uint32_t element_bytes = run_.graph->tensors[tensor].element_bytes;
        Push(dma_.start[i], dma_.end[i], boxes.box[r].elements() * element_bytes,
             element_bytes);
      }
    }
  }

  void Tiles(Span<uint32_t> whole) {
    for (uint32_t& w : whole) w = kNone;
    for (uint32_t p = 0; p < list_.tiles; ++p) {
      const uint32_t layer = list_.layer[p];
      int32_t end = list_.ofmap_end[p];
      if (list_.store[p] != kNone) end = Max(end, dma_.end[list_.store[p]]);
      if (whole[layer] == kNone) {
        const bool is_whole = IsWhole(run_, *out_, layer);
        const Tensor& tensor = run_.graph->tensors[run_.executed(layer).outputs[0]];
        const Box frame = is_whole ? WholeBox(tensor) : ToBox(list_.box[p]);
        out_->frame[count_] = frame;
        if (is_whole) whole[layer] = count_;
        out_->of_tile[p] = count_;
        Push(static_cast<int32_t>(p), end, frame.elements() * tensor.element_bytes,
             tensor.element_bytes);
      } else {
        out_->of_tile[p] = whole[layer];
        LiveRange* range = &out_->ranges[whole[layer]];
        range->end = Max(range->end, int64_t{end} + 1);
      }
      out_->position_groups[p] = out_->group_of[layer];
    }
  }
  uint32_t count() const { return count_; }

 private:
  uint32_t SourceBytes(uint32_t source) const {
    const size_t n = run_.problem.layers.size();
    return source < n ? run_.problem.layers[source].element_bytes
                      : run_.problem.externals[source - n].element_bytes;
  }

  // A buffer is aligned as the scratchpad asks, and to its elements at least.
  void Push(int32_t begin, int32_t end, int64_t bytes, uint32_t element_bytes) {
    const int64_t alignment = Max(alignment_, int64_t{element_bytes});
    LiveRange* range = &out_->ranges[count_++];
    *range = LiveRange{};
    range->begin = int64_t{begin} + 1;
    range->end = int64_t{end} + 1;
    range->bytes = RoundUpTo(bytes, alignment);
    range->alignment = alignment;
  }

  const FusionRun& run_;
  const TileList& list_;
  const DmaNotation& dma_;
  int64_t alignment_;
  FusedBuffers* out_;
  uint32_t count_ = 0;
};

class Writer {
 public:
  Writer(const FusionRun& run, const Lowering& lowering, const FusionResult& fused,
         const FusedBuffers& buffers, Span<const int64_t> offsets, Program* program)
      : run_(run),
        lowering_(lowering),
        list_(fused.list),
        dma_(fused.dma),
        b_(buffers),
        offsets_(offsets),
        program_(program) {}

  Status Write(Arena* scratch) {
    SLUICE_TRY(Prepare(scratch));
    uint32_t issued = 0;
    for (uint32_t p = 0; p < list_.tiles; ++p) {
      if (p == 0 || b_.position_groups[p] != b_.position_groups[p - 1]) {
        SLUICE_TRY(program_->BeginBlock());
      }
      for (; issued < due_[p]; ++issued) {
        SLUICE_TRY(WriteTransfer(dma_.order[issued], static_cast<int32_t>(p)));
      }
      SLUICE_TRY(WriteTile(p));
    }
    for (; issued < list_.transfers; ++issued) {
      SLUICE_TRY(WriteTransfer(dma_.order[issued], static_cast<int32_t>(list_.tiles)));
    }
    return Status::kOk;
  }

 private:
  // due_[p]: transfers (in DMA order) that must stand before tile p. Latest position
  // of each (layer, tile), loads by source.
  Status Prepare(Arena* scratch) {
    const size_t n = run_.problem.layers.size();
    SLUICE_TRY(scratch->Allocate(list_.tiles + 1, &due_));
    SLUICE_TRY(scratch->Allocate(n, &latest_));
    SLUICE_TRY(scratch->Allocate(n, &weights_));
    SLUICE_TRY(scratch->Allocate(list_.transfers, &weights_after_));
    SLUICE_TRY(scratch->Allocate(n + run_.problem.externals.size(), &last_load_));
    SLUICE_TRY(scratch->Allocate(list_.transfers, &load_before_));
    for (uint32_t i = 0; i < list_.transfers; ++i) {
      const uint32_t id = dma_.order[i];
      const DramTensor& t = list_.transfer[id];
      const int32_t at = t.kind == kStore ? dma_.end[id] : t.use;
      due_[static_cast<size_t>(at)] = Max(due_[static_cast<size_t>(at)], i + 1);
    }
    for (uint32_t p = 1; p < list_.tiles; ++p) due_[p] = Max(due_[p], due_[p - 1]);
    for (uint32_t& l : last_load_) l = kNone;
    for (uint32_t& l : latest_) l = kNone;
    for (uint32_t& w : weights_) w = kNone;
    for (uint32_t i = list_.transfers; i-- > 0;) {
      const DramTensor& t = list_.transfer[i];
      if (t.kind != kLoadWeight) continue;
      weights_after_[i] = weights_[t.layer];
      weights_[t.layer] = i;
    }
    for (uint32_t i = 0; i < list_.transfers; ++i) {
      const DramTensor& t = list_.transfer[i];
      if (t.kind != kLoadInput) continue;
      load_before_[i] = last_load_[t.source];
      last_load_[t.source] = i;
    }
    return Status::kOk;
  }

  Status Push(StepKind kind, uint32_t layer, const Transfer& transfer) {
    return program_->AddTransfer(kind, layer, transfer);
  }

  // Transfer `id`, written before tile p.
  Status WriteTransfer(uint32_t id, int32_t p) {
    const DramTensor& t = list_.transfer[id];
    // Too early for its buffer, or for the tile it stores.
    if (t.kind == kStore ? t.use >= p : dma_.start[id] > p) return Status::kInfeasible;
    if (t.kind == kLoadWeight) return WriteWeights(id);
    const Box box = ToBox(list_.transfer_box[id]);
    if (t.kind == kStore) return WriteStore(t, box);
    Transfer out = {};
    const uint32_t tensor = SourceTensor(t);
    out.buffer =
        BoxInFrame(offsets_[b_.of_transfer[id]], box, box, run_.graph->tensors[tensor]);
    out.dram = TensorBox(tensor, lowering_.places[tensor], box);
    return Push(StepKind::kLoad, run_.layer[t.layer], out);
  }

  // To the ofmap's place, to the state it is appended to, or both.
  Status WriteStore(const DramTensor& t, const Box& box) {
    const uint32_t tensor = run_.executed(t.layer).outputs[0];
    const uint32_t buffer = b_.of_tile[static_cast<size_t>(t.use)];
    Transfer out = {};
    out.buffer = BoxInFrame(offsets_[buffer], b_.frame[buffer], box,
                            run_.graph->tensors[tensor]);
    if (!StaysOnChip(run_, b_, t.layer)) {
      out.dram = TensorBox(tensor, lowering_.places[tensor], box);
      SLUICE_TRY(Push(StepKind::kStore, run_.layer[t.layer], out));
    }
    const uint32_t append = run_.append[t.layer];
    if (append == kNone) return Status::kOk;
    const Layer& layer = run_.graph->layers[append];
    const TensorPlace& place = lowering_.places[layer.outputs[0]];
    out.dram = TensorBox(layer.outputs[0], place, box);
    out.dram.moves = true;
    out.dram.parameter =
        static_cast<uint32_t>(layer.attribute(SLUICE_APPEND_PARAMETER));
    out.dram.step = place.stride[layer.attribute(SLUICE_APPEND_AXIS)];
    return Push(StepKind::kStore, append, out);
  }

  uint32_t SourceTensor(const DramTensor& t) const {
    const FusionLayer& l = run_.problem.layers[t.layer];
    uint32_t edge = l.first_input;
    while (run_.problem.inputs[edge].source != t.source) ++edge;
    return run_.edge_source[edge];
  }

  Status WriteWeights(uint32_t id) {
    const DramTensor& t = list_.transfer[id];
    const TileOperands operands = OperandsOf(run_.executed(t.layer));
    const CutBox& channels = list_.transfer_box[id];
    const TileBoxes boxes =
        WeightBoxes(run_, t.layer, channels.begin[3], channels.end[3]);
    uint32_t buffer = b_.of_transfer[id];
    for (int r : kResident) {
      const uint32_t tensor = operands.tensor[r];
      if (tensor == kNone) continue;
      const Box& box = boxes.box[r];
      Transfer out = {};
      out.dram = TensorBox(tensor, lowering_.places[tensor], box);
      out.buffer =
          BoxInFrame(offsets_[buffer++], box, box, run_.graph->tensors[tensor]);
      SLUICE_TRY(Push(StepKind::kLoad, run_.layer[t.layer], out));
    }
    return Status::kOk;
  }

  // The load that holds `box` of the source when tile p runs.
  uint32_t FindLoad(uint32_t source, const Box& box, int32_t p) const {
    for (uint32_t i = last_load_[source]; i != kNone; i = load_before_[i]) {
      const DramTensor& t = list_.transfer[i];
      if (t.use <= p && p < t.end && Contains(ToBox(list_.transfer_box[i]), box)) {
        return i;
      }
    }
    return kNone;
  }

  Status InputOperand(uint32_t edge, const Box& box, uint32_t p, BufferBox* out) const {
    const uint32_t source = run_.problem.inputs[edge].source;
    const Box needed = SourceBox(run_, edge, box);
    const uint32_t layer = list_.layer[p];
    if (source < run_.problem.layers.size() &&
        b_.group_of[source] == b_.group_of[layer]) {
      // Made on chip: by this tile's neighbour, or all tiles in one buffer.
      const uint32_t buffer = b_.of_tile[latest_[source]];
      if (!Contains(b_.frame[buffer], needed)) return Status::kInfeasible;
      return Operand(edge, offsets_[buffer], b_.frame[buffer], box, out);
    }
    const uint32_t load = FindLoad(source, needed, static_cast<int32_t>(p));
    if (load == kNone) return Status::kInfeasible;
    return Operand(edge, offsets_[b_.of_transfer[load]],
                   ToBox(list_.transfer_box[load]), box, out);
  }

  // `box` of the tensor the edge reads, in a buffer that holds `frame` of its source.
  Status Operand(uint32_t edge, int64_t offset, const Box& frame, const Box& box,
                 BufferBox* out) const {
    const Tensor& tensor = run_.graph->tensors[run_.edge_tensor[edge]];
    if (run_.edge_tensor[edge] == run_.edge_source[edge]) {
      *out = BoxInFrame(offset, frame, box, tensor);
      return Status::kOk;
    }
    // Whole entries of the first axis: the same bytes in the same order.
    const Tensor& source = run_.graph->tensors[run_.edge_source[edge]];
    Box same = WholeBox(tensor);
    for (int a = 1; a < kAxes; ++a) {
      if (frame.extent[a] != source.extent[a]) return Status::kInfeasible;
    }
    if (tensor.extent[0] == source.extent[0]) {
      same.begin[0] = frame.begin[0];
      same.extent[0] = frame.extent[0];
    } else if (frame.extent[0] != source.extent[0]) {
      return Status::kInfeasible;
    }
    *out = BoxInFrame(offset, same, box, tensor);
    return Status::kOk;
  }

  void WeightOperands(const TileOperands& operands, uint32_t layer, uint32_t p,
                      const TileBoxes& boxes, TileStep* tile) {
    if (weights_[layer] == kNone) return;
    while (list_.transfer[weights_[layer]].end <= static_cast<int32_t>(p)) {
      weights_[layer] = weights_after_[weights_[layer]];
    }
    uint32_t buffer = b_.of_transfer[weights_[layer]];
    // A tile may need fewer channels than the slice holds: nobody reads the others.
    const CutBox& channels = list_.transfer_box[weights_[layer]];
    const TileBoxes slice =
        WeightBoxes(run_, layer, channels.begin[3], channels.end[3]);
    for (int r : kResident) {
      const uint32_t tensor = operands.tensor[r];
      if (tensor == kNone) continue;
      tile->present[r] = true;
      tile->operand[r] = BoxInFrame(offsets_[buffer++], slice.box[r], boxes.box[r],
                                    run_.graph->tensors[tensor]);
    }
  }

  Status WriteTile(uint32_t p) {
    const uint32_t layer = list_.layer[p];
    const Layer& executed = run_.executed(layer);
    const int32_t channels = AccumulatedChannels(*run_.graph, executed);
    const Box output = ToBox(list_.box[p]);
    const TileBoxes t = BoxesOf(*run_.graph, executed, output, 0, channels);
    const TileOperands operands = OperandsOf(executed);
    TileStep tile = {};
    WeightOperands(operands, layer, p, t, &tile);
    const FusionLayer& l = run_.problem.layers[layer];
    for (uint32_t e = l.first_input; e < l.first_input + l.inputs; ++e) {
      const int r = run_.role[e];
      tile.present[r] = true;
      SLUICE_TRY(InputOperand(e, t.box[r], p, &tile.operand[r]));
    }
    const uint32_t buffer = b_.of_tile[p];
    tile.present[kRoleOutput] = true;
    tile.operand[kRoleOutput] = BoxInFrame(offsets_[buffer], b_.frame[buffer], output,
                                           run_.graph->tensors[executed.outputs[0]]);
    tile.first = tile.last = true;
    tile.c_end = channels;
    for (int a = 0; a < kAxes; ++a) tile.origin[a] = output.begin[a];
    for (int i = 0; i < 4; ++i) tile.pad[i] = t.pad[i];
    tile.macs = t.macs;
    tile.vector_ops = t.vector_ops;
    const TileCost cost =
        DeclaredCost(run_.coster, *run_.hardware, run_.layer[layer], t, channels);
    tile.cycles = cost.cycles;
    tile.energy_pj = cost.energy_pj;
    tile.scratchpad_pj = cost.scratchpad_pj;
    latest_[layer] = p;
    return program_->AddTile(run_.layer[layer], tile);
  }

  const FusionRun& run_;
  const Lowering& lowering_;
  const TileList& list_;
  const DmaNotation& dma_;
  const FusedBuffers& b_;
  Span<const int64_t> offsets_;
  Program* program_;
  Span<uint32_t> due_;
  Span<uint32_t> latest_;   // by fusion layer: position of its tile made last
  Span<uint32_t> weights_;  // by fusion layer: transfer of the slice in use or kNone
  Span<uint32_t> weights_after_;  // by transfer: of the next slice or kNone
  Span<uint32_t> last_load_;
  Span<uint32_t> load_before_;
};

}  // namespace

Status BuffersOfFused(const FusionRun& run, const FusionResult& fused, Arena* arena,
                      FusedBuffers* out) {
  const TileList& list = fused.list;
  const size_t n = run.problem.layers.size();
  const size_t most = 2 * size_t{list.transfers} + list.tiles;
  SLUICE_TRY(arena->Allocate(most, &out->ranges));
  SLUICE_TRY(arena->Allocate(most, &out->frame));
  SLUICE_TRY(arena->Allocate(list.transfers, &out->of_transfer));
  SLUICE_TRY(arena->Allocate(list.tiles, &out->of_tile));
  SLUICE_TRY(arena->Allocate(list.tiles, &out->position_groups));
  SLUICE_TRY(arena->Allocate(n, &out->group_of));
  SLUICE_TRY(arena->Allocate(n, &out->fine_group_of));
  Span<uint32_t> whole;
  SLUICE_TRY(arena->Allocate(n, &whole));
  FindGroups(fused.notation, out);
  Collector collector(run, fused, out);
  collector.Loads();
  collector.Tiles(whole);
  out->ranges = out->ranges.Slice(0, collector.count());
  return Status::kOk;
}

bool StaysOnChip(const FusionRun& run, const FusedBuffers& b, uint32_t layer) {
  const FusionLayer& l = run.problem.layers[layer];
  if (run.in_dram[layer] != 0) return false;
  if (l.consumers == 0 && run.append[layer] == kNone) return false;
  for (uint32_t c = l.first_consumer; c < l.first_consumer + l.consumers; ++c) {
    if (b.group_of[run.problem.consumers[c]] != b.group_of[layer]) return false;
  }
  return true;
}

Status AppendFused(const FusionRun& run, const Lowering& lowering,
                   const FusionResult& fused, const FusedBuffers& buffers,
                   Span<const int64_t> offsets, Arena* scratch, Program* program) {
  ArenaScope scope(scratch);
  return Writer(run, lowering, fused, buffers, offsets, program).Write(scratch);
}

}  // namespace sluice
