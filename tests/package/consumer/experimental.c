/* SPDX-License-Identifier: Apache-2.0 */
/* Places two buffers that live at the same time, by what experimental.h declares. */
#include <sluice/experimental.h>
#include <stdio.h>

int main(void) {
  sluice_context_t* context = NULL;
  sluice_buffer_t buffers[2] = {{0}};
  sluice_placement_problem_t problem = {0};
  sluice_placement_t placement = {0};
  int64_t offsets[2] = {-1, -1};
  int i;
  for (i = 0; i < 2; ++i) {
    buffers[i].end = 4;
    buffers[i].bytes = 16;
  }
  problem.struct_size = sizeof problem;
  problem.buffer_count = 2;
  problem.buffers = buffers;
  problem.capacity_bytes = 32;
  placement.struct_size = sizeof placement;
  placement.offsets = offsets;
  if (sluice_context_create(NULL, &context, NULL) != SLUICE_OK) return 1;
  if (sluice_place(context, &problem, NULL, &placement, NULL) != SLUICE_OK) return 1;
  printf("offsets %d and %d of %d bytes\n", (int)offsets[0], (int)offsets[1],
         (int)placement.peak_bytes);
  sluice_context_destroy(context);
  return placement.peak_bytes == 32 ? 0 : 1;
}
