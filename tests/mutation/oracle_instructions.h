// SPDX-License-Identifier: Apache-2.0
// What single instructions do to the oracle's memory.
//
// Input    a stream without loops, values of the parameters, an event of it.
// Output   origins of the bytes that it writes, made of all that it reads; a fault for
//          an instruction that is not allowed.
// Cost     linear in the bytes that it touches.
#ifndef SLUICE_TESTS_MUTATION_ORACLE_INSTRUCTIONS_H_
#define SLUICE_TESTS_MUTATION_ORACLE_INSTRUCTIONS_H_

#include <set>

#include "mutation/oracle_memory.h"

namespace sluice_test {

// Operands, kernels and engines, as the stream's tables describe them.
class OracleTables : public OracleMemory {
 protected:
  OracleTables(const GraphSpec& graph, const std::vector<Place>& places,
               const StreamBuilder& stream, const std::vector<int32_t>& parameters)
      : OracleMemory(graph, places, stream),
        table_(stream.Engines()),
        parameters_(parameters) {}

  // The scratchpad is that of `node`.
  bool Operand(const Event& e, uint32_t index, uint32_t node, Access* a) {
    if (!Operand(e, index, a)) return false;
    if (node >= s_.node_cols * s_.node_rows) return Fail("node");
    if (a->region == SLUICE_REGION_GBUF && node != 0) {
      a->space = SLUICE_REGION_COUNT + node - 1;
    }
    return true;
  }
  bool Operand(const Event& e, uint32_t index, Access* a) {
    const sluice_instance_t& instance = s_.instances[e.instance];
    const BlockBuilder& b = s_.blocks[instance.block];
    if (index >= b.operands.size()) return Fail("operand");
    const sluice_operand_t& o = b.operands[index];
    const size_t slot = size_t{instance.first_binding} + o.slot;
    if (o.shape >= b.shapes.size() || o.slot >= b.slot_count ||
        slot >= s_.bindings.size()) {
      return Fail("operand");
    }
    const sluice_binding_t& bound = s_.bindings[slot];
    const sluice_shape_t& shape = b.shapes[o.shape];
    Four extent, stride;
    std::copy(shape.extent, shape.extent + 4, extent.begin());
    std::copy(shape.stride, shape.stride + 4, stride.begin());
    uint64_t base = (bound.base_lo | uint64_t{bound.base_hi} << 32) +
                    (o.offset_lo | uint64_t{o.offset_hi} << 32);
    for (const sluice_patch_t& p : s_.patches) {
      if (p.binding != slot) continue;
      if (p.parameter >= parameters_.size()) return Fail("patch");
      base += static_cast<uint64_t>(parameters_[p.parameter]) *
              (p.step_lo | uint64_t{p.step_hi} << 32);
    }
    return Enumerate(bound.region, DtypeSize(o.dtype), base, extent, stride, a);
  }

  bool SameExtents(const Event& e, const sluice_transfer_t& t) const {
    const BlockBuilder& b = s_.blocks[s_.instances[e.instance].block];
    const sluice_shape_t& src = b.shapes[b.operands[t.src].shape];
    const sluice_shape_t& dst = b.shapes[b.operands[t.dst].shape];
    return std::equal(src.extent, src.extent + 4, dst.extent);
  }

  bool Kernel(const Event& e, uint32_t number, uint64_t* sum, uint16_t* op) {
    const size_t k = size_t{s_.instances[e.instance].first_kernel} + number;
    if (k >= s_.kernels.size()) return Fail("kernel");
    const sluice_kernel_t& kernel = s_.kernels[k];
    *op = kernel.op;
    *sum = Mix(*sum, kernel.op);
    for (uint32_t a = 0; a < kernel.attribute_count; ++a) {
      const size_t at = size_t{kernel.first_attribute} + a;
      if (at >= s_.attributes.size()) return Fail("kernel");
      *sum = Mix(*sum, static_cast<uint32_t>(s_.attributes[at]));
    }
    *sum = Mix(*sum, kernel.layer);
    return true;
  }
  // The node of an engine that serves one node; 0 for an engine that serves all nodes.
  uint32_t NodeOf(const Event& e) const {
    const uint32_t node = table_[e.engine].node;
    return node == SLUICE_ALL_NODES ? 0 : node;
  }
  bool Does(const Event& e, uint32_t what) const {
    return (table_[e.engine].does & what) != 0;
  }
  // Whether a queue serves the transfer's role and node; a forward leaves from its
  // engine's node.
  bool Serves(uint32_t engine, const sluice_transfer_t& t, uint8_t opcode) const {
    const sluice_engine_t& e = table_[engine];
    if (opcode == SLUICE_OPCODE_FORWARD) return e.node == t.src_node;
    if ((e.roles & t.role) == 0) return false;
    if (e.node == SLUICE_ALL_NODES) return true;
    return opcode == SLUICE_OPCODE_STORE
               ? e.node == t.src_node
               : e.node == t.dst_node && t.dst_cols * t.dst_rows == 1;
  }
  bool ReadInto(const Event& e, uint32_t operand, uint64_t* sum) {
    const BlockBuilder& b = s_.blocks[s_.instances[e.instance].block];
    Access a;
    std::vector<uint64_t> values;
    if (!Operand(e, operand, NodeOf(e), &a) || !Read(a, &values)) return false;
    last_region_ = a.region;
    *sum = Mix(*sum, b.operands[operand].dtype);
    for (uint32_t x : b.shapes[b.operands[operand].shape].extent) *sum = Mix(*sum, x);
    for (uint64_t v : values) *sum = Mix(*sum, v);
    return true;
  }

