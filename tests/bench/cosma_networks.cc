// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/cosma_networks.h"

#include "model/ops/traits.h"
#include "sluice/graph_generated.h"
#include "sluice/ops.h"

namespace sluice_bench {
namespace {

using sluice::TensorRole;
using sluice_test::Net;

int64_t BytesOf(const sluice::wire::Graph& g, uint32_t tensor) {
  int64_t bytes = 1;
  const uint8_t dtype = g.tensor_dtype()->Get(tensor);
#define SLUICE_ELEMENT(constant, code, size, name) \
  if (dtype == code) bytes = size;
  SLUICE_DTYPES(SLUICE_ELEMENT)
#undef SLUICE_ELEMENT
  for (uint32_t i = g.tensor_dim_begin()->Get(tensor);
       i < g.tensor_dim_begin()->Get(tensor + 1); ++i) {
    bytes *= g.tensor_dims()->Get(i);
  }
  return bytes;
}

class Builder {
 public:
  Builder(const sluice::wire::Graph& graph, NetOptions options)
      : g_(graph),
        options_(options),
        looks_at_(g_.tensor_dtype()->size()),
        operand_(g_.tensor_dtype()->size(), sluice::kNoOperand),
        role_(g_.tensor_dtype()->size(), TensorRole::kIntermediate) {
    for (uint32_t t = 0; t < looks_at_.size(); ++t) looks_at_[t] = t;
  }

  Net Run() {
    const uint32_t layers = g_.layer_op()->size();
    for (uint32_t l = 0; l < layers; ++l) {
      if (IsView(l)) looks_at_[Outputs(l)[0]] = looks_at_[Inputs(l)[0]];
    }
    for (uint32_t t = 0; t < looks_at_.size(); ++t) {
      const uint8_t kind = g_.tensor_kind()->Get(t);
      if (kind == 1) role_[t] = TensorRole::kInput;
      if (kind == 2) role_[looks_at_[t]] = TensorRole::kOutput;
    }
    for (uint32_t l = 0; l < layers; ++l) {
      if (!IsView(l)) Add(l);
    }
    return std::move(net_);
  }

 private:
  std::vector<uint32_t> Inputs(uint32_t l) const {
    return {g_.layer_inputs()->begin() + g_.layer_input_begin()->Get(l),
            g_.layer_inputs()->begin() + g_.layer_input_begin()->Get(l + 1)};
  }
  std::vector<uint32_t> Outputs(uint32_t l) const {
    return {g_.layer_outputs()->begin() + g_.layer_output_begin()->Get(l),
            g_.layer_outputs()->begin() + g_.layer_output_begin()->Get(l + 1)};
  }
  bool IsView(uint32_t l) const {
    const uint16_t op = g_.layer_op()->Get(l);
    if (op == SLUICE_OP_RESHAPE || op == SLUICE_OP_SLICE) return true;
    return options_.folded && sluice::TraitsOf(op).in_place && Inputs(l).size() == 1 &&
           g_.tensor_kind()->Get(Outputs(l)[0]) != 2;
  }
  uint32_t Operand(uint32_t tensor) {
    const uint32_t t = looks_at_[tensor];
    if (operand_[t] == sluice::kNoOperand) {
      operand_[t] = net_.Tensor(BytesOf(g_, t), role_[t]);
    }
    return operand_[t];
  }

  void Add(uint32_t l) {
    std::vector<uint32_t> in, out;
    int64_t constants = 0;
    for (const uint32_t t : Inputs(l)) {
      if (t == sluice::kNoOperand) continue;
      if (g_.tensor_kind()->Get(looks_at_[t]) == 3) {
        constants += BytesOf(g_, t);
      } else {
        in.push_back(Operand(t));
      }
    }
    if (options_.parameters && constants > 0) {
      in.push_back(net_.Tensor(constants, TensorRole::kInput));
    }
    for (const uint32_t t : Outputs(l)) out.push_back(Operand(t));
    if (options_.split && constants > 0 && out.size() == 1) {
      const uint32_t raw =
          net_.Tensor(net_.tensors[out[0]].bytes, TensorRole::kIntermediate);
      net_.Op(in, {raw});
      in = {raw};
    }
    net_.Op(in, out);
    SetInPlace(l, in, out);
  }

  // An output of equal size may take over the first of two operands of an operator whose
  // traits allow it, if it is the operand's last reader.
  void SetInPlace(uint32_t l, const std::vector<uint32_t>& in,
                  const std::vector<uint32_t>& out) {
    const uint16_t op = g_.layer_op()->Get(l);
    if (!options_.in_place || out.size() != 1 || !sluice::TraitsOf(op).in_place) return;
    for (uint32_t i = 0; i < in.size() && i < 2; ++i) {
      if (net_.tensors[in[i]].bytes != net_.tensors[out[0]].bytes) continue;
      net_.operators.back().in_place = i;
      return;
    }
  }

  const sluice::wire::Graph& g_;
  const NetOptions options_;
  std::vector<uint32_t> looks_at_, operand_;
  std::vector<TensorRole> role_;
  Net net_;
};

}  // namespace

Net NetOf(const std::vector<uint8_t>& graph, NetOptions options) {
  return Builder(*sluice::wire::GetGraph(graph.data()), options).Run();
}

}  // namespace sluice_bench
