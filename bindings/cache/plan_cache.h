/* SPDX-License-Identifier: Apache-2.0 */
/* Plans on disk, by what they were made from: a folder with one file for each. C99, POSIX.
 *
 * A file is written under another name and renamed when it is complete, so processes may
 * share a folder, and one that dies leaves no half of a plan. What is read is checked: a
 * torn file, one of another version of the library, and one that is no plan's at all are as
 * good as none. Whoever gets a plan from here still verifies it (sluice_verify): the
 * checksum finds accidents, not forgeries.
 *
 * Plans that are not needed any more stay: whoever owns the folder empties it.
 *
 * Input    a folder that exists; keys
 * Output   plan.fbs bytes
 * Errors   0 and nothing else: there is no such plan, or it could not be kept
 * Cost     reading: one file; writing: one file, and its way to the disk is not waited for */
#ifndef SLUICE_BINDINGS_CACHE_PLAN_CACHE_H_
#define SLUICE_BINDINGS_CACHE_PLAN_CACHE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What decides on a plan. Values of weights do not, and sluice_graph_hash leaves them out. */
typedef struct {
  uint64_t graph;    /* sluice_graph_hash, or another hash of the same bytes */
  uint64_t hardware; /* sluice_hardware_hash */
  uint64_t options;  /* plan_cache_hash over the options that decide on the plan */
} plan_cache_key_t;

/* As FNV-1a 64, over words of eight bytes and then what is left by bytes; goes on from `hash`, which is PLAN_CACHE_FIRST_HASH at first. */
#define PLAN_CACHE_FIRST_HASH 0xcbf29ce484222325u
uint64_t plan_cache_hash(uint64_t hash, const void* bytes, size_t size);

/* 1: *out has *out_size bytes, from malloc; the caller frees them. 0: there is no plan. */
int plan_cache_get(const char* folder, const plan_cache_key_t* key, void** out,
                   size_t* out_size);

/* 1: the plan is there, by this call or another's. 0: it could not be written. */
int plan_cache_put(const char* folder, const plan_cache_key_t* key, const void* plan,
                   size_t size);

#ifdef __cplusplus
}
#endif

#endif /* SLUICE_BINDINGS_CACHE_PLAN_CACHE_H_ */
