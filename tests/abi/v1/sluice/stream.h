/* SPDX-License-Identifier: Apache-2.0 */
/* The instruction stream: layout and meaning. Freestanding C99; firmware includes it.
 *
 * A stream is one contiguous, relocatable image, little-endian, 4-byte aligned:
 *
 *   header | engines | directory | instances | loops | steps | bindings | kernels |
 *   attributes | patches | bodies
 *
 * Engines. The header's table lists them: what each does, for which node, and which roles
 *   of tensors its transfers have. Which engines a machine has comes from its descriptor
 *   (Queue in hardware.fbs), in this order: the queues, one per node where the queue says
 *   so; the host; then of each node its compute engine, unless a queue computes, and with
 *   several nodes its send engine, unless a queue forwards. The simplest machine of one
 *   node has three: 0 loads and stores, 1 is the host, 2 computes.
 *   Each engine runs its own list of instructions strictly in order. An instruction starts
 *   when its engine is free and all its waits hold; nothing else synchronises. Two
 *   transfers on different queues are ordered by waits alone, in the scratchpad and in
 *   DRAM; on one queue the order of the list holds.
 * Blocks. A block is a window of every engine's list. A body (instructions and side
 *   tables, all indices relative to the body) is described by its directory entry and
 *   may be used by many instances. All engines visit the instances in one order.
 *   Operands name slots; an instance binds each slot to (region, 64-bit base) and the
 *   body's kernels to a run of the kernel table. Only bindings are ever patched.
 * Loops. Instances are visited in the order of their table, those of a loop `count` times
 *   over before the next. Loops nest, three deep at most. With each iteration of a loop
 *   the bases of an instance's slots, and where its tiles lie in their layers, move by
 *   constant steps: a visit is an instance with an iteration of each loop around it.
 * Parameters (KV position) are values known when a run starts. They change addresses and
 *   nothing else: for each patch, the driver or the walker takes base + value * step as
 *   the binding's base. A patched slot lies in region STATE and is stored to, never read;
 *   all stores to that region go through patched slots.
 * Waits hold on completion only; completion of an instruction implies that its effects
 *   are visible and that all earlier ones on that engine have completed. They count an
 *   engine's instructions from the start of the visit, onwards or back, so that neither
 *   the visits before nor the iteration change a body.
 * Timing, in cycles: COMPUTE and HOST take what they declare. A LOAD or STORE that starts
 *   at t asks for the DRAM port at t + latency_cycles of its queue + descriptor_cycles for
 *   each descriptor but the first, and holds it for ceil(bytes / DRAM bytes per cycle).
 *   Where a memory of its own (Memory in hardware.fbs) has the region, its bandwidth is
 *   meant, and its latency is added to the queue's.
 *   A HOST call whose host uses the port (Host in hardware.fbs) asks for it after the
 *   cycles that it declares, for the bytes of its operands.
 *   The port serves one of them at a time, first come, first served; of two that come in
 *   one cycle the lower engine is first. FORWARD takes hop_latency_cycles * hops to the
 *   farthest node + ceil(bytes / link bytes per cycle).
 *   The bandwidths are rationals of hardware.fbs. Bytes count as the bursts that they
 *   fill: each row, a run without a gap in DRAM and in the scratchpad, is rounded up to
 *   burst_bytes; a LOAD with moved_bytes is one row of these. An instruction
 *   whose engine is free and whose waits hold at t starts at t; completions at t come
 *   before starts at t. No instruction takes zero cycles or moves zero bytes.
 * Regions. Addresses are (region, offset in bytes). The driver places each region
 *   anywhere aligned to region_alignment; GBUF offsets are within one node's scratchpad.
 *
 * What the parts are for:
 *   several nodes            rectangles in transfers; per node a compute and a send engine
 *   spills                   STOREs to and LOADs from region WORKSPACE
 *   slices of a layer        along K: boxes; along C: FIRST, LAST and an accumulator
 *   KV caches                region STATE with patches
 *   repeated layers          one body with many instances
 *   tiles of one layer       one instance in loops
 *   rescheduling             a body, its directory entry, its bindings and two hashes are
 *                            replaced, the rest stays
 *   several models           each stream's GBUF slots are bound to a range of its own
 *
 * Hashes are FNV-1a 64 with little-endian 32-bit words in place of bytes.
 *
 * Every struct has a fixed size, a multiple of 8 bytes, and only fields of at most four
 * bytes. Fields named reserved are zero. 64-bit values are two words, _lo first. A pair
 * of fields x_count and x_offset is an array: entries, and bytes from the image's start. */
