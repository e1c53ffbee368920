/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the hash and the reported costs of a plan and of its replan.
 *   same_plan GRAPH HARDWARE */
#include <sluice/sluice.h>

#include "read_file.h"

static void print(const char* what, const sluice_plan_t* plan) {
  sluice_plan_hashes_t hashes = {.struct_size = sizeof hashes};
  sluice_report_t report = {.struct_size = sizeof report};
  if (sluice_plan_hash(plan, &hashes) || sluice_plan_report(plan, &report)) exit(1);
  printf("%s: plan %016llx, %llu cycles of at least %llu, %.17g pJ of at least %.17g\n",
         what, (unsigned long long)hashes.plan,
         (unsigned long long)report.latency_cycles,
         (unsigned long long)report.bound_latency_cycles, report.energy_pj,
         report.bound_energy_pj);
}

int main(int argc, char** argv) {
  size_t graph_size, hardware_size;
  void *graph_bytes, *hardware_bytes;
  sluice_context_t* context = NULL;
  sluice_graph_t* graph = NULL;
  sluice_hardware_t* hardware = NULL;
  sluice_plan_t *plan = NULL, *next = NULL;
  sluice_diagnostic_t why = {.struct_size = sizeof why};
  sluice_schedule_options_t smaller = {.struct_size = sizeof smaller};
  sluice_reschedule_options_t again = {.struct_size = sizeof again};
  sluice_change_t change = {.struct_size = sizeof change};
  sluice_status_t s;
  if (argc != 3) return 3;
  graph_bytes = read_file(argv[1], &graph_size);
  hardware_bytes = read_file(argv[2], &hardware_size);
  smaller.scratchpad_bytes = 1 << 18;
  again.schedule = &smaller;
  again.change = &change;
  s = sluice_context_create(NULL, &context, &why);
  if (!s) s = sluice_graph_create(context, graph_bytes, graph_size, &graph, &why);
  if (!s) {
    s = sluice_hardware_create(context, hardware_bytes, hardware_size, &hardware, &why);
  }
  if (!s) s = sluice_schedule(context, graph, hardware, NULL, &plan, &why);
  if (!s) s = sluice_verify(context, graph, hardware, plan, &why);
  if (!s) print("scheduled", plan);
  if (!s) {
    again.previous = plan;
    s = sluice_reschedule(context, graph, hardware, &again, &next, &why);
  }
  if (!s) s = sluice_verify(context, graph, hardware, next, &why);
  if (!s) print("rescheduled", next);
  if (s) fprintf(stderr, "%s: %s\n", sluice_status_name(s), why.message);
  sluice_plan_destroy(next);
  sluice_plan_destroy(plan);
  sluice_hardware_destroy(hardware);
  sluice_graph_destroy(graph);
  sluice_context_destroy(context);
  free(hardware_bytes);
  free(graph_bytes);
  return s ? 1 : 0;
}
