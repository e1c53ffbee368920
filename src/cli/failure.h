// SPDX-License-Identifier: Apache-2.0
// The failure of a command: an exit code, a sentence, details for --json.
//
// Errors   Failure is thrown where it occurs and caught once, in main.
#ifndef SLUICE_CLI_FAILURE_H_
#define SLUICE_CLI_FAILURE_H_

#include <exception>
#include <string>
#include <utility>

#include "cli/json_text.h"

namespace sluice::cli {

enum ExitCode {
  kDone = 0,
  kInfeasible = 1,
  kBadInput = 2,
  kUsage = 3,
  kStopped = 4,   // by a limit, without a result
  kRejected = 5,  // a judge said no
  kIo = 6,        // files or memory
};

class Failure : public std::exception {
 public:
  Failure(ExitCode code, std::string message, Json details = Json::object())
      : code_(code), message_(std::move(message)), details_(std::move(details)) {}
  ExitCode code() const { return code_; }
  const char* what() const noexcept override { return message_.c_str(); }
  const Json& details() const { return details_; }

 private:
  ExitCode code_;
  std::string message_;
  Json details_;
};

}  // namespace sluice::cli

#endif  // SLUICE_CLI_FAILURE_H_
