// SPDX-License-Identifier: Apache-2.0
// What a build without SLUICE_WITH_TOKENS has instead of waits as tokens: the C functions
// alone, so that such a build carries next to nothing of them.
#include "api/arguments.h"
#include "base/components.h"
#include "sluice/lowering.h"

sluice_status_t sluice_tokens(sluice_context_t*, const void*, size_t,
                              const sluice_token_channel_t*, uint32_t,
                              sluice_token_lists_t** out_lists,
                              sluice_diagnostic_t* diagnostic) {
  sluice::CallReport report(diagnostic);
  if (out_lists != nullptr) *out_lists = nullptr;
  return report.Done(sluice::Absent(report.get(), SLUICE_COMPONENT_TOKENS));
}

void sluice_token_lists_destroy(sluice_token_lists_t*) {}

sluice_status_t sluice_token_lists_view(const sluice_token_lists_t*,
                                        sluice_token_view_t*) {
  return SLUICE_BAD_ARGUMENT;  // there are no lists
}
