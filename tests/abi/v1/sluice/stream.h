/* SPDX-License-Identifier: Apache-2.0 */
/* The instruction stream: layout and meaning. Freestanding C99; firmware includes it.
 *
 * A stream is one contiguous, relocatable image, little-endian, 4-byte aligned:
 *
 *   header | directory | instances | bindings | kernels | attributes | patches | bodies
 *
 * Engines. Each engine runs its own list of instructions strictly in order. An
 *   instruction starts when its engine is free and all its waits hold; nothing else
 *   synchronises. Engine 0 is the DMA channel, engine 1 the host; node i has compute
 *   engine 2 + 2i and send engine 3 + 2i. A stream with N nodes has 2 + 2N engines.
 * Blocks. A block is a window of every engine's list. A body (instructions and side
 *   tables, all indices relative to the body) is described by its directory entry and
 *   may be used by many instances. All engines visit the instances in one order.
 *   Operands name slots; an instance binds each slot to (region, 64-bit base) and the
 *   body's kernels to a run of the kernel table. Only bindings are ever patched.
 * Parameters (KV position) are values known when a run starts. One enters addresses
 *   alone: for each patch, the driver or the walker takes base + value * step as the
 *   binding's base. Everything else is constant. A patched slot lies in region STATE
 *   and is only stored to, and that region is stored to through patched slots alone.
 * Waits hold on completion only; completion of an instruction implies that its effects
 *   are visible and that all earlier ones on that engine have completed.
 * Timing, in cycles: COMPUTE and HOST take what they declare; LOAD and STORE take
 *   latency + ceil(bytes * denominator / numerator) of the DRAM bandwidth; FORWARD
 *   takes hop latency * farthest hops + ceil(bytes / link bandwidth). An instruction
 *   whose engine is free and whose waits hold at t starts at t; completions at t come
 *   before starts at t. No instruction takes zero cycles or moves zero bytes.
 * Regions. Addresses are (region, offset in bytes). The driver places each region
 *   anywhere aligned to region_alignment; GBUF offsets are within one node's scratchpad.
 *
 * What the parts are for. Several nodes: rectangles in transfers, a send engine and a
 *   compute engine per node. Spills: STOREs to and LOADs from WORKSPACE. Slices along K:
 *   boxes; along C: FIRST and LAST with an accumulator. KV caches: region STATE with
 *   patches. Repeated layers: one body, many instances. Rescheduling: a body, its
 *   directory entry, its bindings and two hashes are replaced, the rest stays. Several
 *   models in one scratchpad: each stream's GBUF slots are bound like any other region.
 *
 * Hashes are FNV-1a 64 with little-endian 32-bit words in place of bytes.
 *
 * Every struct has a fixed size, a multiple of 8 bytes, and only fields of at most four
 * bytes; reserved fields are zero. 64-bit values are two words, low first. */
#ifndef SLUICE_STREAM_H_
#define SLUICE_STREAM_H_

#include <stdint.h>

#define SLUICE_STREAM_MAGIC 0x31534C53u /* "SLS1" */
#define SLUICE_STREAM_VERSION 0u
#define SLUICE_NONE 0xffffffffu /* no operand, no index */

enum { SLUICE_ENGINE_DMA = 0, SLUICE_ENGINE_HOST = 1, SLUICE_ENGINE_NODE0 = 2 };
#define SLUICE_ENGINE_COMPUTE(node) (2u + 2u * (uint32_t)(node))
#define SLUICE_ENGINE_SEND(node) (3u + 2u * (uint32_t)(node))

enum {                              /* regions */
       SLUICE_REGION_GBUF = 0,      /* scratchpad of the node the instruction names */
       SLUICE_REGION_CONST = 1,     /* weights and parameters, read only */
       SLUICE_REGION_INPUT = 2,     /* graph inputs, read only */
       SLUICE_REGION_OUTPUT = 3,    /* graph outputs */
       SLUICE_REGION_STATE = 4,     /* persists over runs, starts zeroed (KV cache) */
       SLUICE_REGION_WORKSPACE = 5, /* intermediate tensors, spills, partial sums */
       SLUICE_REGION_COUNT = 6
};

