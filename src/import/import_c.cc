// SPDX-License-Identifier: Apache-2.0
// The C functions of import.h that turn models into graphs.
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "import/border.h"
#include "import/graph_check.h"
#include "import/graph_writer.h"
#include "import/import_result.h"
#include "import/machine_fit.h"
#include "import/onnx/import_onnx.h"
#include "import/tflite/import_tflite.h"
#include "import/training/training.h"
#include "sluice/graph_generated.h"
#include "sluice/import.h"

struct sluice_import_report {
  sluice_import_summary_t summary = {};
  std::vector<sluice::import::UnsupportedOperator> lists[SLUICE_IMPORT_LISTS];
  std::vector<std::string> interface;
  std::string message;
};

namespace sluice::import {
namespace {

bool IsTflite(const uint8_t* bytes, size_t size) {
  return size >= 8 && std::memcmp(bytes + 4, "TFL3", 4) == 0;
}

// The options' limit on constant bytes; without one, 16 times the file, and the bytes that are
// read from other files, plus 64 MiB.
constexpr uint64_t kForByte = 16;
uint64_t LimitOf(const sluice_import_options_t& options, uint64_t file_bytes) {
  uint64_t limit = options.max_constant_bytes;
  if (limit == 0) limit = (uint64_t{64} << 20) + kForByte * file_bytes;
  return limit < kMostConstantBytes ? limit : kMostConstantBytes;
}

uint32_t FormatOf(const sluice_import_options_t& options, const uint8_t* bytes,
                  size_t size) {
  switch (options.format) {
    case SLUICE_MODEL_DETECT:
      return IsTflite(bytes, size) ? SLUICE_MODEL_TFLITE : SLUICE_MODEL_ONNX;
    case SLUICE_MODEL_TFLITE:
    case SLUICE_MODEL_ONNX:
      return options.format;
    default:
      throw Error(Fault::kBadArgument,
                  "there is no format " + std::to_string(options.format));
  }
}

StateNames StatesOf(const sluice_import_options_t& given) {
  StateNames states;
  if (given.state_count != 0) MustBeThere(given.states, "states");
  for (uint32_t i = 0; i < given.state_count; ++i) {
    MustBeThere(given.states[i].input, "the input of a state");
    MustBeThere(given.states[i].output, "the output of a state");
    states.given.push_back({given.states[i].input, given.states[i].output});
  }
  states.find = given.find_states != 0;
  return states;
}

FloatRanges RangesOf(const sluice_import_options_t& given) {
  FloatRanges ranges;
  if (given.range_count != 0) MustBeThere(given.ranges, "ranges");
  for (uint32_t i = 0; i < given.range_count; ++i) {
    const sluice_import_range_t& range = given.ranges[i];
    MustBeThere(range.name, "the name of a range");
    if (!std::isfinite(range.min) || !std::isfinite(range.max) ||
        range.min > range.max) {
      throw Error(Fault::kBadArgument, std::string("the range of ") + range.name +
                                           " must be two finite numbers in order");
    }
    ranges[range.name] = {range.min, range.max};
  }
  return ranges;
}

// What both formats have.
template <typename Options>
void TakeCommon(const sluice_import_options_t& given, size_t size, Options* options) {
  if (given.name != nullptr) options->name = given.name;
  options->allow_opaque = given.allow_opaque != 0;
  options->opaque_cycles = given.opaque_cycles;
  options->max_constant_bytes = LimitOf(given, size);
  options->skip_unread = given.keep_unread == 0 && given.training == 0;
  options->states = StatesOf(given);
  options->ranges = RangesOf(given);
}

OnnxImportOptions OnnxOptions(const sluice_import_options_t& given) {
  OnnxImportOptions options;
  if (given.dim_count != 0) MustBeThere(given.dims, "dims");
  for (uint32_t i = 0; i < given.dim_count; ++i) {
    MustBeThere(given.dims[i].name, "the name of a dimension");
    if (given.dims[i].extent < 1) {
      throw Error(Fault::kBadArgument, std::string("dimension ") + given.dims[i].name +
                                           " must be at least 1");
    }
    options.dims[given.dims[i].name] = given.dims[i].extent;
  }
  return options;
}

ImportResult ImportTfliteBytes(const sluice_import_options_t& given,
                               const uint8_t* bytes, size_t size) {
  if (given.dim_count != 0) {
    throw Error(Fault::kBadArgument,
                "TensorFlow Lite models have fixed shapes: no dimension can be given");
  }
  TfliteImportOptions options;
  if (given.model_file != nullptr) options.model_file = given.model_file;
  TakeCommon(given, size, &options);
  return ImportTflite(bytes, size, options);
}

ImportResult ImportOnnxBytes(const sluice_import_options_t& given, const uint8_t* bytes,
                             size_t size) {
  OnnxImportOptions options = OnnxOptions(given);
  TakeCommon(given, size, &options);
  options.for_external_byte = given.max_constant_bytes == 0 ? kForByte : 0;
  sluice_external_files_t external;
  if (given.external != nullptr) {
    external = Complete(given.external, "external");
    MustBeThere(reinterpret_cast<const void*>(external.size), "external.size");
    MustBeThere(reinterpret_cast<const void*>(external.read), "external.read");
    options.external = &external;
  }
  return ImportOnnx(bytes, size, options);
}

// Counts what is in the graph: it has replaced an imported one, or was made without a model.
void Recount(ImportResult* import) {
  import->layers = static_cast<uint32_t>(import->rows.layers.size());
  import->tensors = static_cast<uint32_t>(import->rows.tensors.size());
  import->inputs = import->outputs = 0;
  for (const TensorRow& t : import->rows.tensors) {
    import->inputs += t.kind == Kind::kInput ? 1 : 0;
    import->outputs += t.kind == Kind::kOutput ? 1 : 0;
  }
  import->constant_bytes = import->rows.constants.size();
}

void Fill(const ImportResult& import, size_t graph_bytes,
          sluice_import_report* report) {
  sluice_import_summary_t& s = report->summary;
  s.numbers = !import.shapes_only.empty() ? SLUICE_NUMBERS_SHAPES_ONLY
              : import.quantised          ? SLUICE_NUMBERS_QUANTISED
              : !import.rounded.empty()   ? SLUICE_NUMBERS_ROUNDED
                                          : SLUICE_NUMBERS_EXACT;
  s.operators = import.operators;
  s.layers = import.layers;
  s.tensors = import.tensors;
  s.inputs = import.inputs;
  s.outputs = import.outputs;
  s.constant_bytes = import.constant_bytes;
  s.graph_bytes = graph_bytes;
  report->lists[SLUICE_IMPORT_OPAQUE] = import.opaque;
  report->lists[SLUICE_IMPORT_SHAPES_ONLY] = import.shapes_only;
  report->lists[SLUICE_IMPORT_FOLDED] = import.folded;
  report->lists[SLUICE_IMPORT_ROUNDED] = import.rounded;
  report->lists[SLUICE_IMPORT_SKIPPED] = import.skipped;
  report->interface = import.interface;
}

// Tells the caller which bytes of the model are not read again; empty: nobody asks.
ConstantBytes::Done DoneOf(const sluice_import_options_t& options, const uint8_t* model,
                           size_t size) {
  if (options.model_done == nullptr) return nullptr;
  return [&options, model, size](const uint8_t* begin, size_t length) {
    const std::less<const uint8_t*> before;
    if (before(begin, model) || !before(begin, model + size)) return;
    options.model_done(options.model_user, begin, length);
  };
}

void Import(const uint8_t* bytes, size_t size, const sluice_import_options_t* given,
            sluice_bytes_t* out, sluice_import_report* report) {
  MustBeThere(bytes, "model");
  MustBeThere(out, "out_graph");
  const sluice_import_options_t options = Complete(given, "options");
  if (options.model_file != nullptr && options.training != 0) {
    throw Error(Fault::kBadArgument, "a training step has its constants in the graph");
  }
  const uint32_t format = FormatOf(options, bytes, size);
  if (options.model_file != nullptr && format != SLUICE_MODEL_TFLITE) {
    throw Error(
        Fault::kBadArgument,
        "constants stay in the file of a TensorFlow Lite model only: model_file "
        "must be NULL for another one");
  }
  report->summary.format = format;
  // Tables of a TFLite file are read where they are, at their alignment.
  const bool aligned = reinterpret_cast<uintptr_t>(bytes) % 8 == 0;
  Bytes copy;
  if (format == SLUICE_MODEL_TFLITE && !aligned) copy.assign(bytes, bytes + size);
  ImportResult import =
      format == SLUICE_MODEL_TFLITE
          ? ImportTfliteBytes(options, aligned ? bytes : copy.data(), size)
          : ImportOnnxBytes(options, bytes, size);
  if (options.training != 0) {
    import.rows =
        ReadRows(MakeTrainingGraph(WriteRows(import.rows), LimitOf(options, size)));
    Recount(&import);
  } else if (options.hardware != nullptr) {
    const auto* hardware = static_cast<const uint8_t*>(options.hardware);
    FitMachine(Bytes(hardware, hardware + options.hardware_size),
               LimitOf(options, size), &import.rows);
    Recount(&import);
  }
  sluice_bytes_t graph = {nullptr, 0};
  try {
    const auto allocate = [&](size_t needed) {
      graph = NewBytes(needed, options.allocator);
      return static_cast<uint8_t*>(graph.data);
    };
    MoveRows(&import.rows, allocate, DoneOf(options, bytes, size));
    CheckGraph(graph.data, graph.size);
    Fill(import, graph.size, report);
  } catch (...) {
    sluice_bytes_release(options.allocator, &graph);
    throw;
  }
  *out = graph;
}

}  // namespace

sluice_import_report* NewReport(ImportResult* made, size_t graph_bytes) {
  Recount(made);
  auto report = std::make_unique<sluice_import_report>();
  Fill(*made, graph_bytes, report.get());
  return report.release();
}

}  // namespace sluice::import

