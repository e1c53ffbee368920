// SPDX-License-Identifier: Apache-2.0
#include "verify/follow.h"

#include "base/checked.h"

namespace sluice {
namespace judge {
namespace {

int64_t Product(int64_t a, int64_t b) {  // saturating, both >= 0
  int64_t out;
  return CheckedMultiply(a, b, &out) ? out : INT64_MAX;
}

// How far a box reaches behind its first element. Extents and strides are those of 32 bits.
struct Reach {
  uint64_t all = 0, most = 0;  // along all axes, and along the longest

  void Add(int64_t extent, int64_t stride) {
    const uint64_t along =
        static_cast<uint64_t>(extent - 1) * static_cast<uint64_t>(stride);
    most = Max(most, along);
    all += along;
  }
  // Computes one past the last byte of a box at `offset`; false where it may not fit 64
  // bits. No region is longer than kAddressLimit.
  bool EndOf(uint64_t offset, int64_t width, uint64_t* end) const {
    *end = offset + static_cast<uint64_t>(width) + all;
    return offset <= kAddressLimit && most <= kAddressLimit;
  }
};

uint8_t HomeOf(TensorKind kind) {
  switch (kind) {
    case TensorKind::kConstant:
      return SLUICE_REGION_CONST;
    case TensorKind::kInput:
      return SLUICE_REGION_INPUT;
    case TensorKind::kState:
      return SLUICE_REGION_STATE;
    case TensorKind::kOutput:
      return SLUICE_REGION_OUTPUT;
    default:
      return kRegionNowhere;
  }
}

Status CheckPlace(Judge* judge, uint32_t t) {
  const Tensor& tensor = judge->graph.tensors[t];
  const TensorPlace& place = judge->plan.tensors[t];
  if (place.region == kRegionNowhere) return Status::kOk;
  if (place.region == SLUICE_REGION_GBUF || place.region >= SLUICE_REGION_COUNT) {
    return Reject(*judge, "structure").Tensor(t).Text("a tensor's place has no region");
  }
  const uint8_t home = HomeOf(tensor.kind);
  if (home != kRegionNowhere && home != place.region) {
    return Reject(*judge, "structure")
        .Tensor(t)
        .Say("tensor # lies in a region of another kind", t);
  }
  const int64_t width = tensor.element_bytes;
  Reach reach;
  bool aligned = place.offset % static_cast<uint64_t>(width) == 0;
  for (int a = 0; a < kAxes; ++a) {
    reach.Add(tensor.extent[a], place.stride[a]);
    aligned = aligned && (tensor.extent[a] == 1 || place.stride[a] % width == 0);
  }
  uint64_t end;
  if (!reach.EndOf(place.offset, width, &end) ||
      end > judge->stream.region_limit[place.region]) {
    return Reject(*judge, "bounds").Tensor(t).Say("tensor # ends beyond its region", t);
  }
  uint64_t* region_end = &judge->stream.region_end[place.region];
  *region_end = Max(*region_end, end);
  if (aligned) return Status::kOk;
  return Reject(*judge, "alignment")
      .Tensor(t)
      .Say("tensor # is not aligned to its element size", t);
}

}  // namespace

Status InitFollower(Follower* f) {
  const Graph& graph = f->judge->graph;
  SLUICE_TRY(f->judge->arena->Allocate(graph.layers.size(), &f->worked_for));
  if (f->judge->counts_only) return Status::kOk;
  SLUICE_TRY(f->clocks.Init());
  SLUICE_TRY(InitContents(&f->contents));
  for (uint32_t t = 0; t < graph.tensors.size(); ++t) {
    if (t % 64 == 63 && f->judge->arena->memory()->Stop()) return Status::kStopped;
    SLUICE_TRY(CheckPlace(f->judge, t));
    const Tensor& tensor = graph.tensors[t];
    const TensorPlace& place = f->judge->plan.tensors[t];
    if (tensor.encoded_bytes != 0) SLUICE_TRY(f->encoded.Push(t));
    if (place.region == kRegionNowhere) continue;
    if (tensor.kind != TensorKind::kConstant && tensor.kind != TensorKind::kInput &&
        tensor.kind != TensorKind::kState) {
      continue;
    }
    Part part = {t, tensor.element_bytes, {}, {}, 0, {}};
    int64_t stride[kAxes];
    for (int a = 0; a < kAxes; ++a) {
      part.extent[a] = tensor.extent[a];
      stride[a] = place.stride[a];
    }
    bool fresh;
    SLUICE_TRY(PutPreset(&f->contents, MemoryOf(f->contents, place.region, 0), part,
                         static_cast<int64_t>(place.offset), stride, &fresh));
    if (!fresh) {
      return Reject(*f->judge, "content")
          .Tensor(t)
          .Say(
              "the place of tensor # overlaps itself or another tensor that is there "
              "from the start",
              t);
    }
  }
  return InitAppends(f);
}

Status Locate(Follower* f, uint32_t index, Access* access, bool may_move) {
  const StreamView& s = f->judge->stream;
  const Step& step = f->judge->step;
  const BlockView& block = BlockOf(s, step.visit);
  const sluice_operand_t& operand = block.operands[index];
  const uint32_t number = InstanceOf(s, step.visit).first_binding + operand.slot;
  const sluice_binding_t& binding = s.bindings[number];
  access->patch = s.patch_of.size() == 0 ? kNone : s.patch_of[number];
  if (access->patch != kNone && !may_move) {
    return Reject(*f->judge, "patch").Text("a patched slot may only be stored to");
  }
  const sluice_shape_t& shape = block.shapes[operand.shape];
  const uint64_t offset = Join(operand.offset_lo, operand.offset_hi);
  access->region = binding.region;
  access->dtype = operand.dtype;
  access->width = DtypeBytes(operand.dtype);
  uint32_t strides = 0;  // all bits of those that matter
  Reach reach;
  for (int a = 0; a < kAxes; ++a) {
    access->extent[a] = shape.extent[a];
    access->stride[a] = shape.stride[a];
    reach.Add(access->extent[a], access->stride[a]);
    strides |= shape.extent[a] == 1 ? 0 : shape.stride[a];
  }
  const int64_t* const n = access->extent;
  access->elements = Product(Product(n[0], n[1]), Product(n[2], n[3]));
  const int64_t low_bits = access->width - 1;  // widths are powers of two
  uint64_t end = 0;
  // Base, loops and offset are each within a few kAddressLimit. Loops may move
  // downwards.
  const bool moves = binding.region != SLUICE_REGION_GBUF;  // visits.cc: loops do not
  const int64_t begin = static_cast<int64_t>(Join(binding.base_lo, binding.base_hi)) +
                        (moves ? MoveOfSlot(s, step.visit, operand.slot) : 0) +
                        static_cast<int64_t>(Min<uint64_t>(offset, 2 * kAddressLimit));
  if (begin < 0 || !reach.EndOf(static_cast<uint64_t>(begin), access->width, &end) ||
      end > s.region_limit[binding.region]) {
    return Reject(*f->judge, "bounds")
        .Bytes(end, s.region_limit[binding.region])
        .Say("operand # ends beyond region #", index, binding.region);
  }
  uint64_t* region_end = &f->judge->stream.region_end[binding.region];
  *region_end = Max(*region_end, end);
  access->base = begin;
  if (((access->base | int64_t{strides}) & low_bits) != 0) {
    return Reject(*f->judge, "alignment")
        .Say("operand # is not aligned to its element size", index);
  }
  if (binding.region == SLUICE_REGION_GBUF) {
    f->counts->peak_buffer_bytes =
        Max(f->counts->peak_buffer_bytes, static_cast<int64_t>(end));
  }
  return Status::kOk;
}

constexpr size_t kFewParts = 8;  // not worth remembering

// Requires the bytes of `box` to be elements of `root`; twins are its element index.
static Status DemandRoot(Follower* f, uint32_t memory, const Box& box, uint32_t root,
                         const Wanted& wanted) {
  const Graph& graph = f->judge->graph;
  int64_t dense[kAxes];
  DenseElements(graph.tensors[root % graph.tensors.size()].extent, dense);
  Contents* const c = &f->contents;
  if (IsKnown(*c, memory, root, box)) return Spend(f->judge, 1);
  f->parts.Truncate(0);
  SLUICE_TRY(ReadParts(c, memory, box, false, &f->parts));
  for (const Part& part : f->parts) {
    int64_t index = 0;
    if (LiesDensely(part, dense, &index) && part.root == root) continue;
    Fail fail = Reject(*f->judge, wanted.rule);
    fail.Tensor(wanted.tensor).Text(wanted.role).Say(" must be tensor #", root);
    fail.Say(" from element #, but ", part.twin);
    if (part.root < graph.tensors.size()) {
      fail.Say("tensor # from element #", part.root, index);
    } else {
      fail.Text("a partial sum or lost data");
    }
    return fail.Text(" lies there");
  }
  if (f->parts.size() > kFewParts) NoteKnown(c, memory, root, box);
  return Status::kOk;
}

static Status Demand(Follower* f, uint32_t memory, const Box& box,
                     const Wanted& wanted) {
  const uint32_t tensor = wanted.tensor;
  if (f->views.IsRoot(tensor, wanted.reader)) {
    return DemandRoot(f, memory, box, tensor, wanted);
  }
  f->leaves.Truncate(0);
  SLUICE_TRY(f->views.Resolve(tensor, box, wanted.reader, &f->leaves));
  for (const Leaf& leaf : f->leaves) {
    SLUICE_TRY(DemandRoot(f, memory, leaf.box, leaf.tensor, wanted));
  }
  return Status::kOk;
}

Status Take(Follower* f, uint32_t memory, const Box& box, const Wanted& wanted) {
  SLUICE_TRY(Demand(f, memory, box, wanted));
  return RecordRead(&f->contents, memory, box);
}

Status LayDown(Follower* f, uint32_t memory, uint32_t tensor, const Access& access,
               const int64_t* origin, bool in_place) {
  const int64_t none[kAxes] = {};
  SLUICE_TRY(Overwrite(&f->contents, memory, access.BoxWith(0, none), in_place));
  Part part = {tensor, access.width, {}, {}, access.base, {}};
  for (int a = 0; a < kAxes; ++a) {
    part.origin[a] = origin[a];
    part.extent[a] = access.extent[a];
    part.twin_stride[a] = access.stride[a];
  }
  return PutPart(&f->contents, memory, part);
}

static Status DemandWhole(Follower* f, uint32_t t, const TensorPlace& place) {
  const Tensor& tensor = f->judge->graph.tensors[t];
  int64_t dense[kAxes];
  DenseElements(tensor.extent, dense);
  Box box = Box::At(static_cast<int64_t>(place.offset), 0, tensor.element_bytes);
  for (int a = 0; a < kAxes; ++a) box.Add(tensor.extent[a], place.stride[a], dense[a]);
  return Demand(f, MemoryOf(f->contents, place.region, 0), box,
                {t, kNone, "output", "at the end, this place"});
}

Status CheckEnd(Follower* f) {
  if (f->judge->counts_only) return Status::kOk;
  f->judge->has_step = false;
  EnterEnd(&f->contents);
  for (uint32_t t = 0; t < f->judge->graph.tensors.size(); ++t) {
    const TensorKind kind = f->judge->graph.tensors[t].kind;
    const TensorPlace& place = f->judge->plan.tensors[t];
    if (kind != TensorKind::kOutput && kind != TensorKind::kState) continue;
    if (place.region == kRegionNowhere) {
      if (kind == TensorKind::kState && f->judge->graph.tensors[t].producer == kNone) {
        continue;
      }
      return Reject(*f->judge, "output")
          .Tensor(t)
          .Text("an output or state has no place in DRAM");
    }
    const Status status = DemandWhole(f, t, place);
    if (status == Status::kRejected) {
      // Rule "content" found a byte without content: at the end, an incomplete output.
      return Fail(f->judge->diagnostic, status, "verify")
          .Rule("output")
          .Tensor(t)
          .Say("tensor # is not complete at its place at the end", t);
    }
    SLUICE_TRY(status);
  }
  return Status::kOk;
}

Status FollowStep(Follower* f, const Step& step) {
  const uint32_t* clock = nullptr;
  if (!f->judge->counts_only) SLUICE_TRY(f->clocks.Next(&clock));
  EnterStep(&f->contents, step, clock);
  ++f->counts->instructions;
  ++f->counts->followed;
  const BlockView& block = BlockOf(f->judge->stream, step.visit);
  const sluice_instruction_t& instruction = block.instructions[step.index];
  switch (instruction.opcode) {
    case SLUICE_OPCODE_COMPUTE:
      return FollowTile(f, instruction);
    case SLUICE_OPCODE_HOST:
      return FollowHost(f, block.host_calls[instruction.descriptor]);
    default:
      return FollowTransfer(f, instruction);
  }
}

}  // namespace judge
}  // namespace sluice
