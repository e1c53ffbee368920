/* SPDX-License-Identifier: Apache-2.0 */
/* A program of ABI version 1: compiled with the headers frozen in v1/, run with the
 * current shared library.
 *   old_program GRAPH.slg HARDWARE.slh */
#include <sluice/ops.h>
#include <sluice/sluice.h>
#include <sluice/stream.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition, why.message); \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

static sluice_diagnostic_t why = {.struct_size = sizeof why};
static size_t live;

static void* allocate(void* user, size_t bytes, size_t alignment) {
  void* p = NULL;
  if (posix_memalign(&p, alignment < sizeof(void*) ? sizeof(void*) : alignment,
                     bytes)) {
    return NULL;
  }
  *(size_t*)user += bytes;
  return p;
}
static void release(void* user, void* pointer, size_t bytes, size_t alignment) {
  (void)alignment;
  *(size_t*)user -= bytes;
  free(pointer);
}

static void* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  CHECK(file != NULL && fseek(file, 0, SEEK_END) == 0);
  *size = (size_t)ftell(file);
  rewind(file);
  void* bytes = malloc(*size);
  CHECK(bytes != NULL && fread(bytes, 1, *size, file) == *size);
  fclose(file);
  return bytes;
}

/* An option that this library does not know is refused, not ignored. */
static void refuses_unknown_options(sluice_context_t* context,
                                    const sluice_graph_t* graph,
                                    const sluice_hardware_t* hardware,
                                    const sluice_schedule_options_t* options) {
  struct {
    sluice_schedule_options_t options;
    uint64_t unknown[64];
  } newer;
  memset(&newer, 0, sizeof newer);
  newer.options = *options;
  newer.options.struct_size = sizeof newer;
  sluice_plan_t* other;
  CHECK(sluice_schedule(context, graph, hardware, &newer.options, &other, &why) ==
        SLUICE_OK);
  sluice_plan_destroy(other);
  newer.unknown[63] = 1;
  CHECK(sluice_schedule(context, graph, hardware, &newer.options, &other, &why) ==
        SLUICE_BAD_ARGUMENT);
}

int main(int argc, char** argv) {
  CHECK(argc == 3);
  size_t graph_size, hardware_size, size = 0;
  void* graph_bytes = read_file(argv[1], &graph_size);
  void* hardware_bytes = read_file(argv[2], &hardware_size);
  const sluice_allocator_t allocator = {sizeof allocator, 0, &live, allocate, release};
  const sluice_context_options_t context_options = {
      .struct_size = sizeof context_options, .allocator = &allocator};
  sluice_context_t* context;
  sluice_graph_t* graph;
  sluice_hardware_t* hardware;
  sluice_plan_t *plan, *again;
  CHECK(sluice_context_create(&context_options, &context, &why) == SLUICE_OK);
  CHECK(sluice_graph_create(context, graph_bytes, graph_size, &graph, &why) ==
        SLUICE_OK);
  CHECK(sluice_hardware_create(context, hardware_bytes, hardware_size, &hardware,
                               &why) == SLUICE_OK);

  sluice_schedule_options_t options = {
      .struct_size = sizeof options, .max_iterations = 20, .seed = 3};
  CHECK(sluice_schedule(context, graph, hardware, &options, &plan, &why) == SLUICE_OK);
  CHECK(sluice_verify(context, graph, hardware, plan, &why) == SLUICE_OK);

  /* The library writes nothing behind the struct_size that the program states. */
  struct {
    sluice_report_t report;
    uint64_t behind[4];
  } r;
  memset(&r, 0x5a, sizeof r);
  r.report.struct_size = sizeof r.report;
  CHECK(sluice_plan_report(plan, &r.report) == SLUICE_OK);
  CHECK(r.report.latency_cycles > 0 && r.report.energy_pj > 0);
  CHECK(r.report.latency_cycles >= r.report.bound_latency_cycles);
  for (int i = 0; i < 4; ++i) CHECK(r.behind[i] == 0x5a5a5a5a5a5a5a5au);
  /* An even smaller struct_size, which covers the first two numbers only. */
  sluice_report_t first;
  memset(&first, 0x5a, sizeof first);
  first.struct_size = offsetof(sluice_report_t, energy_pj);
  CHECK(sluice_plan_report(plan, &first) == SLUICE_OK);
  CHECK(first.latency_cycles == r.report.latency_cycles);
  CHECK(first.dram_read_bytes == 0x5a5a5a5a5a5a5a5au);

  const void *bytes, *stream;
  size_t stream_size;
  CHECK(sluice_plan_bytes(plan, &bytes, &size) == SLUICE_OK);
  CHECK(sluice_plan_stream(plan, &stream, &stream_size) == SLUICE_OK);
  CHECK(((const sluice_stream_header_t*)stream)->magic == SLUICE_STREAM_MAGIC);
  CHECK(((const sluice_stream_header_t*)stream)->size_bytes == stream_size);
  CHECK(sluice_plan_create(context, bytes, size, &again, &why) == SLUICE_OK);
  size_t small = 1;
  CHECK(sluice_plan_write(again, NULL, &small) == SLUICE_BUFFER_TOO_SMALL &&
        small == size);

  refuses_unknown_options(context, graph, hardware, &options);
  sluice_graph_t* none;
  CHECK(sluice_graph_create(context, "junk", 4, &none, &why) == SLUICE_BAD_INPUT);
  sluice_plan_destroy(again);
  sluice_plan_destroy(plan);
  sluice_hardware_destroy(hardware);
  sluice_graph_destroy(graph);
  sluice_context_destroy(context);
  CHECK(live == 0);
  printf("library %s: %llu cycles\n", sluice_version(),
         (unsigned long long)r.report.latency_cycles);
  free(graph_bytes);
  free(hardware_bytes);
  return 0;
}