using sluice::import::Guarded;
using sluice::import::MustBeThere;

int32_t sluice_import_reads(uint32_t format) {
  return format == SLUICE_MODEL_TFLITE ||
         (format == SLUICE_MODEL_ONNX && sluice::import::HasOnnx());
}

sluice_status_t sluice_import_model(const void* model, size_t model_size,
                                    const sluice_import_options_t* options,
                                    sluice_bytes_t* out_graph,
                                    sluice_import_report_t** out_report,
                                    sluice_diagnostic_t* diagnostic) {
  using namespace sluice::import;
  if (out_report != nullptr) *out_report = nullptr;
  if (out_graph != nullptr) *out_graph = {nullptr, 0};
  return Guarded(diagnostic, "import", [&] {
    auto report = std::make_unique<sluice_import_report>();
    const auto keep = [&] {
      if (out_report != nullptr) *out_report = report.release();
    };
    try {
      Import(static_cast<const uint8_t*>(model), model_size, options, out_graph,
             report.get());
    } catch (const Refusal& refusal) {
      report->lists[refusal.name()] = refusal.list();
      report->message = refusal.what();
      keep();
      throw;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      report->message = error.what();
      keep();
      throw;
    }
    keep();
  });
}

void sluice_import_report_destroy(sluice_import_report_t* report) { delete report; }

