// SPDX-License-Identifier: Apache-2.0
// What a stream means, told byte by byte: where every output byte comes from.
//
// Input    graph tensors, places, a stream, values of the parameters.
// Output   a fingerprint of the origins of all bytes of outputs and states, valid for
//          every timing, or the reason why there is none (race, unwritten bytes,
//          bounds, deadlock).
// Cost     slow and simple: one vector clock per instruction, one record per byte. A
//          different fingerprint does not prove different bytes, an equal one proves
//          equal bytes. Neither judge's code is used.
#ifndef SLUICE_TESTS_MUTATION_ORACLE_H_
#define SLUICE_TESTS_MUTATION_ORACLE_H_

#include <set>
#include <string>

#include "support/unroll.h"

namespace sluice_test {

struct Meaning {
  std::string fault;  // empty: none
  uint64_t fingerprint = 0;
};

class Oracle {
 public:
  Oracle(const GraphSpec& graph, const std::vector<Place>& places,
         const StreamBuilder& stream, const std::vector<int32_t>& parameters)
      : graph_(graph),
        places_(places),
        unrolled_(stream),
        s_(unrolled_.to),
        table_(stream.Engines()),
        parameters_(parameters) {}

  Meaning Follow() {
    if (Prepare() && Run()) Finish();
    return meaning_;
  }

 private:
  static constexpr uint64_t kUnwritten = 0;
  struct Cell {
    uint64_t value = kUnwritten;
    int writer = -1;           // event
    std::vector<int> readers;  // since the last write
  };
  struct Access {
    uint32_t region = 0, width = 0;
    uint32_t space = 0;        // a region; then the scratchpads of nodes 1, ...
    std::vector<uint64_t> at;  // address of each element, in logical order
  };
  struct Event {
    uint32_t engine, instance, index;  // index: into the block's list
    uint32_t position;                 // 1-based on its engine, over all instances
  };

  bool Fail(const char* why) {
    if (meaning_.fault.empty()) meaning_.fault = why;
    return false;
  }
  static uint64_t Mix(uint64_t a, uint64_t b) {
    uint64_t z = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) | 1;  // never kUnwritten
  }

  bool Prepare() {
    if (!unrolled_.fault.empty()) return Fail("loops");
    const size_t nodes = size_t{s_.node_cols} * s_.node_rows;
    cells_.resize(SLUICE_REGION_COUNT + nodes - 1);
    for (size_t r = 0; r < cells_.size(); ++r) {
      const size_t region = r < SLUICE_REGION_COUNT ? r : size_t{SLUICE_REGION_GBUF};
      if (s_.region_bytes[region] > (1 << 22)) return Fail("region too large");
      cells_[r].resize(s_.region_bytes[region]);
    }
    for (size_t t = 0; t < graph_.tensors.size(); ++t) {
      const uint8_t kind = graph_.tensors[t].kind;
      if (kind != 1 && kind != 3 && kind != 4) continue;
      if (places_[t].region == 255) continue;  // it has no place in memory
      Access a;
      if (!Locate(t, &a)) return false;
      for (size_t i = 0; i < a.at.size(); ++i) {
        for (uint32_t b = 0; b < a.width; ++b) {
          Cell& cell = cells_[a.space][a.at[i] + b];
          if (cell.value != kUnwritten) return Fail("tensors overlap from the start");
          cell.value = Mix(Mix(t + 1, i), b);
        }
      }
    }
    // before_[i][e]: instructions of engine e in all instances before i.
    before_.assign(s_.instances.size() + 1, std::vector<uint32_t>(s_.engines(), 0));
    for (size_t i = 0; i < s_.instances.size(); ++i) {
      if (s_.instances[i].block >= s_.blocks.size()) return Fail("block");
      const BlockBuilder& b = s_.blocks[s_.instances[i].block];
      for (uint32_t e = 0; e < s_.engines(); ++e) {
        before_[i + 1][e] =
            before_[i][e] +
            static_cast<uint32_t>(e < b.lists.size() ? b.lists[e].size() : 0);
      }
    }
    return true;
  }

