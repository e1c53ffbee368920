/* SPDX-License-Identifier: Apache-2.0 */
/* A program that schedules, to measure what it grows by; without WITH_SLUICE it is
 * empty. */
#include <sluice/sluice.h>

int main(void) {
#ifdef WITH_SLUICE
  sluice_context_t* context;
  sluice_graph_t* graph;
  sluice_hardware_t* hardware;
  sluice_plan_t* plan;
  const void* stream;
  size_t size;
  return sluice_context_create(NULL, &context, NULL) ||
         sluice_graph_create(context, "", 0, &graph, NULL) ||
         sluice_hardware_create(context, "", 0, &hardware, NULL) ||
         sluice_schedule(context, graph, hardware, NULL, &plan, NULL) ||
         sluice_plan_stream(plan, &stream, &size);
#else
  return 0;
#endif
}
