/* SPDX-License-Identifier: Apache-2.0 */
/* sluice_walk_open: the one linear pass over an untrusted image. */
#include "walker.h"

/* All of libc that is needed; freestanding compilers have no string.h. */
void* memcpy(void* to, const void* from, size_t bytes);
void* memset(void* to, int value, size_t bytes);

#define MAX_OFFSET ((uint64_t)1 << 62) /* keeps every sum of offsets within 64 bits */

typedef struct { /* first the fields that small cores reach with a short offset */
  const unsigned char* image;
  uint32_t engines, nodes, visits;
  uint32_t next_first;       /* where the next loop may start */
  uint32_t next_loop, inner; /* of the instance being checked */
  sluice_engine_t engine;    /* whose list is being checked */
  sluice_block_t block;      /* the body being checked */
  sluice_walk_error_t error;
  sluice_stream_header_t header;
} check_t;

static sluice_walk_status_t fail(check_t* c, sluice_walk_status_t status,
                                 uint32_t index) {
  c->error.status = status;
  c->error.index = index;
  return status;
}

#define TRY(expression)                                    \
  do {                                                     \
    const sluice_walk_status_t try_status_ = (expression); \
    if (try_status_ != SLUICE_WALK_OK) return try_status_; \
  } while (0)

static void read(const check_t* c, uint32_t table, uint32_t index, void* record,
                 uint32_t size) {
  memcpy(record, c->image + table + (size_t)index * size, size);
}

static uint64_t fnv1a(const unsigned char* bytes, size_t size) {
  uint64_t hash = 0xcbf29ce484222325u;
  size_t i;
  for (i = 0; i + 4 <= size; i += 4) {
    uint32_t word;
    memcpy(&word, bytes + i, 4);
    hash = (hash ^ word) * 0x100000001b3u;
  }
  return hash;
}

static int all_zero(const uint32_t* word, uint32_t count) {
  while (count > 0 && word[count - 1] == 0) --count;
  return count == 0;
}

static uint64_t words(uint32_t lo, uint32_t hi) { return lo | (uint64_t)hi << 32; }

/* Per table: the header word at which (count, offset) stands, and the record size. */
typedef struct {
  uint8_t word;
  uint8_t bytes;
} table_t;

#define HEADER(field) ((uint8_t)(offsetof(sluice_stream_header_t, field) / 4))

static const table_t kTables[] = {
    {HEADER(engine_count), sizeof(sluice_engine_t)},
    {HEADER(block_count), sizeof(sluice_block_t)},
    {HEADER(instance_count), sizeof(sluice_instance_t)},
    {HEADER(loop_count), sizeof(sluice_loop_t)},
    {HEADER(step_count), 4},
    {HEADER(binding_count), sizeof(sluice_binding_t)},
    {HEADER(kernel_count), sizeof(sluice_kernel_t)},
    {HEADER(attribute_count), 4},
    {HEADER(patch_count), sizeof(sluice_patch_t)},
};

/* Record sizes of a body's tables, in the order of sluice_block_t's counts. */
static const uint8_t kRecordBytes[] = {
    sizeof(sluice_instruction_t), sizeof(sluice_wait_t),      sizeof(sluice_tile_t),
    sizeof(sluice_transfer_t),    sizeof(sluice_host_call_t), sizeof(sluice_operand_t),
    sizeof(sluice_shape_t),
};

/* table: count, offset. True if [offset, + count * size) lies in [*from, to) and is
 * 4-byte aligned; then moves *from to its end. An empty table may have any offset. */
static int table_fits(uint64_t* from, uint64_t to, const uint32_t* table,
                      uint32_t size) {
  const uint32_t count = table[0], offset = table[1];
  const uint64_t end = offset + (uint64_t)count * size;
  if (count == 0) return 1;
  if (offset % 4 != 0 || offset < *from || end > to) return 0;
  *from = end;
  return 1;
}

