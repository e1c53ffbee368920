// SPDX-License-Identifier: Apache-2.0
// What the two builders of build.h have in common.
//
// Input    texts that may be NULL; work that adds something and returns its index
// Output   the index, or SLUICE_NO_INDEX; the first fault, kept until finishing
#ifndef SLUICE_IMPORT_BUILDER_H_
#define SLUICE_IMPORT_BUILDER_H_

#include <exception>
#include <string>

#include "sluice/sluice.h"

namespace sluice::import {

inline std::string TextOf(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

class FirstFault {
 public:
  template <typename Work>
  uint32_t Watch(Work work) noexcept {
    try {
      return work();
    } catch (...) {
      if (fault_ == nullptr) fault_ = std::current_exception();
      return SLUICE_NO_INDEX;
    }
  }
  void Rethrow() const {
    if (fault_ != nullptr) std::rethrow_exception(fault_);
  }

 private:
  std::exception_ptr fault_;
};

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_BUILDER_H_
