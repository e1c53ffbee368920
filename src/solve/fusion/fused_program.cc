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

// `box` inside the dense `frame` at `offset`. The range is from its first byte to its
// last.
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

// A fused run on its way into a program.
struct FusedWriter {
  const FusionRun& run;
  const Lowering& lowering;
  const TileList& list;
  const DmaNotation& dma;
  const FusedBuffers& buffers;
  Span<const int64_t> offsets;
  Program* program;
  Span<uint32_t> due = {};     // by tile: transfers in DMA order that come before it
  Span<uint32_t> latest = {};  // by fusion layer: position of its latest tile
  Span<uint32_t> weights =
      {};  // by fusion layer: transfer of the slice in use or kNone
  Span<uint32_t> weights_after = {};  // by transfer of weights: next slice or kNone
  Span<uint32_t> last_load = {};      // by source: its last load or kNone
  Span<uint32_t> load_before = {};    // by load: previous load of its source or kNone
};

// due[p]: transfers (in DMA order) that must come before tile p. Also sets the latest
// position of each (layer, tile) and the loads by source.
Status Prepare(FusedWriter* self, Arena* scratch) {
  const size_t n = self->run.problem.layers.size();
  SLUICE_TRY(scratch->Allocate(self->list.tiles + 1, &self->due));
  SLUICE_TRY(scratch->Allocate(n, &self->latest));
  SLUICE_TRY(scratch->Allocate(n, &self->weights));
  SLUICE_TRY(scratch->Allocate(self->list.transfers, &self->weights_after));
  SLUICE_TRY(
      scratch->Allocate(n + self->run.problem.externals.size(), &self->last_load));
  SLUICE_TRY(scratch->Allocate(self->list.transfers, &self->load_before));
  for (uint32_t i = 0; i < self->list.transfers; ++i) {
    const uint32_t id = self->dma.order[i];
    const DramTensor& t = self->list.transfer[id];
    const int32_t at = t.kind == kStore ? self->dma.end[id] : t.use;
    self->due[static_cast<size_t>(at)] = Max(self->due[static_cast<size_t>(at)], i + 1);
  }
  for (uint32_t p = 1; p < self->list.tiles; ++p)
    self->due[p] = Max(self->due[p], self->due[p - 1]);
  for (uint32_t& l : self->last_load) l = kNone;
  for (uint32_t& l : self->latest) l = kNone;
  for (uint32_t& w : self->weights) w = kNone;
  for (uint32_t i = self->list.transfers; i-- > 0;) {
    const DramTensor& t = self->list.transfer[i];
    if (t.kind != kLoadWeight) continue;
    self->weights_after[i] = self->weights[t.layer];
    self->weights[t.layer] = i;
  }
  for (uint32_t i = 0; i < self->list.transfers; ++i) {
    const DramTensor& t = self->list.transfer[i];
    if (t.kind != kLoadInput) continue;
    self->load_before[i] = self->last_load[t.source];
    self->last_load[t.source] = i;
  }
  return Status::kOk;
}

Status AddTransfer(FusedWriter* self, StepKind kind, uint32_t layer,
                   const Transfer& transfer) {
  return self->program->AddTransfer(kind, layer, transfer);
}

uint32_t SourceTensor(const FusedWriter& self, const DramTensor& t) {
  const FusionLayer& l = self.run.problem.layers[t.layer];
  uint32_t edge = l.first_input;
  while (self.run.problem.inputs[edge].source != t.source) ++edge;
  return self.run.edge_source[edge];
}

// Stores to the ofmap's place, to the state it is appended to, or both.
Status WriteStore(FusedWriter* self, const DramTensor& t, const Box& box) {
  const uint32_t tensor = self->run.executed(t.layer).outputs[0];
  const uint32_t buffer = self->buffers.of_tile[static_cast<size_t>(t.use)];
  Transfer out = {};
  out.role = SLUICE_ROLE_OUTPUT;
  out.buffer = BoxInFrame(self->offsets[buffer], self->buffers.frame[buffer], box,
                          self->run.graph->tensors[tensor]);
  if (!StaysOnChip(self->run, self->buffers, t.layer)) {
    out.dram = TensorBox(tensor, self->lowering.places[tensor], box);
    SLUICE_TRY(AddTransfer(self, StepKind::kStore, self->run.layer[t.layer], out));
  }
  const uint32_t append = self->run.append[t.layer];
  if (append == kNone) return Status::kOk;
  const Layer& layer = self->run.graph->layers[append];
  const TensorPlace& place = self->lowering.places[layer.outputs[0]];
  out.dram = TensorBox(layer.outputs[0], place, box);
  out.dram.moves = true;
  out.dram.parameter = static_cast<uint32_t>(layer.attribute(SLUICE_APPEND_PARAMETER));
  out.dram.step = place.stride[layer.attribute(SLUICE_APPEND_AXIS)];
  return AddTransfer(self, StepKind::kStore, append, out);
}