static sluice_walk_status_t check_header(check_t* c, size_t size, uint64_t* bodies) {
  const sluice_stream_header_t* h = &c->header;
  const uint64_t gbuf = words(h->gbuf_bytes_lo, h->gbuf_bytes_hi);
  uint32_t i;
  uint64_t at = sizeof *h;
  if (h->magic != SLUICE_STREAM_MAGIC) return fail(c, SLUICE_WALK_MAGIC, 0);
  if (h->version != SLUICE_STREAM_VERSION) return fail(c, SLUICE_WALK_VERSION, 0);
  if (h->size_bytes != size || size % 16 != 0) return fail(c, SLUICE_WALK_SIZE, 0);
  if (h->flags != 0 || h->reserved0 != 0) return fail(c, SLUICE_WALK_RESERVED, 0);
  if (!all_zero(h->reserved, 2)) return fail(c, SLUICE_WALK_RESERVED, 0);
  if (h->node_cols == 0 || h->node_rows == 0 || h->node_cols > 0x7ffe ||
      h->node_rows > 0x7ffe || h->node_cols * h->node_rows > 0x7ffe) {
    return fail(c, SLUICE_WALK_NODES, 0);
  }
  if (h->engine_count == 0 || h->engine_count > 0xffff) {
    return fail(c, SLUICE_WALK_ENGINE, 0);
  }
  c->engines = h->engine_count;
  c->nodes = h->node_cols * h->node_rows;
  if (h->region_alignment == 0 || (h->region_alignment & (h->region_alignment - 1))) {
    return fail(c, SLUICE_WALK_ALIGNMENT, 0);
  }
  for (i = 0; i < SLUICE_REGION_COUNT; ++i) {
    const uint64_t bytes = words(h->region_bytes[i][0], h->region_bytes[i][1]);
    if (bytes > MAX_OFFSET || (i == SLUICE_REGION_GBUF && bytes > gbuf)) {
      return fail(c, SLUICE_WALK_CAPACITY, i);
    }
  }
  for (i = 0; i < sizeof kTables / sizeof kTables[0]; ++i) {
    if (!table_fits(&at, size, (const uint32_t*)h + kTables[i].word,
                    kTables[i].bytes)) {
      return fail(c, SLUICE_WALK_SECTION, i);
    }
  }
  if (fnv1a(c->image + sizeof *h, size - sizeof *h) != words(h->hash_lo, h->hash_hi)) {
    return fail(c, SLUICE_WALK_HASH, 0);
  }
  *bodies = at;
  return SLUICE_WALK_OK;
}

/* Transfers may serve all nodes; a tile or a FORWARD belongs to one. */
static sluice_walk_status_t check_engines(check_t* c) {
  const sluice_engine_t* e = &c->engine;
  uint32_t i;
  for (i = 0; i < c->engines; ++i) {
    read(c, c->header.engine_offset, i, &c->engine, sizeof c->engine);
    if (e->does - 1u > 30 || e->roles > SLUICE_ROLES || e->reserved != 0) {
      return fail(c, SLUICE_WALK_ENGINE, i);
    }
    if (e->node < c->nodes) continue;
    if (e->node != SLUICE_ALL_NODES ||
        (e->does & (SLUICE_DOES_FORWARD | SLUICE_DOES_COMPUTE)) != 0) {
      return fail(c, SLUICE_WALK_ENGINE, i);
    }
  }
  return SLUICE_WALK_OK;
}

