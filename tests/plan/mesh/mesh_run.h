// SPDX-License-Identifier: Apache-2.0
// A graph on a mesh with given segments: planned by the library's inner functions, checked by
// both judges.
#ifndef SLUICE_TESTS_PLAN_MESH_MESH_RUN_H_
#define SLUICE_TESTS_PLAN_MESH_MESH_RUN_H_

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/rng.h"
#include "emit/emit.h"
#include "firmware-sim/sim.h"
#include "io/write.h"
#include "model/report.h"
#include "plan/mesh/node_program.h"
#include "support/read_graph.h"
#include "support/simulation.h"
#include "verify/verify.h"

namespace sluice_test {

struct MeshSegment {
  int32_t top_batch = 1;
  std::vector<sluice::LayerOnNodes> layers;
};

inline sluice::LayerOnNodes OnNodes(uint32_t layer, const sluice::NodeRegion& region,
                                    const sluice::NodeSplit& split) {
  sluice::LayerOnNodes at = {};
  at.layer = layer;
  at.region = region;
  at.split = split;
  return at;
}

// Splits `dim` into `cols` parts over the columns, and `dim2` into `rows` parts over the rows.
inline sluice::NodeSplit SplitOf(uint32_t dim, int32_t cols, uint32_t dim2 = 0,
                                 int32_t rows = 1) {
  sluice::NodeSplit split = sluice::WholeOnEach();
  split.factor[sluice::kColumns][dim] = cols;
  split.factor[sluice::kRows][dim2] = rows;
  return split;
}

struct MeshRun {
  sluice::Status status = sluice::Status::kOk;  // of planning
  sluice::Status verdict = sluice::Status::kOk;
  sluice::Diagnostic diagnostic = {};
  sluice_report_t report = {};
  sluice::NodeProgram nodes = {};
  sluice_sim::SimulateResult sim;
  std::set<uint32_t> computing;  // engines
  Bytes plan;