#ifndef SLUICE_STREAM_H_
#define SLUICE_STREAM_H_

#include <stdint.h>

#define SLUICE_STREAM_MAGIC 0x31534C53u /* "SLS1", the first word of a stream */
#define SLUICE_STREAM_VERSION 0u /* of this layout; the second word */
#define SLUICE_NONE 0xffffffffu /* no operand, no index */

#define SLUICE_ALL_NODES 0xffffu /* node of an engine: it serves all of them */
#define SLUICE_NO_QUEUE 0xffffu  /* queue of an engine that is none of the descriptor's */

enum { /* what an engine does: the opcodes that its list may have */
  SLUICE_DOES_LOAD = 1,    /* from DRAM into scratchpads */
  SLUICE_DOES_STORE = 2,   /* from a scratchpad to DRAM */
  SLUICE_DOES_FORWARD = 4, /* from one node's scratchpad to others */
  SLUICE_DOES_COMPUTE = 8, /* tiles */
  SLUICE_DOES_HOST = 16    /* calls of functions of the host */
};

enum { /* roles: what the moved tensor is for the layer of a transfer's kernel */
  SLUICE_ROLE_INPUT = 1,       /* an activation that the layer reads */
  SLUICE_ROLE_WEIGHT = 2,      /* a filter or a table */
  SLUICE_ROLE_OUTPUT = 4,      /* what the layer writes */
  SLUICE_ROLE_PARTIAL_SUM = 8, /* an accumulator that is not finished */
  SLUICE_ROLE_PARAMETERS = 16  /* bias, multiplier and shift per channel */
};
#define SLUICE_ROLES 31u /* all of them */

enum { /* regions: where a slot may lie */
  SLUICE_REGION_GBUF = 0,      /* scratchpad of the node that the instruction names */
  SLUICE_REGION_CONST = 1,     /* weights and parameters, read only */
  SLUICE_REGION_INPUT = 2,     /* graph inputs, read only */
  SLUICE_REGION_OUTPUT = 3,    /* graph outputs */
  SLUICE_REGION_STATE = 4,     /* persists over runs, zero before the first (KV cache) */
  SLUICE_REGION_WORKSPACE = 5, /* intermediate tensors, spills, partial sums */
  SLUICE_REGION_COUNT = 6      /* one past the last region */
};

enum { /* opcodes */
  SLUICE_OPCODE_LOAD = 1,    /* DRAM -> GBUF of a rectangle of nodes */
  SLUICE_OPCODE_STORE = 2,   /* GBUF of one node -> DRAM */
  SLUICE_OPCODE_FORWARD = 3, /* GBUF of a node -> GBUF of a rectangle */
  SLUICE_OPCODE_COMPUTE = 4, /* one tile of one layer */
  SLUICE_OPCODE_HOST = 5     /* one layer, DRAM to DRAM */
};

/* Why a layer is a HOST call: what the machine's rows of its operator (OpSupport in
 * hardware.fbs) lack. Where several rows have the operator, the highest of their numbers. */
enum {
  SLUICE_WHY_OPAQUE = 0,     /* an OPAQUE layer */
  SLUICE_WHY_OPERATOR = 1,   /* no row of its operator */
  SLUICE_WHY_ARITHMETIC = 2, /* none that rounds as ops.h */
  SLUICE_WHY_DTYPE = 3,      /* the type of an operand */
  SLUICE_WHY_REQUANTISE = 4, /* the way in which its result is scaled */
  SLUICE_WHY_ZERO_POINT = 5, /* an operand's zero point other than 0 */
  SLUICE_WHY_KERNEL = 6,     /* a window as large as this */
  SLUICE_WHY_STRIDE = 7,     /* a stride as large as this */
  SLUICE_WHY_DILATION = 8,   /* a dilation as large as this */
  SLUICE_WHY_COUNT = 9       /* one past the last reason */
};