/* Loops ascend, are nested or apart, and name the loop around them. */
static sluice_walk_status_t check_loops(check_t* c) {
  const sluice_stream_header_t* h = &c->header;
  uint32_t i, around = SLUICE_NONE, depth = 0;
  sluice_loop_t loop, outer;
  for (i = 0; i < h->loop_count; ++i) {
    read(c, h->loop_offset, i, &loop, sizeof loop);
    /* Pops the loops that end before this one starts. */
    for (; around != SLUICE_NONE; around = outer.parent, --depth) {
      read(c, h->loop_offset, around, &outer, sizeof outer);
      if (loop.first <= outer.last) break;
    }
    if (loop.first > loop.last || loop.last >= h->instance_count || loop.count < 2 ||
        loop.parent != around || depth == SLUICE_MAX_LOOPS ||
        loop.first < c->next_first ||
        (around != SLUICE_NONE && loop.last > outer.last)) {
      return fail(c, SLUICE_WALK_LOOP, i);
    }
    c->next_first = loop.first;
    around = i;
    ++depth;
  }
  return SLUICE_WALK_OK;
}

/* Steps of an instance: present if and only if it is in a loop; the scratchpad has none. */
static sluice_walk_status_t check_steps(check_t* c, uint32_t instance,
                                        const sluice_instance_t* n,
                                        const sluice_block_t* b) {
  const sluice_stream_header_t* h = &c->header;
  const uint64_t stride = 2 * (uint64_t)b->slot_count + 5 * (uint64_t)b->kernel_count;
  uint64_t visits = 1, at;
  uint32_t inner, i, s, word[2];
  sluice_binding_t slot;
  sluice_loop_t loop;
  /* The innermost loop around the instance: of the loops that start at or before it and
   * have not ended, the last one. */
  while (c->next_loop < h->loop_count) {
    read(c, h->loop_offset, c->next_loop, &loop, sizeof loop);
    if (loop.first > instance) break;
    c->inner = c->next_loop++;
  }
  while (c->inner != SLUICE_NONE) {
    read(c, h->loop_offset, c->inner, &loop, sizeof loop);
    if (loop.last >= instance) break;
    c->inner = loop.parent;
  }
  at = (uint64_t)n->first_step + 1;
  if (c->inner == SLUICE_NONE) {
    if (n->first_step != SLUICE_NONE) return fail(c, SLUICE_WALK_STEP, instance);
  } else {
    if (n->first_step >= h->step_count) return fail(c, SLUICE_WALK_STEP, instance);
    read(c, h->step_offset, n->first_step, &inner, sizeof inner);
    if (inner != c->inner) return fail(c, SLUICE_WALK_STEP, instance);
  }
  for (i = c->inner; i != SLUICE_NONE; i = loop.parent, at += stride) {
    read(c, h->loop_offset, i, &loop, sizeof loop);
    visits *= loop.count;
    if (visits > 0x7fffffffu || at + stride > h->step_count) {
      return fail(c, SLUICE_WALK_STEP, instance);
    }
    for (s = 0; s < b->slot_count; ++s) {
      read(c, h->binding_offset, n->first_binding + s, &slot, sizeof slot);
      if (slot.region != SLUICE_REGION_GBUF) continue;
      read(c, h->step_offset + (uint32_t)(4 * at), s, word, sizeof word);
      if ((word[0] | word[1]) != 0) return fail(c, SLUICE_WALK_STEP, instance);
    }
  }
  visits += c->visits;
  if (visits > 0x7fffffffu) return fail(c, SLUICE_WALK_LOOP, instance);
  c->visits = (uint32_t)visits;
  return SLUICE_WALK_OK;
}

