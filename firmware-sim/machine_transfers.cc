// SPDX-License-Identifier: Apache-2.0
// LOAD, STORE and FORWARD.
#include <algorithm>
#include <cstdlib>

#include "machine_parts.h"

namespace sluice_sim {
namespace {

bool SameExtents(const sluice_walk_operand_t& a, const sluice_walk_operand_t& b) {
  return std::equal(a.extent, a.extent + 4, b.extent);
}

uint64_t LinkDelay(const Machine& m, const sluice_transfer_t& t, const Flight& flight) {
  const Links::Rectangle to = {t.dst_node, t.dst_cols, t.dst_rows};
  if (flight.opcode == SLUICE_OPCODE_FORWARD) {
    return m.links->Delay(t.src_node, to, flight.start, m.hardware.hop_latency_cycles,
                          BandwidthCycles(flight.bytes, m.hardware.link_numerator,
                                          m.hardware.link_denominator));
  }
  // DRAM's latency precedes the first word of a LOAD; hops to DRAM take no time.
  const uint64_t cycles = flight.hold;
  if (flight.opcode == SLUICE_OPCODE_LOAD) {
    return m.links->Delay(m.links->CornerOf(to), to, flight.end - flight.hold, 0,
                          cycles);
  }
  const uint32_t corner = m.links->CornerOf({t.src_node, 1, 1});
  return m.links->Delay(t.src_node, {corner, 1, 1}, flight.start, 0, cycles);
}

uint64_t ForwardCycles(const Machine& m, const sluice_transfer_t& t,
                       const Flight& flight) {
  const int64_t cols = m.hardware.node_cols;
  int64_t farthest = 0;
  for (int corner = 0; corner < 4; ++corner) {
    const int64_t col = t.dst_node % cols + (corner & 1 ? t.dst_cols - 1 : 0);
    const int64_t row = t.dst_node / cols + (corner & 2 ? t.dst_rows - 1 : 0);
    farthest = std::max(farthest, std::abs(col - t.src_node % cols) +
                                      std::abs(row - t.src_node / cols));
  }
  const uint64_t cycles =
      m.hardware.hop_latency_cycles * static_cast<uint64_t>(farthest) +
      BandwidthCycles(flight.bytes, m.hardware.link_numerator,
                      m.hardware.link_denominator);
  return std::max<uint64_t>(1, cycles);
}

Trap TimeTransfer(const Machine& m, const sluice_transfer_t& t, const Access& src,
                  const Access& dst, Flight* flight) {
  if (flight->opcode == SLUICE_OPCODE_FORWARD) {
    flight->end = flight->start + ForwardCycles(m, t, *flight);
    if (m.links != nullptr) flight->end += LinkDelay(m, t, *flight);
    return {};
  }
  const Engine& engine = EngineOf(m, *flight);
  const QueueLoad load =
      LoadOf(engine, src.operand, dst.operand, t.index != SLUICE_NONE, t.moved_bytes);
  if (load.descriptors != t.descriptors) {
    return {"transfer", "takes " + std::to_string(load.descriptors) +
                            " descriptors of its queue, says " +
                            std::to_string(t.descriptors)};
  }
  const bool loads = flight->opcode == SLUICE_OPCODE_LOAD;
  const Home& home = m.hardware.home[(loads ? src : dst).operand.region];
  flight->at_port = true;
  flight->arrival = flight->start + engine.latency_cycles + home.latency_cycles +
                    (load.descriptors - 1) * engine.descriptor_cycles;
  flight->hold = std::max<uint64_t>(
      1, BandwidthCycles(load.bytes, home.numerator, home.denominator));
  if (t.moved_bytes != 0) flight->bytes = t.moved_bytes;
  flight->transfer = t;
  return {};
}

// Checks what a transfer of so many bytes says about what it moves off chip.
Trap CheckEncoded(const Machine& m, const sluice_transfer_t& t, const Access& src,
                  uint64_t landing) {
  if (!m.placed) {
    return t.moved_bytes <= landing ? Trap{}
                                    : Trap{"transfer", "moves more than lands"};
  }
  uint64_t moved = 0;
  auto at = m.encoded.upper_bound(src.operand.offset);
  if (src.operand.region == SLUICE_REGION_CONST && at != m.encoded.begin()) {
    const Tensor& tensor = m.graph.tensors[(--at)->second];
    const uint64_t whole = static_cast<uint64_t>(tensor.bytes);
    const bool inside = src.operand.offset - at->first < whole;
    if (inside) moved = (landing * tensor.encoded + whole - 1) / whole;
  }
  if (t.moved_bytes == moved) return {};
  return {"transfer", "moves " + std::to_string(moved) + " encoded bytes, says " +
                          std::to_string(t.moved_bytes)};
}

Trap CopyRows(const Machine& m, const Access& src, const Access& dst,
              const Access* index, Flight* flight) {
  Box from = m.memory.At(src);
  const Box shape = m.memory.At(dst);
  flight->result.resize(static_cast<size_t>(dst.operand.bytes));
  const Box to = DenseBox(flight->result.data(), shape.dtype, shape.extent);
  if (index == nullptr) {
    CopyBox(from, to);
    return {};
  }
  const Box indices = m.memory.At(*index);
  std::vector<int32_t> rows(static_cast<size_t>(shape.extent[2]));
  uint8_t* const dense = reinterpret_cast<uint8_t*>(rows.data());
  CopyBox(indices, DenseBox(dense, SLUICE_DTYPE_INT32, indices.extent));
  for (int64_t i = 0; i < shape.extent[2]; ++i) {
    const int32_t row = rows[static_cast<size_t>(i)];
    if (row < 0 || row >= from.extent[2]) {
      return {"index",
              "row " + std::to_string(row) + " of " + std::to_string(from.extent[2])};
    }
    Box a = from, b = to;
    a.extent[2] = b.extent[2] = 1;
    a.data += row * from.stride[2];
    b.data += i * to.stride[2];
    CopyBox(a, b);
  }
  return {};
}

}  // namespace

void Serve(const Machine& m, uint64_t at, Flight* flight) {
  flight->at_port = false;
  flight->end = at + flight->hold;
  if (m.links != nullptr && flight->opcode != SLUICE_OPCODE_HOST) {
    flight->end += LinkDelay(m, flight->transfer, *flight);
  }
}

Trap StartTransfer(const Machine& m, const sluice_instruction_t& instruction,
                   Flight* flight) {
  sluice_transfer_t t;
  sluice_walk_transfer(&m.walker, flight->visit.instance, instruction.descriptor, &t);
  const uint32_t opcode = instruction.opcode;
  const Access src = Reach(m, *flight, t.src, t.src_node, false, "source");
  const Access dst = Reach(m, *flight, t.dst, t.dst_node, true, "destination");
  const bool from_gbuf = src.operand.region == SLUICE_REGION_GBUF;
  const bool to_gbuf = dst.operand.region == SLUICE_REGION_GBUF;
  if (from_gbuf != (opcode != SLUICE_OPCODE_LOAD) ||
      to_gbuf != (opcode != SLUICE_OPCODE_STORE)) {
    return {"region", "this opcode does not copy between these regions"};
  }
  sluice_walk_operand_t want = src.operand;
  if (t.index != SLUICE_NONE) want.extent[2] = dst.operand.extent[2];
  if (src.operand.dtype != dst.operand.dtype || !SameExtents(want, dst.operand)) {
    return {"transfer", "source and destination differ in extents or dtype"};
  }
  flight->bytes = dst.operand.bytes;
  flight->accesses.push_back(src);
  const uint32_t rows = to_gbuf ? t.dst_rows : 1, cols = to_gbuf ? t.dst_cols : 1;
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t col = 0; col < cols; ++col) {
      flight->accesses.push_back(Reach(m, *flight, t.dst,
                                       t.dst_node + row * m.hardware.node_cols + col,
                                       true, "destination"));
    }
  }
  Access index;
  if (t.index != SLUICE_NONE) {
    index = Reach(m, *flight, t.index, t.dst_node, false, "index");
    if (index.operand.region != SLUICE_REGION_GBUF ||
        index.operand.dtype != SLUICE_DTYPE_INT32 ||
        index.operand.bytes != 4 * uint64_t{dst.operand.extent[2]}) {
      return {"index", "indices are not one int32 per row, in the scratchpad"};
    }
    flight->accesses.push_back(index);
    sluice_kernel_t kernel;
    sluice_walk_kernel(&m.walker, flight->visit.instance, t.kernel, &kernel);
    const Layer& layer = m.graph.layers[kernel.layer];
    if (OpOf(layer.op).means != Means::kGather) {
      return {"index", "rows by index for a layer that gathers none"};
    }
    if (WhyNot(m.graph, m.hardware, layer) != 0) {
      return {"index", "the machine cannot do this layer"};
    }
  }
  for (size_t i = 1; i < flight->accesses.size(); ++i) {
    if (Overlap(src, flight->accesses[i])) {
      return {"overlap", "a copy whose source and destination overlap"};
    }
  }
  if (Trap trap = CheckEncoded(m, t, src, flight->bytes)) return trap;
  if (Trap trap = TimeTransfer(m, t, src, dst, flight)) return trap;
  if (Trap trap = CheckAccesses(m, *flight)) return trap;
  if (!m.functional) return {};
  return CopyRows(m, src, dst, t.index == SLUICE_NONE ? nullptr : &index, flight);
}

}  // namespace sluice_sim
