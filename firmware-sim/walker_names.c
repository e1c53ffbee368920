/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the errors. A source of its own, since firmware may not want the text. */
#include "walker.h"

const char* sluice_walk_status_name(sluice_walk_status_t status) {
  static const char* const names[SLUICE_WALK_CODE_COUNT] = {
#define SLUICE_WALK_NAME(constant, name) name,
      SLUICE_WALK_CODES(SLUICE_WALK_NAME)
#undef SLUICE_WALK_NAME
  };
  return (unsigned)status < SLUICE_WALK_CODE_COUNT ? names[status] : "unknown";
}
