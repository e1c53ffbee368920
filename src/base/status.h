// SPDX-License-Identifier: Apache-2.0
// Status codes, the diagnostic and the one way to fill it.
//
// Errors   every fallible function returns Status; infeasible and stopped are values.
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

// Our own mistakes only; input is checked with Status. Nothing in release builds.
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
//   return Fail(diag, Status::kBadInput, "graph").Text("layer ").Number(3).Status();
class Fail {
 public:
  Fail(Diagnostic* diagnostic, Status status, const char* stage);
  Fail& Text(const char* text);
  Fail& Text(const char* text, size_t length);
  Fail& Number(int64_t value);
  Fail& Layer(uint32_t layer);
  Fail& Tensor(uint32_t tensor);
  Fail& Instruction(uint32_t instruction);
  Fail& Rule(const char* rule);
  Fail& Bytes(uint64_t required, uint64_t available);
  Fail& SmallestScratchpad(uint64_t bytes);
  operator Status() const { return status_; }  // so that it can be returned

 private:
  Diagnostic* diagnostic_;
  Status status_;
  uint32_t length_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_BASE_STATUS_H_
