// SPDX-License-Identifier: Apache-2.0
// A permutation of any number of axes as TRANSPOSEs, which have at most four.
#ifndef SLUICE_IMPORT_PERMUTATION_H_
#define SLUICE_IMPORT_PERMUTATION_H_

#include <cstdint>
#include <vector>

#include "import/graph_writer.h"

namespace sluice::import {

// One TRANSPOSE: the tensor with the extents `runs`, at most four, is permuted so that axis i
// of the result is axis order[i].
struct PermutationStep {
  Dims runs;
  std::vector<int32_t> order;

  Dims Result() const;
  // The attributes of TRANSPOSE, which counts four axes.
  std::vector<int32_t> Attributes() const;
};

// The steps, in order; at most four axes are one step, an order that is none is no step.
// Unsupported: a run of more than 2^31 - 1 elements.
std::vector<PermutationStep> PermutationSteps(std::vector<int64_t> extents,
                                              const std::vector<int>& perm);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_PERMUTATION_H_