  const std::vector<sluice_engine_t> table_;
  const std::vector<int32_t>& parameters_;
  uint32_t last_region_ = 0;
};

class OracleInstructions : public OracleTables {
 protected:
  using OracleTables::OracleTables;

  bool Execute(const Event& e, const BlockBuilder& b, const ListedInstruction& entry) {
    const uint32_t d = entry.record.descriptor;
    switch (entry.record.opcode) {
      case SLUICE_OPCODE_LOAD:
      case SLUICE_OPCODE_STORE:
        if (!Does(e, entry.record.opcode == SLUICE_OPCODE_LOAD ? SLUICE_DOES_LOAD
                                                               : SLUICE_DOES_STORE) ||
            d >= b.transfers.size()) {
          break;
        }
        return Copy(e, b.transfers[d], entry.record.opcode);
      case SLUICE_OPCODE_FORWARD:
        if (!Does(e, SLUICE_DOES_FORWARD) || d >= b.transfers.size()) break;
        return Copy(e, b.transfers[d], entry.record.opcode);
      case SLUICE_OPCODE_COMPUTE:
        if (!Does(e, SLUICE_DOES_COMPUTE) || d >= b.tiles.size()) break;
        return Tile(e, b.tiles[d], entry.record.flags);
      case SLUICE_OPCODE_HOST:
        if (!Does(e, SLUICE_DOES_HOST) || d >= b.host_calls.size()) break;
        return Host(e, b.host_calls[d]);
    }
    return Fail("instruction");
  }

 private:
  bool Copy(const Event& e, const sluice_transfer_t& t, uint8_t opcode) {
    const bool load = opcode == SLUICE_OPCODE_LOAD;
    const bool store = opcode == SLUICE_OPCODE_STORE;
    Access src, dst, index;
    if (!Operand(e, t.src, load ? 0 : t.src_node, &src)) return false;
    if (!Operand(e, t.dst, store ? 0 : t.dst_node, &dst)) return false;
    if ((src.region == SLUICE_REGION_GBUF) == load ||
        (dst.region == SLUICE_REGION_GBUF) == store || src.width != dst.width) {
      return Fail("transfer");
    }
    if (!Serves(e.engine, t, opcode)) return Fail("engine");
    std::vector<uint64_t> values;
    if (!Read(src, &values)) return false;
    if (t.index != SLUICE_NONE) {
      std::vector<uint64_t> rows, out;
      if (!Operand(e, t.index, t.dst_node, &index) || !Read(index, &rows)) return false;
      uint64_t table = 7;
      for (uint64_t v : values) table = Mix(table, v);
      const size_t width =
          dst.at.size() * dst.width / std::max<size_t>(1, index.at.size());
      for (size_t r = 0; r < index.at.size(); ++r) {
        uint64_t row = 3;
        for (size_t b = 0; b < 4; ++b) row = Mix(row, rows[4 * r + b]);
        for (size_t c = 0; c < width; ++c) out.push_back(Mix(Mix(table, row), c));
      }
      values = out;
    } else if (!SameExtents(e, t)) {
      return Fail("transfer of two shapes");
    }
    if (values.size() != dst.at.size() * dst.width)
      return Fail("transfer of two sizes");
    if (store) return Write(dst, values);
    if (t.dst_node % s_.node_cols + t.dst_cols > s_.node_cols || t.dst_cols == 0 ||
        t.dst_node / s_.node_cols + t.dst_rows > s_.node_rows || t.dst_rows == 0) {
      return Fail("rectangle");
    }
    in_place_ = false;
    for (uint32_t i = 0; i < uint32_t{t.dst_cols} * t.dst_rows; ++i) {
      const uint32_t node = t.dst_node + i / t.dst_cols * s_.node_cols + i % t.dst_cols;
      Access at;
      if (!Operand(e, t.dst, node, &at) || !Write(at, values)) return false;
    }
    return !in_place_ || Fail("a copy over its source");
  }