/* The first bytes of a stream. 176 bytes. */
typedef struct {
  uint32_t magic;            /* SLUICE_STREAM_MAGIC */
  uint32_t version;          /* SLUICE_STREAM_VERSION */
  uint32_t size_bytes;       /* of the whole image, multiple of 16 */
  uint32_t flags;            /* no bit has a meaning yet: 0 */
  uint32_t hash_lo, hash_hi; /* of all words after the header */
  uint32_t node_cols, node_rows; /* the mesh of nodes, each >= 1 */
  uint32_t block_count, block_offset;         /* the directory: sluice_block_t[] */
  uint32_t instance_count, instance_offset;   /* sluice_instance_t[], in order of work */
  uint32_t binding_count, binding_offset;     /* sluice_binding_t[] */
  uint32_t kernel_count, kernel_offset;       /* sluice_kernel_t[] */
  uint32_t attribute_count, attribute_offset; /* int32[], of the kernels (ops.h) */
  uint32_t region_alignment;                  /* of each region's address, in bytes; power
                                                 of two */
  uint32_t gbuf_bytes_lo, gbuf_bytes_hi;      /* capacity of one node's scratchpad that the
                                                 stream was made for */
  uint32_t reserved0;
  uint32_t region_bytes[SLUICE_REGION_COUNT][2]; /* bytes needed of each, low and high word */
  uint32_t patch_count, patch_offset;            /* sluice_patch_t[] */
  uint32_t engine_count, engine_offset;          /* sluice_engine_t[] */
  uint32_t loop_count, loop_offset;              /* sluice_loop_t[] */
  uint32_t step_count, step_offset;              /* int32[], of the instances in loops */
  uint32_t reserved[2];
} sluice_stream_header_t;

/* One engine. 8 bytes. */
typedef struct {
  uint16_t does;    /* SLUICE_DOES_ bits, at least one */
  uint16_t node;    /* whose instructions it runs: row * node_cols + column, or
                       SLUICE_ALL_NODES */
  uint16_t queue;   /* index in the descriptor's queues (the simplest machine's one queue
                       is 0), or SLUICE_NO_QUEUE */
  uint8_t roles;    /* SLUICE_ROLE_ bits that its LOADs and STOREs may have; 0 without them */
  uint8_t reserved;
} sluice_engine_t;

/* The directory entry of one body. All offsets are from the start of the image. 96 bytes. */
typedef struct {
  uint32_t body_offset, body_bytes; /* multiples of 16 */
  uint32_t hash_lo, hash_hi;        /* of the body's words */
  uint32_t slot_count;              /* bindings per instance */
  uint32_t kernel_count;            /* kernels per instance */
  uint32_t list_offset; /* uint32[engine_count + 1]: engine e runs instructions list[e] up
                           to, not including, list[e + 1] */
  uint32_t flags;       /* no bit has a meaning yet: 0 */
  uint32_t instruction_count, instruction_offset; /* sluice_instruction_t[] */
  uint32_t wait_count, wait_offset;               /* sluice_wait_t[] */
  uint32_t tile_count, tile_offset;               /* sluice_tile_t[] */
  uint32_t transfer_count, transfer_offset;       /* sluice_transfer_t[] */
  uint32_t host_call_count, host_call_offset;     /* sluice_host_call_t[] */
  uint32_t operand_count, operand_offset;         /* sluice_operand_t[] */
  uint32_t shape_count, shape_offset;             /* sluice_shape_t[] */
  uint32_t reserved[2];
} sluice_block_t;

/* One use of a body. 16 bytes. */
typedef struct {
  uint32_t block;         /* index in the directory */
  uint32_t first_binding; /* slot s is binding[first_binding + s] */
  uint32_t first_kernel;  /* tile.kernel k is kernel[first_kernel + k] */
  uint32_t first_step;    /* index in the table of steps; SLUICE_NONE outside of loops */
} sluice_instance_t;

#define SLUICE_MAX_LOOPS 3u /* around an instance */

/* The instances from `first` to `last`, both included, are visited `count` times: from
 * `first` to `last`, then from `first` again. Loops are in ascending order of `first`, an
 * outer one before those in it; two of them are nested or apart. 16 bytes.
 * Steps of an instance in loops start with the index of the innermost loop around it.
 * Behind it stand, for each of these loops, the outermost first, what each of its
 * iterations but the first adds:
 *   per slot     two words, low and high, of a signed number of bytes: to the base of its
 *                binding. 0 for slots in GBUF and for patched ones
 *   per kernel   five words: to origin[0..3] of the kernel's tiles, and to c_begin and
 *                c_end */
