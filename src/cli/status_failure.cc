// SPDX-License-Identifier: Apache-2.0
#include "cli/status_failure.h"

#include <string>

#include "cli/answers.h"
#include "cli/graph_names.h"
#include "cli/report.h"

namespace sluice::cli {
namespace {

std::string Line(const char* label, const std::string& value) {
  std::string line = std::string("\n  ") + label;
  line.resize(1 + 2 + 22, ' ');
  return line + value;
}

}  // namespace

Failure FailureOf(sluice_status_t status, const sluice_diagnostic_t& d,
                  const Bytes& graph) {
  const char* name = sluice_status_name(status);
  std::string text = d.message[0] != '\0' ? d.message : name;
  Json details = {{"status", name}};
  if (d.stage[0] != '\0') details["stage"] = d.stage;
  if (d.layer != SLUICE_NO_INDEX) {
    details["layer"] = LayerName(graph, d.layer);
    text += Line("layer", details["layer"]);
  }
  if (d.tensor != SLUICE_NO_INDEX) {
    details["tensor"] = TensorName(graph, d.tensor);
    text += Line("tensor", details["tensor"]);
  }
  if (status == SLUICE_REJECTED || status == SLUICE_INTERNAL) {
    details["rule"] = d.rule;
    if (d.instruction != SLUICE_NO_INDEX) {
      details["instruction"] = d.instruction;
    } else {
      details["instruction"] = nullptr;
    }
    details["detail"] = d.message;
    if (d.rule[0] != '\0') text += Line("rule", d.rule);
    if (d.instruction != SLUICE_NO_INDEX) {
      text += Line("instruction", std::to_string(d.instruction));
    }
  }
  if (d.required_bytes != 0) {
    const uint64_t excess =
        d.required_bytes > d.available_bytes ? d.required_bytes - d.available_bytes : 0;
    details["required_bytes"] = d.required_bytes;
    details["available_bytes"] = d.available_bytes;
    details["excess_bytes"] = excess;
    text += Line("required", Grouped(d.required_bytes) + " bytes");
    text += Line("available", Grouped(d.available_bytes) + " bytes");
    text += Line("excess", Grouped(excess) + " bytes");
  }
  if (d.smallest_scratchpad_bytes != 0) {
    details["smallest_scratchpad_bytes"] = d.smallest_scratchpad_bytes;
    text +=
        Line("smallest scratchpad", Grouped(d.smallest_scratchpad_bytes) + " bytes");
  }
  return Failure(ExitCodeOf(status), text, details);
}

}  // namespace sluice::cli
