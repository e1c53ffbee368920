/* SPDX-License-Identifier: Apache-2.0 */
/* What the host does between runs: bytes of the scratchpad, which lie in DRAM, vectors and
 * blocks that it lays out for VTA, and what it makes of sums. */
#include "sluice_vta_internal.h"

void vta_get(state_t* s, uint64_t at, uint32_t bytes, void* to) {
  const uint32_t* home = s->input->home + at;
  uint32_t done = 0, n;
  for (; done < bytes; done += n) {
    for (n = 1; done + n < bytes && home[done + n] == home[done] + n;) ++n;
    vta_read(s, home[done], (unsigned char*)to + done, n);
  }
}

/* What buffers hold of DRAM [begin, end) is no longer true. */
static void forget(state_t* s, uint64_t begin, uint64_t end) {
  uint32_t memory, i, k;
  for (memory = SLUICE_VTA_OF_WGT; memory <= SLUICE_VTA_OF_ACC; ++memory)
    for (i = 0; i < SLUICE_VTA_BOXES; ++i)
      for (k = 0; k < 2; ++k) {
        box_t* x = &s->buffer[memory].box[i];
        if (x->begin[k] < end && begin < x->end[k]) x->end[0] = x->begin[0];
      }
}

void vta_put(state_t* s, uint64_t at, uint32_t bytes, const void* from) {
  const uint32_t image = s->input->region[SLUICE_REGION_GBUF] + (uint32_t)at;
  uint32_t i;
  forget(s, image, (uint64_t)image + bytes);
  for (i = 0; i < bytes; ++i) s->input->home[at + i] = image + i;
  vta_write(s, image, from, bytes);
}

void vta_change(state_t* s, const sluice_walk_operand_t* o) {
  const uint64_t begin = s->input->region[o->region] + o->offset, end = begin + o->span;
  uint32_t i;
  for (i = 0; i < s->input->home_count; ++i) {
    unsigned char byte;
    if (s->input->home[i] < begin || s->input->home[i] >= end) continue;
    vta_get(s, i, 1, &byte);
    vta_put(s, i, 1, &byte);
  }
  forget(s, begin, end);
}

void vta_pack_input(state_t* s, const job_t* j, const part_t* a, const window_t* v,
                    box_t* x) {
  const uint32_t at = vta_stage(s, x->count * 16);
  uint32_t h, w, i, b;
  for (h = 0; h < v->h; ++h)
    for (w = 0; w < v->w; ++w)
      for (i = 0; i < a->cn; ++i) {
        const uint32_t count = least(16, v->channels - i * 16);
        unsigned char block[16];
        memset(block, j->t.input_zero & 255, 16);
        if (h - v->top < v->hn && w - v->left < v->wn) {
          vta_get(s,
                  v->at + (uint64_t)(h - v->top) * j->t.in.stride[1] +
                      (uint64_t)(w - v->left) * j->t.in.stride[2] + i * 16,
                  count, block);
          for (b = 0; b < count && j->t.in.dtype == SLUICE_DTYPE_UINT8; ++b)
            block[b] ^= 128;
        }
        vta_write(s, at + ((h * v->w + w) * a->cn + i) * 16, block, 16);
      }
  s->counts->packed_bytes += (uint64_t)x->count * 16;
  vta_move(s, SLUICE_VTA_OF_INP, x->first, at, 1, x->count, x->count, x);
}

/* The weight of output channel k and the input channel c of its filter, at one position,
 * minus its zero point. */
static int32_t weight(state_t* s, const job_t* j, uint32_t k, uint32_t tap,
                      uint32_t c) {
  unsigned char byte;
  vta_get(s,
          j->t.weight.offset + (uint64_t)k * j->t.filter[0] +
              (uint64_t)(tap / j->t.cols) * j->t.filter[1] +
              (uint64_t)(tap % j->t.cols) * j->t.filter[2] +
              (uint64_t)c * j->t.filter[3],
          1, &byte);
  return (j->t.weight.dtype == SLUICE_DTYPE_UINT8 ? (int32_t)byte : (signed char)byte) -
         j->t.weight_zero;
}

static int32_t to_int8(int32_t w) { return w > 127 ? 127 : w < -128 ? -128 : w; }

/* Each pass has as much of a weight as the passes before have left and int8 holds. */
void vta_pack_block(state_t* s, const job_t* j, uint32_t kb, uint32_t cb, uint32_t tap,
                    uint32_t pass, uint32_t to) {
  signed char block[256] = {0};
  uint32_t k, c, i, low;
  for (k = kb * 16; k < least(kb * 16 + 16, j->k); ++k) {
    const uint32_t count = vta_channels_of(j, k, &low);
    for (c = 0; c < 16; ++c) {
      int32_t w;
      if (cb * 16 + c - low >= count) continue;
      w = weight(s, j, k, tap, cb * 16 + c - low);
      for (i = 0; i < pass; ++i) w -= to_int8(w);
      block[k % 16 * 16 + c] = (signed char)to_int8(w);
    }
  }
  vta_write(s, to, block, 256);
}

void vta_bias_row(state_t* s, const job_t* j, uint32_t kb, uint32_t to) {
  uint32_t row[16] = {0}, k, tap, c, low;
  for (k = kb * 16; k < least(kb * 16 + 16, j->k); ++k) {
    const uint32_t count = vta_channels_of(j, k, &low);
    uint32_t sum = 0, bias = 0;
    for (tap = 0; tap < j->taps && j->t.input_zero != 0; ++tap)
      for (c = 0; c < count; ++c) sum += (uint32_t)weight(s, j, k, tap, c);
    if (j->t.last && j->t.parameters.span != 0) {
      vta_get(s, j->t.parameters.offset + (uint64_t)k * j->t.parameters.stride[2], 4,
              &bias);
    }
    row[k % 16] = bias - sum * (uint32_t)j->t.input_zero;
  }
  vta_write(s, to, row, 64);
}

void vta_requantise(state_t* s, const job_t* j, const part_t* a, uint32_t planes,
                    uint32_t entries) {
  uint32_t entry, k, b, i;
  for (k = 0; k < a->kn; ++k) {
    const uint32_t from = (a->k0 + k) * 16, count = least(16, j->k - from);
    int32_t row[16][3];
    for (i = 0; i < count; ++i) {
      row[i][1] = j->t.multiplier;
      row[i][2] = j->t.shift;
      if (j->t.parameters.span == 0) continue;
      vta_get(s,
              j->t.parameters.offset + (uint64_t)(from + i) * j->t.parameters.stride[2],
              12, row[i]);
    }
    for (entry = k; entry < entries; entry += a->kn) {
      unsigned char plane[PLANES][16], made[16 * 4];
      for (b = 0; b < PLANES; ++b) {
        vta_read(s, planes + (b * entries + entry) * 16, plane[b], 16);
      }
      for (i = 0; i < count; ++i) {
        const uint32_t sum = plane[0][i] | (uint32_t)plane[1][i] << 8 |
                             (uint32_t)plane[2][i] << 16 | (uint32_t)plane[3][i] << 24;
        int32_t v = target_scale((int32_t)sum, row[i][1], row[i][2], j->t.once) +
                    j->t.output_zero;
        if (v < j->t.low) v = j->t.low;
        if (v > j->t.high) v = j->t.high;
        for (b = 0; b < j->size; ++b) {
          made[i * j->size + b] = (unsigned char)((uint32_t)v >> 8 * b);
        }
      }
      vta_put(s, vta_output_at(j, a, entry / a->kn) + from * j->size, count * j->size,
              made);
      s->counts->requantised += count;
    }
  }
}
