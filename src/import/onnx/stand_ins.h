// SPDX-License-Identifier: Apache-2.0
// ONNX cannot infer the shapes of onnxruntime's own operators. While shapes are
// inferred, each is replaced by an ONNX operator whose output has the same shape.
//
// Input    a model
// Output   the model with replaced nodes, during the lifetime of the object
// Errors   none: an operator without stand-in stays
// Cost     linear in the nodes
#ifndef SLUICE_IMPORT_ONNX_STAND_INS_H_
#define SLUICE_IMPORT_ONNX_STAND_INS_H_

#include <onnx/onnx_pb.h>

#include <utility>
#include <vector>

namespace sluice::import {

class StandIns {
 public:
  explicit StandIns(onnx::ModelProto* model);
  ~StandIns();
  StandIns(const StandIns&) = delete;
  StandIns& operator=(const StandIns&) = delete;

 private:
  std::vector<std::pair<onnx::NodeProto*, onnx::NodeProto>> replaced_;  // and by what
};

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_ONNX_STAND_INS_H_