static sluice_walk_status_t check_tables(check_t* c) {
  const sluice_stream_header_t* h = &c->header;
  uint32_t i, last = 0;
  for (i = 0; i < h->binding_count; ++i) {
    sluice_binding_t b;
    read(c, h->binding_offset, i, &b, sizeof b);
    if (b.region >= SLUICE_REGION_COUNT) return fail(c, SLUICE_WALK_BINDING, i);
    if (words(b.base_lo, b.base_hi) > MAX_OFFSET)
      return fail(c, SLUICE_WALK_BINDING, i);
    if (b.reserved != 0) return fail(c, SLUICE_WALK_RESERVED, i);
  }
  for (i = 0; i < h->kernel_count; ++i) {
    sluice_kernel_t k;
    read(c, h->kernel_offset, i, &k, sizeof k);
    if (k.op == 0 || k.op >= SLUICE_OP_COUNT) return fail(c, SLUICE_WALK_KERNEL, i);
    if (k.first_attribute > h->attribute_count ||
        k.attribute_count > h->attribute_count - k.first_attribute) {
      return fail(c, SLUICE_WALK_KERNEL, i);
    }
    if (k.reserved != 0) return fail(c, SLUICE_WALK_RESERVED, i);
  }
  for (i = 0; i < h->patch_count; ++i) {
    sluice_patch_t p;
    sluice_binding_t b;
    read(c, h->patch_offset, i, &p, sizeof p);
    if (p.binding >= h->binding_count || p.step_hi != 0 || (i > 0 && p.binding <= last))
      return fail(c, SLUICE_WALK_PATCH, i);
    read(c, h->binding_offset, p.binding, &b, sizeof b);
    if (b.region != SLUICE_REGION_STATE) return fail(c, SLUICE_WALK_PATCH, i);
    last = p.binding;
  }
  TRY(check_loops(c));
  c->inner = SLUICE_NONE;
  for (i = 0; i < h->instance_count; ++i) {
    sluice_instance_t n;
    sluice_block_t b;
    read(c, h->instance_offset, i, &n, sizeof n);
    if (n.block >= h->block_count) return fail(c, SLUICE_WALK_INSTANCE, i);
    read(c, h->block_offset, n.block, &b, sizeof b);
    if (n.first_binding > h->binding_count ||
        b.slot_count > h->binding_count - n.first_binding ||
        n.first_kernel > h->kernel_count ||
        b.kernel_count > h->kernel_count - n.first_kernel) {
      return fail(c, SLUICE_WALK_INSTANCE, i);
    }
    TRY(check_steps(c, i, &n, &b));
  }
  return SLUICE_WALK_OK;
}

static sluice_walk_status_t check_body_layout(check_t* c, uint64_t* bodies) {
  const sluice_block_t* b = &c->block;
  const uint64_t end = (uint64_t)b->body_offset + b->body_bytes;
  const uint32_t* first =
      (const uint32_t*)b + offsetof(sluice_block_t, instruction_count) / 4;
  uint64_t at = b->body_offset;
  uint32_t i, list[2];
  if (b->body_offset % 16 != 0 || b->body_bytes % 16 != 0 || b->body_offset < *bodies ||
      end > c->header.size_bytes) {
    return fail(c, SLUICE_WALK_BODY, 0);
  }
  *bodies = end;
  if (b->flags != 0 || !all_zero(b->reserved, 2)) {
    return fail(c, SLUICE_WALK_RESERVED, 0);
  }
  list[0] = c->engines + 1;
  list[1] = b->list_offset;
  if (!table_fits(&at, end, list, 4)) return fail(c, SLUICE_WALK_BODY, 1);
  for (i = 0; i < sizeof kRecordBytes / sizeof kRecordBytes[0]; ++i) {
    at = b->body_offset;
    if (!table_fits(&at, end, first + (size_t)2 * i, kRecordBytes[i])) {
      return fail(c, SLUICE_WALK_BODY, 1);
    }
  }
  if (fnv1a(c->image + b->body_offset, b->body_bytes) !=
      words(b->hash_lo, b->hash_hi)) {
    return fail(c, SLUICE_WALK_HASH, 1);
  }
  return SLUICE_WALK_OK;
}

static uint32_t list_at(const check_t* c, uint32_t engine) {
  uint32_t value;
  read(c, c->block.list_offset, engine, &value, sizeof value);
  return value;
}

