// SPDX-License-Identifier: Apache-2.0
// What a node of the runtime says beside its tensors (TfLiteNode.builtin_data), as the table
// that a TensorFlow Lite file has for it.
//
// The runtime's structs are not among the published headers. Their members are only ever
// added at the end, so the members that are read here stay where they are.
//
// Input    an operator's code and its builtin_data
// Output   a flatbuffer with the operator's table at its root; not made for codes whose
//          options nobody reads
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
