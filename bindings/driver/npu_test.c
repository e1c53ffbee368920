/* SPDX-License-Identifier: Apache-2.0 */
/* npu_test HARDWARE SEED {GRAPH OUTPUT_HASH}...: real models through the driver, with
 * clients that behave and clients that do not.
 *
 * OUTPUT_HASH: FNV-1a 64 of all output bytes for that seed, as `sluice simulate` or a
 * reference gives it. */
#include "npu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sluice/ops.h"

static int failures;
#define CHECK(condition)                                          \
  do {                                                            \
    if (!(condition)) {                                           \
      ++failures;                                                 \
      printf("line %d: %s is not so; %s\n", __LINE__, #condition, \
             npu_last_error(npu));                                \
    }                                                             \
  } while (0)

enum { kMaxTensors = 8, kMillion = 1000000 };
/* Deadlines are not tested here: long enough for a busy machine and sanitizers. */
static const uint64_t kDeadline = (uint64_t)20000 * kMillion;

typedef struct {
  unsigned char* bytes;
  size_t size;
} file_t;

static file_t read_file(const char* path) {
  file_t f = {NULL, 0};
  FILE* in = fopen(path, "rb");
  if (in == NULL) return f;
  fseek(in, 0, SEEK_END);
  f.size = (size_t)ftell(in);
  rewind(in);
  f.bytes = (unsigned char*)malloc(f.size);
  if (f.bytes != NULL && fread(f.bytes, 1, f.size, in) != f.size) f.size = 0;
  fclose(in);
  return f;
}

