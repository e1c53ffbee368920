/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of bindings work on, made by the C interface alone:
 * test_files MODEL.tflite PRESET FOLDER writes hardware.slh, graph.slg and plan.slp into the
 * folder and prints the plan's cycles and the bytes that it reads from DRAM and writes to it. */
#include <sluice/presets.h> /* which includes import.h and sluice.h */
#include <stdio.h>
#include <string.h>

static int write_file(const char* folder, const char* name, const void* bytes,
                      size_t size) {
  char path[4096];
  FILE* file;
  size_t written;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  file = fopen(path, "wb");
  if (file == NULL) return perror(path), 1;
  written = fwrite(bytes, 1, size, file);
  if (fclose(file) != 0 || written != size) return perror(path), 1;
  return 0;
}

static size_t read_file(const char* path, void* bytes, size_t most) {
  FILE* file = fopen(path, "rb");
  size_t size = 0;
  if (file != NULL) {
    size = fread(bytes, 1, most, file);
    fclose(file);
  }
  return size;
}

int main(int argc, char** argv) {
  static char model[64 << 20];
  const void *machine, *plan_bytes;
  size_t machine_size, plan_size, model_size;
  sluice_bytes_t bytes = {NULL, 0};
  sluice_context_t* context = NULL;
  sluice_graph_t* graph = NULL;
  sluice_hardware_t* hardware = NULL;
  sluice_plan_t* plan = NULL;
  sluice_report_t r = {.struct_size = sizeof r};
  sluice_diagnostic_t why = {.struct_size = sizeof why};
  sluice_status_t s;
  int failed;
  if (argc != 4) return fputs("test_files MODEL PRESET FOLDER\n", stderr), 2;
  model_size = read_file(argv[1], model, sizeof model);
  s = sluice_import_model(model, model_size, NULL, &bytes, NULL, &why);
  if (!s) s = sluice_preset_find(argv[2], &machine, &machine_size, &why);
  if (!s) s = sluice_context_create(NULL, &context, &why);
  if (!s) s = sluice_graph_create(context, bytes.data, bytes.size, &graph, &why);
  if (!s) s = sluice_hardware_create(context, machine, machine_size, &hardware, &why);
  if (!s) s = sluice_schedule(context, graph, hardware, NULL, &plan, &why);
  if (!s) s = sluice_plan_report(plan, &r);
  if (!s) s = sluice_plan_bytes(plan, &plan_bytes, &plan_size);
  if (s) return fprintf(stderr, "%s: %s\n", sluice_status_name(s), why.message), 1;
  failed = write_file(argv[3], "hardware.slh", machine, machine_size) ||
           write_file(argv[3], "graph.slg", bytes.data, bytes.size) ||
           write_file(argv[3], "plan.slp", plan_bytes, plan_size);
  printf("%llu;%llu;%llu", (unsigned long long)r.latency_cycles,
         (unsigned long long)r.dram_read_bytes, (unsigned long long)r.dram_write_bytes);
  sluice_plan_destroy(plan);
  sluice_hardware_destroy(hardware);
  sluice_graph_destroy(graph);
  sluice_context_destroy(context);
  sluice_bytes_release(NULL, &bytes);
  return failed;
}