  bool Locate(size_t t, Access* a) {
    const Place& p = places_[t];
    const TensorSpec& spec = graph_.tensors[t];
    if (p.region >= SLUICE_REGION_COUNT) return Fail("a tensor without a place");
    Four extent = {1, 1, 1, 1};
    for (size_t d = 0; d < spec.dims.size(); ++d) {
      extent[4 - spec.dims.size() + d] = static_cast<uint32_t>(spec.dims[d]);
    }
    return Enumerate(p.region, DtypeSize(spec.dtype), p.offset, extent, p.stride, a);
  }
  bool Enumerate(uint32_t region, uint32_t width, uint64_t base, const Four& extent,
                 const Four& stride, Access* a) {
    a->region = a->space = region;
    a->width = width;
    if (region >= SLUICE_REGION_COUNT || width == 0) return Fail("region or dtype");
    if (uint64_t{extent[0]} * extent[1] > 65536 ||
        uint64_t{extent[2]} * extent[3] > 65536) {
      return Fail("extent");
    }
    for (uint64_t n = 0; n < extent[0]; ++n)
      for (uint64_t h = 0; h < extent[1]; ++h)
        for (uint64_t w = 0; w < extent[2]; ++w)
          for (uint64_t c = 0; c < extent[3]; ++c) {
            const uint64_t at =
                base + n * stride[0] + h * stride[1] + w * stride[2] + c * stride[3];
            if (at > cells_[region].size() || at + width > cells_[region].size()) {
              return Fail("bounds");
            }
            if (at % width != 0) return Fail("alignment");
            a->at.push_back(at);
          }
    return true;
  }
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

  bool Before(int event) const {  // has it completed when the current one starts?
    const Event& e = events_[static_cast<size_t>(event)];
    return clock_[e.engine] >= e.position;
  }
  bool Read(const Access& a, std::vector<uint64_t>* values) {
    for (uint64_t at : a.at) {
      for (uint32_t b = 0; b < a.width; ++b) {
        Cell& cell = cells_[a.space][at + b];
        if (cell.value == kUnwritten) return Fail("reads unwritten bytes");
        if (cell.writer >= 0 && !Before(cell.writer)) return Fail("read races a write");
        if (cell.readers.empty() || cell.readers.back() != now_) {
          cell.readers.push_back(now_);
        }
        values->push_back(cell.value);
      }
    }
    return true;
  }
  bool Write(const Access& a, const std::vector<uint64_t>& values) {
    if (a.region == SLUICE_REGION_CONST || a.region == SLUICE_REGION_INPUT) {
      return Fail("writes a read-only region");
    }
    size_t i = 0;
    for (uint64_t at : a.at) {
      for (uint32_t b = 0; b < a.width; ++b, ++i) {
        Cell& cell = cells_[a.space][at + b];
        if (cell.writer == now_) return Fail("writes a byte twice");
        if (cell.writer >= 0 && !Before(cell.writer)) return Fail("writes race");
        for (int reader : cell.readers) {
          if (reader != now_ && !Before(reader)) return Fail("overwrites while read");
          if (reader == now_) in_place_ = true;
        }
        cell.readers.clear();
        cell.writer = now_;
        cell.value = values[i];
      }
    }
    return true;
  }

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

  // The position on an engine that a wait asks for, 0 for none; false if the wait is
  // invalid.
  bool Target(const Event& e, const sluice_wait_t& w, uint32_t* engine,
              uint32_t* position) {
    if (w.engine >= s_.engines() || w.before > 1) return Fail("wait");
    const uint32_t before = before_[e.instance][w.engine];
    *engine = w.engine;
    if (w.before == 1) {
      *position = before > w.count ? before - w.count : 0;
      return true;
    }
    if (w.count == 0) return Fail("wait");
    *position = before + w.count;
    return *position <= before_[e.instance + 1][w.engine] || Fail("wait");
  }

