/* SPDX-License-Identifier: Apache-2.0 */
#include "npu.h"

#include <string.h>

#include "device_memory.h"
#include "firmware-sim/walker.h"
#include "sluice/ops.h"

enum { kMaxModels = 64, kAlignment = 64, kPiece = 1 << 16 };

typedef struct {
  npu_model_t handle; /* 0: free */
  sluice_graph_t* graph;
  sluice_plan_t* plan;
  int fits;             /* the plan fits the current share */
  unsigned char* bytes; /* graph.fbs, which the device model checks against */
  size_t size;
  unsigned char* stream; /* relocated copy */
  size_t stream_bytes;
  sluice_graph_counts_t counts;
  sluice_device_window_t window[SLUICE_REGION_COUNT];
  uint64_t share_begin, share_end; /* of the scratchpad */
} model_t;

struct npu {
  const npu_device_table_t* table;
  void* device;
  uint64_t timeout_ns;
  sluice_context_t* context;
  sluice_hardware_t* hardware;
  device_memory_t dram;
  uint64_t share_begin, share_end, scratchpad_bytes;
  npu_model_t last_handle;
  model_t models[kMaxModels];
  unsigned char* heap; /* what is left of the block for copies of graphs and streams */
  device_memory_t heap_map;
  unsigned char piece[kPiece]; /* on its way to or from the device */
  char error[320];
};

static npu_status_t refuse(npu_t* npu, npu_status_t status, const char* text) {
  strncpy(npu->error, text, sizeof npu->error - 1);
  return status;
}

static npu_status_t from_sluice(npu_t* npu, const sluice_diagnostic_t* d) {
  refuse(npu, NPU_OK, d->message);
  switch (d->status) {
    case SLUICE_INFEASIBLE:
    case SLUICE_OUT_OF_MEMORY:
      return NPU_DOES_NOT_FIT;
    case SLUICE_STOPPED:
      return NPU_NO_TIME;
    default:
      return NPU_BAD_MODEL;
  }
}

static void* heap_take(npu_t* npu, size_t bytes) {
  uint64_t at;
  if (!device_memory_take(&npu->heap_map, bytes, 16, &at)) return NULL;
  return npu->heap + at;
}

static void heap_give(npu_t* npu, void* pointer) {
  if (pointer == NULL) return;
  device_memory_give(&npu->heap_map, (uint64_t)((unsigned char*)pointer - npu->heap));
}

npu_status_t npu_open(const npu_options_t* o, npu_t** out) {
  sluice_context_options_t options;
  sluice_device_info_t info;
  npu_t* npu;
  uint64_t own;
  if (out == NULL) return NPU_BAD_CALL;
  *out = NULL;
  if (o == NULL || o->block == NULL || o->hardware == NULL ||
      (uintptr_t)o->block % 16 != 0 || o->block_bytes < 8 * sizeof *npu) {
    return NPU_BAD_CALL;
  }
  npu = (npu_t*)o->block;
  memset(npu, 0, sizeof *npu);
  /* A third of the block holds copies of graphs and streams, the rest is the scheduler's. */
  own = (sizeof *npu + 15) / 16 * 16;
  npu->heap = (unsigned char*)o->block + own;
  device_memory_init(&npu->heap_map, (o->block_bytes - own) / 3 / 16 * 16);
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.block = npu->heap + npu->heap_map.bytes;
  options.block_bytes = o->block_bytes - own - npu->heap_map.bytes;
  if (sluice_context_create(&options, &npu->context, NULL) != SLUICE_OK) {
    return NPU_BAD_CALL;
  }
  npu->timeout_ns = o->timeout_ns;
  npu->table = o->device != NULL ? o->device : npu_simulated_device();
  if (npu->table->version != NPU_DEVICE_VERSION ||
      sluice_hardware_create(npu->context, o->hardware, o->hardware_bytes,
                             &npu->hardware, NULL) != SLUICE_OK ||
      npu->table->open(o->hardware, o->hardware_bytes, o->device_dram_bytes,
                       o->device_options != NULL ? o->device_options : "",
                       &npu->device) != SLUICE_DEVICE_OK ||
      npu->table->info(npu->device, &info) != SLUICE_DEVICE_OK) {
    npu_close(npu);
    return NPU_BAD_CALL;
  }
  device_memory_init(&npu->dram, info.dram_bytes);
  npu->scratchpad_bytes = info.scratchpad_bytes;
  npu->share_begin = o->share_begin;
  npu->share_end = o->share_end != 0 ? o->share_end : info.scratchpad_bytes;
  if (npu->share_begin >= npu->share_end || npu->share_end > info.scratchpad_bytes ||
      npu->share_begin % kAlignment != 0) {
    npu_close(npu);
    return NPU_BAD_CALL;
  }
  *out = npu;
  return NPU_OK;
}

