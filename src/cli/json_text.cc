// SPDX-License-Identifier: Apache-2.0
#include "cli/json_text.h"

namespace sluice::cli {

Json ParseJson(const std::string& text) {
  constexpr int kMostDepth = 100;
  bool deep = false;
  const auto look = [&](int depth, Json::parse_event_t, Json&) {
    deep = deep || depth > kMostDepth;
    return !deep;
  };
  const Json parsed = Json::parse(text, look, false, true);
  return deep ? Json(Json::value_t::discarded) : parsed;
}

std::string JsonText(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sluice::cli
