/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a TensorFlow Lite file, plans it and prints the report: import < MODEL.tflite */
#include <sluice/presets.h> /* which includes import.h and sluice.h */
#include <stdio.h>

int main(void) {
  static char model[64 << 20];
  const void* machine;
  size_t machine_size, model_size = fread(model, 1, sizeof model, stdin);
  sluice_bytes_t bytes = {NULL, 0};
  sluice_context_t* context;
  sluice_graph_t* graph;
  sluice_hardware_t* hardware;
  sluice_plan_t* plan;
  sluice_report_t r = {.struct_size = sizeof r};
  sluice_diagnostic_t why = {.struct_size = sizeof why};
  sluice_status_t s = sluice_import_model(model, model_size, NULL, &bytes, NULL, &why);
  if (!s) s = sluice_preset_find("mcu-256k", &machine, &machine_size, &why);
  if (!s) s = sluice_context_create(NULL, &context, &why);
  if (!s) s = sluice_graph_create(context, bytes.data, bytes.size, &graph, &why);
  if (!s) s = sluice_hardware_create(context, machine, machine_size, &hardware, &why);
  if (!s) s = sluice_schedule(context, graph, hardware, NULL, &plan, &why);
  if (!s) s = sluice_plan_report(plan, &r);
  if (s) return printf("%s: %s\n", sluice_status_name(s), why.message), 1;
  printf("%llu cycles, %.0f pJ, %llu bytes from DRAM and %llu to it\n",
         (unsigned long long)r.latency_cycles, r.energy_pj,
         (unsigned long long)r.dram_read_bytes, (unsigned long long)r.dram_write_bytes);
  sluice_plan_destroy(plan);
  sluice_hardware_destroy(hardware);
  sluice_graph_destroy(graph);
  sluice_context_destroy(context);
  sluice_bytes_release(NULL, &bytes);
}
