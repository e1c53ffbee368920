/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "plan_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sluice/sluice.h"

enum { kPathBytes = 4096, kMostBytes = 1 << 30 };

/* Header of a file, followed by the plan's bytes. Words have this machine's byte order; a
 * machine of the other order sees a different byte_order and ignores the file. */
typedef struct {
  char mark[8];
  uint32_t byte_order;
  uint32_t header_bytes;
  char version[32]; /* of the library, zero behind it */
  plan_cache_key_t key;
  uint64_t plan_bytes;
  uint64_t plan_hash;
} header_t;

uint64_t plan_cache_hash(uint64_t hash, const void* bytes, size_t size) {
  const unsigned char* at = (const unsigned char*)bytes;
  for (; size >= 8; size -= 8, at += 8) {
    uint64_t word;
    memcpy(&word, at, 8);
    hash = (hash ^ word) * 0x100000001b3u;
    hash ^= hash >> 32; /* the high bits of a word reach the low ones */
  }
  for (; size > 0; --size, ++at) hash = (hash ^ *at) * 0x100000001b3u;
  return hash;
}

static void fill_header(header_t* h, const plan_cache_key_t* key) {
  memset(h, 0, sizeof *h);
  memcpy(h->mark, "SLUPLAN", 8);
  h->byte_order = 0x01020304u;
  h->header_bytes = (uint32_t)sizeof *h;
  strncpy(h->version, sluice_version(), sizeof h->version - 1);
  h->key = *key;
}

/* The name has a hash of the version too: two versions of the library that share a folder
 * would otherwise replace each other's plans at every call. */
static int path_of(const char* folder, const plan_cache_key_t* key, char* path) {
  const char* version = sluice_version();
  const uint64_t v = plan_cache_hash(PLAN_CACHE_FIRST_HASH, version, strlen(version));
  const int length =
      snprintf(path, kPathBytes, "%s/%016llx-%016llx-%016llx-%08llx.slp", folder,
               (unsigned long long)key->graph, (unsigned long long)key->hardware,
               (unsigned long long)key->options, (unsigned long long)(v & 0xffffffffu));
  return length > 0 && length < kPathBytes;
}

static int read_all(int file, void* into, size_t bytes) {
  unsigned char* at = (unsigned char*)into;
  while (bytes > 0) {
    const ssize_t got = read(file, at, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return 0;
    at += got;
    bytes -= (size_t)got;
  }
  return 1;
}

static int write_all(int file, const void* from, size_t bytes) {
  const unsigned char* at = (const unsigned char*)from;
  while (bytes > 0) {
    const ssize_t put = write(file, at, bytes);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return 0;
    at += put;
    bytes -= (size_t)put;
  }
  return 1;
}

/* Reads the plan of a file of `file_bytes`; NULL: header or checksum do not match. */
static void* read_plan(int file, uint64_t file_bytes, const plan_cache_key_t* key,
                       size_t* size) {
  header_t expected, h;
  unsigned char* plan;
  fill_header(&expected, key);
  if (file_bytes <= sizeof h || file_bytes > kMostBytes) return NULL;
  if (!read_all(file, &h, sizeof h)) return NULL;
  expected.plan_bytes = file_bytes - sizeof h;
  expected.plan_hash = h.plan_hash;
  if (memcmp(&h, &expected, sizeof h) != 0) return NULL;
  *size = (size_t)h.plan_bytes;
  plan = (unsigned char*)malloc(*size);
  if (plan == NULL) return NULL;
  if (!read_all(file, plan, *size) ||
      plan_cache_hash(PLAN_CACHE_FIRST_HASH, plan, *size) != h.plan_hash) {
    free(plan);
    return NULL;
  }
  return plan;
}

int plan_cache_get(const char* folder, const plan_cache_key_t* key, void** out,
                   size_t* out_size) {
  char path[kPathBytes];
  struct stat about;
  int file;
  *out = NULL;
  *out_size = 0;
  if (folder == NULL || !path_of(folder, key, path)) return 0;
  /* O_NONBLOCK: a pipe under the plan's name, which nobody writes, must not block. */
  file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return 0;
  if (fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0) {
    *out = read_plan(file, (uint64_t)about.st_size, key, out_size);
  }
  close(file);
  if (*out == NULL) *out_size = 0;
  return *out != NULL;
}

int plan_cache_put(const char* folder, const plan_cache_key_t* key, const void* plan,
                   size_t size) {
  char path[kPathBytes], made[kPathBytes];
  header_t h;
  int file, length, done;
  if (folder == NULL || plan == NULL || size == 0 || !path_of(folder, key, path)) {
    return 0;
  }
  length = snprintf(made, sizeof made, "%s/.plan-XXXXXX", folder);
  if (length <= 0 || length >= (int)sizeof made) return 0;
  file = mkstemp(made);
  if (file < 0) return 0;
  fill_header(&h, key);
  h.plan_bytes = size;
  h.plan_hash = plan_cache_hash(PLAN_CACHE_FIRST_HASH, plan, size);
  done = write_all(file, &h, sizeof h) && write_all(file, plan, size);
  done = close(file) == 0 && done;
  done = done && rename(made, path) == 0;
  if (!done) (void)unlink(made);
  return done;
}
