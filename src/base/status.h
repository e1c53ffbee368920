// SPDX-License-Identifier: Apache-2.0
// Status codes, the diagnostic and the one way to fill it.
//
// Input    a status, a stage and pieces of a sentence
// Output   the diagnostic of the call
// Errors   every function that can fail returns Status; infeasible and stopped are
//          ordinary values
// Cost     a call passes one pointer; text is written only when something fails
#ifndef SLUICE_BASE_STATUS_H_
#define SLUICE_BASE_STATUS_H_

#include <stdint.h>

#include "sluice/sluice.h"

namespace sluice {

enum class [[nodiscard]] Status : int32_t{
    kOk = SLUICE_OK,
    kInfeasible = SLUICE_INFEASIBLE,
    kStopped = SLUICE_STOPPED,
    kRejected = SLUICE_REJECTED,
    kBadArgument = SLUICE_BAD_ARGUMENT,
    kBadInput = SLUICE_BAD_INPUT,
    kUnsupported = SLUICE_UNSUPPORTED,
    kOutOfMemory = SLUICE_OUT_OF_MEMORY,
    kBufferTooSmall = SLUICE_BUFFER_TOO_SMALL,
    kInternal = SLUICE_INTERNAL,
};

using Diagnostic = sluice_diagnostic_t;

#define SLUICE_TRY(expression)                                                \
  do {                                                                        \
    ::sluice::Status sluice_try_status = (expression);                        \
    if (sluice_try_status != ::sluice::Status::kOk) return sluice_try_status; \
  } while (0)

// For programming errors only; input is checked with Status. Compiled out in release
// builds.
#ifdef NDEBUG
#define SLUICE_ASSERT(condition) \
  do {                           \
  } while (0)
#else
#define SLUICE_ASSERT(condition)        \
  do {                                  \
    if (!(condition)) __builtin_trap(); \
  } while (0)
#endif

// Empties a diagnostic: no layer, no tensor, no numbers, no text.
void ClearDiagnostic(Diagnostic* diagnostic);

// Writes one sentence into a diagnostic, truncating what does not fit:
//   return Fail(diag, Status::kBadInput, "graph").Say("layer # of #", 3, 7);
// All state is in the diagnostic, so each of the many failing sites passes one
// register.
class Fail {
 public:
  Fail(Diagnostic* diagnostic, Status status, const char* stage)
      : diagnostic_(Begin(diagnostic, status, stage)) {}
  Fail Text(const char* text) const { return Fail(Append(diagnostic_, text)); }
  Fail Text(const char* text, size_t length) const {
    return Fail(Append(diagnostic_, text, length));
  }
  // The text with a number in place of each '#'.
  template <typename... Numbers>
  Fail Say(const char* text, Numbers... numbers) const {
    const int64_t values[] = {static_cast<int64_t>(numbers)...};
    return Fail(Fill(diagnostic_, text, values));
  }
  Fail Number(int64_t value) const { return Fail(AppendNumber(diagnostic_, value)); }
  Fail Rule(const char* rule) const { return Fail(SetRule(diagnostic_, rule)); }
  Fail Layer(uint32_t layer) const {
    diagnostic_->layer = layer;
    return *this;
  }
  Fail Tensor(uint32_t tensor) const {
    diagnostic_->tensor = tensor;
    return *this;
  }
  Fail Instruction(uint32_t instruction) const {
    diagnostic_->instruction = instruction;
    return *this;
  }
  Fail Bytes(uint64_t required, uint64_t available) const {
    diagnostic_->required_bytes = required;
    diagnostic_->available_bytes = available;
    return *this;
  }
  Fail SmallestScratchpad(uint64_t bytes) const {
    diagnostic_->smallest_scratchpad_bytes = bytes;
    return *this;
  }
  operator Status() const {  // lets a function return it as its Status
    return static_cast<Status>(diagnostic_->status);
  }

 private:
  explicit Fail(Diagnostic* diagnostic) : diagnostic_(diagnostic) {}
  // Each returns the diagnostic it was given.
  static Diagnostic* Begin(Diagnostic* diagnostic, Status status, const char* stage);
  static Diagnostic* Append(Diagnostic* diagnostic, const char* text);
  static Diagnostic* Append(Diagnostic* diagnostic, const char* text, size_t length);
  static Diagnostic* Fill(Diagnostic* diagnostic, const char* text,
                          const int64_t* numbers);
  static Diagnostic* AppendNumber(Diagnostic* diagnostic, int64_t value);
  static Diagnostic* SetRule(Diagnostic* diagnostic, const char* rule);

  Diagnostic* diagnostic_;
};

}  // namespace sluice

#endif  // SLUICE_BASE_STATUS_H_
