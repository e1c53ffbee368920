/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of one run with their tokens, and where the scratchpad's bytes lie. */
#include "sluice_vta_internal.h"

/* ---- instructions and tokens ------------------------------------------------------------ */

void vta_put_bits(unsigned char* bytes, uint32_t low, uint32_t width, uint32_t value) {
  uint32_t i;
  for (i = 0; i < width; ++i) {
    if ((value >> i & 1) != 0)
      bytes[(low + i) / 8] |= (unsigned char)(1u << ((low + i) % 8));
  }
}

void vta_need(needs_t* n, uint32_t module, uint64_t number) {
  if (number > n->after[module]) n->after[module] = number;
}

/* Orders instruction `x` of module `a` behind one of its neighbour `b`: a token of its own,
 * made with both ends, so that none remains and the first pushed is the first popped. */
static void order(state_t* s, unsigned char* x, uint32_t a, uint32_t b,
                  uint64_t number) {
  unsigned char* y;
  if (number <= s->run_start || number <= s->seen[a][b]) return;
  y = s->queue[number - 1 - s->run_start];
  y[0] |= (unsigned char)(b < a ? PUSH_NEXT : PUSH_PREV);
  x[0] |= (unsigned char)(b < a ? POP_PREV : POP_NEXT);
  s->seen[a][b] = number;
  ++s->pushes;
}

/* Appends an instruction; answers its number + 1. The step has reserved the room. */
uint64_t vta_emit(state_t* s, uint32_t module, const unsigned char* bytes,
                  const needs_t* n) {
  unsigned char* x = s->queue[s->queued];
  memcpy(x, bytes, 16);
  s->module[s->queued] = (unsigned char)module;
  if (module > 0) order(s, x, module, module - 1, n->after[module - 1]);
  if (module < 2) order(s, x, module, module + 1, n->after[module + 1]);
  ++s->queued;
  return s->last[module] = s->run_start + s->queued;
}

/* Ends the run: FINISH comes after everything, the port runs it. */
int vta_flush(state_t* s) {
  unsigned char bytes[16] = {OP_FINISH};
  needs_t n = {{0, 0, 0}};
  uint32_t i;
  if (s->queued == 0) return SLUICE_VTA_OK;
  vta_need(&n, LOAD, s->last[LOAD]);
  vta_need(&n, STORE, s->last[STORE]);
  (void)vta_emit(s, COMPUTE, bytes, &n);
  ++s->counts->finishes;
  for (i = 0; i < s->queued; ++i) {
    if (s->port->instruction(s->port->user, s->queue[i]) != 0) {
      return fail(s, SLUICE_VTA_PORT, "the port refused an instruction");
    }
  }
  if (s->port->run(s->port->user) != 0) return fail(s, SLUICE_VTA_PORT, "a run failed");
  s->run_start += s->queued;
  s->queued = 0;
  s->pushes = 0;
  s->staged = ZERO_ROWS;
  return SLUICE_VTA_OK;
}

/* Room for one step: nothing that it stages or queues is run before it is complete. */
int vta_reserve(state_t* s) {
  if (s->queued + STEP_INSTRUCTIONS <= SLUICE_VTA_QUEUE && s->pushes <= STEP_PUSHES &&
      s->staged + STEP_BYTES <= SLUICE_VTA_STAGING) {
    return SLUICE_VTA_OK;
  }
  return vta_flush(s);
}

uint32_t vta_stage(state_t* s, uint32_t bytes) {
  const uint32_t at = s->staged;
  s->staged += (bytes + 255) / 256 * 256;
  return s->input->staging + at;
}

void vta_memory_bits(unsigned char* b, uint32_t kind, uint32_t sram, uint32_t dram,
                     uint32_t y, uint32_t x, uint32_t stride) {
  memset(b, 0, 16);
  b[0] = kind == KIND_OUT ? OP_STORE : OP_LOAD;
  vta_put_bits(b, 7, 3, kind);
  vta_put_bits(b, 10, 16, sram);
  vta_put_bits(b, 26, 32, dram);
  vta_put_bits(b, 64, 16, y);
  vta_put_bits(b, 80, 16, x);
  vta_put_bits(b, 96, 16, stride);
}

