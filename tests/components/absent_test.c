/* SPDX-License-Identifier: Apache-2.0 */
/* A library without any component: what needs one is SLUICE_UNSUPPORTED, and the message
 * names the CMake option; the rest works, and its report says what is missing.
 *   absent_test GRAPH PLAIN_HARDWARE MAPPED_HARDWARE MESH_HARDWARE */
#include <sluice/experimental.h>
#include <string.h>

#include "read_file.h"

struct inputs {
  sluice_context_t* context;
  sluice_graph_t* graph;
  sluice_hardware_t* hardware[3]; /* plain, mapped, mesh */
};

static int failures = 0;

static void expect(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "FAILED: %s\n", what);
  ++failures;
}

static void expect_absent(const char* call, sluice_status_t status,
                          const sluice_diagnostic_t* why, const char* option) {
  if (status == SLUICE_UNSUPPORTED && strstr(why->message, option) != NULL) {
    printf("%s: %s\n", call, why->message);
    return;
  }
  fprintf(stderr, "FAILED: %s: %s: %s\n", call, sluice_status_name(status),
          why->message);
  ++failures;
}

static void check_mesh(const struct inputs* in) {
  sluice_diagnostic_t why = {.struct_size = sizeof why};
  sluice_plan_t* plan = NULL;
  sluice_segment_schedule_t segments = {.struct_size = sizeof segments};
  const char* option = "SLUICE_WITH_MESH";
  sluice_status_t s =
      sluice_schedule(in->context, in->graph, in->hardware[2], NULL, &plan, &why);
  expect_absent("sluice_schedule on a mesh", s, &why, option);
  s = sluice_segments(in->context, in->graph, in->hardware[2], NULL, &segments, &why);
  expect_absent("sluice_segments", s, &why, option);
}

static void check_mappers(const struct inputs* in) {
  sluice_diagnostic_t why = {.struct_size = sizeof why};
  sluice_gemm_mapping_t gemm = {.struct_size = sizeof gemm};
  sluice_layer_mapping_t layer = {.struct_size = sizeof layer};
  const uint32_t first = 0;
  const char* option = "SLUICE_WITH_MAPPERS";
  sluice_status_t s =
      sluice_map_gemm(in->context, in->hardware[1], 64, 64, 64, NULL, &gemm, &why);
  expect_absent("sluice_map_gemm", s, &why, option);
  s = sluice_map_layers(in->context, in->graph, in->hardware[1], &first, 1, NULL,
                        &layer, &why);
  expect_absent("sluice_map_layers", s, &why, option);
}

static void check_operators(const struct inputs* in) {
  sluice_diagnostic_t why = {.struct_size = sizeof why};
  sluice_plan_t* plan = NULL;
  sluice_replacement_t* replacement = NULL;
  sluice_schedule_options_t whole = {.struct_size = sizeof whole};
  sluice_replacement_options_t replace = {.struct_size = sizeof replace};
  const char* option = "SLUICE_WITH_OPERATORS";
  sluice_status_t s;
  whole.granularity = SLUICE_GRANULARITY_OPERATOR;
  replace.capacity_bytes = 1 << 20;
  s = sluice_schedule(in->context, in->graph, in->hardware[0], &whole, &plan, &why);
  expect_absent("sluice_schedule of whole operators", s, &why, option);
  s = sluice_replace(in->context, in->graph, &replace, &replacement, &why);
  expect_absent("sluice_replace", s, &why, option);
}

static void check_coschedule(const struct inputs* in) {
  sluice_diagnostic_t why = {.struct_size = sizeof why};
  sluice_curve_point_t points[2];
  uint32_t count = 2;
  sluice_model_t models[2] = {{0}, {0}};
  sluice_coschedule_options_t options = {.struct_size = sizeof options};
  sluice_cohort_t* cohort = NULL;
  const char* option = "SLUICE_WITH_COSCHEDULE";
  sluice_status_t s =
      sluice_curve(in->context, in->graph, in->hardware[0], NULL, points, &count, &why);
  expect_absent("sluice_curve", s, &why, option);
  models[0].graph = models[1].graph = in->graph;
  s = sluice_coschedule(in->context, in->hardware[0], models, 2, &options, &cohort,
                        &why);
  expect_absent("sluice_coschedule", s, &why, option);
}

/* The report says that tiles of this machine are declared at peak rates. */
static void check_report(const struct inputs* in) {
  const uint32_t missing[2] = {0, SLUICE_COMPONENT_MAPPERS};
  int i;
  for (i = 0; i < 2; ++i) {
    sluice_diagnostic_t why = {.struct_size = sizeof why};
    sluice_report_t report = {.struct_size = sizeof report};
    sluice_plan_t* plan = NULL;
    sluice_status_t s =
        sluice_schedule(in->context, in->graph, in->hardware[i], NULL, &plan, &why);
    if (!s) s = sluice_plan_report(plan, &report);
    expect(!s && report.missing_components == missing[i],
           i == 0 ? "nothing is missing for a machine that needs no mapper"
                  : "the report names the missing mappers");
    expect(
        !s && report.bound_energy_pj > 0 && report.bound_energy_pj <= report.energy_pj,
        "there is an energy bound without mappers");
    sluice_plan_destroy(plan);
  }
}

int main(int argc, char** argv) {
  struct inputs in = {NULL, NULL, {NULL, NULL, NULL}};
  sluice_diagnostic_t why = {.struct_size = sizeof why};
  void* bytes[4];
  size_t sizes[4];
  sluice_status_t s;
  int i;
  if (argc != 5) return 3;
  for (i = 0; i < 4; ++i) bytes[i] = read_file(argv[1 + i], &sizes[i]);
  expect(sluice_components() == 0, "no component is built in");
  s = sluice_context_create(NULL, &in.context, &why);
  if (!s) s = sluice_graph_create(in.context, bytes[0], sizes[0], &in.graph, &why);
  for (i = 0; i < 3 && !s; ++i) {
    s = sluice_hardware_create(in.context, bytes[1 + i], sizes[1 + i], &in.hardware[i],
                               &why);
  }
  if (s) {
    fprintf(stderr, "%s: %s\n", sluice_status_name(s), why.message);
    return 1;
  }
  check_mesh(&in);
  check_mappers(&in);
  check_operators(&in);
  check_coschedule(&in);
  check_report(&in);
  for (i = 0; i < 3; ++i) sluice_hardware_destroy(in.hardware[i]);
  sluice_graph_destroy(in.graph);
  sluice_context_destroy(in.context);
  for (i = 0; i < 4; ++i) free(bytes[i]);
  return failures != 0;
}
