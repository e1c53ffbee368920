/* SPDX-License-Identifier: Apache-2.0 */
/* Reads an instruction stream: checks an image, relocates it, walks its engines' lists.
 *
 * Input    the image of stream.h (little-endian machine, any alignment), untrusted
 * Output   records by value; resolved operands (region, 64-bit offset, box)
 * Errors   sluice_walk_status_t and its place; nothing outside the image is ever read
 * Cost     open: one pass over the image. Waits: linear in their number and, for those on
 *          earlier visits, in the visits that lie between. Else constant
 * Memory   one sluice_walker_t and one sluice_walk_cursor_t per engine, both the
 *          caller's. Freestanding C99: no heap; of libc only memcpy and memset.
 *
 * Use: open, start; then for each idle engine: next; if waits_hold, execute; complete
 * once it has taken effect. The stream has ended when all engines have. */
#ifndef SLUICE_FIRMWARE_SIM_WALKER_H_
#define SLUICE_FIRMWARE_SIM_WALKER_H_

#include <stddef.h>
#include <stdint.h>

#include "sluice/ops.h"
#include "sluice/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* X(constant, name) */
#define SLUICE_WALK_CODES(X)             \
  X(OK, "ok")                            \
  X(SIZE, "size") /* image */            \
  X(MAGIC, "magic")                      \
  X(VERSION, "version")                  \
  X(HASH, "hash")         /* content */  \
  X(RESERVED, "reserved") /* not zero */ \
  X(NODES, "nodes")                      \
  X(ALIGNMENT, "alignment")              \
  X(CAPACITY, "capacity")                \
  X(SECTION, "section") /* bounds */     \
  X(ENGINE, "engine")                    \
  X(BODY, "body")                        \
  X(LIST, "list")                        \
  X(OPCODE, "opcode")                    \
  X(FLAGS, "flags")                      \
  X(DESCRIPTOR, "descriptor")            \
  X(WAIT, "wait")                        \
  X(TILE, "tile")                        \
  X(TRANSFER, "transfer")                \
  X(HOST_CALL, "host_call")              \
  X(OPERAND, "operand")                  \
  X(SHAPE, "shape")                      \
  X(KERNEL, "kernel")                    \
  X(INSTANCE, "instance")                \
  X(LOOP, "loop")                        \
  X(STEP, "step")                        \
  X(BINDING, "binding")                  \
  X(PATCH, "patch")                      \
  X(CYCLES, "cycles")

typedef enum {
#define SLUICE_WALK_ENUM(constant, name) SLUICE_WALK_##constant,
  SLUICE_WALK_CODES(SLUICE_WALK_ENUM)
#undef SLUICE_WALK_ENUM
      SLUICE_WALK_CODE_COUNT
} sluice_walk_status_t;

typedef struct {
  sluice_walk_status_t status;
  uint32_t block; /* SLUICE_NONE: not inside a body */
  uint32_t index; /* record in its table, or SLUICE_NONE */
} sluice_walk_error_t;

typedef struct {
  const unsigned char* image;
  sluice_stream_header_t header;
  uint32_t engines;
  uint32_t visits;           /* of all instances together */
  const int32_t* parameters; /* owned by the caller */
  uint32_t parameter_count;
} sluice_walker_t;

/* One visit of an instance. All zero: the stream's first. */
typedef struct {
  uint32_t number;   /* visits before it; walker->visits: behind the last one */
  uint32_t instance; /* header.instance_count: behind the last one */
  uint32_t index[SLUICE_MAX_LOOPS]; /* iterations of the loops around it, the outermost
                                       first */
} sluice_walk_visit_t;

/* Position of an engine: it has completed `completed` instructions of its list in
 * `visit`, and all before. Behind the last visit: the engine has ended. */
typedef struct {
  sluice_walk_visit_t visit;
  uint32_t completed;
} sluice_walk_cursor_t;

typedef struct {
  uint32_t region;
  uint32_t dtype;
  uint64_t offset; /* of the first element, from the start of the region */
  uint64_t bytes;  /* product of the extents times the size of an element */
  uint64_t span;   /* bytes from the first to the end of the last element */
  uint32_t extent[4];
  uint32_t stride[4];
} sluice_walk_operand_t;

