/* SPDX-License-Identifier: Apache-2.0 */
#include "sluice_vta_internal.h"

/* The scratchpad holds the operand. */
static void check(state_t* s, const sluice_walk_operand_t* o) {
  if (o->region == SLUICE_REGION_GBUF && o->offset + o->span > s->input->home_count)
    fail(s, SLUICE_VTA_BAD_STREAM, "an operand outside of the scratchpad");
}

/* A LOAD notes where bytes lie; a STORE copies them. */
static void transfer(state_t* s, const sluice_walk_visit_t* visit,
                     const sluice_instruction_t* n) {
  const uint32_t* region = s->input->region;
  target_transfer_t t;
  const int plain = target_transfer(s->walker, visit, n, &t);
  target_runs_t runs;
  uint64_t i, b;
  s->layer = t.kernel.layer;
  if (!plain)
    fail(s, SLUICE_VTA_UNSUPPORTED, "a transfer by indices, or between nodes");
  check(s, &t.from);
  check(s, &t.to);
  if (s->code) return;
  if (t.load) {
    const int rest = t.role != SLUICE_ROLE_WEIGHT && t.role != SLUICE_ROLE_PARAMETERS;
    s->counts->planned[rest] += t.from.bytes;
  } else {
    vta_flush(s);
    vta_change(s, &t.to);
    s->counts->copied_bytes += t.from.bytes;
  }
  runs = target_runs(&t.from, &t.to);
  for (i = 0; i < runs.count; ++i) {
    const uint64_t from = target_run_at(&runs, 0, i), to = target_run_at(&runs, 1, i);
    for (b = 0; t.load && b < runs.bytes; ++b) {
      s->input->home[to + b] = region[t.from.region] + (uint32_t)(from + b);
    }
    for (b = 0; !t.load && b < runs.bytes; b += 256) {
      const uint32_t part = runs.bytes - b < 256 ? (uint32_t)(runs.bytes - b) : 256;
      unsigned char some[256];
      vta_get(s, from + b, part, some);
      vta_write(s, region[t.to.region] + (uint32_t)(to + b), some, part);
    }
  }
}

/* Groups: how many channels of the output and of the tile's input each has. */
static void read_groups(state_t* s, job_t* j) {
  const struct sluice_vta_layer* l = &s->input->layers[j->t.kernel.layer];
  const int depthwise = j->t.kernel.op == SLUICE_OP_DEPTHWISE_CONV;
  const uint32_t groups = depthwise ? l->input_channels : j->t.groups;
  if (!depthwise && groups == 1) return;
  if (groups == 0 || l->output_channels % groups != 0) {
    fail(s, SLUICE_VTA_BAD_STREAM, "channels of a layer that make no groups");
    return;
  }
  j->per = l->output_channels / groups;
  j->group = j->t.tile.origin[3] / j->per;
  j->width = depthwise ? 1 : j->t.weight.extent[3];
  if (((j->t.tile.origin[3] + j->k - 1) / j->per - j->group + 1) * j->width != j->c) {
    fail(s, SLUICE_VTA_UNSUPPORTED, "a tile that sums over a part of several groups");
  }
}

/* The n-th row's h-th product of matrices. */
static void run_matrix(state_t* s, const job_t* all, uint32_t n, uint32_t h) {
  job_t j = *all;
  sluice_walk_operand_t* const moved[] = {&j.t.in, &j.t.weight, &j.t.sum, &j.t.out};
  uint32_t i;
  for (i = 0; i < 4; ++i) {
    sluice_walk_operand_t* o = moved[i];
    o->offset += (uint64_t)n * o->stride[0] + (uint64_t)h * o->stride[1];
    o->extent[0] = o->extent[1] = 1;
  }
  j.batch = n;
  j.line = h;
  vta_run_tile(s, &j);
}

static void compute_tile(state_t* s, const sluice_walk_visit_t* v,
                         const sluice_instruction_t* n) {
  job_t j;
  target_tile_t* const t = &j.t;
  const uint32_t* const box = t->out.extent;
  uint32_t i;
  memset(&j, 0, sizeof j);
  if (!target_tile(s->walker, v, n, t)) {
    fail(s, SLUICE_VTA_UNSUPPORTED,
         "an operator that VTA does not do: plan it for the host");
  }
  s->layer = t->kernel.layer;
  if (s->layer >= s->input->layer_count) {
    fail(s, SLUICE_VTA_BAD_STREAM, "a layer without channels");
  }
  check(s, &t->in);
  check(s, &t->weight);
  check(s, &t->parameters);
  check(s, &t->sum);
  check(s, &t->out);
  if (s->code) return;
  j.k = box[3];
  j.c = t->in.extent[3];
  j.kb = blocks(j.k);
  j.cb = blocks(j.c);
  j.taps = t->rows * t->cols;
  read_groups(s, &j);
  if (t->in.dtype == SLUICE_DTYPE_UINT8) t->input_zero -= 128;
  j.size = t->out.dtype == SLUICE_DTYPE_INT32   ? 4
           : t->out.dtype == SLUICE_DTYPE_INT16 ? 2
                                                : 1;
  j.scales = s->port->scale != NULL && t->last && j.size == 1;
  j.passes = target_passes(t->weight.dtype, t->weight_zero);
  if (s->code) return;
  ++s->counts->tiles;
  s->counts->array_macs += target_macs(&t->kernel, &t->in, &t->weight, &t->out);
  if (!t->matmul) vta_run_tile(s, &j);
  for (i = 0; t->matmul && i < box[0] * box[1]; ++i) {
    run_matrix(s, &j, i / box[1], i % box[1]);
  }
}

