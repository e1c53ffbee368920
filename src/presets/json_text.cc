// SPDX-License-Identifier: Apache-2.0
#include "presets/json_text.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "import/error.h"

namespace sluice::presets {
namespace {

[[noreturn]] void Refuse(const JsonText& json, const std::string& sentence) {
  throw import::Error(import::Fault::kBadInput, sentence + Where(json));
}

bool IsWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         (c != 0 && std::strchr("_+-.", c) != nullptr);
}

bool Begins(const JsonText& json, const char* with) {
  const size_t size = std::strlen(with);
  return static_cast<size_t>(json.end - json.at) >= size &&
         std::memcmp(json.at, with, size) == 0;
}

void SkipComment(JsonText* json) {
  const bool line = Begins(*json, "//");
  const std::string stop = line ? "\n" : "*/";
  const char* found =
      std::search(json->at + 2, json->end, stop.data(), stop.data() + stop.size());
  if (found == json->end && !line) Refuse(*json, "a comment has no end");
  json->at = found == json->end ? found : found + stop.size();
}

// Appends a code point as UTF-8.
void Append(uint32_t code, std::string* text) {
  if (code < 0x80) {
    *text += static_cast<char>(code);
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  const uint32_t lead[] = {0, 0xC0, 0xE0, 0xF0};
  *text += static_cast<char>(lead[more] | (code >> (6 * more)));
  for (int i = more - 1; i >= 0; --i) {
    *text += static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3F));
  }
}

uint32_t FourDigits(JsonText* json) {
  uint32_t code = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = json->at < json->end ? *json->at : '\0';
    const char* digits = "0123456789abcdef";
    const char lower = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
    const char* digit = lower == '\0' ? nullptr : std::strchr(digits, lower);
    if (digit == nullptr) Refuse(*json, "\\u needs four hexadecimal digits");
    code = code * 16 + static_cast<uint32_t>(digit - digits);
    ++json->at;
  }
  return code;
}

void ReadEscape(JsonText* json, std::string* text) {
  const char c = json->at < json->end ? *json->at++ : '\0';
  const char* names = "nrtbf";
  const char* meant = "\n\r\t\b\f";
  const char* named = c == '\0' ? nullptr : std::strchr(names, c);
  if (named != nullptr) {
    *text += meant[named - names];
  } else if (c == 'u') {
    uint32_t code = FourDigits(json);
    if (code >= 0xD800 && code < 0xDC00 && Begins(*json, "\\u")) {
      json->at += 2;
      const uint32_t low = FourDigits(json);
      code = low >= 0xDC00 && low < 0xE000
                 ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
                 : 0xFFFD;
    }
    Append(code >= 0xD800 && code < 0xE000 ? 0xFFFD : code, text);
  } else if (c == '"' || c == '\'' || c == '\\' || c == '/') {
    *text += c;
  } else {
    Refuse(*json, "a text has an unknown escape after \\");
  }
}

std::string ReadQuoted(JsonText* json) {
  const char quote = *json->at++;
  std::string text;
  while (json->at < json->end && *json->at != quote) {
    const char c = *json->at++;
    if (c == '\\') {
      ReadEscape(json, &text);
    } else if (c == '\n') {
      --json->at;
      Refuse(*json, "a text has no end on its line");
    } else {
      text += c;
    }
  }
  if (json->at == json->end) Refuse(*json, "a text has no end");
  ++json->at;
  return text;
}

std::string ReadWord(JsonText* json) {
  const char* first = json->at;
  while (json->at < json->end && IsWord(*json->at)) ++json->at;
  return std::string(first, json->at);
}

// The bytes of the character of UTF-8 at `at`, or 0: it is none.
size_t CharacterBytes(const std::string& text, size_t at) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const uint32_t lead = byte(at);
  if (lead < 0x80) return 1;
  const size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  uint32_t code = lead & (0x3Fu >> more);
  for (size_t i = 1; i <= more; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(at + i) & 0x3F);
  }
  const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return code < least[more] || code > 0x10FFFF || surrogate ? 0 : more + 1;
}

}  // namespace

JsonText JsonOf(const std::string& text) {
  return {text.data(), text.data() + text.size(), text.data()};
}

char Next(JsonText* json) {
  while (json->at < json->end) {
    if (*json->at != '\0' && std::strchr(" \t\r\n", *json->at) != nullptr) {
      ++json->at;
    } else if (Begins(*json, "//") || Begins(*json, "/*")) {
      SkipComment(json);
    } else {
      return *json->at;
    }
  }
  return '\0';
}

bool Take(JsonText* json, char wanted) {
  if (Next(json) != wanted || json->at == json->end) return false;
  ++json->at;
  return true;
}

void MustTake(JsonText* json, char wanted) {
  if (Take(json, wanted)) return;
  Refuse(*json, std::string("'") + wanted + "' is missing before " + Beginning(json));
}

std::string ReadName(JsonText* json) {
  const char c = Next(json);
  if (c == '"' || c == '\'') return ReadQuoted(json);
  const std::string name = IsWord(c) ? ReadWord(json) : "";
  if (name.empty())
    Refuse(*json, "a field's name is missing before " + Beginning(json));
  return name;
}

JsonValue ReadValue(JsonText* json) {
  const char c = Next(json);
  if (c == '"' || c == '\'') return {JsonKind::kText, ReadQuoted(json)};
  const JsonText before = *json;
  const std::string word = IsWord(c) ? ReadWord(json) : "";
  if (word == "true") return {JsonKind::kTrue, word};
  if (word == "false") return {JsonKind::kFalse, word};
  if (word == "null") return {JsonKind::kNull, word};
  if (word.empty()) Refuse(before, "a value is missing before " + Beginning(json));
  return {JsonKind::kNumber, word};
}

std::string Where(const JsonText& json) {
  const auto line = 1 + std::count(json.begin, json.at, '\n');
  const char* start = json.at;
  while (start != json.begin && start[-1] != '\n') --start;
  return " (line " + std::to_string(line) + ", column " +
         std::to_string(json.at - start + 1) + ")";
}

std::string Beginning(JsonText* json) {
  const char c = Next(json);
  if (json->at == json->end) return "the end";
  JsonText copy = *json;
  std::string word = IsWord(c) ? ReadWord(&copy) : std::string(1, c);
  if (word.size() > 24) word = word.substr(0, 24) + "...";
  return Quoted(word);
}

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = CharacterBytes(text, at);
    const auto c = static_cast<unsigned char>(text[at]);
    if (bytes == 0) {
      quoted += "\\ufffd";
    } else if (c == '"' || c == '\\') {
      quoted += {'\\', text[at]};
    } else if (c < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", c);
      quoted += code;
    } else {
      quoted.append(text, at, bytes);
    }
    at += bytes == 0 ? 1 : bytes;
  }
  return quoted + "\"";
}

}  // namespace sluice::presets
