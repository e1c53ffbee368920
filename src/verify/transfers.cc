// SPDX-License-Identifier: Apache-2.0
// LOAD, STORE, FORWARD and HOST.
#include "base/checked.h"
#include "verify/ability.h"
#include "verify/follow.h"
#include "verify/op_rules.h"

namespace sluice {
namespace judge {

static Status CheckRegions(Follower* f, uint8_t opcode, const Access& src,
                           const Access& dst) {
  const bool src_gbuf = src.region == SLUICE_REGION_GBUF;
  const bool dst_gbuf = dst.region == SLUICE_REGION_GBUF;
  const bool right = opcode == SLUICE_OPCODE_LOAD    ? !src_gbuf && dst_gbuf
                     : opcode == SLUICE_OPCODE_STORE ? src_gbuf && !dst_gbuf
                                                     : src_gbuf && dst_gbuf;
  if (!right) {
    return Reject(*f->judge, "structure").Text("a transfer between the wrong memories");
  }
  if (dst.region == SLUICE_REGION_CONST || dst.region == SLUICE_REGION_INPUT) {
    return Reject(*f->judge, "structure").Text("writes a region that is read only");
  }
  if (dst.region == SLUICE_REGION_STATE && dst.patch == kNone) {
    return Reject(*f->judge, "patch").Text("stores to the state without a patch");
  }
  return Status::kOk;
}

// Stores parts_ at dst on every node of the destination rectangle.
static Status CopyTo(Follower* f, const sluice_transfer_t& transfer, uint8_t opcode,
                     const Access& dst) {
  const int64_t none[kAxes] = {};
  const Box box = dst.BoxWith(0, none);
  const uint32_t cols = f->judge->stream.header->node_cols;
  const bool store = opcode == SLUICE_OPCODE_STORE;
  const uint32_t rows_n = store ? 1 : transfer.dst_rows;
  const uint32_t cols_n = store ? 1 : transfer.dst_cols;
  for (uint32_t r = 0; r < rows_n; ++r) {
    for (uint32_t c = 0; c < cols_n; ++c) {
      const uint32_t memory =
          MemoryOf(f->contents, dst.region, transfer.dst_node + r * cols + c);
      SLUICE_TRY(Overwrite(&f->contents, memory, box, false));
      for (const Part& part : f->parts) SLUICE_TRY(PutPart(&f->contents, memory, part));
    }
  }
  return Status::kOk;
}

// A transfer of so many bytes states how many leave memory if its source is encoded.
static Status CheckEncoded(Follower* f, const sluice_transfer_t& transfer,
                           const Access& src, int64_t bytes) {
  int64_t moved = 0;
  for (const uint32_t t : f->encoded) {
    const Tensor& tensor = f->judge->graph.tensors[t];
    const int64_t begin = static_cast<int64_t>(f->judge->plan.tensors[t].offset);
    if (src.region != SLUICE_REGION_CONST || src.base < begin ||
        src.base - begin >= tensor.bytes) {
      continue;
    }
    // ceil(bytes * encoded / all bytes)
    moved = TransferCycles(bytes, tensor.bytes, tensor.encoded_bytes);
  }
  if (transfer.moved_bytes == moved) return Status::kOk;
  return Reject(*f->judge, "tile")
      .Say("a transfer that moves # encoded bytes, where it takes #",
           transfer.moved_bytes, moved);
}

// Checks that the transfer states as many descriptors as its queue needs. A row is a
// run of bytes that is contiguous on both sides, cut at the queue's longest row; a
// descriptor takes at most max_rows rows and max_axes axes. The pieces of a cut row may
// be rows at one pitch, which takes an axis. Each row fills whole bursts.
static Status CheckDescriptors(Follower* f, const sluice_transfer_t& transfer,
                               const Access& src, const Access& dst) {
  const uint32_t number =
      f->judge->stream.engine[f->order->engine[f->judge->step.engine]].queue;
  const Hardware& hardware = f->judge->hardware;
  Queue queue;
  queue.latency_cycles = hardware.dma_latency_cycles;
  if (!hardware.queues.empty()) queue = hardware.queues[number];
  const bool whole = transfer.moved_bytes != 0;  // one row of so many bytes
  int64_t row = whole ? int64_t{transfer.moved_bytes} : dst.width;
  int64_t inner = 1, outer = 1;
  int64_t beside = 1, beyond = 1;  // as inner and outer with one axis less
  uint32_t axes = 1;
  for (int a = kAxes - 1; a >= 0; --a) {
    if (dst.extent[a] == 1 || whole) continue;
    const bool scattered = transfer.index != SLUICE_NONE && a == 2;
    if (axes == 1 && !scattered && src.stride[a] == row && dst.stride[a] == row) {
      row *= dst.extent[a];
      continue;
    }
    ++axes;
    (axes <= queue.max_axes || queue.max_axes == 0 ? inner : outer) *= dst.extent[a];
    (axes < queue.max_axes || queue.max_axes == 0 ? beside : beyond) *= dst.extent[a];
  }
  const int64_t most = queue.max_rows == 0 ? INT64_MAX : int64_t{queue.max_rows};
  int64_t needed = outer * CeilDivide(inner, most);
  if (queue.max_row_bytes != 0 && row > queue.max_row_bytes) {
    const int64_t full = row / queue.max_row_bytes;
    const bool more = row % queue.max_row_bytes != 0;
    int64_t pitched = beyond * CeilDivide(beside * full, most);
    if (queue.max_axes == 1) pitched = needed * full;
    if (more) pitched += needed;
    needed = Min(needed * (full + (more ? 1 : 0)), pitched);
  }
  if (needed == transfer.descriptors) {
    const uint32_t region = src.region == SLUICE_REGION_GBUF ? dst.region : src.region;
    const Rational bandwidth = hardware.HomeOf(region).bandwidth;
    const OffChip* memory = hardware.MemoryOf(region);
    TakeTime(*f,
             queue.latency_cycles + (memory == nullptr ? 0 : memory->latency_cycles) +
                 (needed - 1) * queue.descriptor_cycles,
             TransferCycles(outer * inner * RoundUpTo(row, queue.burst_bytes),
                            bandwidth.numerator, bandwidth.denominator));
    return Status::kOk;
  }
  return Reject(*f->judge, "tile")
      .Say("a transfer of # descriptors that takes #", transfer.descriptors, needed);
}

// Finds which element of a tensor is the first of the index of an indexed LOAD.
static Status ReadIndex(Follower* f, const sluice_transfer_t& transfer,
                        const Access& index, uint32_t tensor, int64_t* row) {
  // An element's twin is its row-major position in the index box. It says which row the
  // element selects.
  int64_t step[kAxes] = {};
  int64_t count = 1;
  for (int a = kAxes - 1; a >= 0; --a) {
    step[a] = count;
    count *= index.extent[a];
  }
  SLUICE_TRY(ReadParts(&f->contents,
                       MemoryOf(f->contents, SLUICE_REGION_GBUF, transfer.dst_node),
                       index.BoxWith(0, step), true, &f->parts));
  int64_t dense[kAxes];
  DenseElements(f->judge->graph.tensors[tensor].extent, dense);
  for (size_t i = 0; i < f->parts.size(); ++i) {
    const Part& part = f->parts[i];
    int64_t at = -part.twin;
    bool same = part.root == tensor;
    for (int a = 0; a < kAxes; ++a) {
      at += part.origin[a] * dense[a];
      same = same && (part.extent[a] == 1 || part.twin_stride[a] == dense[a]);
    }
    if (i == 0) *row = at;
    if (!same || at != *row) {
      return Reject(*f->judge, "content")
          .Text("the index is not contiguous elements of the layer's index");
    }
  }
  f->parts.Truncate(0);
  return Status::kOk;
}

// Lays out the loaded rows as boxes of the gather's output. It has as many rows as its
// index has elements and as many columns as its table, so that none lies outside.
static Status GatherParts(Follower* f, const Access& dst, uint32_t layer, int64_t row,
                          int64_t column) {
  const uint32_t t = f->judge->graph.layers[layer].outputs[0];
  const Tensor& out = f->judge->graph.tensors[t];
  int64_t dense[kAxes], extent[kAxes];
  DenseElements(out.extent, dense);
  for (int a = 0; a < kAxes; ++a) extent[a] = out.extent[a];
  Frame frame;
  MakeFrame(0, 1, extent, dense, &frame);
  Box box = Box::At(row * dense[2] + column, dst.base, 1);
  box.Add(dst.extent[2], dense[2], dst.stride[2]);
  box.Add(dst.extent[3], 1, dst.stride[3]);
  f->inside.Truncate(0);
  f->outside.Truncate(0);
  bool aligned = true;
  SLUICE_TRY(Cut(box, frame, {f->judge, &f->todo, &f->inside, &f->outside, &aligned}));
  for (const Inside& in : f->inside) {
    Part part = {t, dst.width, {}, {1, 1, 1, 1}, in.part.twin, {}};
    for (uint32_t j = 0; j < frame.dims; ++j) part.origin[frame.axis[j]] = in.at[j];
    for (uint32_t d = 0; d < in.part.dims; ++d) {
      part.extent[frame.axis[in.along[d]]] = in.part.dim[d].count;
      part.twin_stride[frame.axis[in.along[d]]] = in.part.dim[d].twin;
    }
    SLUICE_TRY(f->parts.Push(part));
  }
  return Status::kOk;
}

// Treats an indexed LOAD as rows [row, ...), columns [column, ...) of a GATHER layer.
static Status Gather(Follower* f, const sluice_transfer_t& transfer, const Access& src,
                     const Access& dst) {
  Access index;
  SLUICE_TRY(Locate(f, transfer.index, &index));
  const bool fits =
      index.region == SLUICE_REGION_GBUF && index.dtype == SLUICE_DTYPE_INT32 &&
      index.elements == dst.extent[2] && dst.extent[0] == 1 && dst.extent[1] == 1 &&
      src.extent[0] == 1 && src.extent[1] == 1 && src.extent[3] == dst.extent[3];
  if (!fits)
    return Reject(*f->judge, "tile").Text("an indexed load of the wrong shape");
  const StreamView& s = f->judge->stream;
  const uint32_t kernel =
      InstanceOf(s, f->judge->step.visit).first_kernel + transfer.kernel;
  const uint32_t number = s.kernels[kernel].layer;
  const Layer& layer = f->judge->graph.layers[number];
  if (DeedOf(layer) != Deed::kGather) {
    return Reject(*f->judge, "tile").Text("an indexed load for a layer of another op");
  }
  const uint32_t table_tensor = f->views.BehindReshapes(layer.inputs[0]);
  const uint32_t index_tensor = f->views.BehindReshapes(layer.inputs[1]);
  int64_t row = 0;
  SLUICE_TRY(ReadIndex(f, transfer, index, index_tensor, &row));
  const int64_t none[kAxes] = {};
  SLUICE_TRY(ReadParts(&f->contents, MemoryOf(f->contents, src.region, 0),
                       src.BoxWith(0, none), true, &f->parts));
  const Part table = f->parts[0];
  if (f->parts.size() != 1 || table.root != table_tensor) {
    return Reject(*f->judge, "content").Text("the source is not the layer's table");
  }
  f->parts.Truncate(0);
  const Graph& graph = f->judge->graph;
  const Tensor& t = graph.tensors[table_tensor];
  if (t.kind == TensorKind::kState ||
      graph.tensors[index_tensor].kind == TensorKind::kState) {
    return Reject(*f->judge, "tile").Text("gathers from a state");
  }
  SLUICE_TRY(CheckAble(*f->judge, layer));
  const bool whole = table.origin[2] == 0 && table.extent[2] == t.extent[2] &&
                     table.origin[0] == 0 && table.origin[1] == 0 &&
                     table.extent[3] == src.extent[3];
  if (!whole)
    return Reject(*f->judge, "tile").Text("the source is not the whole table");
  return GatherParts(f, dst, number, row, table.origin[3]);
}

Status FollowTransfer(Follower* f, const sluice_instruction_t& instruction) {
  const BlockView& block = BlockOf(f->judge->stream, f->judge->step.visit);
  const sluice_transfer_t& transfer = block.transfers[instruction.descriptor];
  Access src, dst;
  SLUICE_TRY(Locate(f, transfer.src, &src));
  SLUICE_TRY(Locate(f, transfer.dst, &dst, instruction.opcode == SLUICE_OPCODE_STORE));
  SLUICE_TRY(CheckRegions(f, instruction.opcode, src, dst));
  if (src.dtype != dst.dtype) {
    return Reject(*f->judge, "structure").Text("source and destination dtypes differ");
  }
  int64_t bytes;
  if (!CheckedMultiply(dst.elements, dst.width, &bytes) ||
      bytes > static_cast<int64_t>(kAddressLimit)) {
    return Reject(*f->judge, "bounds")
        .Text("moves more bytes than an address can reach");
  }
  if (instruction.opcode == SLUICE_OPCODE_FORWARD) {
    CountForward(f, transfer, bytes);
  } else {
    SLUICE_TRY(CheckEncoded(f, transfer, src, bytes));
    SLUICE_TRY(CheckDescriptors(f, transfer, src, dst));
    const bool load = instruction.opcode == SLUICE_OPCODE_LOAD;
    CountPort(f, transfer, instruction.opcode, bytes, load ? src.region : dst.region);
  }
  if (f->judge->counts_only) return Status::kOk;
  f->parts.Truncate(0);
  if (transfer.index != SLUICE_NONE) {
    SLUICE_TRY(Gather(f, transfer, src, dst));
    return CopyTo(f, transfer, instruction.opcode, dst);
  }
  int64_t differ = 0;
  for (int a = 0; a < kAxes; ++a) differ |= src.extent[a] ^ dst.extent[a];
  if (differ != 0) {
    return Reject(*f->judge, "structure").Text("source and destination shapes differ");
  }
  if (dst.patch != kNone) return StoreRows(f, transfer, src, dst);
  const uint32_t memory = MemoryOf(f->contents, src.region, transfer.src_node);
  SLUICE_TRY(ReadParts(&f->contents, memory, src.BoxWith(dst.base, dst.stride), true,
                       &f->parts));
  const bool given =
      src.region == SLUICE_REGION_CONST || src.region == SLUICE_REGION_INPUT;
  for (const Part& part : f->parts) {
    if (!given || part.root == f->parts[0].root) continue;
    return Reject(*f->judge, "structure").Text("loads more than one tensor");
  }
  return CopyTo(f, transfer, instruction.opcode, dst);
}

Status FollowHost(Follower* f, const sluice_host_call_t& call) {
  const StreamView& s = f->judge->stream;
  const Graph& graph = f->judge->graph;
  const sluice_instance_t& instance = InstanceOf(s, f->judge->step.visit);
  const sluice_kernel_t& kernel = s.kernels[instance.first_kernel + call.kernel];
  const Layer& layer = graph.layers[kernel.layer];
  uint32_t inputs = 0;  // absent ones have no operand
  for (uint32_t t : layer.inputs) inputs += t != kNone ? 1 : 0;
  if (call.inputs != inputs || call.outputs != layer.outputs.size()) {
    return Reject(*f->judge, "tile")
        .Layer(kernel.layer)
        .Text("a host call of another layer");
  }
  SLUICE_TRY(CheckHostCall(*f->judge, kernel.layer, call));
  CountHost(f, call, kernel.layer);
  if (f->judge->counts_only) return Status::kOk;
  const int64_t start[kAxes] = {};
  uint32_t operand = call.first_operand;
  for (size_t i = 0; i < layer.inputs.size() + layer.outputs.size(); ++i) {
    const bool input = i < layer.inputs.size();
    const uint32_t t = input ? layer.inputs[i] : layer.outputs[i - layer.inputs.size()];
    if (t == kNone) continue;
    const Tensor& tensor = graph.tensors[t];
    Access access;
    SLUICE_TRY(Locate(f, operand++, &access));
    bool whole = access.dtype == tensor.dtype && access.region != SLUICE_REGION_GBUF;
    for (int a = 0; a < kAxes; ++a)
      whole = whole && access.extent[a] == tensor.extent[a];
    if (!whole) {
      return Reject(*f->judge, "tile")
          .Layer(kernel.layer)
          .Tensor(t)
          .Text("a host call's operand is not the whole tensor in DRAM");
    }
    const uint32_t memory = MemoryOf(f->contents, access.region, 0);
    if (input) {
      int64_t dense[kAxes];
      DenseElements(tensor.extent, dense);
      SLUICE_TRY(Take(f, memory, access.BoxWith(0, dense),
                      {t, kernel.layer, "content", "input"}));
      continue;
    }
    if (access.region == SLUICE_REGION_CONST || access.region == SLUICE_REGION_INPUT ||
        access.region == SLUICE_REGION_STATE) {
      return Reject(*f->judge, "structure").Text("writes a region that is read only");
    }
    SLUICE_TRY(LayDown(f, memory, t, access, start, false));
  }
  return Status::kOk;
}

}  // namespace judge
}  // namespace sluice
