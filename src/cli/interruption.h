// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM end a search, not the tool: while an Interruption lives, the first of
// them sets a word that the library polls, and the second ends the process as ever.
//
// Input    signals
// Output   the word for the options of a call; whether a signal came
// Errors   none; one Interruption at a time
#ifndef SLUICE_CLI_INTERRUPTION_H_
#define SLUICE_CLI_INTERRUPTION_H_

#include <csignal>
#include <cstdint>

namespace sluice::cli {

class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // 0 until a signal has come.
  static const uint32_t* word();
  static bool came() { return *word() != 0; }

 private:
  struct sigaction before_[2];
};

// For people, on stderr; nothing when no signal came.
void TellOfInterruption();

}  // namespace sluice::cli

#endif  // SLUICE_CLI_INTERRUPTION_H_
