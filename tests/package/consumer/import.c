/* SPDX-License-Identifier: Apache-2.0 */
/* libsluice_import as installed: a preset, a network, a builder, bytes of no model. */
#include <sluice/build.h>
#include <sluice/import.h>
#include <sluice/presets.h>
#include <sluice/zoo.h>
#include <stdio.h>

int main(void) {
  const void* machine = NULL;
  size_t size = 0;
  sluice_bytes_t graph = {NULL, 0};
  sluice_graph_builder_t* builder = sluice_graph_builder_create("empty");
  int bad = sluice_preset_find("mcu-256k", &machine, &size, NULL) != SLUICE_OK;
  bad |= sluice_zoo_graph("mlp_l", NULL, &graph, NULL) != SLUICE_OK;
  printf("machine of %lu bytes, graph of %lu bytes, sluice %s\n", (unsigned long)size,
         (unsigned long)graph.size, sluice_version());
  sluice_bytes_release(NULL, &graph);
  bad |= sluice_import_model("no model", 8, NULL, &graph, NULL, NULL) == SLUICE_OK;
  sluice_graph_builder_destroy(builder);
  return bad || builder == NULL;
}
