/* SPDX-License-Identifier: Apache-2.0 */
/* 64 threads, each with a context of its own, schedule the same graph at the same time. Every
 * second thread has a graph object and a machine object of its own; the others read those of
 * one shared context. Then one call runs its starts on four threads of a runner. All
 * plans of a kind must have the same bytes; built with ThreadSanitizer, nothing may race.
 *
 *   many_contexts GRAPH HARDWARE */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sluice/sluice.h"

enum { kThreads = 64, kWorkers = 4, kIterations = 40 };

typedef struct {
  void* bytes;
  size_t size;
} file_t;

static file_t g_graph, g_hardware; /* only read once the threads run */
static sluice_graph_t* g_shared_graph;
static sluice_hardware_t* g_shared_hardware;

static file_t ReadAll(const char* path) {
  file_t f = {NULL, 0};
  FILE* file = fopen(path, "rb");
  if (file == NULL) return f;
  fseek(file, 0, SEEK_END);
  f.size = (size_t)ftell(file);
  rewind(file);
  f.bytes = malloc(f.size);
  if (f.bytes == NULL || fread(f.bytes, 1, f.size, file) != f.size) f.size = 0;
  fclose(file);
  return f;
}

/* The bytes of the plan; no bytes on failure. */
static file_t PlanOf(sluice_context_t* context, const sluice_graph_t* graph,
                     const sluice_hardware_t* hardware, const sluice_runner_t* runner) {
  file_t out = {NULL, 0};
  sluice_schedule_options_t schedule = {0};
  sluice_plan_t* plan = NULL;
  schedule.struct_size = sizeof schedule;
  schedule.max_iterations = kIterations;
  schedule.runner = runner;
  if (sluice_schedule(context, graph, hardware, &schedule, &plan, NULL) == SLUICE_OK) {
    (void)sluice_plan_write(plan, NULL, &out.size);
    out.bytes = malloc(out.size);
    if (sluice_plan_write(plan, out.bytes, &out.size) != SLUICE_OK) out.size = 0;
  }
  sluice_plan_destroy(plan);
  return out;
}

static void Create(sluice_context_t** context, sluice_graph_t** graph,
                   sluice_hardware_t** hardware) {
  sluice_context_options_t options = {0};
  options.struct_size = sizeof options;
  *context = NULL;
  *graph = NULL;
  *hardware = NULL;
  if (sluice_context_create(&options, context, NULL) != SLUICE_OK) return;
  (void)sluice_graph_create(*context, g_graph.bytes, g_graph.size, graph, NULL);
  (void)sluice_hardware_create(*context, g_hardware.bytes, g_hardware.size, hardware,
                               NULL);
}

/* Plans with a graph and a machine of its own, which outlive their context. */
static file_t Plan(const sluice_runner_t* runner) {
  sluice_context_t* context;
  sluice_graph_t* graph;
  sluice_hardware_t* hardware;
  Create(&context, &graph, &hardware);
  const file_t out = PlanOf(context, graph, hardware, runner);
  sluice_context_destroy(context);
  sluice_hardware_destroy(hardware);
  sluice_graph_destroy(graph);
  return out;
}

static void* OneThread(void* out) {
  *(file_t*)out = Plan(NULL);
  return NULL;
}

static void* OneReader(void* out) {
  sluice_context_t* context = NULL;
  if (sluice_context_create(NULL, &context, NULL) == SLUICE_OK) {
    *(file_t*)out = PlanOf(context, g_shared_graph, g_shared_hardware, NULL);
  }
  sluice_context_destroy(context);
  return NULL;
}

typedef struct {
  void (*job)(void* argument, uint32_t index);
  void* argument;
  uint32_t first, jobs;
} share_t;

static void* OneWorker(void* argument) {
  share_t* share = argument;
  for (uint32_t i = share->first; i < share->jobs; i += kWorkers) {
    share->job(share->argument, i);
  }
  return NULL;
}

static void RunOnWorkers(void* user, void (*job)(void*, uint32_t), void* argument,
                         uint32_t jobs) {
  pthread_t threads[kWorkers];
  share_t shares[kWorkers];
  for (uint32_t w = 0; w < kWorkers; ++w) {
    shares[w] = (share_t){job, argument, w, jobs};
    if (pthread_create(&threads[w], NULL, OneWorker, &shares[w]) != 0) abort();
  }
  for (int w = 0; w < kWorkers; ++w) pthread_join(threads[w], NULL);
  ++*(int*)user;
}

static int Same(const file_t* a, const file_t* b) {
  return a->size != 0 && a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

int main(int argc, char** argv) {
  if (argc != 3) return 3;
  g_graph = ReadAll(argv[1]);
  g_hardware = ReadAll(argv[2]);
  pthread_t threads[kThreads];
  file_t plans[kThreads] = {{NULL, 0}};
  sluice_context_t* shared;
  Create(&shared, &g_shared_graph, &g_shared_hardware);
  for (int t = 0; t < kThreads; ++t) {
    void* (*const run)(void*) = t % 2 == 0 ? OneThread : OneReader;
    if (pthread_create(&threads[t], NULL, run, &plans[t]) != 0) return 6;
  }
  for (int t = 0; t < kThreads; ++t) pthread_join(threads[t], NULL);
  sluice_hardware_destroy(g_shared_hardware);
  sluice_graph_destroy(g_shared_graph);
  sluice_context_destroy(shared);
  int wrong = 0;
  for (int t = 0; t < kThreads; ++t) wrong += !Same(&plans[t], &plans[0]);
  int calls = 0;
  sluice_runner_t runner = {0};
  runner.struct_size = sizeof runner;
  runner.user = &calls;
  runner.run = RunOnWorkers;
  file_t first = Plan(&runner);
  file_t second = Plan(&runner);
  wrong += !Same(&first, &second);
  printf("%d threads and %d calls of the runner: %d plans differ\n", kThreads, calls,
         wrong);
  for (int t = 0; t < kThreads; ++t) free(plans[t].bytes);
  free(first.bytes);
  free(second.bytes);
  free(g_graph.bytes);
  free(g_hardware.bytes);
  return wrong == 0 ? 0 : 1;
}
