// SPDX-License-Identifier: Apache-2.0
// The C functions of tokens in a build without SLUICE_WITH_TOKENS: they refuse the call and
// add almost nothing to the library.
#include "api/arguments.h"
#include "base/components.h"
#include "sluice/lowering.h"

sluice_status_t sluice_tokens(sluice_context_t*, const void*, size_t,
                              const sluice_token_options_t*,
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
