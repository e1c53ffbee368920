// SPDX-License-Identifier: Apache-2.0
// Inputs of an ONNX model that hold what its outputs were in the run before.
#include <algorithm>

#include "import/lowering_rules.h"
#include "import/onnx/onnx_model.h"

namespace sluice::import {

void JoinOnnxStates(const StateNames& names, OnnxModel* model) {
  const auto names_of = [&](const std::vector<int>& values) {
    std::vector<std::string> texts;
    for (const int value : values) {
      texts.push_back(model->values[static_cast<size_t>(value)].name);
    }
    return texts;
  };
  const auto pairs =
      PairStates(names, names_of(model->inputs), names_of(model->outputs));
  for (const auto& [in, out] : pairs) {
    const int state = model->inputs[in], last = model->outputs[out];
    const OnnxValue &a = model->values[static_cast<size_t>(state)],
                    &b = model->values[static_cast<size_t>(last)];
    Require(a.has_shape && b.has_shape && a.dims == b.dims && a.type == b.type,
            kOtherExtents);
    model->states.push_back({state, last});
  }
  const auto drop = [&](std::vector<int>* list, int std::pair<int, int>::*which) {
    const auto is_state = [&](int value) {
      return std::any_of(model->states.begin(), model->states.end(),
                         [&](const auto& pair) { return pair.*which == value; });
    };
    list->erase(std::remove_if(list->begin(), list->end(), is_state), list->end());
  };
  drop(&model->inputs, &std::pair<int, int>::first);
  drop(&model->outputs, &std::pair<int, int>::second);
}

}  // namespace sluice::import
