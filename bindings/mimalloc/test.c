/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules in a mimalloc heap; the host's malloc is the same before and after. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sluice/mimalloc.h"

static const char* HomeOfMalloc(void) {
  Dl_info info;
  void* symbol = dlsym(RTLD_DEFAULT, "malloc");
  return symbol != NULL && dladdr(symbol, &info) != 0 ? info.dli_fname : "?";
}

static void* ReadAll(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) return NULL;
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  void* bytes = malloc(*size);
  if (bytes != NULL && fread(bytes, 1, *size, file) != *size) *size = 0;
  fclose(file);
  return bytes;
}

int main(int argc, char** argv) {
  if (argc != 3) return 3;
  const char* before = HomeOfMalloc();
  sluice_mimalloc_t heap;
  if (!sluice_mimalloc_create(NULL, &heap)) {
    printf("skipped: mimalloc is missing\n");
    return 0;
  }
  if (sluice_mimalloc_create("libno-such-thing.so", &(sluice_mimalloc_t){0})) return 1;
  size_t graph_size = 0, hardware_size = 0;
  void* graph_bytes = ReadAll(argv[1], &graph_size);
  void* hardware_bytes = ReadAll(argv[2], &hardware_size);
  sluice_context_options_t options = {0};
  options.struct_size = sizeof options;
  options.allocator = &heap.allocator;
  sluice_context_t* context = NULL;
  sluice_graph_t* graph = NULL;
  sluice_hardware_t* hardware = NULL;
  sluice_plan_t* plan = NULL;
  sluice_memory_stats_t stats = {0};
  stats.struct_size = sizeof stats;
  const int ok =
      sluice_context_create(&options, &context, NULL) == SLUICE_OK &&
      sluice_graph_create(context, graph_bytes, graph_size, &graph, NULL) ==
          SLUICE_OK &&
      sluice_hardware_create(context, hardware_bytes, hardware_size, &hardware, NULL) ==
          SLUICE_OK &&
      sluice_schedule(context, graph, hardware, NULL, &plan, NULL) == SLUICE_OK &&
      sluice_context_memory(context, &stats) == SLUICE_OK && stats.peak_bytes > 0;
  sluice_plan_destroy(plan);
  sluice_hardware_destroy(hardware);
  sluice_graph_destroy(graph);
  sluice_context_destroy(context);
  sluice_mimalloc_destroy(&heap);
  free(graph_bytes);
  free(hardware_bytes);
  const char* after = HomeOfMalloc();
  printf("malloc of %s, then of %s\n", before, after);
  return ok && strcmp(before, after) == 0 && strstr(after, "mimalloc") == NULL ? 0 : 1;
}
