// SPDX-License-Identifier: Apache-2.0
#include "engines.h"

namespace sluice_sim {
namespace {

constexpr uint32_t kCompute = SLUICE_DOES_COMPUTE, kForward = SLUICE_DOES_FORWARD;
constexpr uint32_t kMoves = SLUICE_DOES_LOAD | SLUICE_DOES_STORE;

Engine Own(uint32_t does, uint32_t node, const std::string& name) {
  Engine engine;
  engine.record.does = static_cast<uint16_t>(does);
  engine.record.node = static_cast<uint16_t>(node);
  engine.record.queue = SLUICE_NO_QUEUE;
  engine.name = name;
  return engine;
}

std::string ReadQueue(const sluice::wire::Queue& q, uint32_t index, Engine* engine) {
  const uint64_t limit = uint64_t{1} << 30;
  if (q.operations() == 0 || q.operations() > 15 || q.roles() > SLUICE_ROLES ||
      q.max_axes() > 4 || q.burst_bytes() == 0 || q.burst_bytes() > 4096 ||
      q.latency_cycles() > limit || q.descriptor_cycles() > limit) {
    return "queue " + std::to_string(index) + " has a field out of range";
  }
  if ((q.operations() & (kCompute | kForward)) != 0 && !q.per_node()) {
    return "queue " + std::to_string(index) + " forwards or computes for all nodes";
  }
  engine->record.does = static_cast<uint16_t>(q.operations());
  engine->record.queue = static_cast<uint16_t>(index);
  engine->record.roles =
      static_cast<uint8_t>((q.operations() & kMoves) != 0 ? q.roles() : 0);
  engine->name = q.name() == nullptr || q.name()->size() == 0
                     ? "queue " + std::to_string(index)
                     : q.name()->str();
  engine->latency_cycles = q.latency_cycles();
  engine->descriptor_cycles = q.descriptor_cycles();
  engine->burst_bytes = q.burst_bytes();
  engine->max_row_bytes = q.max_row_bytes();
  engine->max_rows = q.max_rows();
  engine->max_axes = q.max_axes();
  return "";
}

uint64_t Up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit; }

}  // namespace

std::string ReadEngines(const sluice::wire::Hardware& hardware,
                        std::vector<Engine>* engines) {
  const uint32_t nodes = hardware.node_cols() * hardware.node_rows();
  uint32_t done = 0;
  engines->clear();
  if (hardware.queues() == nullptr) {
    Engine dma = Own(kMoves, SLUICE_ALL_NODES, "dma");
    dma.record.queue = 0;
    dma.record.roles = SLUICE_ROLES;
    dma.latency_cycles = hardware.dma_latency_cycles();
    engines->push_back(dma);
  } else if (hardware.queues()->size() == 0 || hardware.queues()->size() > 8 ||
             hardware.dma_latency_cycles() != 0) {
    return "queues: 1 to 8 of them, without dma_latency_cycles";
  } else {
    for (uint32_t q = 0; q < hardware.queues()->size(); ++q) {
      Engine queue;
      const std::string error = ReadQueue(*hardware.queues()->Get(q), q, &queue);
      if (!error.empty()) return error;
      if ((done & queue.record.does & (kCompute | kForward)) != 0) {
        return "two queues compute, or two forward";
      }
      done |= queue.record.does;
      queue.record.node = SLUICE_ALL_NODES;
      const std::string name = queue.name;
      const bool each = hardware.queues()->Get(q)->per_node();
      for (uint32_t node = 0; node < (each ? nodes : 1); ++node) {
        if (each) queue.record.node = static_cast<uint16_t>(node);
        if (each && nodes > 1) queue.name = name + " " + std::to_string(node);
        engines->push_back(queue);
      }
    }
  }
  engines->push_back(Own(SLUICE_DOES_HOST, SLUICE_ALL_NODES, "host"));
  for (uint32_t node = 0; node < nodes; ++node) {
    const std::string number = " " + std::to_string(node);
    if ((done & kCompute) == 0) {
      engines->push_back(Own(kCompute, node, "compute" + number));
    }
    if ((done & kForward) == 0 && nodes > 1) {
      engines->push_back(Own(kForward, node, "send" + number));
    }
  }
  return "";
}

namespace {

// How many descriptors rows take that lie along these axes, the innermost one first.
uint64_t DescriptorsOf(const Engine& engine, const std::vector<uint64_t>& axes) {
  uint64_t together = 1, apart = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    const bool fits = engine.max_axes == 0 || i + 1 < engine.max_axes;
    (fits ? together : apart) *= axes[i];
  }
  return engine.max_rows == 0 ? apart : apart * Up(together, engine.max_rows);
}

}  // namespace

QueueLoad LoadOf(const Engine& engine, const sluice_walk_operand_t& src,
                 const sluice_walk_operand_t& dst, bool indexed, uint64_t encoded) {
  // Axes of more than one element, innermost first, that are no part of the row.
  std::vector<uint64_t> outer;
  uint64_t elements = 1;
  for (const uint32_t extent : dst.extent) elements *= extent;
  uint64_t row = dst.bytes / elements;
  bool whole = true;  // so far, the row goes on over the axis
  for (int a = 3; a >= 0; --a) {
    if (dst.extent[a] == 1 || encoded != 0) continue;
    whole =
        whole && src.stride[a] == row && dst.stride[a] == row && !(indexed && a <= 2);
    if (whole) {
      row *= dst.extent[a];
    } else {
      outer.push_back(dst.extent[a]);
    }
  }
  if (encoded != 0) row = encoded;
  uint64_t rows = 1;
  for (const uint64_t extent : outer) rows *= extent;
  QueueLoad load;
  load.bytes = rows * Up(row, engine.burst_bytes) * engine.burst_bytes;
  load.descriptors = DescriptorsOf(engine, outer);
  if (engine.max_row_bytes == 0 || row <= engine.max_row_bytes) return load;
  // Pieces of a row are transferred apart, or as an axis of rows that are all as long as
  // possible and perhaps a last one that is shorter.
  const uint64_t apart = load.descriptors * Up(row, engine.max_row_bytes);
  const uint64_t last = row % engine.max_row_bytes == 0 ? 0 : load.descriptors;
  const uint64_t pieces = row / engine.max_row_bytes;
  if (pieces > 1) outer.insert(outer.begin(), pieces);
  load.descriptors = std::min(apart, DescriptorsOf(engine, outer) + last);
  return load;
}

}  // namespace sluice_sim
