// SPDX-License-Identifier: Apache-2.0
// What the functions of the host answer on seeded operands, beside stored answers.
// tests/models/tflite_operators.py and onnx_operators.py compare the same functions, with
// the same options, with the runtimes; here every change of an answer is noticed without
// them. SLUICE_FREEZE=1 writes the answers anew.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/rng.h"
#include "tests/sim/host_case.h"

namespace sluice_sim {
namespace {

// Elements of an operand: integers or floats in [low, high], or given ones.
struct Operand {
  int dtype;
  std::array<int64_t, 4> extent;
  char kind;  // i, f; = given ones; ? a result
  double low = 0, high = 0;
  std::vector<int32_t> given;

  size_t count() const {
    return static_cast<size_t>(extent[0] * extent[1] * extent[2] * extent[3]);
  }
};

size_t WidthOf(int dtype) {
  return dtype == SLUICE_DTYPE_INT8 || dtype == SLUICE_DTYPE_UINT8 ? 1
         : dtype == SLUICE_DTYPE_INT16                             ? 2
         : dtype == SLUICE_DTYPE_INT32                             ? 4
                                                                   : 8;
}

std::vector<uint8_t> BytesOf(const Operand& o, sluice::Rng* rng) {
  const size_t width = WidthOf(o.dtype);
  std::vector<uint8_t> bytes(o.count() * width);
  for (size_t i = 0; i < o.count() && o.kind != '?'; ++i) {
    const double part = rng->Below(1 << 20) / 1048576.0;
    const float real = static_cast<float>(o.low + (o.high - o.low) * part);
    int64_t whole =
        static_cast<int64_t>(std::floor(o.low + (o.high - o.low + 1) * part));
    if (o.kind == '=') whole = o.given[i];
    if (o.kind == 'f') {
      std::memcpy(&bytes[4 * i], &real, 4);
    } else {
      std::memcpy(&bytes[width * i], &whole, width);
    }
  }
  return bytes;
}

// One line: name, how many inputs and outputs, these, the answers, and what is refused.
struct Call {
  std::string name, question;
  std::vector<Operand> in, out;
  std::vector<std::string> answers;
};

Operand ReadOperand(std::istream& text) {
  Operand o;
  text >> o.dtype;
  for (int64_t& extent : o.extent) text >> extent;
  text >> o.kind;
  if (o.kind == 'i' || o.kind == 'f') text >> o.low >> o.high;
  if (o.kind != '=') return o;
  o.given.resize(o.count());
  for (int32_t& number : o.given) text >> number;
  return o;
}

Call ReadCall(const std::string& line) {
  std::istringstream text(line);
  Call call;
  size_t inputs = 0, outputs = 0;
  text >> call.name >> inputs >> outputs;
  while (inputs-- > 0) call.in.push_back(ReadOperand(text));
  while (outputs-- > 0) call.out.push_back(ReadOperand(text));
  REQUIRE_MESSAGE(text, line);
  call.question = line.substr(0, static_cast<size_t>(text.tellg()));
  call.answers.resize(call.out.size() + 1);
  for (std::string& answer : call.answers) text >> answer;
  return call;
}

std::string HashOf(const std::vector<uint8_t>& bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
  std::ostringstream text;
  text << std::hex << hash;
  return text.str();
}

// A hash of integers. Of floats a sum with weights, as the last bit of a root or an
// exponential is the library's of the machine.
std::string AnswerOf(const Operand& o, const std::vector<uint8_t>& bytes) {
  if (o.kind != 'f') return HashOf(bytes);
  std::ostringstream text;
  double sum = 0, size = 0;
  for (size_t i = 0; i < o.count(); ++i) {
    float real;
    std::memcpy(&real, &bytes[4 * i], 4);
    if (!std::isfinite(real)) real = 12345;
    const double weight = 1 + static_cast<double>(i * 2654435761u % 1024) / 1024;
    sum += weight * static_cast<double>(real);
    size += weight * std::abs(static_cast<double>(real));
  }
  text.precision(9);
  text << sum << "~" << size;
  return text.str();
}

bool SameAnswer(char kind, const std::string& got, const std::string& want) {
  if (kind != 'f') return got == want;
  const double a = std::atof(got.c_str()), b = std::atof(want.c_str());
  const double size = std::atof(want.c_str() + want.find('~') + 1);
  return std::abs(a - b) <= 1e-6 * size;
}

struct Answered {
  std::string wrong;
  std::vector<std::string> answers;
};

Answered Ask(const Call& call) {
  sluice::Rng rng(7);
  std::vector<std::vector<uint8_t>> bytes;
  for (const auto* operands : {&call.in, &call.out}) {
    for (const Operand& o : *operands) bytes.push_back(BytesOf(o, &rng));
  }
  HostOperands in, out;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const bool input = i < call.in.size();
    const Operand& o = input ? call.in[i] : call.out[i - call.in.size()];
    (input ? in : out).push_back({o.dtype, o.extent, &bytes[i]});
  }
  const HostFunction* function = FindHostFunction(call.name);
  REQUIRE_MESSAGE(function != nullptr, call.name);
  Answered answered = {(*function)(in, out), {}};
  for (size_t i = 0; i < call.out.size(); ++i) {
    answered.answers.push_back(AnswerOf(call.out[i], *out[i].bytes));
  }
  return answered;
}

// Which calls are refused that differ in one option, in one operand's type or by one
// operand: a hash of yes and no. Options are the last input.
std::string RefusalsOf(const Call& call) {
  std::vector<uint8_t> refused;
  const auto ask = [&](const Call& changed) {
    refused.push_back(!Ask(changed).wrong.empty());
  };
  for (size_t i = 0; i < call.in.back().given.size(); ++i) {
    const int32_t is = call.in.back().given[i];
    for (const int32_t other : {is - 1, is + 1, 0, -1, 9}) {
      if (is > 1 << 20 || is < -(1 << 20)) continue;  // a real number
      Call changed = call;
      changed.in.back().given[i] = other;
      ask(changed);
    }
  }
  for (size_t i = 0; i < call.in.size(); ++i) {
    Call changed = call;
    changed.in.erase(changed.in.begin() + static_cast<long>(i));
    ask(changed);
    if (call.in[i].extent[0] != 1 || call.in[i].kind == '=') continue;
    changed = call;
    changed.in[i].extent[0] = 2;
    ask(changed);
  }
  for (size_t i = 0; i < call.out.size(); ++i) {
    Call changed = call;
    changed.out[i].extent[0] += 1;
    ask(changed);
    changed.out.push_back(changed.out[i]);
    ask(changed);
  }
  return HashOf(refused);
}

std::vector<std::string> AnswersOf(const Call& call) {
  const Answered answered = Ask(call);
  std::vector<std::string> answers = answered.answers;
  for (std::string& answer : answers)
    answer = answered.wrong.empty() ? answer : "refused";
  answers.push_back(RefusalsOf(call));
  return answers;
}

bool SameAnswers(const Call& call, const std::vector<std::string>& got) {
  bool same = got.size() == call.answers.size();
  for (size_t i = 0; same && i < got.size(); ++i) {
    const char kind = i < call.out.size() ? call.out[i].kind : '?';
    same = SameAnswer(kind, got[i], call.answers[i]);
  }
  return same;
}

TEST_CASE("host answers: seeded operands of every function give the stored answers") {
  const char* const path = SLUICE_ANSWERS;
  const bool freeze = std::getenv("SLUICE_FREEZE") != nullptr;
  std::ifstream file(path);
  std::string line, written;
  int calls = 0;
  while (std::getline(file, line)) {
    const Call call = ReadCall(line);
    const std::vector<std::string> answers = AnswersOf(call);
    CHECK_MESSAGE((freeze || SameAnswers(call, answers)), line);
    written += call.question;
    for (const std::string& answer : answers) written += " " + answer;
    written += "\n";
    ++calls;
  }
  CHECK(calls > 50);
  if (freeze) std::ofstream(path) << written;
}

}  // namespace
}  // namespace sluice_sim