typedef struct {
  uint32_t first, last; /* instances */
  uint32_t count;       /* iterations, >= 2 */
  uint32_t parent;      /* the innermost loop around this one, or SLUICE_NONE */
} sluice_loop_t;

/* Where a slot lies. 16 bytes. */
typedef struct {
  uint32_t region;           /* SLUICE_REGION_ */
  uint32_t base_lo, base_hi; /* bytes from the start of the region */
  uint32_t reserved;
} sluice_binding_t;

/* In a run, the base of a patched binding is base + value of the parameter * step. Patches
 * are in ascending order of binding, at most one per binding. 16 bytes. */
typedef struct {
  uint32_t binding;          /* index of a binding */
  uint32_t parameter;        /* index of a parameter of the graph */
  uint32_t step_lo, step_hi; /* bytes, below 2^32 */
} sluice_patch_t;

/* What a tile computes: operator and attributes of one graph layer. Where a PAD is merged
 * into the convolution behind it, the convolution has the pads of both and reads the PAD's
 * input. 16 bytes. */
typedef struct {
  uint16_t op;              /* SLUICE_OP_ of ops.h */
  uint16_t attribute_count; /* those behind it are zero */
  uint32_t first_attribute; /* index in the table of attributes */
  uint32_t layer;           /* index of the graph's layer */
  uint32_t reserved;
} sluice_kernel_t;

/* One instruction of an engine's list. 16 bytes. */
typedef struct {
  uint8_t opcode;      /* SLUICE_OPCODE_ */
  uint8_t flags;       /* SLUICE_FLAG_ bits of COMPUTE, else 0 */
  uint16_t wait_count; /* waits that must hold before it starts */
  uint32_t descriptor; /* index of a tile, transfer or host call, by opcode */
  uint32_t first_wait; /* index of the first of them */
  uint32_t reserved;
} sluice_instruction_t;

enum { /* flags of COMPUTE */
  SLUICE_FLAG_FIRST = 1, /* clears the accumulator before it adds */
  SLUICE_FLAG_LAST = 2   /* adds bias, requantises and writes the output */
};

/* What must hold before an instruction starts. 8 bytes.
 *   before == 0: at least `count` (>= 1) of this visit's instructions on `engine` have
 *     completed.
 *   before == 1: of the engine's instructions in all visits before this one, at most
 *     `count` have not completed. */
typedef struct {
  uint16_t engine;  /* index in the table of engines */
  uint16_t before;  /* which visits are counted: 0 this one, 1 those in front of it */
  uint32_t count;   /* of instructions */
} sluice_wait_t;

/* A box of four axes, outermost first. 32 bytes. */
typedef struct {
  uint32_t extent[4]; /* elements, each >= 1 */
  uint32_t stride[4]; /* bytes; 0 repeats an element (reads only) */
} sluice_shape_t;

/* A box in memory: element i lies at base of slot + offset + sum of i[a] * stride[a].
 * 16 bytes. */
typedef struct {
  uint16_t slot;  /* of the block; its binding is the instance's */
  uint8_t dtype;  /* SLUICE_DTYPE_ of ops.h */
  uint8_t reserved;
  uint32_t shape; /* index of a shape */
  uint32_t offset_lo, offset_hi; /* bytes */
} sluice_operand_t;

/* A LOAD, STORE or FORWARD: copies src to dst, element by element; same dtype and extents.
 * It moves product of extents * bytes of an element, once, whatever the rectangle; off chip,
 * moved_bytes where that is not 0. A LOAD takes of one input or constant alone. 32 bytes.
 *   index (LOAD only): an int32 operand in GBUF of dst_node. Row i of axis 2 of dst is row
 *   index[i] of axis 2 of src, whose extent bounds the index. */
