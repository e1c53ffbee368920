// SPDX-License-Identifier: Apache-2.0
// Streams on Gemmini against the machine's own library, network by network.
//
// Input    networks of the zoo on gemmini-16x16. Environment: SLUICE_BENCH_ONLY, names
//          (resnet50 mobilenet_v1 vit_b_16 where it is not set)
// Output   MB of mvins and mvouts without biases, MB of biases (an mvin with stride 0 reads
//          one row), millions of array cycles (16 a pass): of the library's tiles
//          (convolutions, products), of the lowered stream with sums that the host
//          finishes, of that with sums that the machine scales; and of FULLY_CONNECTED
//          layers alone. For three plans: the preset's, and two by sluice_gemmini_cost.h,
//          for time above all and for energy. Every stream is run on the model of the
//          machine; bytes that the host copies are counted apart
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "bench/gemmini_library.h"
#include "firmware-sim/wire.h"
#include "presets/presets.h"
#include "sluice_gemmini_cost.h"
#include "support/library.h"
#include "targets/gemmini/board.h"
#include "zoo/zoo.h"

namespace {

using gemmini_library::Cost;
using gemmini_model::BoardResult;
using gemmini_model::Bytes;
using gemmini_model::LayerCounts;
using Json = nlohmann::json;

Cost LibraryCost(const sluice_sim::Graph& graph, const sluice_sim::Layer& layer) {
  const auto& in = graph.tensors[layer.inputs[0]].extent;
  const auto& out = graph.tensors[layer.outputs[0]].extent;
  const auto attribute = [&](size_t i) {
    return i < layer.attributes.size() ? layer.attributes[i] : 0;
  };
  if (layer.op == SLUICE_OP_FULLY_CONNECTED) {
    return gemmini_library::MatmulCost(out[0] * out[1] * out[2], out[3], in[3]);
  }
  if (layer.op == SLUICE_OP_BATCH_MATMUL) {
    Cost one = gemmini_library::MatmulCost(out[2], out[3], in[3]);
    const int64_t matrices = out[0] * out[1];  // of activations: without biases
    return {one.bytes * matrices, 0, one.passes * matrices};
  }
  const bool depthwise = layer.op == SLUICE_OP_DEPTHWISE_CONV;
  if (layer.op != SLUICE_OP_CONV && !depthwise) return {};
  const auto& filter = graph.tensors[layer.inputs[1]].extent;
  gemmini_library::Convolution c;
  c.in_rows = in[1];
  c.in_columns = in[2];
  c.in_channels = in[3];
  c.out_rows = out[1];
  c.out_columns = out[2];
  c.out_channels = out[3];
  c.kernel = filter[1];
  c.stride = attribute(SLUICE_CONV_STRIDE_H);
  c.padding = attribute(SLUICE_CONV_PAD_TOP);
  if (depthwise) return gemmini_library::DepthwiseCost(c);
  if (c.kernel == 1 && c.stride == 1) {
    return gemmini_library::MatmulCost(c.out_rows * c.out_columns, c.out_channels,
                                       c.in_channels);
  }
  return gemmini_library::ConvolutionCost(c);
}

Json LibraryRow(const Bytes& graph_bytes, bool dense_alone) {
  sluice_sim::Graph graph;
  Cost all;
  sluice_sim::ReadGraph(graph_bytes.data(), graph_bytes.size(), &graph);
  for (const sluice_sim::Layer& layer : graph.layers) {
    if (dense_alone && layer.op != SLUICE_OP_FULLY_CONNECTED) continue;
    const Cost cost = LibraryCost(graph, layer);
    all.bytes += cost.bytes;
    all.biases += cost.biases;
    all.passes += cost.passes;
  }
  return {{"bias_megabytes", static_cast<double>(all.biases) / 1e6},
          {"megabytes", static_cast<double>(all.bytes) / 1e6},
          {"megacycles", static_cast<double>(all.passes) * 16 / 1e6}};
}

Json StreamRow(const Bytes& graph, const Bytes& plan, gemmini_model::Scaling scaling) {
  const BoardResult run = gemmini_model::RunBoard(
      graph, plan, 1, gemmini_model::Late::kNothing, {}, scaling);
  if (!run.error.empty()) return {{"error", run.error}};
  const sluice_gemmini_counts& c = run.counts;
  const uint64_t moved = c.input_bytes + c.weight_bytes + c.output_bytes + c.sum_bytes +
                         c.scaled_bytes + c.fetched_bytes + c.spilled_bytes;
  LayerCounts dense;  // of FULLY_CONNECTED layers
  sluice_sim::Graph layers;
  sluice_sim::ReadGraph(graph.data(), graph.size(), &layers);
  for (size_t i = 0; i < run.layers.size(); ++i) {
    if (layers.layers[i].op != SLUICE_OP_FULLY_CONNECTED) continue;
    dense.bytes += run.layers[i].bytes;
    dense.passes += run.layers[i].passes;
  }
  const uint64_t biases = c.commands[SLUICE_GEMMINI_MVIN3] * 64;  // 16 channels
  return {{"megabytes", static_cast<double>(moved) / 1e6},
          {"bias_megabytes", static_cast<double>(biases) / 1e6},
          {"dense_megabytes", static_cast<double>(dense.bytes) / 1e6},
          {"dense_megacycles", static_cast<double>(dense.passes) * 16 / 1e6},
          {"megacycles", static_cast<double>(c.array_cycles) / 1e6},
          {"megabytes_by_kind",
           {{"inputs", static_cast<double>(c.input_bytes) / 1e6},
            {"weights", static_cast<double>(c.weight_bytes) / 1e6},
            {"outputs", static_cast<double>(c.output_bytes) / 1e6},
            {"sums", static_cast<double>(c.sum_bytes) / 1e6},
            {"scaled", static_cast<double>(c.scaled_bytes) / 1e6},
            {"image to rows", static_cast<double>(c.fetched_bytes) / 1e6},
            {"rows to image", static_cast<double>(c.spilled_bytes) / 1e6}}},
          {"host_megabytes", static_cast<double>(c.copied_bytes) / 1e6}};
}

// The default plan of the preset; or one where tiles cost what the lowering's library says,
// for energy times a power of time.
struct Way {
  const char* name;
  bool costs;
  uint32_t delay;
};
constexpr Way kWays[] = {{"preset", false, 1}, {"costs", true, 4}, {"energy", true, 0}};

Bytes PlanOf(const Bytes& graph, const Way& way) {
  sluice_test::Library library;
  const auto handle = library.Graph(graph);
  const auto hardware = library.Hardware(sluice::presets::LoadPreset("gemmini-16x16"));
  sluice_schedule_options_t options = {};
  options.struct_size = sizeof options;
  if (way.costs) {
    options.tile_cost = sluice_gemmini_tile_cost;
    options.tile_cost_user = handle.get();
    options.energy_exponent = 1;
    options.delay_exponent = way.delay;
  }
  sluice_plan_t* made = nullptr;
  if (sluice_schedule(library.context.get(), handle.get(), hardware.get(), &options,
                      &made, &library.diagnostic) != SLUICE_OK) {
    std::fprintf(stderr, "%s\n", library.diagnostic.message);
    return {};
  }
  return sluice_test::BytesOf(sluice_test::PlanPtr(made));
}

void Print(const char* what, const Json& row) {
  std::printf("  %-42s", what);
  if (row.contains("error")) {
    std::printf(" %s\n", row["error"].get<std::string>().c_str());
    return;
  }
  std::printf(" %8.2f MB + %5.2f MB of biases %8.2f M cycles",
              row["megabytes"].get<double>(), row["bias_megabytes"].get<double>(),
              row["megacycles"].get<double>());
  if (row.contains("host_megabytes")) {
    std::printf(", %6.1f MB copied by the host", row["host_megabytes"].get<double>());
    std::printf("; FULLY_CONNECTED %.1f MB %.2f M cycles",
                row["dense_megabytes"].get<double>(),
                row["dense_megacycles"].get<double>());
  }
  std::printf("\n");
}

}  // namespace

