// SPDX-License-Identifier: Apache-2.0
// C++ wrappers of libsluice_import: owned objects, Failures instead of statuses.
//
// Input    a model file; the name of a network and its sizes
// Output   graph.fbs bytes; what the import did
// Errors   Failure with the exit code of the status and the library's sentence; operators
//          that cannot be expressed and open dimensions also as details
#ifndef SLUICE_CLI_MODELS_H_
#define SLUICE_CLI_MODELS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/files.h"
#include "cli/json_text.h"
#include "cli/report.h"
#include "sluice/import.h"
#include "sluice/zoo.h"

namespace sluice::cli {

struct ImportRequest {
  std::string model;  // path
  uint32_t format;    // SLUICE_MODEL_
  bool allow_opaque, training, keep_unread;
  uint64_t opaque_cycles;
  std::map<std::string, int64_t> dims;
  std::map<std::string, std::string> states;
  bool find_states, in_place;
  std::string ranges;    // path of a JSON file; empty: none
  std::string hardware;  // the machine that the graph is for; empty: any
};

struct ImportEntry {
  std::string name, reason;
  uint32_t count;
};

// A graph as the library made it: large ones are not copied.
class MadeGraph {
 public:
  MadeGraph() = default;
  ~MadeGraph() { sluice_bytes_release(nullptr, &bytes_); }
  MadeGraph(MadeGraph&& other) noexcept : bytes_(other.bytes_) { other.bytes_ = {}; }
  MadeGraph& operator=(MadeGraph&&) = delete;
  void Take(const sluice_bytes_t& bytes) { bytes_ = bytes; }  // once
  const uint8_t* data() const { return static_cast<const uint8_t*>(bytes_.data); }
  size_t size() const { return bytes_.size; }
  Bytes Copy() const { return Bytes(data(), data() + size()); }

 private:
  sluice_bytes_t bytes_ = {};
};

struct Imported {
  MadeGraph graph;
  sluice_import_summary_t summary;
  std::vector<ImportEntry> lists[SLUICE_IMPORT_LISTS];
  std::vector<std::string> interface;
};

Imported ImportModel(const ImportRequest& request);

// A list as JSON, and as lines for people: one for each reason, in the order of first
// appearance, the first one behind the title.
Json Listed(const std::vector<ImportEntry>& list);
void ListByReason(const std::string& title, const std::vector<ImportEntry>& list,
                  Report* report);

bool IsZooName(const std::string& name);
// options.allocator and out_report stay NULL.
Imported ZooGraph(const std::string& name, sluice_zoo_options_t options);

// Copies the library's bytes and releases them.
Bytes Taken(sluice_bytes_t bytes);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_MODELS_H_
