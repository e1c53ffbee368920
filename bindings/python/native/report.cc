// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "cli/failure.h"
#include "cli/plan_page.h"
#include "cli/plan_trace.h"
#include "cli/segment_notation.h"
#include "native.h"

namespace {

using sluice::cli::Bytes;
using sluice::cli::PlanFiles;

struct Text : sluice_native_text_t {
  std::string text_held, error_held, code_held;
};

Bytes Copied(const void* bytes, size_t size) {
  const auto* begin = static_cast<const uint8_t*>(bytes);
  return size == 0 ? Bytes() : Bytes(begin, begin + size);
}

PlanFiles FilesOf(const sluice_native_files_t& given) {
  return {Copied(given.plan, given.plan_size), Copied(given.graph, given.graph_size),
          Copied(given.hardware, given.hardware_size), "graph", given.hardware_name};
}

std::string CodeOf(const std::exception& error) {
  const auto* failure = dynamic_cast<const sluice::cli::Failure*>(&error);
  if (failure == nullptr || !failure->details().contains("error")) return "";
  return failure->details()["error"].value("code", "");
}

// Returns the text of `write`, or the message of its exception.
template <typename Write>
sluice_native_text_t* TextOf(Write write) try {
  auto text = std::make_unique<Text>();
  try {
    text->text_held = write();
    text->text = text->text_held.c_str();
    text->size = text->text_held.size();
  } catch (const std::bad_alloc&) {
    return nullptr;
  } catch (const std::exception& error) {
    text->text = nullptr;
    text->size = 0;
    text->error_held = error.what();
    text->code_held = CodeOf(error);
  }
  text->error = text->error_held.c_str();
  text->error_code = text->code_held.c_str();
  return text.release();
} catch (const std::bad_alloc&) {
  return nullptr;
}

}  // namespace

sluice_native_text_t* sluice_native_report(const sluice_native_files_t* plans,
                                           size_t count) {
  return TextOf([&] {
    std::vector<PlanFiles> files;
    for (size_t i = 0; i < count; ++i) files.push_back(FilesOf(plans[i]));
    return sluice::cli::PlanPage(files);
  });
}

sluice_native_text_t* sluice_native_trace(const sluice_native_files_t* plan,
                                          uint32_t contention) {
  return TextOf([&] {
    const PlanFiles files = FilesOf(*plan);
    std::vector<sluice::cli::TracedRun> runs(1);
    if (contention != 0) {
      runs.resize(2);
      runs[0].name = "as predicted";
      runs[1].name = "with busy links";
    }
    sluice::cli::ExecutedPlan run =
        sluice::cli::ExecutePlan(files, contention != 0 ? &runs[1].events : nullptr);
    runs[0].events = std::move(run.events);
    return sluice::cli::TraceOf(files, std::move(runs), run.result);
  });
}

int32_t sluice_native_segments(const void* plan, size_t plan_size, uint32_t* segment,
                               size_t layers) try {
  std::fill_n(segment, layers, SLUICE_NO_INDEX);
  const std::vector<uint32_t> found =
      sluice::cli::SegmentOfLayers(Copied(plan, plan_size), layers);
  std::copy(found.begin(), found.end(), segment);
  return 1;
} catch (const std::exception&) {
  return 0;
}

void sluice_native_text_destroy(sluice_native_text_t* text) {
  delete static_cast<Text*>(text);
}
