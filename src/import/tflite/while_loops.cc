// SPDX-License-Identifier: Apache-2.0
#include "import/tflite/while_loops.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "import/error.h"
#include "import/lowering_rules.h"
#include "import/tflite/fold_constants.h"
#include "tflite_generated.h"

namespace sluice::import {
namespace {

using Op = tflite::BuiltinOperator;

// Of all loops together. Files may nest loops, also in themselves.
constexpr size_t kMostTurns = 1 << 14;
constexpr size_t kMostTensors = 1 << 20;
constexpr int kMostNested = 8;

bool Is(const TfliteOperator& op, Op code) { return static_cast<Op>(op.code) == code; }

class Loops {
 public:
  Loops(const uint8_t* bytes, size_t size, uint64_t most_bytes, TfliteModel* model)
      : bytes_(bytes), size_(size), room_(most_bytes), model_(*model) {}
  uint32_t unrolled = 0;

  void Take(TfliteOperator op) {
    for (int32_t& input : op.inputs) {
      const auto known = now_.find(input);
      if (known != now_.end()) input = known->second;
    }
    if (!Is(op, Op::WHILE) || !Unrolls(op)) made_.push_back(std::move(op));
  }
  void Finish() { model_.operators = std::move(made_); }

 private:
  using List = std::vector<int32_t>;

  TfliteTensor& At(int32_t tensor) {
    return model_.tensors[static_cast<size_t>(tensor)];
  }

  bool Unrolls(const TfliteOperator& op) {
    const auto* options = op.wire->builtin_options_as_WhileOptions();
    if (options == nullptr || options->cond_subgraph_index() <= 0 ||
        options->body_subgraph_index() <= 0) {
      return false;
    }
    const size_t operators = made_.size(), tensors = model_.tensors.size();
    bool turned = true;
    ++depth_;
    try {
      Bind(op, Turned(op, *options));
      ++unrolled;
    } catch (const Unsupported&) {
      made_.resize(operators);
      model_.tensors.resize(tensors);
      turned = false;
    }
    --depth_;
    return turned;
  }

  // The tensors that hold the loop's values behind its last turn.
  List Turned(const TfliteOperator& op, const tflite::WhileOptions& options) {
    Require(depth_ <= kMostNested, "loops in loops");
    const TfliteModel& cond = Subgraph(options.cond_subgraph_index());
    const TfliteModel& body = Subgraph(options.body_subgraph_index());
    Fits(cond.outputs.size() == 1 && body.outputs.size() == op.inputs.size() &&
         op.outputs.size() == op.inputs.size());
    List values = op.inputs;
    for (size_t turn = 0;; ++turn) {
      Require(++turns_ <= kMostTurns, "too many turns");
      if (!Holds(cond, values)) return values;
      values = Copy(body, values, "/" + std::to_string(turn));
    }
  }

  const TfliteModel& Subgraph(int64_t index) {
    const auto known = subgraphs_.find(index);
    if (known != subgraphs_.end()) return known->second;
    return subgraphs_.emplace(index, ReadTfliteSubgraph(bytes_, size_, index))
        .first->second;
  }

  bool Holds(const TfliteModel& cond, const List& values) {
    const size_t operators = made_.size();
    const TfliteTensor& holds = At(Copy(cond, values, "/cond").at(0));
    Require(made_.size() == operators && holds.data != nullptr && holds.data_bytes == 1,
            "a condition that does not follow from constants");
    return *holds.data != 0;
  }

  static void Fits(bool fits) {
    if (!fits) throw Error(Fault::kBadInput, "a loop whose subgraphs do not fit it");
  }

  // Appends a subgraph's operators that do not follow from constants. Returns its outputs.
  List Copy(const TfliteModel& graph, const List& values, const std::string& suffix) {
    Fits(graph.inputs.size() == values.size());
    Require(model_.tensors.size() + graph.tensors.size() <= kMostTensors,
            "too many tensors");
    const int32_t first = static_cast<int32_t>(model_.tensors.size());
    for (const TfliteTensor& tensor : graph.tensors) {
      model_.tensors.push_back(tensor);
      if (tensor.data == nullptr) model_.tensors.back().name += suffix;
    }
    List place(graph.tensors.size());
    for (size_t i = 0; i < place.size(); ++i)
      place[i] = first + static_cast<int32_t>(i);
    for (size_t i = 0; i < values.size(); ++i) {
      Fits(values[i] >= 0);
      place[static_cast<size_t>(graph.inputs[i])] = values[i];
    }
    const auto move = [&](List* list) {
      for (int32_t& tensor : *list) {
        if (tensor >= 0) tensor = place[static_cast<size_t>(tensor)];
      }
    };
    for (TfliteOperator op : graph.operators) {
      move(&op.inputs);
      move(&op.outputs);
      Require(!Is(op, Op::CALL_ONCE) && !Is(op, Op::VAR_HANDLE), "variables in a loop");
      FollowSlice(op);
      if (DropsEmpty(&op) || FoldOperator(&model_, op, &room_)) continue;
      Take(std::move(op));
    }
    List outputs = graph.outputs;
    move(&outputs);
    for (int32_t& output : outputs) {  // of a loop inside
      const auto known = now_.find(output);
      if (known != now_.end()) output = known->second;
    }
    return outputs;
  }

