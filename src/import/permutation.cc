// SPDX-License-Identifier: Apache-2.0
#include "import/permutation.h"

#include <algorithm>
#include <numeric>

#include "import/error.h"
#include "import/lowering_rules.h"

namespace sluice::import {
namespace {

int64_t ProductOf(const std::vector<int64_t>& extents, size_t begin, size_t end) {
  int64_t product = 1;
  for (size_t i = begin; i < end; ++i) product *= extents[i];
  return product;
}

PermutationStep StepOf(const std::vector<int64_t>& runs, std::vector<int32_t> order) {
  PermutationStep step = {{}, std::move(order)};
  for (const int64_t extent : runs) {
    Require(extent <= INT32_MAX, "an extent above 2^31 - 1");
    step.runs.push_back(static_cast<int32_t>(extent));
  }
  return step;
}

// Moves the run of axes [begin, end) in front of axis `before`.
template <typename T>
void MoveRun(size_t before, size_t begin, size_t end, std::vector<T>* list) {
  const auto at = [&](size_t i) {
    return list->begin() + static_cast<std::ptrdiff_t>(i);
  };
  std::rotate(at(before), at(begin), at(end));
}

}  // namespace

Dims PermutationStep::Result() const {
  Dims out;
  for (const int32_t from : order) out.push_back(runs[static_cast<size_t>(from)]);
  return out;
}

std::vector<int32_t> PermutationStep::Attributes() const {
  const int32_t lead = static_cast<int32_t>(4 - runs.size());
  std::vector<int32_t> four(static_cast<size_t>(lead));
  std::iota(four.begin(), four.end(), 0);
  for (const int32_t from : order) four.push_back(lead + from);
  return four;
}

std::vector<PermutationStep> PermutationSteps(std::vector<int64_t> extents,
                                              const std::vector<int>& perm) {
  if (extents.size() <= 4) {
    return {StepOf(extents, std::vector<int32_t>(perm.begin(), perm.end()))};
  }
  // Moves one axis after the other to its place. Axes that already stand behind it in the
  // right order move with it. The axes before the place, up to the run, the run and the rest
  // are four runs, so that one TRANSPOSE does it.
  std::vector<PermutationStep> steps;
  std::vector<int> lies(extents.size());
  std::iota(lies.begin(), lies.end(), 0);
  for (size_t i = 0; i < perm.size(); ++i) {
    const size_t at = static_cast<size_t>(std::find(lies.begin(), lies.end(), perm[i]) -
                                          lies.begin());
    if (at == i) continue;
    size_t end = at + 1;
    while (end < lies.size() && i + end - at < perm.size() &&
           lies[end] == perm[i + end - at]) {
      ++end;
    }
    steps.push_back(
        StepOf({ProductOf(extents, 0, i), ProductOf(extents, i, at),
                ProductOf(extents, at, end), ProductOf(extents, end, extents.size())},
               {0, 2, 1, 3}));
    MoveRun(i, at, end, &lies);
    MoveRun(i, at, end, &extents);
  }
  return steps;
}

}  // namespace sluice::import
