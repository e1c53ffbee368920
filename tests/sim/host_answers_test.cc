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
#include "firmware-sim/host_tflite.h"
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

// A function of TensorFlow Lite by its options: its tensors as type, bits of the scale, zero
// point, rank and extents; the inputs stand first. Operands follow from them.
struct LiteForm {
  explicit LiteForm(const Call& call) : of(call) {
    const std::vector<int32_t>& o = call.in.back().given;
    size_t at = 3, operand = 0;
    for (int32_t t = 0; t < o[0] + o[1]; ++t) {
      const size_t size = 4 + static_cast<size_t>(o[at + 3]);
      tensors.emplace_back(o.begin() + static_cast<long>(at),
                           o.begin() + static_cast<long>(at + size));
      at += size;
      Operand like = {SLUICE_DTYPE_INT8, {1, 1, 1, 1}, 'i', 0, 3, {}};
      const bool input = t < o[0];
      if (!input) like = call.out[static_cast<size_t>(t - o[0])];
      if (input && tensors.back()[0] >= 0) like = call.in[operand++];
      operands.push_back(like);
    }
    inputs = static_cast<size_t>(o[0]);
    numbers.assign(o.begin() + static_cast<long>(at), o.end());
  }
  Call Made() const {
    Call call = of;
    Operand options = call.in.back();
    call.in.clear();
    call.out.clear();
    options.given = {static_cast<int32_t>(inputs),
                     static_cast<int32_t>(tensors.size() - inputs),
                     static_cast<int32_t>(numbers.size())};
    for (size_t t = 0; t < tensors.size(); ++t) {
      const std::vector<int32_t>& tensor = tensors[t];
      options.given.insert(options.given.end(), tensor.begin(), tensor.end());
      if (tensor[0] < 0) continue;
      Operand o = operands[t];
      size_t count = 1;
      for (size_t a = 4; a < tensor.size(); ++a)
        count *= static_cast<size_t>(tensor[a]);
      const int64_t width = LiteTypeBytes(tensor[0]);
      if (count != o.count()) o.extent = {1, 1, 1, static_cast<int64_t>(count)};
      if (o.kind == '=') o.given.resize(count);
      if (width != static_cast<int64_t>(WidthOf(o.dtype))) {
        o.dtype = width == 1   ? SLUICE_DTYPE_INT8
                  : width == 2 ? SLUICE_DTYPE_INT16
                  : width == 4 ? SLUICE_DTYPE_INT32
                               : SLUICE_DTYPE_INT64;
        if (o.kind == 'f') o.kind = 'i';
      }
      (t < inputs ? call.in : call.out).push_back(o);
    }
    options.given.insert(options.given.end(), numbers.begin(), numbers.end());
    options.extent = {1, 1, 1, static_cast<int64_t>(options.given.size())};
    call.in.push_back(options);
    return call;
  }

  const Call& of;
  std::vector<std::vector<int32_t>> tensors;
  std::vector<Operand> operands;
  std::vector<int32_t> numbers;
  size_t inputs;
};

// Calls that differ in what one tensor is, or by one tensor.
std::vector<Call> OtherForms(const Call& call) {
  const LiteForm form(call);
  std::vector<Call> calls;
  for (size_t t = 0; t < form.tensors.size(); ++t) {
    const auto with = [&](auto change) {
      LiteForm other = form;
      change(&other.tensors[t]);
      calls.push_back(other.Made());
    };
    using Numbers = std::vector<int32_t>;
    for (const int type :
         {kLiteFloat, kLiteInt32, kLiteUint8, kLiteInt64, kLiteInt16, kLiteInt8}) {
      with([&](Numbers* tensor) { (*tensor)[0] = type; });
    }
    with([](Numbers* tensor) { (*tensor)[1] = 0; });
    with([](Numbers* tensor) {
      *tensor = {(*tensor)[0], (*tensor)[1], (*tensor)[2], 0};
    });
    with([](Numbers* tensor) {
      ++(*tensor)[3];
      tensor->insert(tensor->begin() + 4, 1);
    });
    with([](Numbers* tensor) {
      ++(*tensor)[3];
      tensor->insert(tensor->begin() + 4, 2);
    });
    if (form.tensors[t].size() > 4) {
      with([](Numbers* tensor) { ++tensor->back(); });
      with([](Numbers* tensor) { ++(*tensor)[4]; });
    }
    const bool input = t < form.inputs;
    if (input) with([](Numbers* tensor) { (*tensor)[0] = -1; });
    const long at = static_cast<long>(t);
    LiteForm fewer = form, more = form;
    fewer.tensors.erase(fewer.tensors.begin() + at);
    fewer.operands.erase(fewer.operands.begin() + at);
    fewer.inputs -= input ? 1 : 0;
    calls.push_back(fewer.Made());
    more.tensors.insert(more.tensors.begin() + at, form.tensors[t]);
    more.operands.insert(more.operands.begin() + at, form.operands[t]);
    more.inputs += input ? 1 : 0;
    calls.push_back(more.Made());
  }
  return calls;
}

// Which calls are refused that differ in one option, in one operand's type or by one
// operand: a hash of yes and no. Options are the last input. Of other numbers that are
// given (indices, pads, blocks) each change's answer counts too.
std::string RefusalsOf(const Call& call) {
  std::vector<uint8_t> refused;
  const auto ask = [&](const Call& changed) {
    refused.push_back(!Ask(changed).wrong.empty());
  };
  for (size_t o = 0; o < call.in.size(); ++o) {
    for (size_t i = 0; i < call.in[o].given.size(); ++i) {
      const int32_t is = call.in[o].given[i];
      for (const int32_t other : {is - 1, is + 1, 0, -1, 9}) {
        if (is > 1 << 20 || is < -(1 << 20)) continue;  // a real number
        Call changed = call;
        changed.in[o].given[i] = other;
        ask(changed);
        if (o + 1 == call.in.size() || refused.back() != 0) continue;
        const std::vector<std::string> answers = Ask(changed).answers;
        for (size_t a = 0; a < answers.size(); ++a) {
          if (call.out[a].kind == 'f') continue;
          refused.insert(refused.end(), answers[a].begin(), answers[a].end());
        }
      }
    }
  }
  // No operands, options of another type, one less and one more.
  Call bare = call;
  bare.in.clear();
  ask(bare);
  bare = call;
  bare.in.back().dtype = SLUICE_DTYPE_INT64;
  ask(bare);
  for (const int more : {-1, 1}) {
    bare = call;
    Operand& options = bare.in.back();
    options.given.resize(options.given.size() + static_cast<size_t>(more));
    options.extent = {1, 1, 1, static_cast<int64_t>(options.given.size())};
    ask(bare);
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
  if (call.name.compare(0, 7, "tflite.") == 0) {
    for (const Call& other : OtherForms(call)) ask(other);
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
