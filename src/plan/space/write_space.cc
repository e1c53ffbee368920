// SPDX-License-Identifier: Apache-2.0
#include "plan/space/write_space.h"

#include "base/checked.h"
#include "model/tile_cycles.h"
#include "solve/baseline/layer_by_layer.h"
#include "solve/space/boxes.h"

namespace sluice {
namespace {

// What an image holds now.
struct Frame {
  Box box;  // of the root; extent[0] 0: nothing
  uint8_t turn;
  bool pending;  // its load waits for the first tile that reads it
};

// Fills in a box whose strides are set; `at`: its first byte.
void FinishBox(int64_t at, const Box& box, const Tensor& root, BufferBox* out) {
  out->offset = static_cast<uint32_t>(at);
  int64_t last = at;
  for (int a = 0; a < kAxes; ++a) {
    out->extent[a] = box.extent[a];
    last += int64_t{box.extent[a] - 1} * out->stride[a];
  }
  out->range = {out->offset, static_cast<uint32_t>(last) + root.element_bytes};
  out->dtype = root.dtype;
}

// The first layer of a segment that reads a root, and as what.
struct Reader {
  uint32_t layer;
  uint8_t role;  // SLUICE_ROLE_
};

Reader ReaderOf(const SpacePlan& plan, const Lowering& lowering, uint32_t segment,
                uint32_t root) {
  const SpaceSegment& s = plan.segments[segment];
  for (uint32_t p = s.first; p < s.last; ++p) {
    const uint32_t layer = plan.layers[p].layer;
    const TileOperands operands = OperandsOf(lowering.executed[layer]);
    for (int r = 0; r < kRoleOutput; ++r) {
      if (operands.tensor[r] == kNone) continue;
      if (RootOf(lowering, operands.tensor[r]) == root) return {layer, WireRole(r)};
    }
  }
  return {plan.layers[s.first].layer, SLUICE_ROLE_INPUT};
}

uint32_t ImagesEnd(const SpacePlan& plan, uint32_t s) {
  return s + 1 < plan.segments.size() ? plan.segments[s + 1].images_begin
                                      : static_cast<uint32_t>(plan.images.size());
}

// The positions that make parts of each root.
struct Makers {
  Span<uint32_t> first;  // by root, or kNone
  Span<uint32_t> next;   // by position: the next of the same root

  Status Init(const SpaceSetting& set, const SpacePlan& plan, Arena* scratch) {
    SLUICE_TRY(scratch->Allocate(set.graph.tensors.size(), &first));
    SLUICE_TRY(scratch->Allocate(plan.layers.size(), &next));
    for (uint32_t& position : first) position = kNone;
    for (uint32_t p = static_cast<uint32_t>(plan.layers.size()); p-- > 0;) {
      const uint32_t out = set.lowering.executed[plan.layers[p].layer].outputs[0];
      if (set.graph.tensors[out].kind == TensorKind::kState) continue;
      uint32_t* head = &first[RootOf(set.lowering, out)];
      next[p] = *head;
      *head = p;
    }
    return Status::kOk;
  }

  // True if a layer at position `from` or later makes a part of the root.
  bool AnyFrom(uint32_t root, uint32_t from) const {
    for (uint32_t p = first[root]; p != kNone; p = next[p]) {
      if (p >= from) return true;
    }
    return false;
  }
};

// Whether nothing else may overwrite the image's frame within an iteration: all layers
// of the segment have its bytes.
bool Stays(const SpaceImage& image, const SpaceSegment& segment) {
  return image.first <= segment.first && image.last + 1 >= segment.last;
}

// The images that hold their roots now.
class Present {
 public:
  Status Init(size_t tensors, size_t images, Arena* scratch) {
    SLUICE_TRY(scratch->Allocate(tensors, &image_of_));
    SLUICE_TRY(scratch->Allocate(tensors, &sum_of_));
    SLUICE_TRY(scratch->Allocate(images, &open_));
    for (uint32_t& image : image_of_) image = kNone;
    for (uint32_t& image : sum_of_) image = kNone;
    return Status::kOk;
  }
  void Add(const SpaceImage& image, uint32_t i) {
    *Of(image) = i;
    open_[opened_++] = i;
  }
  uint32_t image_of(uint32_t root) const { return image_of_[root]; }
  uint32_t sum_of(uint32_t output) const { return sum_of_[output]; }