static sluice_walk_status_t check_boxes(check_t* c) {
  const sluice_block_t* b = &c->block;
  uint32_t i;
  int a;
  for (i = 0; i < b->shape_count; ++i) {
    sluice_shape_t s;
    uint64_t count = 1, span = 0;
    read(c, b->shape_offset, i, &s, sizeof s);
    for (a = 0; a < 4; ++a) {
      if (s.extent[a] == 0 || s.extent[a] > 0x7fffffffu) {
        return fail(c, SLUICE_WALK_SHAPE, i);
      }
      if (count > MAX_OFFSET / 8 / s.extent[a]) return fail(c, SLUICE_WALK_SHAPE, i);
      count *= s.extent[a];
      if ((uint64_t)(s.extent[a] - 1) * s.stride[a] > MAX_OFFSET / 8) {
        return fail(c, SLUICE_WALK_SHAPE, i);
      }
      span += (uint64_t)(s.extent[a] - 1) * s.stride[a];
    }
    if (span > MAX_OFFSET / 2) return fail(c, SLUICE_WALK_SHAPE, i);
  }
  for (i = 0; i < b->operand_count; ++i) {
    sluice_operand_t o;
    read(c, b->operand_offset, i, &o, sizeof o);
    if (o.slot >= b->slot_count || o.shape >= b->shape_count || o.dtype == 0 ||
        o.dtype >= SLUICE_DTYPE_COUNT || words(o.offset_lo, o.offset_hi) > MAX_OFFSET) {
      return fail(c, SLUICE_WALK_OPERAND, i);
    }
    if (o.reserved != 0) return fail(c, SLUICE_WALK_RESERVED, i);
  }
  return SLUICE_WALK_OK;
}

static int operand_or_none(const check_t* c, uint32_t operand) {
  return operand == SLUICE_NONE || operand < c->block.operand_count;
}

static sluice_walk_status_t check_descriptors(check_t* c) {
  const sluice_block_t* b = &c->block;
  uint32_t i, k;
  for (i = 0; i < b->tile_count; ++i) {
    sluice_tile_t t;
    read(c, b->tile_offset, i, &t, sizeof t);
    /* input0 is required; input1 to output are optional. */
    for (k = 0; k < 6; ++k) {
      const uint32_t* operands =
          (const uint32_t*)&t + offsetof(sluice_tile_t, input0) / 4;
      if (!operand_or_none(c, operands[k])) return fail(c, SLUICE_WALK_TILE, i);
    }
    if (t.kernel >= b->kernel_count || t.input0 == SLUICE_NONE || t.c_begin > t.c_end) {
      return fail(c, SLUICE_WALK_TILE, i);
    }
    if (t.cycles == 0) return fail(c, SLUICE_WALK_CYCLES, i);
  }
  for (i = 0; i < b->transfer_count; ++i) {
    sluice_transfer_t t;
    read(c, b->transfer_offset, i, &t, sizeof t);
    if (t.src >= b->operand_count || t.dst >= b->operand_count ||
        !operand_or_none(c, t.index) || t.kernel >= b->kernel_count ||
        t.src_node >= c->nodes || t.dst_node >= c->nodes || t.reserved0 != 0) {
      return fail(c, SLUICE_WALK_TRANSFER, i);
    }
  }
  for (i = 0; i < b->host_call_count; ++i) {
    sluice_host_call_t h;
    read(c, b->host_call_offset, i, &h, sizeof h);
    if (h.kernel >= b->kernel_count ||
        (uint64_t)h.first_operand + h.inputs + h.outputs > b->operand_count) {
      return fail(c, SLUICE_WALK_HOST_CALL, i);
    }
    if ((h.cycles_lo | h.cycles_hi) == 0) return fail(c, SLUICE_WALK_CYCLES, i);
    if (h.why >= SLUICE_WHY_COUNT || h.reserved != 0) {
      return fail(c, SLUICE_WALK_RESERVED, i);
    }
  }
  return SLUICE_WALK_OK;
}

/* 1 if count is not 0 and the engine's list has at least `count` instructions. */
static int count_fits(const check_t* c, uint32_t engine, uint32_t count) {
  return count != 0 && count <= list_at(c, engine + 1) - list_at(c, engine);
}

