/* SPDX-License-Identifier: Apache-2.0 */
/* plan_hashes HARDWARE GRAPH... [--plain|--zoo HARDWARE GRAPH...]: what the scheduler
 * answers, as hashes.
 *
 * One line per graph and way of scheduling it: graph, way, status, FNV-1a 64 of the plan's
 * bytes. Everything is bounded by iterations, so that the lines are the same on every
 * machine and with every compiler. Graphs after --plain: the default way alone, for large
 * networks. Graphs after --zoo: the default way, its solver in 2 MiB, SoMa's search, and
 * the default way's plan made again for less scratchpad. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sluice/experimental.h"
#include "sluice/sluice.h"

typedef struct {
  void* bytes;
  size_t size;
} file_t;

static file_t Read(const char* path) {
  file_t file = {NULL, 0};
  FILE* stream = fopen(path, "rb");
  if (stream == NULL || fseek(stream, 0, SEEK_END) != 0) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(6);
  }
  file.size = (size_t)ftell(stream);
  file.bytes = malloc(file.size);
  rewind(stream);
  if (file.bytes == NULL || fread(file.bytes, 1, file.size, stream) != file.size)
    exit(6);
  fclose(stream);
  return file;
}

static uint64_t Hash(const void* bytes, size_t size) {
  const unsigned char* p = bytes;
  uint64_t hash = 0xcbf29ce484222325u;
  size_t i;
  for (i = 0; i < size; ++i) hash = (hash ^ p[i]) * 0x100000001b3u;
  return hash;
}

static uint64_t PlanHash(const sluice_plan_t* plan) {
  const void* bytes = NULL;
  size_t size = 0;
  if (plan == NULL || sluice_plan_bytes(plan, &bytes, &size) != SLUICE_OK) return 0;
  return Hash(bytes, size);
}

static void Print(const char* name, const char* way, sluice_status_t status,
                  uint64_t hash) {
  printf("%s %s %s %08lx%08lx\n", name, way, sluice_status_name(status),
         (unsigned long)(hash >> 32), (unsigned long)(hash & 0xffffffffu));
}

/* The file's name without folder and ending. */
static void NameOf(const char* path, char name[64]) {
  const char* slash = strrchr(path, '/');
  char* dot;
  strncpy(name, slash == NULL ? path : slash + 1, 63);
  name[63] = '\0';
  dot = strrchr(name, '.');
  if (dot != NULL) *dot = '\0';
}

typedef struct {
  const char* name;
  uint32_t solver, granularity;
  uint64_t iterations, scratchpad_bytes, max_block_cycles;
  uint32_t energy, delay;
} way_t;

static const way_t kWays[] = {
    {"default", SLUICE_SOLVER_DEFAULT, SLUICE_GRANULARITY_TILE, 400, 0, 0, 1, 1},
    {"plain", SLUICE_SOLVER_BASELINE, SLUICE_GRANULARITY_TILE, 400, 0, 0, 1, 1},
    {"tight", SLUICE_SOLVER_DEFAULT, SLUICE_GRANULARITY_TILE, 400, 700, 500, 0, 1},
    {"soma", SLUICE_SOLVER_SOMA, SLUICE_GRANULARITY_TILE, 150, 0, 0, 1, 1},
    {"cocco", SLUICE_SOLVER_COCCO, SLUICE_GRANULARITY_TILE, 150, 0, 0, 2, 1},
    {"whole", SLUICE_SOLVER_DEFAULT, SLUICE_GRANULARITY_OPERATOR, 400, 0, 0, 1, 1}};

static const way_t kZooWays[] = {
    {"default", SLUICE_SOLVER_DEFAULT, SLUICE_GRANULARITY_TILE, 400, 0, 0, 1, 1},
    {"2MiB", SLUICE_SOLVER_DEFAULT, SLUICE_GRANULARITY_TILE, 400, 2 << 20, 0, 0, 1},
    {"soma", SLUICE_SOLVER_SOMA, SLUICE_GRANULARITY_TILE, 150, 0, 0, 1, 1}};

static void Curve(sluice_context_t* context, const sluice_graph_t* graph,
                  const sluice_hardware_t* hardware, const char* name) {
  sluice_curve_point_t points[4];
  sluice_curve_list_t curve;
  sluice_schedule_options_t options;
  sluice_status_t status;
  memset(points, 0, sizeof points);
  memset(&curve, 0, sizeof curve);
  memset(&options, 0, sizeof options);
  curve.struct_size = sizeof curve;
  curve.count = 4;
  curve.points = points;
  options.struct_size = sizeof options;
  options.max_iterations = 100;
  status = sluice_curve(context, graph, hardware, &options, &curve, NULL);
  Print(name, "curve", status,
        status == SLUICE_OK ? Hash(points, curve.count * sizeof points[0]) : 0);
}

/* Several models in one divided scratchpad, taking turns: hashes of their plans. */
static void Together(sluice_context_t* context, const sluice_hardware_t* hardware,
                     sluice_graph_t** graphs, uint32_t count) {
  sluice_model_t models[SLUICE_MODELS_MAX];
  sluice_coschedule_options_t options;
  sluice_cohort_t* cohort = NULL;
  sluice_status_t status;
  uint64_t hash = 0;
  uint32_t m;
  if (count > 3) count = 3;
  memset(models, 0, sizeof models);
  memset(&options, 0, sizeof options);
  for (m = 0; m < count; ++m) {
    models[m].graph = graphs[m];
    models[m].weight = 1 + m;
  }
  options.struct_size = sizeof options;
  options.max_iterations = 100;
  options.points = 4;
  options.max_turn_cycles = 3000;
  options.models = models;
  options.model_count = count;
  status = sluice_coschedule(context, hardware, &options, &cohort, NULL);
  for (m = 0; status == SLUICE_OK && m < count; ++m) {
    sluice_member_t member;
    memset(&member, 0, sizeof member);
    member.struct_size = sizeof member;
    sluice_cohort_member(cohort, m, &member);
    hash = hash * 31 + PlanHash(member.plan) + member.finish_cycles;
  }
  Print("together", "turns", status, hash);
  sluice_cohort_destroy(cohort);
}