  bool Host(const Event& e, const sluice_host_call_t& call) {
    uint64_t sum = Mix(call.inputs, call.outputs);
    uint16_t op = 0;
    if (!Kernel(e, call.kernel, &sum, &op)) return false;
    for (uint32_t i = 0; i < call.inputs; ++i) {
      if (!ReadInto(e, call.first_operand + i, &sum)) return false;
      if (last_region_ == SLUICE_REGION_GBUF) return Fail("the host in the scratchpad");
    }
    for (uint32_t i = 0; i < call.outputs; ++i) {
      Access a;
      if (!Operand(e, call.first_operand + call.inputs + i, &a)) return false;
      if (a.region == SLUICE_REGION_GBUF) return Fail("the host in the scratchpad");
      std::vector<uint64_t> values;
      for (size_t v = 0; v < a.at.size() * a.width; ++v) {
        values.push_back(Mix(Mix(sum, i), v));
      }
      in_place_ = false;
      if (!Write(a, values)) return false;
      if (in_place_) return Fail("the host writes over its input");
    }
    return true;
  }

  // Mixes everything that a tile reads, in order: whatever the operator computes, equal
  // sums mean equal results.
  bool Tile(const Event& e, const sluice_tile_t& t, uint8_t flags) {
    uint64_t sum = Mix(5, flags);
    uint16_t op = 0;
    if (!Kernel(e, t.kernel, &sum, &op)) return false;
    for (uint32_t o : t.origin) sum = Mix(sum, o);
    for (uint16_t p : t.pad) sum = Mix(sum, p);
    sum = Mix(Mix(sum, t.c_begin), t.c_end);
    const bool first = (flags & SLUICE_FLAG_FIRST) != 0;
    const bool last = (flags & SLUICE_FLAG_LAST) != 0;
    const uint32_t accumulator = first && last ? SLUICE_NONE : t.accumulator;
    const uint32_t reads[] = {t.input0, t.input1, t.weight,
                              last ? t.parameters : SLUICE_NONE,
                              first ? SLUICE_NONE : accumulator};
    const BlockBuilder& b = s_.blocks[s_.instances[e.instance].block];
    for (uint32_t operand : reads) {
      sum = Mix(sum, operand == SLUICE_NONE ? 1 : 2);
      if (operand == SLUICE_NONE) continue;
      if (!ReadInto(e, operand, &sum)) return false;
      if (last_region_ != SLUICE_REGION_GBUF) {
        return Fail("a tile outside the scratchpad");
      }
    }
    const uint32_t result = last ? t.output : accumulator;
    if (result == SLUICE_NONE) return Fail("a tile without a result");
    Access a;
    if (!Operand(e, result, NodeOf(e), &a)) return false;
    if (a.region != SLUICE_REGION_GBUF) return Fail("a tile outside the scratchpad");
    for (uint32_t x : b.shapes[b.operands[result].shape].extent) sum = Mix(sum, x);
    sum = Mix(sum, b.operands[result].dtype);
    std::vector<uint64_t> values;
    for (size_t i = 0; i < a.at.size() * a.width; ++i) values.push_back(Mix(sum, i));
    in_place_ = false;
    if (!Write(a, values)) return false;
    // A tile may overwrite bytes that it reads only if each element replaces itself:
    // otherwise the result depends on how the engine works inside.
    return !in_place_ || result == accumulator || ReplacesItself(e, t, op, a) ||
           Fail("a tile writes over its input");
  }

  bool ReplacesItself(const Event& e, const sluice_tile_t& t, uint16_t op,
                      const Access& out) {
    static const std::set<uint16_t> kElementwise = {
        SLUICE_OP_ADD,        SLUICE_OP_SUB,     SLUICE_OP_MUL,
        SLUICE_OP_MINIMUM,    SLUICE_OP_MAXIMUM, SLUICE_OP_REQUANTIZE,
        SLUICE_OP_LOOKUP,     SLUICE_OP_PRELU,   SLUICE_OP_RELU_GRADIENT,
        SLUICE_OP_HARD_SWISH,
    };
    if (kElementwise.count(op) == 0) return false;
    for (uint32_t operand : {t.input0, t.input1, t.weight}) {
      if (operand == SLUICE_NONE) continue;
      Access in;
      if (!Operand(e, operand, &in)) return false;
      const bool table = operand == t.weight;
      if (!table && in.at == out.at && in.width == out.width) continue;
      // An operand of other elements: none of its bytes may be overwritten.
      for (uint64_t x : in.at) {
        for (uint64_t y : out.at) {
          if (x < y + out.width && y < x + in.width) return false;
        }
      }
    }
    return true;
  }
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_MUTATION_ORACLE_INSTRUCTIONS_H_
