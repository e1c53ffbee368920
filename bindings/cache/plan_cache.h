/* SPDX-License-Identifier: Apache-2.0 */
/* Plans on disk, one file each in a folder, with hashes of their inputs as keys. C99, POSIX.
 *
 * A file is written under another name and renamed when it is complete, so processes may
 * share a folder, and one that dies leaves no partial plan. Reading checks the file: one
 * that is damaged, from another version of the library, or not a plan counts as missing.
 * The caller must still verify the plan (sluice_verify): the checksum detects accidental
 * damage, not forgery.
 *
 * Old plans are never deleted: the owner of the folder removes them.
 *
 * Input    a folder that exists; keys
 * Output   plan.fbs bytes
 * Errors   0: there is no such plan, or it could not be written
 * Cost     reading: one file; writing: one file, without waiting for the disk */
#ifndef SLUICE_BINDINGS_CACHE_PLAN_CACHE_H_
#define SLUICE_BINDINGS_CACHE_PLAN_CACHE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Hashes of all that a plan depends on. It does not depend on weights' values, which
 * sluice_graph_hash leaves out. */
typedef struct {
  uint64_t graph;    /* sluice_graph_hash, or another hash of the same bytes */
  uint64_t hardware; /* sluice_hardware_hash */
  uint64_t options;  /* plan_cache_hash over the options that decide on the plan */
} plan_cache_key_t;

/* FNV-1a 64 over eight-byte words, then over the remaining bytes. Continues from `hash`;
 * start with PLAN_CACHE_FIRST_HASH. */
#define PLAN_CACHE_FIRST_HASH 0xcbf29ce484222325u
uint64_t plan_cache_hash(uint64_t hash, const void* bytes, size_t size);

/* 1: *out has *out_size bytes, from malloc; the caller frees them. 0: there is no plan. */
int plan_cache_get(const char* folder, const plan_cache_key_t* key, void** out,
                   size_t* out_size);

/* 1: the plan is stored, by this call or an earlier one. 0: it could not be written. */
int plan_cache_put(const char* folder, const plan_cache_key_t* key, const void* plan,
                   size_t size);

#ifdef __cplusplus
}
#endif

#endif /* SLUICE_BINDINGS_CACHE_PLAN_CACHE_H_ */