  bool Run() {
    const uint32_t engines = s_.engines();
    std::vector<uint32_t> done(engines, 0), instance(engines, 0), index(engines, 0);
    // The vector clock after each position of each engine.
    std::vector<std::vector<std::vector<uint32_t>>> clocks(engines);
    for (bool moved = true; moved;) {
      moved = false;
      for (uint32_t e = 0; e < engines; ++e) {
        while (instance[e] < s_.instances.size() &&
               done[e] == before_[instance[e] + 1][e]) {
          ++instance[e];
          index[e] = 0;
        }
        if (instance[e] == s_.instances.size()) continue;
        const Event event = {e, instance[e], index[e], done[e] + 1};
        const BlockBuilder& b = s_.blocks[s_.instances[event.instance].block];
        const ListedInstruction& entry = b.lists[e][event.index];
        clock_.assign(engines, 0);
        if (done[e] != 0) clock_ = clocks[e].back();
        bool holds = true;
        for (const sluice_wait_t& w : entry.waits) {
          uint32_t engine, position;
          if (!Target(event, w, &engine, &position)) return false;
          if (done[engine] < position) {
            holds = false;
            break;
          }
          for (uint32_t x = 0; position != 0 && x < engines; ++x) {
            clock_[x] = std::max(clock_[x], clocks[engine][position - 1][x]);
          }
        }
        if (!holds) continue;
        now_ = static_cast<int>(events_.size());
        events_.push_back(event);
        if (!Execute(event, b, entry)) return false;
        clock_[e] = event.position;
        clocks[e].push_back(clock_);
        ++done[e];
        ++index[e];
        moved = true;
      }
    }
    for (uint32_t e = 0; e < engines; ++e) {
      if (done[e] != before_.back()[e]) return Fail("deadlock");
    }
    return true;
  }
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

  void Finish() {
    uint64_t sum = 11;
    for (size_t t = 0; t < graph_.tensors.size(); ++t) {
      const uint8_t kind = graph_.tensors[t].kind;
      if (kind != 2 && kind != 4) continue;
      Access a;
      if (places_[t].region !=
          (kind == 2 ? SLUICE_REGION_OUTPUT : SLUICE_REGION_STATE)) {
        Fail("an output elsewhere");
        return;
      }
      if (!Locate(t, &a)) return;
      for (uint64_t at : a.at) {
        for (uint32_t b = 0; b < a.width; ++b) {
          const uint64_t v = cells_[a.space][at + b].value;
          if (v == kUnwritten) Fail("an output byte is not written");
          sum = Mix(sum, v);
        }
      }
    }
    meaning_.fingerprint = sum;
  }

  const GraphSpec& graph_;
  const std::vector<Place>& places_;
  const Unroller unrolled_;
  const StreamBuilder& s_;  // the stream without loops
  const std::vector<sluice_engine_t> table_;
  const std::vector<int32_t>& parameters_;
  Meaning meaning_;
  std::vector<std::vector<Cell>> cells_;  // by space
  std::vector<std::vector<uint32_t>> before_;
  std::vector<Event> events_;
  std::vector<uint32_t> clock_;
  int now_ = 0;
  bool in_place_ = false;
  uint32_t last_region_ = 0;
};

// Values of the parameters in run 0, 1, ...: each parameter goes through its range.
inline std::vector<int32_t> ParametersOf(const GraphSpec& graph, int run) {
  std::vector<int32_t> values;
  for (const ParameterSpec& p : graph.parameters) {
    values.push_back(p.min + run % (p.max - p.min + 1));
  }
  return values;
}
// The number of runs after which every parameter has had every value.
inline int RunsOf(const GraphSpec& graph) {
  int runs = 1;
  for (const ParameterSpec& p : graph.parameters) {
    runs = std::max(runs, p.max - p.min + 1);
  }
  return runs;
}

// The combined meaning of all these runs.
inline Meaning MeaningOf(const GraphSpec& graph, const std::vector<Place>& places,
                         const StreamBuilder& stream) {
  Meaning all;
  for (int run = 0; run < RunsOf(graph) && all.fault.empty(); ++run) {
    const std::vector<int32_t> values = ParametersOf(graph, run);
    const Meaning one = Oracle(graph, places, stream, values).Follow();
    all.fault = one.fault;
    all.fingerprint = all.fingerprint * 0x9e3779b97f4a7c15u + one.fingerprint;
  }
  return all;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_MUTATION_ORACLE_H_
