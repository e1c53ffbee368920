/* SPDX-License-Identifier: Apache-2.0 */
/* A whole file in memory that the caller frees; ends the program with 6 on failure. */
#ifndef SLUICE_TESTS_COMPONENTS_READ_FILE_H_
#define SLUICE_TESTS_COMPONENTS_READ_FILE_H_

#include <stdio.h>
#include <stdlib.h>

static void* read_file(const char* path, size_t* size) {
  void* bytes;
  FILE* file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) exit(6);
  *size = (size_t)ftell(file);
  rewind(file);
  bytes = malloc(*size);
  if (bytes == NULL || fread(bytes, 1, *size, file) != *size) exit(6);
  fclose(file);
  return bytes;
}

#endif /* SLUICE_TESTS_COMPONENTS_READ_FILE_H_ */