  bool Good() const {
    return status == sluice::Status::kOk && verdict == sluice::Status::kOk && sim.ok &&
           sim.mismatches == 0 && sim.compared_bytes > 0 &&
           sim.cycles == report.latency_cycles && sim.cycles == sim.predicted_cycles &&
           sim.cycles <= sim.contended_cycles &&
           sim.contended_cycles <= sim.cycles + sim.link_wait_cycles &&
           sim.dram_read_bytes == report.dram_read_bytes &&
           sim.dram_write_bytes == report.dram_write_bytes;
  }
  std::string Why() const {
    return std::string(diagnostic.rule) + ": " + diagnostic.message + " | " +
           sim.error_code + ": " + sim.error;
  }
};

// The spans of a schedule over its parts.
inline sluice::SegmentSchedule ScheduleOf(std::vector<sluice::Segment>* segments,
                                          std::vector<uint32_t>* order) {
  sluice::SegmentSchedule schedule = {};
  schedule.segments = {segments->data(), segments->size()};
  schedule.order = {order->data(), order->size()};
  return schedule;
}

// Executes the plan on data, with busy links too.
inline void Execute(const GraphSpec& spec, const HardwareSpec& machine, MeshRun* run) {
  const Bytes graph = GraphBytes(spec), hardware = HardwareBytes(machine);
  sluice_sim::SimulateOptions o = SimulationOf(graph, hardware, run->plan);
  o.functional = true;
  o.contention = true;
  for (const ParameterSpec& p : spec.parameters) o.parameters.push_back(p.max);
  o.trace = [run](const sluice_sim::TraceEvent& event) {
    if (event.opcode == SLUICE_OPCODE_COMPUTE) run->computing.insert(event.engine);
  };
  run->sim = sluice_sim::Simulate(o);
}

inline void WriteParts(const sluice::StreamParts& parts, sluice::PlanBytes* image) {
  REQUIRE(WriteStream(parts, image->stream.data()) == sluice::Status::kOk);
  for (size_t i = 0; i < image->debug_layer.size(); ++i) {
    image->debug_layer[i] = parts.debug_layer[i];
  }
}

// Segments name layers in the graph's order; without segments the plan is layer by layer, but
// for runs, of a graph without views.
inline MeshRun RunOnMesh(const GraphSpec& spec, const HardwareSpec& machine,
                         const std::vector<MeshSegment>& given = {}, bool whole = false,
                         const std::vector<sluice::NodeRun>& runs = {}) {
  using sluice::Status;
  MeshRun run;
  Nouns n(spec, machine);
  sluice::Arena scratch(&n.memory), memory(&n.memory), places(&n.memory);
  sluice::Lowering lowering = {};
  REQUIRE(Lower(n.graph, n.hardware, &n.arena, &lowering, &run.diagnostic) ==
          Status::kOk);
  std::vector<std::vector<sluice::LayerOnNodes>> layers;
  std::vector<sluice::Segment> segments;
  std::vector<uint32_t> order;
  for (const MeshSegment& g : given) layers.push_back(g.layers);
  for (size_t i = 0; i < given.size(); ++i) {
    sluice::Segment s = {};
    s.begin = static_cast<uint32_t>(order.size());
    s.top_batch = given[i].top_batch;
    s.layers = {layers[i].data(), layers[i].size()};
    for (const auto& at : layers[i]) order.push_back(at.layer);
    segments.push_back(s);
  }
  const int64_t capacity = n.hardware.scratchpad().capacity_bytes;
  sluice::Budget budget;
  sluice::Program program(&memory, n.hardware);
  const sluice::SegmentSchedule schedule = ScheduleOf(&segments, &order);
  const sluice::TileCoster no_costs = {};
  std::vector<sluice::LayerWay> ways;
  if (!runs.empty()) {
    ways.assign(n.graph.layers.size(), {false, false, WholeMesh(n.hardware)});
  }
  for (const sluice::NodeRun& r : runs) ways[r.first].run = &r;
  run.status = ScheduleOnNodes({n.graph,
                                n.hardware,
                                lowering,
                                capacity,
                                schedule,
                                WholeMesh(n.hardware),
                                whole,
                                no_costs,
                                &budget,
                                &places,
                                &scratch,
                                {ways.data(), ways.size()}},
                               &program, &run.nodes, &run.diagnostic);
  if (run.status != Status::kOk) return run;
  sluice::ProgramWaits waits(&memory);
  int64_t cycles = 0;
  REQUIRE(DeriveWaits({n.graph, n.hardware, program}, run.nodes.lowering.places,
                      &scratch, &waits) == Status::kOk);
  REQUIRE(PredictCycles({n.graph, n.hardware, program}, waits, &scratch, &cycles) ==
          Status::kOk);
  sluice::PlanBound bound;
  REQUIRE(FindBound(n.graph, n.hardware, sluice::PricedBy::kMachine, &scratch,
                    &bound) == Status::kOk);
  REQUIRE(FillReport({n.graph, n.hardware, program}, cycles, bound, &scratch,
                     &run.report) == Status::kOk);
  sluice::Plan plan = {};
  plan.graph_hash = n.graph.hash;
  plan.hardware_hash = n.hardware.hash;
  plan.tensors = run.nodes.lowering.places;
  plan.report = run.report;
  plan.certificate = bound.certificate;
  sluice::StreamParts parts(&memory);
  REQUIRE(
      EmitStream({n.graph, n.hardware, run.nodes.lowering, program, waits, capacity},
                 &scratch, &parts, &run.diagnostic) == Status::kOk);
  sluice::PlanBytes image = {};
  REQUIRE(WritePlan(plan, parts.header.size_bytes, parts.debug_layer.size(), &memory,
                    &image, &run.diagnostic) == Status::kOk);
  WriteParts(parts, &image);
  run.plan.assign(image.all.begin(), image.all.end());
  sluice::Plan read = {};
  REQUIRE(ReadPlan(run.plan.data(), run.plan.size(), &memory, &read, &run.diagnostic) ==
          Status::kOk);
  run.verdict =
      sluice::Verify(n.graph, n.hardware, read, &scratch, nullptr, &run.diagnostic);
  Execute(spec, machine, &run);
  return run;
}

// Random segments of the layers that compute: each layer on a random rectangle of nodes, with
// a random split.
inline std::vector<MeshSegment> RandomSegments(sluice::Rng* rng, const GraphSpec& g,
                                               const HardwareSpec& h) {
  Nouns n(g, h);
  sluice::Lowering lowering = {};
  sluice::Diagnostic d = {};
  REQUIRE(Lower(n.graph, n.hardware, &n.arena, &lowering, &d) == sluice::Status::kOk);
  std::vector<MeshSegment> all;
  const bool together = rng->Below(2) == 0;
  for (uint32_t l = 0; l < g.layers.size(); ++l) {
    if (lowering.is_view[l] != 0) continue;
    const bool computes = sluice::KindOf(g.layers[l].op) == sluice::LayerKind::kCompute;
    const bool joins = computes && !all.empty() && rng->Below(4) != 0 &&
                       sluice::KindOf(g.layers[all.back().layers.back().layer].op) ==
                           sluice::LayerKind::kCompute;
    if (!joins) {
      all.emplace_back();
      all.back().top_batch = 1 + static_cast<int32_t>(rng->Below(2));
    }
    sluice::NodeRegion region;
    const uint32_t extent[2] = {h.node_cols, h.node_rows};
    for (uint32_t axis = 0; axis < 2; ++axis) {
      region.begin[axis] = rng->Below(extent[axis]);
      region.extent[axis] = 1 + rng->Below(extent[axis] - region.begin[axis]);
    }
    // In half of the graphs the layers of a segment take turns on the first layer's region.
    if (joins && together) {
      region = all.back().layers[0].region;
    }
    sluice::NodeSplit split = sluice::WholeOnEach();
    const uint32_t dims[] = {sluice::kDimN, sluice::kDimK, sluice::kDimC,
                             sluice::kDimP, sluice::kDimQ, sluice::kDimG};
    for (uint32_t axis = 0; axis < 2; ++axis) {
      split.factor[axis][dims[rng->Below(6)]] =
          1 + static_cast<int32_t>(rng->Below(region.extent[axis] + 1));
    }
    all.back().layers.push_back(OnNodes(l, region, split));
  }
  return all;
}

// A chain of convolutions and the like, int8, seeded weights.
class Chain {
 public:
  Chain(int32_t n, int32_t h, int32_t w, int32_t c) : shape_{n, h, w, c} {
    spec.tensors.push_back({{n, h, w, c}, SLUICE_DTYPE_INT8, 1, 0, 0});
  }
  Chain& Conv(int32_t k, int32_t filter, int32_t stride = 1, bool depthwise = false) {
    const int32_t pad = filter / 2, c = shape_[3];
    std::vector<int32_t> a(SLUICE_CONV_ATTRIBUTES);
    a[SLUICE_CONV_STRIDE_H] = a[SLUICE_CONV_STRIDE_W] = stride;
    a[SLUICE_CONV_DILATION_H] = a[SLUICE_CONV_DILATION_W] = 1;
    for (int i = 0; i < 4; ++i) a[SLUICE_CONV_PAD_TOP + i] = pad;
    a[SLUICE_CONV_GROUPS] = depthwise ? 0 : 1;
    const uint32_t weight =
        Seeded(depthwise ? std::vector<int32_t>{1, filter, filter, k}
                         : std::vector<int32_t>{k, filter, filter, c});
    for (int i = 1; i <= 2; ++i) {
      shape_[i] = (shape_[i] + 2 * pad - filter) / stride + 1;
    }
    shape_[3] = k;
    return Weighted(depthwise ? SLUICE_OP_DEPTHWISE_CONV : SLUICE_OP_CONV, weight, a);
  }
  Chain& Dense(int32_t k) {
    const uint32_t weight = Seeded({k, shape_[3]});
    shape_[3] = k;
    return Weighted(SLUICE_OP_FULLY_CONNECTED, weight,
                    std::vector<int32_t>(SLUICE_CONV_ATTRIBUTES));
  }
  Chain& Pool(int32_t window) {
    std::vector<int32_t> a(SLUICE_POOL_ATTRIBUTES);
    a[SLUICE_POOL_WINDOW_H] = a[SLUICE_POOL_WINDOW_W] = window;
    a[SLUICE_POOL_STRIDE_H] = a[SLUICE_POOL_STRIDE_W] = window;
    a[SLUICE_POOL_ACT_MIN] = -128;
    a[SLUICE_POOL_ACT_MAX] = 127;
    for (int i = 1; i <= 2; ++i) shape_[i] /= window;
    return Layer(SLUICE_OP_MAX_POOL, {last_}, a);
  }
  Chain& MinimumWith(uint32_t tensor) {
    return Layer(SLUICE_OP_MINIMUM, {last_, tensor}, {});
  }
  // Leaves the last result unread: the next layer reads the tensor before it.
  Chain& Unread() {
    last_ = before_;
    return *this;
  }
  uint32_t last() const { return last_; }
  GraphSpec Done() {
    spec.tensors[last_].kind = 2;
    return spec;
  }

