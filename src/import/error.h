// SPDX-License-Identifier: Apache-2.0
// The error of importers, zoo and presets: a kind, a sentence and, where a model uses
// operators that cannot be expressed, the list of those operators.
//
// Input    thrown by the function that notices
// Output   caught by the C functions, which turn it into a status and a diagnostic
#ifndef SLUICE_IMPORT_ERROR_H_
#define SLUICE_IMPORT_ERROR_H_

#include <exception>
#include <string>
#include <utility>

namespace sluice::import {

enum class Fault {
  kBadArgument,  // the caller asks for something that does not exist
  kBadInput,     // the bytes are damaged, or contradict themselves
  kUnsupported,  // the bytes are valid, but this library does not express them
  kTooLarge,     // the result would exceed the limit that the caller has set
};

class Error : public std::exception {
 public:
  Error(Fault fault, std::string message)
      : fault_(fault), message_(std::move(message)) {}
  Fault fault() const { return fault_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  Fault fault_;
  std::string message_;
};

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_ERROR_H_
