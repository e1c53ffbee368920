/* SPDX-License-Identifier: Apache-2.0 */
/* Walking a checked image: cursors, waits, records. */
#include "walker.h"

/* All of libc that is needed; freestanding compilers have no string.h. */
void* memcpy(void* to, const void* from, size_t bytes);

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

/* Moves a cursor past instances in which the engine has nothing left to do. */
static void settle(const sluice_walker_t* w, sluice_walk_cursor_t* cursor,
                   uint32_t engine) {
  while (cursor->instance < w->header.instance_count) {
    sluice_block_t b;
    sluice_walk_block(w, cursor->instance, &b);
    if (cursor->completed < list_at(w, &b, engine + 1) - list_at(w, &b, engine)) return;
    ++cursor->instance;
    cursor->completed = 0;
  }
}

void sluice_walk_start(const sluice_walker_t* w, sluice_walk_cursor_t* cursors) {
  uint32_t e;
  for (e = 0; e < w->engines; ++e) {
    cursors[e].instance = 0;
    cursors[e].completed = 0;
    settle(w, &cursors[e], e);
  }
}

uint32_t sluice_walk_position(const sluice_walker_t* w,
                              const sluice_walk_cursor_t* cursors, uint32_t engine) {
  sluice_block_t b;
  sluice_walk_block(w, cursors[engine].instance, &b);
  return list_at(w, &b, engine) + cursors[engine].completed;
}

int sluice_walk_next(const sluice_walker_t* w, const sluice_walk_cursor_t* cursors,
                     uint32_t engine, sluice_instruction_t* instruction) {
  sluice_block_t b;
  const sluice_walk_cursor_t at = cursors[engine];
  if (at.instance >= w->header.instance_count) return 0;
  sluice_walk_block(w, at.instance, &b);
  read(w, b.instruction_offset, list_at(w, &b, engine) + at.completed, instruction,
       sizeof *instruction);
  return 1;
}

/* True if the cursor has completed `count` instructions of the instance; an engine has
 * completed all instances before its own. */
static int reached(const sluice_walk_cursor_t* cursor, uint32_t instance,
                   uint32_t count) {
  if (cursor->instance != instance) return cursor->instance > instance;
  return cursor->completed >= count;
}

static int target_of(const sluice_walker_t* w, uint32_t instance,
                     const sluice_wait_t* wait, sluice_walk_target_t* target) {
  const uint32_t back = (uint32_t) - (int32_t)wait->instance;
  sluice_block_t b;
  sluice_export_t e;
  target->instance = instance;
  target->engine = wait->engine;
  target->count = wait->count;
  if (wait->instance == 0) return 1;
  if (back > instance) return -1;
  target->instance = instance - back;
  sluice_walk_block(w, target->instance, &b);
  if (wait->count >= b.export_count) return -1;
  read(w, b.export_offset, wait->count, &e, sizeof e);
  target->engine = e.engine;
  target->count = e.count;
  return 1;
}

int sluice_walk_wait_target(const sluice_walker_t* w, uint32_t instance, uint32_t index,
                            sluice_walk_target_t* target) {
  sluice_block_t b;
  sluice_wait_t wait;
  sluice_walk_block(w, instance, &b);
  read(w, b.wait_offset, index, &wait, sizeof wait);
  return target_of(w, instance, &wait, target);
}

int sluice_walk_waits_hold(const sluice_walker_t* w,
                           const sluice_walk_cursor_t* cursors, uint32_t engine,
                           sluice_wait_t* pending) {
  const uint32_t instance = cursors[engine].instance;
  sluice_instruction_t n;
  sluice_block_t b;
  uint32_t i;
  if (!sluice_walk_next(w, cursors, engine, &n)) return 0;
  sluice_walk_block(w, instance, &b);
  for (i = 0; i < n.wait_count; ++i) {
    sluice_walk_target_t target;
    sluice_wait_t wait;
    int holds;
    read(w, b.wait_offset, n.first_wait + i, &wait, sizeof wait);
    holds = target_of(w, instance, &wait, &target);
    if (holds == 1) {
      holds = reached(&cursors[target.engine], target.instance, target.count);
    }
    if (holds != 1) {
      if (pending != NULL) *pending = wait;
      return holds;
    }
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

void sluice_walk_tile(const sluice_walker_t* w, uint32_t instance, uint32_t index,
                      sluice_tile_t* tile) {
  sluice_block_t b;
  sluice_walk_block(w, instance, &b);
  read(w, b.tile_offset, index, tile, sizeof *tile);
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

/* Bytes by which this run's parameters move a binding's base. */
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

void sluice_walk_operand(const sluice_walker_t* w, uint32_t instance, uint32_t index,
                         sluice_walk_operand_t* out) {
  static const uint32_t sizes[SLUICE_DTYPE_COUNT] = {0, 1, 1, 2, 4, 8};
  sluice_instance_t use;
  sluice_block_t b;
  sluice_operand_t o;
  sluice_shape_t s;
  sluice_binding_t at;
  int a;
  read_instance(w, instance, &use);
  read(w, w->header.block_offset, use.block, &b, sizeof b);
  read(w, b.operand_offset, index, &o, sizeof o);
  read(w, b.shape_offset, o.shape, &s, sizeof s);
  read(w, w->header.binding_offset, use.first_binding + o.slot, &at, sizeof at);
  out->region = at.region;
  out->dtype = o.dtype;
  out->offset = patch_of(w, use.first_binding + o.slot) +
                (at.base_lo | (uint64_t)at.base_hi << 32) +
                (o.offset_lo | (uint64_t)o.offset_hi << 32);
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