const char* npu_last_error(const npu_t* npu) { return npu == NULL ? "" : npu->error; }

static model_t* find(npu_t* npu, npu_model_t handle) {
  int i;
  if (npu == NULL || handle == 0) return NULL;
  for (i = 0; i < kMaxModels; ++i) {
    if (npu->models[i].handle == handle) return &npu->models[i];
  }
  return NULL;
}

/* 0: fewer bytes were moved than asked for, or none. */
static int dram_write(npu_t* npu, uint64_t address, const void* host, uint64_t bytes) {
  const int64_t moved = npu->table->write(npu->device, address, host, bytes);
  return moved >= 0 && (uint64_t)moved == bytes;
}

static int dram_copy(npu_t* npu, uint64_t address, void* host, uint64_t bytes,
                     uint32_t request) {
  int64_t moved;
  if (request == SLUICE_DEVICE_WRITE_DRAM) {
    return dram_write(npu, address, host, bytes);
  }
  moved = npu->table->read(npu->device, address, host, bytes);
  return moved >= 0 && (uint64_t)moved == bytes;
}

/* Copies dense bytes to or from the tensor's place in device memory, row by row of its
 * last axis. */
static int move_tensor(npu_t* npu, const model_t* m, const sluice_tensor_info_t* t,
                       const sluice_tensor_place_t* p, unsigned char* dense,
                       uint32_t request) {
  const uint64_t count = (uint64_t)t->extent[0] * (uint64_t)t->extent[1] *
                         (uint64_t)t->extent[2] * (uint64_t)t->extent[3];
  const uint64_t element = t->bytes / count;
  const uint64_t row = element * (uint64_t)t->extent[3];
  const uint64_t base = m->window[p->region].begin + p->offset;
  int32_t n, h, w, c;
  for (n = 0; n < t->extent[0]; ++n) {
    for (h = 0; h < t->extent[1]; ++h) {
      for (w = 0; w < t->extent[2]; ++w) {
        const uint64_t at = base + (uint64_t)n * p->stride[0] +
                            (uint64_t)h * p->stride[1] + (uint64_t)w * p->stride[2];
        if (p->stride[3] == element) {
          if (!dram_copy(npu, at, dense, row, request)) return 0;
          dense += row;
          continue;
        }
        for (c = 0; c < t->extent[3]; ++c, dense += element) {
          if (!dram_copy(npu, at + (uint64_t)c * p->stride[3], dense, element, request))
            return 0;
        }
      }
    }
  }
  return 1;
}

/* The bytes of ops.h's seeded rule, from byte `from` on (a multiple of 8). */
static void seeded(uint64_t seed, uint64_t from, uint64_t bytes, unsigned char* out) {
  uint64_t state = seed + from / 8 * 0x9e3779b97f4a7c15u, i;
  for (i = 0; i < bytes; ++i) {
    static const uint64_t a = 0xbf58476d1ce4e5b9u, b = 0x94d049bb133111ebu;
    uint64_t z = state + 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * a;
    z = (z ^ z >> 27) * b;
    z ^= z >> 31;
    out[i] = (unsigned char)(z >> (8 * (i % 8)));
    if (i % 8 == 7) state += 0x9e3779b97f4a7c15u;
  }
}

/* The constant in host memory. NULL: it must be read in pieces. */
static const void* in_memory(const model_t* m, const sluice_tensor_info_t* t,
                             const npu_planned_t* from) {
  if (t->source == SLUICE_SOURCE_INLINE) return m->bytes + t->source_offset;
  if (t->source != SLUICE_SOURCE_EXTERNAL || from->map == NULL) return NULL;
  return from->map(from->user, t->file, t->file_size, t->source_offset, t->bytes);
}

