// SPDX-License-Identifier: Apache-2.0
// Ways to break a stream, one small change at a time.
//
// Input    a valid stream and its places, a source of chance
// Output   the same with one change; false when the stream has nothing to change so.
// An operand that is changed is first given to its instruction alone.
#ifndef SLUICE_TESTS_MUTATION_MUTATIONS_H_
#define SLUICE_TESTS_MUTATION_MUTATIONS_H_

#include "mutation/queue_mutations.h"

namespace sluice_test {

inline bool IsHost(const Site& s) { return Is(s, SLUICE_OPCODE_HOST); }
// The operands of a host call are consecutive, not in fields of the record.
inline bool HasOperands(const Site& s) { return !IsHost(s); }

// The fields of an instruction that name operands.
inline std::vector<uint32_t*> OperandsOf(const Site& s) {
  std::vector<uint32_t*> all;
  if (IsTransfer(s)) {
    for (uint32_t* o : {&s.transfer().src, &s.transfer().dst, &s.transfer().index}) {
      if (*o != SLUICE_NONE) all.push_back(o);
    }
  } else {
    sluice_tile_t& t = s.tile();
    for (uint32_t* o :
         {&t.input0, &t.input1, &t.weight, &t.parameters, &t.accumulator, &t.output}) {
      if (*o != SLUICE_NONE) all.push_back(o);
    }
  }
  return all;
}

// Gives `field` a copy of its operand and of the shape, used by no other field.
inline sluice_operand_t& Own(const Site& s, uint32_t* field, sluice_shape_t** shape) {
  BlockBuilder& b = *s.block;
  sluice_operand_t operand = b.operands[*field];
  b.shapes.push_back(b.shapes[operand.shape]);
  operand.shape = static_cast<uint32_t>(b.shapes.size() - 1);
  b.operands.push_back(operand);
  *field = static_cast<uint32_t>(b.operands.size() - 1);
  *shape = &b.shapes.back();
  return b.operands.back();
}

// Whether an operand lies in the scratchpad, by the binding of its slot.
inline bool InScratchpad(const Mutant& m, const BlockBuilder& b, uint32_t operand) {
  const size_t block = static_cast<size_t>(&b - m.stream.blocks.data());
  for (const sluice_instance_t& i : m.stream.instances) {
    if (i.block != block) continue;
    return m.stream.bindings[i.first_binding + b.operands[operand].slot].region ==
           SLUICE_REGION_GBUF;
  }
  return false;
}

inline void ShiftBy(Chance* c, uint32_t width, sluice_operand_t* o) {
  static const int32_t steps[] = {1, -1, 2, -2, 4, 16, -16, 64};
  const int64_t step = int64_t{steps[c->Below(8)]} * width;
  const int64_t at = o->offset_lo + step;
  o->offset_lo = static_cast<uint32_t>(at < 0 ? o->offset_lo - step : at);
}

// Removes an instruction and adjusts the waits of its visit that count past it: the
// stream lacks the work of the instruction, and nothing else changes.
inline void Remove(const Site& s) {
  auto& list = s.block->lists[s.engine];
  list.erase(list.begin() + static_cast<long>(s.index));
  const uint32_t place = static_cast<uint32_t>(s.index + 1);
  for (auto& engine : s.block->lists) {
    for (ListedInstruction& entry : engine) {
      for (sluice_wait_t& w : entry.waits) {
        if (w.before == 0 && w.engine == s.engine && w.count >= place && w.count > 1) {
          --w.count;
        }
      }
    }
  }
}

// Cuts every body in two, so that waits cross instances. The first body gets `percent`
// of the DMA's list and what these instructions wait for.
inline void CutBlocks(uint32_t percent, StreamBuilder* s) {
  std::vector<BlockBuilder> blocks;
  for (const BlockBuilder& b : s->blocks) {
    BlockBuilder first = b, second = b;
    std::vector<uint32_t> cut(b.lists.size(), 0);
    cut[0] = static_cast<uint32_t>(b.lists[0].size() * percent / 100);
    for (bool grown = true; grown;) {
      grown = false;
      for (size_t e = 0; e < cut.size(); ++e) {
        for (uint32_t i = 0; i < cut[e]; ++i) {
          for (const sluice_wait_t& w : b.lists[e][i].waits) {
            if (w.before != 0) continue;
            grown = grown || cut[w.engine] < w.count;
            cut[w.engine] = std::max(cut[w.engine], w.count);
          }
        }
      }
    }
    for (size_t e = 0; e < b.lists.size(); ++e) {
      first.lists[e].resize(cut[e]);
      second.lists[e].erase(second.lists[e].begin(),
                            second.lists[e].begin() + static_cast<long>(cut[e]));
      for (ListedInstruction& entry : second.lists[e]) {
        for (sluice_wait_t& w : entry.waits) {
          if (w.before != 0) {
            w.count += cut[w.engine];
          } else if (w.count > cut[w.engine]) {
            w.count -= cut[w.engine];
          } else {
            w = AfterAllBut(cut[w.engine] - w.count, w.engine);
          }
        }
      }
    }
    blocks.push_back(first);
    blocks.push_back(second);
  }
  std::vector<sluice_instance_t> instances;
  for (sluice_instance_t i : s->instances) {
    i.block *= 2;
    instances.push_back(i);
    ++i.block;
    instances.push_back(i);
  }
  for (sluice_loop_t& loop : s->loops) {
    loop.first *= 2;
    loop.last = 2 * loop.last + 1;
  }
  s->blocks = blocks;
  s->instances = instances;
}

inline bool HasWait(const Site& s) { return !s.entry().waits.empty(); }
inline sluice_wait_t& SomeWait(Chance* c, const Site& s) {
  return s.entry().waits[c->Below(s.entry().waits.size())];
}

inline bool DropWait(Chance* c, Mutant* m) {
  Site s;
  if (!c->Pick(m, &s, HasWait)) return false;
  s.entry().waits.erase(s.entry().waits.begin() + c->Below(s.entry().waits.size()));
  return true;
}
inline bool WeakenWait(Chance* c, Mutant* m) {
  Site s;
  if (!c->Pick(m, &s, HasWait)) return false;
  sluice_wait_t& w = SomeWait(c, s);
  if (w.before != 0) {
    w.count += 1 + c->Below(2);
    return true;
  }
  if (w.count < 2) return false;
  w.count -= c->Half() ? 1 : 1 + c->Below(w.count - 1);
  return true;
}
inline bool WaitElsewhere(Chance* c, Mutant* m) {
  Site s;
  if (!c->Pick(m, &s, HasWait)) return false;
  sluice_wait_t& w = SomeWait(c, s);
  w.engine = OtherEngine(c, *m, w.engine);
  return true;
}
// Makes a wait count from the other side of its visit's start.
inline bool WrongSide(Chance* c, Mutant* m) {
  Site s;
  if (!c->Pick(m, &s, HasWait)) return false;
  sluice_wait_t& w = SomeWait(c, s);
  w.before ^= 1;
  return true;
}
inline bool WrongLoop(Chance* c, Mutant* m) {
  auto& loops = m->stream.loops;
  if (loops.empty()) return false;
  sluice_loop_t& l = loops[c->Below(loops.size())];
  switch (c->Below(5)) {
    case 0:
      ++l.count;
      return true;
    case 1:
      --l.count;
      return true;
    case 2:
      l.first += 1;
      return true;
    case 3:
      l.last = l.last > 0 && c->Half() ? l.last - 1 : l.last + 1;
      return true;
    default:
      l.parent = c->Half() ? SLUICE_NONE : c->Below(loops.size());
      return true;
  }
}
inline bool WrongStep(Chance* c, Mutant* m) {
  if (m->stream.steps.empty()) return false;
  int32_t& step = m->stream.steps[c->Below(m->stream.steps.size())];
  static const int32_t by[] = {1, -1, 2, 4, -4, 16, -16};
  step += by[c->Below(7)];
  return true;
}
inline bool SwapNeighbours(Chance* c, Mutant* m) {
  Site s;
  if (!c->Pick(m, &s, [](const Site& x) {
        return x.index + 1 < x.block->lists[x.engine].size();
      })) {
    return false;
  }
  auto& list = s.block->lists[s.engine];
  std::swap(list[s.index], list[s.index + 1]);
  return true;
}
inline bool ShiftBuffer(Chance* c, Mutant* m) {
  Site s;
  if (!c->Pick(m, &s, HasOperands)) return false;
  for (int tries = 0; tries < 8; ++tries) {
    const auto operands = OperandsOf(s);
    uint32_t* o = operands[c->Below(operands.size())];
    if (!InScratchpad(*m, *s.block, *o)) continue;
    sluice_shape_t* shape;
    sluice_operand_t& operand = Own(s, o, &shape);
    ShiftBy(c, DtypeSize(operand.dtype), &operand);
    return true;
  }
  return false;
}
// Changes both sides of a transfer alike.
inline bool ChangeExtent(Chance* c, Mutant* m, int32_t by) {
  Site s;
  if (!c->Pick(m, &s, HasOperands)) return false;
  const uint32_t axis = c->Below(4);
  std::vector<uint32_t*> fields;
  if (IsTransfer(s)) {
    fields = {&s.transfer().src, &s.transfer().dst};
  } else {
    const auto operands = OperandsOf(s);
    fields = {operands[c->Below(operands.size())]};
  }
  if (by < 0 && s.block->shapes[s.block->operands[*fields[0]].shape].extent[axis] < 2) {
    return false;
  }
  for (uint32_t* field : fields) {
    sluice_shape_t* shape;
    Own(s, field, &shape);
    shape->extent[axis] =
        static_cast<uint32_t>(static_cast<int64_t>(shape->extent[axis]) + by);
  }
  return true;
}
inline bool ShrinkExtent(Chance* c, Mutant* m) { return ChangeExtent(c, m, -1); }
inline bool GrowExtent(Chance* c, Mutant* m) { return ChangeExtent(c, m, 1); }

inline bool WrongSlice(Chance* c, Mutant* m) {
  Site s;
  if (!c->Pick(m, &s, IsTransfer)) return false;
  uint32_t* o = Is(s, SLUICE_OPCODE_LOAD) ? &s.transfer().src : &s.transfer().dst;
  sluice_shape_t* shape;
  sluice_operand_t& operand = Own(s, o, &shape);
  const uint32_t step = shape->stride[c->Below(4)];
  if (c->Half() && step != 0) {
    operand.offset_lo = c->Half() && operand.offset_lo >= step
                            ? operand.offset_lo - step
                            : operand.offset_lo + step;
  } else {
    ShiftBy(c, DtypeSize(operand.dtype), &operand);
  }
  return true;
}
inline bool WrongStride(Chance* c, Mutant* m) {
  Site s;
  if (!c->Pick(m, &s, HasOperands)) return false;
  const auto operands = OperandsOf(s);
  sluice_shape_t* shape;
  const sluice_operand_t& operand = Own(s, operands[c->Below(operands.size())], &shape);
  uint32_t& stride = shape->stride[c->Below(4)];
  const uint32_t width = DtypeSize(operand.dtype);
  stride = c->Below(4) == 0                  ? 0
           : c->Half() || stride < 2 * width ? stride + width
                                             : stride - width;
  return true;
}
inline bool LostStore(Chance* c, Mutant* m) {
  Site s;
  if (!c->Pick(m, &s, [](const Site& x) { return Is(x, SLUICE_OPCODE_STORE); })) {
    return false;
  }
  Remove(s);
  return true;
}
inline bool LostLoad(Chance* c, Mutant* m) {
  Site s;
  if (!c->Pick(m, &s, [](const Site& x) { return Is(x, SLUICE_OPCODE_LOAD); })) {
    return false;
  }
  Remove(s);
  return true;
}
inline bool LostTile(Chance* c, Mutant* m) {
  Site s;
  if (!c->Pick(m, &s, [](const Site& x) { return Is(x, SLUICE_OPCODE_COMPUTE); })) {
    return false;
  }
  Remove(s);
  return true;
}
// Replaces an instruction's work by that of another one of its kind.
inline bool Repeated(Chance* c, Mutant* m) {
  Site s;
  if (!c->Pick(m, &s, [](const Site&) { return true; })) return false;
  auto& list = s.block->lists[s.engine];
  const uint32_t from = c->Below(list.size());
  if (list[from].record.opcode != s.entry().record.opcode || from == s.index) {
    return false;
  }
  s.entry().record.descriptor = list[from].record.descriptor;
  s.entry().record.flags = list[from].record.flags;
  return true;
}
// Puts one buffer of a body where another one lies, in all operands.
inline bool EarlyReuse(Chance* c, Mutant* m) {
  BlockBuilder& b = m->stream.blocks[c->Below(m->stream.blocks.size())];
  std::vector<uint32_t> offsets;
  for (uint32_t o = 0; o < b.operands.size(); ++o) {
    if (InScratchpad(*m, b, o)) offsets.push_back(b.operands[o].offset_lo);
  }
  if (offsets.size() < 2) return false;
  const uint32_t from = offsets[c->Below(offsets.size())];
  const uint32_t to = offsets[c->Below(offsets.size())];
  if (from == to) return false;
  for (uint32_t o = 0; o < b.operands.size(); ++o) {
    if (InScratchpad(*m, b, o) && b.operands[o].offset_lo == from) {
      b.operands[o].offset_lo = to;
    }
  }
  return true;
}
inline bool IsTile(const Site& s) { return Is(s, SLUICE_OPCODE_COMPUTE); }

inline bool WrongFlag(Chance* c, Mutant* m) {
  Site s;
  if (!c->Pick(m, &s, IsTile)) return false;
  s.entry().record.flags ^= static_cast<uint8_t>(1 + c->Below(3));
  return true;
}
inline bool WrongChannels(Chance* c, Mutant* m) {
  Site s;
  if (!c->Pick(m, &s, [](const Site& x) { return IsTile(x) && x.tile().c_end != 0; })) {
    return false;
  }
  sluice_tile_t& t = s.tile();
  switch (c->Below(4)) {
    case 0:
      ++t.c_begin;
      return true;
    case 1:
      --t.c_end;
      return true;
    case 2:
      ++t.c_end;
      return true;
    default:
      ++t.c_begin;
      ++t.c_end;
      return true;
  }
}
inline bool WrongOrigin(Chance* c, Mutant* m) {
  Site s;
  if (!c->Pick(m, &s, IsTile)) return false;
  uint32_t& o = s.tile().origin[c->Below(4)];
  o = o > 0 && c->Half() ? o - 1 : o + 1;
  return true;
}
inline bool WrongPad(Chance* c, Mutant* m) {
  Site s;
  if (!c->Pick(m, &s, IsTile)) return false;
  uint16_t& p = s.tile().pad[c->Below(4)];
  p = static_cast<uint16_t>(p > 0 && c->Half() ? p - 1 : p + 1);
  return true;
}
inline bool WrongRegion(Chance* c, Mutant* m) {
  if (m->stream.bindings.empty()) return false;
  sluice_binding_t& b = m->stream.bindings[c->Below(m->stream.bindings.size())];
  b.region = (b.region + 1 + c->Below(5)) % 6;
  return true;
}
inline bool WrongBase(Chance* c, Mutant* m) {
  if (m->stream.bindings.empty()) return false;
  sluice_binding_t& b = m->stream.bindings[c->Below(m->stream.bindings.size())];
  static const uint32_t steps[] = {1, 4, 16, 64};
  const uint32_t step = steps[c->Below(4)];
  b.base_lo = c->Half() && b.base_lo >= step ? b.base_lo - step : b.base_lo + step;
  return true;
}
inline bool OtherBindings(Chance* c, Mutant* m) {
  auto& all = m->stream.instances;
  sluice_instance_t& a = all[c->Below(all.size())];
  sluice_instance_t& b = all[c->Below(all.size())];
  const BlockBuilder &one = m->stream.blocks[a.block], &two = m->stream.blocks[b.block];
  if (&a == &b || one.slot_count != two.slot_count ||
      one.kernel_count != two.kernel_count) {
    return false;
  }
  c->Half() ? std::swap(a.first_binding, b.first_binding)
            : std::swap(a.first_kernel, b.first_kernel);
  return true;
}
inline bool WrongAttribute(Chance* c, Mutant* m) {
  if (m->stream.attributes.empty()) return false;
  m->stream.attributes[c->Below(m->stream.attributes.size())] += c->Half() ? 1 : -1;
  return true;
}
inline bool WrongKernel(Chance* c, Mutant* m) {
  Site s;
  if (m->stream.kernels.empty()) return false;
  sluice_kernel_t& k = m->stream.kernels[c->Below(m->stream.kernels.size())];
  if (c->Half()) {
    k.op = static_cast<uint16_t>(1 + c->Below(SLUICE_OP_COUNT - 1));
    return true;
  }
  if (!c->Pick(m, &s,
               [](const Site& x) { return IsTile(x) && x.block->kernel_count > 1; })) {
    return false;
  }
  s.tile().kernel = (s.tile().kernel + 1) % s.block->kernel_count;
  return true;
}
inline bool SwapOperands(Chance* c, Mutant* m) {
  Site s;
  if (!c->Pick(m, &s, HasOperands)) return false;
  const auto operands = OperandsOf(s);
  if (operands.size() < 2) return false;
  const size_t a = c->Below(operands.size()), b = c->Below(operands.size());
  if (a == b) return false;
  std::swap(*operands[a], *operands[b]);
  return true;
}
// Exchanges the descriptors of two instructions of one kind.
inline bool SwapDescriptors(Chance* c, Mutant* m) {
  Site s;
  if (!c->Pick(m, &s, [](const Site&) { return true; })) return false;
  auto& list = s.block->lists[s.engine];
  const uint32_t with = c->Below(list.size());
  if (list[with].record.opcode != s.entry().record.opcode || with == s.index) {
    return false;
  }
  std::swap(list[with].record.descriptor, s.entry().record.descriptor);
  return true;
}
inline bool LostHostCall(Chance* c, Mutant* m) {
  Site s;
  if (!c->Pick(m, &s, IsHost)) return false;
  Remove(s);
  return true;
}
inline bool WrongHostReason(Chance* c, Mutant* m) {
  Site s;
  if (!c->Pick(m, &s, IsHost)) return false;
  uint32_t* why = &s.block->host_calls[s.entry().record.descriptor].why;
  *why = (*why + 1 + c->Below(SLUICE_WHY_COUNT)) % (SLUICE_WHY_COUNT + 1);
  return true;
}
inline bool ShortHostCall(Chance* c, Mutant* m) {
  Site s;
  if (!c->Pick(m, &s, IsHost)) return false;
  sluice_host_call_t& call = s.block->host_calls[s.entry().record.descriptor];
  if (call.why == SLUICE_WHY_OPAQUE || call.cycles_lo < 2) return false;
  call.cycles_lo = 1 + c->Below(call.cycles_lo - 1);
  return true;
}
inline bool WrongHostOperand(Chance* c, Mutant* m) {
  Site s;
  if (!c->Pick(m, &s, IsHost)) return false;
  sluice_host_call_t& call = s.block->host_calls[s.entry().record.descriptor];
  sluice_operand_t& o =
      s.block->operands[call.first_operand + c->Below(call.inputs + call.outputs)];
  switch (c->Below(4)) {
    case 0:
      ++s.block->shapes[o.shape].extent[c->Below(4)];
      return true;
    case 1:
      ++s.block->shapes[o.shape].stride[c->Below(4)];
      return true;
    case 2:
      std::swap(call.inputs, call.outputs);
      return call.inputs != call.outputs;
    default:
      ShiftBy(c, DtypeSize(o.dtype), &o);
      return true;
  }
}
// Makes the rows of an append go elsewhere than the parameter says.
inline bool WrongPatch(Chance* c, Mutant* m) {
  auto& patches = m->stream.patches;
  if (patches.empty()) return false;
  const size_t at = c->Below(patches.size());
  sluice_patch_t& p = patches[at];
  switch (c->Below(4)) {
    case 0:
      p.step_lo = p.step_lo > 1 && c->Half() ? p.step_lo - 1 : p.step_lo + 1;
      return true;
    case 1:
      ++p.parameter;
      return true;
    case 2:
      patches.erase(patches.begin() + static_cast<long>(at));
      return true;
    default:
      p.binding = c->Below(m->stream.bindings.size());
      return true;
  }
}
inline bool WrongPlace(Chance* c, Mutant* m) {
  Place& p = m->places[c->Below(m->places.size())];
  if (p.region == 255) return false;
  switch (c->Below(3)) {
    case 0:
      p.offset = c->Half() && p.offset >= 4 ? p.offset - 4 : p.offset + 4;
      return true;
    case 1:
      p.stride[c->Below(4)] += 1;
      return true;
    default:
      std::swap(m->places[c->Below(m->places.size())], p);
      return true;
  }
}

// Mutations of meshes: a wait for a node's work is dropped or moved to another node.
inline uint32_t NodeOf(uint32_t engine) {
  return engine < kFirstNodeEngine ? SLUICE_NONE : (engine - kFirstNodeEngine) / 2;
}
inline bool DropNodeWait(Chance* c, Mutant* m) {
  Site s;
  const auto crosses = [](const Site& x) {
    for (const sluice_wait_t& w : x.entry().waits) {
      if (NodeOf(w.engine) != NodeOf(x.engine)) return true;
    }
    return false;
  };
  if (!c->Pick(m, &s, crosses)) return false;
  auto& waits = s.entry().waits;
  for (size_t i = 0; i < waits.size(); ++i) {
    if (NodeOf(waits[i].engine) == NodeOf(s.engine)) continue;
    if (i + 1 < waits.size() && c->Half()) continue;
    waits.erase(waits.begin() + static_cast<long>(i));
    return true;
  }
  return false;
}
inline bool WaitOnOtherNode(Chance* c, Mutant* m) {
  Site s;
  const uint32_t nodes = m->stream.node_cols * m->stream.node_rows;
  if (nodes == 1 || !c->Pick(m, &s, HasWait)) return false;
  sluice_wait_t& w = SomeWait(c, s);
  if (w.engine < kFirstNodeEngine) return false;
  const uint32_t node = (NodeOf(w.engine) + 1 + c->Below(nodes - 1)) % nodes;
  w.engine =
      static_cast<uint16_t>(w.engine % 2 == 0 ? ComputeEngine(node) : SendEngine(node));
  return true;
}
inline bool WrongNode(Chance* c, Mutant* m) {
  Site s;
  const uint32_t nodes = m->stream.node_cols * m->stream.node_rows;
  if (nodes == 1 || !c->Pick(m, &s, IsTransfer)) return false;
  const bool to =
      Is(s, SLUICE_OPCODE_LOAD) || (Is(s, SLUICE_OPCODE_FORWARD) && c->Half());
  uint16_t& node = to ? s.transfer().dst_node : s.transfer().src_node;
  node = static_cast<uint16_t>((node + 1 + c->Below(nodes - 1)) % nodes);
  return true;
}
inline bool WrongRectangle(Chance* c, Mutant* m) {
  Site s;
  if (m->stream.node_cols * m->stream.node_rows == 1) return false;
  if (!c->Pick(m, &s, [](const Site& x) {
        return IsTransfer(x) && !Is(x, SLUICE_OPCODE_STORE);
      })) {
    return false;
  }
  uint16_t& n = c->Half() ? s.transfer().dst_cols : s.transfer().dst_rows;
  n = static_cast<uint16_t>(n > 1 && c->Half() ? n - 1 : n + 1);
  return true;
}
inline bool LostForward(Chance* c, Mutant* m) {
  Site s;
  if (!c->Pick(m, &s, [](const Site& x) { return Is(x, SLUICE_OPCODE_FORWARD); })) {
    return false;
  }
  Remove(s);
  return true;
}
// Exchanges the lists of two nodes: their compute engines, or their send engines.
inline bool SwapNodes(Chance* c, Mutant* m) {
  const uint32_t nodes = m->stream.node_cols * m->stream.node_rows;
  if (nodes == 1) return false;
  BlockBuilder& b = m->stream.blocks[c->Below(m->stream.blocks.size())];
  const uint32_t from = c->Below(nodes);
  const uint32_t to = (from + 1 + c->Below(nodes - 1)) % nodes;
  const bool send = c->Half();
  const uint32_t one = send ? SendEngine(from) : ComputeEngine(from);
  const uint32_t two = send ? SendEngine(to) : ComputeEngine(to);
  if (std::max(one, two) >= b.lists.size()) return false;
  if (b.lists[one].empty() && b.lists[two].empty()) return false;
  std::swap(b.lists[one], b.lists[two]);
  return true;
}

struct Mutation {
  const char* name;
  bool (*apply)(Chance*, Mutant*);
};
inline const std::vector<Mutation>& Mutations() {
  static const std::vector<Mutation> all = {
      {"dropped wait", DropWait},
      {"weakened wait", WeakenWait},
      {"wait on another engine", WaitElsewhere},
      {"wrong side of a visit", WrongSide},
      {"wrong loop", WrongLoop},
      {"wrong step of a loop", WrongStep},
      {"another queue", OtherQueue},
      {"wrong role", WrongRole},
      {"wrong descriptors", WrongDescriptors},
      {"wrong engines", WrongEngines},
      {"swapped neighbours", SwapNeighbours},
      {"swapped descriptors", SwapDescriptors},
      {"shifted buffer", ShiftBuffer},
      {"shrunk extent", ShrinkExtent},
      {"grown extent", GrowExtent},
      {"wrong slice", WrongSlice},
      {"wrong stride", WrongStride},
      {"lost store", LostStore},
      {"lost load", LostLoad},
      {"lost tile", LostTile},
      {"repeated neighbour", Repeated},
      {"early reuse", EarlyReuse},
      {"wrong first/last flag", WrongFlag},
      {"wrong channel range", WrongChannels},
      {"wrong origin", WrongOrigin},
      {"wrong padding", WrongPad},
      {"wrong region", WrongRegion},
      {"wrong base", WrongBase},
      {"another instance's table", OtherBindings},
      {"wrong attribute", WrongAttribute},
      {"wrong kernel", WrongKernel},
      {"swapped operands", SwapOperands},
      {"wrong place", WrongPlace},
      {"wrong patch", WrongPatch},
      {"lost host call", LostHostCall},
      {"wrong host operand", WrongHostOperand},
      {"wrong host reason", WrongHostReason},
      {"short host call", ShortHostCall},
  };
  return all;
}
// The mutations above, and those that only several nodes can have.
inline const std::vector<Mutation>& MeshMutations() {
  static const std::vector<Mutation> all = [] {
    std::vector<Mutation> list = {
        {"dropped wait on a node", DropNodeWait},
        {"wait on another node", WaitOnOtherNode},
        {"wrong node", WrongNode},
        {"wrong rectangle", WrongRectangle},
        {"lost forward", LostForward},
        {"swapped nodes", SwapNodes},
    };
    list.insert(list.end(), Mutations().begin(), Mutations().end());
    return list;
  }();
  return all;
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_MUTATION_MUTATIONS_H_