Status WriteWeights(FusedWriter* self, uint32_t id) {
  const DramTensor& t = self->list.transfer[id];
  const TileOperands operands = OperandsOf(self->run.executed(t.layer));
  const CutBox& channels = self->list.transfer_box[id];
  const TileBoxes boxes =
      WeightBoxes(self->run, t.layer, channels.begin[3], channels.end[3]);
  uint32_t buffer = self->buffers.of_transfer[id];
  for (int r : kResident) {
    const uint32_t tensor = operands.tensor[r];
    if (tensor == kNone) continue;
    const Box& box = boxes.box[r];
    Transfer out = {};
    out.role = WireRole(r);
    out.dram = TensorBox(tensor, self->lowering.places[tensor], box);
    out.buffer =
        BoxInFrame(self->offsets[buffer++], box, box, self->run.graph->tensors[tensor]);
    SLUICE_TRY(AddTransfer(self, StepKind::kLoad, self->run.layer[t.layer], out));
  }
  return Status::kOk;
}

// Transfer `id`, written before tile p.
Status WriteTransfer(FusedWriter* self, uint32_t id, int32_t p) {
  const DramTensor& t = self->list.transfer[id];
  // Too early for its buffer, or for the tile it stores.
  if (t.kind == kStore ? t.use >= p : self->dma.start[id] > p)
    return Status::kInfeasible;
  if (t.kind == kLoadWeight) return WriteWeights(self, id);
  const Box box = ToBox(self->list.transfer_box[id]);
  if (t.kind == kStore) return WriteStore(self, t, box);
  Transfer out = {};
  out.role = SLUICE_ROLE_INPUT;
  const uint32_t tensor = SourceTensor(*self, t);
  out.buffer = BoxInFrame(self->offsets[self->buffers.of_transfer[id]], box, box,
                          self->run.graph->tensors[tensor]);
  out.dram = TensorBox(tensor, self->lowering.places[tensor], box);
  return AddTransfer(self, StepKind::kLoad, self->run.layer[t.layer], out);
}

// The load that holds `box` of the source when tile p runs.
uint32_t FindLoad(const FusedWriter& self, uint32_t source, const Box& box, int32_t p) {
  for (uint32_t i = self.last_load[source]; i != kNone; i = self.load_before[i]) {
    const DramTensor& t = self.list.transfer[i];
    if (t.use <= p && p < t.end && Contains(ToBox(self.list.transfer_box[i]), box)) {
      return i;
    }
  }
  return kNone;
}

