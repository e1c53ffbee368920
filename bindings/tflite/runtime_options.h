// SPDX-License-Identifier: Apache-2.0
// Converts the options of a runtime's node (TfLiteNode.builtin_data) to the options
// table of a TensorFlow Lite file.
//
// The runtime's structs are not among the published headers. Their members are only ever
// added at the end, so the members that are read here stay where they are.
//
// Input    an operator's code and its builtin_data
// Output   a flatbuffer with the operator's table at its root; none for codes whose
//          options no lowering reads
// Cost     a few hundred bytes for each node
#ifndef SLUICE_BINDINGS_TFLITE_RUNTIME_OPTIONS_H_
#define SLUICE_BINDINGS_TFLITE_RUNTIME_OPTIONS_H_

#include <flatbuffers/flatbuffers.h>

#include <cstdint>

namespace sluice::delegate {

// false: the node lacks the data that its operator needs.
bool WriteOptions(int32_t code, const void* data,
                  flatbuffers::FlatBufferBuilder* builder);

}  // namespace sluice::delegate

#endif  // SLUICE_BINDINGS_TFLITE_RUNTIME_OPTIONS_H_
