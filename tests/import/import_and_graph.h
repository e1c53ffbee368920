// SPDX-License-Identifier: Apache-2.0
// An import with the bytes of its graph.
#ifndef SLUICE_TESTS_IMPORT_IMPORT_AND_GRAPH_H_
#define SLUICE_TESTS_IMPORT_IMPORT_AND_GRAPH_H_

#include <utility>

#include "import/graph_rows.h"
#include "import/import_result.h"

namespace sluice_test {

struct ImportAndGraph : sluice::import::ImportResult {
  // The model's bytes must be there still.
  explicit ImportAndGraph(sluice::import::ImportResult made)
      : ImportResult(std::move(made)), graph(WriteRows(rows)) {}
  sluice::import::Bytes graph;
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_IMPORT_IMPORT_AND_GRAPH_H_
