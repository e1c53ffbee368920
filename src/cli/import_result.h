// SPDX-License-Identifier: Apache-2.0
// What an importer hands over: a graph, its figures, and what could not be expressed.
#ifndef SLUICE_CLI_IMPORT_RESULT_H_
#define SLUICE_CLI_IMPORT_RESULT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cli/files.h"

namespace sluice::cli {

struct UnsupportedOperator {
  std::string name;    // "CUSTOM:Foo"
  std::string reason;  // empty: the importer does not know the operator
  uint32_t count;
};

struct ImportResult {
  Bytes graph;
  uint32_t operators, layers, tensors, inputs, outputs;
  uint64_t constant_bytes;
  std::vector<UnsupportedOperator> opaque;
  // Floating-point operators that became int8 layers of the same shapes with seeded
  // weights: plans and their costs are the model's, computed numbers are not. Empty:
  // the graph computes what the model computes.
  std::vector<UnsupportedOperator> shapes_only;
  std::vector<std::string> interface;  // one line for each input and output
};

// One more of these, merged with equal ones.
void CountOperator(std::vector<UnsupportedOperator>* list, const std::string& name,
                   const std::string& reason);
// Failure(kBadInput) that lists all of them.
[[noreturn]] void FailUnsupported(const std::vector<UnsupportedOperator>& list);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_IMPORT_RESULT_H_
