// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/soma_peer.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "tests/support/malloc_allocator.h"
#include "tests/support/shared_data.h"

namespace sluice {
namespace {

using Json = nlohmann::json;

bool PeerGrid(void*, const int32_t extent[4], uint32_t axes, uint32_t tiles,
              int32_t counts[4]) {
  const int32_t batch = std::gcd(extent[0], static_cast<int32_t>(tiles));
  const int32_t rest = static_cast<int32_t>(tiles) / batch;
  int32_t columns = 1;
  if ((axes & 2) == 0) {
    columns = (axes & 4) != 0 ? rest : 1;
    if (rest > 1 && (axes & 4) == 0) return false;
  } else if ((axes & 4) != 0) {
    const double alpha = static_cast<double>(extent[1]) / extent[2];
    const int32_t x = static_cast<int32_t>(std::floor(std::sqrt(rest / alpha)));
    int32_t down = std::clamp(x, 1, rest);
    while (rest % down != 0) --down;
    int32_t up = std::min(x + 1, rest);
    while (rest % up != 0) ++up;
    const double off_down = std::fabs(rest / down - alpha * down);
    const double off_up = std::fabs(rest / up - alpha * up);
    columns = off_down < off_up ? down : up;
  }
  counts[0] = batch;
  counts[1] = rest / columns;
  counts[2] = columns;
  counts[3] = 1;
  return extent[1] >= counts[1] && extent[2] >= counts[2];
}

void PeerNeed(void* user, uint32_t layer, uint32_t input, const CutBox& ofmap,
              CutBox* out) {
  const PeerNetwork::Rule& r = static_cast<PeerNetwork*>(user)->rules[layer];
  *out = ofmap;
  if (input >= r.first_operand) {
    out->end[1] = r.group_c;
    out->end[2] = r.r * r.s;
    return;
  }
  switch (r.kind) {
    case PeerNetwork::Rule::kWindow:
      out->end[1] = std::min((ofmap.end[1] - 1) * r.stride_h + r.r - r.pad_h, r.in_h);
      out->end[2] = std::min((ofmap.end[2] - 1) * r.stride_w + r.s - r.pad_w, r.in_w);
      out->end[3] = r.in_c;
      break;
    case PeerNetwork::Rule::kSame:
      break;
    case PeerNetwork::Rule::kTranspose:
      std::swap(out->end[1], out->end[3]);
      out->end[3] = std::max(out->end[3], r.in_c);  // channels are always loaded whole
      break;
  }
}

bool PeerCost(void* user, uint32_t layer, const int32_t extent[4], TileCost* out) {
  const PeerNetwork* network = static_cast<PeerNetwork*>(user);
  CoreCost cost;
  if (!CoreArrayCost(network->platform.array, network->rules[layer].core, extent,
                     &cost)) {
    return false;
  }
  *out = TileCost{cost.cycles, cost.energy_pj};
  return true;
}

PeerNetwork::Rule ReadRule(const Json& l) {
  const std::string type = l["type"];
  PeerNetwork::Rule r = {};
  const bool window =
      type == "conv" || type == "groupconv" || type == "fc" || type == "pool";
  r.kind = window                ? PeerNetwork::Rule::kWindow
           : type == "transpose" ? PeerNetwork::Rule::kTranspose
                                 : PeerNetwork::Rule::kSame;
  r.in_c = l["ifmap"][0];
  r.in_h = l["ifmap"][1];
  r.in_w = l["ifmap"][2];
  r.r = l["R"];
  r.s = l["S"];
  r.stride_h = l["stride_h"];
  r.stride_w = l["stride_w"];
  r.pad_h = l["pad_h"];
  r.pad_w = l["pad_w"];
  const int32_t groups = l["groups"];
  r.group_c = static_cast<int32_t>(l["C"]) / groups;
  CoreLayer& c = r.core;
  c.vector_op = !window || type == "pool";
  c.activations = !l["weight_preds"].empty();
  c.c = l["C"];
  c.k = l["K"];
  c.r = r.r;
  c.s = r.s;
  c.stride_h = r.stride_h;
  c.stride_w = r.stride_w;
  c.groups = groups;
  c.operands = l.value("operands", 1);
  return r;
}

void ReadLayer(const Json& l, size_t layers, PeerNetwork* network) {
  FusionLayer out = {};
  out.extent[0] = network->batch;
  out.extent[1] = l["H"];
  out.extent[2] = l["W"];
  out.extent[3] = l["K"];
  out.element_bytes = 1;
  out.weight_bytes = l["weight_bytes"];
  out.first_input = static_cast<uint32_t>(network->inputs.size());
  out.axes = 7;
  PeerNetwork::Rule rule = ReadRule(l);
  // A transpose of channels and rows fixes the rows of its group.
  const uint8_t axes = rule.kind == PeerNetwork::Rule::kTranspose ? 5 : 15;
  for (uint32_t p : l["preds"]) network->inputs.push_back({p, axes});
  for (uint32_t x : l["ext_inputs"]) {
    network->inputs.push_back({static_cast<uint32_t>(layers + x), axes});
  }
  rule.first_operand = static_cast<uint32_t>(network->inputs.size()) - out.first_input;
  for (uint32_t p : l["weight_preds"]) network->inputs.push_back({p, axes});
  out.inputs = static_cast<uint32_t>(network->inputs.size()) - out.first_input;
  network->layers.push_back(out);
  network->rules.push_back(rule);
  network->alone.push_back(l["type"] == "fc");
}

}  // namespace

PeerPlatform MakePeerPlatform(const std::string& name) {
  PeerPlatform p = {};
  CoreArray& a = p.array;
  a.rows = a.columns = 4;
  a.input_bytes = 1024;
  a.output_bytes = 256;
  a.mac_pj = 0.018;
  a.vector_op_pj = 0.0873;
  if (name == "edge") {
    p.buffer_bytes = int64_t{8} << 20;
    p.dram_bytes_per_cycle = 16;
    a.vector = 16;
    a.lane = 32;
    a.weight_bytes = 2048;
    a.read_bytes_per_cycle = 256;
    a.vector_ops_per_cycle = 512;
    a.input_read_pj = 2.24871;
    a.input_write_pj = 0.32085;
    a.weight_read_pj = 0.51204;
    a.weight_write_pj = 0.50589;
    a.output_read_pj = 0.284592;
    a.output_write_pj = 0.371712;
    a.slice_read_pj = 0.537485751;
    a.slice_write_pj = 0.695652474;
    a.gbuf_read_pj = 1.52588502;
    a.gbuf_write_pj = 1.644652812;
  } else {
    p.buffer_bytes = int64_t{32} << 20;
    p.dram_bytes_per_cycle = 128;
    a.vector = 64;
    a.lane = 64;
    a.weight_bytes = 4096;
    a.read_bytes_per_cycle = 512;
    a.vector_ops_per_cycle = 4096;
    a.input_read_pj = 4.22145855;
    a.input_write_pj = 0.3725106;
    a.weight_read_pj = 0.38145855;
    a.weight_write_pj = 0.3725106;
    a.output_read_pj = 0.34435632;
    a.output_write_pj = 0.44977152;
    a.slice_read_pj = 1.6868605330215998;
    a.slice_write_pj = 2.1832554647377704;
    a.gbuf_read_pj = 4.788880846381496;
    a.gbuf_write_pj = 5.161625055034795;
  }
  return p;
}

std::string PeerFolder() {
  const std::string folder = sluice_test::SharedPath("reference/soma");
  return std::ifstream(folder + "/soma.md") ? folder : "";
}

std::unique_ptr<PeerNetwork> ReadPeerNetwork(const std::string& folder,
                                             const std::string& name, int32_t batch,
                                             const std::string& platform) {
  std::ifstream in(folder + "/networks/" + name + ".json");
  const Json json = Json::parse(in);
  auto network = std::make_unique<PeerNetwork>();
  network->name = name;
  network->batch = batch;
  network->platform = MakePeerPlatform(platform);
  for (const Json& x : json["inputs"]) {
    network->externals.push_back({{batch, x["h"], x["w"], x["c"]}, 1});
  }
  for (const Json& l : json["layers"]) {
    ReadLayer(l, json["layers"].size(), network.get());
  }
  FusionProblem& p = network->problem;
  std::vector<FusionLayer>& layers = network->layers;
  network->consumers.resize(network->inputs.size());
  p.inputs = {network->inputs.data(), network->inputs.size()};
  LinkConsumers({layers.data(), layers.size()}, p.inputs,
                {network->consumers.data(), network->consumers.size()});
  p.layers = {layers.data(), layers.size()};
  p.consumers = {network->consumers.data(), network->consumers.size()};
  p.externals = {network->externals.data(), network->externals.size()};
  p.dram_bandwidth = {network->platform.dram_bytes_per_cycle, 1};
  p.dram_pj_per_byte = 84;
  p.buffer_bytes = network->platform.buffer_bytes;
  network->model = {network.get(), PeerGrid, PeerNeed, PeerCost, kTileUniform};
  return network;
}

std::vector<PeerResult> ReadPeerResults(const std::string& folder) {
  static const std::pair<const char*, const char*> kNames[] = {
      {"ResNet-50", "resnet50"},
      {"ResNet-101", "resnet101"},
      {"IRes-v1", "inception_resnet_v1"},
      {"RandWire", "randwire"},
      {"GPT2-S prefill", "gpt2_small_prefill"},
      {"GPT2-S decode", "gpt2_small_decode"},
      {"GPT2-XL prefill", "gpt2_xl_prefill"},
      {"GPT2-XL decode", "gpt2_xl_decode"}};
  std::ifstream in(folder + "/soma.md");
  std::vector<PeerResult> rows;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("### ", 0) == 0) inside = line.rfind("### 8.1", 0) == 0;
    if (!inside || line.rfind("| ", 0) != 0) continue;
    std::vector<std::string> cells;
    std::istringstream cut(line);
    for (std::string cell; std::getline(cut, cell, '|');) {
      while (!cell.empty() && cell.front() == ' ') cell.erase(0, 1);
      while (!cell.empty() && cell.back() == ' ') cell.pop_back();
      cell.erase(std::remove(cell.begin(), cell.end(), '*'), cell.end());
      cell.erase(std::remove(cell.begin(), cell.end(), ','), cell.end());
      cells.push_back(cell);
    }
    for (const auto& [title, name] : kNames) {
      if (cells.size() < 16 || cells[1] != title) continue;
      rows.push_back({name, std::stoi(cells[2]), cells[3], std::stod(cells[6]),
                      std::stod(cells[8]), std::stod(cells[15]),
                      std::stoll(cells[12])});
    }
  }
  return rows;
}

