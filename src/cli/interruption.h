// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM end a search, not the tool: while an Interruption object lives,
// the first signal sets a word that the library polls, and a second one ends the
// process as usual.
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
  // As if a signal had come: ends the work of other threads after an error.
  static void Come();

 private:
  struct sigaction before_[2];
};

// Tells the user on stderr that the search was interrupted; prints nothing without a
// signal.
void TellOfInterruption();

}  // namespace sluice::cli

#endif  // SLUICE_CLI_INTERRUPTION_H_
