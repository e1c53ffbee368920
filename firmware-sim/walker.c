/* SPDX-License-Identifier: Apache-2.0 */
/* Walking a checked image: cursors, waits, records. */
#include "walker.h"

/* All of libc that is needed; freestanding compilers have no string.h. */
void* memcpy(void* to, const void* from, size_t bytes);
void* memset(void* to, int value, size_t bytes);

static void read(const sluice_walker_t* w, uint32_t table, uint32_t index, void* record,
                 uint32_t size) {
  memcpy(record, w->image + table + (size_t)index * size, size);
}

static void read_instance(const sluice_walker_t* w, uint32_t index,
                          sluice_instance_t* instance) {
  read(w, w->header.instance_offset, index, instance, sizeof *instance);
}

void sluice_walk_block(const sluice_walker_t* w, uint32_t instance,
                       sluice_block_t* block) {
  sluice_instance_t use;
  read_instance(w, instance, &use);
  read(w, w->header.block_offset, use.block, block, sizeof *block);
}

static uint32_t list_at(const sluice_walker_t* w, const sluice_block_t* b, uint32_t e) {
  uint32_t value;
  read(w, b->list_offset, e, &value, sizeof value);
  return value;
}

static uint32_t list_length(const sluice_walker_t* w, const sluice_block_t* b,
                            uint32_t e) {
  return list_at(w, b, e + 1) - list_at(w, b, e);
}

static uint32_t step_at(const sluice_walker_t* w, uint32_t index) {
  uint32_t word;
  read(w, w->header.step_offset, index, &word, sizeof word);
  return word;
}

static void read_loop(const sluice_walker_t* w, uint32_t index, sluice_loop_t* loop) {
  read(w, w->header.loop_offset, index, loop, sizeof *loop);
}

void sluice_walk_next_visit(const sluice_walker_t* w, sluice_walk_visit_t* visit) {
  sluice_instance_t use;
  sluice_loop_t loop;
  uint32_t depth = 0, inner, at;
  read_instance(w, visit->instance, &use);
  ++visit->number;
  if (use.first_step != SLUICE_NONE) {
    inner = step_at(w, use.first_step);
    for (at = inner; at != SLUICE_NONE; at = loop.parent, ++depth) {
      read_loop(w, at, &loop);
    }
    for (at = inner; at != SLUICE_NONE; at = loop.parent) {
      read_loop(w, at, &loop);
      if (loop.last != visit->instance) break;
      if (++visit->index[--depth] < loop.count) {
        visit->instance = loop.first;
        return;
      }
      visit->index[depth] = 0;
    }
  }
  ++visit->instance;
}

/* Moves a cursor past visits in which the engine has nothing left to do. */
static void settle(const sluice_walker_t* w, sluice_walk_cursor_t* cursor,
                   uint32_t engine) {
  while (cursor->visit.instance < w->header.instance_count) {
    sluice_block_t b;
    sluice_walk_block(w, cursor->visit.instance, &b);
    if (cursor->completed < list_length(w, &b, engine)) return;
    sluice_walk_next_visit(w, &cursor->visit);
    cursor->completed = 0;
  }
}

void sluice_walk_start(const sluice_walker_t* w, sluice_walk_cursor_t* cursors) {
  uint32_t e;
  for (e = 0; e < w->engines; ++e) {
    memset(&cursors[e], 0, sizeof cursors[e]);
    settle(w, &cursors[e], e);
  }
}

uint32_t sluice_walk_position(const sluice_walker_t* w,
                              const sluice_walk_cursor_t* cursors, uint32_t engine) {
  sluice_block_t b;
  sluice_walk_block(w, cursors[engine].visit.instance, &b);
  return list_at(w, &b, engine) + cursors[engine].completed;
}

int sluice_walk_next(const sluice_walker_t* w, const sluice_walk_cursor_t* cursors,
                     uint32_t engine, sluice_instruction_t* instruction) {
  sluice_block_t b;
  const sluice_walk_cursor_t* at = &cursors[engine];
  if (at->visit.instance >= w->header.instance_count) return 0;
  sluice_walk_block(w, at->visit.instance, &b);
  read(w, b.instruction_offset, list_at(w, &b, engine) + at->completed, instruction,
       sizeof *instruction);
  return 1;
}

