// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/order_shapes.h"

#include <algorithm>
#include <deque>

namespace sluice_bench {
namespace {

using sluice::Rng;
using sluice::TensorRole;
using sluice_test::Net;

constexpr uint32_t kMostBytes = 100;

uint32_t Run(Net* net, Rng* rng, const std::vector<uint32_t>& in) {
  const uint32_t out =
      net->Tensor(1 + rng->Below(kMostBytes), TensorRole::kIntermediate);
  net->Op(in, {out});
  return out;
}

uint32_t Input(Net* net, Rng* rng) {
  return net->Tensor(1 + rng->Below(kMostBytes), TensorRole::kInput);
}

// What nobody reads is an output.
Net Finish(Net net) {
  std::vector<bool> read(net.tensors.size(), false);
  for (const sluice::Operator& op : net.operators) {
    for (uint32_t k = 0; k < op.input_count; ++k)
      read[net.operands[op.first_input + k]] = true;
  }
  for (size_t a = 0; a < read.size(); ++a) {
    if (!read[a] && net.tensors[a].role == TensorRole::kIntermediate)
      net.tensors[a].role = TensorRole::kOutput;
  }
  return net;
}

// Two or three results become one, level by level.
Net Tree(Rng* rng, uint32_t operators) {
  Net net;
  std::deque<uint32_t> left;
  for (uint32_t i = 0; i < operators * 3 / 5; ++i)
    left.push_back(Run(&net, rng, {Input(&net, rng)}));
  while (left.size() > 1) {
    std::vector<uint32_t> in;
    for (uint32_t k = 2 + rng->Below(2); k > 0 && !left.empty(); --k) {
      in.push_back(left.front());
      left.pop_front();
    }
    left.push_back(Run(&net, rng, in));
  }
  return Finish(net);
}

// One result is read by many branches, all of which advance by turns and are then added up.
Net Fan(Rng* rng, uint32_t operators) {
  Net net;
  uint32_t from = Input(&net, rng);
  while (net.operators.size() < operators) {
    std::vector<uint32_t> branches(8 + rng->Below(33), from);
    for (uint32_t depth = 1 + rng->Below(5); depth > 0; --depth) {
      for (uint32_t& branch : branches) branch = Run(&net, rng, {branch});
    }
    from = branches[0];
    for (size_t b = 1; b < branches.size(); ++b)
      from = Run(&net, rng, {from, branches[b]});
  }
  return Finish(net);
}

// An irregular cell again and again, which reads the results of the two cells before.
Net Cells(Rng* rng, uint32_t operators) {
  struct Reads {
    std::vector<uint32_t> in;  // of the cell's tensors
  };
  std::vector<Reads> cell(8 + rng->Below(25));
  for (uint32_t o = 0; o < cell.size(); ++o) {
    for (uint32_t k = 1 + rng->Below(3); k > 0; --k)
      cell[o].in.push_back(rng->Below(2 + o));
  }
  Net net;
  uint32_t before = Input(&net, rng), last = before;
  while (net.operators.size() < operators) {
    std::vector<uint32_t> tensors = {before, last};
    std::vector<bool> read(2 + cell.size(), false);
    for (const Reads& reads : cell) {
      std::vector<uint32_t> in;
      for (const uint32_t k : reads.in) {
        read[k] = true;
        if (std::find(in.begin(), in.end(), tensors[k]) == in.end())
          in.push_back(tensors[k]);
      }
      tensors.push_back(Run(&net, rng, in));
    }
    before = last;
    last = tensors.back();
    for (size_t k = 2; k + 1 < tensors.size(); ++k) {
      if (!read[k]) last = Run(&net, rng, {last, tensors[k]});
    }
  }
  return Finish(net);
}

// Each reads its neighbours above and to the left.
Net Lattice(Rng* rng, uint32_t operators) {
  Net net;
  const uint32_t width = 6 + rng->Below(15);
  std::vector<uint32_t> above(width);
  for (uint32_t& a : above) a = Input(&net, rng);
  while (net.operators.size() < operators) {
    for (uint32_t x = 0; x < width; ++x) {
      above[x] = x == 0 ? Run(&net, rng, {above[x]})
                        : Run(&net, rng, {above[x], above[x - 1]});
    }
  }
  return Finish(net);
}

// A chain, of whose operators every fourth reads any earlier result too.
Net Skips(Rng* rng, uint32_t operators) {
  Net net;
  std::vector<uint32_t> made = {Input(&net, rng)};
  while (net.operators.size() < operators) {
    std::vector<uint32_t> in = {made.back()};
    const uint32_t any = made[rng->Below(static_cast<uint32_t>(made.size()))];
    if (rng->Below(4) == 0 && any != in[0]) in.push_back(any);
    made.push_back(Run(&net, rng, in));
  }
  return Finish(net);
}

template <uint32_t kReach>
Net Reach(Rng* rng, uint32_t operators) {
  return sluice_test::WindowNet(rng, operators, kReach, kMostBytes);
}

}  // namespace

const std::vector<OrderShape> kOrderShapes = {
    {"trees", Tree},           {"fans", Fan},
    {"cells", Cells},          {"lattices", Lattice},
    {"skips", Skips},          {"reach 6", Reach<6>},
    {"reach 30", Reach<30>},   {"reach 100", Reach<100>},
    {"reach 300", Reach<300>}, {"reach 1000", Reach<1000>}};

std::vector<uint32_t> DepthFirstOrder(const Net& net) {
  std::vector<uint32_t> maker(net.tensors.size(), sluice::kNoOperand), order, stack;
  std::vector<uint8_t> state(net.operators.size(),
                             0);  // 1: its operands were asked for
  for (uint32_t o = 0; o < net.operators.size(); ++o)
    maker[net.operands[net.operators[o].first_output]] = o;
  for (uint32_t o = static_cast<uint32_t>(net.operators.size()); o-- > 0;)
    stack.push_back(o);
  // The last operators make what nobody reads; earlier ones are asked for.
  std::reverse(stack.begin(), stack.end());
  while (!stack.empty()) {
    const uint32_t o = stack.back();
    if (state[o] == 2) {
      stack.pop_back();
    } else if (state[o] == 1) {
      state[o] = 2;
      order.push_back(o);
      stack.pop_back();
    } else {
      state[o] = 1;
      const sluice::Operator& op = net.operators[o];
      for (uint32_t k = 0; k < op.input_count; ++k) {
        const uint32_t from = maker[net.operands[op.first_input + k]];
        if (from != sluice::kNoOperand && state[from] == 0) stack.push_back(from);
      }
    }
  }
  return order;
}

}  // namespace sluice_bench
