// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include <algorithm>
#include <cstring>

#include "machine_parts.h"

namespace sluice_sim {

namespace {

uint32_t PatchedBinding(const sluice_walker_t& walker, uint32_t patch) {
  sluice_patch_t record;
  std::memcpy(&record,
              walker.image + walker.header.patch_offset + patch * sizeof record,
              sizeof record);
  return record.binding;
}

uint32_t BindingOf(const Machine& m, const Flight& flight, uint32_t operand) {
  sluice_block_t block;
  sluice_walk_block(&m.walker, flight.visit.instance, &block);
  sluice_operand_t record;
  std::memcpy(&record, m.walker.image + block.operand_offset + operand * sizeof record,
              sizeof record);
  sluice_instance_t instance;
  std::memcpy(&instance,
              m.walker.image + m.walker.header.instance_offset +
                  flight.visit.instance * sizeof instance,
              sizeof instance);
  return instance.first_binding + record.slot;
}

}  // namespace

Machine::Machine(const sluice_walker_t& the_walker, const Graph& the_graph,
                 const Hardware& the_hardware, Memory* the_memory, bool is_functional)
    : walker(the_walker),
      graph(the_graph),
      hardware(the_hardware),
      memory(*the_memory),
      functional(is_functional),
      padded(the_graph.tensors.size(), false) {
  for (uint32_t i = 0; i < walker.header.patch_count; ++i) {
    patched.insert(PatchedBinding(walker, i));
  }
  for (const Layer& layer : graph.layers) {
    if (OpOf(layer.op).means == Means::kPad) padded[layer.outputs[0]] = true;
  }
}

Access Reach(const Machine& m, const Flight& flight, uint32_t operand, uint32_t node,
             bool write, const char* role) {
  Access access;
  sluice_walk_operand(&m.walker, &flight.visit, operand, &access.operand);
  access.operand.offset = m.memory.Offset(access.operand.region, access.operand.offset);
  access.space = m.memory.Space(access.operand.region, node);
  access.write = write;
  access.role = role;
  access.patched =
      !m.patched.empty() && m.patched.count(BindingOf(m, flight, operand)) != 0;
  return access;
}

namespace {

bool IsElementwise(const Flight& flight) {
  return flight.opcode == SLUICE_OPCODE_COMPUTE &&
         OpOf(static_cast<int>(flight.op)).elementwise;
}

bool SameBox(const sluice_walk_operand_t& a, const sluice_walk_operand_t& b) {
  bool same = a.offset == b.offset && a.bytes == b.bytes;
  for (int i = 0; i < 4; ++i) {
    same = same && a.extent[i] == b.extent[i] &&
           (a.extent[i] == 1 || a.stride[i] == b.stride[i]);
  }
  return same;
}

// Hardware may write results before it has read all operands. So a result must not
// overlap its operands, except for partial sums and for an elementwise operator's input
// with exactly the same box. Results must not overlap each other.
Trap CheckApart(const Flight& flight) {
  for (const Access& written : flight.accesses) {
    if (!written.write) continue;
    for (const Access& read : flight.accesses) {
      const std::string role = read.role;
      const bool sums = role == "accumulator" && role == written.role;
      if (&read == &written || sums || !Overlap(written, read)) continue;
      if (IsElementwise(flight) && !read.write && role != "weight" &&
          SameBox(written.operand, read.operand)) {
        continue;
      }
      return {"overlap", std::string(written.role) + " overwrites " + role};
    }
  }
  return {};
}

}  // namespace

Trap CheckAccesses(const Machine& m, const Flight& flight) {
  // Check all bounds first. Then a write, which has each byte once, is no larger than its
  // region, and so is the work of checking its read, even if a stride of 0 repeats bytes.
  for (const Access& access : flight.accesses) {
    if (Trap trap = m.memory.Check(access)) return trap;
    const bool stores = access.write && access.operand.region == SLUICE_REGION_STATE;
    if (access.patched != stores) {
      return {"region", std::string(access.role) +
                            ": states are stored to through patched slots, and these "
                            "serve nothing else"};
    }
  }
  if (Trap trap = CheckApart(flight)) return trap;
  for (const Access& access : flight.accesses) {
    if (!m.functional || access.write) continue;
    if (Trap trap = m.memory.CheckDefined(access)) return trap;
  }
  return {};
}

Trap StartInstruction(const Machine& m, const sluice_instruction_t& instruction,
                      Flight* flight) {
  flight->opcode = instruction.opcode;
  switch (instruction.opcode) {
    case SLUICE_OPCODE_COMPUTE:
      return StartTile(m, instruction, flight);
    case SLUICE_OPCODE_HOST:
      return StartHost(m, instruction, flight);
    default:
      return StartTransfer(m, instruction, flight);
  }
}

void SetPlaces(Machine* m, const std::vector<Place>& places) {
  m->placed = true;
  for (uint32_t i = 0; i < places.size(); ++i) {
    if (m->graph.tensors[i].encoded != 0) m->encoded[places[i].offset] = i;
  }
}

void CompleteFlight(const Machine& m, const Flight& flight) {
  if (!m.functional) return;
  size_t written = 0;
  for (const Access& access : flight.accesses) {
    if (!access.write) continue;
    const Box to = m.memory.At(access);
    const std::vector<uint8_t>& result =
        flight.results.empty() ? flight.result : flight.results[written++];
    const Box from = DenseBox(const_cast<uint8_t*>(result.data()), to.dtype, to.extent);
    CopyBox(from, to);
    m.memory.Define(access);
  }
}

}  // namespace sluice_sim
