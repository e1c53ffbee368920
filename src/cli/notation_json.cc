// SPDX-License-Identifier: Apache-2.0
#include "cli/notation_json.h"

#include <algorithm>
#include <map>

#include "sluice/graph_generated.h"

namespace sluice::cli {

const char kNotationHelp[] =
    R"(SCHEDULE.json:
  { "groups": [                          layer-fusion groups, DRAM cuts between them
      [ {"layers": ["conv1", "pool1"], "tiles": 4},    fine-grained groups, FLCs between
        {"layers": ["conv2"], "tiles": 1} ],           them; layers in computing order
      [ {"layers": ["fc"], "tiles": 1} ] ],
    "dram": "list" }                     a list schedule; or "double-buffer"; or every
                                         DRAM tensor in DRAM order with its duration:
    "dram": [ {"kind": "weight", "layer": "conv1", "tile": 0, "start": -1, "end": 7},
              {"kind": "input", "layer": "conv1", "tile": 0, "source": "image",
               "start": -1, "end": 1},
              {"kind": "store", "layer": "fc", "tile": 0, "start": 8, "end": 9} ]
Durations count tiles in computing order, -1 is the time before the first. -o writes the
schedule as it was evaluated, in this form, with its DRAM tensors.)";

namespace {

const char* const kKinds[] = {"weight", "input", "store"};

[[noreturn]] void Fail(const std::string& text) {
  throw Failure(kBadInput, "schedule: " + text);
}

// Maps names of layers or tensors to numbers and back. A name that repeats cannot be
// used.
class Names {
 public:
  Names(const wire::Graph& graph, const flatbuffers::Vector<uint32_t>* names,
        uint32_t count, std::string what)
      : what_(std::move(what)) {
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t name =
          names != nullptr && i < names->size() ? names->Get(i) : kRepeated;
      text_.push_back(graph.names() != nullptr && name < graph.names()->size()
                          ? graph.names()->Get(name)->str()
                          : "");
      const auto [entry, added] = number_.emplace(text_.back(), i);
      if (!added) entry->second = kRepeated;
    }
  }

  uint32_t Number(const Json& value) const {
    if (value.is_number_unsigned() && value.get<uint64_t>() < text_.size()) {
      return value.get<uint32_t>();
    }
    const auto entry =
        value.is_string() ? number_.find(value.get<std::string>()) : number_.end();
    if (entry == number_.end()) {
      Fail("the graph has no " + what_ + " " + JsonText(value));
    }
    if (entry->second == kRepeated) {
      Fail("several " + what_ + "s are called " + JsonText(value) +
           "; give the number");
    }
    return entry->second;
  }

  Json Name(uint32_t number) const {
    if (number >= text_.size()) return nullptr;
    const auto entry = number_.find(text_[number]);
    if (text_[number].empty() || entry->second == kRepeated) return number;
    return text_[number];
  }

 private:
  static constexpr uint32_t kRepeated = 0xffffffffu;
  std::string what_;
  std::vector<std::string> text_;
  std::map<std::string, uint32_t> number_;
};

int32_t IntOf(const Json& entry, const char* key) {
  if (!entry.contains(key) || !entry[key].is_number_integer()) {
    Fail("\"" + std::string(key) + "\" is missing or no whole number in " +
         JsonText(entry));
  }
  const int64_t value = entry[key].get<int64_t>();
  if (value < INT32_MIN || value > INT32_MAX) {
    Fail(std::string(key) + " " + JsonText(entry[key]) + " is too large");
  }
  return static_cast<int32_t>(value);
}

void CheckKeys(const Json& object, std::initializer_list<const char*> known) {
  if (!object.is_object()) Fail(JsonText(object) + " is no object");
  for (const auto& [key, unused] : object.items()) {
    if (std::none_of(known.begin(), known.end(),
                     [&key = key](const char* k) { return key == k; })) {
      Fail("there is no key \"" + key + "\" in " + JsonText(object).substr(0, 80));
    }
  }
}

void ReadGroups(const Json& groups, const Names& layers, Notation* out) {
  if (!groups.is_array() || groups.empty()) Fail("\"groups\" is no list of groups");
  for (const Json& group : groups) {
    if (!group.is_array() || group.empty()) Fail(JsonText(group) + " is no group");
    for (size_t f = 0; f < group.size(); ++f) {
      const Json& fine = group[f];
      CheckKeys(fine, {"layers", "tiles"});
      if (!fine.contains("layers") || !fine["layers"].is_array() ||
          fine["layers"].empty()) {
        Fail("\"layers\" is missing in " + JsonText(fine));
      }
      const int32_t tiles = IntOf(fine, "tiles");
      for (size_t i = 0; i < fine["layers"].size(); ++i) {
        out->order.push_back(layers.Number(fine["layers"][i]));
        out->cuts.push_back(i != 0   ? SLUICE_CUT_NONE
                            : f != 0 ? SLUICE_CUT_FINE
                                     : SLUICE_CUT_DRAM);
        out->tiles.push_back(i == 0 ? tiles : 0);
      }
    }
  }
}