  // Takes images out whose last position is before `position`: writes their numbers, in
  // order, to the front of the returned list.
  Span<const uint32_t> End(const SpacePlan& plan, uint32_t position,
                           Span<uint32_t> ended) {
    uint32_t left = 0, n = 0;
    for (uint32_t k = 0; k < opened_; ++k) {
      const SpaceImage& image = plan.images[open_[k]];
      if (*Of(image) != open_[k]) continue;  // another one holds its root
      if (image.last >= position) {
        open_[left++] = open_[k];
        continue;
      }
      ended[n++] = open_[k];
      *Of(image) = kNone;
    }
    opened_ = left;
    return ended.Slice(0, n);
  }

 private:
  uint32_t* Of(const SpaceImage& image) {
    return &(image.sum ? sum_of_ : image_of_)[image.root];
  }

  Span<uint32_t> image_of_;  // by root: the image that holds it now
  Span<uint32_t> sum_of_;    // by output
  Span<uint32_t> open_;      // in order; some are held by others by now
  uint32_t opened_ = 0;
};

// The images of a plan while it is written: what each holds, and the transfers that
// fill and empty them.
class Frames {
 public:
  Frames(const SpaceSetting& setting, const SpacePlan& plan, const RootMap& roots,
         Program* program)
      : set_(setting),
        roots_(roots),
        graph_(setting.graph),
        lowering_(setting.lowering),
        plan_(plan),
        program_(program) {}

  Status Init(Arena* scratch) {
    SLUICE_TRY(present_.Init(graph_.tensors.size(), plan_.images.size(), scratch));
    SLUICE_TRY(scratch->Allocate(plan_.images.size(), &frame_));
    SLUICE_TRY(scratch->Allocate(plan_.images.size(), &ended_));
    SLUICE_TRY(scratch->Allocate(graph_.tensors.size(), &axes_));
    for (uint32_t t = 0; t < axes_.size(); ++t) {
      axes_[t] = FindRootAxes(roots_, t);
    }
    return makers_.Init(set_, plan_, scratch);
  }

  const Layer& LayerAt(uint32_t position) const {
    return lowering_.executed[plan_.layers[position].layer];
  }
  // The image that holds a tensor now, or kNone.
  uint32_t ImageOf(uint32_t tensor) const {
    return present_.image_of(RootOf(lowering_, tensor));
  }

  // Makes the images of a segment the present images of their roots.
  void Begin(uint32_t segment) {
    segment_ = segment;
    for (uint32_t i = plan_.segments[segment].images_begin;
         i < ImagesEnd(plan_, segment); ++i) {
      present_.Add(plan_.images[i], i);
    }
  }

  // Ends the images whose last position is before `position`; stores those that ask for
  // it.
  Status End(uint32_t position) {
    for (const uint32_t i : present_.End(plan_, position, ended_)) {
      if (plan_.images[i].store != SpaceStore::kAtEnd) continue;
      SLUICE_TRY(StoreAll(i, position));
    }
    return Status::kOk;
  }

  // Starts the frames of the segment's images that live at `loop`.
  Status Fill(uint32_t loop, const SpaceBoxes& boxes) {
    const SpaceSegment& segment = plan_.segments[segment_];
    for (uint32_t i = segment.images_begin; i < ImagesEnd(plan_, segment_); ++i) {
      const SpaceImage& image = plan_.images[i];
      if (image.loop != loop) continue;
      Frame* frame = &frame_[i];
      if (image.sum) {
        frame->turn = static_cast<uint8_t>((frame->turn + 1) % image.slots);
        continue;
      }
      const Box box = image.whole ? roots_.WholeOf(image.root) : boxes.need(image.root);
      if (box.extent[0] == 0) continue;
      if (image.load && Stays(image, segment) && frame->box == box &&
          !makers_.AnyFrom(image.root, segment.first)) {
        continue;
      }
      frame->turn = static_cast<uint8_t>((frame->turn + 1) % image.slots);
      frame->box = box;
      if (box.elements() * graph_.tensors[image.root].element_bytes > image.bytes) {
        return Status::kInfeasible;
      }
      frame->pending = image.load;
    }
    return Status::kOk;
  }

