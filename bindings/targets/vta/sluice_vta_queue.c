/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of one run with their tokens, and what the buffers hold. */
#include "sluice_vta_internal.h"

enum { POP_PREV = 8, POP_NEXT = 16, PUSH_PREV = 32, PUSH_NEXT = 64 };
enum { STEP_INSTRUCTIONS = 4200, STEP_BYTES = 400 << 10, STEP_PUSHES = 200 };

static void put_bits(unsigned char* bytes, uint32_t low, uint32_t width,
                     uint32_t value) {
  uint32_t i;
  for (i = low; i < low + width; ++i, value >>= 1) {
    bytes[i / 8] |= (unsigned char)((value & 1) << i % 8);
  }
}

/* Orders instruction `x` of module `a` behind one of its neighbour `b`: a token of its own,
 * made with both ends, so that none remains and the first pushed is the first popped. */
static void order(state_t* s, unsigned char* x, uint32_t a, uint32_t b,
                  uint64_t number) {
  if (number <= s->run_start || number <= s->seen[a][b]) return;
  s->queue[number - 1 - s->run_start][0] |=
      (unsigned char)(b < a ? PUSH_NEXT : PUSH_PREV);
  x[0] |= (unsigned char)(b < a ? POP_PREV : POP_NEXT);
  s->seen[a][b] = number;
  ++s->pushes;
}

/* Appends an instruction behind others of the module before its own and the one behind it;
 * answers its number + 1. The step has reserved the room. */
static uint64_t emit(state_t* s, uint32_t module, const unsigned char* bytes,
                     uint64_t previous, uint64_t next) {
  unsigned char* x = s->queue[s->queued];
  memcpy(x, bytes, 16);
  ++s->counts->instructions[bytes[0] & 7];
  if (module > LOAD) order(s, x, module, module - 1, previous);
  if (module < STORE) order(s, x, module, module + 1, next);
  ++s->queued;
  return s->last[module] = s->run_start + s->queued;
}

void vta_flush(state_t* s) {
  const unsigned char bytes[16] = {SLUICE_VTA_FINISH};
  uint32_t i;
  if (s->queued == 0) return;
  (void)emit(s, COMPUTE, bytes, s->last[LOAD], s->last[STORE]);
  for (i = 0; i < s->queued && !s->code; ++i) {
    if (s->port->instruction(s->port->user, s->queue[i]) != 0)
      fail(s, SLUICE_VTA_PORT, "the port refused an instruction");
  }
  if (!s->code && s->port->run(s->port->user) != 0)
    fail(s, SLUICE_VTA_PORT, "a run failed");
  s->run_start += s->queued;
  s->queued = s->pushes = 0;
  s->staged = ZERO_ROWS;
}

void vta_reserve(state_t* s) {
  if (s->queued + STEP_INSTRUCTIONS > SLUICE_VTA_QUEUE || s->pushes > STEP_PUSHES ||
      s->staged + STEP_BYTES > SLUICE_VTA_STAGING) {
    vta_flush(s);
  }
}

void vta_read(state_t* s, uint32_t address, void* to, uint32_t bytes) {
  if (s->code || s->port->read(s->port->user, address, to, bytes) != 0) {
    fail(s, SLUICE_VTA_PORT, "a read failed");
    memset(to, 0, bytes);
  }
}

void vta_write(state_t* s, uint32_t address, const void* from, uint32_t bytes) {
  if (!s->code && s->port->write(s->port->user, address, from, bytes) != 0)
    fail(s, SLUICE_VTA_PORT, "a write failed");
}

uint32_t vta_stage(state_t* s, uint32_t bytes) {
  const uint32_t at = s->staged;
  s->staged += (bytes + 255) / 256 * 256;
  return s->input->staging + at;
}

void vta_move(state_t* s, uint32_t memory, uint32_t sram, uint32_t dram, uint32_t y,
              uint32_t x, uint32_t stride, box_t* box) {
  static const uint32_t size[SLUICE_VTA_MEMORIES] = {4, 256, 16, 64, 16};
  static const unsigned char module[SLUICE_VTA_MEMORIES] = {COMPUTE, LOAD, LOAD,
                                                            COMPUTE, STORE};
  const uint32_t by = module[memory];
  unsigned char b[16] = {SLUICE_VTA_LOAD};
  uint64_t number;
  if (by == STORE) b[0] = SLUICE_VTA_STORE;
  put_bits(b, 7, 3, memory);
  put_bits(b, 10, 16, sram);
  put_bits(b, 26, 32, dram / size[memory]);
  put_bits(b, 64, 16, y);
  put_bits(b, 80, 16, x);
  put_bits(b, 96, 16, stride);
  number = emit(s, by, b, by == STORE ? s->last[COMPUTE] : 0,
                by == LOAD ? s->buffer[memory].read : 0);
  if (box != NULL) box->written = number;
  s->counts->moved[memory] += (uint64_t)x * y * size[memory];
}

