/* SPDX-License-Identifier: Apache-2.0 */
#include "sluice_vta_internal.h"

/* The operand, which the scratchpad holds. */
static void operand(state_t* s, const sluice_walk_visit_t* v, uint32_t index,
                    sluice_walk_operand_t* o) {
  target_operand(s->walker, v, index, o);
  if (o->region == SLUICE_REGION_GBUF && o->offset + o->span > s->input->home_count)
    fail(s, SLUICE_VTA_BAD_STREAM, "an operand outside of the scratchpad");
}

/* A LOAD notes where bytes lie; a STORE copies them. */
static void transfer(state_t* s, const sluice_walk_visit_t* visit,
                     const sluice_instruction_t* n) {
  const int is_load = n->opcode == SLUICE_OPCODE_LOAD;
  const uint32_t* region = s->input->region;
  sluice_transfer_t t;
  sluice_walk_operand_t dst, src;
  target_runs_t runs;
  uint64_t i, b;
  sluice_walk_transfer(s->walker, visit->instance, n->descriptor, &t);
  if (t.index != SLUICE_NONE) {
    sluice_kernel_t kernel;
    sluice_walk_kernel(s->walker, visit->instance, t.kernel, &kernel);
    s->layer = kernel.layer;
    fail(s, SLUICE_VTA_UNSUPPORTED, "an indexed load");
  }
  operand(s, visit, t.src, &src);
  operand(s, visit, t.dst, &dst);
  if (s->code) return;
  if (is_load) {
    s->counts
        ->planned[t.role != SLUICE_ROLE_WEIGHT && t.role != SLUICE_ROLE_PARAMETERS] +=
        src.bytes;
  } else {
    vta_flush(s);
    vta_change(s, &dst);
    s->counts->copied_bytes += src.bytes;
  }
  runs = target_runs(&src, &dst);
  for (i = 0; i < runs.count; ++i) {
    const uint64_t from = target_run_at(&runs, 0, i), to = target_run_at(&runs, 1, i);
    for (b = 0; is_load && b < runs.bytes; ++b) {
      s->input->home[to + b] = region[src.region] + (uint32_t)(from + b);
    }
    for (b = 0; !is_load && b < runs.bytes; b += 256) {
      const uint32_t part = runs.bytes - b < 256 ? (uint32_t)(runs.bytes - b) : 256;
      unsigned char some[256];
      vta_get(s, from + b, part, some);
      vta_write(s, region[dst.region] + (uint32_t)(to + b), some, part);
    }
  }
}

static uint32_t at_least_1(int32_t v) { return v < 1 ? 1u : (uint32_t)v; }

/* Groups: how many channels of the output and of the tile's input each has. */
static void read_groups(state_t* s, job_t* j) {
  const struct sluice_vta_layer* l = &s->input->layers[j->kernel.layer];
  uint32_t groups = at_least_1(attribute(s, j, SLUICE_CONV_GROUPS));
  if (j->kernel.op == SLUICE_OP_DEPTHWISE_CONV) groups = l->input_channels;
  if (j->kernel.op == SLUICE_OP_FULLY_CONNECTED || groups == 1) return;
  if (groups == 0 || l->output_channels % groups != 0) {
    fail(s, SLUICE_VTA_BAD_STREAM, "channels of a layer that make no groups");
    return;
  }
  j->per = l->output_channels / groups;
  j->group = j->tile.origin[3] / j->per;
  j->width = j->kernel.op == SLUICE_OP_DEPTHWISE_CONV ? 1 : j->weight.extent[3];
  if (((j->tile.origin[3] + j->k - 1) / j->per - j->group + 1) * j->width != j->c) {
    fail(s, SLUICE_VTA_UNSUPPORTED, "a tile that sums over a part of several groups");
  }
}

static void read_filter(state_t* s, job_t* j) {
  const sluice_walk_operand_t* w = &j->weight;
  j->rows = j->cols = 1;
  j->filter[0] = w->stride[2];
  j->filter[3] = w->stride[3];
  if (j->kernel.op != SLUICE_OP_FULLY_CONNECTED) {
    const int deep = j->kernel.op == SLUICE_OP_CONV;
    j->rows = w->extent[1];
    j->cols = w->extent[2];
    j->filter[0] = deep ? w->stride[0] : w->stride[3];
    j->filter[1] = w->stride[1];
    j->filter[2] = w->stride[2];
    j->filter[3] = deep ? w->stride[3] : 0;
  }
  j->taps = j->rows * j->cols;
  j->stride_h = at_least_1(attribute(s, j, SLUICE_CONV_STRIDE_H));
  j->stride_w = at_least_1(attribute(s, j, SLUICE_CONV_STRIDE_W));
  j->dilation_h = at_least_1(attribute(s, j, SLUICE_CONV_DILATION_H));
  j->dilation_w = at_least_1(attribute(s, j, SLUICE_CONV_DILATION_W));
  j->input_zero = attribute(s, j, SLUICE_CONV_INPUT_ZERO);
  j->weight_zero = attribute(s, j, SLUICE_CONV_WEIGHT_ZERO);
  j->output_zero = attribute(s, j, SLUICE_CONV_OUTPUT_ZERO);
  j->low = attribute(s, j, SLUICE_CONV_ACT_MIN);
  j->high = attribute(s, j, SLUICE_CONV_ACT_MAX);
  j->once = attribute(s, j, SLUICE_CONV_ROUNDING) != 0;
}