/* 1 if the wait of an instruction in `visit` holds. `from`: cursor of the awaited engine. */
static int holds(const sluice_walker_t* w, const sluice_walk_cursor_t* from,
                 const sluice_walk_visit_t* visit, const sluice_wait_t* wait) {
  sluice_walk_visit_t at = from->visit;
  uint32_t done = from->completed;
  uint64_t left = 0;
  if (!wait->before) {
    return at.number > visit->number ||
           (at.number == visit->number && done >= wait->count);
  }
  while (at.number < visit->number) {
    sluice_block_t b;
    sluice_walk_block(w, at.instance, &b);
    left += list_length(w, &b, wait->engine) - done;
    if (left > wait->count) return 0;
    done = 0;
    sluice_walk_next_visit(w, &at);
  }
  return 1;
}

void sluice_walk_wait(const sluice_walker_t* w, uint32_t instance, uint32_t index,
                      sluice_wait_t* wait) {
  sluice_block_t b;
  sluice_walk_block(w, instance, &b);
  read(w, b.wait_offset, index, wait, sizeof *wait);
}

int sluice_walk_waits_hold(const sluice_walker_t* w,
                           const sluice_walk_cursor_t* cursors, uint32_t engine,
                           sluice_wait_t* pending) {
  const sluice_walk_visit_t* visit = &cursors[engine].visit;
  sluice_instruction_t n;
  uint32_t i;
  if (!sluice_walk_next(w, cursors, engine, &n)) return 0;
  for (i = 0; i < n.wait_count; ++i) {
    sluice_wait_t wait;
    sluice_walk_wait(w, visit->instance, n.first_wait + i, &wait);
    if (holds(w, &cursors[wait.engine], visit, &wait)) continue;
    if (pending != NULL) *pending = wait;
    return 0;
  }
  return 1;
}

void sluice_walk_complete(const sluice_walker_t* w, sluice_walk_cursor_t* cursors,
                          uint32_t engine) {
  ++cursors[engine].completed;
  settle(w, &cursors[engine], engine);
}

void sluice_walk_engine(const sluice_walker_t* w, uint32_t engine,
                        sluice_engine_t* record) {
  read(w, w->header.engine_offset, engine, record, sizeof *record);
}

/* The steps of a visit: `first` is the word index of the outermost loop's steps, `stride`
 * the words from one loop's steps to the next inner loop's, `depth` the number of loops. */
typedef struct {
  uint32_t first, stride, depth;
} steps_t;

static void steps_of(const sluice_walker_t* w, const sluice_instance_t* use,
                     const sluice_block_t* b, steps_t* steps) {
  uint32_t at;
  memset(steps, 0, sizeof *steps);
  if (use->first_step == SLUICE_NONE) return;
  steps->first = use->first_step + 1;
  steps->stride = 2 * b->slot_count + 5 * b->kernel_count;
  for (at = step_at(w, use->first_step); at != SLUICE_NONE; ++steps->depth) {
    sluice_loop_t loop;
    read_loop(w, at, &loop);
    at = loop.parent;
  }
}

void sluice_walk_tile(const sluice_walker_t* w, const sluice_walk_visit_t* visit,
                      uint32_t index, sluice_tile_t* tile) {
  sluice_instance_t use;
  sluice_block_t b;
  steps_t s;
  uint32_t d, i, at;
  read_instance(w, visit->instance, &use);
  read(w, w->header.block_offset, use.block, &b, sizeof b);
  read(w, b.tile_offset, index, tile, sizeof *tile);
  steps_of(w, &use, &b, &s);
  at = s.first + 2 * b.slot_count + 5 * tile->kernel;
  for (d = 0; d < s.depth; ++d, at += s.stride) {
    for (i = 0; i < 4; ++i) tile->origin[i] += visit->index[d] * step_at(w, at + i);
    tile->c_begin += visit->index[d] * step_at(w, at + 4);
    tile->c_end += visit->index[d] * step_at(w, at + 4);
  }
}