static sluice_walk_status_t check_counts(check_t* c) {
  const sluice_block_t* b = &c->block;
  uint32_t i;
  for (i = 0; i < b->wait_count; ++i) {
    sluice_wait_t w;
    read(c, b->wait_offset, i, &w, sizeof w);
    if (w.engine >= c->engines || w.before > 1 ||
        (w.before == 0 && !count_fits(c, w.engine, w.count))) {
      return fail(c, SLUICE_WALK_WAIT, i);
    }
  }
  return SLUICE_WALK_OK;
}

static int rectangle_fits(const check_t* c, const sluice_transfer_t* t) {
  const uint32_t cols = c->header.node_cols, rows = c->header.node_rows;
  return t->dst_cols >= 1 && t->dst_rows >= 1 &&
         t->dst_node % cols + t->dst_cols <= cols &&
         t->dst_node / cols + t->dst_rows <= rows;
}

/* 1 if the engine moves the transfer's role and serves its nodes. */
static int transfer_fits(const check_t* c, uint8_t opcode, const sluice_transfer_t* t) {
  const uint32_t node = c->engine.node;
  const int load = opcode == SLUICE_OPCODE_LOAD;
  const int forward = opcode == SLUICE_OPCODE_FORWARD;
  uint32_t roles = SLUICE_ROLE_OUTPUT | SLUICE_ROLE_PARTIAL_SUM;
  if (load) roles = SLUICE_ROLES & ~SLUICE_ROLE_OUTPUT;
  if (!forward) roles &= c->engine.roles;
  if ((t->role & roles) == 0 || (t->role & (t->role - 1)) != 0 ||
      forward == (t->descriptors != 0)) {
    return 0;
  }
  if (t->moved_bytes != 0 && (!load || t->index != SLUICE_NONE)) return 0;
  if (opcode != SLUICE_OPCODE_STORE && !rectangle_fits(c, t)) return 0;
  if (load) {
    return node == SLUICE_ALL_NODES ||
           (t->dst_node == node && t->dst_cols * t->dst_rows == 1);
  }
  return t->index == SLUICE_NONE && (node == SLUICE_ALL_NODES || t->src_node == node);
}

static sluice_walk_status_t check_instruction(check_t* c, uint32_t index) {
  const sluice_block_t* b = &c->block;
  sluice_instruction_t n;
  sluice_transfer_t t;
  read(c, b->instruction_offset, index, &n, sizeof n);
  if (n.reserved != 0) return fail(c, SLUICE_WALK_RESERVED, index);
  if (n.first_wait > b->wait_count || n.wait_count > b->wait_count - n.first_wait) {
    return fail(c, SLUICE_WALK_WAIT, index);
  }
  if (n.flags != 0 && (n.opcode != SLUICE_OPCODE_COMPUTE ||
                       (n.flags & ~(SLUICE_FLAG_FIRST | SLUICE_FLAG_LAST)))) {
    return fail(c, SLUICE_WALK_FLAGS, index);
  }
  /* Opcode n is bit n - 1 of what an engine does. */
  if (n.opcode == 0 || n.opcode > SLUICE_OPCODE_HOST ||
      !(c->engine.does >> (n.opcode - 1) & 1)) {
    return fail(c, SLUICE_WALK_OPCODE, index);
  }
  if (n.descriptor >= (n.opcode == SLUICE_OPCODE_COMPUTE ? b->tile_count
                       : n.opcode == SLUICE_OPCODE_HOST  ? b->host_call_count
                                                         : b->transfer_count)) {
    return fail(c, SLUICE_WALK_DESCRIPTOR, index);
  }
  if (n.opcode >= SLUICE_OPCODE_COMPUTE) return SLUICE_WALK_OK;
  read(c, b->transfer_offset, n.descriptor, &t, sizeof t);
  if (!transfer_fits(c, n.opcode, &t)) return fail(c, SLUICE_WALK_TRANSFER, index);
  return SLUICE_WALK_OK;
}