/* A LOAD into INP or WGT: after all that read or wrote the entries. */
void vta_load(state_t* s, uint32_t kind, uint32_t sram, uint32_t dram, uint32_t y,
              uint32_t x, uint32_t stride) {
  struct sluice_vta_buffer* b = kind == KIND_INP ? &s->inp : &s->wgt;
  unsigned char bytes[16];
  needs_t n = {{0, 0, 0}};
  uint64_t number;
  uint32_t i;
  vta_memory_bits(bytes, kind, sram, dram, y, x, stride);
  for (i = sram; i < sram + x * y; ++i) vta_need(&n, COMPUTE, b->read[i]);
  number = vta_emit(s, LOAD, bytes, &n);
  for (i = sram; i < sram + x * y; ++i) b->written[i] = number;
  ++s->counts->loads;
  if (kind == KIND_INP) s->counts->input_bytes += (uint64_t)x * y * 16;
  if (kind == KIND_WGT) s->counts->weight_bytes += (uint64_t)x * y * 256;
}

/* Micro-ops at `first` of the buffer, unless they are there. In order: compute loads them. */
int vta_micro_ops(state_t* s, uint32_t first, const uint32_t* list, uint32_t count) {
  unsigned char bytes[16];
  needs_t n = {{0, 0, 0}};
  const uint32_t at = s->staged;
  if (memcmp(s->uop + first, list, count * sizeof *list) == 0) return SLUICE_VTA_OK;
  memcpy(s->uop + first, list, count * sizeof *list);
  (void)vta_stage(s, count * 4);
  if (s->port->write(s->port->user, s->input->staging + at, list, count * 4) != 0) {
    return fail(s, SLUICE_VTA_PORT, "a write failed");
  }
  vta_memory_bits(bytes, KIND_UOP, first, (s->input->staging + at) / 4, 1, count,
                  count);
  (void)vta_emit(s, COMPUTE, bytes, &n);
  ++s->counts->loads;
  s->counts->uops += count;
  s->counts->uop_bytes += (uint64_t)count * 4;
  return SLUICE_VTA_OK;
}

void vta_loop_bits(unsigned char* b, uint32_t opcode, const loops_t* l) {
  memset(b, 0, 16);
  b[0] = (unsigned char)opcode;
  vta_put_bits(b, 8, 13, l->first);
  vta_put_bits(b, 21, 14, l->last);
  vta_put_bits(b, 35, 14, l->outer);
  vta_put_bits(b, 49, 14, l->inner);
  vta_put_bits(b, 64, 11, l->dst_outer);
  vta_put_bits(b, 75, 11, l->dst_inner);
  vta_put_bits(b, 86, 11, l->src_outer);
  vta_put_bits(b, 97, 11, l->src_inner);
}

/* A GEMM or ALU instruction that writes entries [first, first + count) of ACC and OUT. */
void vta_compute(state_t* s, const unsigned char* bytes, needs_t* n, uint32_t first,
                 uint32_t count) {
  uint64_t number;
  uint32_t i;
  for (i = first; i < first + count; ++i) vta_need(n, STORE, s->out_read[i]);
  number = vta_emit(s, COMPUTE, bytes, n);
  for (i = first; i < first + count; ++i) s->out_written[i] = number;
}