  // Loads an image whose load is pending.
  Status Load(uint32_t i) {
    if (!frame_[i].pending) return Status::kOk;
    frame_[i].pending = false;
    const uint32_t root = plan_.images[i].root;
    if (!makers_.AnyFrom(root, plan_.segments[segment_].first)) return LoadAll(i);
    for (uint32_t p = makers_.first[root]; p != kNone; p = makers_.next[p]) {
      if (p >= plan_.segments[segment_].first) continue;
      SLUICE_TRY(MovePiece(StepKind::kLoad, i, p));
    }
    return Status::kOk;
  }

  // Loads the whole frame, in the root's shape.
  Status LoadAll(uint32_t i) {
    const SpaceImage& image = plan_.images[i];
    const Frame& frame = frame_[i];
    const Tensor& root = graph_.tensors[image.root];
    const Reader reader = ReaderOf(plan_, lowering_, segment_, image.root);
    Transfer t = {};
    t.role = reader.role;
    TensorPlace place = lowering_.places[image.root];
    DenseStridesOf(roots_.WholeOf(image.root), root.element_bytes, place.stride);
    t.dram = TensorBox(image.root, place, frame.box);
    DenseStridesOf(frame.box, root.element_bytes, t.buffer.stride);
    FinishBox(image.offset + frame.turn * image.bytes, frame.box, root, &t.buffer);
    return program_->AddTransfer(StepKind::kLoad, reader.layer, t);
  }

  Status Move(StepKind kind, uint32_t i, uint32_t tensor, const Box& box) {
    Transfer t = {};
    uint32_t layer = graph_.tensors[tensor].producer;
    t.role = SLUICE_ROLE_OUTPUT;
    if (kind == StepKind::kLoad) {
      const Reader reader = ReaderOf(plan_, lowering_, segment_, plan_.images[i].root);
      layer = reader.layer;
      t.role = reader.role;
    }
    t.dram = TensorBox(tensor, lowering_.places[tensor], box);
    SLUICE_TRY(BoxIn(i, tensor, box, &t.buffer));
    return program_->AddTransfer(kind, layer, t);
  }

  // Where a tensor's box lies in the frame of image i; kInfeasible: not in the frame.
  Status BoxIn(uint32_t i, uint32_t tensor, const Box& box, BufferBox* out) const {
    *out = BufferBox{};
    const SpaceImage& image = plan_.images[i];
    const Frame& frame = frame_[i];
    const Tensor& root = graph_.tensors[image.root];
    const RootAxes& axes = axes_[tensor];
    const Box in_root =
        axes.nested ? BoxInRoot(axes, box) : BoxInRoot(roots_, tensor, box);
    if (frame.box.extent[0] == 0 || !Contains(frame.box, in_root)) {
      return Status::kInfeasible;
    }
    int64_t at = image.offset + frame.turn * image.bytes;
    if (axes.nested) {
      uint32_t stride[kAxes];
      DenseStridesOf(frame.box, root.element_bytes, stride);
      for (int a = 0; a < kAxes; ++a) {
        at += int64_t{in_root.begin[a] - frame.box.begin[a]} * stride[a];
        out->stride[a] = stride[axes.axis[a]] * static_cast<uint32_t>(axes.step[a]);
      }
    } else {
      if (!IsContiguous(roots_, image.root, frame.box)) return Status::kInfeasible;
      const TensorPlace& place = lowering_.places[tensor];
      for (int a = 0; a < kAxes; ++a) out->stride[a] = place.stride[a];
      at += OffsetInRoot(lowering_, tensor, box) -
            OffsetOfBox(roots_, image.root, frame.box);
    }
    FinishBox(at, box, root, out);
    return Status::kOk;
  }

  Status SumIn(uint32_t tensor, const Box& box, TileStep* tile) const {
    const uint32_t i = present_.sum_of(tensor);
    if (i == kNone) return Status::kInfeasible;
    const SpaceImage& image = plan_.images[i];
    const int64_t at = image.offset + frame_[i].turn * image.bytes;
    tile->has_accumulator = true;
    tile->accumulator = DenseBuffer(
        {static_cast<uint32_t>(at), static_cast<uint32_t>(at + image.bytes)},
        box.extent, SLUICE_DTYPE_INT32, set_.hardware.accumulator_bytes);
    return Status::kOk;
  }

