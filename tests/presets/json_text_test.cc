// SPDX-License-Identifier: Apache-2.0
// JSON texts, piece by piece.
#include "presets/json_text.h"

#include <doctest/doctest.h>

#include "import/error.h"

namespace sluice::presets {
namespace {

std::string TextIn(const std::string& json) {
  JsonText text = JsonOf(json);
  return ReadValue(&text).text;
}

std::string ErrorIn(const std::string& json) {
  try {
    TextIn(json);
  } catch (const import::Error& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("JSON text: blanks and comments lie between what is read") {
  const std::string json = " /* a */ name // b\n : 5, ";
  JsonText text = JsonOf(json);
  CHECK(ReadName(&text) == "name");
  CHECK(!Take(&text, ','));
  MustTake(&text, ':');
  const JsonValue value = ReadValue(&text);
  CHECK((value.kind == JsonKind::kNumber && value.text == "5"));
  CHECK(Take(&text, ','));
  CHECK(Next(&text) == '\0');
}

TEST_CASE("JSON text: values are told apart") {
  const auto kind = [](const std::string& json) {
    JsonText text = JsonOf(json);
    return ReadValue(&text).kind;
  };
  CHECK(kind("true") == JsonKind::kTrue);
  CHECK(kind("false") == JsonKind::kFalse);
  CHECK(kind("null") == JsonKind::kNull);
  CHECK(kind("-1.5e+3") == JsonKind::kNumber);
  CHECK(kind("'true'") == JsonKind::kText);
}

TEST_CASE("JSON text: escapes") {
  CHECK(TextIn("\"a\\n\\t\\\\ \\/ \\\" \\u00fc\"") == "a\n\t\\ / \" \u00fc");
  CHECK(TextIn("\"\\ud83d\\ude00\"") == "\U0001F600");
  CHECK(TextIn("\"\\ud83d!\"") == "\uFFFD!");  // half of a pair
  CHECK(TextIn("\"\\ud83d\\u0041\"") == "\uFFFD");
  CHECK(ErrorIn("\"\\u12x4\"").find("four hexadecimal digits") != std::string::npos);
  CHECK(ErrorIn("\"\\q\"").find("unknown escape") != std::string::npos);
}

TEST_CASE("JSON text: what has no end is told with its place") {
  CHECK(ErrorIn("\n  \"abc").find("a text has no end (line 2") == 0);
  CHECK(ErrorIn("\"abc\n\"").find("a text has no end on its line (line 1") == 0);
  CHECK(ErrorIn("\"abc\\").find("unknown escape") != std::string::npos);
  CHECK(ErrorIn("/* abc") == "a comment has no end (line 1, column 1)");
  CHECK(ErrorIn("// abc").find("a value is missing before the end") == 0);
  CHECK(ErrorIn(",").find("a value is missing before \",\" (line 1, column 1)") == 0);
}

TEST_CASE("JSON text: written texts are JSON, whatever their bytes are") {
  CHECK(Quoted("a\"b\\c\n") == "\"a\\\"b\\\\c\\u000a\"");
  CHECK(Quoted("\u00fc\u20ac\U0001F600") == "\"\u00fc\u20ac\U0001F600\"");
  for (const char* wrong :
       {"\xff", "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80"}) {
    const std::string quoted = Quoted(wrong);
    CHECK(quoted.find("\\ufffd") == 1);
    CHECK(quoted.find(wrong) == std::string::npos);
  }
}

}  // namespace
}  // namespace sluice::presets