  // Converters declare extents of 1 where a slice's depend on the turn.
  void FollowSlice(const TfliteOperator& op) {
    if (!Is(op, Op::SLICE) || op.inputs.size() != 3 || op.outputs.size() != 1) return;
    if (*std::min_element(op.inputs.begin(), op.inputs.end()) < 0) return;
    const std::vector<int32_t>& from = At(op.inputs[0]).shape;
    std::vector<int32_t> begin(from.size()), extent(from.size());
    if (!Numbers(op.inputs[1], &begin) || !Numbers(op.inputs[2], &extent)) return;
    for (size_t a = 0; a < from.size(); ++a) {
      if (extent[a] < 0) extent[a] = from[a] - begin[a];
      Fits(begin[a] >= 0 && extent[a] >= 0 && extent[a] <= from[a] - begin[a]);
    }
    At(op.outputs[0]).shape = std::move(extent);
  }

  bool Numbers(int32_t tensor, std::vector<int32_t>* numbers) {
    const TfliteTensor& from = At(tensor);
    if (from.data == nullptr || from.data_bytes != 4 * numbers->size() ||
        static_cast<tflite::TensorType>(from.type) != tflite::TensorType::INT32) {
      return false;
    }
    std::memcpy(numbers->data(), from.data, from.data_bytes);
    return true;
  }

  // A slice without elements is not made, and not joined with others.
  bool DropsEmpty(TfliteOperator* op) {
    if (Is(*op, Op::SLICE) && !op->outputs.empty()) {
      const std::vector<int32_t>& shape = At(op->outputs[0]).shape;
      if (std::find(shape.begin(), shape.end(), 0) == shape.end()) return false;
      empty_.insert(op->outputs[0]);
      return true;
    }
    if (!Is(*op, Op::CONCATENATION)) return false;
    List& inputs = op->inputs;
    inputs.erase(std::remove_if(inputs.begin(), inputs.end(),
                                [&](int32_t t) { return empty_.count(t) != 0; }),
                 inputs.end());
    return false;
  }

  void Bind(const TfliteOperator& op, const List& values) {
    for (size_t i = 0; i < values.size(); ++i) {
      const int32_t out = op.outputs[i];
      now_[out] = values[i];
      if (std::find(model_.outputs.begin(), model_.outputs.end(), out) ==
          model_.outputs.end()) {
        continue;
      }
      now_.erase(out);
      made_.push_back(
          {static_cast<int>(Op::RESHAPE), "RESHAPE", {values[i]}, {out}, op.wire});
    }
  }

  const uint8_t* bytes_;
  size_t size_;
  uint64_t room_;
  TfliteModel& model_;
  size_t turns_ = 0;
  int depth_ = 0;
  std::map<int64_t, TfliteModel> subgraphs_;
  std::vector<TfliteOperator> made_;
  std::map<int32_t, int32_t> now_;  // results of loops: the tensors that hold them
  std::set<int32_t> empty_;
};

}  // namespace

bool UnrollLoops(const uint8_t* bytes, size_t size, uint64_t most_bytes,
                 TfliteModel* model, std::vector<UnsupportedOperator>* folded) {
  if (std::none_of(model->operators.begin(), model->operators.end(),
                   [](const TfliteOperator& op) { return Is(op, Op::WHILE); })) {
    return false;
  }
  Loops loops(bytes, size, most_bytes, model);
  for (TfliteOperator& op : model->operators) loops.Take(std::move(op));
  loops.Finish();
  for (uint32_t i = 0; i < loops.unrolled; ++i)
    CountOperator(folded, "WHILE", kUnrolled);
  return true;
}

}  // namespace sluice::import
