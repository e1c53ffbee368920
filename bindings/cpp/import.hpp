// SPDX-License-Identifier: Apache-2.0
// libsluice_import for C++17: models, presets and known networks as bytes for
// Context::ReadGraph and Context::ReadHardware. One header over import.h, presets.h and
// zoo.h; programs link sluice::import.
//
//   auto model = sluice::Models::Import(file, sluice::ImportOptions().AllowOpaque());
//   if (!model) return Complain(model.error().message());
//   auto graph = context->ReadGraph(model->graph);
//
// Input    as the C functions
// Errors   Result<T>: a value or an Error with the diagnostic; a report on an import that
//          failed is for sluice_import_model itself
// Threads  functions may be called from several threads at once
#ifndef SLUICE_IMPORT_HPP_
#define SLUICE_IMPORT_HPP_

#include <string>
#include <utility>
#include <vector>

#include "sluice/import.h"
#include "sluice/presets.h"
#include "sluice/sluice.hpp"
#include "sluice/zoo.h"

namespace sluice {

// Bytes of libsluice_import, to be read as a std::vector's; freed with the owner.
class OwnedBytes {
 public:
  explicit OwnedBytes(sluice_bytes_t bytes) : bytes_(bytes) {}
  OwnedBytes(OwnedBytes&& other) noexcept
      : bytes_(std::exchange(other.bytes_, sluice_bytes_t{nullptr, 0})) {}
  OwnedBytes& operator=(OwnedBytes&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~OwnedBytes() { sluice_bytes_release(nullptr, &bytes_); }
  operator View() const { return View(bytes_.data, bytes_.size); }
  const void* data() const { return bytes_.data; }
  size_t size() const { return bytes_.size; }

 private:
  sluice_bytes_t bytes_;
};

// Options of Models::Import; each has a default. Texts and lists must outlive the
// call; bytes always come from malloc.
struct ImportOptions : sluice_import_options_t {
  ImportOptions() : sluice_import_options_t{} {
    struct_size = sizeof(sluice_import_options_t);
  }
  ImportOptions& Format(uint32_t which) {
    format = which;
    return *this;
  }
  ImportOptions& Name(const char* text) {
    name = text;
    return *this;
  }
  // Inexpressible operators run on the host; cycles of each, 0: one per element.
  ImportOptions& AllowOpaque(uint64_t cycles = 0) {
    allow_opaque = 1;
    opaque_cycles = cycles;
    return *this;
  }
  ImportOptions& Training() {
    training = 1;
    return *this;
  }
  // Layers compute also rows and columns that no layer reads.
  ImportOptions& KeepUnread() {
    keep_unread = 1;
    return *this;
  }
  ImportOptions& Dims(const std::vector<sluice_import_dim_t>& list) {
    dims = list.data();
    dim_count = static_cast<uint32_t>(list.size());
    return *this;
  }
  // Inputs that hold in each run what an output was in the run before.
  ImportOptions& States(const std::vector<sluice_import_state_t>& list) {
    states = list.data();
    state_count = static_cast<uint32_t>(list.size());
    return *this;
  }
  // Also those whose names tell it: past.../present..., ..._in/..._out, and so on.
  ImportOptions& FindStates() {
    find_states = 1;
    return *this;
  }
  // Quantises a model of floats to int8 by these ranges.
  ImportOptions& Ranges(const std::vector<sluice_import_range_t>& list) {
    ranges = list.data();
    range_count = static_cast<uint32_t>(list.size());
    return *this;
  }
  // Products get a form that the units of this machine (hardware.fbs) take.
  ImportOptions& ForMachine(const void* bytes, size_t size) {
    hardware = bytes;
    hardware_size = size;
    return *this;
  }
  ImportOptions& External(const sluice_external_files_t* files) {
    external = files;
    return *this;
  }
  ImportOptions& MaxConstantBytes(uint64_t bytes) {
    max_constant_bytes = bytes;
    return *this;
  }
};

// Options of Models::Zoo.
struct ZooOptions : sluice_zoo_options_t {
  ZooOptions() : sluice_zoo_options_t{} { struct_size = sizeof(sluice_zoo_options_t); }
};

// A line of one of the report's lists (SLUICE_IMPORT_).
struct ImportEntry {
  std::string name, reason;
  uint32_t count;
};

// A graph and what the import did.
struct Imported {
  OwnedBytes graph;
  sluice_import_summary_t summary;
  std::vector<ImportEntry> lists[SLUICE_IMPORT_LISTS];
  std::vector<std::string> interface;
};

// The functions of libsluice_import.
class Models {
 public:
  // A model file's bytes.
  static Result<Imported> Import(View model,
                                 const ImportOptions& options = ImportOptions()) {
    Error why;
    sluice_import_options_t given = options;
    given.allocator = nullptr;
    sluice_bytes_t graph = {nullptr, 0};
    sluice_import_report_t* report = nullptr;
    const sluice_status_t status = sluice_import_model(
        model.data(), model.size(), &given, &graph, &report, &why.diagnostic);
    if (status != SLUICE_OK) {
      sluice_import_report_destroy(report);
      return std::move(why).With(status);
    }
    Imported imported = {OwnedBytes(graph), {}, {}, {}};
    Read(report, &imported);
    sluice_import_report_destroy(report);
    return imported;
  }

