// SPDX-License-Identifier: Apache-2.0
#include "solve/fusion/problem.h"

#include "base/checked.h"
#include "model/granules.h"
#include "model/tile_cycles.h"

namespace sluice {
namespace {

constexpr uint32_t kAxisN = 1, kAxisH = 2, kAxisW = 4, kAxisK = 8;

uint32_t RootOf(const Lowering& lowering, uint32_t t) {
  while (lowering.views[t].parent != kNone) t = lowering.views[t].parent;
  return t;
}

int64_t AlignedBytes(const Graph& graph, const Hardware& hardware, uint32_t tensor) {
  if (tensor == kNone) return 0;
  const Tensor& t = graph.tensors[tensor];
  return RoundUpTo(t.bytes,
                   Max(hardware.scratchpad().alignment_bytes, t.element_bytes));
}

bool IsResident(int role) { return role == kRoleWeight || role == kRoleParameters; }

CutBox ToCut(const Box& box) {
  CutBox cut;
  for (int a = 0; a < kAxes; ++a) {
    cut.begin[a] = box.begin[a];
    cut.end[a] = box.begin[a] + box.extent[a];
  }
  return cut;
}

// Slices of all layers keep to the array's granule, because slices of a layer without
// MACs are made of slices of layers with some.
int32_t ChannelGranule(const MacArray& array) {
  return (array.demands & 1) != 0 ? static_cast<int32_t>(array.k) : 1;
}

// Axes along which the output may be cut at all; K where the weights are cut with it.
// The granules of rows and columns are not followed here, so that a layer that has some
// is whole along them; slices of channels keep to theirs (notation.h).
uint32_t CuttableAxes(const MacArray& array, const Graph& graph, const Layer& layer) {
  const CutRule rule = CutsOf(graph, layer);
  const Granules granules = DemandedOf(array, graph, layer);
  uint32_t axes = 0;
  for (int a = 0; a < kAxes; ++a) {
    const bool granular = a < 3 && granules.unit[a] != 1;
    if (rule.cuttable[a] && rule.unit[a] == 1 && !granular) axes |= 1u << a;
  }
  if (TraitsOf(layer).same_channels) axes &= ~kAxisK;
  return axes;
}

// True when output channel k needs channel k of this input and no other.
bool KeepsChannels(const Graph& graph, const Layer& layer, int role) {
  Box last = WholeBox(graph.tensors[layer.outputs[0]]);
  last.begin[3] = last.extent[3] - 1;
  last.extent[3] = 1;
  const TileBoxes boxes =
      BoxesOf(graph, layer, last, 0, AccumulatedChannels(graph, layer));
  return boxes.box[role].begin[3] == last.begin[3] && boxes.box[role].extent[3] == 1;
}

// Axes along which a cut of the output cuts this input too; others need it whole.
uint32_t LocalAxes(const MacArray& array, const Graph& graph, const Layer& layer,
                   int role) {
  if (TraitsOf(layer).axes == AxisRule::kApart) return 0;
  uint32_t axes = CuttableAxes(array, graph, layer);
  axes &= FollowingAxes(layer, static_cast<TileRole>(role)) | kAxisK;
  const Tensor& out = graph.tensors[layer.outputs[0]];
  const Tensor& in = graph.tensors[layer.inputs[role == kRoleInput0 ? 0 : 1]];
  if (!KeepsChannels(graph, layer, role)) axes &= ~kAxisK;
  for (int a = 0; a < 3; ++a) {
    if (in.extent[a] == 1 && out.extent[a] != 1) axes &= ~(1u << a);  // broadcasts
  }
  return axes;
}

bool Grid(void*, const int32_t extent[4], uint32_t axes, uint32_t tiles,
          int32_t counts[4]) {
  return CutGrid(nullptr, extent, axes & (kAxisN | kAxisH | kAxisW), tiles, counts);
}

TileBoxes BoxesIn(const FusionRun& run, uint32_t layer, const Box& output) {
  const Layer& executed = run.executed(layer);
  return BoxesOf(*run.graph, executed, output, 0,
                 AccumulatedChannels(*run.graph, executed));
}

void Need(void* user, uint32_t layer, uint32_t input, const CutBox& ofmap,
          CutBox* out) {
  const FusionRun& run = *static_cast<const FusionRun*>(user);
  const TileBoxes boxes = BoxesIn(run, layer, ToBox(ofmap));
  const uint32_t edge = run.problem.layers[layer].first_input + input;
  *out = ToCut(SourceBox(run, edge, boxes.box[run.role[edge]]));
  // Windows may skip rows or columns. A producer that is not cut along rows or columns
  // makes all of them anyway.
  const uint32_t source = run.problem.inputs[edge].source;
  if (source >= run.problem.layers.size()) return;
  const FusionLayer& made = run.problem.layers[source];
  for (int a = 1; a <= 2; ++a) {
    if ((made.axes >> a & 1) != 0) continue;
    out->begin[a] = 0;
    out->end[a] = made.extent[a];
  }
}

TileWork WorkIn(const FusionRun& run, uint32_t layer, const TileBoxes& boxes) {
  const Layer& executed = run.executed(layer);
  const TileOperands operands = OperandsOf(executed);
  TileWork work = {
      DeclaredCost({run.coster, *run.hardware, *run.graph, executed, run.layer[layer]},
                   boxes, TileSum{AccumulatedChannels(*run.graph, executed)}),
      boxes.macs, boxes.vector_ops, 0, 0};
  for (int r = 0; r < kTileRoles; ++r) {
    if (operands.tensor[r] == kNone) continue;
    const int64_t bytes =
        boxes.box[r].elements() * run.graph->tensors[operands.tensor[r]].element_bytes;
    (r == kRoleOutput ? work.written_bytes : work.read_bytes) += bytes;
  }
  return work;
}

bool CostOf(void* user, uint32_t layer, const int32_t extent[4], TileCost* out) {
  const FusionRun& run = *static_cast<const FusionRun*>(user);
  const Hardware& hardware = *run.hardware;
  Box output = {};
  for (int a = 0; a < kAxes; ++a) output.extent[a] = extent[a];
  const TileWork work = WorkIn(run, layer, BoxesIn(run, layer, output));
  *out = work.declared;
  if (out->cycles > INT64_C(0xffffffff)) return false;
  if (out->energy_pj <= 0) {
    const MemoryLevel& pad = hardware.scratchpad();
    out->energy_pj = static_cast<double>(work.macs) * hardware.mac_pj;
    out->energy_pj += static_cast<double>(work.vector_ops) * hardware.vector_op_pj;
    out->energy_pj += static_cast<double>(work.read_bytes) * 8 * pad.read_pj_per_bit;
    out->energy_pj +=
        static_cast<double>(work.written_bytes) * 8 * pad.write_pj_per_bit;
  }
  out->energy_pj += static_cast<double>(out->cycles) * hardware.leakage_pj_per_cycle;
  return true;
}

// True when the tensor shares memory with another one that is not a RESHAPE of it.
bool IsPart(const Lowering& lowering, uint32_t t) {
  return lowering.views[t].parent != kNone && !lowering.views[t].reshape;
}

// Marks the fusion layers whose ofmap must reach DRAM even if all readers are on chip.
void FindOutputs(const Graph& graph, const Lowering& lowering,
                 Span<const uint32_t> fusion_of, Span<const uint32_t> append,
                 Span<uint8_t> in_dram) {
  const auto mark = [&](uint32_t t) {
    const uint32_t producer = graph.tensors[WrittenTensor(graph, lowering, t)].producer;
    if (producer != kNone && fusion_of[producer] != kNone) {
      in_dram[fusion_of[producer]] = 1;
    }
  };
  for (uint32_t t = 0; t < graph.tensors.size(); ++t) {
    if (graph.tensors[t].kind != TensorKind::kIntermediate) mark(t);
    if (!IsPart(lowering, t)) continue;
    mark(t);
    mark(lowering.views[t].parent);
  }
  for (uint32_t l = 0; l < graph.layers.size(); ++l) {
    if (fusion_of[l] != kNone || lowering.is_view[l] != 0) continue;
    bool appended = false;  // by the run itself
    for (uint32_t a : append) appended = appended || a == l;
    for (uint32_t t : lowering.executed[l].inputs) {
      if (t != kNone && !appended) mark(t);
    }
  }
}

struct Tables {
  Span<FusionLayer> layers;
  Span<FusionInput> inputs;
  Span<FusionExternal> externals;
  Span<uint32_t> external_of;  // by graph tensor
  uint32_t edges = 0;
  uint32_t external_count = 0;
};

void AddInput(FusionRun* run, uint32_t i, int role, uint32_t tensor,
              Span<const uint32_t> fusion_of, Tables* tables) {
  const Graph& graph = *run->graph;
  const uint32_t written = WrittenTensor(graph, *run->lowering, tensor);
  const uint32_t producer = graph.tensors[written].producer;
  const Tensor& t = graph.tensors[tensor];
  const uint32_t edge = tables->edges++;
  FusionInput* input = &tables->inputs[edge];
  run->role[edge] = static_cast<uint8_t>(role);
  run->edge_tensor[edge] = tensor;
  run->edge_source[edge] = tensor;
  uint32_t axes = LocalAxes(run->hardware->array, graph, run->executed(i), role);
  if (producer != kNone && fusion_of[producer] != kNone) {
    run->edge_source[edge] = written;
    input->source = fusion_of[producer];
    axes &=
        CuttableAxes(run->hardware->array, graph, run->lowering->executed[producer]);
    if (written != tensor) {
      const bool batch = graph.tensors[written].extent[0] == t.extent[0];
      axes &= batch ? kAxisN : 0;
    }
  } else {
    uint32_t* external = &tables->external_of[tensor];
    if (*external == kNone) {
      *external = tables->external_count++;
      FusionExternal* e = &tables->externals[*external];
      for (int a = 0; a < kAxes; ++a) e->extent[a] = t.extent[a];
      e->element_bytes = t.element_bytes;
    }
    input->source = static_cast<uint32_t>(run->layer.size()) + *external;
  }
  input->fused_axes = static_cast<uint8_t>(axes);
}

// Layers with the same operator, attributes and shapes cost the same, tile by tile.
uint64_t SignatureOf(const Graph& graph, const Layer& layer) {
  uint64_t h = 1 + uint64_t{layer.op};
  const auto mix = [&](int64_t v) {
    h = (h ^ static_cast<uint64_t>(v)) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
  };
  for (int32_t a : layer.attributes) mix(a);
  for (uint32_t t : layer.inputs) {
    mix(t == kNone);
    if (t == kNone) continue;
    for (int32_t e : graph.tensors[t].extent) mix(e);
    mix(graph.tensors[t].element_bytes);
  }
  return h | 1;
}

void FillLayers(FusionRun* run, Span<const uint32_t> fusion_of, Tables* tables) {
  const Graph& graph = *run->graph;
  for (uint32_t i = 0; i < run->layer.size(); ++i) {
    const Layer& layer = run->executed(i);
    const Tensor& out = graph.tensors[layer.outputs[0]];
    const TileOperands operands = OperandsOf(layer);
    FusionLayer* f = &tables->layers[i];
    for (int a = 0; a < kAxes; ++a) f->extent[a] = out.extent[a];
    f->element_bytes = out.element_bytes;
    f->signature = SignatureOf(graph, layer);
    f->axes = static_cast<uint8_t>(CuttableAxes(run->hardware->array, graph, layer));
    f->first_input = tables->edges;
    for (int r = 0; r < kTileRoles; ++r) {
      const uint32_t tensor = operands.tensor[r];
      if (tensor == kNone || r == kRoleOutput) continue;
      if (IsResident(r)) {
        f->weight_bytes += graph.tensors[tensor].bytes;
        if (r == kRoleParameters) f->parameter_bytes = graph.tensors[tensor].bytes;
      } else {
        AddInput(run, i, r, tensor, fusion_of, tables);
      }
    }
    f->inputs = tables->edges - f->first_input;
  }
}

void FillHardware(const Hardware& hardware, int64_t scratchpad_bytes,
                  FusionProblem* problem) {
  const MemoryLevel& dram = hardware.dram();
  const MemoryLevel& pad = hardware.scratchpad();
  problem->dram_bandwidth = dram.bandwidth;
  problem->dram_latency_cycles = hardware.dma_latency_cycles;
  problem->dram_pj_per_byte = 4 * (dram.read_pj_per_bit + dram.write_pj_per_bit +
                                   pad.read_pj_per_bit + pad.write_pj_per_bit);
  problem->buffer_bytes = scratchpad_bytes;
  problem->alignment_bytes = pad.alignment_bytes;
}

}  // namespace

TileWork WorkOf(const FusionRun& run, uint32_t layer, const Box& output) {
  return WorkIn(run, layer, BoxesIn(run, layer, output));
}

Box ToBox(const CutBox& cut) {
  Box box;
  for (int a = 0; a < kAxes; ++a) {
    box.begin[a] = cut.begin[a];
    box.extent[a] = cut.end[a] - cut.begin[a];
  }
  return box;
}

TileBoxes WeightBoxes(const FusionRun& run, uint32_t layer, int32_t begin,
                      int32_t end) {
  Box output = WholeBox(run.graph->tensors[run.executed(layer).outputs[0]]);
  output.begin[3] = begin;
  output.extent[3] = end - begin;
  return BoxesIn(run, layer, output);
}

bool MayFuse(const Graph& graph, const Hardware& hardware, const Lowering& lowering,
             uint32_t l, int64_t scratchpad_bytes) {
  const Layer& layer = lowering.executed[l];
  if (lowering.is_view[l] != 0 || KindOf(layer.op) != LayerKind::kCompute ||
      TraitsOf(layer).view != ViewRule::kNever || layer.outputs.size() != 1) {
    return false;
  }
  const TileOperands operands = OperandsOf(layer);
  int64_t resident = 0;
  for (int r = 0; r < kTileRoles; ++r) {
    const uint32_t tensor = operands.tensor[r];
    if (tensor == kNone) continue;
    if (graph.tensors[tensor].kind == TensorKind::kState) return false;
    if (!IsResident(r)) continue;
    if (graph.tensors[tensor].kind != TensorKind::kConstant) return false;
    resident += AlignedBytes(graph, hardware, tensor);
  }
  // If the weights are cut, those of one granule of channels must fit with room to
  // spare.
  if ((CuttableAxes(hardware.array, graph, layer) & kAxisK) != 0) {
    const int32_t k = graph.tensors[layer.outputs[0]].extent[3];
    resident = CeilDivide(resident, CeilDivide(k, ChannelGranule(hardware.array))) +
               int64_t{2} * hardware.scratchpad().alignment_bytes;
  }
  return resident <= scratchpad_bytes / 4;
}

bool SharesElements(const Graph& graph, const Layer& layer) {
  const OpTraits& traits = TraitsOf(layer);
  if (traits.scatters || traits.form == Form::kResize) return true;
  if (traits.window != WindowRule::kFilter && traits.window != WindowRule::kPool) {
    return false;
  }
  return WindowOf(graph, layer, 1).filter > 1 || WindowOf(graph, layer, 2).filter > 1;
}

bool ReadsAlias(const Graph& graph, const Lowering& lowering, Span<const uint32_t> run,
                uint32_t next) {
  for (uint32_t l : run) {
    const bool appends = KindOf(lowering.executed[l].op) == LayerKind::kAppend;
    if (appends && SharesElements(graph, lowering.executed[next])) return true;
  }
  for (uint32_t t : lowering.executed[next].inputs) {
    if (t == kNone) continue;
    const uint32_t root = RootOf(lowering, t);
    const uint32_t read = WrittenTensor(graph, lowering, t);
    for (uint32_t l : run) {
      const uint32_t written = lowering.executed[l].outputs[0];
      const bool other =
          written != read || KindOf(lowering.executed[l].op) == LayerKind::kAppend;
      if (other && RootOf(lowering, written) == root) return true;
    }
  }
  return false;
}

uint32_t WrittenTensor(const Graph& graph, const Lowering& lowering, uint32_t t) {
  for (;;) {
    const uint32_t producer = graph.tensors[t].producer;
    if (producer == kNone || lowering.is_view[producer] == 0 ||
        TraitsOf(graph.layers[producer]).view != ViewRule::kReshape) {
      return t;
    }
    t = graph.layers[producer].inputs[0];
  }
}

Box SourceBox(const FusionRun& run, uint32_t edge, const Box& box) {
  const uint32_t source = run.edge_source[edge];
  if (source == run.edge_tensor[edge]) return box;
  Box whole = WholeBox(run.graph->tensors[source]);
  if (whole.extent[0] == run.graph->tensors[run.edge_tensor[edge]].extent[0]) {
    whole.begin[0] = box.begin[0];
    whole.extent[0] = box.extent[0];
  }
  return whole;
}

bool MayAppend(const Graph& graph, const Lowering& lowering, Span<const uint32_t> run,
               uint32_t l) {
  const Layer& layer = graph.layers[l];
  if (KindOf(layer.op) != LayerKind::kAppend || lowering.is_view[l] != 0) return false;
  const uint32_t rows = layer.inputs[1];
  const uint32_t state = layer.outputs[0];
  bool made = false;
  for (uint32_t other : run) {
    const Layer& o = lowering.executed[other];
    if (KindOf(o.op) == LayerKind::kAppend) {
      if (o.inputs[1] == rows || o.outputs[0] == state) return false;
      continue;
    }
    if (made && SharesElements(graph, o)) return false;
    made = made || o.outputs[0] == rows;
  }
  return made;
}

Status MakeFusionRun(const FusionSetting& setting, Span<const uint32_t> layers,
                     Arena* arena, FusionRun* run) {
  const Graph& graph = setting.graph;
  const Lowering& lowering = setting.lowering;
  size_t n = 0;
  size_t edges = 0;
  for (uint32_t l : layers) {
    edges += lowering.executed[l].inputs.size();
    n += KindOf(lowering.executed[l].op) != LayerKind::kAppend ? 1 : 0;
  }
  *run =
      FusionRun{&graph, &setting.hardware, &lowering, {}, {}, {}, {}, {}, {}, {}, {}};
  Tables tables;
  Span<uint32_t> fusion_of, consumers;
  SLUICE_TRY(arena->Allocate(n, &run->layer));
  SLUICE_TRY(arena->Allocate(edges, &run->role));
  SLUICE_TRY(arena->Allocate(edges, &run->edge_tensor));
  SLUICE_TRY(arena->Allocate(edges, &run->edge_source));
  SLUICE_TRY(arena->Allocate(n, &run->append));
  SLUICE_TRY(arena->Allocate(n, &run->reserve));
  SLUICE_TRY(arena->Allocate(n, &run->in_dram));
  SLUICE_TRY(arena->Allocate(n, &tables.layers));
  SLUICE_TRY(arena->Allocate(edges, &tables.inputs));
  SLUICE_TRY(arena->Allocate(edges, &tables.externals));
  SLUICE_TRY(arena->Allocate(graph.tensors.size(), &tables.external_of));
  SLUICE_TRY(arena->Allocate(graph.layers.size(), &fusion_of));
  SLUICE_TRY(arena->Allocate(edges, &consumers));
  for (uint32_t& e : tables.external_of) e = kNone;
  for (uint32_t& f : fusion_of) f = kNone;
  uint32_t next = 0;
  for (uint32_t l : layers) {
    if (KindOf(lowering.executed[l].op) != LayerKind::kAppend) {
      run->append[next] = kNone;
      run->layer[next] = l;
      fusion_of[l] = next++;
      continue;
    }
    const uint32_t rows = lowering.executed[l].inputs[1];
    if (graph.tensors[rows].producer == kNone) return Status::kUnsupported;
    const uint32_t maker = fusion_of[graph.tensors[rows].producer];
    if (maker == kNone) return Status::kUnsupported;
    run->append[maker] = l;
  }
  FillLayers(run, fusion_of, &tables);
  if (arena->memory()->Stop()) return Status::kStopped;
  FindOutputs(graph, lowering, fusion_of, run->append, run->in_dram);
  for (uint32_t i = 0; i < n; ++i) {
    tables.layers[i].output = run->in_dram[i] != 0 || run->append[i] != kNone;
  }
  if (arena->memory()->Stop()) return Status::kStopped;
  run->problem.inputs = tables.inputs.Slice(0, tables.edges);
  LinkConsumers(tables.layers, run->problem.inputs, consumers);
  run->problem.layers = tables.layers;
  run->problem.channel_granule = ChannelGranule(run->hardware->array);
  run->problem.reserve = run->reserve;
  run->problem.consumers = consumers;
  run->problem.externals = tables.externals.Slice(0, tables.external_count);
  FillHardware(setting.hardware, setting.scratchpad_bytes, &run->problem);
  return Status::kOk;
}

TileModel ModelOf(FusionRun* run) {
  return TileModel{run, Grid, Need, CostOf, kTileShareLoads | kTileWholeOfmaps};
}

}  // namespace sluice