static sluice_hardware_t* Machine(sluice_context_t* context, const char* path) {
  sluice_hardware_t* hardware = NULL;
  const file_t file = Read(path);
  if (sluice_hardware_create(context, file.bytes, file.size, &hardware, NULL) !=
      SLUICE_OK) {
    fprintf(stderr, "%s is no machine\n", path);
    exit(2);
  }
  free(file.bytes);
  return hardware;
}

/* The plan, or NULL. */
static sluice_plan_t* Schedule(sluice_context_t* context, const sluice_graph_t* graph,
                               const sluice_hardware_t* hardware, const char* name,
                               const way_t* way) {
  sluice_schedule_options_t options;
  sluice_plan_t* plan = NULL;
  sluice_status_t status;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.solver = way->solver;
  options.granularity = way->granularity;
  options.max_iterations = way->iterations;
  options.scratchpad_bytes = way->scratchpad_bytes;
  options.max_block_cycles = way->max_block_cycles;
  options.energy_exponent = way->energy;
  options.delay_exponent = way->delay;
  options.seed = 1;
  status = sluice_schedule(context, graph, hardware, &options, &plan, NULL);
  Print(name, way->name, status, PlanHash(plan));
  return plan;
}

/* A plan made again for three quarters of the scratchpad that it uses. */
static void Again(sluice_context_t* context, const sluice_graph_t* graph,
                  const sluice_hardware_t* hardware, const char* name,
                  const sluice_plan_t* before) {
  sluice_schedule_options_t schedule;
  sluice_reschedule_options_t options;
  sluice_report_t report;
  sluice_plan_t* plan = NULL;
  sluice_status_t status;
  memset(&schedule, 0, sizeof schedule);
  memset(&options, 0, sizeof options);
  memset(&report, 0, sizeof report);
  report.struct_size = sizeof report;
  if (before == NULL || sluice_plan_report(before, &report) != SLUICE_OK) return;
  schedule.struct_size = sizeof schedule;
  schedule.max_iterations = 200;
  schedule.scratchpad_bytes = report.peak_buffer_bytes / 4 * 3;
  schedule.energy_exponent = schedule.delay_exponent = 1;
  options.struct_size = sizeof options;
  options.previous = before;
  options.schedule = &schedule;
  options.minimise_changes = 1;
  status = sluice_reschedule(context, graph, hardware, &options, &plan, NULL);
  Print(name, "again", status, PlanHash(plan));
  sluice_plan_destroy(plan);
}

/* Schedules in each way; with `again`, the first way's plan is made again, too. */
static void ScheduleWays(sluice_context_t* context, const sluice_graph_t* graph,
                         const sluice_hardware_t* hardware, const char* name,
                         const way_t* ways, size_t count, int again) {
  size_t w;
  for (w = 0; w < count; ++w) {
    sluice_plan_t* plan = Schedule(context, graph, hardware, name, &ways[w]);
    if (again && w == 0) Again(context, graph, hardware, name, plan);
    sluice_plan_destroy(plan);
  }
}

int main(int argc, char** argv) {
  sluice_context_t* context = NULL;
  sluice_hardware_t* hardware = NULL;
  sluice_graph_t* graphs[SLUICE_MODELS_MAX];
  uint32_t count = 0;
  int plain = 0, zoo = 0;
  int i;
  if (sluice_context_create(NULL, &context, NULL) != SLUICE_OK) return 6;
  for (i = 1; i < argc; ++i) {
    sluice_graph_t* graph = NULL;
    file_t file;
    char name[64];
    if (strcmp(argv[i], "--plain") == 0 || strcmp(argv[i], "--zoo") == 0) {
      if (hardware != NULL && !plain) Together(context, hardware, graphs, count);
      sluice_hardware_destroy(hardware);
      plain = 1;
      zoo = strcmp(argv[i], "--zoo") == 0;
      hardware = NULL;
      continue;
    }
    if (hardware == NULL) {
      hardware = Machine(context, argv[i]);
      continue;
    }
    NameOf(argv[i], name);
    file = Read(argv[i]);
    if (sluice_graph_create(context, file.bytes, file.size, &graph, NULL) !=
        SLUICE_OK) {
      fprintf(stderr, "%s is no graph\n", argv[i]);
      return 2;
    }
    free(file.bytes);
    if (zoo) {
      ScheduleWays(context, graph, hardware, name, kZooWays,
                   sizeof kZooWays / sizeof kZooWays[0], 1);
    } else {
      ScheduleWays(context, graph, hardware, name, kWays,
                   plain ? 1 : sizeof kWays / sizeof kWays[0], 0);
    }
    if (!plain) Curve(context, graph, hardware, name);
    fflush(stdout);
    if (!plain && count < SLUICE_MODELS_MAX) {
      graphs[count++] = graph;
    } else {
      sluice_graph_destroy(graph);
    }
  }
  if (!plain && hardware == NULL) return 3;
  if (!plain) Together(context, hardware, graphs, count);
  while (count > 0) sluice_graph_destroy(graphs[--count]);
  sluice_hardware_destroy(hardware);
  sluice_context_destroy(context);
  return 0;
}
