// SPDX-License-Identifier: Apache-2.0
#include "import/tflite/variables.h"

#include <algorithm>
#include <map>
#include <string>

#include "import/lowering_rules.h"
#include "import/tflite/fold_constants.h"
#include "tflite_generated.h"

namespace sluice::import {
namespace {

using Op = tflite::BuiltinOperator;

bool Is(const TfliteOperator& op, Op code) { return static_cast<Op>(op.code) == code; }

std::string NameOf(const TfliteOperator& handle) {
  const auto* options = handle.wire->builtin_options_as_VarHandleOptions();
  Require(options != nullptr && options->shared_name() != nullptr,
          "a variable without a name");
  const std::string container =
      options->container() == nullptr ? "" : options->container()->str();
  return container.empty() ? options->shared_name()->str()
                           : container + "/" + options->shared_name()->str();
}

// Maps handle tensors to the names of their variables.
class Handles {
 public:
  void Add(const TfliteOperator& op) {
    Require(op.outputs.size() == 1, "a handle that is no tensor");
    name_[op.outputs[0]] = NameOf(op);
  }
  const std::string& Of(const TfliteOperator& op) const {
    const auto found = op.inputs.empty() ? name_.end() : name_.find(op.inputs[0]);
    Require(found != name_.end(),
            "a variable that no VAR_HANDLE of its subgraph names");
    return found->second;
  }

 private:
  std::map<int32_t, std::string> name_;
};

using FirstBytes = std::map<std::string, std::vector<uint8_t>>;

// Collects the constants that an initialiser subgraph assigns to variables.
void Initialise(TfliteModel init, uint64_t most_bytes, FirstBytes* first) {
  std::vector<UnsupportedOperator> ignored;
  FoldConstants(&init, most_bytes, &ignored);
  Handles handles;
  for (const TfliteOperator& op : init.operators) {
    if (Is(op, Op::VAR_HANDLE)) {
      handles.Add(op);
      continue;
    }
    Require(Is(op, Op::ASSIGN_VARIABLE) && op.inputs.size() == 2 && op.inputs[1] >= 0,
            "an initialiser that does more than assign constants");
    const TfliteTensor& value = init.tensors[static_cast<size_t>(op.inputs[1])];
    Require(value.data != nullptr, "an initialiser that assigns what is not constant");
    (*first)[handles.Of(op)].assign(value.data, value.data + value.data_bytes);
  }
}

class Variables {
 public:
  explicit Variables(TfliteModel* model) : model_(*model) {}
  FirstBytes first;

  // True when the operator is gone.
  bool Resolve(TfliteOperator* op) {
    if (Is(*op, Op::VAR_HANDLE)) {
      handles_.Add(*op);
    } else if (Is(*op, Op::READ_VARIABLE)) {
      return Read(op);
    } else {
      Require(op->inputs.size() == 2 && op->inputs[1] >= 0, "an assignment of nothing");
      now_[handles_.Of(*op)] = op->inputs[1];
    }
    return true;
  }

  void Finish() {
    for (auto& [name, state] : states_) {
      const int32_t next = now_[name];
      if (next != state.tensor) state.next = next;
      model_.states.push_back(std::move(state));
    }
  }

 private:
  bool Read(TfliteOperator* op) {
    const std::string& name = handles_.Of(*op);
    Require(op->outputs.size() == 1, "a read without a result");
    const int32_t out = op->outputs[0];
    const auto known = now_.find(name);
    if (known == now_.end()) {
      Require(std::find(model_.outputs.begin(), model_.outputs.end(), out) ==
                  model_.outputs.end(),
              "an output that is a variable");
      now_[name] = out;
      TfliteTensor& tensor = model_.tensors[static_cast<size_t>(out)];
      tensor.is_variable = true;
      tensor.name = name;
      states_[name] = {out, -1, first[name]};
      return true;
    }
    // The variable's value is already in a tensor: readers of `out` read that tensor.
    const int32_t from = known->second;
    if (std::find(model_.outputs.begin(), model_.outputs.end(), out) !=
        model_.outputs.end()) {
      op->code = static_cast<int>(Op::RESHAPE);
      op->inputs = {from};
      return false;
    }
    for (TfliteOperator& other : model_.operators) {
      std::replace(other.inputs.begin(), other.inputs.end(), out, from);
    }
    return true;
  }