 private:
  // Stores what layers before `end` have made.
  Status StoreAll(uint32_t i, uint32_t end) {
    for (uint32_t p = makers_.first[plan_.images[i].root]; p != kNone;
         p = makers_.next[p]) {
      if (p < end) SLUICE_TRY(MovePiece(StepKind::kStore, i, p));
    }
    return Status::kOk;
  }

  // Moves the part of the frame that the layer at a position has made.
  Status MovePiece(StepKind kind, uint32_t i, uint32_t position) {
    const uint32_t piece = LayerAt(position).outputs[0];
    Box box;
    if (!BoxInTensor(roots_, piece, frame_[i].box, &box)) {
      return Status::kOk;
    }
    return Move(kind, i, piece, box);
  }

  const SpaceSetting& set_;
  const RootMap& roots_;
  const Graph& graph_;
  const Lowering& lowering_;
  const SpacePlan& plan_;
  Program* program_;
  Present present_;
  Makers makers_;
  Span<Frame> frame_;  // by image
  Span<uint32_t> ended_;
  Span<RootAxes> axes_;  // by tensor
  uint32_t segment_ = 0;
};

class Writer {
 public:
  Writer(const SpaceSetting& setting, const SpacePlan& plan, Arena* scratch,
         Program* program)
      : set_(setting),
        graph_(setting.graph),
        lowering_(setting.lowering),
        plan_(plan),
        boxes_(setting.graph, setting.hardware.array, setting.lowering, plan),
        frames_(setting, plan, boxes_.roots(), program),
        scratch_(scratch),
        program_(program) {}

  Status Init() {
    SLUICE_TRY(boxes_.Init(scratch_));
    return frames_.Init(scratch_);
  }

  Status Write() {
    for (uint32_t s = 0; s < plan_.segments.size(); ++s) {
      if (set_.budget->Exhausted()) return Status::kStopped;
      SLUICE_TRY(WriteSegment(s));
    }
    return Status::kOk;
  }

 private:
  Status WriteSegment(uint32_t s) {
    const SpaceSegment& segment = plan_.segments[s];
    SLUICE_TRY(program_->BeginBlock());
    frames_.Begin(s);
    if (plan_.layers[segment.first].alone) {
      SLUICE_TRY(frames_.Fill(kNone, boxes_));
      SLUICE_TRY(AppendLayer(LayerCall{graph_, set_.hardware, lowering_,
                                       segment.alone_bytes, set_.coster, set_.budget},
                             plan_.layers[segment.first].layer, scratch_, program_));
    } else {
      boxes_.Derive(segment.first, segment.last);
      SLUICE_TRY(frames_.Fill(kNone, boxes_));
      SLUICE_TRY(Run(segment.first, segment.last, kNone));
    }
    return frames_.End(segment.last);
  }

  // Writes layers [first, last) under `loop`, whose iteration is set.
  Status Run(uint32_t first, uint32_t last, uint32_t loop) {
    return boxes_.EachIteration(
        first, last, loop, [&](uint32_t position) { return RunLayer(position); },
        [&](uint32_t begin, uint32_t end, uint32_t inner) {
          SLUICE_TRY(frames_.Fill(inner, boxes_));
          return Run(begin, end, inner);
        });
  }

  Status Append(uint32_t position) {
    const uint32_t l = plan_.layers[position].layer;
    const Layer& layer = frames_.LayerAt(position);
    const uint32_t rows = layer.inputs[1], state = layer.outputs[0];
    const TensorPlace& place = lowering_.places[state];
    Transfer t = {};
    t.role = SLUICE_ROLE_OUTPUT;
    const uint32_t image = frames_.ImageOf(rows);
    if (image == kNone) return Status::kInfeasible;
    SLUICE_TRY(frames_.Load(image));
    const Box& box = boxes_.made(position);
    SLUICE_TRY(frames_.BoxIn(image, rows, box, &t.buffer));
    t.dram = TensorBox(state, place, box);
    t.dram.moves = true;
    t.dram.parameter = static_cast<uint32_t>(layer.attribute(SLUICE_APPEND_PARAMETER));
    t.dram.step = place.stride[layer.attribute(SLUICE_APPEND_AXIS)];
    return program_->AddTransfer(StepKind::kStore, l, t);
  }

