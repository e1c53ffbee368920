// SPDX-License-Identifier: Apache-2.0
#include "import/import_result.h"

#include <utility>

namespace sluice::import {

void CountOperator(std::vector<UnsupportedOperator>* list, const std::string& name,
                   const std::string& reason, const std::string& where) {
  for (UnsupportedOperator& entry : *list) {
    if (entry.name == name && entry.reason == reason) {
      ++entry.count;
      return;
    }
  }
  list->push_back({name, reason, 1, where});
}

void FailUnsupported(const std::vector<UnsupportedOperator>& list) {
  std::string message = "operators that cannot be expressed:";
  for (const UnsupportedOperator& entry : list) {
    message += "\n  " + std::to_string(entry.count) + " x " + entry.name;
    message += entry.reason.empty() ? " (unknown)" : " (" + entry.reason + ")";
    if (entry.where.empty()) continue;
    message += entry.count == 1 ? ": " : ", the first: ";
    message += entry.where;
  }
  throw Refusal(SLUICE_IMPORT_REFUSED, std::move(message), list);
}

}  // namespace sluice::import
