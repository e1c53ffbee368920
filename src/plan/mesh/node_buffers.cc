// SPDX-License-Identifier: Apache-2.0
#include "plan/mesh/node_buffers.h"

#include "base/checked.h"

namespace sluice {

namespace {

BufferRange RangeOf(const NodeLayer& self, int role, int32_t number) {
  const int64_t begin = self.roles[role].begin + number * self.roles[role].bytes;
  return BufferRange{static_cast<uint32_t>(begin),
                     static_cast<uint32_t>(begin + self.roles[role].bytes)};
}

}  // namespace

BufferBox PartOfBuffer(const BufferBox& box, const Box& whole, const Box& part) {
  BufferBox out = box;
  for (int a = 0; a < kAxes; ++a) {
    out.offset += static_cast<uint32_t>(part.begin[a] - whole.begin[a]) * box.stride[a];
    out.extent[a] = part.extent[a];
  }
  return out;
}

BufferBox BoxIn(const NodeLayer& self, int role, int32_t number, const Box& box) {
  const Tensor& tensor = self.context->graph.tensors[self.roles[role].tensor];
  return DenseBuffer(RangeOf(self, role, number), box.extent, tensor.dtype,
                     tensor.element_bytes);
}

BufferBox InLanding(const NodeLayer& self, uint32_t i, int role, int64_t slice,
                    const Box& box) {
  constexpr uint32_t kRanges = 16;  // of a landing; waits tell them apart
  const Box whole = LandingBox(self, i, role, slice);
  const int32_t number = static_cast<int32_t>(slice % self.roles[role].count);
  BufferBox out = PartOfBuffer(BoxIn(self, role, number, whole), whole, box);
  if (self.drains) return out;
  const uint32_t begin = out.range.begin;
  const uint32_t step = (out.range.end - begin + kRanges - 1) / kRanges;
  uint32_t last = out.offset - begin + DtypeBytes(out.dtype) - 1;
  for (int a = 0; a < kAxes; ++a) {
    last += static_cast<uint32_t>(out.extent[a] - 1) * out.stride[a];
  }
  out.range.begin += (out.offset - begin) / step * step;
  out.range.end = Min(out.range.end, begin + (last / step + 1) * step);
  return out;
}

BufferBox Accumulator(const NodeLayer& self, const NodeTile& tile) {
  const int64_t begin =
      self.accumulator_begin + tile.number % self.accumulators * self.accumulator_bytes;
  const BufferRange range = {static_cast<uint32_t>(begin),
                             static_cast<uint32_t>(begin + self.accumulator_bytes)};
  return DenseBuffer(range, tile.box.extent, SLUICE_DTYPE_INT32,
                     self.context->hardware.accumulator_bytes);
}

}  // namespace sluice