typedef struct {
  uint32_t src, dst; /* indices of operands */
  uint32_t index;    /* index of an operand, or SLUICE_NONE */
  uint16_t src_node; /* STORE, FORWARD: row * node_cols + column */
  uint16_t dst_node; /* LOAD, FORWARD: the rectangle's top left node, alike */
  uint16_t dst_cols, dst_rows; /* LOAD, FORWARD: nodes of the rectangle, each >= 1 */
  uint32_t kernel;     /* relative to the instance's first_kernel: its layer needs this */
  uint8_t role;        /* SLUICE_ROLE_: what the moved tensor is for that layer */
  uint8_t reserved0;
  uint16_t descriptors; /* LOAD, STORE: that the queue takes for it, >= 1; see Queue in
                           hardware.fbs. FORWARD: 0 */
  uint32_t moved_bytes; /* LOAD of an encoded tensor: bytes that leave its memory, fewer than
                           land or as many; else 0. See tensor_encoded_bytes in graph.fbs */
} sluice_transfer_t;

/* One tile of one layer; all operands in the GBUF of the engine's node. 64 bytes.
 *
 * output, or accumulator when not LAST, is the output box [n, p, q, k] with first
 *   element `origin` of the layer's output tensor. What each op reads for that box:
 *   conv family, pool, pad
 *     input0 starts at row p * stride - pad_before + pad[0] of the layer's input, where
 *     pad[0] is the number of padding rows in front of this tile: row i of the box, filter
 *     row r reads input0 row i * stride + r * dilation - pad[0], or padding when that is
 *     outside input0. pad[] = top, left, bottom, right of this tile, and
 *     (p - 1) * stride + (R - 1) * dilation + 1 = pad[0] + rows + pad[2]. Columns alike
 *     with pad[1], pad[3]. (PAD: stride 1, window 1: p = pad[0] + rows + pad[2]; along N
 *     and C input0 starts at max(0, origin - BEFORE), what lies outside it is padding.)
 *   transposed conv
 *     input0 holds exactly the rows that scatter into the box; when there are none, the
 *     last one in front of it, or the first of all.
 *   conv, fully connected, matmul
 *     sums over input channels [c_begin, c_end) of the layer (of each group): input0 and
 *     weight hold just these.
 *   grouped and depthwise conv
 *     input0 holds the channels of the groups in the box.
 *   transpose
 *     input0 in the input's axis order.
 *   weight gradient
 *     [c_begin, c_end) are rows of the error: of one image, or of whole images. input1
 *     holds these, all columns and the box's K; input0 the same images, the channels of
 *     the box and what the windows reach, with pads as of a convolution whose box is
 *     input1's rows and columns. R and S of the box are whole.
 *   max pool gradient
 *     input0 as for transposed conv; input1 what the windows of these rows and columns
 *     reach.
 *   everything else
 *     inputs hold the same box, extent 1 where they broadcast, and the whole of each axis
 *     the op reads whole (softmax, argmax: C; reduce: its axes; resize: the needed rows
 *     and columns).
 * Roles: weight = filter, LOOKUP's table; parameters = int32 [1,1,k,3];
 *   input1 = second input of binary ops, SOFTMAX's mask, BATCH_MATMUL's b,
 *   a gradient's second input.
 * accumulator: int32 [n, p, q, k]; SLUICE_NONE when both FIRST and LAST. Ops without a
 *   sum over C have both flags. */
typedef struct {
  uint32_t kernel;    /* relative to the instance's first_kernel */
  uint32_t cycles;    /* that the tile takes, >= 1 */
  uint32_t input0, input1, weight, parameters, accumulator, output; /* indices of operands,
                                                       or SLUICE_NONE */
  uint32_t origin[4]; /* N H W K of the box's first element in the layer's output */
  uint32_t c_begin, c_end; /* input channels summed over: [c_begin, c_end); both 0 for ops
                              without a sum over C */
  uint16_t pad[4];    /* padding rows and columns of this tile: top, left, bottom, right */
} sluice_tile_t;

/* One layer, on whole tensors: operands [first_operand, + inputs) are read, the next `outputs`
 * written. Of a GATHER's table the rows that its output has are read. Its inputs that are absent
 * have no operand. 32 bytes. */
typedef struct {
  uint32_t kernel;        /* relative to the instance's first_kernel */
  uint32_t first_operand; /* index of an operand */
  uint32_t inputs, outputs; /* how many */
  uint32_t cycles_lo, cycles_hi; /* that the host takes: as an OPAQUE layer declares, else
                                    by Host in hardware.fbs */
  uint32_t why;           /* SLUICE_WHY_ */
  uint32_t reserved;
} sluice_host_call_t;

#endif /* SLUICE_STREAM_H_ */