void sluice_walk_transfer(const sluice_walker_t* w, uint32_t instance, uint32_t index,
                          sluice_transfer_t* transfer) {
  sluice_block_t b;
  sluice_walk_block(w, instance, &b);
  read(w, b.transfer_offset, index, transfer, sizeof *transfer);
}

void sluice_walk_host_call(const sluice_walker_t* w, uint32_t instance, uint32_t index,
                           sluice_host_call_t* call) {
  sluice_block_t b;
  sluice_walk_block(w, instance, &b);
  read(w, b.host_call_offset, index, call, sizeof *call);
}

void sluice_walk_kernel(const sluice_walker_t* w, uint32_t instance, uint32_t index,
                        sluice_kernel_t* kernel) {
  sluice_instance_t use;
  read_instance(w, instance, &use);
  read(w, w->header.kernel_offset, use.first_kernel + index, kernel, sizeof *kernel);
}

int32_t sluice_walk_attribute(const sluice_walker_t* w, const sluice_kernel_t* kernel,
                              uint32_t i) {
  int32_t value;
  if (i >= kernel->attribute_count) return 0;
  read(w, w->header.attribute_offset, kernel->first_attribute + i, &value,
       sizeof value);
  return value;
}

void sluice_walk_set_parameters(sluice_walker_t* w, const int32_t* values,
                                uint32_t count) {
  w->parameters = values;
  w->parameter_count = count;
}

/* Byte offset that this run's parameters add to a binding's base. */
static uint64_t patch_of(const sluice_walker_t* w, uint32_t binding) {
  uint32_t low = 0, high = w->header.patch_count;
  sluice_patch_t patch;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    read(w, w->header.patch_offset, middle, &patch, sizeof patch);
    if (patch.binding == binding) {
      if (patch.parameter >= w->parameter_count) return 0;
      return (uint64_t)(uint32_t)w->parameters[patch.parameter] * patch.step_lo;
    }
    if (patch.binding < binding) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return 0;
}

void sluice_walk_operand(const sluice_walker_t* w, const sluice_walk_visit_t* visit,
                         uint32_t index, sluice_walk_operand_t* out) {
  static const uint32_t sizes[SLUICE_DTYPE_COUNT] = {0, 1, 1, 2, 4, 8};
  sluice_instance_t use;
  sluice_block_t b;
  sluice_operand_t o;
  sluice_shape_t s;
  sluice_binding_t at;
  steps_t steps;
  uint32_t d, word;
  int a;
  read_instance(w, visit->instance, &use);
  read(w, w->header.block_offset, use.block, &b, sizeof b);
  read(w, b.operand_offset, index, &o, sizeof o);
  read(w, b.shape_offset, o.shape, &s, sizeof s);
  read(w, w->header.binding_offset, use.first_binding + o.slot, &at, sizeof at);
  out->region = at.region;
  out->dtype = o.dtype;
  out->offset = patch_of(w, use.first_binding + o.slot) +
                (at.base_lo | (uint64_t)at.base_hi << 32) +
                (o.offset_lo | (uint64_t)o.offset_hi << 32);
  steps_of(w, &use, &b, &steps);
  word = steps.first + 2 * (uint32_t)o.slot;
  for (d = 0; d < steps.depth; ++d, word += steps.stride) {
    out->offset +=
        visit->index[d] * (step_at(w, word) | (uint64_t)step_at(w, word + 1) << 32);
  }
  out->bytes = out->span = sizes[o.dtype];
  for (a = 0; a < 4; ++a) {
    out->extent[a] = s.extent[a];
    out->stride[a] = s.stride[a];
    out->bytes *= s.extent[a];
    out->span += (uint64_t)(s.extent[a] - 1) * s.stride[a];
  }
}

uint64_t sluice_walk_region_bytes(const sluice_walker_t* w, uint32_t region) {
  return w->header.region_bytes[region][0] | (uint64_t)w->header.region_bytes[region][1]
                                                 << 32;
}
