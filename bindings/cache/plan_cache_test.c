/* SPDX-License-Identifier: Apache-2.0 */
/* plan_cache_test FOLDER: plans that were kept are found; damaged and foreign files are not. */
#define _POSIX_C_SOURCE 200809L
#include "plan_cache.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;
#define CHECK(condition)                                       \
  do {                                                         \
    if (!(condition)) {                                        \
      ++failures;                                              \
      printf("line %d: %s is not so\n", __LINE__, #condition); \
    }                                                          \
  } while (0)

enum { kBytes = 5000, kFileBytes = 20000 };
static const plan_cache_key_t kKey = {1, 2, 3};
static unsigned char plan[kBytes];

/* Counts the folder's files, or those that begin with a dot; path: one of them. */
static int files(const char* folder, int hidden, char* path, size_t room) {
  DIR* d = opendir(folder);
  struct dirent* entry;
  int count = 0;
  if (d == NULL) return -1;
  while ((entry = readdir(d)) != NULL) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if ((entry->d_name[0] == '.') != hidden) continue;
    ++count;
    if (path != NULL) snprintf(path, room, "%s/%s", folder, entry->d_name);
  }
  closedir(d);
  return count;
}

static int found(const char* folder, const plan_cache_key_t* key) {
  void* got = NULL;
  size_t size = 0;
  const int is = plan_cache_get(folder, key, &got, &size);
  if (is) CHECK(size == kBytes && memcmp(got, plan, kBytes) == 0);
  if (!is) CHECK(got == NULL && size == 0);
  free(got);
  return is;
}

static void write_file(const char* path, const void* bytes, size_t size) {
  FILE* file = fopen(path, "wb");
  CHECK(file != NULL && fwrite(bytes, 1, size, file) == size);
  if (file != NULL) fclose(file);
}

/* A truncated file, or one with any byte changed, counts as missing. */
static void damaged(const char* folder, const char* path) {
  static unsigned char whole[kFileBytes];
  FILE* file = fopen(path, "rb");
  size_t size = 0, i;
  CHECK(file != NULL);
  if (file == NULL) return;
  size = fread(whole, 1, sizeof whole, file);
  fclose(file);
  CHECK(size > kBytes && size < kFileBytes);
  for (i = 0; i < size; i += i < 200 ? 1 : 397) {
    write_file(path, whole, i);
    CHECK(!found(folder, &kKey));
    whole[i] ^= 0x10;
    write_file(path, whole, size);
    CHECK(!found(folder, &kKey));
    whole[i] ^= 0x10;
  }
  write_file(path, whole, size + 1);
  CHECK(!found(folder, &kKey));
  write_file(path, "not a plan", 10);
  CHECK(!found(folder, &kKey));
  CHECK(plan_cache_put(folder, &kKey, plan, kBytes));
  CHECK(found(folder, &kKey));
}

/* A name that is not a regular file counts as missing, and reading it does not block. */
static void no_file(const char* folder, const char* path) {
  CHECK(unlink(path) == 0 && mkfifo(path, 0600) == 0);
  CHECK(!found(folder, &kKey));
  CHECK(plan_cache_put(folder, &kKey, plan, kBytes) && found(folder, &kKey));
  CHECK(unlink(path) == 0 && symlink("/dev/zero", path) == 0);
  CHECK(!found(folder, &kKey));
  CHECK(unlink(path) == 0 && mkdir(path, 0700) == 0);
  CHECK(!found(folder, &kKey) && !plan_cache_put(folder, &kKey, plan, kBytes));
  CHECK(rmdir(path) == 0);
  CHECK(plan_cache_put(folder, &kKey, plan, kBytes) && found(folder, &kKey));
}

/* Processes write and read the same plan: each sees a whole one or none. */
static void together(const char* folder) {
  int p, status;
  for (p = 0; p < 4; ++p) {
    const pid_t child = fork();
    if (child == 0) {
      int i;
      for (i = 0; i < 100; ++i) {
        if (!plan_cache_put(folder, &kKey, plan, kBytes)) _exit(1);
        if (!found(folder, &kKey)) _exit(2);
      }
      _exit(failures);
    }
    CHECK(child > 0);
  }
  for (p = 0; p < 4; ++p) {
    CHECK(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

int main(int count, char** arguments) {
  plan_cache_key_t other = kKey;
  char path[4096], folder[4096];
  int i;
  if (count != 2) return 2;
  snprintf(folder, sizeof folder, "%s/cache-XXXXXX", arguments[1]);
  if (mkdtemp(folder) == NULL) return 2;
  for (i = 0; i < kBytes; ++i) plan[i] = (unsigned char)(i * 7 + i / 256);
  CHECK(!found(folder, &kKey));
  CHECK(plan_cache_put(folder, &kKey, plan, kBytes));
  CHECK(found(folder, &kKey));
  for (i = 0; i < 3; ++i) {
    other = kKey;
    ++*(i == 0 ? &other.graph : i == 1 ? &other.hardware : &other.options);
    CHECK(!found(folder, &other));
  }
  CHECK(files(folder, 0, path, sizeof path) == 1);
  damaged(folder, path);
  no_file(folder, path);
  together(folder);
  CHECK(files(folder, 0, NULL, 0) == 1 && files(folder, 1, NULL, 0) == 0);
  CHECK(!plan_cache_put("/no/such/folder", &kKey, plan, kBytes));
  CHECK(!plan_cache_put(NULL, &kKey, plan, kBytes) && !found("/no/such/folder", &kKey));
  CHECK(!plan_cache_put(folder, &kKey, plan, 0));
  (void)unlink(path);
  (void)rmdir(folder);
  printf(failures == 0 ? "all well\n" : "%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