int RunGemminiBench(bool json) {
  const char* only = std::getenv("SLUICE_BENCH_ONLY");
  std::istringstream names(only != nullptr ? only : "resnet50 mobilenet_v1 vit_b_16");
  Json all = Json::object();
  for (std::string name; names >> name;) {
    const Bytes graph = sluice::zoo::MakeZooGraph(name, {});
    Json row = {{"library", LibraryRow(graph, false)},
                {"library_dense", LibraryRow(graph, true)}};
    for (const Way& way : kWays) {
      const Bytes plan = PlanOf(graph, way);
      if (plan.empty()) return 1;
      Json& rows = row[way.name];
      rows["host_finishes"] = StreamRow(graph, plan, gemmini_model::Scaling::kHost);
      rows["machine_scales"] = StreamRow(graph, plan, gemmini_model::Scaling::kMachine);
      rows["to_rows"] = StreamRow(graph, plan, gemmini_model::Scaling::kOnChip);
    }
    all[name] = row;
    if (json) continue;
    std::printf("%s\n", name.c_str());
    Print("library", row["library"]);
    Print("library, FULLY_CONNECTED alone", row["library_dense"]);
    for (const Way& way : kWays) {
      const char* const which = way.name;
      std::printf("  plan by %s\n", which);
      Print("stream, the host finishes sums", row[which]["host_finishes"]);
      Print("stream, the machine scales where it can", row[which]["machine_scales"]);
      Print("the same, to rows of the scratchpad", row[which]["to_rows"]);
    }
  }
  if (json) std::printf("%s\n", all.dump(1).c_str());
  return 0;
}
