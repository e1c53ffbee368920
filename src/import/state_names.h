// SPDX-License-Identifier: Apache-2.0
// Which inputs of a model are outputs of its previous run: caches of keys and values, and other
// states of models that keep none themselves.
//
// Input    the names of inputs and outputs; pairs that the caller names; whether names tell more
// Output   pairs of indices, each input and each output in one at most
// Errors   Error(kBadArgument): a name that the model does not have, or that is in two pairs
// Cost     inputs times outputs
#ifndef SLUICE_IMPORT_STATE_NAMES_H_
#define SLUICE_IMPORT_STATE_NAMES_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace sluice::import {

struct StateNames {
  std::vector<std::pair<std::string, std::string>> given;  // input, output
  // Also those of the same name but for a word: past and present, in and out, ...
  bool find = false;
};

std::vector<std::pair<size_t, size_t>> PairStates(
    const StateNames& names, const std::vector<std::string>& inputs,
    const std::vector<std::string>& outputs);

// The input and the output of a pair differ in type or extents.
constexpr char kOtherExtents[] =
    "its input and its output differ in type or extents; export the model with caches "
    "of a "
    "fixed length";

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_STATE_NAMES_H_
