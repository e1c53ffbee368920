/* SPDX-License-Identifier: Apache-2.0 */
#include "sluice_vta_internal.h"

/* Whether the scratchpad holds the operand. */
static int held(state_t* s, const sluice_walk_operand_t* o) {
  if (o->offset + o->span <= s->input->home_count) return SLUICE_VTA_OK;
  return fail(s, SLUICE_VTA_BAD_STREAM, "an operand outside of the scratchpad");
}

static int transfer(state_t* s, const sluice_walk_visit_t* visit,
                    const sluice_instruction_t* n) {
  static const unsigned char size_of[SLUICE_DTYPE_COUNT] = {0, 1, 1, 2, 4, 8};
  const int is_load = n->opcode == SLUICE_OPCODE_LOAD;
  const uint32_t* region = s->input->region;
  sluice_transfer_t t;
  sluice_walk_operand_t dst, src;
  uint32_t i[4], a, b, bytes, run;
  int code = SLUICE_VTA_OK;
  sluice_walk_transfer(s->walker, visit->instance, n->descriptor, &t);
  if (t.index != SLUICE_NONE) return fail(s, SLUICE_VTA_UNSUPPORTED, "an indexed load");
  sluice_walk_operand(s->walker, visit, t.src, &src);
  sluice_walk_operand(s->walker, visit, t.dst, &dst);
  if ((code = held(s, is_load ? &dst : &src)) != SLUICE_VTA_OK) return code;
  bytes = size_of[src.dtype];
  run = src.stride[3] == bytes && dst.stride[3] == bytes ? src.extent[3] : 1;
  s->counts
      ->planned[t.role != SLUICE_ROLE_WEIGHT && t.role != SLUICE_ROLE_PARAMETERS] +=
      is_load ? src.bytes : 0;
  if (!is_load) {
    code = vta_flush(s);
    if (code == SLUICE_VTA_OK) code = vta_change(s, &dst);
    s->counts->copied_bytes += src.bytes;
  }
  for (i[0] = 0; i[0] < src.extent[0]; ++i[0])
    for (i[1] = 0; i[1] < src.extent[1]; ++i[1])
      for (i[2] = 0; i[2] < src.extent[2]; ++i[2])
        for (i[3] = 0; i[3] < src.extent[3] && code == SLUICE_VTA_OK; i[3] += run) {
          uint64_t from = src.offset, to = dst.offset;
          unsigned char some[256];
          for (a = 0; a < 4; ++a) {
            from += (uint64_t)i[a] * src.stride[a];
            to += (uint64_t)i[a] * dst.stride[a];
          }
          for (b = 0; b < run * bytes && is_load; ++b) {
            s->input->home[to + b] = region[src.region] + (uint32_t)from + b;
          }
          for (b = 0; b < run * bytes && !is_load && code == SLUICE_VTA_OK; b += 256) {
            const uint32_t part = smaller(run * bytes - b, 256);
            code = vta_get(s, from + b, part, some);
            if (code != SLUICE_VTA_OK) return code;
            code = vta_write(s, region[dst.region] + (uint32_t)to + b, some, part);
          }
        }
  return code;
}

static uint32_t at_least_1(int32_t v) { return v < 1 ? 1u : (uint32_t)v; }

/* Groups: how many channels of the output and of the tile's input each has. */
static int read_groups(state_t* s, job_t* j) {
  const struct sluice_vta_layer* l = &s->input->layers[j->kernel.layer];
  uint32_t groups = at_least_1(attribute(s, j, SLUICE_CONV_GROUPS));
  if (j->kernel.op == SLUICE_OP_DEPTHWISE_CONV) groups = l->input_channels;
  if (j->kernel.op == SLUICE_OP_FULLY_CONNECTED || groups == 1) return SLUICE_VTA_OK;
  if (groups == 0 || l->output_channels % groups != 0) {
    return fail(s, SLUICE_VTA_BAD_STREAM, "channels of a layer that make no groups");
  }
  j->per = l->output_channels / groups;
  j->group = j->tile.origin[3] / j->per;
  j->width = j->kernel.op == SLUICE_OP_DEPTHWISE_CONV ? 1 : j->weight.extent[3];
  if (((j->tile.origin[3] + j->k - 1) / j->per - j->group + 1) * j->width != j->c) {
    return fail(s, SLUICE_VTA_UNSUPPORTED,
                "a tile that sums over a part of several groups");
  }
  return SLUICE_VTA_OK;
}

static int operand(state_t* s, const sluice_walk_visit_t* v, uint32_t index,
                   sluice_walk_operand_t* o) {
  if (index == SLUICE_NONE) return SLUICE_VTA_OK;
  sluice_walk_operand(s->walker, v, index, o);
  return held(s, o);
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
  if (j->in.dtype == SLUICE_DTYPE_UINT8) j->input_zero -= 128;
  j->weight_zero = attribute(s, j, SLUICE_CONV_WEIGHT_ZERO);
  j->passes = j->weight_zero != 0 || w->dtype == SLUICE_DTYPE_UINT8 ? 2 : 1;
}