static void host_call(state_t* s, const sluice_walk_visit_t* v,
                      const sluice_instruction_t* n) {
  sluice_host_call_t call;
  sluice_kernel_t kernel;
  uint32_t i;
  vta_flush(s);
  sluice_walk_host_call(s->walker, v->instance, n->descriptor, &call);
  for (i = 0; i < call.outputs; ++i) {
    sluice_walk_operand_t o;
    sluice_walk_operand(s->walker, v, call.first_operand + call.inputs + i, &o);
    vta_change(s, &o);
  }
  target_call(s->walker, v, &call, &kernel, &s->counts->host_macs,
              &s->counts->called_bytes);
  ++s->counts->host_calls;
  if (!s->code && s->port->host(s->port->user, s->walker, v, &call) != 0)
    fail(s, SLUICE_VTA_PORT, "the host failed");
}

static int execute(void* user, const sluice_walk_visit_t* v,
                   const sluice_instruction_t* n) {
  state_t* s = user;
  s->layer = SLUICE_NONE;
  if (n->opcode == SLUICE_OPCODE_COMPUTE) {
    compute_tile(s, v, n);
  } else if (n->opcode == SLUICE_OPCODE_HOST) {
    host_call(s, v, n);
  } else {
    transfer(s, v, n);
  }
  return s->code;
}

/* Every region, and what the lowering stages, is below 4 GiB and begins at a multiple of 256. */
static void check_regions(state_t* s) {
  const struct sluice_vta_input* in = s->input;
  uint32_t r;
  for (r = 0; r <= SLUICE_REGION_COUNT; ++r) {
    const int staging = r == SLUICE_REGION_COUNT;
    const uint64_t bytes =
        staging ? SLUICE_VTA_STAGING : sluice_walk_region_bytes(s->walker, r);
    const uint32_t at = staging ? in->staging : in->region[r];
    if (bytes > 0 && (at % 256 != 0 || at + bytes > UINT64_C(1) << 32)) {
      fail(s, SLUICE_VTA_TOO_LARGE, "a region that VTA cannot address");
    }
  }
}

int sluice_vta_lower(const struct sluice_vta_input* input,
                     const struct sluice_vta_port* port,
                     struct sluice_vta_counts* counts) {
  state_t* s = input->state;
  int stuck = 0;
  memset(s, 0, sizeof *s);
  memset(counts, 0, sizeof *counts);
  memset(input->home, 0xff, input->home_count * sizeof *input->home);
  s->layer = SLUICE_NONE;
  s->input = input;
  s->walker = input->walker;
  s->port = port;
  s->counts = counts;
  s->staged = ZERO_ROWS;
  s->buffer[SLUICE_VTA_OF_UOP].end = SLUICE_VTA_UOPS;
  s->buffer[SLUICE_VTA_OF_WGT].end = SLUICE_VTA_WGT;
  s->buffer[SLUICE_VTA_OF_INP].end = SLUICE_VTA_INP;
  s->buffer[SLUICE_VTA_OF_ACC].end = SPARE_FIRST;
  s->buffer[SLUICE_VTA_OF_ACC].first = BIAS_FIRST;
  s->buffer[SLUICE_VTA_OF_ACC].next = BIAS_FIRST;
  if (s->walker->header.node_cols * s->walker->header.node_rows != 1 ||
      s->walker->engines > SLUICE_VTA_ENGINES) {
    fail(s, SLUICE_VTA_UNSUPPORTED, "several nodes");
  }
  if (sluice_walk_region_bytes(s->walker, SLUICE_REGION_GBUF) > input->home_count) {
    fail(s, SLUICE_VTA_TOO_LARGE, "the scratchpad is larger than `home`");
  }
  check_regions(s);
  if (s->code || target_walk(s->walker, s->cursor, execute, s, &stuck) != 0)
    return s->code;
  if (stuck) fail(s, SLUICE_VTA_BAD_STREAM, "the stream stands still");
  vta_flush(s);
  return s->code;
}
