// SPDX-License-Identifier: Apache-2.0
#include "verify/bound.h"

#include "base/checked.h"
#include "verify/ability.h"
#include "verify/needed.h"
#include "verify/op_rules.h"
#include "verify/reuse.h"
#include "verify/room.h"

namespace sluice {
namespace judge {

// Cycles are counted in doubles, which are exact far beyond any plan that can be made
// and do not overflow on untrusted sizes.
double Up(double amount, double unit) {
  const double whole = static_cast<double>(static_cast<int64_t>(amount / unit));
  return whole * unit < amount ? whole + 1 : whole;
}

double CyclesAt(const Rational& rate, double bytes) {
  if (rate.numerator == 0) return 0;
  return static_cast<double>(
      TransferCycles(static_cast<int64_t>(bytes), rate.numerator, rate.denominator));
}

namespace {

constexpr double kBits = 8;

// The least that bytes which are no constants take, wherever they lie.
MemoryLevel Cheapest(const Hardware& h) {
  MemoryLevel best = h.dram();
  for (const OffChip& memory : h.memories) {
    const MemoryLevel& level = memory.level;
    if (CyclesAt(level.bandwidth, 1e12) < CyclesAt(best.bandwidth, 1e12)) {
      best.bandwidth = level.bandwidth;
    }
    best.read_pj_per_bit = Min(best.read_pj_per_bit, level.read_pj_per_bit);
    if (memory.read_only) continue;
    best.write_pj_per_bit = Min(best.write_pj_per_bit, level.write_pj_per_bit);
  }
  return best;
}

// Cycles that the port needs for `bytes` bytes, `constants` of which are constants.
double Port(const Hardware& h, double bytes, double constants) {
  if (h.memories.empty()) return CyclesAt(h.dram().bandwidth, bytes);
  return CyclesAt(Cheapest(h).bandwidth, bytes - constants) +
         CyclesAt(h.HomeOf(SLUICE_REGION_CONST).bandwidth, constants);
}

// A box of a layer's output as one tile on the array.
struct Shape {
  double filters = 1;  // output channels; a weight gradient's are those of the error
  double rows = 1, columns = 1;  // of output positions
  double taps = 1;
  double channels = 1;  // summed for one output
  double groups = 1;    // that share no channel
};

Shape ShapeOf(const Judge& judge, const Layer& layer, const int64_t* extent,
              const TileNeeds& needs) {
  double e[kAxes];
  for (int a = 0; a < kAxes; ++a) e[a] = static_cast<double>(extent[a]);
  Shape s;
  const Deed deed = DeedOf(layer);
  if (deed == Deed::kWeightGradient) {
    const Tensor& error = judge.graph.tensors[layer.inputs[1]];
    s.filters = e[0];
    s.channels = static_cast<double>(needs.sum_channels);
    s.columns = e[1] * e[2] * e[3] * error.extent[2];
    return s;
  }
  s.filters = e[3];
  s.rows = e[0] * e[1];
  s.columns = e[2];
  s.channels = Max(1.0, static_cast<double>(needs.sum_channels));
  if (RuleOf(layer).windows == Windows::kFilters) {
    const Tensor& in = judge.graph.tensors[layer.inputs[0]];
    const Tensor& weight = judge.graph.tensors[layer.inputs[1]];
    s.taps = static_cast<double>(weight.extent[1]) * weight.extent[2];
    if (needs.sum_channels == 0) s.groups = in.extent[3];
    if (deed == Deed::kConvolution && needs.sum_channels != 0) {
      s.groups = static_cast<double>(in.extent[3] / needs.sum_channels);
    }
  }
  return s;
}

double Passes(const Hardware& h, const Shape& s) {
  const MacArray& array = h.array;
  const double pixels = array.crosses_rows ? Up(s.rows * s.columns, array.p)
                                           : s.rows * Up(s.columns, array.p);
  const double sums = array.packs_filter ? Up(s.taps * s.channels, array.c)
                                         : s.taps * Up(s.channels, array.c);
  const double each = Up(static_cast<double>(array.k) * array.c * array.p,
                         static_cast<double>(h.macs_per_cycle)) +
                      static_cast<double>(array.fill_cycles) +
                      static_cast<double>(array.drain_cycles);
  return Up(s.filters, array.k) * pixels * sums * each;
}

// A layer on an array of cores: channels and filters in whole vectors and lanes, all
// cores busy; each operand passes the buffers once for all units that can share it.
LeastOfLayer OnCores(const Hardware& h, const Shape& s) {
  const CoreGrid& grid = h.cores;
  const MemoryLevel& input = h.levels[grid.input_level];
  const MemoryLevel& weight = h.levels[grid.weight_level];
  const MemoryLevel& output = h.levels[grid.output_level];
  const MemoryLevel& pad = h.scratchpad();
  const double k = s.filters / s.groups, c = s.channels;
  const double pixels = s.rows * s.columns;
  const double vectors = Up(c, grid.vector), lanes = Up(k, grid.lane);
  double shared = 1;  // groups of one core at a time
  if (s.groups > 1) {
    const int64_t by_c = static_cast<int64_t>(grid.vector / c);
    const int64_t by_k = static_cast<int64_t>(grid.lane / k);
    shared = static_cast<double>(Max<int64_t>(1, Min(by_c, by_k)));
  }
  LeastOfLayer costs;
  costs.cycles = Up(Up(s.groups, shared) * vectors * lanes * pixels * s.taps,
                    static_cast<double>(grid.rows) * grid.columns);
  const double held = static_cast<double>(output.capacity_bytes / grid.lane);
  const double words = s.taps * c * k, made = pixels * k, read = pixels * c;
  const double sums = made * s.taps * vectors;
  const double pj =
      words * pixels * h.mac_pj +
      kBits * ((read + words) * pad.read_pj_per_bit + made * pad.write_pj_per_bit +
               read * s.taps * lanes * input.read_pj_per_bit +
               read * input.write_pj_per_bit +
               words * (weight.write_pj_per_bit +
                        Up(pixels, Max(held, 1.0)) * weight.read_pj_per_bit) +
               sums * output.write_pj_per_bit + (sums + made) * output.read_pj_per_bit +
               made * (grid.slice_read_pj_per_bit + grid.slice_write_pj_per_bit));
  costs.energy = pj * s.groups;
  return costs;
}

double Outputs(const int64_t* extent) {
  double outputs = 1;
  for (int a = 0; a < kAxes; ++a) outputs *= static_cast<double>(extent[a]);
  return outputs;
}

// Tiles that make as many elements of a layer's output as one box and read so many bytes.
LeastOfLayer OfTiles(const Judge& judge, const Layer& layer, const int64_t* extent,
                     const TileNeeds& needs, double read) {
  const Hardware& h = judge.hardware;
  const double written =
      judge.graph.tensors[layer.outputs[0]].element_bytes * Outputs(extent);
  const double work = static_cast<double>(needs.work);
  LeastOfLayer costs;
  costs.cycles = Up(work, static_cast<double>(needs.macs ? h.macs_per_cycle
                                                         : h.vector_ops_per_cycle));
  const Deed deed = DeedOf(layer);
  costs.energy = work * (needs.macs ? h.mac_pj : h.vector_op_pj);
  costs.macs = needs.macs ? work : 0;
  const Rational rate = h.scratchpad().bandwidth;
  if (rate.numerator != 0) {
    const double moved = PricedBytes(judge.graph, layer, needs, extent) + written;
    costs.cycles = Max(costs.cycles, Up(moved * static_cast<double>(rate.denominator),
                                        static_cast<double>(rate.numerator)));
  }
  const bool mapped = h.scratchpad_level != 0;
  // Nests of gradients of pools and of transposed convolutions read, write or count other
  // elements than tiles do: of strides at least one MAC for as many as they skip.
  const bool scatters = Has(layer, kVaries) && RuleOf(layer).reach == Reach::kNothing;
  if (scatters && (mapped || h.cores.rows > 0) && needs.macs) {
    for (int a = 1; a <= 2; ++a) {
      costs.energy /= static_cast<double>(SlideOf(judge.graph, layer, a).stride);
    }
  }
  if (h.cores.rows > 0) {
    if (Has(layer, kProduct)) {
      Shape s = ShapeOf(judge, layer, extent, needs);
      if (deed == Deed::kMatmul) {
        // Each matrix of the batch is a group: filters of all groups, rows of one.
        s.groups = static_cast<double>(extent[0] * extent[1]);
        s.filters *= s.groups;
        s.rows = 1;
      }
      const LeastOfLayer on_cores = OnCores(h, s);
      if (deed != Deed::kMatmul || s.groups == 1) {
        costs.cycles = Max(costs.cycles, on_cores.cycles);
      }
      costs.energy = Max(costs.energy, on_cores.energy);
    } else if (deed == Deed::kPoolGradient) {
      const double twice = 2 * Outputs(extent);
      costs.cycles =
          Max(costs.cycles, Up(twice, static_cast<double>(h.vector_ops_per_cycle)));
      costs.energy = Max(costs.energy, twice * h.vector_op_pj);
    }
    return costs;
  }
  if (needs.macs && h.array.k != 0 && !mapped) {
    costs.cycles = Max(costs.cycles, Passes(h, ShapeOf(judge, layer, extent, needs)));
  }
  if (mapped && scatters) {
    if (!needs.macs) costs.energy = 0;
    return costs;
  }
  costs.energy += kBits * (read * h.scratchpad().read_pj_per_bit +
                           written * h.scratchpad().write_pj_per_bit);
  return costs;
}

double BytesOf(const Tensor& tensor, const Needed& needed) {
  const double bytes = static_cast<double>(needed.elements()) * tensor.element_bytes;
  if (tensor.encoded_bytes == 0) return bytes;
  return Up(bytes * static_cast<double>(tensor.encoded_bytes),
            static_cast<double>(tensor.bytes));
}

LeastOfLayer OfLayer(const Judge& judge, const NeededOfAll& of_all,
                     const Layer& layer) {
  if (!HasTiles(judge, layer)) return {};
  const Graph& graph = judge.graph;
  const uint32_t out = layer.outputs[0];
  if (DeedOf(layer) == Deed::kPad && of_all.MayBeTaken(graph, out)) return {};
  const Needed made = of_all.Made(graph, out);
  if (made.elements() == 0) return {};
  Reads reads;
  FindReads(graph, layer, made, &reads);
  double read = 0;
  // Of nests the operands of MACs count, and else the first input.
  const bool nests = judge.hardware.scratchpad_level != 0;
  const uint32_t count = nests ? (reads.tile.macs ? 2 : 1) : reads.tile.count;
  for (uint32_t i = 0; i < Min(count, reads.tile.count); ++i) {
    const Tensor& tensor = graph.tensors[reads.tile.need[i].tensor];
    // The tile may read what lies behind a PAD, which are fewer.
    const uint32_t maker = i == 0 && Has(layer, kTakesPads) ? tensor.producer : kNone;
    if (maker != kNone && DeedOf(graph.layers[maker]) == Deed::kPad &&
        !HostDoes(judge, of_all.uses, graph.layers[maker])) {
      continue;
    }
    read += static_cast<double>(reads.input[i].elements()) * tensor.element_bytes;
  }
  return OfTiles(judge, layer, reads.extent, reads.tile, read);
}

// Who uses a tensor, and the first layer that reads all of it.
struct Users {
  Span<uint8_t> uses;
  Span<uint32_t> first;
};

// Marks who reads and who makes each tensor. A copy may be a view, so marks pass through
// it.
void FindUses(const Judge& judge, const Users& users) {
  const Span<uint8_t> uses = users.uses;
  const Graph& graph = judge.graph;
  for (size_t l = graph.layers.size(); l-- > 0;) {
    const Layer& layer = graph.layers[l];
    const Work work = WorkOf(layer);
    const bool host = work == Work::kHost || !IsAble(judge, layer);
    for (size_t i = 0; i < layer.inputs.size(); ++i) {
      const uint32_t t = layer.inputs[i];
      if (t == kNone) continue;
      // Rows of a table or of a state: all of it is loaded for other readers, if at all.
      const bool named =
          !host && (work == Work::kGather || work == Work::kAppend) && i == 0;
      if (!named) users.first[t] = static_cast<uint32_t>(l);
      if (work == Work::kView) {
        const uint32_t out = layer.outputs[0];
        uses[t] |= uses[out] & kGoesOut;
        if (graph.tensors[out].kind == TensorKind::kOutput) uses[t] |= kGoesOut;
      }
      if (i == 0 && Has(layer, kTakesPads)) uses[t] |= kTaken;
      if (host || i != 0 || !TakesPads(graph, layer)) uses[t] |= kKept;
    }
  }
  for (const Layer& layer : graph.layers) {
    const Work work = WorkOf(layer);
    bool host = HostDoes(judge, uses, layer);
    for (const uint32_t t : layer.inputs) {
      host = host || (work == Work::kView && t != kNone && (uses[t] & kHostMakes) != 0);
    }
    for (const uint32_t t : layer.outputs) {
      if (host) uses[t] |= kHostMakes;
    }
  }
}

// Rows of a state that the run makes itself.
double AppendedTo(const Graph& graph, uint32_t state) {
  double bytes = 0;
  for (const Layer& layer : graph.layers) {
    if (DeedOf(layer) != Deed::kAppend || layer.inputs[0] != state) continue;
    bytes += static_cast<double>(graph.tensors[layer.inputs[1]].bytes);
  }
  return bytes;
}

// Bytes of the first layer that reads a tensor, and of the one that makes it.
void FindMoved(const Judge& judge, const Users& users, const NeededOfAll& of_all,
               Span<LeastOfLayer> layers) {
  const auto& [uses, first] = users;
  const Graph& graph = judge.graph;
  for (uint32_t t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    const double bytes = static_cast<double>(tensor.bytes);
    if (tensor.kind == TensorKind::kOutput ||
        tensor.kind == TensorKind::kIntermediate) {
      if (tensor.producer == kNone) continue;
      const bool view = WorkOf(graph.layers[tensor.producer]) == Work::kView;
      if ((uses[t] & kHostMakes) != 0) {
        // What the host writes is loaded for tiles, also where one of them may pad.
        if (!view && of_all.on_chip[t].most != 0) {
          layers[first[t]].loaded += BytesOf(tensor, of_all.on_chip[t]);
        }
        continue;
      }
      const bool goes_out = tensor.kind == TensorKind::kOutput;
      // The copy that goes out may be this tensor's only place.
      const bool counted = view || (uses[t] & kGoesOut) != 0;
      if (goes_out || !counted) {
        layers[tensor.producer].stored +=
            goes_out ? bytes : BytesOf(tensor, of_all.host[t]);
      }
    } else if (of_all.on_chip[t].most != 0) {
      LeastOfLayer* reader = &layers[first[t]];
      double loaded = BytesOf(tensor, of_all.on_chip[t]);
      if (tensor.kind == TensorKind::kState) {
        // They need not be loaded where others read them.
        loaded = Max(loaded - AppendedTo(graph, t), 0.0);
      } else if (loaded > 0) {
        reader->loads += 1;
      }
      const bool constant = tensor.kind == TensorKind::kConstant;
      (constant ? reader->constants : reader->loaded) += loaded;
    }
  }
  for (uint32_t l = 0; l < layers.size(); ++l) {
    const Layer& layer = graph.layers[l];
    if (DeedOf(layer) == Deed::kGather && IsAble(judge, layer)) {
      const uint32_t out = layer.outputs[0];
      layers[l].loaded += BytesOf(graph.tensors[out], of_all.Made(graph, out));
    } else if (DeedOf(layer) == Deed::kAppend) {
      layers[l].stored += static_cast<double>(graph.tensors[layer.inputs[1]].bytes);
    }
  }
}

// The engines that load or store.
struct Movers {
  double engines = 0;
  double wait = 0;  // least latency of a transfer, before it asks for the port
  Queue last;
};

Movers MoversOf(const Hardware& h, uint32_t does) {
  Movers movers;
  Queue only;
  only.latency_cycles = h.dma_latency_cycles;
  const size_t count = h.queues.empty() ? 1 : h.queues.size();
  for (size_t q = 0; q < count; ++q) {
    const Queue& queue = h.queues.empty() ? only : h.queues[q];
    if ((queue.does & does) == 0) continue;
    const double wait = static_cast<double>(queue.latency_cycles);
    movers.wait = movers.engines == 0 ? wait : Min(movers.wait, wait);
    movers.engines +=
        queue.per_node ? static_cast<double>(h.node_cols) * h.node_rows : 1;
    movers.last = queue;
  }
  return movers;
}

double Alone(const Hardware& h, const Movers& movers, double bytes, double constants) {
  if (movers.engines != 1 || bytes == 0) return 0;
  const Queue& queue = movers.last;
  const double cycles = movers.wait + Port(h, bytes, constants);
  const double most = static_cast<double>(queue.max_rows) * queue.max_row_bytes;
  if (most == 0) return cycles;
  return cycles + (Up(bytes, most) - 1) *
                      Min(static_cast<double>(queue.descriptor_cycles), movers.wait);
}

// Adds what products load again to the energy, and bounds cycles by it: the port and the
// tiles both take no longer than the plan, so no share of the one with the rest of the
// other does.
Status LeastByReuse(const Judge& judge, const NeededOfAll& of_all,
                    const LeastOfLayer& all, double* cycles, double* pj) {
  const Hardware& h = judge.hardware;
  constexpr uint32_t kShares = 4;
  Price prices[kShares + 1];
  double more[kShares + 1];
  prices[0].byte = kBits * (h.dram().read_pj_per_bit + h.scratchpad().write_pj_per_bit);
  prices[0].mac = h.mac_pj;
  const double nodes = NodesOf(h);
  const Rational rate = h.dram().bandwidth;
  for (uint32_t i = 1; i <= kShares && rate.numerator != 0; ++i) {
    const double of_port = static_cast<double>(i) / kShares;
    prices[i].byte = of_port * static_cast<double>(rate.denominator) /
                     static_cast<double>(rate.numerator);
    prices[i].mac = (1 - of_port) / (nodes * static_cast<double>(h.macs_per_cycle));
  }
  SLUICE_TRY(FindReuse(judge, of_all, {prices, kShares + 1}, more));
  *pj = more[0];
  for (uint32_t i = 1; i <= kShares; ++i) {
    const double once = (all.constants + all.loaded + all.stored) * prices[i].byte +
                        all.macs * prices[i].mac;
    if (more[i] > 0) *cycles = Max(*cycles, once + more[i]);
  }
  return Status::kOk;
}

}  // namespace

double NodesOf(const Hardware& h) {
  return Max(1.0, static_cast<double>(h.node_cols) * h.node_rows);
}

double RoomOf(const Judge& judge) {
  const int64_t share =
      Min(judge.stream.share, judge.hardware.scratchpad().capacity_bytes);
  return static_cast<double>(share) * NodesOf(judge.hardware);
}

double CyclesOfBox(const Judge& judge, const Layer& layer, const int32_t* extent) {
  TileNeeds needs;
  NeedsOfBox(judge.graph, layer, extent, false, &needs);
  const int64_t tile[kAxes] = {extent[0], extent[1], extent[2], extent[3]};
  return OfTiles(judge, layer, tile, needs, 0).cycles;
}

LeastTimes TimesOf(const Judge& judge, const LeastOfLayer& all, double hold) {
  const Hardware& h = judge.hardware;
  const Movers load = MoversOf(h, SLUICE_DOES_LOAD);
  const Movers store = MoversOf(h, SLUICE_DOES_STORE);
  const double read = all.loaded + all.constants, bytes = read + all.stored;
  LeastTimes least = {0, hold + Port(h, bytes, all.constants), 0};
  if (bytes != 0 && hold == 0) least.port += Min(load.wait, store.wait);
  least.port = Max(least.port, Max(Alone(h, load, read, all.constants),
                                   Alone(h, store, all.stored, 0)));
  const bool one = h.queues.size() <= 1 && load.engines == 1 && store.engines == 1;
  // No LOAD brings two given tensors (transfers.cc), and each starts with its engine's
  // latency. What comes last is wanted for a STORE, which starts after it; where one queue
  // does both, all bytes pass it.
  least.serial = Up(all.loads * load.wait + Port(h, one ? bytes : read, all.constants),
                    Max(load.engines, 1.0)) +
                 (all.stored == 0 ? 0 : store.wait + (one ? 0 : 1));
  if (all.cycles != 0) {
    const double nodes = NodesOf(h);
    // The first operand is loaded before the first tile; the last result is stored
    // after the last tile.
    least.compute = Up(all.cycles, nodes) + load.wait + 1 + store.wait + 1;
  }
  return least;
}

double EnergyOf(const Judge& judge, const LeastOfLayer& all) {
  const Hardware& h = judge.hardware;
  const MemoryLevel other = Cheapest(h);
  const double constants = h.HomeOf(SLUICE_REGION_CONST).read_pj_per_bit;
  return all.energy +
         kBits *
             (all.constants * constants + all.loaded * other.read_pj_per_bit +
              (all.constants + all.loaded) * h.scratchpad().write_pj_per_bit +
              all.stored * (other.write_pj_per_bit + h.scratchpad().read_pj_per_bit));
}

void Add(const LeastOfLayer& layer, LeastOfLayer* all) {
  all->cycles += layer.cycles;
  all->energy += layer.energy;
  all->constants += layer.constants;
  all->loaded += layer.loaded;
  all->stored += layer.stored;
  all->loads += layer.loads;
  all->macs += layer.macs;
}

Status FindLeastCosts(const Judge& judge, const VerifiedCounts& counts,
                      LeastCosts* least) {
  const size_t tensors = judge.graph.tensors.size();
  Span<LeastOfLayer> layers;
  SLUICE_TRY(judge.arena->Allocate(judge.graph.layers.size(), &layers));
  least->layers = layers;
  ArenaScope scope(judge.arena);
  Users users;
  SLUICE_TRY(judge.arena->Allocate(tensors, &users.uses));
  SLUICE_TRY(judge.arena->Allocate(tensors, &users.first));
  FindUses(judge, users);
  NeededOfAll of_all;
  SLUICE_TRY(FindNeeded(judge, users.uses, &of_all));
  LeastOfLayer all;
  for (size_t l = 0; l < layers.size(); ++l) {
    if (l % 16 == 0 && judge.arena->memory()->Stop()) return Status::kStopped;
    layers[l] = OfLayer(judge, of_all, judge.graph.layers[l]);
  }
  FindMoved(judge, users, of_all, layers);
  const Hardware& h = judge.hardware;
  const double fits = RoomOf(judge);
  for (LeastOfLayer& layer : layers) {
    layer.loads = Max(layer.loads, Up(layer.constants + layer.loaded, fits));
    Add(layer, &all);
  }
  double beyond = 0;
  SLUICE_TRY(LeastByReuse(judge, of_all, all, &beyond, &least->again_pj));
  const double hold = static_cast<double>(counts.host_hold);
  const LeastTimes times = TimesOf(judge, all, hold);
  double cycles = Max(Max(beyond, times.serial), times.compute);
  cycles = Max(cycles, Max(times.port, static_cast<double>(counts.host_cycles) + hold));
  // Only a certificate with room_cycles must have them from room or reuse, unless its sums
  // give as many for loads one after the other (certificate.cc).
  const sluice_certificate_t& c = judge.plan.certificate;
  LeastOfLayer said = all;
  said.constants = static_cast<double>(c.all.constant_bytes);
  said.loaded = static_cast<double>(c.all.loaded_bytes);
  said.stored = static_cast<double>(c.all.stored_bytes);
  const bool serial =
      TimesOf(judge, said, 0).serial >= static_cast<double>(c.room_cycles);
  if ((serial ? cycles : beyond) < least->enough) {
    const double first = MoversOf(h, SLUICE_DOES_LOAD).wait + 1;
    SLUICE_TRY(
        LeastByRoom(judge, {layers, of_all, first, fits, least->enough}, &beyond));
  }
  least->beyond = beyond;
  least->cycles =
      static_cast<uint64_t>(static_cast<int64_t>(Min(Max(cycles, beyond), kMostBound)));
  least->energy_pj = EnergyOf(judge, all) + least->again_pj;
  return Status::kOk;
}

}  // namespace judge
}  // namespace sluice