/* Not inlined: inlining makes the whole pass run out of registers on small cores. */
#ifdef __GNUC__
__attribute__((noinline))
#endif
static sluice_walk_status_t
check_lists(check_t* c) {
  uint32_t e, i;
  if (list_at(c, 0) != 0) return fail(c, SLUICE_WALK_LIST, 0);
  for (e = 0; e < c->engines; ++e) {
    if (list_at(c, e + 1) < list_at(c, e)) return fail(c, SLUICE_WALK_LIST, e);
  }
  if (list_at(c, c->engines) != c->block.instruction_count) {
    return fail(c, SLUICE_WALK_LIST, c->engines);
  }
  for (e = 0; e < c->engines; ++e) {
    read(c, c->header.engine_offset, e, &c->engine, sizeof c->engine);
    for (i = list_at(c, e); i < list_at(c, e + 1); ++i) TRY(check_instruction(c, i));
  }
  return SLUICE_WALK_OK;
}

static sluice_walk_status_t check_image(check_t* c, size_t size) {
  uint64_t bodies = 0;
  uint32_t i;
  TRY(check_header(c, size, &bodies));
  TRY(check_engines(c));
  TRY(check_tables(c));
  for (i = 0; i < c->header.block_count; ++i) {
    c->error.block = i;
    read(c, c->header.block_offset, i, &c->block, sizeof c->block);
    TRY(check_body_layout(c, &bodies));
    TRY(check_boxes(c));
    TRY(check_descriptors(c));
    TRY(check_lists(c));
    TRY(check_counts(c));
  }
  return SLUICE_WALK_OK;
}

sluice_walk_status_t sluice_walk_open(sluice_walker_t* walker, const void* image,
                                      size_t size, sluice_walk_error_t* error) {
  check_t c;
  sluice_walk_status_t status;
  memset(&c, 0, sizeof c);
  c.image = (const unsigned char*)image;
  c.error.block = SLUICE_NONE;
  if (size < sizeof c.header || size > 0xffffffffu) {
    status = fail(&c, SLUICE_WALK_SIZE, 0);
  } else {
    memcpy(&c.header, image, sizeof c.header);
    status = check_image(&c, size);
  }
  if (error != NULL) *error = c.error;
  memset(walker, 0, sizeof *walker);
  if (status != SLUICE_WALK_OK) return status;
  walker->image = c.image;
  walker->header = c.header;
  walker->engines = c.engines;
  walker->visits = c.visits;
  return status;
}

sluice_walk_status_t sluice_walk_relocate(void* image,
                                          const uint64_t base[SLUICE_REGION_COUNT]) {
  unsigned char* bytes = (unsigned char*)image;
  sluice_walk_status_t status = SLUICE_WALK_OK;
  sluice_stream_header_t h;
  uint64_t hash;
  uint32_t i;
  memcpy(&h, image, sizeof h);
  for (i = 0; i < SLUICE_REGION_COUNT; ++i) {
    if (base[i] % h.region_alignment != 0) return SLUICE_WALK_ALIGNMENT;
    if (base[i] > MAX_OFFSET) return SLUICE_WALK_CAPACITY;
  }
  bytes += h.binding_offset;
  for (i = 0; i < h.binding_count; ++i, bytes += sizeof(sluice_binding_t)) {
    sluice_binding_t b;
    uint64_t moved;
    memcpy(&b, bytes, sizeof b);
    moved = words(b.base_lo, b.base_hi) + base[b.region];
    if (moved > MAX_OFFSET) status = SLUICE_WALK_BINDING;
    b.base_lo = (uint32_t)moved;
    b.base_hi = (uint32_t)(moved >> 32);
    memcpy(bytes, &b, sizeof b);
  }
  hash = fnv1a((const unsigned char*)image + sizeof h, h.size_bytes - sizeof h);
  h.hash_lo = (uint32_t)hash;
  h.hash_hi = (uint32_t)(hash >> 32);
  memcpy(image, &h, sizeof h);
  return status;
}