enum {                          /* opcodes */
       SLUICE_OPCODE_LOAD = 1,  /* DRAM -> GBUF of a rectangle of nodes; engine DMA */
       SLUICE_OPCODE_STORE = 2, /* GBUF of one node -> DRAM; engine DMA */
       SLUICE_OPCODE_FORWARD =
           3, /* GBUF of a node -> GBUF of a rectangle; engine send */
       SLUICE_OPCODE_COMPUTE = 4, /* one tile of one layer; engine compute */
       SLUICE_OPCODE_HOST = 5     /* one opaque layer, DRAM to DRAM; engine host */
};

typedef struct { /* 176 bytes at offset 0 */
  uint32_t magic;
  uint32_t version;
  uint32_t size_bytes;       /* of the whole image, multiple of 16 */
  uint32_t flags;            /* 0 */
  uint32_t hash_lo, hash_hi; /* of all words after the header */
  uint32_t node_cols, node_rows;
  uint32_t block_count, block_offset; /* sluice_block_t[], offsets from image start */
  uint32_t instance_count, instance_offset;   /* sluice_instance_t[] */
  uint32_t binding_count, binding_offset;     /* sluice_binding_t[] */
  uint32_t kernel_count, kernel_offset;       /* sluice_kernel_t[] */
  uint32_t attribute_count, attribute_offset; /* int32[] */
  uint32_t region_alignment;                  /* bytes, power of two */
  uint32_t gbuf_bytes_lo, gbuf_bytes_hi;      /* capacity the stream was made for */
  uint32_t reserved0;
  uint32_t region_bytes[SLUICE_REGION_COUNT][2]; /* bytes needed, low and high word */
  uint32_t patch_count, patch_offset;            /* sluice_patch_t[] */
  uint32_t reserved[8];
} sluice_stream_header_t;

/* One body. Offsets are bytes from the start of the image. 112 bytes. */
typedef struct {
  uint32_t body_offset, body_bytes; /* multiple of 16 */
  uint32_t hash_lo, hash_hi;        /* of the body's words */
  uint32_t slot_count;              /* bindings per instance */
  uint32_t kernel_count;            /* kernels per instance */
  uint32_t list_offset; /* uint32[engines + 1]: engine e runs instructions list[e] up
                           to, not including, list[e + 1] */
  uint32_t flags;       /* 0 */
  uint32_t instruction_count, instruction_offset; /* sluice_instruction_t[] */
  uint32_t wait_count, wait_offset;               /* sluice_wait_t[] */
  uint32_t tile_count, tile_offset;               /* sluice_tile_t[] */
  uint32_t transfer_count, transfer_offset;       /* sluice_transfer_t[] */
  uint32_t host_call_count, host_call_offset;     /* sluice_host_call_t[] */
  uint32_t operand_count, operand_offset;         /* sluice_operand_t[] */
  uint32_t shape_count, shape_offset;             /* sluice_shape_t[] */
  uint32_t export_count, export_offset;           /* sluice_export_t[] */
  uint32_t reserved[4];
} sluice_block_t;

typedef struct { /* one use of a body; 16 bytes */
  uint32_t block;
  uint32_t first_binding; /* slot s is binding[first_binding + s] */
  uint32_t first_kernel;  /* tile.kernel k is kernel[first_kernel + k] */
  uint32_t reserved;
} sluice_instance_t;

typedef struct { /* where a slot lies; 16 bytes */
  uint32_t region;
  uint32_t base_lo, base_hi; /* bytes from the start of the region */
  uint32_t reserved;
} sluice_binding_t;

/* The binding's base for a run is base + value of the parameter * step; without a patch
 * it is base. Patches are in ascending order of binding, at most one each. 16 bytes. */
