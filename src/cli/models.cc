// SPDX-License-Identifier: Apache-2.0
#include "cli/models.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>

#include "cli/answers.h"
#include "cli/hardware_files.h"

namespace sluice::cli {
namespace {

using Path = std::filesystem::path;

struct DestroyReport {
  void operator()(sluice_import_report_t* r) const { sluice_import_report_destroy(r); }
};
using OwnedReport = std::unique_ptr<sluice_import_report_t, DestroyReport>;

int32_t SizeOf(void* folder, const char* file, uint64_t* bytes) {
  std::error_code error;
  *bytes = std::filesystem::file_size(*static_cast<const Path*>(folder) / file, error);
  return error ? 1 : 0;
}

int32_t ReadPart(void* folder, const char* file, uint64_t offset, uint64_t bytes,
                 void* into) {
  std::ifstream in(*static_cast<const Path*>(folder) / file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(offset));
  in.read(static_cast<char*>(into), static_cast<std::streamsize>(bytes));
  return in ? 0 : 1;
}

void ReadReport(const sluice_import_report_t* report, Imported* imported) {
  imported->summary.struct_size = sizeof imported->summary;
  MustBeDone(sluice_import_report_summary(report, &imported->summary),
             EmptyDiagnostic());
  for (uint32_t list = 0; list < SLUICE_IMPORT_LISTS; ++list) {
    for (uint32_t i = 0; i < imported->summary.lists[list]; ++i) {
      sluice_import_entry_t entry = {};
      entry.struct_size = sizeof entry;
      MustBeDone(sluice_import_report_entry(report, list, i, &entry),
                 EmptyDiagnostic());
      imported->lists[list].push_back({entry.name, entry.reason, entry.count});
    }
  }
  for (uint32_t i = 0; i < imported->summary.interface_lines; ++i) {
    imported->interface.push_back(sluice_import_report_interface(report, i));
  }
}

// "2 Reshape, 1 Identity", of the entries with this reason.
std::string Counted(const std::vector<ImportEntry>& list, const std::string& reason) {
  std::string text;
  for (const ImportEntry& entry : list) {
    if (entry.reason != reason) continue;
    if (!text.empty()) text += ", ";
    text += std::to_string(entry.count) + " " + entry.name;
  }
  return text;
}

// Fails with the library's message, followed by the tool's options that may help.
[[noreturn]] void FailImport(sluice_status_t status, const sluice_diagnostic_t& why,
                             const sluice_import_report_t* report) {
  Imported failed = {};
  std::string message = why.message;
  if (report != nullptr) {
    ReadReport(report, &failed);
    message = sluice_import_report_message(report);
  }
  Json details = Json::object();
  if (!failed.lists[SLUICE_IMPORT_REFUSED].empty()) {
    message += "\n--allow-opaque leaves them to the host";
    for (const ImportEntry& entry : failed.lists[SLUICE_IMPORT_REFUSED]) {
      details["unsupported"].push_back(
          {{"op", entry.name}, {"count", entry.count}, {"reason", entry.reason}});
    }
  }
  if (!failed.lists[SLUICE_IMPORT_OPEN_DIMS].empty()) {
    const ImportEntry& first = failed.lists[SLUICE_IMPORT_OPEN_DIMS].front();
    message += "\nas in --dim " + first.name + "=1";
    for (const ImportEntry& entry : failed.lists[SLUICE_IMPORT_OPEN_DIMS]) {
      details["open_dims"].push_back(entry.name);
    }
  }
  if (!failed.lists[SLUICE_IMPORT_UNRANGED].empty()) {
    message += "\nin the file of --ranges, as \"" +
               failed.lists[SLUICE_IMPORT_UNRANGED].front().name + "\": [-1, 1]";
    for (const ImportEntry& entry : failed.lists[SLUICE_IMPORT_UNRANGED]) {
      details["unranged"].push_back(entry.name);
    }
  }
  throw Failure(ExitCodeOf(status), message, details);
}

// The file's ranges; their names lie in `*json`.
std::vector<sluice_import_range_t> ReadRanges(const std::string& path, Json* json) {
  std::vector<sluice_import_range_t> ranges;
  if (path.empty()) return ranges;
  const Bytes file = ReadFile(path);
  *json = ParseJson(std::string(file.begin(), file.end()));
  if (!json->is_object() || json->empty()) {
    throw Failure(kBadInput,
                  path + R"(: no ranges; they are {"NAME": [MIN, MAX], ...})");
  }
  for (const auto& item : json->items()) {
    const Json& range = item.value();
    if (!range.is_array() || range.size() != 2 || !range[0].is_number() ||
        !range[1].is_number()) {
      throw Failure(kBadInput,
                    path + ": the range of " + item.key() + " is not [MIN, MAX]");
    }
    ranges.push_back(
        {item.key().c_str(), range[0].get<float>(), range[1].get<float>()});
  }
  return ranges;
}

}  // namespace

Bytes Taken(sluice_bytes_t bytes) {
  const auto give_back = [](sluice_bytes_t* b) { sluice_bytes_release(nullptr, b); };
  const std::unique_ptr<sluice_bytes_t, decltype(give_back)> owned(&bytes, give_back);
  const uint8_t* first = static_cast<const uint8_t*>(bytes.data);
  return Bytes(first, first + bytes.size);
}

Imported ImportModel(const ImportRequest& request) {
  const MappedFile model(request.model);
  const std::string name = FileStem(request.model);
  Path folder = Path(request.model).parent_path();
  const sluice_external_files_t external = {sizeof external, 0, &folder, SizeOf,
                                            ReadPart};
  std::vector<sluice_import_dim_t> dims;
  for (const auto& [dim, extent] : request.dims) dims.push_back({dim.c_str(), extent});
  sluice_import_options_t options = {};
  options.struct_size = sizeof options;
  options.format = request.format;
  options.name = name.c_str();
  options.allow_opaque = request.allow_opaque ? 1 : 0;
  options.training = request.training ? 1 : 0;
  options.keep_unread = request.keep_unread ? 1 : 0;
  options.opaque_cycles = request.opaque_cycles;
  options.dims = dims.data();
  options.dim_count = static_cast<uint32_t>(dims.size());
  options.external = &external;
  const std::string file = Path(request.model).filename().string();
  if (request.in_place) options.model_file = file.c_str();
  std::vector<sluice_import_state_t> states;
  for (const auto& [in, out] : request.states)
    states.push_back({in.c_str(), out.c_str()});
  options.states = states.data();
  options.state_count = static_cast<uint32_t>(states.size());
  options.find_states = request.find_states ? 1 : 0;
  Json named;
  const std::vector<sluice_import_range_t> ranges = ReadRanges(request.ranges, &named);
  options.ranges = ranges.data();
  options.range_count = static_cast<uint32_t>(ranges.size());
  const Bytes hardware =
      request.hardware.empty() ? Bytes() : LoadHardware(request.hardware);
  if (!hardware.empty()) options.hardware = hardware.data();
  options.hardware_size = hardware.size();
  options.model_done = [](void* mapped, const void* bytes, size_t size) {
    static_cast<const MappedFile*>(mapped)->GiveBack(bytes, size);
  };
  options.model_user = const_cast<MappedFile*>(&model);
  Imported imported = {};
  sluice_bytes_t graph = {};
  sluice_import_report_t* report = nullptr;
  sluice_diagnostic_t why = EmptyDiagnostic();
  const sluice_status_t status =
      sluice_import_model(model.data(), model.size(), &options, &graph, &report, &why);
  const OwnedReport owned(report);
  if (status != SLUICE_OK) FailImport(status, why, report);
  imported.graph.Take(graph);
  ReadReport(report, &imported);
  return imported;
}

Json Listed(const std::vector<ImportEntry>& list) {
  Json rows = Json::array();
  for (const ImportEntry& entry : list) {
    Json row = {{"op", entry.name}, {"count", entry.count}};
    if (!entry.reason.empty()) row["reason"] = entry.reason;
    rows.push_back(row);
  }
  return rows;
}

void ListByReason(const std::string& title, const std::vector<ImportEntry>& list,
                  Report* report) {
  std::vector<std::string> told;
  for (const ImportEntry& entry : list) {
    if (std::find(told.begin(), told.end(), entry.reason) != told.end()) continue;
    std::string text = Counted(list, entry.reason);
    if (!entry.reason.empty()) text += ": " + entry.reason;
    report->Line(told.empty() ? title : "", text);
    told.push_back(entry.reason);
  }
}

bool IsZooName(const std::string& name) {
  for (uint32_t i = 0; i < sluice_zoo_count(); ++i) {
    if (name == sluice_zoo_name(i)) return true;
  }
  return false;
}

Imported ZooGraph(const std::string& name, sluice_zoo_options_t options) {
  sluice_bytes_t graph = {};
  sluice_import_report_t* report = nullptr;
  options.out_report = &report;
  sluice_diagnostic_t why = EmptyDiagnostic();
  MustBeDone(sluice_zoo_graph(name.c_str(), &options, &graph, &why), why);
  const OwnedReport owned(report);
  Imported made = {};
  made.graph.Take(graph);
  ReadReport(report, &made);
  return made;
}

}  // namespace sluice::cli
