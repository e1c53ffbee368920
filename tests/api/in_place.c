/* SPDX-License-Identifier: Apache-2.0 */
/* In-place mode allocates nothing. This program replaces malloc and its relatives;
 * while `armed` is set, each of them ends the program.
 *   in_place GRAPH HARDWARE */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sluice/sluice.h"

static int armed;

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t n, size_t bytes);
void* __libc_realloc(void* p, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void* p);

static void Allocated(void) {
  if (armed) _Exit(9);
}
void* malloc(size_t bytes) {
  Allocated();
  return __libc_malloc(bytes);
}
void* calloc(size_t n, size_t bytes) {
  Allocated();
  return __libc_calloc(n, bytes);
}
void* realloc(void* p, size_t bytes) {
  Allocated();
  return __libc_realloc(p, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  Allocated();
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** out, size_t alignment, size_t bytes) {
  Allocated();
  *out = __libc_memalign(alignment, bytes);
  return *out == NULL ? 12 : 0;
}
void free(void* p) {
  Allocated();
  __libc_free(p);
}

static size_t ReadFile(const char* path, unsigned char* to, size_t capacity) {
  size_t size;
  FILE* file = fopen(path, "rb");
  if (file == NULL) exit(6);
  size = fread(to, 1, capacity, file);
  fclose(file);
  return size;
}

static unsigned char graph_bytes[1 << 16], hardware_bytes[1 << 16];
static unsigned char block[1 << 20];

static int Run(size_t graph_size, size_t hardware_size, int in_place) {
  sluice_context_t* context = NULL;
  sluice_graph_t* graph = NULL;
  sluice_hardware_t* hardware = NULL;
  sluice_plan_t* plan = NULL;
  sluice_context_options_t options;
  sluice_report_t report;
  int32_t status;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  if (in_place) {
    options.block = block;
    options.block_bytes = sizeof block;
  }
  memset(&report, 0, sizeof report);
  report.struct_size = sizeof report;
  status = sluice_context_create(&options, &context, NULL);
  if (!status)
    status = sluice_graph_create(context, graph_bytes, graph_size, &graph, NULL);
  if (!status) {
    status =
        sluice_hardware_create(context, hardware_bytes, hardware_size, &hardware, NULL);
  }
  if (!status) status = sluice_schedule(context, graph, hardware, NULL, &plan, NULL);
  if (!status) status = sluice_verify(context, graph, hardware, plan, NULL);
  if (!status) status = sluice_plan_report(plan, &report);
  sluice_plan_destroy(plan);
  sluice_hardware_destroy(hardware);
  sluice_graph_destroy(graph);
  sluice_context_destroy(context);
  return status == SLUICE_OK && report.latency_cycles != 0 ? 0 : 1;
}

int main(int argc, char** argv) {
  size_t graph_size, hardware_size;
  int result;
  if (argc < 3) return 3;
  graph_size = ReadFile(argv[1], graph_bytes, sizeof graph_bytes);
  hardware_size = ReadFile(argv[2], hardware_bytes, sizeof hardware_bytes);
  armed = 1;
  result = Run(graph_size, hardware_size, argc == 3);
  armed = 0;
  return result;
}