/* Entries of the micro-op buffer that hold this list. Compute loads it, so in order. */
static uint32_t micro_ops(state_t* s, const uint32_t* list, uint32_t count) {
  static const uint32_t key[14] = {0};
  struct sluice_vta_buffer* b = &s->buffer[SLUICE_VTA_OF_UOP];
  box_t* x;
  uint32_t i, at;
  for (i = 0; i < SLUICE_VTA_BOXES; ++i) {
    at = b->box[i].first;
    if (b->box[i].count == count && memcmp(s->uop + at, list, count * 4) == 0)
      return at;
  }
  x = vta_take(b, key, count);
  memcpy(s->uop + x->first, list, count * 4);
  at = vta_stage(s, count * 4);
  vta_move(s, SLUICE_VTA_OF_UOP, x->first, at, 1, count, count, x);
  vta_write(s, at, list, count * 4);
  return x->first;
}

/* Compute writes ACC and OUT: STOREs of OUT come first. */
static void compute(state_t* s, unsigned char* b, const uint32_t* list, uint32_t count,
                    const loops_t* l, uint64_t loaded) {
  const uint32_t first = micro_ops(s, list, count);
  put_bits(b, 8, 13, first);
  put_bits(b, 21, 14, first + count);
  put_bits(b, 35, 14, l->outer);
  put_bits(b, 49, 14, l->inner);
  put_bits(b, 64, 11, l->dst_outer);
  put_bits(b, 75, 11, l->dst_inner);
  put_bits(b, 86, 11, l->src_outer);
  put_bits(b, 97, 11, l->src_inner);
  (void)emit(s, COMPUTE, b, loaded, s->last[STORE]);
}

void vta_gemm(state_t* s, const uint32_t* list, uint32_t count, const loops_t* l,
              box_t* in, box_t* w) {
  unsigned char b[16] = {SLUICE_VTA_GEMM};
  uint64_t loaded = 0;
  put_bits(b, 7, 1, in == NULL);
  put_bits(b, 108, 10, l->wgt_outer);
  put_bits(b, 118, 10, l->wgt_inner);
  if (in != NULL) loaded = in->written > w->written ? in->written : w->written;
  compute(s, b, list, count, l, loaded);
  if (in != NULL) in->read = w->read = s->last[COMPUTE];
  s->counts->gemm_cycles += (uint64_t)count * l->outer * l->inner;
}

void vta_alu(state_t* s, uint32_t op, uint32_t uop, const loops_t* l,
             uint32_t immediate) {
  unsigned char b[16] = {SLUICE_VTA_ALU};
  put_bits(b, 108, 4, op);
  put_bits(b, 112, 16, immediate);
  s->counts->alu_cycles += (uint64_t)l->outer * l->inner;
  compute(s, b, &uop, 1, l, 0);
}

box_t* vta_find(struct sluice_vta_buffer* b, const uint32_t key[14]) {
  uint32_t i;
  for (i = 0; i < SLUICE_VTA_BOXES; ++i) {
    box_t* x = &b->box[i];
    if (x->begin[0] != x->end[0] && memcmp(x->key, key, sizeof x->key) == 0) return x;
  }
  return NULL;
}

box_t* vta_take(struct sluice_vta_buffer* b, const uint32_t key[14], uint32_t count) {
  box_t* x = &b->box[b->next_box];
  uint32_t i;
  b->next_box = (b->next_box + 1) % SLUICE_VTA_BOXES;
  if (b->next + count > b->end) b->next = b->first;
  for (i = 0; i < SLUICE_VTA_BOXES; ++i) {
    box_t* old = &b->box[i];
    if (old != x &&
        (old->first >= b->next + count || b->next >= old->first + old->count)) {
      continue;
    }
    if (old->read > b->read) b->read = old->read;
    memset(old, 0, sizeof *old);
  }
  memcpy(x->key, key, sizeof x->key);
  x->first = b->next;
  x->count = count;
  b->next += count;
  return x;
}
