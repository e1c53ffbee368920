// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

#include <string.h>

namespace sluice {

namespace {

void CopyName(char* to, size_t capacity, const char* from) {
  size_t i = 0;
  for (; i + 1 < capacity && from[i] != '\0'; ++i) to[i] = from[i];
  to[i] = '\0';
}

}  // namespace

void ClearDiagnostic(Diagnostic* diagnostic) {
  memset(diagnostic, 0, sizeof *diagnostic);
  diagnostic->struct_size = sizeof *diagnostic;
  diagnostic->layer = SLUICE_NO_INDEX;
  diagnostic->tensor = SLUICE_NO_INDEX;
  diagnostic->instruction = SLUICE_NO_INDEX;
}

Fail::Fail(Diagnostic* diagnostic, Status status, const char* stage)
    : diagnostic_(diagnostic), status_(status) {
  ClearDiagnostic(diagnostic);
  diagnostic->status = static_cast<int32_t>(status);
  CopyName(diagnostic->stage, sizeof diagnostic->stage, stage);
}

Fail& Fail::Text(const char* text, size_t length) {
  for (size_t i = 0; i < length; ++i) {
    if (length_ + 1 >= sizeof diagnostic_->message) break;
    diagnostic_->message[length_++] = text[i];
  }
  diagnostic_->message[length_] = '\0';
  return *this;
}

Fail& Fail::Text(const char* text) { return Text(text, strlen(text)); }

Fail& Fail::Number(int64_t value) {
  char digits[24];
  size_t n = sizeof digits;
  uint64_t magnitude = value < 0 ? uint64_t{0} - static_cast<uint64_t>(value)
                                 : static_cast<uint64_t>(value);
  do {
    digits[--n] = static_cast<char>('0' + magnitude % 10);
    magnitude /= 10;
  } while (magnitude != 0);
  if (value < 0) digits[--n] = '-';
  return Text(digits + n, sizeof digits - n);
}

Fail& Fail::Layer(uint32_t layer) {
  diagnostic_->layer = layer;
  return *this;
}

Fail& Fail::Tensor(uint32_t tensor) {
  diagnostic_->tensor = tensor;
  return *this;
}

Fail& Fail::Instruction(uint32_t instruction) {
  diagnostic_->instruction = instruction;
  return *this;
}

Fail& Fail::Rule(const char* rule) {
  CopyName(diagnostic_->rule, sizeof diagnostic_->rule, rule);
  return *this;
}

Fail& Fail::Bytes(uint64_t required, uint64_t available) {
  diagnostic_->required_bytes = required;
  diagnostic_->available_bytes = available;
  return *this;
}

Fail& Fail::SmallestScratchpad(uint64_t bytes) {
  diagnostic_->smallest_scratchpad_bytes = bytes;
  return *this;
}

}  // namespace sluice