void ReadDram(const Json& dram, const Names& layers, const Names& tensors,
              Notation* out) {
  if (dram == "list") return;
  if (dram == "double-buffer") {
    out->double_buffer = true;
    return;
  }
  if (!dram.is_array() || dram.empty()) {
    Fail("\"dram\" is neither \"list\", \"double-buffer\" nor a list of DRAM tensors");
  }
  for (const Json& entry : dram) {
    CheckKeys(entry, {"kind", "layer", "tile", "source", "start", "end"});
    sluice_dram_tensor_t t = {};
    const auto kind = std::find_if(
        std::begin(kKinds), std::end(kKinds),
        [&](const char* k) { return entry.contains("kind") && entry["kind"] == k; });
    if (kind == std::end(kKinds)) {
      Fail("\"kind\" is not weight, input or store in " + JsonText(entry));
    }
    t.kind = static_cast<uint32_t>(kind - std::begin(kKinds));
    t.layer = layers.Number(entry.value("layer", Json()));
    const int32_t tile = entry.contains("tile") ? IntOf(entry, "tile") : 0;
    if (tile < 0) Fail("tile " + std::to_string(tile) + " in " + JsonText(entry));
    t.tile = static_cast<uint32_t>(tile);
    t.source = t.kind == SLUICE_DRAM_INPUT
                   ? tensors.Number(entry.value("source", Json()))
                   : 0xffffffffu;
    t.start = IntOf(entry, "start");
    t.end = IntOf(entry, "end");
    out->dram.push_back(t);
  }
}

}  // namespace

sluice_notation_t Notation::AsStruct() const {
  sluice_notation_t n = {};
  n.struct_size = sizeof n;
  n.layers = static_cast<uint32_t>(order.size());
  n.order = order.data();
  n.cuts = cuts.data();
  n.tiles = tiles.data();
  n.transfers = static_cast<uint32_t>(dram.size());
  n.double_buffer = double_buffer ? 1 : 0;
  n.dram = dram.data();
  return n;
}

Notation NotationFromJson(const std::string& text, const Bytes& graph) {
  const Json json = ParseJson(text);
  if (json.is_discarded()) Fail("this is no JSON, or it nests too deeply");
  CheckKeys(json, {"groups", "dram"});
  const wire::Graph& wire = *wire::GetGraph(graph.data());
  const Names layers(wire, wire.layer_name(), wire.layer_op()->size(), "layer");
  const Names tensors(wire, wire.tensor_name(), wire.tensor_dtype()->size(), "tensor");
  Notation notation;
  ReadGroups(json.value("groups", Json()), layers, &notation);
  ReadDram(json.value("dram", Json("list")), layers, tensors, &notation);
  return notation;
}

std::vector<Json> LayerNames(const Bytes& graph) {
  const wire::Graph& wire = *wire::GetGraph(graph.data());
  const uint32_t count = wire.layer_op()->size();
  const Names names(wire, wire.layer_name(), count, "layer");
  std::vector<Json> list;
  for (uint32_t i = 0; i < count; ++i) list.push_back(names.Name(i));
  return list;
}

Json NotationToJson(const Notation& notation, const Bytes& graph) {
  const wire::Graph& wire = *wire::GetGraph(graph.data());
  const Names layers(wire, wire.layer_name(), wire.layer_op()->size(), "layer");
  const Names tensors(wire, wire.tensor_name(), wire.tensor_dtype()->size(), "tensor");
  Json groups = Json::array();
  for (size_t i = 0; i < notation.order.size(); ++i) {
    if (notation.cuts[i] == SLUICE_CUT_DRAM) groups.push_back(Json::array());
    if (notation.cuts[i] != SLUICE_CUT_NONE) {
      groups.back().push_back(
          {{"layers", Json::array()}, {"tiles", notation.tiles[i]}});
    }
    groups.back().back()["layers"].push_back(layers.Name(notation.order[i]));
  }
  Json dram = Json::array();
  for (const sluice_dram_tensor_t& t : notation.dram) {
    Json entry = {
        {"kind", kKinds[t.kind]}, {"layer", layers.Name(t.layer)}, {"tile", t.tile}};
    if (t.kind == SLUICE_DRAM_INPUT) entry["source"] = tensors.Name(t.source);
    entry["start"] = t.start;
    entry["end"] = t.end;
    dram.push_back(entry);
  }
  return {{"groups", groups}, {"dram", dram}};
}

}  // namespace sluice::cli