/* Constants are dense in their region. */
static npu_status_t fill_constant(npu_t* npu, const model_t* m,
                                  const sluice_tensor_info_t* t,
                                  const sluice_tensor_place_t* p,
                                  const npu_planned_t* source) {
  const uint64_t at = m->window[p->region].begin + p->offset;
  const void* whole = in_memory(m, t, source);
  uint64_t done, bytes;
  for (done = 0; done < t->bytes; done += bytes) {
    const void* from = npu->piece;
    bytes = t->bytes - done < kPiece ? t->bytes - done : kPiece;
    if (whole != NULL) {
      from = whole;
      bytes = t->bytes;
    } else if (t->source == SLUICE_SOURCE_SEEDED) {
      seeded(t->source_offset, done, bytes, npu->piece);
    } else if (source->read == NULL ||
               source->read(source->user, t->file, t->file_size,
                            t->source_offset + done, bytes, npu->piece) != 0) {
      return refuse(npu, NPU_BAD_MODEL, "a file of constants could not be read");
    }
    if (!dram_write(npu, at + done, from, bytes)) {
      return refuse(npu, NPU_DEVICE_FAULT, "the device did not take a constant whole");
    }
  }
  return NPU_OK;
}

static int tensor_at(const model_t* m, uint32_t i, sluice_tensor_info_t* t,
                     sluice_tensor_place_t* p) {
  t->struct_size = sizeof *t;
  p->struct_size = sizeof *p;
  return sluice_graph_tensor(m->graph, i, t) == SLUICE_OK &&
         sluice_plan_tensor(m->plan, i, p) == SLUICE_OK;
}

static npu_status_t fill_constants(npu_t* npu, const model_t* m,
                                   const npu_planned_t* from) {
  uint32_t i;
  for (i = 0; i < m->counts.tensors; ++i) {
    sluice_tensor_info_t t;
    sluice_tensor_place_t p;
    npu_status_t status;
    if (!tensor_at(m, i, &t, &p) || t.kind != SLUICE_TENSOR_CONSTANT) continue;
    if (p.region != SLUICE_REGION_CONST) continue;
    status = fill_constant(npu, m, &t, &p, from);
    if (status != NPU_OK) return status;
  }
  return NPU_OK;
}

/* Reschedules from the earlier plan, if any: searches only the changed parts. */
static npu_status_t schedule(npu_t* npu, model_t* m, uint64_t deadline_ns,
                             sluice_plan_t** plan) {
  sluice_reschedule_options_t again;
  sluice_schedule_options_t options;
  sluice_diagnostic_t diagnostic;
  sluice_status_t status;
  memset(&again, 0, sizeof again);
  memset(&options, 0, sizeof options);
  memset(&diagnostic, 0, sizeof diagnostic);
  again.struct_size = sizeof again;
  options.struct_size = sizeof options;
  diagnostic.struct_size = sizeof diagnostic;
  options.scratchpad_bytes = npu->share_end - npu->share_begin;
  options.deadline_ns = deadline_ns;
  *plan = NULL;
  if (m->plan == NULL) {
    status = sluice_schedule(npu->context, m->graph, npu->hardware, &options, plan,
                             &diagnostic);
  } else {
    again.previous = m->plan;
    again.schedule = &options;
    status = sluice_reschedule(npu->context, m->graph, npu->hardware, &again, plan,
                               &diagnostic);
  }
  return status == SLUICE_OK ? NPU_OK : from_sluice(npu, &diagnostic);
}

static uint64_t bytes_of(const uint32_t words[2]) {
  return words[0] | (uint64_t)words[1] << 32;
}

/* A window in device memory for every region of the stream that has none of that size
 * yet. Regions that one run uses move; weights and states stay. */
static npu_status_t place(npu_t* npu, model_t* m, const sluice_stream_header_t* h) {
  uint32_t r;
  for (r = SLUICE_REGION_GBUF + 1; r < SLUICE_REGION_COUNT; ++r) {
    const uint64_t need = bytes_of(h->region_bytes[r]);
    sluice_device_window_t* w = &m->window[r];
    uint64_t at, left, bytes;
    if (need <= w->end - w->begin) continue;
    if (!device_memory_take(&npu->dram, need, h->region_alignment, &at)) {
      return refuse(npu, NPU_DOES_NOT_FIT, "the device's memory is used up");
    }
    if (w->end > w->begin) device_memory_give(&npu->dram, w->begin);
    w->begin = at;
    w->end = at + need;
    if (r != SLUICE_REGION_STATE) continue;
    memset(npu->piece, 0, sizeof npu->piece); /* states start zeroed */
    for (left = need; left > 0; left -= bytes, at += bytes) {
      bytes = left < kPiece ? left : kPiece;
      (void)dram_copy(npu, at, npu->piece, bytes, SLUICE_DEVICE_WRITE_DRAM);
    }
  }
  m->window[SLUICE_REGION_GBUF].begin = m->share_begin;
  m->window[SLUICE_REGION_GBUF].end = m->share_end;
  return NPU_OK;
}

