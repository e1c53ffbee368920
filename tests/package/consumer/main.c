/* SPDX-License-Identifier: Apache-2.0 */
/* A user's program in C99; it is also compiled as C++. */
#include <sluice/sluice.h>
#ifdef __cplusplus
#include <sluice/sluice.hpp>
#endif
#include <stdio.h>

int main(void) {
  sluice_context_t* context = NULL;
  sluice_graph_t* graph = NULL;
  sluice_diagnostic_t why = {sizeof why};
  if (sluice_context_create(NULL, &context, &why) != SLUICE_OK) return 1;
  if (sluice_graph_create(context, "no graph", 8, &graph, &why) != SLUICE_BAD_INPUT) {
    return 1;
  }
  sluice_context_destroy(context);
#ifdef __cplusplus
  if (!sluice::Context::Create()) return 1;
#endif
  printf("sluice %s says: %s\n", sluice_version(), why.message);
  return why.message[0] == 0;
}
