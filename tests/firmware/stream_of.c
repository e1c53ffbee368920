/* SPDX-License-Identifier: Apache-2.0 */
/* stream_of PLAN STREAM: the stream image out of a plan, as a driver hands it on. */
#include <stdio.h>
#include <stdlib.h>

#include "sluice/sluice.h"

int main(int count, char** arguments) {
  static unsigned char plan_bytes[1 << 24];
  sluice_context_t* context = NULL;
  sluice_plan_t* plan = NULL;
  const void* stream = NULL;
  size_t size = 0;
  FILE* file = count == 3 ? fopen(arguments[1], "rb") : NULL;
  if (file == NULL) return 2;
  size = fread(plan_bytes, 1, sizeof plan_bytes, file);
  fclose(file);
  if (sluice_context_create(NULL, &context, NULL) != SLUICE_OK ||
      sluice_plan_create(context, plan_bytes, size, &plan, NULL) != SLUICE_OK ||
      sluice_plan_stream(plan, &stream, &size) != SLUICE_OK) {
    return 3;
  }
  file = fopen(arguments[2], "wb");
  if (file == NULL || fwrite(stream, 1, size, file) != size || fclose(file) != 0) {
    return 4;
  }
  sluice_plan_destroy(plan);
  sluice_context_destroy(context);
  return 0;
}