sluice_status_t sluice_import_report_summary(const sluice_import_report_t* report,
                                             sluice_import_summary_t* out_summary) {
  if (report == nullptr) return SLUICE_BAD_ARGUMENT;
  sluice_import_summary_t summary = report->summary;
  for (int i = 0; i < SLUICE_IMPORT_LISTS; ++i) {
    summary.lists[i] = static_cast<uint32_t>(report->lists[i].size());
  }
  summary.interface_lines = static_cast<uint32_t>(report->interface.size());
  return sluice::import::WriteOut(summary, out_summary);
}

sluice_status_t sluice_import_report_entry(const sluice_import_report_t* report,
                                           uint32_t list, uint32_t index,
                                           sluice_import_entry_t* out_entry) {
  if (report == nullptr || list >= SLUICE_IMPORT_LISTS ||
      index >= report->lists[list].size()) {
    return SLUICE_BAD_ARGUMENT;
  }
  const sluice::import::UnsupportedOperator& row = report->lists[list][index];
  const sluice_import_entry_t entry = {sizeof entry, row.count, row.name.c_str(),
                                       row.reason.c_str()};
  return sluice::import::WriteOut(entry, out_entry);
}

const char* sluice_import_report_message(const sluice_import_report_t* report) {
  return report == nullptr ? "" : report->message.c_str();
}

const char* sluice_import_report_interface(const sluice_import_report_t* report,
                                           uint32_t index) {
  if (report == nullptr || index >= report->interface.size()) return nullptr;
  return report->interface[index].c_str();
}

sluice_status_t sluice_import_training_step(const void* graph, size_t graph_size,
                                            const sluice_allocator_t* allocator,
                                            sluice_bytes_t* out_graph,
                                            sluice_diagnostic_t* diagnostic) {
  using namespace sluice::import;
  if (out_graph != nullptr) *out_graph = {nullptr, 0};
  return Guarded(diagnostic, "training", [&] {
    MustBeThere(graph, "graph");
    MustBeThere(out_graph, "out_graph");
    const auto* bytes = static_cast<const uint8_t*>(graph);
    const Bytes inference(bytes, bytes + graph_size);
    CheckGraph(inference);
    sluice_import_options_t defaults = {};
    HandOver(MakeTrainingGraph(inference, LimitOf(defaults, graph_size)), allocator,
             out_graph);
  });
}
