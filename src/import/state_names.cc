// SPDX-License-Identifier: Apache-2.0
#include "import/state_names.h"

#include <algorithm>
#include <cctype>

#include "import/error.h"

namespace sluice::import {
namespace {

struct Words {
  const char *input, *output;
};
constexpr Words kWords[] = {
    {"past_key_values", "present_key_values"},
    {"past_key_values", "present"},
    {"past", "present"},
    {"prev", "next"},
    {"old", "new"},
    {"in", "out"},
};

bool IsWordEnd(const std::string& name, size_t at) {
  return at >= name.size() || !std::isalpha(static_cast<unsigned char>(name[at]));
}

// Whether `output` is `input` with one whole word replaced, and has more than this word.
bool AreNamedAlike(const std::string& input, const std::string& output) {
  for (const Words& words : kWords) {
    const std::string from = words.input;
    for (size_t at = input.find(from); at != std::string::npos;
         at = input.find(from, at + 1)) {
      const bool whole =
          (at == 0 || IsWordEnd(input, at - 1)) && IsWordEnd(input, at + from.size());
      if (!whole || input.size() == from.size()) continue;
      std::string other = input;
      if (other.replace(at, from.size(), words.output) == output) return true;
    }
  }
  return false;
}

size_t IndexOf(const std::vector<std::string>& names, const std::string& name,
               const char* what) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw Error(Fault::kBadArgument,
                std::string("the model has no ") + what + " called " + name);
  }
  return static_cast<size_t>(found - names.begin());
}

}  // namespace

std::vector<std::pair<size_t, size_t>> PairStates(
    const StateNames& names, const std::vector<std::string>& inputs,
    const std::vector<std::string>& outputs) {
  std::vector<std::pair<size_t, size_t>> pairs;
  std::vector<bool> input_taken(inputs.size()), output_taken(outputs.size());
  for (const auto& [input, output] : names.given) {
    const size_t in = IndexOf(inputs, input, "input"),
                 out = IndexOf(outputs, output, "output");
    if (input_taken[in] || output_taken[out]) {
      throw Error(Fault::kBadArgument, "state " + input + " is given twice");
    }
    input_taken[in] = output_taken[out] = true;
    pairs.push_back({in, out});
  }
  for (size_t in = 0; names.find && in < inputs.size(); ++in) {
    for (size_t out = 0; out < outputs.size() && !input_taken[in]; ++out) {
      if (output_taken[out] || !AreNamedAlike(inputs[in], outputs[out])) continue;
      input_taken[in] = output_taken[out] = true;
      pairs.push_back({in, out});
    }
  }
  return pairs;
}

}  // namespace sluice::import
