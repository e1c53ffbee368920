// SPDX-License-Identifier: Apache-2.0
// JSON as people write machines: names with or without quotes, comments with // and /* */,
// a comma after the last value, numbers in hexadecimal.
//
// Input    untrusted text
// Output   names and single values, one by one; who asks knows what has to follow
// Errors   import::Error with what was expected, what stands there, line and column
#ifndef SLUICE_PRESETS_JSON_TEXT_H_
#define SLUICE_PRESETS_JSON_TEXT_H_

#include <string>

namespace sluice::presets {

struct JsonText {
  const char* begin;
  const char* end;
  const char* at;
};

enum class JsonKind { kNumber, kText, kTrue, kFalse, kNull };

// A number is kept as it is written.
struct JsonValue {
  JsonKind kind;
  std::string text;
};

JsonText JsonOf(const std::string& text);

// The next character that is neither blank nor part of a comment; 0 at the end.
char Next(JsonText* json);
// Passes over this character if it is the next.
bool Take(JsonText* json, char wanted);
void MustTake(JsonText* json, char wanted);

std::string ReadName(JsonText* json);
JsonValue ReadValue(JsonText* json);

// " (line 2, column 7)" of the place that was read last.
std::string Where(const JsonText& json);
// What stands at the place that is read next, for messages.
std::string Beginning(JsonText* json);

// The text in quotes, as JSON has it; bytes that are no UTF-8 become U+FFFD.
std::string Quoted(const std::string& text);

}  // namespace sluice::presets

#endif  // SLUICE_PRESETS_JSON_TEXT_H_
