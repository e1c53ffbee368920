// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/soma_peer.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

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

void PeerNeed(void* user, uint32_t layer, uint32_t input, const CutBox& ofmap, CutBox* out) {
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
  const char* shared = std::getenv("SLUICE_SHARED");
  std::string folder = shared != nullptr ? shared : SLUICE_SHARED_DEFAULT;
  folder += "/reference/soma";
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

sluice_allocator_t HostAllocator() {
  sluice_allocator_t a = {};
  a.struct_size = sizeof a;
  a.allocate = [](void*, size_t bytes, size_t alignment) {
    return std::aligned_alloc(alignment,
                              (bytes + alignment - 1) / alignment * alignment);
  };
  a.release = [](void*, void* p, size_t, size_t) { std::free(p); };
  return a;
}

}  // namespace sluice
