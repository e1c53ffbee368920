/* SPDX-License-Identifier: Apache-2.0 */
/* For those who lower streams to machines whose engines order each other by tokens: VTA's
 * dependence queues, counting semaphores, mailboxes. C99. The rules at the head of sluice.h
 * hold here too. bindings/guides/lowering.md shows the use.
 *
 * A channel leads from one engine to another and counts tokens. An instruction that pops a
 * channel starts when a token is there, and takes it. An instruction that pushes one gives it
 * when the instruction completes; where the channel is full, it completes, and the next of
 * its engine starts, when there is room. Each engine runs its list in order; nothing else
 * synchronises. */
#ifndef SLUICE_LOWERING_H_
#define SLUICE_LOWERING_H_

#include "sluice/sluice.h"
#include "sluice/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SLUICE_TOKEN_CHANNELS_MAX 64 /* channels of one call: bits of a mask */

/* A channel of the target machine. At most one leads from one engine to another. */
typedef struct sluice_token_channel {
  uint32_t producer; /* index of an engine of the stream; it pushes */
  uint32_t consumer; /* index of another one; it pops */
  uint32_t depth;    /* tokens that it holds; 0: any number */
  uint32_t reserved;
} sluice_token_channel_t;

/* What an instruction does with tokens: at most one of each channel. */
typedef struct sluice_token_step {
  uint64_t pops;   /* bit c: one token of channel c, before it starts */
  uint64_t pushes; /* bit c: one token into channel c, when it completes */
} sluice_token_step_t;

/* An instruction that does nothing but pop and push. It passes tokens on where the stream
 * has a wait and no channel leads from the awaited engine to the waiting one. */
typedef struct sluice_token_relay {
  uint32_t engine; /* in whose list it stands */
  uint32_t before; /* number of the instruction of that list that comes after it, or
                      SLUICE_NO_INDEX: it stands at the list's end */
  sluice_token_step_t step; /* pops and pushes, at least one each */
} sluice_token_relay_t;

/* How a stream uses a channel. */
typedef struct sluice_token_use {
  uint64_t tokens; /* that go through it in one run */
  uint32_t
      outstanding; /* the most that may be in it, in any timing, where no channel is
                           ever full: a counter must be able to count up to this, and a
                           channel of this depth never makes anything wait */
  uint32_t
      least_depth; /* the least with which the stream ends while the other channels are
                           as given; 0: it is not used */
} sluice_token_use_t;

/* One visit of an instance of the stream. */
typedef struct sluice_visit {
  uint32_t instance;                /* index in the stream's table */
  uint32_t index[SLUICE_MAX_LOOPS]; /* iterations of the loops around it, the outermost
                                       first; 0 where there are fewer loops */
} sluice_visit_t;

/* The tokens of a stream. */
typedef struct sluice_token_lists sluice_token_lists_t;

/* What sluice_token_lists_t holds; the pointers are borrowed from it. Instructions are
 * numbered visit by visit, within one engine by engine: that of index i in the body of visit
 * v has number i + the sum of instruction_count of the bodies of the visits before v. */
typedef struct sluice_token_view {
  uint32_t struct_size;
  uint32_t instructions; /* entries of `instruction`: of all visits */
  uint32_t relays;       /* entries of `relay` */
  uint32_t channels;     /* entries of `channel`, as given */
  uint32_t
      common_depth; /* the least with which the stream ends when all channels have it;
                            0: no channel is used */
  uint32_t visits;  /* entries of `visit` */
  const sluice_token_step_t* instruction; /* by number */
  const sluice_token_relay_t* relay; /* engine by engine, in the order of their lists */
  const sluice_token_use_t* channel; /* by index of the channel */
  const sluice_visit_t* visit;       /* in the order in which all engines make them */
} sluice_token_view_t;

/* Derives the tokens of a stream: lists with these pops, pushes and relays, and without the
 * stream's waits, start no instruction before its waits would hold, in any timing, and end.
 * It needs engines that complete their instructions in the order of the list, and channels
 * that count: one that merges two tokens into one deadlocks.
 *   stream     the image of sluice_plan_stream, of a plan that has passed verify; 4-byte
 *              aligned; not kept
 *   channels   may be NULL where there are none
 * Errors: SLUICE_BAD_ARGUMENT: a channel names an engine that the stream does not have, or
 * leads where another leads. SLUICE_BAD_INPUT: the bytes are no stream, or its waits form a
 * cycle. SLUICE_INFEASIBLE, with its reason in `rule`: "path": an instruction (named) waits
 * for an engine from which no channels lead to its own; "depth": with the given depths the
 * lists deadlock; the message names a channel, the depth that is given and the one it needs
 * while the channels before it have what is given and those after it hold any number.
 * SLUICE_UNSUPPORTED: too many engines or instructions; or this library was built without
 * SLUICE_WITH_TOKENS. Time and memory are linear in instructions times engines. */
SLUICE_API sluice_status_t sluice_tokens(sluice_context_t* context, const void* stream,
                                         size_t stream_size,
                                         const sluice_token_channel_t* channels,
                                         uint32_t channel_count,
                                         sluice_token_lists_t** out_lists,
                                         sluice_diagnostic_t* diagnostic);
/* Gives the lists' memory back to their context. NULL: nothing. */
SLUICE_API void sluice_token_lists_destroy(sluice_token_lists_t* lists);
/* What the lists hold. */
SLUICE_API sluice_status_t sluice_token_lists_view(const sluice_token_lists_t* lists,
                                                   sluice_token_view_t* out_view);

/* The hash by which `sluice simulate --functional` tells outputs: byte-wise FNV-1a 64. Start
 * with SLUICE_OUTPUT_HASH_START and go on with the dense bytes (N H W C, little-endian) of
 * each tensor of kind SLUICE_TENSOR_OUTPUT, in the order of their indices in the graph;
 * nothing stands between two tensors. */
#define SLUICE_OUTPUT_HASH_START UINT64_C(0xcbf29ce484222325)
/* The hash after `size` more bytes. */
SLUICE_API uint64_t sluice_output_hash(uint64_t hash, const void* bytes, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* SLUICE_LOWERING_H_ */
