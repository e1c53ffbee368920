// SPDX-License-Identifier: Apache-2.0
// HOST: a whole layer, which the host executes.
#include <algorithm>

#include "machine_parts.h"
#include "reference.h"

namespace sluice_sim {
namespace {

// Checks that the layer must run on the host, for the stated reason, and that the
// call's cycles suffice.
Trap CheckHost(const Machine& m, const Layer& layer, const sluice_host_call_t& call) {
  const uint32_t why = WhyNot(m.graph, m.hardware, layer);
  const bool opaque = OpOf(layer.op).means == Means::kHost;
  if (!opaque && (why == 0 || !m.hardware.host.there)) {
    return {"host", "executes a layer that is not the host's"};
  }
  if (call.why != why) return {"host", "another reason than the machine's"};
  const uint64_t least = CallCycles(m.graph, m.hardware, layer);
  if ((call.cycles_lo | uint64_t{call.cycles_hi} << 32) >= least) return {};
  return {"host", "declares fewer than " + std::to_string(least) + " cycles"};
}

Trap HostOperands(const Machine& m, const Layer& layer, const sluice_host_call_t& call,
                  Flight* flight) {
  std::vector<uint32_t> tensors;
  for (uint32_t t : layer.inputs) {
    if (t != kAbsent) tensors.push_back(t);
  }
  const size_t inputs = tensors.size();
  tensors.insert(tensors.end(), layer.outputs.begin(), layer.outputs.end());
  if (call.inputs != inputs || call.outputs != layer.outputs.size()) {
    return {"host", "operands of another layer"};
  }
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    const Access access = Reach(m, *flight, call.first_operand + i, 0, i >= inputs,
                                i < inputs ? "input" : "output");
    const Tensor& tensor = m.graph.tensors[tensors[i]];
    if (access.operand.region == SLUICE_REGION_GBUF) {
      return {"region", "the host works in DRAM only"};
    }
    if (!std::equal(tensor.extent.begin(), tensor.extent.end(),
                    access.operand.extent) ||
        static_cast<int>(access.operand.dtype) != tensor.dtype) {
      return {"host", "an operand is not the whole tensor"};
    }
    flight->accesses.push_back(access);
  }
  flight->bytes = CallBytes(m.graph, m.graph.layers[flight->layer]);
  return {};
}

// Executes the layer with the reference kernels on dense copies of the operands.
Trap RunOnHost(const Machine& m, const Layer& layer, Flight* flight) {
  Values values(m.graph.tensors.size());
  size_t operand = 0;
  for (uint32_t t : layer.inputs) {
    if (t == kAbsent) continue;
    const Box from = m.memory.At(flight->accesses[operand++]);
    values[t].resize(static_cast<size_t>(m.graph.tensors[t].bytes));
    CopyBox(from, DenseBox(values[t].data(), from.dtype, from.extent));
  }
  const std::string wrong = RunLayer(m.graph, layer, &values);
  if (!wrong.empty()) return {"host", wrong};
  for (uint32_t t : layer.outputs) flight->results.push_back(std::move(values[t]));
  return {};
}

}  // namespace

Trap StartHost(const Machine& m, const sluice_instruction_t& instruction,
               Flight* flight) {
  sluice_host_call_t call;
  sluice_walk_host_call(&m.walker, flight->visit.instance, instruction.descriptor,
                        &call);
  sluice_kernel_t kernel;
  sluice_walk_kernel(&m.walker, flight->visit.instance, call.kernel, &kernel);
  flight->op = kernel.op;
  flight->layer = kernel.layer;
  Layer layer = m.graph.layers[kernel.layer];
  layer.attributes.clear();
  for (uint32_t i = 0; i < kernel.attribute_count; ++i) {
    layer.attributes.push_back(sluice_walk_attribute(&m.walker, &kernel, i));
  }
  if ((call.cycles_lo | uint64_t{call.cycles_hi} << 32) > kMostCycles) {
    return {"host", "cycles out of range"};
  }
  if (Trap trap = CheckHost(m, m.graph.layers[kernel.layer], call)) return trap;
  flight->end = flight->start + (call.cycles_lo | uint64_t{call.cycles_hi} << 32);
  if (Trap trap = HostOperands(m, layer, call, flight)) return trap;
  if (m.hardware.host.uses_port) {
    flight->at_port = true;
    flight->arrival = flight->end;
    flight->hold = BandwidthCycles(flight->bytes, m.hardware.dram_numerator,
                                   m.hardware.dram_denominator);
  }
  if (Trap trap = CheckAccesses(m, *flight)) return trap;
  return m.functional ? RunOnHost(m, layer, flight) : Trap{};
}

}  // namespace sluice_sim