static int compute_tile(state_t* s, const sluice_walk_visit_t* v,
                        const sluice_instruction_t* n) {
  job_t j;
  int code;
  memset(&j, 0, sizeof j);
  sluice_walk_tile(s->walker, v, n->descriptor, &j.tile);
  sluice_walk_kernel(s->walker, v->instance, j.tile.kernel, &j.kernel);
  s->layer = j.kernel.layer;
  j.first = (n->flags & SLUICE_FLAG_FIRST) != 0;
  j.last = (n->flags & SLUICE_FLAG_LAST) != 0;
  if (j.kernel.op != SLUICE_OP_CONV && j.kernel.op != SLUICE_OP_DEPTHWISE_CONV &&
      j.kernel.op != SLUICE_OP_FULLY_CONNECTED) {
    return fail(s, SLUICE_VTA_UNSUPPORTED,
                "an operator that VTA does not do: plan it for the host");
  }
  if (j.kernel.layer >= s->input->layer_count) {
    return fail(s, SLUICE_VTA_BAD_STREAM, "a layer without channels");
  }
  code = operand(s, v, j.tile.accumulator, &j.sum);
  j.out = j.sum; /* without LAST: the extents alone count */
  if (code == SLUICE_VTA_OK) code = operand(s, v, j.tile.input0, &j.in);
  if (code == SLUICE_VTA_OK) code = operand(s, v, j.tile.weight, &j.weight);
  if (code == SLUICE_VTA_OK) code = operand(s, v, j.tile.parameters, &j.parameters);
  if (code == SLUICE_VTA_OK) code = operand(s, v, j.tile.output, &j.out);
  if (code != SLUICE_VTA_OK) return code;
  j.k = j.out.extent[3];
  j.c = j.in.extent[3];
  j.kb = blocks(j.k);
  j.cb = blocks(j.c);
  read_filter(s, &j);
  if ((code = read_groups(s, &j)) != SLUICE_VTA_OK) return code;
  ++s->counts->tiles;
  return vta_run_tile(s, &j);
}

static int host_call(state_t* s, const sluice_walk_visit_t* v,
                     const sluice_instruction_t* n) {
  sluice_host_call_t call;
  uint32_t i;
  int code = vta_flush(s);
  sluice_walk_host_call(s->walker, v->instance, n->descriptor, &call);
  for (i = 0; i < call.outputs && code == SLUICE_VTA_OK; ++i) {
    sluice_walk_operand_t o;
    sluice_walk_operand(s->walker, v, call.first_operand + call.inputs + i, &o);
    code = vta_change(s, &o);
  }
  if (code != SLUICE_VTA_OK) return code;
  ++s->counts->host_calls;
  if (s->port->host(s->port->user, s->walker, v, &call) != 0) {
    return fail(s, SLUICE_VTA_PORT, "the host failed");
  }
  return SLUICE_VTA_OK;
}

static int execute(state_t* s, uint32_t e, const sluice_instruction_t* n) {
  const sluice_walk_visit_t* v = &s->cursor[e].visit;
  s->layer = SLUICE_NONE;
  switch (n->opcode) {
    case SLUICE_OPCODE_LOAD:
    case SLUICE_OPCODE_STORE:
      return transfer(s, v, n);
    case SLUICE_OPCODE_COMPUTE:
      return compute_tile(s, v, n);
    case SLUICE_OPCODE_HOST:
      return host_call(s, v, n);
    default:
      return fail(s, SLUICE_VTA_UNSUPPORTED, "a transfer between nodes");
  }
}

static int walk(state_t* s) {
  uint64_t done = 0, before;
  uint32_t e, ended;
  do {
    before = done;
    ended = 0;
    for (e = 0; e < s->walker->engines; ++e) {
      sluice_instruction_t n;
      while (sluice_walk_next(s->walker, s->cursor, e, &n)) {
        int code;
        if (!sluice_walk_waits_hold(s->walker, s->cursor, e, NULL)) break;
        if ((code = execute(s, e, &n)) != SLUICE_VTA_OK) return code;
        sluice_walk_complete(s->walker, s->cursor, e);
        ++done;
      }
      if (!sluice_walk_next(s->walker, s->cursor, e, &n)) ++ended;
    }
  } while (done != before);
  if (ended != s->walker->engines)
    return fail(s, SLUICE_VTA_BAD_STREAM, "the stream stands still");
  return vta_flush(s);
}

int sluice_vta_lower(const struct sluice_vta_input* input,
                     const struct sluice_vta_port* port,
                     struct sluice_vta_counts* counts) {
  state_t* s = input->state;
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
  s->buffer[SLUICE_VTA_OF_ACC].end = SLUICE_VTA_ACC;
  s->buffer[SLUICE_VTA_OF_ACC].first = BIAS_FIRST;
  s->buffer[SLUICE_VTA_OF_ACC].next = BIAS_FIRST;
  if (s->walker->header.node_cols * s->walker->header.node_rows != 1 ||
      s->walker->engines > SLUICE_VTA_ENGINES) {
    return fail(s, SLUICE_VTA_UNSUPPORTED, "several nodes");
  }
  if (sluice_walk_region_bytes(s->walker, SLUICE_REGION_GBUF) > input->home_count) {
    return fail(s, SLUICE_VTA_TOO_LARGE, "the scratchpad is larger than `home`");
  }
  sluice_walk_start(s->walker, s->cursor);
  return walk(s);
}
