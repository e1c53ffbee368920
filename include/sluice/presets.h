/* SPDX-License-Identifier: Apache-2.0 */
/* Machines that come with sluice, by name, and descriptors as JSON. Part of
 * libsluice_import; the rules at the top of import.h hold. */
#ifndef SLUICE_PRESETS_H_
#define SLUICE_PRESETS_H_

#include "sluice/import.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How many presets there are; their indices go from 0 to one less, in the order of
 * names. */
SLUICE_API uint32_t sluice_preset_count(void);

/* Name of preset `index`; static storage. NULL: there is no such preset. */
SLUICE_API const char* sluice_preset_name(uint32_t index);

/* The descriptor (hardware.fbs) of the preset of that name, for sluice_hardware_create.
 * *out_bytes: static storage, 16-byte aligned, never released.
 * SLUICE_BAD_ARGUMENT: no preset has that name; the message lists the names. */
SLUICE_API sluice_status_t sluice_preset_find(const char* name, const void** out_bytes,
                                              size_t* out_size,
                                              sluice_diagnostic_t* diagnostic);

/* A descriptor in JSON -> hardware.fbs bytes. text: `size` bytes, UTF-8, field names of
 * hardware.fbs, comments with two slashes allowed; a field that is missing has its
 * default. Whether the machine makes sense is for sluice_hardware_create to say.
 * SLUICE_BAD_INPUT: no JSON, or an unknown field; the message has line and column. */
SLUICE_API sluice_status_t sluice_hardware_from_json(const char* text, size_t size,
                                                     const sluice_allocator_t* allocator,
                                                     sluice_bytes_t* out_hardware,
                                                     sluice_diagnostic_t* diagnostic);

/* hardware.fbs bytes -> JSON, every field written out, without a NUL behind it.
 * SLUICE_BAD_INPUT: the bytes are damaged. */
SLUICE_API sluice_status_t sluice_hardware_to_json(const void* hardware, size_t size,
                                                   const sluice_allocator_t* allocator,
                                                   sluice_bytes_t* out_text,
                                                   sluice_diagnostic_t* diagnostic);

/* What a descriptor says in short. */
typedef struct sluice_hardware_facts {
  uint32_t struct_size;
  uint32_t nodes;                 /* columns times rows */
  uint64_t clock_hz;              /* cycles in a second */
  uint64_t macs_per_cycle;        /* of one node */
  uint64_t vector_ops_per_cycle;  /* of one node */
  uint64_t scratchpad_bytes;      /* of one node */
  double dram_bytes_per_cycle;    /* 0: never limits */
  const char* name; /* inside the caller's descriptor, NUL-terminated; NULL: no name */
} sluice_hardware_facts_t;

/* Writes what the descriptor (hardware.fbs, `size` bytes) says in short to *out_facts.
 * SLUICE_BAD_INPUT: the bytes are damaged. */
SLUICE_API sluice_status_t sluice_hardware_describe(const void* hardware, size_t size,
                                                    sluice_hardware_facts_t* out_facts,
                                                    sluice_diagnostic_t* diagnostic);

#ifdef __cplusplus
}
#endif

#endif /* SLUICE_PRESETS_H_ */