static uint64_t fnv1a(uint64_t hash, const unsigned char* bytes, uint64_t size) {
  uint64_t i;
  for (i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3u;
  return hash;
}

/* Input bytes of a run with `seed`, as ops.h has it. */
static void fill(uint64_t seed, uint64_t number, npu_buffer_t* b) {
  uint64_t state = seed * 256 + number, i, z = 0;
  for (i = 0; i < b->bytes; ++i) {
    if (i % 8 == 0) {
      state += 0x9e3779b97f4a7c15u;
      z = state;
      z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
      z = (z ^ z >> 27) * 0x94d049bb133111ebu;
      z ^= z >> 31;
    }
    ((unsigned char*)b->data)[i] = (unsigned char)(z >> (8 * (i % 8)));
  }
}

/* A client's view of a model: its buffers. */
typedef struct {
  npu_model_t model;
  npu_buffer_t in[kMaxTensors], out[kMaxTensors];
  npu_run_t run;
} client_t;

static void make_buffers(const file_t* graph, uint64_t seed, client_t* c) {
  sluice_context_t* context = NULL;
  sluice_graph_t* g = NULL;
  sluice_graph_counts_t counts;
  uint32_t i;
  memset(&counts, 0, sizeof counts);
  counts.struct_size = sizeof counts;
  if (sluice_context_create(NULL, &context, NULL) != SLUICE_OK ||
      sluice_graph_create(context, graph->bytes, graph->size, &g, NULL) != SLUICE_OK ||
      sluice_graph_count(g, &counts) != SLUICE_OK) {
    exit(2);
  }
  for (i = 0; i < counts.tensors; ++i) {
    sluice_tensor_info_t t;
    npu_buffer_t b;
    t.struct_size = sizeof t;
    if (sluice_graph_tensor(g, i, &t) != SLUICE_OK) exit(2);
    if (t.kind != SLUICE_TENSOR_INPUT && t.kind != SLUICE_TENSOR_OUTPUT) continue;
    b.bytes = t.bytes;
    b.data = calloc(1, (size_t)t.bytes);
    if (t.kind == SLUICE_TENSOR_INPUT) {
      fill(seed, c->run.input_count, &b);
      c->in[c->run.input_count++] = b;
    } else {
      c->out[c->run.output_count++] = b;
    }
  }
  c->run.inputs = c->in;
  c->run.outputs = c->out;
  sluice_graph_destroy(g);
  sluice_context_destroy(context);
}

static uint64_t outputs_of(npu_t* npu, client_t* c) {
  uint64_t hash = 0xcbf29ce484222325u;
  uint32_t i;
  for (i = 0; i < c->run.output_count; ++i) {
    memset(c->out[i].data, 0x77, (size_t)c->out[i].bytes);
  }
  CHECK(npu_run(npu, c->model, &c->run) == NPU_OK);
  for (i = 0; i < c->run.output_count; ++i) {
    hash = fnv1a(hash, (unsigned char*)c->out[i].data, c->out[i].bytes);
  }
  return hash;
}

static void bad_clients(npu_t* npu, const file_t* good, client_t* c) {
  uint64_t i;
  npu_model_t model = 7;
  npu_run_t run = c->run;
  npu_buffer_t shorter[kMaxTensors];
  unsigned char* bytes = (unsigned char*)malloc(good->size);
  CHECK(npu_load(npu, NULL, 0, 0, NULL, NULL, &model) == NPU_BAD_CALL);
  CHECK(npu_load(npu, "junk", 4, 0, NULL, NULL, &model) == NPU_BAD_MODEL);
  CHECK(npu_load(npu, good->bytes, good->size / 2, 0, NULL, NULL, &model) ==
        NPU_BAD_MODEL);
  CHECK(npu_load(npu, good->bytes, good->size, 1, NULL, NULL, &model) == NPU_NO_TIME);
  CHECK(model == 0);
  for (i = 0; i < 200; ++i) { /* one byte is wrong: refused, or another model */
    memcpy(bytes, good->bytes, good->size);
    bytes[(i * 2654435761u) % (good->size < 4096 ? good->size : 4096)] ^=
        (unsigned char)(1 + i % 255);
    if (npu_load(npu, bytes, good->size, 20 * kMillion, NULL, NULL, &model) == NPU_OK) {
      CHECK(npu_unload(npu, model) == NPU_OK);
    }
  }
  CHECK(npu_run(npu, 0, &run) == NPU_BAD_CALL);
  CHECK(npu_run(npu, 12345, &run) == NPU_BAD_CALL);
  CHECK(npu_run(npu, c->model, NULL) == NPU_BAD_CALL);
  CHECK(npu_unload(npu, 12345) == NPU_BAD_CALL);
  memcpy(shorter, c->in, sizeof shorter);
  --shorter[0].bytes;
  run.inputs = shorter;
  CHECK(npu_run(npu, c->model, &run) == NPU_BAD_CALL);
  run = c->run;
  ++run.output_count;
  CHECK(npu_run(npu, c->model, &run) == NPU_BAD_CALL);
  run = c->run;
  run.parameter_count = 3;
  CHECK(npu_run(npu, c->model, &run) == NPU_BAD_CALL);
  free(bytes);
}

/* A plan that another context has made runs in any share that holds it; a plan of another
 * graph, or one with a changed byte, is refused or is as good. */
static void planned(npu_t* npu, const file_t* hardware, const file_t* graph,
                    const file_t* other, client_t* c, uint64_t hash) {
  sluice_context_t* context = NULL;
  sluice_graph_t* g = NULL;
  sluice_hardware_t* h = NULL;
  sluice_plan_t* plan = NULL;
  const void* bytes = NULL;
  const npu_model_t before = c->model;
  unsigned char* changed;
  npu_planned_t p;
  uint64_t i;
  memset(&p, 0, sizeof p);
  if (sluice_context_create(NULL, &context, NULL) != SLUICE_OK ||
      sluice_graph_create(context, graph->bytes, graph->size, &g, NULL) != SLUICE_OK ||
      sluice_hardware_create(context, hardware->bytes, hardware->size, &h, NULL) !=
          SLUICE_OK ||
      sluice_schedule(context, g, h, NULL, &plan, NULL) != SLUICE_OK ||
      sluice_plan_bytes(plan, &bytes, &p.plan_bytes) != SLUICE_OK) {
    exit(2);
  }
  p.graph = graph->bytes;
  p.graph_bytes = graph->size;
  CHECK(npu_load_planned(npu, &p, &c->model) == NPU_BAD_CALL);
  p.plan = bytes;
  CHECK(npu_load_planned(npu, NULL, &c->model) == NPU_BAD_CALL);
  CHECK(npu_load_planned(npu, &p, &c->model) == NPU_OK);
  CHECK(outputs_of(npu, c) == hash);
  CHECK(npu_unload(npu, c->model) == NPU_OK);
  p.share_begin = 1;
  p.share_end = npu_scratchpad(npu);
  CHECK(npu_load_planned(npu, &p, &c->model) == NPU_BAD_CALL);
  p.share_begin = p.share_end = 0;
  if (other != graph) {
    p.graph = other->bytes;
    p.graph_bytes = other->size;
    CHECK(npu_load_planned(npu, &p, &c->model) == NPU_BAD_MODEL);
    p.graph = graph->bytes;
    p.graph_bytes = graph->size;
  }
  changed = (unsigned char*)malloc(p.plan_bytes);
  p.plan = changed;
  for (i = 0; i < 50; ++i) {
    memcpy(changed, bytes, p.plan_bytes);
    changed[(i * 2654435761u) % p.plan_bytes] ^= (unsigned char)(1 + i % 255);
    if (npu_load_planned(npu, &p, &c->model) != NPU_OK) continue;
    CHECK(outputs_of(npu, c) == hash);
    CHECK(npu_unload(npu, c->model) == NPU_OK);
  }
  free(changed);
  c->model = before;
  sluice_plan_destroy(plan);
  sluice_hardware_destroy(h);
  sluice_graph_destroy(g);
  sluice_context_destroy(context);
}

/* The share shrinks and moves. At one size no model fits; at a larger one all fit again. */
static void shares(npu_t* npu, uint64_t scratchpad, client_t* clients, uint32_t count,
                   const uint64_t* hash) {
  static const uint32_t parts[] = {2, 3, 8, 1};
  uint32_t p, i, unfit = 0;
  uint64_t begin;
  for (p = 0; p < 4; ++p) {
    begin = parts[p] == 1 ? 0 : scratchpad / parts[p] / 64 * 64;
    CHECK(npu_set_share(npu, begin, begin + scratchpad / parts[p] / 64 * 64, kDeadline,
                        &unfit) == NPU_OK);
    CHECK(unfit == 0);
    for (i = 0; i < count; ++i) CHECK(outputs_of(npu, &clients[i]) == hash[i]);
  }
  CHECK(npu_set_share(npu, 0, 32, kDeadline, &unfit) == NPU_OK);
  CHECK(unfit == count);
  for (i = 0; i < count; ++i) {
    CHECK(npu_run(npu, clients[i].model, &clients[i].run) == NPU_DOES_NOT_FIT);
  }
  CHECK(npu_set_share(npu, 32, 64, 0, &unfit) == NPU_BAD_CALL);
  CHECK(npu_set_share(npu, 0, scratchpad + 64, 0, &unfit) == NPU_BAD_CALL);
  CHECK(npu_set_share(npu, 0, scratchpad, kDeadline, &unfit) == NPU_OK);
  CHECK(unfit == 0);
  for (i = 0; i < count; ++i) CHECK(outputs_of(npu, &clients[i]) == hash[i]);
}

int main(int count, char** arguments) {
  static client_t clients[8];
  static uint64_t hash[8];
  file_t hardware, graphs[8];
  npu_options_t options;
  npu_t* npu = NULL;
  uint64_t seed, device_bytes, host_bytes;
  uint32_t n, i;
  if (count < 5 || count > 19 || count % 2 != 1) return 2;
  hardware = read_file(arguments[1]);
  seed = strtoull(arguments[2], NULL, 10);
  n = (uint32_t)(count - 3) / 2;
  memset(&options, 0, sizeof options);
  options.hardware = hardware.bytes;
  options.hardware_bytes = hardware.size;
  options.device_dram_bytes = 64u << 20;
  options.block_bytes = 48u << 20;
  options.block = malloc((size_t)options.block_bytes);
  CHECK(npu_open(&options, &npu) == NPU_OK);
  if (npu == NULL) return 1;
  for (i = 0; i < n; ++i) {
    graphs[i] = read_file(arguments[3 + 2 * i]);
    hash[i] = strtoull(arguments[4 + 2 * i], NULL, 16);
    make_buffers(&graphs[i], seed, &clients[i]);
    CHECK(npu_load(npu, graphs[i].bytes, graphs[i].size, kDeadline, NULL, NULL,
                   &clients[i].model) == NPU_OK);
    CHECK(outputs_of(npu, &clients[i]) == hash[i]);
    printf("%s: %llu cycles\n", arguments[3 + 2 * i],
           (unsigned long long)clients[i].run.cycles);
  }
  bad_clients(npu, &graphs[0], &clients[0]);
  planned(npu, &hardware, &graphs[0], &graphs[n - 1], &clients[0], hash[0]);
  for (i = 0; i < n; ++i) CHECK(outputs_of(npu, &clients[i]) == hash[i]);
  npu_memory(npu, &device_bytes, &host_bytes);
  printf("%llu bytes of device memory, at most %llu of the host's\n",
         (unsigned long long)device_bytes, (unsigned long long)host_bytes);
  shares(npu, npu_scratchpad(npu), clients, n, hash);
  for (i = 0; i < n; ++i) CHECK(npu_unload(npu, clients[i].model) == NPU_OK);
  npu_memory(npu, &device_bytes, &host_bytes);
  CHECK(device_bytes == 0);
  npu_close(npu);
  for (i = 0; i < n; ++i) {
    uint32_t t;
    for (t = 0; t < clients[i].run.input_count; ++t) free(clients[i].in[t].data);
    for (t = 0; t < clients[i].run.output_count; ++t) free(clients[i].out[t].data);
    free(graphs[i].bytes);
  }
  free(hardware.bytes);
  free(options.block);
  printf(failures == 0 ? "all well\n" : "%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