// `box` of the tensor the edge reads, in a buffer that holds `frame` of its source.
Status Operand(const FusedWriter& self, uint32_t edge, int64_t offset, const Box& frame,
               const Box& box, BufferBox* out) {
  const Tensor& tensor = self.run.graph->tensors[self.run.edge_tensor[edge]];
  if (self.run.edge_tensor[edge] == self.run.edge_source[edge]) {
    *out = BoxInFrame(offset, frame, box, tensor);
    return Status::kOk;
  }
  // Whole entries of the first axis are the same bytes in the same order.
  const Tensor& source = self.run.graph->tensors[self.run.edge_source[edge]];
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

Status InputOperand(const FusedWriter& self, uint32_t edge, const Box& box, uint32_t p,
                    BufferBox* out) {
  const uint32_t source = self.run.problem.inputs[edge].source;
  const Box needed = SourceBox(self.run, edge, box);
  const uint32_t layer = self.list.layer[p];
  if (source < self.run.problem.layers.size() &&
      self.buffers.group_of[source] == self.buffers.group_of[layer]) {
    // Made on chip: the latest tile has a buffer of its own, or one buffer holds all
    // tiles.
    const uint32_t buffer = self.buffers.of_tile[self.latest[source]];
    if (!Contains(self.buffers.frame[buffer], needed)) return Status::kInfeasible;
    return Operand(self, edge, self.offsets[buffer], self.buffers.frame[buffer], box,
                   out);
  }
  const uint32_t load = FindLoad(self, source, needed, static_cast<int32_t>(p));
  if (load == kNone) return Status::kInfeasible;
  return Operand(self, edge, self.offsets[self.buffers.of_transfer[load]],
                 ToBox(self.list.transfer_box[load]), box, out);
}

void WeightOperands(FusedWriter* self, const TileOperands& operands, uint32_t layer,
                    uint32_t p, const TileBoxes& boxes, TileStep* tile) {
  if (self->weights[layer] == kNone) return;
  while (self->list.transfer[self->weights[layer]].end <= static_cast<int32_t>(p)) {
    self->weights[layer] = self->weights_after[self->weights[layer]];
  }
  uint32_t buffer = self->buffers.of_transfer[self->weights[layer]];
  // A tile may need fewer channels than the slice holds: the others are not read.
  const CutBox& channels = self->list.transfer_box[self->weights[layer]];
  const TileBoxes slice =
      WeightBoxes(self->run, layer, channels.begin[3], channels.end[3]);
  for (int r : kResident) {
    const uint32_t tensor = operands.tensor[r];
    if (tensor == kNone) continue;
    tile->present[r] = true;
    tile->operand[r] = BoxInFrame(self->offsets[buffer++], slice.box[r], boxes.box[r],
                                  self->run.graph->tensors[tensor]);
  }
}

Status WriteTile(FusedWriter* self, uint32_t p) {
  const uint32_t layer = self->list.layer[p];
  const Layer& executed = self->run.executed(layer);
  const int32_t channels = AccumulatedChannels(*self->run.graph, executed);
  const Box output = ToBox(self->list.box[p]);
  const TileBoxes t = BoxesOf(*self->run.graph, executed, output, 0, channels);
  const TileOperands operands = OperandsOf(executed);
  TileStep tile = {};
  WeightOperands(self, operands, layer, p, t, &tile);
  const FusionLayer& l = self->run.problem.layers[layer];
  for (uint32_t e = l.first_input; e < l.first_input + l.inputs; ++e) {
    const int r = self->run.role[e];
    tile.present[r] = true;
    SLUICE_TRY(InputOperand(*self, e, t.box[r], p, &tile.operand[r]));
  }
  const uint32_t buffer = self->buffers.of_tile[p];
  tile.present[kRoleOutput] = true;
  tile.operand[kRoleOutput] =
      BoxInFrame(self->offsets[buffer], self->buffers.frame[buffer], output,
                 self->run.graph->tensors[executed.outputs[0]]);
  tile.first = tile.last = true;
  tile.c_end = channels;
  for (int a = 0; a < kAxes; ++a) tile.origin[a] = output.begin[a];
  for (int i = 0; i < 4; ++i) tile.pad[i] = t.pad[i];
  tile.macs = t.macs;
  tile.vector_ops = t.vector_ops;
  const TileCost cost =
      DeclaredCost({self->run.coster, *self->run.hardware, *self->run.graph, executed,
                    self->run.layer[layer]},
                   t, TileSum{channels});
  tile.cycles = cost.cycles;
  tile.energy_pj = cost.energy_pj;
  tile.scratchpad_pj = cost.scratchpad_pj;
  self->latest[layer] = p;
  return self->program->AddTile(self->run.layer[layer], tile);
}

Status Write(FusedWriter* self, Arena* scratch) {
  SLUICE_TRY(Prepare(self, scratch));
  uint32_t issued = 0;
  for (uint32_t p = 0; p < self->list.tiles; ++p) {
    if (p == 0 ||
        self->buffers.position_groups[p] != self->buffers.position_groups[p - 1]) {
      SLUICE_TRY(self->program->BeginBlock());
    }
    for (; issued < self->due[p]; ++issued) {
      SLUICE_TRY(WriteTransfer(self, self->dma.order[issued], static_cast<int32_t>(p)));
    }
    SLUICE_TRY(WriteTile(self, p));
  }
  for (; issued < self->list.transfers; ++issued) {
    SLUICE_TRY(WriteTransfer(self, self->dma.order[issued],
                             static_cast<int32_t>(self->list.tiles)));
  }
  return Status::kOk;
}

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
                   const PlacedFusion& placed, Arena* scratch, Program* program) {
  ArenaScope scope(scratch);
  FusedWriter writer = {run,
                        lowering,
                        placed.fused.list,
                        placed.fused.dma,
                        placed.buffers,
                        placed.offsets,
                        program};
  return Write(&writer, scratch);
}

}  // namespace sluice