  // Loads what a tile reads. A frame that is overwritten in place must wait for the
  // tiles that read it; it is loaded last, because the queue keeps the order of loads.
  Status Load(const TileOperands& operands) {
    for (int waits = 0; waits < 2; ++waits) {
      for (int r = 0; r < kRoleOutput; ++r) {
        if (operands.tensor[r] == kNone) continue;
        const uint32_t from = frames_.ImageOf(operands.tensor[r]);
        if (from == kNone) return Status::kInfeasible;
        const SpaceImage& image = plan_.images[from];
        const bool in_place = image.loop != kNone && image.slots == 1;
        if (in_place == (waits != 0)) SLUICE_TRY(frames_.Load(from));
      }
    }
    return Status::kOk;
  }

  Status RunLayer(uint32_t position) {
    const Box& box = boxes_.made(position);
    if (box.extent[0] == 0) return Status::kOk;
    if (set_.budget->Exhausted()) return Status::kStopped;
    const uint32_t l = plan_.layers[position].layer;
    const Layer& layer = frames_.LayerAt(position);
    if (KindOf(layer.op) == LayerKind::kAppend) return Append(position);
    TileStep tile = {};
    tile.c_begin = boxes_.sum_begin(position);
    tile.c_end = boxes_.sum_end(position);
    const int32_t channels = AccumulatedChannels(graph_, layer);
    tile.first = tile.c_begin == 0;
    tile.last = tile.c_end == channels;
    const TileBoxes t = BoxesOf(graph_, layer, box, tile.c_begin, tile.c_end);
    const TileOperands operands = OperandsOf(layer);
    SLUICE_TRY(Load(operands));
    uint32_t into = kNone;
    for (int r = 0; r < kTileRoles; ++r) {
      if (operands.tensor[r] == kNone || (r == kRoleOutput && !tile.last)) continue;
      into = frames_.ImageOf(operands.tensor[r]);
      if (into == kNone) return Status::kInfeasible;
      SLUICE_TRY(frames_.BoxIn(into, operands.tensor[r], t.box[r], &tile.operand[r]));
      tile.present[r] = true;
    }
    if (!tile.first || !tile.last)
      SLUICE_TRY(frames_.SumIn(layer.outputs[0], box, &tile));
    for (int a = 0; a < kAxes; ++a) tile.origin[a] = box.begin[a];
    for (int i = 0; i < 4; ++i) tile.pad[i] = t.pad[i];
    tile.macs = t.macs;
    tile.vector_ops = t.vector_ops;
    const TileCost cost =
        DeclaredCost({set_.coster, set_.hardware, graph_, layer, l}, t,
                     {tile.c_end - tile.c_begin, tile.first, tile.last});
    tile.cycles = cost.cycles;
    tile.energy_pj = cost.energy_pj;
    tile.scratchpad_pj = cost.scratchpad_pj;
    if (tile.cycles > INT64_C(0xffffffff)) return Status::kUnsupported;
    SLUICE_TRY(program_->AddTile(l, tile));
    if (!tile.last) return Status::kOk;
    into = frames_.ImageOf(layer.outputs[0]);
    return plan_.images[into].store == SpaceStore::kMade
               ? frames_.Move(StepKind::kStore, into, layer.outputs[0], box)
               : Status::kOk;
  }

  const SpaceSetting& set_;
  const Graph& graph_;
  const Lowering& lowering_;
  const SpacePlan& plan_;
  SpaceBoxes boxes_;
  Frames frames_;
  Arena* scratch_;
  Program* program_;
};

}  // namespace

Status WriteSpace(const SpaceSetting& setting, const SpacePlan& plan, Arena* scratch,
                  Program* program) {
  Arena memory(scratch->memory());
  Writer writer(setting, plan, &memory, program);
  SLUICE_TRY(writer.Init());
  return writer.Write();
}

}  // namespace sluice