namespace {

// An ofmap axis cut into parts of n elements has at least length / (n + slack) parts. The
// slack is the number of elements between two parts that the readers' windows skip.
struct LeastAxis {
  double length, slack;
};

LeastAxis ThroughWindow(const LeastAxis& to, int32_t filter, int32_t stride,
                        int32_t pad, int32_t in) {
  // (n + stride - reach) / stride rows of the reader need n rows.
  const double reach = std::max(1, filter - pad);
  if (reach >= stride && to.slack == 0) {  // parts overlap or touch
    return {std::min((to.length - 1) * stride + reach, static_cast<double>(in)), 0};
  }
  return {std::min(stride * to.length, static_cast<double>(in)),
          std::max(0.0, stride - reach + stride * to.slack)};
}

LeastAxis Looser(const LeastAxis& a, const LeastAxis& b) {
  return {std::min(a.length, b.length), std::max(a.slack, b.slack)};
}

struct LeastExtent {
  LeastAxis h, w;
};

// The least extent that a reader needs of one of its inputs, from the extent of its own ofmap.
LeastExtent Asked(const PeerNetwork& n, uint32_t reader, uint32_t input,
                  const LeastExtent& own) {
  const PeerNetwork::Rule& r = n.rules[reader];
  LeastExtent need = own;
  if (input >= r.first_operand) {
    need.h = {static_cast<double>(r.group_c), 0};
    need.w = {static_cast<double>(r.r * r.s), 0};
  } else if (r.kind == PeerNetwork::Rule::kWindow) {
    need.h = ThroughWindow(own.h, r.r, r.stride_h, r.pad_h, r.in_h);
    need.w = ThroughWindow(own.w, r.s, r.stride_w, r.pad_w, r.in_w);
  } else if (r.kind == PeerNetwork::Rule::kTranspose) {
    need.h = {static_cast<double>(n.layers[reader].extent[3]), 0};
  }
  return need;
}

std::vector<LeastExtent> LeastExtents(const PeerNetwork& n) {
  std::vector<LeastExtent> least(n.layers.size());
  for (size_t i = n.layers.size(); i-- > 0;) {
    const FusionLayer& l = n.layers[i];
    least[i] = {{static_cast<double>(l.extent[1]), 0},
                {static_cast<double>(l.extent[2]), 0}};
    for (uint32_t c = 0; c < l.consumers; ++c) {
      const uint32_t reader = n.consumers[l.first_consumer + c];
      const FusionLayer& to = n.layers[reader];
      for (uint32_t e = 0; e < to.inputs; ++e) {
        if (n.inputs[to.first_input + e].source != i) continue;
        const LeastExtent need = Asked(n, reader, e, least[reader]);
        least[i].h = Looser(least[i].h, need.h);
        least[i].w = Looser(least[i].w, need.w);
      }
    }
  }
  return least;
}

// The least cost of the whole layer over all extents that its tiles can have.
TileCost CheapestTiles(const PeerNetwork& n, uint32_t layer, const LeastExtent& least,
                       double* cycles) {
  TileCost out = {1, 1e300};
  *cycles = 1e300;
  const int32_t* whole = n.layers[layer].extent;
  for (int32_t b = 1; b <= whole[0]; ++b) {
    if (whole[0] % b != 0) continue;
    for (int32_t h = 1; h <= whole[1]; ++h) {
      for (int32_t w = 1; w <= whole[2]; ++w) {
        const int32_t extent[4] = {b, h, w, whole[3]};
        TileCost cost;
        if (!n.model.cost(n.model.user, layer, extent, &cost)) continue;
        const double tiles = whole[0] / b *
                             std::max(1.0, least.h.length / (h + least.h.slack)) *
                             std::max(1.0, least.w.length / (w + least.w.slack));
        out.energy_pj = std::min(out.energy_pj, tiles * cost.energy_pj);
        *cycles = std::min(*cycles, tiles * static_cast<double>(cost.cycles));
      }
    }
  }
  return out;
}

// The least number of elements along an axis, over all sizes of parts.
double LeastElements(const LeastAxis& a) { return a.length / (1 + a.slack); }

}  // namespace