 private:
  uint32_t Seeded(const std::vector<int32_t>& dims) {
    spec.tensors.push_back({dims, SLUICE_DTYPE_INT8, 3, 3, 7 + spec.tensors.size()});
    return static_cast<uint32_t>(spec.tensors.size() - 1);
  }
  Chain& Weighted(uint16_t op, uint32_t weight, std::vector<int32_t> a) {
    a[SLUICE_CONV_ACT_MIN] = -128;
    a[SLUICE_CONV_ACT_MAX] = 127;
    std::vector<int32_t> rows;  // bias, multiplier, shift
    for (int32_t k = 0; k < shape_[3]; ++k) {
      rows.insert(rows.end(), {k * 13 % 101 - 50, 1400000000 + k, -6});
    }
    spec.tensors.push_back(spec.Inline({shape_[3], 3}, SLUICE_DTYPE_INT32, rows));
    return Layer(op, {last_, weight, static_cast<uint32_t>(spec.tensors.size() - 1)},
                 a);
  }
  Chain& Layer(uint16_t op, const std::vector<uint32_t>& inputs,
               const std::vector<int32_t>& a) {
    before_ = last_;
    spec.tensors.push_back({shape_, SLUICE_DTYPE_INT8, 0, 0, 0});
    last_ = static_cast<uint32_t>(spec.tensors.size() - 1);
    spec.layers.push_back({op, inputs, {last_}, a});
    return *this;
  }

  GraphSpec spec;
  std::vector<int32_t> shape_;
  uint32_t last_ = 0, before_ = 0;
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_PLAN_MESH_MESH_RUN_H_
