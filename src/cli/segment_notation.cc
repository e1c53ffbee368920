// SPDX-License-Identifier: Apache-2.0
#include "cli/segment_notation.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "cli/notation_json.h"
#include "sluice/plan_generated.h"

namespace sluice::cli {

const char kSegmentHelp[] =
    R"(Or segments, as sluice schedule --notation writes them:
  { "segments": [                        layers that run together, in computing order
      {"layers": ["conv1", "pool1"],
       "loops": "H/4 C/2"},              from outside; N H W C cut every layer's output,
      {"layers": ["fc"],                 sum the channels that are added up
       "loops": "sum/8",
       "slice": 4096,                    weights of more bytes come in slices of so many
       "piece": 2048,                    what is handed on comes in pieces of so many
       "leave": [512]} ] }               bytes left empty in the scratchpad, by layer
They may cover a part of the network only if the others are views.)";

namespace {

constexpr const char* kAxes[] = {"N", "H", "W", "C", "sum"};

[[noreturn]] void Fail(const std::string& text) {
  throw Failure(kBadInput, "segments: " + text);
}

// Copies a vector that the new plan shares with the old one.
template <typename T>
flatbuffers::Offset<flatbuffers::Vector<const T*>> Copied(
    flatbuffers::FlatBufferBuilder* to, const flatbuffers::Vector<const T*>* from) {
  std::vector<T> items;
  for (size_t i = 0; from != nullptr && i < from->size(); ++i) {
    items.push_back(*from->Get(static_cast<flatbuffers::uoffset_t>(i)));
  }
  return to->CreateVectorOfStructs(items);
}

uint32_t Bytes32(const Json& segment, const char* key) {
  if (!segment.contains(key)) return 0;
  const Json& value = segment[key];
  if (!value.is_number_unsigned() || value.get<uint64_t>() > UINT32_MAX) {
    Fail("\"" + std::string(key) + "\" must be a number of bytes below 4 GiB, not " +
         JsonText(value));
  }
  return value.get<uint32_t>();
}

std::vector<SegmentLoop> LoopsFromText(const std::string& text) {
  std::vector<SegmentLoop> loops;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const size_t slash = word.find('/');
    const std::string name = word.substr(0, slash);
    const auto axis = std::find(std::begin(kAxes), std::end(kAxes), name);
    const std::string parts = slash == std::string::npos ? "" : word.substr(slash + 1);
    const bool number = !parts.empty() && parts.size() < 10 &&
                        parts.find_first_not_of("0123456789") == std::string::npos;
    if (axis == std::end(kAxes) || !number || std::stoi(parts) < 2) {
      Fail("\"" + word +
           "\" is no loop; a loop is an axis (N, H, W, C or sum), a slash and the "
           "number of parts, at least 2, as H/4");
    }
    loops.push_back(
        {static_cast<uint32_t>(axis - std::begin(kAxes)), std::stoi(parts)});
  }
  return loops;
}

const wire::Plan& Checked(const Bytes& plan) {
  flatbuffers::Verifier verifier(plan.data(), plan.size());
  if (!wire::VerifyPlanBuffer(verifier)) Fail("the plan is damaged");
  return *wire::GetPlan(plan.data());
}

