// SPDX-License-Identifier: Apache-2.0
// Directives from and to C++ strings.
#ifndef SLUICE_TESTS_MODEL_DIRECTIVE_TEXT_H_
#define SLUICE_TESTS_MODEL_DIRECTIVE_TEXT_H_

#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include "model/directive.h"

namespace sluice {

inline Text T(const char* text) {
  return Text{text, static_cast<uint32_t>(strlen(text))};
}

inline std::string Print(const DirectiveProgram& program) {
  size_t size = 0;
  char none;
  const Status status = PrintDirectives(program, &none, 0, &size);
  CHECK(status == (size == 0 ? Status::kOk : Status::kBufferTooSmall));
  std::string text(size, '?');
  REQUIRE(PrintDirectives(program, &text[0], size, &size) == Status::kOk);
  return text;
}

}  // namespace sluice

#endif  // SLUICE_TESTS_MODEL_DIRECTIVE_TEXT_H_