double PeerBound(const PeerNetwork& n) {
  const std::vector<LeastExtent> least = LeastExtents(n);
  struct Known {
    double energy_pj, cycles;
  };
  std::map<std::vector<double>, Known> known;  // by all that determines a cost
  double energy = 0;
  double cycles = 0;
  double bytes = 0;
  for (uint32_t i = 0; i < n.layers.size(); ++i) {
    const FusionLayer& l = n.layers[i];
    const CoreLayer& c = n.rules[i].core;
    std::vector<double> key = {least[i].h.length, least[i].h.slack, least[i].w.length,
                               least[i].w.slack};
    for (int32_t v :
         {static_cast<int32_t>(c.vector_op), static_cast<int32_t>(c.activations), c.c,
          c.k, c.r, c.s, c.stride_h, c.stride_w, c.groups, c.operands}) {
      key.push_back(v);
    }
    key.insert(key.end(), l.extent, l.extent + 4);
    auto found = known.find(key);
    if (found == known.end()) {
      Known k = {0, 0};
      k.energy_pj = CheapestTiles(n, i, least[i], &k.cycles).energy_pj;
      found = known.emplace(key, k).first;
    }
    energy += found->second.energy_pj;
    cycles += found->second.cycles;
    bytes += static_cast<double>(l.weight_bytes);
    if (l.consumers == 0) {
      bytes += 1.0 * l.extent[0] * l.extent[1] * l.extent[2] * l.extent[3];
    }
    for (uint32_t e = 0; e < l.inputs; ++e) {
      const uint32_t source = n.inputs[l.first_input + e].source;
      if (source < n.layers.size()) continue;
      const FusionExternal& x = n.externals[source - n.layers.size()];
      if (e >= n.rules[i].first_operand) continue;
      const LeastExtent need = Asked(n, i, e, least[i]);
      // The peer's model loads an input once for each reader.
      bytes +=
          x.extent[0] * LeastElements(need.h) * LeastElements(need.w) * x.extent[3];
    }
  }
  energy += bytes * n.problem.dram_pj_per_byte;
  return energy *
         std::max(cycles, bytes / static_cast<double>(n.platform.dram_bytes_per_cycle));
}

sluice_allocator_t HostAllocator() { return sluice_test::Malloc(); }

}  // namespace sluice
