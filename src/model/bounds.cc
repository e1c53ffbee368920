// SPDX-License-Identifier: Apache-2.0
#include "model/bounds.h"

#include "base/checked.h"
#include "model/core_array.h"
#include "model/engines.h"
#include "model/host.h"
#include "model/off_chip.h"
#include "model/reuse_bound.h"
#include "model/room_bound.h"
#include "model/tile_cycles.h"

namespace sluice {
namespace {

// Sums saturate here, far from overflow.
constexpr int64_t kMost = kManyCycles;

int64_t Sum(int64_t a, int64_t b) { return Min(a + b, kMost); }

// True if the layer may take over the pads of the PAD in front of it, and then reads
// the PAD's input.
bool MayReadBehindPad(const Graph& graph, const Layer& layer) {
  if (!TraitsOf(layer).takes_pads) return false;
  const uint32_t producer = graph.tensors[layer.inputs[0]].producer;
  return producer != kNone && TraitsOf(graph.layers[producer]).view == ViewRule::kFolds;
}

bool IsDense(const Lattice& lattice) {
  bool dense = true;
  for (const Progression& axis : lattice.axis) dense = dense && axis.step == 1;
  return dense;
}

// A box in one piece with as many elements along each axis as the lattice: tiles that
// compute the lattice compute at least as much.
Box BoxOf(const Lattice& lattice) {
  Box box;
  for (int a = 0; a < kAxes; ++a) {
    box.begin[a] = lattice.axis[a].first;
    box.extent[a] = lattice.axis[a].count;
  }
  return box;
}

// What a layer must compute: its largest part, and the work of all parts.
struct Asked {
  const Graph& graph;
  const Hardware& hardware;
  const Layer& layer;
  Lattice part;
  TileBoxes boxes;  // of the part
  TileSum sum;
  int64_t macs, vector_ops, outputs;  // of all parts
};

// Whether tiles are mapped onto memories below the scratchpad.
bool MapsTiles(const Hardware& hardware) {
  return hardware.scratchpad_level != 0 || hardware.cores.rows > 0;
}

int64_t CyclesOfMachine(const Asked& asked, const CoreLeast* cores) {
  const Hardware& h = asked.hardware;
  if (cores != nullptr) return Max(cores->cycles, LeastCycles(h, asked.boxes));
  // Units with memories of their own allow many mappings, so only work / peak is
  // certain.
  if (MapsTiles(h)) return LeastCycles(h, asked.boxes);
  return ArrayCycles(h, asked.layer, asked.boxes, asked.sum.channels);
}

int64_t CyclesOf(const Asked& asked, PricedBy prices, const CoreLeast* cores) {
  const Hardware& h = asked.hardware;
  int64_t cycles = prices == PricedBy::kCaller ? LeastCycles(h, asked.boxes)
                                               : CyclesOfMachine(asked, cores);
  if (IsDense(asked.part) && !MayReadBehindPad(asked.graph, asked.layer)) {
    cycles = Max(cycles,
                 ScratchpadCycles(h, asked.graph, asked.layer, asked.boxes, asked.sum));
  }
  const int64_t work = asked.boxes.macs != 0
                           ? CeilDivide(asked.macs, h.macs_per_cycle)
                           : CeilDivide(asked.vector_ops, h.vector_ops_per_cycle);
  return Max(cycles, work);
}

bool IsPoolGradient(const Asked& asked) {
  return TraitsOf(asked.layer).form == Form::kPoolGradient;
}

// Every operand of the tiles is read or written at least once. Parts of the output may need the
// same elements of an input, so inputs count for the largest part alone. Of nests the operands of
// MACs count, and else the first input.
double ScratchpadEnergy(const Asked& asked) {
  int64_t read = 0;
  const OpTraits& traits = TraitsOf(asked.layer);
  for (size_t i = 0; i < kMaxRoles; ++i) {
    const uint32_t t = asked.layer.input(i);
    if (traits.role[i] == kNoRole || t == kNone) continue;
    if (i == 0 && MayReadBehindPad(asked.graph, asked.layer)) continue;
    if (MapsTiles(asked.hardware) && i > (asked.macs != 0 ? 1 : 0)) continue;
    read += NeededOfInput(asked.graph, asked.layer, i, asked.part).elements() *
            asked.graph.tensors[t].element_bytes;
  }
  const Tensor& out = asked.graph.tensors[asked.layer.outputs[0]];
  const MemoryLevel& pad = asked.hardware.scratchpad();
  return static_cast<double>(read) * 8 * pad.read_pj_per_bit +
         static_cast<double>(asked.outputs * out.element_bytes) * 8 *
             pad.write_pj_per_bit;
}

double EnergyOf(const Asked& asked, PricedBy prices, const CoreLeast* cores) {
  const Hardware& h = asked.hardware;
  if (prices == PricedBy::kCaller) return 0;
  if (cores != nullptr) return cores->energy_pj;
  double work = static_cast<double>(asked.macs) * h.mac_pj;
  // Nests of these read, write or count other elements than tiles do: of strides at least one
  // MAC for as many as they skip.
  if (MapsTiles(h) && TraitsOf(asked.layer).scatters) {
    for (int a = 1; a <= 2; ++a) work /= WindowOf(asked.graph, asked.layer, a).stride;
    return work;
  }
  work += static_cast<double>(asked.vector_ops) * h.vector_op_pj;
  return h.cores.rows > 0 ? work : work + ScratchpadEnergy(asked);
}

struct Queues {
  uint32_t engines = 0;  // that have the operation
  int64_t latency = INT64_MAX;
  Queue queue;  // of the engine, if there is only one
};

Queues QueuesThat(const Engines& engines, const Hardware& hardware, uint32_t does) {
  Queues found;
  const uint32_t nodes = Max(hardware.node_cols, 1u) * Max(hardware.node_rows, 1u);
  for (uint32_t q = 0; q < engines.queues(); ++q) {
    const Queue& queue = engines.queue(q);
    if ((queue.does & does) == 0) continue;
    found.engines += queue.per_node ? nodes : 1;
    found.latency = Min(found.latency, queue.latency_cycles);
    found.queue = queue;
  }
  if (found.engines == 0) found.latency = 0;
  return found;
}

// Cycles of a queue that moves all `bytes` by itself; they hold the port for `hold`.
int64_t QueueCycles(const Queue& queue, int64_t bytes, int64_t hold) {
  if (bytes == 0) return 0;
  const int64_t cycles = queue.latency_cycles + hold;
  if (queue.max_rows == 0 || queue.max_row_bytes == 0) return cycles;
  // Each further descriptor continues a transfer or begins another one.
  const int64_t descriptors =
      CeilDivide(bytes, int64_t{queue.max_rows} * queue.max_row_bytes);
  return cycles +
         (descriptors - 1) * Min(queue.descriptor_cycles, queue.latency_cycles);
}

struct Asking {
  const Graph& graph;
  const Hardware& hardware;
  const Needs& needs;
  const BoundPrices& prices;
};

int64_t NodesOf(const Hardware& h) {
  return Max<int64_t>(int64_t{h.node_cols} * h.node_rows, 1);
}

// Bytes of all scratchpads that plans may use.
int64_t RoomOf(const Asking& asking) {
  const Hardware& h = asking.hardware;
  return Min(h.scratchpad().capacity_bytes, asking.prices.share) * NodesOf(h);
}

// Sums over all layers.
struct Sums {
  int64_t tiles = 0, host = 0, hold = 0;  // cycles
  int64_t loads = 0;
  double macs = 0, host_pj = 0;
  int64_t caller = 0;  // cycles of tiles beyond `tiles`, by the caller's word
  double caller_pj = 0;
};

// Cycles of a layer's HOST call, with those at DRAM's port; 0 if nothing needs it.
int64_t AddHostCall(const Asking& asking, const Layer& layer, Sums* sums) {
  const auto& [graph, hardware, needs, prices] = asking;
  bool wanted = false;
  for (const uint32_t t : layer.outputs) {
    wanted = wanted || PartsMade(graph, needs, t).count != 0;
  }
  if (!wanted) return 0;
  const int64_t hold = HostHold(hardware, HostTrafficOf(graph, layer).bytes());
  const int64_t cycles = HostCycles(layer) + hold;
  sums->host = Sum(sums->host, cycles);
  sums->hold = Sum(sums->hold, hold);
  sums->host_pj += static_cast<double>(HostCycles(layer)) * hardware.host.pj_per_cycle +
                   HostTrafficEnergy(hardware, HostTrafficOf(graph, layer));
  return cycles;
}

// A caller with a cost model of its own may vouch that the tiles of a layer take more than
// `least` together; this adds the difference to the sums. The caller is told the extents of the
// output but not which elements of it are needed, so it is asked only where the needed elements
// are one box without gaps.
Status AddCallers(const Asking& asking, uint32_t index, const LayerBound& least,
                  Sums* sums) {
  const BoundPrices& prices = asking.prices;
  if (prices.least == nullptr || least.cycles == 0) return Status::kOk;
  const Layer& layer = asking.graph.layers[index];
  const Parts parts = PartsMade(asking.graph, asking.needs, layer.outputs[0]);
  if (parts.count != 1 || !IsDense(parts.lattice[0])) return Status::kOk;
  sluice_tile_cost_t cost = {};
  const int32_t code = prices.least(prices.user, index, BoxOf(parts.lattice[0]).extent,
                                    AccumulatedChannels(asking.graph, layer), &cost);
  if (code == 0) return Status::kOk;
  const bool fits = code > 0 && cost.cycles >= 0 && cost.cycles <= int64_t{1} << 50 &&
                    cost.energy_pj >= 0 && cost.energy_pj < 1e300;
  if (!fits) return Status::kBadArgument;
  sums->caller = Sum(sums->caller, Max<int64_t>(cost.cycles - least.cycles, 0));
  sums->caller_pj += Max(cost.energy_pj - least.energy_pj, 0.0);
  return Status::kOk;
}

// Fills the lower bounds of each layer, and their sums over all layers.
Status FillLayers(const Asking& asking, Arena* scratch,
                  Span<sluice_layer_least_t> layers, Sums* sums,
                  sluice_layer_least_t* all) {
  const auto& [graph, hardware, needs, prices] = asking;
  Span<uint8_t> taken;
  SLUICE_TRY(scratch->Allocate(graph.tensors.size(), &taken));
  const auto word = [](int64_t count) { return static_cast<uint64_t>(count); };
  const int64_t room = RoomOf(asking);
  for (uint32_t l = 0; l < graph.layers.size(); ++l) {
    if (l % 64 == 63 && scratch->memory()->Stop()) return Status::kStopped;
    const Layer& layer = graph.layers[l];
    const LayerBound least = BoundOfLayer(graph, hardware, needs, l, prices.by);
    SLUICE_TRY(AddCallers(asking, l, least, sums));
    const Traffic moved = TrafficOfLayer(graph, needs, layer, taken);
    int64_t cycles = least.cycles;
    sums->tiles = Sum(sums->tiles, cycles);
    if (KindOf(layer.op) == LayerKind::kHost) {
      cycles = AddHostCall(asking, layer, sums);
    }
    // A LOAD brings no more than the scratchpads hold.
    sums->loads += Max(moved.loads, room == 0 ? 0 : CeilDivide(moved.read, room));
    sums->macs += static_cast<double>(least.macs);
    layers[l] = {word(cycles), word(moved.constants),
                 word(moved.read - moved.constants), word(moved.written),
                 least.energy_pj};
    all->constant_bytes += layers[l].constant_bytes;
    all->loaded_bytes += layers[l].loaded_bytes;
    all->stored_bytes += layers[l].stored_bytes;
    all->energy_pj += least.energy_pj;
  }
  all->cycles = word(sums->tiles + sums->host);
  return Status::kOk;
}

// Fills the certificate's cycles of tiles, of DRAM's port and of the host; the plan takes at least
// the largest of them. Returns a further bound, from the number of loads: an engine moves one
// transfer at a time, and each transfer takes its queue's latency besides the time of its bytes.
// Even if the engines share all loads equally, this takes (latencies + bytes' time) / engines.
// Then a store follows, since whatever is loaded last is needed for something that is stored.
int64_t FillCycles(const Hardware& hardware, const Sums& sums, PlanBound* bound,
                   int64_t* first_load) {
  const Engines engines(hardware);
  const Queues load = QueuesThat(engines, hardware, SLUICE_DOES_LOAD);
  const Queues store = QueuesThat(engines, hardware, SLUICE_DOES_STORE);
  const auto [read, written, constants, loads] = bound->traffic;
  const int64_t hold = LeastHold(hardware, read + written, constants);
  int64_t compute = CeilDivide(Sum(sums.tiles, sums.caller), NodesOf(hardware));
  *first_load = load.latency + 1;
  if (compute != 0) compute += *first_load + store.latency + 1;
  int64_t port = Sum(sums.hold, hold);
  if (read + written != 0 && sums.hold == 0) {
    port = Sum(port, Min(load.latency, store.latency));
  }
  if (load.engines == 1) {
    port =
        Max(port, QueueCycles(load.queue, read, LeastHold(hardware, read, constants)));
  }
  if (store.engines == 1) {
    port =
        Max(port, QueueCycles(store.queue, written, LeastHold(hardware, written, 0)));
  }
  bound->certificate.host_cycles = static_cast<uint64_t>(sums.host);
  bound->certificate.compute_cycles = static_cast<uint64_t>(compute);
  bound->certificate.port_cycles = static_cast<uint64_t>(port);
  bound->cycles = Max(Max(compute, port), sums.host);
  const bool one = engines.one_queue();
  const int64_t pass = one ? hold : LeastHold(hardware, read, constants);
  return CeilDivide(Sum(loads * load.latency, pass), Max<int64_t>(load.engines, 1)) +
         (written == 0 ? 0 : store.latency + (one ? 0 : 1));
}

// Adds what matrix products load again, or make again instead (reuse_bound.h). For the energy this
// is one price per byte and per MAC. For the cycles, a plan takes at least any weighted mean of
// the times of DRAM's port and of the tiles: kMeans weights are tried and the largest mean counts.
Status BoundByReuse(const Asking& asking, const Sums& sums, Arena* scratch,
                    PlanBound* bound) {
  constexpr int kMeans = 4;
  const Hardware& h = asking.hardware;
  const Rational rate = h.dram().bandwidth;
  const double byte = rate.numerator == 0 ? 0
                                          : static_cast<double>(rate.denominator) /
                                                static_cast<double>(rate.numerator);
  const double mac = 1 / static_cast<double>(NodesOf(h) * h.macs_per_cycle);
  ReusePrice price[kMeans + 1] = {};
  double again[kMeans + 1];
  for (int i = 0; i < kMeans; ++i) {
    const double tiles = static_cast<double>(i) / kMeans;
    price[i] = {(1 - tiles) * byte, tiles * mac};
  }
  if (asking.prices.by == PricedBy::kMachine) {
    const double pj = h.dram().read_pj_per_bit + h.scratchpad().write_pj_per_bit;
    price[kMeans] = {8 * pj, h.mac_pj};
  }
  SLUICE_TRY(FindReuse({asking.graph, asking.needs, RoomOf(asking)},
                       {price, kMeans + 1}, scratch, again));
  bound->certificate.again_pj = again[kMeans];
  const double bytes =
      static_cast<double>(bound->traffic.read + bound->traffic.written);
  for (int i = 0; i < kMeans; ++i) {
    if (again[i] <= 0) continue;
    const double cycles = price[i].byte * bytes + price[i].mac * sums.macs + again[i];
    const double least = Min(cycles * (1 - 1e-9), static_cast<double>(kMost));
    bound->cycles = Max(bound->cycles, static_cast<int64_t>(least));
  }
  return Status::kOk;
}

}  // namespace

LayerBound BoundOfParts(const Graph& graph, const Hardware& hardware,
                        const Layer& layer, const Parts& parts, PricedBy prices) {
  const OpTraits& traits = TraitsOf(layer);
  if (traits.kind != LayerKind::kCompute || parts.count == 0) return {0, 0, 0};
  const int32_t channels = AccumulatedChannels(graph, layer);
  Asked asked = {graph, hardware, layer, {}, {}, {channels}, 0, 0, 0};
  for (uint32_t p = 0; p < parts.count; ++p) {
    const Lattice& part = parts.lattice[p];
    const TileBoxes boxes = BoxesOf(graph, layer, BoxOf(part), 0, channels);
    const int64_t outputs = part.elements();
    if (asked.outputs == 0 || outputs > asked.part.elements()) {
      asked.part = part;
      asked.boxes = boxes;
    }
    asked.macs += boxes.macs;
    asked.vector_ops += boxes.vector_ops;
    asked.outputs += outputs;
  }
  if (IsPoolGradient(asked)) {
    // The work of a pool gradient counts windows, which parts of the output may share.
    if (!IsDense(asked.part)) return {0, 0, 0};
    asked.vector_ops = asked.boxes.vector_ops;
  }
  CoreLeast least = {};
  bool cores = false;
  if (prices == PricedBy::kMachine && hardware.cores.rows > 0) {
    MappingProblem problem;
    Diagnostic ignored = {};
    cores =
        ProblemOfTile(graph, {layer, asked.boxes.box[kRoleOutput].extent, 0},
                      hardware.accumulator_bytes, &problem, &ignored) == Status::kOk &&
        traits.nest != NestRule::kTransposed && traits.nest != NestRule::kGradient &&
        LeastOnCores(CoreArrayOf(hardware), problem, &least);
    // Tiles cut along C or K may lie side by side on a core, so the cycles of several
    // groups are not certain.
    if (traits.form == Form::kMatmul && problem.extent[kDimG] > 1) least.cycles = 0;
  }
  const CoreLeast* on_cores = cores ? &least : nullptr;
  return {CyclesOf(asked, prices, on_cores), EnergyOf(asked, prices, on_cores),
          asked.macs};
}

LayerBound BoundOfLayer(const Graph& graph, const Hardware& hardware,
                        const Needs& needs, uint32_t index, PricedBy prices) {
  const Layer& layer = graph.layers[index];
  const bool pads = TraitsOf(layer).view == ViewRule::kFolds;
  if (pads && MayBeTaken(graph, needs, layer.outputs[0])) return {0, 0, 0};
  return BoundOfParts(graph, hardware, layer, PartsMade(graph, needs, layer.outputs[0]),
                      prices);
}

Status FindBound(const Graph& graph, const Hardware& hardware,
                 const BoundPrices& prices, Arena* arena, PlanBound* bound) {
  *bound = PlanBound{};
  sluice_certificate_t* certificate = &bound->certificate;
  Span<sluice_layer_least_t> layers;
  SLUICE_TRY(arena->Allocate(graph.layers.size(), &layers));
  certificate->struct_size = sizeof *certificate;
  certificate->count = static_cast<uint32_t>(layers.size());
  certificate->layers = layers.data();
  ArenaScope scope(arena);
  Needs needs(arena);
  SLUICE_TRY(FindNeeds(graph, arena, &needs));
  Sums sums;
  sluice_layer_least_t* all = &certificate->all;
  const Asking asking = {graph, hardware, needs, prices};
  SLUICE_TRY(FillLayers(asking, arena, layers, &sums, all));
  const auto whole = [](uint64_t count) { return static_cast<int64_t>(count); };
  bound->traffic = {whole(all->loaded_bytes + all->constant_bytes),
                    whole(all->stored_bytes), whole(all->constant_bytes), sums.loads};
  int64_t first_load = 0;
  const int64_t serial = FillCycles(hardware, sums, bound, &first_load);
  const int64_t by_sums = bound->cycles;
  bound->cycles = Max(by_sums, serial);
  // Both of these bounds count bytes of any tensor alike, so they hold only where all tensors
  // off chip take the same time and energy per byte.
  if (AllAlike(graph, hardware)) {
    SLUICE_TRY(BoundByReuse(asking, sums, arena, bound));
    const int64_t bytes = bound->traffic.read + bound->traffic.written;
    SLUICE_TRY(BoundByRoom(
        {graph, hardware, needs, prices.by, RoomOf(asking), bytes, first_load, layers},
        arena, &bound->cycles));
  }
  if (bound->cycles > by_sums) {
    certificate->room_cycles = static_cast<uint64_t>(bound->cycles);
  }
  certificate->caller_cycles = static_cast<uint64_t>(sums.caller);
  certificate->caller_pj = sums.caller_pj;
  double energy = all->energy_pj + certificate->again_pj + sums.caller_pj;
  const MemoryLevel dram = CheapestHome(hardware);
  const MemoryLevel& pad = hardware.scratchpad();
  const MemoryLevel& home = hardware.HomeOf(SLUICE_REGION_CONST);
  const double read = static_cast<double>(bound->traffic.read) * 8;
  const double constants = static_cast<double>(bound->traffic.constants) * 8;
  const double written = static_cast<double>(bound->traffic.written) * 8;
  energy += read * (dram.read_pj_per_bit + pad.write_pj_per_bit);
  energy += constants * (home.read_pj_per_bit - dram.read_pj_per_bit);
  energy += written * (dram.write_pj_per_bit + pad.read_pj_per_bit);
  energy += static_cast<double>(bound->cycles) * hardware.leakage_pj_per_cycle;
  // A judge adds the same terms in another order, and its sum may round to less.
  bound->energy_pj = (energy + sums.host_pj) * (1 - 1e-9);
  return Status::kOk;
}

}  // namespace sluice
