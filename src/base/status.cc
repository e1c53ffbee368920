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

Diagnostic* Fail::Begin(Diagnostic* diagnostic, Status status, const char* stage) {
  ClearDiagnostic(diagnostic);
  diagnostic->status = static_cast<int32_t>(status);
  CopyName(diagnostic->stage, sizeof diagnostic->stage, stage);
  return diagnostic;
}

Diagnostic* Fail::Append(Diagnostic* diagnostic, const char* text, size_t length) {
  size_t end = strlen(diagnostic->message);
  for (size_t i = 0; i < length; ++i) {
    if (end + 1 >= sizeof diagnostic->message) break;
    diagnostic->message[end++] = text[i];
  }
  diagnostic->message[end] = '\0';
  return diagnostic;
}

Diagnostic* Fail::Append(Diagnostic* diagnostic, const char* text) {
  return Append(diagnostic, text, strlen(text));
}

Diagnostic* Fail::Fill(Diagnostic* diagnostic, const char* text,
                       const int64_t* numbers) {
  for (; *text != '\0'; ++text) {
    if (*text == '#') {
      AppendNumber(diagnostic, *numbers++);
    } else {
      Append(diagnostic, text, 1);
    }
  }
  return diagnostic;
}

Diagnostic* Fail::AppendNumber(Diagnostic* diagnostic, int64_t value) {
  char digits[24];
  size_t n = sizeof digits;
  uint64_t magnitude = value < 0 ? uint64_t{0} - static_cast<uint64_t>(value)
                                 : static_cast<uint64_t>(value);
  do {
    digits[--n] = static_cast<char>('0' + magnitude % 10);
    magnitude /= 10;
  } while (magnitude != 0);
  if (value < 0) digits[--n] = '-';
  return Append(diagnostic, digits + n, sizeof digits - n);
}

Diagnostic* Fail::SetRule(Diagnostic* diagnostic, const char* rule) {
  CopyName(diagnostic->rule, sizeof diagnostic->rule, rule);
  return diagnostic;
}

}  // namespace sluice
