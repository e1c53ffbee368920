// SPDX-License-Identifier: Apache-2.0
// JSON from users, and for them.
//
// Input    text of any bytes; values whose strings may be names and paths that are no UTF-8
// Output   the value, discarded when the text is no JSON or nests deeper than any of our
//          forms: what prints a value calls itself for each level; text in UTF-8, in which
//          U+FFFD stands for other bytes
// Errors   none
// Cost     linear
#ifndef SLUICE_CLI_JSON_TEXT_H_
#define SLUICE_CLI_JSON_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>

namespace sluice::cli {

using Json = nlohmann::ordered_json;

Json ParseJson(const std::string& text);

// indent: blanks per level; -1: one line.
std::string JsonText(const Json& value, int indent = -1);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_JSON_TEXT_H_