/* A BATCH_MATMUL's second input is a filter of one position, wherever its axes lie. */
static void read_matmul(state_t* s, job_t* j) {
  const int transposed = attribute(s, j, SLUICE_MATMUL_TRANSPOSE_B) != 0;
  j->rows = j->cols = j->taps = 1;
  j->stride_h = j->stride_w = j->dilation_h = j->dilation_w = 1;
  j->filter[0] = j->weight.stride[transposed ? 2 : 3];
  j->filter[3] = j->weight.stride[transposed ? 3 : 2];
  j->input_zero = attribute(s, j, SLUICE_MATMUL_A_ZERO);
  j->weight_zero = attribute(s, j, SLUICE_MATMUL_B_ZERO);
  j->output_zero = attribute(s, j, SLUICE_MATMUL_OUTPUT_ZERO);
  j->low = attribute(s, j, SLUICE_MATMUL_ACT_MIN);
  j->high = attribute(s, j, SLUICE_MATMUL_ACT_MAX);
  j->multiplier = attribute(s, j, SLUICE_MATMUL_MULTIPLIER);
  j->shift = attribute(s, j, SLUICE_MATMUL_SHIFT);
}

/* One product for each matrix. */
static void run_matrices(state_t* s, const job_t* all) {
  const uint32_t* e = all->out.extent;
  uint32_t n, h;
  for (n = 0; n < e[0]; ++n)
    for (h = 0; h < e[1]; ++h) {
      job_t j = *all;
      j.in.offset += (uint64_t)n * j.in.stride[0] + (uint64_t)h * j.in.stride[1];
      j.weight.offset +=
          (uint64_t)n * j.weight.stride[0] + (uint64_t)h * j.weight.stride[1];
      j.out.offset += (uint64_t)n * j.out.stride[0] + (uint64_t)h * j.out.stride[1];
      j.sum.offset += (uint64_t)n * j.sum.stride[0] + (uint64_t)h * j.sum.stride[1];
      j.in.extent[0] = j.in.extent[1] = j.out.extent[0] = j.out.extent[1] = 1;
      j.batch = n;
      j.line = h;
      vta_run_tile(s, &j);
    }
}

static void compute_tile(state_t* s, const sluice_walk_visit_t* v,
                         const sluice_instruction_t* n) {
  job_t j;
  int matmul;
  memset(&j, 0, sizeof j);
  sluice_walk_tile(s->walker, v, n->descriptor, &j.tile);
  sluice_walk_kernel(s->walker, v->instance, j.tile.kernel, &j.kernel);
  s->layer = j.kernel.layer;
  j.first = (n->flags & SLUICE_FLAG_FIRST) != 0;
  j.last = (n->flags & SLUICE_FLAG_LAST) != 0;
  matmul = j.kernel.op == SLUICE_OP_BATCH_MATMUL;
  if (j.kernel.op != SLUICE_OP_CONV && j.kernel.op != SLUICE_OP_DEPTHWISE_CONV &&
      j.kernel.op != SLUICE_OP_FULLY_CONNECTED && !matmul) {
    fail(s, SLUICE_VTA_UNSUPPORTED,
         "an operator that VTA does not do: plan it for the host");
  }
  if (j.kernel.layer >= s->input->layer_count) {
    fail(s, SLUICE_VTA_BAD_STREAM, "a layer without channels");
  }
  operand(s, v, j.tile.accumulator, &j.sum);
  operand(s, v, j.tile.input0, &j.in);
  operand(s, v, matmul ? j.tile.input1 : j.tile.weight, &j.weight);
  operand(s, v, j.tile.parameters, &j.parameters);
  /* Without an output the extents alone count. */
  operand(s, v, j.tile.output != SLUICE_NONE ? j.tile.output : j.tile.accumulator,
          &j.out);
  if (s->code) return;
  j.k = j.out.extent[3];
  j.c = j.in.extent[3];
  j.kb = blocks(j.k);
  j.cb = blocks(j.c);
  if (matmul) {
    read_matmul(s, &j);
  } else {
    read_filter(s, &j);
    read_groups(s, &j);
  }
  if (j.in.dtype == SLUICE_DTYPE_UINT8) j.input_zero -= 128;
  j.size = j.out.dtype == SLUICE_DTYPE_INT32   ? 4
           : j.out.dtype == SLUICE_DTYPE_INT16 ? 2
                                               : 1;
  j.scales = s->port->scale != NULL && j.last && j.size == 1;
  j.passes = j.weight_zero != 0 || j.weight.dtype == SLUICE_DTYPE_UINT8 ? 2 : 1;
  if (s->code) return;
  ++s->counts->tiles;
  s->counts->array_macs += target_macs(&j.kernel, &j.in, &j.weight, &j.out);
  if (matmul) {
    run_matrices(s, &j);
  } else {
    vta_run_tile(s, &j);
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
  } else if (n->opcode == SLUICE_OPCODE_FORWARD) {
    fail(s, SLUICE_VTA_UNSUPPORTED, "a transfer between nodes");
  } else {
    transfer(s, v, n);
  }
  return s->code;
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
  if (s->code || target_walk(s->walker, s->cursor, execute, s, &stuck) != 0)
    return s->code;
  if (stuck) fail(s, SLUICE_VTA_BAD_STREAM, "the stream stands still");
  vta_flush(s);
  return s->code;
}
