// SPDX-License-Identifier: Apache-2.0
// Operators that copy elements of their first input, for constants that are computed at import.
//
// Input    a model whose shapes are inferred as far as they are known; a node and the extents
//          of its first input
// Output   for each element of the node's output, in order, its place in the input
// Errors   false: another operator, or one whose numbers are not known or leave the input
// Cost     linear in the output, of which there are at most kMostMoved elements
#ifndef SLUICE_IMPORT_ONNX_ONNX_MOVES_H_
#define SLUICE_IMPORT_ONNX_ONNX_MOVES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "import/onnx/onnx_model.h"

namespace sluice::import {

using OnnxPlaces = std::vector<int64_t>;

constexpr int64_t kMostMoved = int64_t{1} << 22;  // elements

// Whether the elements stay and only the extents change.
bool KeepsElements(const std::string& op);
// Slice, Transpose and Gather.
bool MovedPlaces(const OnnxModel& model, const OnnxNode& node,
                 const std::vector<int64_t>& from, OnnxPlaces* places);
// Where each element of a tensor of extents `out` comes from, to which `from` broadcasts.
bool BroadcastPlaces(const std::vector<int64_t>& from, const std::vector<int64_t>& out,
                     OnnxPlaces* places);
// For each axis of a Transpose's output the axis of its input; empty: they are no such axes.
std::vector<size_t> AxesOfTranspose(const OnnxNode& node, size_t rank);

template <typename T>
std::vector<T> PickedAt(const OnnxPlaces& places, const std::vector<T>& from) {
  std::vector<T> picked;
  picked.reserve(places.size());
  for (const int64_t place : places) picked.push_back(from[static_cast<size_t>(place)]);
  return picked;
}

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_ONNX_ONNX_MOVES_H_
