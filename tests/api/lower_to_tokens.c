/* SPDX-License-Identifier: Apache-2.0 */
/* A stream as lists for a machine whose engines order each other by tokens; the guide on
 * lowering shows parts of this.
 *   lower_to_tokens GRAPH HARDWARE */
#include <sluice/lowering.h>
#include <sluice/ops.h>
#include <sluice/stream.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  void* bytes;
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) exit(6);
  *size = (size_t)ftell(file);
  rewind(file);
  bytes = malloc(*size);
  if (bytes == NULL || fread(bytes, 1, *size, file) != *size) exit(6);
  fclose(file);
  return bytes;
}

static void put(uint32_t engine, const char* what, uint32_t number,
                const sluice_token_step_t* step) {
  printf("engine %u: pop %llx, %s %u, push %llx\n", engine,
         (unsigned long long)step->pops, what, number,
         (unsigned long long)step->pushes);
}

/* Writes the list of each engine, one after the other. The guide shows this loop. */
static void put_lists(const unsigned char* image, const sluice_token_view_t* tokens) {
  sluice_stream_header_t header;
  uint32_t e, r = 0;
  memcpy(&header, image, sizeof header);
  for (e = 0; e < header.engine_count; ++e) {
    uint32_t v, first = 0; /* number of the visit's first instruction */
    for (v = 0; v < tokens->visits; ++v) {
      const sluice_instance_t* instance =
          (const sluice_instance_t*)(image + header.instance_offset) +
          tokens->visit[v].instance;
      const sluice_block_t* block =
          (const sluice_block_t*)(image + header.block_offset) + instance->block;
      const uint32_t* list = (const uint32_t*)(image + block->list_offset);
      uint32_t i;
      for (i = list[e]; i < list[e + 1]; ++i) {
        for (; r < tokens->relays && tokens->relay[r].engine == e &&
               tokens->relay[r].before == first + i;
             ++r) {
          put(e, "relay", r, &tokens->relay[r].step);
        }
        put(e, "instruction", first + i, &tokens->instruction[first + i]);
      }
      first += block->instruction_count;
    }
    for (; r < tokens->relays && tokens->relay[r].engine == e; ++r) {
      put(e, "relay", r, &tokens->relay[r].step);
    }
  }
}

static sluice_status_t put_tokens(sluice_context_t* context, const sluice_plan_t* plan,
                                  sluice_diagnostic_t* why) {
  /* Engine 0 moves, engine 2 computes; queues between them hold 8 tokens. */
  const sluice_token_channel_t channels[] = {{0, 2, 8, 0}, {2, 0, 8, 0}};
  const sluice_token_options_t options = {sizeof options, 2, channels};
  sluice_token_lists_t* lists = NULL;
  sluice_token_view_t tokens = {.struct_size = sizeof tokens};
  const void* stream;
  size_t size;
  sluice_status_t s = sluice_plan_stream(plan, &stream, &size);
  if (!s) s = sluice_tokens(context, stream, size, &options, &lists, why);
  if (!s) s = sluice_token_lists_view(lists, &tokens);
  if (s) return s;
  put_lists((const unsigned char*)stream, &tokens);
  printf("%u instructions, %u relays; a depth of %u is enough\n", tokens.instructions,
         tokens.relays, tokens.common_depth);
  sluice_token_lists_destroy(lists);
  return SLUICE_OK;
}

int main(int argc, char** argv) {
  size_t graph_size, hardware_size;
  void *graph_bytes, *hardware_bytes;
  sluice_context_t* context = NULL;
  sluice_graph_t* graph = NULL;
  sluice_hardware_t* hardware = NULL;
  sluice_plan_t* plan = NULL;
  sluice_layer_info_t layer = {.struct_size = sizeof layer};
  sluice_diagnostic_t why = {.struct_size = sizeof why};
  sluice_status_t s;
  if (argc != 3) return 3;
  graph_bytes = read_file(argv[1], &graph_size);
  hardware_bytes = read_file(argv[2], &hardware_size);
  s = sluice_context_create(NULL, &context, &why);
  if (!s) s = sluice_graph_create(context, graph_bytes, graph_size, &graph, &why);
  if (!s)
    s = sluice_hardware_create(context, hardware_bytes, hardware_size, &hardware, &why);
  if (!s) s = sluice_graph_layer(graph, 0, &layer);
  if (!s) printf("layer 0: operator %u, %u inputs\n", layer.op, layer.input_count);
  if (!s) s = sluice_schedule(context, graph, hardware, NULL, &plan, &why);
  if (!s) s = put_tokens(context, plan, &why);
  if (s) fprintf(stderr, "%s: %s\n", sluice_status_name(s), why.message);
  sluice_plan_destroy(plan);
  sluice_hardware_destroy(hardware);
  sluice_graph_destroy(graph);
  sluice_context_destroy(context);
  free(graph_bytes);
  free(hardware_bytes);
  return s != SLUICE_OK;
}
