// SPDX-License-Identifier: Apache-2.0
#include "model/core_array.h"

#include "base/checked.h"

namespace sluice {
namespace {

enum CoreDim { kB, kC, kK, kH, kW, kCoreDims };

// The dim cut along each direction of the core array. Ties go to the earlier row.
constexpr uint8_t kPartitions[6][2] = {{kC, kK}, {kC, kB}, {kB, kK},
                                       {kC, kW}, {kH, kK}, {kH, kW}};

struct Work {  // one group of a tile
  int64_t size[kCoreDims];
  int64_t r, s, stride_h, stride_w;
  int64_t ops;
  int64_t rounds;      // groups run one after another
  int64_t groups;      // all groups, for energy
  int64_t duplicates;  // groups side by side on one core
};

Work MakeWork(const CoreArray& array, const CoreLayer& layer, const int32_t extent[4]) {
  Work w = {};
  const int64_t group_k = Max(layer.k / layer.groups, 1);
  w.size[kB] = extent[0];
  w.size[kH] = extent[1];
  w.size[kW] = extent[2];
  w.size[kK] = extent[3];
  w.size[kC] = layer.c / layer.groups;
  w.groups = CeilDivide(extent[3], group_k);
  if (w.groups > 1) w.size[kK] = group_k;
  if (layer.activations) {
    w.groups *= w.size[kB];
    w.size[kB] = 1;
  }
  w.r = layer.r;
  w.s = layer.s;
  w.stride_h = layer.stride_h;
  w.stride_w = layer.stride_w;
  w.duplicates = 1;
  w.rounds = w.groups;
  if (w.groups > 1) {
    // Zero when one group fills the unit; then the scratchpad causes no stall.
    w.duplicates = Min(array.vector / w.size[kC], array.lane / w.size[kK]);
    if (w.duplicates > 1) {
      w.duplicates = Min(w.duplicates, w.groups);
      w.rounds = CeilDivide(w.groups, w.duplicates);
    }
  }
  w.ops = w.size[kC] * w.size[kK] * w.r * w.s * w.size[kH] * w.size[kW] * w.size[kB];
  return w;
}

// One partitioning of one group: what each core gets.
struct Share {
  int64_t cut[kCoreDims];
  int64_t part[kCoreDims];  // steps per core; C and K in units of vector and lane
  int64_t k_fit, k_rounds;
  int64_t input_fit;                   // ifmap pixels the core input buffer holds
  int64_t input_reads, output_writes;  // of all cores
};

bool MakeShare(const CoreArray& array, const Work& w, const uint8_t dims[2], Share* s) {
  for (int d = 0; d < kCoreDims; ++d) s->cut[d] = 1;
  s->cut[dims[0]] = array.rows;
  s->cut[dims[1]] = array.columns;
  for (int d = 0; d < kCoreDims; ++d) {
    const int64_t unit = d == kC ? array.vector : d == kK ? array.lane : 1;
    const int64_t steps = unit * s->cut[d];
    s->part[d] = steps == 1 ? w.size[d] : CeilDivide(w.size[d], steps);
  }
  s->input_fit = array.input_bytes / s->part[kC];
  const int64_t k_most = array.weight_bytes / (w.r * w.s * s->part[kC]);
  if (k_most == 0 || s->input_fit / w.r < w.s) return false;
  s->k_fit = Min(s->part[kK], k_most);
  s->k_rounds = CeilDivide(s->part[kK], s->k_fit);
  s->input_reads = w.ops / w.size[kK] * s->part[kK] * s->cut[kK];
  s->output_writes = w.ops / w.size[kC] * s->part[kC] * s->cut[kC];
  return true;
}

// The ofmap pixels of each core are cut into h x w parts, made one after another.
struct Rounds {
  int64_t h, w;
};

struct Best {  // energy x time of the cost, if there is one
  double product = 0;
  CoreCost cost = {};
};

bool Candidate(const CoreArray& a, const Work& w, const Share& s, Rounds rounds,
               CoreCost* out) {
  const int64_t h_chunks = (rounds.w == 1 ? 1 : rounds.h) * s.cut[kH];
  const int64_t rows = w.size[kH] + (w.r - w.stride_h) * (h_chunks - 1);
  const int64_t columns = w.size[kW] + (w.s - w.stride_w) * (s.cut[kW] - 1);
  if (rows < 0 || columns < 0) return false;
  const int64_t ifmap = rows * w.size[kC] * w.size[kB] * columns;
  const int64_t weights = w.r * w.s * w.size[kC] * w.size[kK];
  const int64_t ofmap = w.size[kH] * w.size[kW] * w.size[kK] * w.size[kB];
  const int64_t weight_copies = s.cut[kH] * s.cut[kW] * s.cut[kB];
  const int64_t gbuf_reads = ifmap * s.k_rounds + weights;
  const int64_t input_writes = ifmap * s.k_rounds * s.cut[kK];
  const int64_t weight_writes = weights * weight_copies;
  const int64_t weight_reads = weight_writes * rounds.w * rounds.h * s.part[kB];
  const int64_t output_reads = s.output_writes + s.cut[kC] * ofmap;
  const double groups = static_cast<double>(w.groups);

  const double gbuf = static_cast<double>(gbuf_reads) * a.gbuf_read_pj +
                      static_cast<double>(ofmap) * a.gbuf_write_pj;
  const double core = static_cast<double>(s.input_reads) * a.input_read_pj +
                      static_cast<double>(input_writes) * a.input_write_pj +
                      static_cast<double>(weight_reads) * a.weight_read_pj +
                      static_cast<double>(weight_writes) * a.weight_write_pj +
                      static_cast<double>(output_reads) * a.output_read_pj +
                      static_cast<double>(s.output_writes) * a.output_write_pj +
                      static_cast<double>(ofmap) * a.slice_read_pj +
                      static_cast<double>(ofmap) * a.slice_write_pj;
  out->scratchpad_pj = gbuf * groups;
  out->core_pj = core * groups;
  out->arithmetic_pj = static_cast<double>(w.ops) * a.mac_pj * groups;
  out->energy_pj = out->scratchpad_pj + out->core_pj + out->arithmetic_pj;
  const int64_t compute =
      s.part[kC] * s.part[kK] * s.part[kH] * s.part[kW] * s.part[kB] * w.r * w.s;
  const int64_t feed = CeilDivide(gbuf_reads * w.duplicates, a.read_bytes_per_cycle);
  out->cycles = Max(compute, feed) * w.rounds;
  return true;
}

// Takes a tiling into h_rounds x w_rounds if its energy x time is less than all before.
void Consider(const CoreArray& a, const Work& w, const Share& s, Rounds rounds,
              Best* best) {
  CoreCost cost;
  if (!Candidate(a, w, s, rounds, &cost)) return;
  const double product = cost.energy_pj * static_cast<double>(cost.cycles);
  if (best->cost.cycles != 0 && product >= best->product) return;
  best->product = product;
  best->cost = cost;
}

// a / b, rounded up; both at least 1. Divisions of 64 bits would take most of the time.
int32_t RoundsOf(int32_t a, int32_t b) { return (a - 1) / b + 1; }

// Tries all pixel tilings of one partitioning.
void TryShare(const CoreArray& a, const Work& w, const Share& s, Best* best) {
  // Where windows do not leave out rows, more rounds never cost less. Then nothing
  // costs less than one round, and of all tilings with as many rounds along W the
  // narrowest tiles leave most room for rows.
  const bool grows = w.r >= w.stride_h;
  if (grows && best->cost.cycles != 0) {
    Best least = *best;
    Consider(a, w, s, {1, 1}, &least);
    if (least.product >= best->product) return;
  }
  const int32_t fit = static_cast<int32_t>(s.input_fit);
  const int32_t r = static_cast<int32_t>(w.r), taps = static_cast<int32_t>(w.s);
  const int32_t step_h = static_cast<int32_t>(w.stride_h);
  const int32_t step_w = static_cast<int32_t>(w.stride_w);
  const int32_t part_h = static_cast<int32_t>(s.part[kH]);
  const int32_t part_w = static_cast<int32_t>(s.part[kW]);
  const int32_t fit_w = (fit / r - taps) / step_w + 1;
  int32_t last_h = 0;
  for (int32_t w1 = Min(Min(fit_w, a.output_bytes), part_w); w1 >= 1; --w1) {
    const int32_t w_rounds = RoundsOf(part_w, w1);
    if (grows) w1 = RoundsOf(part_w, w_rounds);
    const int32_t input_w = (w1 - 1) * step_w + taps;
    const int32_t h1 =
        Min(Min(a.output_bytes / w1, (fit / input_w - r) / step_h + 1), part_h);
    if (h1 == last_h || h1 < 1) continue;
    last_h = h1;
    Consider(a, w, s, {RoundsOf(part_h, h1), w_rounds}, best);
  }
}

void VectorCost(const CoreArray& array, const CoreLayer& layer, const int32_t extent[4],
                CoreCost* out) {
  const int64_t ops = int64_t{extent[0]} * extent[1] * extent[2] * extent[3] *
                      layer.operands * layer.r * layer.s;
  *out = CoreCost{};
  out->cycles = CeilDivide(ops, array.vector_ops_per_cycle);
  out->arithmetic_pj = static_cast<double>(ops) * array.vector_op_pj;
  out->energy_pj = out->arithmetic_pj;
}

}  // namespace

bool CoreArrayCost(const CoreArray& array, const CoreLayer& layer,
                   const int32_t extent[4], CoreCost* out) {
  if (layer.vector_op) {
    VectorCost(array, layer, extent, out);
    return true;
  }
  const Work work = MakeWork(array, layer, extent);
  Best best;
  for (const uint8_t(&dims)[2] : kPartitions) {
    Share share;
    if (!MakeShare(array, work, dims, &share)) continue;
    TryShare(array, work, share, &best);
  }
  *out = best.cost;
  return out->cycles != 0;
}

__attribute__((cold)) CoreArray CoreArrayOf(const Hardware& hardware) {
  const CoreGrid& cores = hardware.cores;
  const MemoryLevel& input = hardware.levels[cores.input_level];
  const MemoryLevel& weight = hardware.levels[cores.weight_level];
  const MemoryLevel& output = hardware.levels[cores.output_level];
  const MemoryLevel& pad = hardware.scratchpad();
  CoreArray a = {};
  a.rows = static_cast<int32_t>(cores.rows);
  a.columns = static_cast<int32_t>(cores.columns);
  a.vector = static_cast<int32_t>(cores.vector);
  a.lane = static_cast<int32_t>(cores.lane);
  a.input_bytes = static_cast<int32_t>(input.capacity_bytes / a.vector);
  a.weight_bytes = static_cast<int32_t>(weight.capacity_bytes / a.vector);
  a.output_bytes = static_cast<int32_t>(output.capacity_bytes / a.lane);
  a.read_bytes_per_cycle =
      pad.bandwidth.numerator == 0
          ? INT64_MAX / 2  // never limits
          : Max(int64_t{1}, pad.bandwidth.numerator / pad.bandwidth.denominator);
  a.vector_ops_per_cycle = hardware.vector_ops_per_cycle;
  a.mac_pj = hardware.mac_pj;
  a.vector_op_pj = hardware.vector_op_pj;
  a.input_read_pj = 8 * input.read_pj_per_bit;
  a.input_write_pj = 8 * input.write_pj_per_bit;
  a.weight_read_pj = 8 * weight.read_pj_per_bit;
  a.weight_write_pj = 8 * weight.write_pj_per_bit;
  a.output_read_pj = 8 * output.read_pj_per_bit;
  a.output_write_pj = 8 * output.write_pj_per_bit;
  a.slice_read_pj = 8 * cores.slice_read_pj_per_bit;
  a.slice_write_pj = 8 * cores.slice_write_pj_per_bit;
  a.gbuf_read_pj = 8 * pad.read_pj_per_bit;
  a.gbuf_write_pj = 8 * pad.write_pj_per_bit;
  return a;
}

bool CoreTileCost(const CoreArray& array, const MappingProblem& tile, CoreCost* out) {
  const int64_t* e = tile.extent;
  const int64_t whole[] = {
      e[kDimN], e[kDimP], e[kDimQ], e[kDimK] * e[kDimG], e[kDimC] * e[kDimG],
      e[kDimR], e[kDimS]};
  for (const int64_t extent : whole) {
    if (extent > INT32_MAX) return false;
  }
  CoreLayer layer = {};
  layer.vector_op = tile.vector;
  layer.c = static_cast<int32_t>(whole[4]);
  layer.k = static_cast<int32_t>(whole[3]);
  layer.r = static_cast<int32_t>(whole[5]);
  layer.s = static_cast<int32_t>(whole[6]);
  layer.stride_h = tile.stride[0];
  layer.stride_w = tile.stride[1];
  layer.groups = static_cast<int32_t>(e[kDimG]);
  layer.operands = static_cast<int32_t>(e[kDimC]);
  int32_t extent[4];
  for (int i = 0; i < 4; ++i) extent[i] = static_cast<int32_t>(whole[i]);
  return CoreArrayCost(array, layer, extent, out);
}

bool LeastOnCores(const CoreArray& a, const MappingProblem& layer, CoreLeast* out) {
  const int64_t* e = layer.extent;
  if (layer.vector) {
    const int64_t ops = OperationCount(layer);
    out->cycles = CeilDivide(ops, a.vector_ops_per_cycle);
    out->energy_pj = static_cast<double>(ops) * a.vector_op_pj;
    return true;
  }
  const int64_t taps = e[kDimR] * e[kDimS];
  const int64_t pixels = e[kDimN] * e[kDimP] * e[kDimQ];
  const int64_t c = e[kDimC], k = e[kDimK], groups = e[kDimG];
  const int64_t whole[] = {pixels, c * groups, k * groups, taps};
  for (const int64_t extent : whole) {
    if (extent > INT32_MAX) return false;
  }
  // The cut along C and K leaves the pixels whole. If it has room for one pixel of the
  // layer, then for one of every tile.
  const int64_t part = CeilDivide(c, int64_t{a.vector} * a.rows);
  const bool fits = a.output_bytes > 0 && a.weight_bytes / (taps * part) != 0 &&
                    a.input_bytes / part / e[kDimR] >= e[kDimS] &&
                    layer.stride[0] <= e[kDimR] + 1 && layer.stride[1] <= e[kDimS] + 1;
  if (!fits) return false;
  const int64_t units_c = CeilDivide(c, int64_t{a.vector});
  const int64_t units_k = CeilDivide(k, int64_t{a.lane});
  const int64_t beside =  // groups side by side on a core
      groups == 1 ? 1 : Max<int64_t>(1, Min(a.vector / c, a.lane / k));
  out->cycles =
      CeilDivide(CeilDivide(groups, beside) * units_c * units_k * pixels * taps,
                 int64_t{a.rows} * a.columns);
  const double weights = static_cast<double>(taps * c * k);
  const double outputs = static_cast<double>(pixels * k);
  const double ops = weights * static_cast<double>(pixels);
  const bool overlap = e[kDimR] >= layer.stride[0] && e[kDimS] >= layer.stride[1];
  const double inputs = overlap ? static_cast<double>(pixels * c) : 0;
  const double sums =
      static_cast<double>(pixels * k * taps) * static_cast<double>(units_c);
  const double energy =
      ops * a.mac_pj + (inputs + weights) * a.gbuf_read_pj + outputs * a.gbuf_write_pj +
      static_cast<double>(pixels * c * taps) * static_cast<double>(units_k) *
          a.input_read_pj +
      inputs * a.input_write_pj + weights * a.weight_write_pj +
      weights * static_cast<double>(CeilDivide(pixels, int64_t{a.output_bytes})) *
          a.weight_read_pj +
      sums * a.output_write_pj + (sums + outputs) * a.output_read_pj +
      outputs * (a.slice_read_pj + a.slice_write_pj);
  out->energy_pj = energy * static_cast<double>(groups);
  return true;
}

}  // namespace sluice