  TfliteModel& model_;
  Handles handles_;
  std::map<std::string, int32_t> now_;  // the tensor that holds a variable's value
  std::map<std::string, TfliteState> states_;
};

}  // namespace

void ResolveVariables(const uint8_t* bytes, size_t size, uint64_t most_bytes,
                      TfliteModel* model, std::vector<UnsupportedOperator>* folded) {
  Variables variables(model);
  std::vector<bool> gone(model->operators.size());
  for (size_t i = 0; i < gone.size(); ++i) {
    TfliteOperator& op = model->operators[i];
    if (Is(op, Op::CALL_ONCE)) {
      const auto* options = op.wire->builtin_options_as_CallOnceOptions();
      Require(options != nullptr && options->init_subgraph_index() > 0,
              "an initialiser that is not there");
      Initialise(ReadTfliteSubgraph(bytes, size, options->init_subgraph_index()),
                 most_bytes, &variables.first);
      gone[i] = true;
    } else if (Is(op, Op::VAR_HANDLE) || Is(op, Op::READ_VARIABLE) ||
               Is(op, Op::ASSIGN_VARIABLE)) {
      gone[i] = variables.Resolve(&op);
    }
    if (gone[i]) CountOperator(folded, op.name, kBecameState);
  }
  variables.Finish();
  std::vector<TfliteOperator> kept;
  for (size_t i = 0; i < gone.size(); ++i) {
    if (!gone[i]) kept.push_back(std::move(model->operators[i]));
  }
  model->operators = std::move(kept);
}

namespace {

std::vector<std::string> NamesOf(const TfliteModel& model,
                                 const std::vector<int32_t>& tensors) {
  std::vector<std::string> names;
  for (const int32_t tensor : tensors) {
    names.push_back(model.tensors[static_cast<size_t>(tensor)].name);
  }
  return names;
}

// `from` as the tensor `like` is quantised.
int32_t RequantisedAs(TfliteModel* model, int32_t like, int32_t from) {
  const TfliteTensor &a = model->tensors[static_cast<size_t>(like)],
                     &b = model->tensors[static_cast<size_t>(from)];
  Require(a.type == b.type && a.shape == b.shape, kOtherExtents);
  if (a.scales == b.scales && a.zero_points == b.zero_points) return from;
  const int32_t made = static_cast<int32_t>(model->tensors.size());
  TfliteTensor copy = a;
  copy.name += "/next";
  copy.is_variable = false;
  model->tensors.push_back(std::move(copy));
  model->operators.push_back(
      {static_cast<int>(Op::QUANTIZE), "QUANTIZE", {from}, {made}, nullptr});
  return made;
}

}  // namespace

std::vector<uint8_t> ZerosOf(const TfliteTensor& tensor, uint64_t most_bytes) {
  if (tensor.zero_points.size() != 1 || tensor.zero_points[0] == 0) return {};
  uint64_t bytes = TfliteTypeBytes(tensor.type);
  for (const int32_t extent : tensor.shape) {
    if (extent < 1 || bytes > most_bytes / static_cast<uint64_t>(extent)) return {};
    bytes *= static_cast<uint64_t>(extent);
  }
  return std::vector<uint8_t>(bytes, static_cast<uint8_t>(tensor.zero_points[0]));
}

void JoinStates(const StateNames& names, uint64_t most_bytes, TfliteModel* model,
                std::vector<std::string>* lines) {
  const auto pairs = PairStates(names, NamesOf(*model, model->inputs),
                                NamesOf(*model, model->outputs));
  std::vector<int32_t> inputs, outputs;
  for (const auto& [in, out] : pairs) {
    const int32_t state = model->inputs[in], last = model->outputs[out];
    inputs.push_back(state);
    outputs.push_back(last);
    TfliteTensor& tensor = model->tensors[static_cast<size_t>(state)];
    lines->push_back("state " + tensor.name + " <- " +
                     model->tensors[static_cast<size_t>(last)].name);
    tensor.is_variable = true;
    const std::vector<uint8_t> first = ZerosOf(tensor, most_bytes);
    model->states.push_back({state, RequantisedAs(model, state, last), first});
  }
  const auto drop = [](const std::vector<int32_t>& gone, std::vector<int32_t>* list) {
    const auto is_gone = [&](int32_t t) {
      return std::find(gone.begin(), gone.end(), t) != gone.end();
    };
    list->erase(std::remove_if(list->begin(), list->end(), is_gone), list->end());
  };
  drop(inputs, &model->inputs);
  drop(outputs, &model->outputs);
}

}  // namespace sluice::import
