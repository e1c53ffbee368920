/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a TensorFlow Lite file, plans it and prints the report: import MODEL.tflite */
#include <sluice/import.h>
#include <sluice/presets.h>
#include <stdio.h>

static char model[64 << 20];

int main(int argc, char** argv) {
  FILE* file = fopen(argc > 1 ? argv[1] : "model.tflite", "rb");
  const size_t size = file != NULL ? fread(model, 1, sizeof model, file) : 0;
  sluice_diagnostic_t why = {.struct_size = sizeof why};
  sluice_report_t r = {.struct_size = sizeof r};
  sluice_bytes_t bytes = {NULL, 0};
  const void* machine;
  size_t machine_size;
  sluice_context_t* context;
  sluice_graph_t* graph;
  sluice_hardware_t* hardware;
  sluice_plan_t* plan;
  sluice_status_t s = sluice_import_model(model, size, NULL, &bytes, NULL, &why);
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
  return 0;
}
