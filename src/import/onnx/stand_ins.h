// SPDX-License-Identifier: Apache-2.0
// Operators of onnxruntime have no shape inference in ONNX. While shapes are inferred, an
// operator of ONNX whose output has the same shape stands in their place.
//
// Input    a model
// Output   the model with other nodes, for as long as the object lives
// Errors   none: what has no stand-in stays
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
