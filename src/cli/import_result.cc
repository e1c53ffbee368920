// SPDX-License-Identifier: Apache-2.0
#include "cli/import_result.h"

#include "cli/failure.h"

namespace sluice::cli {

void CountOperator(std::vector<UnsupportedOperator>* list, const std::string& name,
                   const std::string& reason) {
  for (UnsupportedOperator& entry : *list) {
    if (entry.name == name && entry.reason == reason) {
      ++entry.count;
      return;
    }
  }
  list->push_back({name, reason, 1});
}

void FailUnsupported(const std::vector<UnsupportedOperator>& list) {
  std::string message = "operators that cannot be expressed:";
  Json details = Json::array();
  for (const UnsupportedOperator& entry : list) {
    message += "\n  " + std::to_string(entry.count) + " x " + entry.name;
    message += entry.reason.empty() ? " (unknown)" : " (" + entry.reason + ")";
    details.push_back(
        {{"op", entry.name}, {"count", entry.count}, {"reason", entry.reason}});
  }
  message += "\n--allow-opaque leaves them to the host";
  throw Failure(kBadInput, message, {{"unsupported", details}});
}

}  // namespace sluice::cli