NotedSegment SegmentFromJson(const Json& json,
                             const std::map<std::string, uint32_t>& layers) {
  if (!json.is_object()) Fail(JsonText(json) + " is no object");
  for (const auto& [key, unused] : json.items()) {
    if (key != "layers" && key != "loops" && key != "slice" && key != "piece" &&
        key != "leave") {
      Fail("there is no key \"" + key + "\"");
    }
  }
  NotedSegment segment;
  if (!json.contains("layers") || !json["layers"].is_array() ||
      json["layers"].empty()) {
    Fail("\"layers\" is missing in " + JsonText(json));
  }
  for (const Json& layer : json["layers"]) {
    const auto entry = layers.find(JsonText(layer));
    if (entry == layers.end()) Fail("the graph has no layer " + JsonText(layer));
    segment.layers.push_back(entry->second);
  }
  if (json.contains("loops")) {
    if (!json["loops"].is_string()) Fail("\"loops\" is no text");
    segment.loops = LoopsFromText(json["loops"].get<std::string>());
  }
  segment.slice = Bytes32(json, "slice");
  segment.piece = Bytes32(json, "piece");
  segment.leave.resize(segment.layers.size());
  if (!json.contains("leave")) return segment;
  if (!json["leave"].is_array() || json["leave"].size() != segment.leave.size()) {
    Fail("\"leave\" must have a number of bytes for each layer");
  }
  for (size_t i = 0; i < segment.leave.size(); ++i) {
    segment.leave[i] = Bytes32({{"leave", json["leave"][i]}}, "leave");
  }
  return segment;
}

}  // namespace

SegmentNotation SegmentsOfPlan(const Bytes& plan) {
  const wire::Plan& p = Checked(plan);
  if (p.segment() == nullptr || p.segment()->size() == 0) {
    throw Failure(
        kBadInput,
        "the plan has no segments: the default solver makes them on one node, "
        "where they cost less than layers one by one");
  }
  SegmentNotation notation;
  notation.placing = p.placing();
  uint32_t position = 0, loop = 0;
  for (const wire::Segment* s : *p.segment()) {
    NotedSegment segment;
    segment.slice = s->slice();
    segment.piece = s->piece();
    for (uint32_t i = 0; i < s->layers(); ++i, ++position) {
      if (position >= p.order()->size()) Fail("the plan is damaged");
      segment.layers.push_back(p.order()->Get(position));
      const bool leaves = p.leave() != nullptr && position < p.leave()->size();
      segment.leave.push_back(leaves ? p.leave()->Get(position) : 0);
    }
    for (uint32_t i = 0; i < s->loops(); ++i, ++loop) {
      if (p.loop() == nullptr || loop >= p.loop()->size()) Fail("the plan is damaged");
      segment.loops.push_back(
          {p.loop()->Get(loop)->axis(), p.loop()->Get(loop)->trips()});
    }
    notation.segments.push_back(std::move(segment));
  }
  return notation;
}

std::vector<uint32_t> SegmentOfLayers(const Bytes& plan, size_t layers) {
  const auto* segments = Checked(plan).segment();
  if (segments == nullptr || segments->size() == 0) return {};
  std::vector<uint32_t> found(layers, kNoSegment);
  const SegmentNotation notation = SegmentsOfPlan(plan);
  for (uint32_t s = 0; s < notation.segments.size(); ++s) {
    for (const uint32_t layer : notation.segments[s].layers) {
      if (layer < layers) found[layer] = s;
    }
  }
  return found;
}

Bytes PlanOfSegments(const SegmentNotation& notation, const Bytes& like) {
  const wire::Plan& p = *wire::GetPlan(like.data());
  std::vector<uint32_t> order, leave;
  std::vector<wire::Segment> segments;
  std::vector<wire::Loop> loops;
  for (const NotedSegment& s : notation.segments) {
    segments.emplace_back(static_cast<uint32_t>(s.layers.size()),
                          static_cast<uint32_t>(s.loops.size()), s.slice, s.piece);
    order.insert(order.end(), s.layers.begin(), s.layers.end());
    leave.insert(leave.end(), s.leave.begin(), s.leave.end());
    for (const SegmentLoop& loop : s.loops) loops.emplace_back(loop.axis, loop.parts);
  }
  flatbuffers::FlatBufferBuilder to;
  const auto stream = to.CreateVectorOfStructs(std::vector<wire::Words>());
  const std::vector<wire::Section> sections = {
      {order.empty() ? 0 : order.front(), 2, 0, 0}};
  const auto section = to.CreateVectorOfStructs(sections);
  const auto ordered = to.CreateVector(order);
  const auto left = to.CreateVector(leave);
  const auto segment = to.CreateVectorOfStructs(segments);
  const auto loop = to.CreateVectorOfStructs(loops);
  const auto hashes = Copied(&to, p.layer_hash());
  // Costs are weighed against those of the other plan.
  wire::ReportBuilder report(to);
  report.add_latency_cycles(p.report()->latency_cycles());
  report.add_energy_pj(p.report()->energy_pj());
  const auto reported = report.Finish();
  wire::PlanBuilder plan(to);
  plan.add_graph_hash(p.graph_hash());
  plan.add_hardware_hash(p.hardware_hash());
  plan.add_stream(stream);
  plan.add_report(reported);
  plan.add_section(section);
  plan.add_order(ordered);
  plan.add_layer_hash(hashes);
  plan.add_segment(segment);
  plan.add_loop(loop);
  plan.add_leave(left);
  plan.add_placing(notation.placing);
  wire::FinishPlanBuffer(to, plan.Finish());
  return Bytes(to.GetBufferPointer(), to.GetBufferPointer() + to.GetSize());
}