int vta_alu(state_t* s, uint32_t op, uint32_t slot, uint32_t uop, const loops_t* l,
            int32_t immediate, uint32_t first, uint32_t count) {
  unsigned char bytes[16];
  needs_t n = {{0, 0, 0}};
  loops_t loops = *l;
  const int code = vta_micro_ops(s, slot, &uop, 1);
  if (code != SLUICE_VTA_OK) return code;
  loops.first = slot;
  loops.last = slot + 1;
  vta_loop_bits(bytes, OP_ALU, &loops);
  vta_put_bits(bytes, 108, 3, op);
  vta_put_bits(bytes, 111, 1, op == ALU_SHR);
  vta_put_bits(bytes, 112, 16, (uint32_t)immediate & 0xffffu);
  vta_compute(s, bytes, &n, first, count);
  ++s->counts->alus;
  s->counts->alu_cycles += (uint64_t)l->outer * l->inner;
  return SLUICE_VTA_OK;
}

int vta_clear(state_t* s, uint32_t first, uint32_t count) {
  unsigned char bytes[16];
  needs_t n = {{0, 0, 0}};
  loops_t l = {UOP_RESET, UOP_RESET + 1, 1, 0, 0, 1, 0, 0, 0, 0};
  const int code = vta_micro_ops(s, UOP_RESET, &first, 1);
  if (code != SLUICE_VTA_OK) return code;
  l.inner = count;
  vta_loop_bits(bytes, OP_GEMM, &l);
  vta_put_bits(bytes, 7, 1, 1);
  vta_compute(s, bytes, &n, first, count);
  ++s->counts->gemms;
  s->counts->gemm_cycles += count;
  return SLUICE_VTA_OK;
}

/* ---- the scratchpad's bytes: where each lies in DRAM ------------------------------------ */

/* Reads bytes of the scratchpad, run by run of places without a gap. */
int vta_get(state_t* s, uint64_t at, uint32_t bytes, unsigned char* to) {
  const uint32_t* home = s->input->home;
  while (bytes != 0) {
    uint32_t n = 1;
    if (at + bytes > s->input->home_count) {
      return fail(s, SLUICE_VTA_BAD_STREAM, "an operand outside of the scratchpad");
    }
    while (n < bytes && home[at + n] == home[at] + n) ++n;
    if (s->port->read(s->port->user, home[at], to, n) != 0) {
      return fail(s, SLUICE_VTA_PORT, "a read failed");
    }
    at += n;
    to += n;
    bytes -= n;
  }
  return SLUICE_VTA_OK;
}

/* Writes bytes of the scratchpad into its image. */
int vta_put(state_t* s, uint64_t at, uint32_t bytes, const unsigned char* from) {
  const uint32_t image = s->input->region[SLUICE_REGION_GBUF] + (uint32_t)at;
  uint32_t i;
  if (at + bytes > s->input->home_count) {
    return fail(s, SLUICE_VTA_BAD_STREAM, "an operand outside of the scratchpad");
  }
  if (s->port->write(s->port->user, image, from, bytes) != 0) {
    return fail(s, SLUICE_VTA_PORT, "a write failed");
  }
  for (i = 0; i < bytes; ++i) s->input->home[at + i] = image + i;
  return SLUICE_VTA_OK;
}

/* DRAM [begin, end) is about to change: bytes of the scratchpad that lie there move. */
int vta_protect(state_t* s, uint32_t begin, uint64_t end) {
  uint32_t i;
  for (i = 0; i < s->input->home_count; ++i) {
    unsigned char byte;
    int code;
    if (s->input->home[i] < begin || s->input->home[i] >= end) continue;
    code = vta_get(s, i, 1, &byte);
    if (code == SLUICE_VTA_OK) code = vta_put(s, i, 1, &byte);
    if (code != SLUICE_VTA_OK) return code;
  }
  return SLUICE_VTA_OK;
}

/* Bytes [begin, end) of the scratchpad have changed. */
void vta_forget(state_t* s, uint64_t begin, uint64_t end) {
  uint32_t i;
  for (i = 0; i < SLUICE_VTA_BOXES; ++i) {
    box_t* a = &s->inp.box[i];
    box_t* b = &s->wgt.box[i];
    if (a->begin < end && begin < a->end) a->end = a->begin;
    if (b->begin < end && begin < b->end) b->end = b->begin;
  }
}