/* Checks everything that can be checked without running. error may be NULL. Bodies must
 * lie in directory order without overlap. */
sluice_walk_status_t sluice_walk_open(sluice_walker_t* walker, const void* image,
                                      size_t size, sluice_walk_error_t* error);

/* Relocates every region to the driver's address for it: adds base[region] to each
 * binding, in one pass, and updates the image's hash. Offsets are then addresses in the
 * driver's spaces. The image must have passed sluice_walk_open. Each base is a multiple
 * of the stream's region_alignment, else ALIGNMENT, and at most 2^62, else CAPACITY;
 * both leave the image unchanged. BINDING: an address exceeds 2^62; the image is then
 * unusable. */
sluice_walk_status_t sluice_walk_relocate(void* image,
                                          const uint64_t base[SLUICE_REGION_COUNT]);

/* Sets the values of the graph's parameters for a run, each >= 0; borrowed. Parameters
 * beyond `count` are 0. */
void sluice_walk_set_parameters(sluice_walker_t* walker, const int32_t* values,
                                uint32_t count);

/* cursors: walker->engines of them. */
void sluice_walk_start(const sluice_walker_t* walker, sluice_walk_cursor_t* cursors);

/* 0 if the engine has ended, else 1 and its next instruction. */
int sluice_walk_next(const sluice_walker_t* walker, const sluice_walk_cursor_t* cursors,
                     uint32_t engine, sluice_instruction_t* instruction);

/* 1 if all waits of the engine's next instruction hold, else 0. *pending, if not NULL, is
 * a wait that does not. */
int sluice_walk_waits_hold(const sluice_walker_t* walker,
                           const sluice_walk_cursor_t* cursors, uint32_t engine,
                           sluice_wait_t* pending);

/* Advances to the next visit. The visit must not be behind the last one. */
void sluice_walk_next_visit(const sluice_walker_t* walker, sluice_walk_visit_t* visit);

/* Records that the engine's next instruction has taken effect. */
void sluice_walk_complete(const sluice_walker_t* walker, sluice_walk_cursor_t* cursors,
                          uint32_t engine);

/* An engine of the stream's table; engine < walker->engines. */
void sluice_walk_engine(const sluice_walker_t* walker, uint32_t engine,
                        sluice_engine_t* record);

/* Records of the body that an instance uses; indices as in a checked stream. */
void sluice_walk_block(const sluice_walker_t* walker, uint32_t instance,
                       sluice_block_t* block);
void sluice_walk_wait(const sluice_walker_t* walker, uint32_t instance, uint32_t index,
                      sluice_wait_t* wait);
/* A tile with its position in the layer for this visit's loop iterations. */
void sluice_walk_tile(const sluice_walker_t* walker, const sluice_walk_visit_t* visit,
                      uint32_t index, sluice_tile_t* tile);
void sluice_walk_transfer(const sluice_walker_t* walker, uint32_t instance,
                          uint32_t index, sluice_transfer_t* transfer);
void sluice_walk_host_call(const sluice_walker_t* walker, uint32_t instance,
                           uint32_t index, sluice_host_call_t* call);
void sluice_walk_kernel(const sluice_walker_t* walker, uint32_t instance,
                        uint32_t index, sluice_kernel_t* kernel);
/* Attribute i of a kernel; 0 beyond its list. */
int32_t sluice_walk_attribute(const sluice_walker_t* walker,
                              const sluice_kernel_t* kernel, uint32_t i);
/* Resolves slot, loops, patch and shape. Offsets are not compared with the region's
 * size. */
void sluice_walk_operand(const sluice_walker_t* walker,
                         const sluice_walk_visit_t* visit, uint32_t index,
                         sluice_walk_operand_t* operand);
uint64_t sluice_walk_region_bytes(const sluice_walker_t* walker, uint32_t region);
/* Index of an engine's next instruction within its body. */
uint32_t sluice_walk_position(const sluice_walker_t* walker,
                              const sluice_walk_cursor_t* cursors, uint32_t engine);

/* In walker_names.c, which may be left out. */
const char* sluice_walk_status_name(sluice_walk_status_t status);

#ifdef __cplusplus
}
#endif

#endif /* SLUICE_FIRMWARE_SIM_WALKER_H_ */