std::string LoopsText(const std::vector<SegmentLoop>& loops) {
  std::string text;
  for (const SegmentLoop& loop : loops) {
    text += text.empty() ? "" : " ";
    text += std::string(kAxes[std::min<uint32_t>(loop.axis, 4)]) + "/" +
            std::to_string(loop.parts);
  }
  return text.empty() ? "-" : text;
}

bool HasSegments(const std::string& json) {
  const Json parsed = ParseJson(json);
  return parsed.is_object() && parsed.contains("segments");
}

SegmentNotation SegmentsFromJson(const std::string& text, const Bytes& graph) {
  const Json json = ParseJson(text);
  if (json.is_discarded()) Fail("this is no JSON, or it nests too deeply");
  if (!json.is_object() || !json.contains("segments") || !json["segments"].is_array() ||
      json["segments"].empty() || json.size() != 1) {
    Fail("the file must be {\"segments\": [...]}, with a segment at least");
  }
  std::map<std::string, uint32_t> layers;  // by name or number, as JSON
  const std::vector<Json> names = LayerNames(graph);
  for (uint32_t i = 0; i < names.size(); ++i) {
    layers[JsonText(names[i])] = i;
    layers[std::to_string(i)] = i;
  }
  SegmentNotation notation;
  std::vector<bool> seen(names.size());
  for (const Json& segment : json["segments"]) {
    notation.segments.push_back(SegmentFromJson(segment, layers));
    for (const uint32_t layer : notation.segments.back().layers) {
      if (seen[layer]) Fail("layer " + JsonText(names[layer]) + " stands there twice");
      seen[layer] = true;
    }
  }
  return notation;
}

std::string SegmentsToText(const SegmentNotation& notation, const Bytes& graph) {
  const Json json = SegmentsToJson(notation, graph);
  std::string text;
  for (const Json& segment : json["segments"]) {
    text += (text.empty() ? "{\"segments\": [\n " : ",\n ") + JsonText(segment);
  }
  return text + "\n]}\n";
}

Json SegmentsToJson(const SegmentNotation& notation, const Bytes& graph) {
  const std::vector<Json> names = LayerNames(graph);
  Json segments = Json::array();
  for (const NotedSegment& s : notation.segments) {
    Json segment = {{"layers", Json::array()}};
    for (const uint32_t layer : s.layers) segment["layers"].push_back(names.at(layer));
    if (!s.loops.empty()) segment["loops"] = LoopsText(s.loops);
    if (s.slice != 0) segment["slice"] = s.slice;
    if (s.piece != 0) segment["piece"] = s.piece;
    const bool leaves = std::any_of(s.leave.begin(), s.leave.end(),
                                    [](uint32_t bytes) { return bytes != 0; });
    if (leaves) segment["leave"] = s.leave;
    segments.push_back(segment);
  }
  return {{"segments", segments}};
}

}  // namespace sluice::cli