/* Copies the plan's stream and relocates it to the model's windows. */
static npu_status_t patch(npu_t* npu, model_t* m) {
  uint64_t base[SLUICE_REGION_COUNT];
  const void* image;
  size_t size;
  unsigned char* copy;
  sluice_walker_t walker;
  npu_status_t status;
  uint32_t r;
  (void)sluice_plan_stream(m->plan, &image, &size);
  copy = (unsigned char*)heap_take(npu, size);
  if (copy == NULL) return refuse(npu, NPU_DOES_NOT_FIT, "no memory for the stream");
  memcpy(copy, image, size);
  if (sluice_walk_open(&walker, copy, size, NULL) != SLUICE_WALK_OK) {
    heap_give(npu, copy);
    return refuse(npu, NPU_BAD_MODEL, "the stream does not open");
  }
  status = place(npu, m, &walker.header);
  for (r = 0; r < SLUICE_REGION_COUNT; ++r) base[r] = m->window[r].begin;
  if (status == NPU_OK && sluice_walk_relocate(copy, base) != SLUICE_WALK_OK) {
    status = refuse(npu, NPU_BAD_MODEL, "the stream cannot be placed");
  }
  if (status != NPU_OK) {
    heap_give(npu, copy);
    return status;
  }
  heap_give(npu, m->stream);
  m->stream = copy;
  m->stream_bytes = size;
  return NPU_OK;
}

static void drop(npu_t* npu, model_t* m) {
  uint32_t r;
  for (r = SLUICE_REGION_GBUF + 1; r < SLUICE_REGION_COUNT; ++r) {
    if (m->window[r].end > m->window[r].begin) {
      device_memory_give(&npu->dram, m->window[r].begin);
    }
  }
  heap_give(npu, m->stream);
  heap_give(npu, m->bytes);
  sluice_plan_destroy(m->plan);
  sluice_graph_destroy(m->graph);
  memset(m, 0, sizeof *m);
}

/* The driver's own copies: the checked graph, and its bytes for the device. */
static npu_status_t keep_graph(npu_t* npu, model_t* m, const void* graph, size_t size) {
  sluice_diagnostic_t diagnostic;
  memset(&diagnostic, 0, sizeof diagnostic);
  diagnostic.struct_size = sizeof diagnostic;
  if (sluice_graph_create(npu->context, graph, size, &m->graph, &diagnostic) !=
      SLUICE_OK) {
    return from_sluice(npu, &diagnostic);
  }
  m->counts.struct_size = sizeof m->counts;
  (void)sluice_graph_count(m->graph, &m->counts);
  m->bytes = (unsigned char*)heap_take(npu, size);
  if (m->bytes == NULL) {
    return refuse(npu, NPU_DOES_NOT_FIT, "no memory for the graph");
  }
  memcpy(m->bytes, graph, size);
  m->size = size;
  return NPU_OK;
}

static npu_status_t load_into(npu_t* npu, model_t* m, const npu_planned_t* p,
                              uint64_t deadline_ns) {
  npu_status_t status = keep_graph(npu, m, p->graph, p->graph_bytes);
  m->share_begin = npu->share_begin;
  m->share_end = npu->share_end;
  if (p->share_end != 0) {
    m->share_begin = p->share_begin;
    m->share_end = p->share_end;
  }
  if (status == NPU_OK && p->plan == NULL) {
    status = schedule(npu, m, deadline_ns, &m->plan);
  } else if (status == NPU_OK) {
    sluice_diagnostic_t d;
    memset(&d, 0, sizeof d);
    d.struct_size = sizeof d;
    if (sluice_plan_create(npu->context, p->plan, p->plan_bytes, &m->plan, &d) !=
            SLUICE_OK ||
        sluice_verify(npu->context, m->graph, npu->hardware, m->plan, &d) !=
            SLUICE_OK) {
      status = from_sluice(npu, &d);
    }
  }
  if (status == NPU_OK) status = patch(npu, m);
  if (status == NPU_OK) status = fill_constants(npu, m, p);
  m->fits = status == NPU_OK;
  return status;
}