typedef struct {
  uint32_t binding;
  uint32_t parameter;        /* of the graph */
  uint32_t step_lo, step_hi; /* bytes, below 2^32 */
} sluice_patch_t;

/* What a tile computes: the attributes of one graph layer. A convolution that takes
 * over a PAD in front of it has the PAD's pads added to its own and reads the PAD's
 * input. 16 bytes. */
typedef struct {
  uint16_t op; /* SLUICE_OP_ */
  uint16_t attribute_count;
  uint32_t first_attribute;
  uint32_t layer; /* graph layer */
  uint32_t reserved;
} sluice_kernel_t;

typedef struct { /* 16 bytes */
  uint8_t opcode;
  uint8_t flags; /* SLUICE_FLAG_ of COMPUTE, else 0 */
  uint16_t wait_count;
  uint32_t descriptor; /* index of a tile, transfer or host call, by opcode */
  uint32_t first_wait;
  uint32_t reserved;
} sluice_instruction_t;

enum {
  SLUICE_FLAG_FIRST = 1, /* clears the accumulator before it adds */
  SLUICE_FLAG_LAST = 2   /* adds bias, requantises and writes the output */
};

/* instance == 0: at least `count` (>= 1) of this instance's instructions on `engine`
 *   have completed.
 * instance < 0: export number `count` of the block of the instance that lies -instance
 *   before this one holds; engine is 0. 8 bytes. */
typedef struct {
  uint16_t engine;
  int16_t instance;
  uint32_t count;
} sluice_wait_t;

typedef struct { /* at least `count` (>= 1) of engine's instructions; 8 bytes */
  uint32_t engine;
  uint32_t count;
} sluice_export_t;

/* A box of up to four axes, outermost first. extent in elements, >= 1; stride in bytes;
 * stride 0 repeats an element (reads only). 32 bytes. */
typedef struct {
  uint32_t extent[4];
  uint32_t stride[4];
} sluice_shape_t;

/* Address of element i = base of slot + offset + sum i[a] * stride[a]. 16 bytes. */
typedef struct {
  uint16_t slot;
  uint8_t dtype; /* SLUICE_DTYPE_ */
  uint8_t reserved;
  uint32_t shape;
  uint32_t offset_lo, offset_hi;
} sluice_operand_t;

/* LOAD, STORE, FORWARD copy src to dst, element by element; same dtype and extents.
 * bytes moved = product of extents * size of an element, once, whatever the rectangle.
 * With `index` (LOAD only), an int32 operand in GBUF of dst_node: row i of axis 2 of
 * dst is row index[i] of axis 2 of src; the extents of src's axis 2 bound the index. 32
 * bytes. */
typedef struct {
  uint32_t src, dst; /* operands */
  uint32_t index;    /* operand or SLUICE_NONE */
  uint16_t src_node; /* STORE, FORWARD */
  uint16_t dst_node; /* LOAD, FORWARD: top left node (row * node_cols + col) */
  uint16_t dst_cols, dst_rows; /* LOAD, FORWARD: rectangle, each >= 1 */
  uint32_t reserved[3];
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
 *   sum over C always are both. c_begin = c_end = 0 for ops that do not sum over C. */
typedef struct {
  uint32_t kernel; /* relative to the instance's first_kernel */
  uint32_t cycles; /* >= 1 */
  uint32_t input0, input1, weight, parameters, accumulator, output; /* operands */
  uint32_t origin[4];
  uint32_t c_begin, c_end;
  uint16_t pad[4];
} sluice_tile_t;

/* Operands [first_operand, + inputs) are read, the next `outputs` written. 32 bytes. */
typedef struct {
  uint32_t kernel;
  uint32_t first_operand;
  uint32_t inputs, outputs;
  uint32_t cycles_lo, cycles_hi;
  uint32_t reserved[2];
} sluice_host_call_t;

#endif /* SLUICE_STREAM_H_ */