  // A known network; sluice_zoo_name names them.
  static Result<OwnedBytes> Zoo(const char* name,
                                const ZooOptions& options = ZooOptions()) {
    return Make([&](sluice_bytes_t* out, sluice_diagnostic_t* why) {
      sluice_zoo_options_t given = options;
      given.allocator = nullptr;
      return sluice_zoo_graph(name, &given, out, why);
    });
  }

  static Result<OwnedBytes> TrainingStep(View graph) {
    return Make([&](sluice_bytes_t* out, sluice_diagnostic_t* why) {
      return sluice_import_training_step(graph.data(), graph.size(), nullptr, out, why);
    });
  }

  // A machine by name; static storage. sluice_preset_name names them.
  static Result<View> Preset(const char* name) {
    Error why;
    const void* bytes = nullptr;
    size_t size = 0;
    const sluice_status_t status =
        sluice_preset_find(name, &bytes, &size, &why.diagnostic);
    if (status != SLUICE_OK) return std::move(why).With(status);
    return View(bytes, size);
  }

  static Result<OwnedBytes> HardwareFromJson(const std::string& text) {
    return Make([&](sluice_bytes_t* out, sluice_diagnostic_t* why) {
      return sluice_hardware_from_json(text.data(), text.size(), nullptr, out, why);
    });
  }

 private:
  template <typename F>
  static Result<OwnedBytes> Make(F function) {
    Error why;
    sluice_bytes_t bytes = {nullptr, 0};
    const sluice_status_t status = function(&bytes, &why.diagnostic);
    if (status != SLUICE_OK) return std::move(why).With(status);
    return OwnedBytes(bytes);
  }

  static void Read(const sluice_import_report_t* report, Imported* imported) {
    imported->summary.struct_size = sizeof imported->summary;
    (void)sluice_import_report_summary(report, &imported->summary);
    for (uint32_t list = 0; list < SLUICE_IMPORT_LISTS; ++list) {
      for (uint32_t i = 0; i < imported->summary.lists[list]; ++i) {
        sluice_import_entry_t entry = {};
        entry.struct_size = sizeof entry;
        (void)sluice_import_report_entry(report, list, i, &entry);
        imported->lists[list].push_back({entry.name, entry.reason, entry.count});
      }
    }
    for (uint32_t i = 0; i < imported->summary.interface_lines; ++i) {
      imported->interface.push_back(sluice_import_report_interface(report, i));
    }
  }
};

}  // namespace sluice

#endif  // SLUICE_IMPORT_HPP_