static npu_status_t load(npu_t* npu, const npu_planned_t* p, uint64_t deadline_ns,
                         npu_model_t* out) {
  npu_status_t status;
  model_t* m = NULL;
  int i;
  *out = 0;
  if (p->graph == NULL) return refuse(npu, NPU_BAD_CALL, "no graph");
  if (p->share_end != 0 &&
      (p->share_begin >= p->share_end || p->share_end > npu->scratchpad_bytes ||
       p->share_begin % kAlignment != 0)) {
    return refuse(npu, NPU_BAD_CALL, "no such share of the scratchpad");
  }
  for (i = 0; i < kMaxModels && m == NULL; ++i) {
    if (npu->models[i].handle == 0) m = &npu->models[i];
  }
  if (m == NULL) return refuse(npu, NPU_DOES_NOT_FIT, "too many models");
  status = load_into(npu, m, p, deadline_ns);
  if (status != NPU_OK) {
    drop(npu, m);
    return status;
  }
  m->handle = *out = ++npu->last_handle;
  return NPU_OK;
}

npu_status_t npu_load(npu_t* npu, const void* graph, size_t graph_bytes,
                      uint64_t deadline_ns, npu_read_fn read, void* user,
                      npu_model_t* out) {
  npu_planned_t p;
  if (npu == NULL || out == NULL) return NPU_BAD_CALL;
  memset(&p, 0, sizeof p);
  p.graph = graph;
  p.graph_bytes = graph_bytes;
  p.read = read;
  p.user = user;
  return load(npu, &p, deadline_ns, out);
}

npu_status_t npu_load_planned(npu_t* npu, const npu_planned_t* planned,
                              npu_model_t* out) {
  if (npu == NULL || planned == NULL || out == NULL) return NPU_BAD_CALL;
  *out = 0;
  if (planned->plan == NULL) return refuse(npu, NPU_BAD_CALL, "no plan");
  return load(npu, planned, 0, out);
}

npu_status_t npu_unload(npu_t* npu, npu_model_t model) {
  model_t* m = find(npu, model);
  if (m == NULL) return NPU_BAD_CALL;
  drop(npu, m);
  return NPU_OK;
}

/* Inputs to the device, or outputs from it; their number and bytes must match. */
static npu_status_t move_all(npu_t* npu, const model_t* m, uint32_t kind,
                             const npu_buffer_t* buffers, uint32_t count, int dry) {
  uint32_t i, n = 0;
  for (i = 0; i < m->counts.tensors; ++i) {
    sluice_tensor_info_t t;
    sluice_tensor_place_t p;
    if (!tensor_at(m, i, &t, &p) || t.kind != kind) continue;
    if (n >= count || buffers == NULL || buffers[n].data == NULL ||
        buffers[n].bytes != t.bytes) {
      return refuse(npu, NPU_BAD_CALL, "buffers do not match the model's tensors");
    }
    if (!dry && p.region != 255 &&
        !move_tensor(npu, m, &t, &p, (unsigned char*)buffers[n].data,
                     kind == SLUICE_TENSOR_INPUT ? SLUICE_DEVICE_WRITE_DRAM
                                                 : SLUICE_DEVICE_READ_DRAM)) {
      return refuse(npu, NPU_DEVICE_FAULT, "the device did not move a tensor whole");
    }
    ++n;
  }
  if (n != count) return refuse(npu, NPU_BAD_CALL, "another number of buffers");
  return NPU_OK;
}

/* Submits and waits. Resets the device after a fault or a timeout. */
static npu_status_t execute(npu_t* npu, sluice_device_submission_t* s) {
  int code = npu->table->submit(npu->device, s);
  if (code == SLUICE_DEVICE_OK) {
    code = npu->table->wait(npu->device, npu->timeout_ns, s);
  }
  s->fault[sizeof s->fault - 1] = '\0';
  if (code == SLUICE_DEVICE_OK) return NPU_OK;
  if (code == SLUICE_DEVICE_INVALID) {
    return refuse(npu, NPU_BAD_CALL, s->fault);
  }
  (void)npu->table->reset(npu->device);
  if (code == NPU_DEVICE_TIMEOUT) {
    return refuse(npu, NPU_DEVICE_FAULT, "the device did not end the stream in time");
  }
  return refuse(npu, NPU_DEVICE_FAULT,
                s->fault[0] != '\0' ? s->fault : "the device stopped the stream");
}

npu_status_t npu_run(npu_t* npu, npu_model_t model, npu_run_t* run) {
  sluice_device_submission_t s;
  npu_status_t status;
  model_t* m = find(npu, model);
  if (m == NULL || run == NULL) return NPU_BAD_CALL;
  if (!m->fits) {
    return refuse(npu, NPU_DOES_NOT_FIT, "the model has no plan in this share");
  }
  status = move_all(npu, m, SLUICE_TENSOR_OUTPUT, run->outputs, run->output_count, 1);
  if (status != NPU_OK) return status;
  status = move_all(npu, m, SLUICE_TENSOR_INPUT, run->inputs, run->input_count, 0);
  if (status != NPU_OK) return status;
  memset(&s, 0, sizeof s);
  s.stream = m->stream;
  s.stream_bytes = m->stream_bytes;
  s.graph = m->bytes;
  s.graph_bytes = m->size;
  memcpy(s.window, m->window, sizeof s.window);
  s.parameters = run->parameters;
  s.parameter_count = run->parameter_count;
  status = execute(npu, &s);
  if (status != NPU_OK) return status;
  run->cycles = s.cycles;
  return move_all(npu, m, SLUICE_TENSOR_OUTPUT, run->outputs, run->output_count, 0);
}

/* Do weights and states have the same places in the new plan as in the old one? */
static int same_places(const model_t* m, const sluice_plan_t* plan) {
  uint32_t i;
  for (i = 0; i < m->counts.tensors; ++i) {
    sluice_tensor_info_t t;
    sluice_tensor_place_t was, is;
    is.struct_size = sizeof is;
    if (!tensor_at(m, i, &t, &was) || sluice_plan_tensor(plan, i, &is) != SLUICE_OK) {
      return 0;
    }
    if (t.kind != SLUICE_TENSOR_CONSTANT && t.kind != SLUICE_TENSOR_STATE) continue;
    if (memcmp(&was, &is, sizeof is) != 0) return 0;
  }
  return 1;
}

static npu_status_t reschedule(npu_t* npu, model_t* m, uint64_t deadline_ns) {
  sluice_plan_t* plan;
  sluice_plan_t* old = m->plan;
  npu_status_t status = schedule(npu, m, deadline_ns, &plan);
  m->fits = 0;
  m->share_begin = npu->share_begin;
  m->share_end = npu->share_end;
  if (status != NPU_OK) return status;
  if (!same_places(m, plan)) {
    sluice_plan_destroy(plan);
    return refuse(npu, NPU_BAD_MODEL, "the new plan has the weights elsewhere");
  }
  m->plan = plan;
  status = patch(npu, m);
  if (status == NPU_OK) {
    m->fits = 1;
    sluice_plan_destroy(old);
  } else {
    m->plan = old;
    sluice_plan_destroy(plan);
  }
  return status;
}

npu_status_t npu_set_share(npu_t* npu, uint64_t begin, uint64_t end,
                           uint64_t deadline_ns, uint32_t* unfit) {
  int i;
  if (npu == NULL || unfit == NULL) return NPU_BAD_CALL;
  if (begin >= end || end > npu->scratchpad_bytes || begin % kAlignment != 0) {
    return refuse(npu, NPU_BAD_CALL, "no such share of the scratchpad");
  }
  npu->share_begin = begin;
  npu->share_end = end;
  *unfit = 0;
  for (i = 0; i < kMaxModels; ++i) {
    if (npu->models[i].handle == 0) continue;
    if (reschedule(npu, &npu->models[i], deadline_ns) != NPU_OK) ++*unfit;
  }
  return NPU_OK;
}

uint64_t npu_scratchpad(const npu_t* npu) { return npu->scratchpad_bytes; }

void npu_memory(const npu_t* npu, uint64_t* device_bytes, uint64_t* host_peak_bytes) {
  sluice_memory_stats_t stats;
  memset(&stats, 0, sizeof stats);
  stats.struct_size = sizeof stats;
  (void)sluice_context_memory(npu->context, &stats);
  *device_bytes = npu->dram.used;
  *host_peak_bytes = stats.peak_bytes + npu->heap_map.peak;
}

void npu_close(npu_t* npu) {
  int i;
  if (npu == NULL) return;
  for (i = 0; i < kMaxModels; ++i) drop(npu, &npu->models[i]);
  if (npu->device != NULL) npu->table->close(npu->device);
  sluice_hardware_destroy(npu->hardware);
  sluice_context_destroy(npu->context);
}
