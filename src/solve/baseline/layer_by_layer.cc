// SPDX-License-Identifier: Apache-2.0
#include "solve/baseline/layer_by_layer.h"

#include "base/checked.h"
#include "model/tile_cycles.h"

namespace sluice {

namespace {

constexpr char kStage[] = "baseline";
// The most steps of a program: the limit of verify.
constexpr int64_t kMaxSteps = 1 << 24;

// One layer being written into the program.
struct LayerWriter {
  const Graph& graph;
  const Hardware& hardware;
  const Lowering& lowering;
  const TileCoster& coster;
  Budget* budget;
  Program* program;
  TilingMemo* tilings;
  uint32_t layer;

  bool TooLong() const { return static_cast<int64_t>(program->size()) > kMaxSteps; }
  // Alignment of buffers with elements of up to `element_bytes`.
  uint32_t alignment(uint32_t element_bytes) const {
    return Max(hardware.scratchpad().alignment_bytes, element_bytes);
  }
};

// One role's buffers: filled in turn, kept while the box stays the same.
struct RoleBuffers {
  BufferRange range[2];
  int count = 0;
  int current = -1;
  Box loaded = {};
  BufferBox box = {};  // of what is loaded
};

// The cost of the last tile: most tiles cost the same as the one before.
struct KnownCost {
  int32_t extent[kAxes];
  TileSum sum;
  int64_t macs, vector_ops;
  TileCost cost;
};

BufferRange TakeRange(int64_t* at, int64_t bytes) {
  const BufferRange range = {static_cast<uint32_t>(*at),
                             static_cast<uint32_t>(*at + bytes)};
  *at += bytes;
  return range;
}

BufferBox BoxIn(BufferRange range, const Box& box, const Tensor& tensor) {
  return DenseBuffer(range, box.extent, tensor.dtype, tensor.element_bytes);
}

Status PushTransfer(const LayerWriter& w, StepKind kind, const Transfer& transfer) {
  return w.program->AddTransfer(kind, w.layer, transfer);
}

// Tiles of one layer, in loop order.
class TileLoop {
 public:
  TileLoop(const TiledLayer& layer, const Tiling& tiling)
      : layer_(layer),
        tiling_(tiling),
        out_(layer.graph.tensors[layer.layer.outputs[0]]) {}

  // Moves on; false after the last tile.
  bool Next() {
    if (!started_) {
      started_ = true;
      return true;
    }
    static constexpr int kOuterK[] = {4, 2, 1, 0, 3};
    static constexpr int kInnerK[] = {4, 3, 2, 1, 0};
    for (int i = 0; i < 5; ++i) {
      const int v = tiling_.k_outer ? kOuterK[i] : kInnerK[i];
      const int32_t extent = v == 4 ? layer_.channels : out_.extent[v];
      const int32_t chunk = v == 4 ? tiling_.c_chunk : tiling_.chunk[v];
      if (int64_t{at_[v]} + chunk < extent) {
        at_[v] += chunk;
        return true;
      }
      at_[v] = 0;
    }
    return false;
  }
  Box box() const {
    Box box;
    for (int a = 0; a < kAxes; ++a) {
      box.begin[a] = at_[a];
      box.extent[a] = Min(tiling_.chunk[a], out_.extent[a] - at_[a]);
    }
    return box;
  }
  int32_t c_begin() const { return at_[4]; }
  int32_t c_end() const { return Min(at_[4] + tiling_.c_chunk, layer_.channels); }

 private:
  const TiledLayer& layer_;
  const Tiling& tiling_;
  const Tensor& out_;
  int32_t at_[5] = {};
  bool started_ = false;
};

// Writes the tiles of a computing layer.
class ComputeLayer {
 public:
  ComputeLayer(const LayerWriter& w, const TiledLayer& layer, const Tiling& tiling,
               const TileBuffers& b)
      : w_(w), layer_(layer), tiling_(tiling) {
    int64_t at = 0;
    for (int r = 0; r < kTileRoles; ++r) {
      roles_[r].count = b.role_buffers[r];
      for (int i = 0; i < b.role_buffers[r]; ++i) {
        roles_[r].range[i] = TakeRange(&at, b.role_bytes[r]);
      }
    }
    accumulator_ = TakeRange(&at, b.accumulator_bytes);
  }

  Status Write() {
    TileLoop loop(layer_, tiling_);
    TileStep tiles[2];
    Box boxes[2];
    int at = 0;
    bool has_pending = false;  // tiles[at ^ 1] is loaded, not computed
    for (; loop.Next(); at ^= 1) {
      if (w_.budget->Tick()) return Status::kStopped;
      if (w_.TooLong()) return Status::kUnsupported;
      // With single buffers the previous tile must be finished before the next loads.
      if (has_pending && !tiling_.doubled) {
        SLUICE_TRY(Finish(&tiles[at ^ 1], boxes[at ^ 1]));
        has_pending = false;
      }
      boxes[at] = loop.box();
      tiles[at] = TileStep{};
      SLUICE_TRY(Begin(boxes[at], loop.c_begin(), loop.c_end(), &tiles[at]));
      if (has_pending) SLUICE_TRY(Finish(&tiles[at ^ 1], boxes[at ^ 1]));
      has_pending = true;
    }
    return has_pending ? Finish(&tiles[at ^ 1], boxes[at ^ 1]) : Status::kOk;
  }

 private:
  // Issues the loads of a tile and describes it.
  Status Begin(const Box& box, int32_t c_begin, int32_t c_end, TileStep* tile) {
    const TileBoxes t = BoxesOf(layer_.graph, layer_.layer, box, c_begin, c_end);
    for (int r = 0; r < kTileRoles; ++r) {
      const uint32_t tensor = layer_.operands.tensor[r];
      if (tensor == kNone || r == kRoleOutput) continue;
      RoleBuffers* role = &roles_[r];
      if (role->current < 0 || !(role->loaded == t.box[r])) {
        role->current = (role->current + 1) % role->count;
        role->loaded = t.box[r];
        Transfer load = {};
        load.role = WireRole(r);
        load.dram = TensorBox(tensor, w_.lowering.places[tensor], t.box[r]);
        load.buffer = role->box =
            BoxIn(role->range[role->current], t.box[r], layer_.graph.tensors[tensor]);
        SLUICE_TRY(PushTransfer(w_, StepKind::kLoad, load));
      }
      tile->present[r] = true;
      tile->operand[r] = role->box;
    }
    tile->first = c_begin == 0;
    tile->last = c_end == layer_.channels;
    tile->c_begin = c_begin;
    tile->c_end = c_end;
    for (int a = 0; a < kAxes; ++a) tile->origin[a] = box.begin[a];
    for (int i = 0; i < 4; ++i) tile->pad[i] = t.pad[i];
    tile->macs = t.macs;
    tile->vector_ops = t.vector_ops;
    const TileCost cost = CostOf(t, TileSum{c_end - c_begin, tile->first, tile->last});
    tile->cycles = cost.cycles;
    tile->energy_pj = cost.energy_pj;
    tile->scratchpad_pj = cost.scratchpad_pj;
    if (tile->cycles > INT64_C(0xffffffff)) return Status::kUnsupported;
    if (accumulator_.end > accumulator_.begin) {
      tile->has_accumulator = true;
      tile->accumulator = DenseBuffer(accumulator_, box.extent, SLUICE_DTYPE_INT32,
                                      layer_.hardware.accumulator_bytes);
    }
    return Status::kOk;
  }

  TileCost CostOf(const TileBoxes& t, TileSum sum) {
    const Box& out = t.box[kRoleOutput];
    bool same = known_.sum.channels == sum.channels && known_.sum.first == sum.first &&
                known_.sum.last == sum.last && known_.macs == t.macs &&
                known_.vector_ops == t.vector_ops;
    for (int a = 0; a < kAxes; ++a) same = same && known_.extent[a] == out.extent[a];
    if (!same) {
      known_ = {{out.extent[0], out.extent[1], out.extent[2], out.extent[3]},
                sum,
                t.macs,
                t.vector_ops,
                DeclaredCost(
                    {w_.coster, layer_.hardware, layer_.graph, layer_.layer, w_.layer},
                    t, sum)};
    }
    return known_.cost;
  }

  // Computes a tile and stores its output when it is complete.
  Status Finish(TileStep* pending, const Box& box) {
    TileStep& tile = *pending;
    const uint32_t out = layer_.layer.outputs[0];
    RoleBuffers* role = &roles_[kRoleOutput];
    if (tile.last) {
      role->current = (role->current + 1) % role->count;
      tile.present[kRoleOutput] = true;
      tile.operand[kRoleOutput] =
          BoxIn(role->range[role->current], box, layer_.graph.tensors[out]);
    }
    SLUICE_TRY(w_.program->AddTile(w_.layer, tile));
    if (!tile.last) return Status::kOk;
    Transfer store = {};
    store.role = SLUICE_ROLE_OUTPUT;
    store.dram = TensorBox(out, w_.lowering.places[out], box);
    store.buffer = tile.operand[kRoleOutput];
    return PushTransfer(w_, StepKind::kStore, store);
  }

  const LayerWriter& w_;
  const TiledLayer& layer_;
  const Tiling& tiling_;
  RoleBuffers roles_[kTileRoles];
  BufferRange accumulator_;
  KnownCost known_ = {};  // extents 0: none
};

TiledLayer TiledOf(const LayerWriter& w) {
  const Layer& executed = w.lowering.executed[w.layer];
  TiledLayer layer = {w.graph, w.hardware, executed, OperandsOf(executed),
                      AccumulatedChannels(w.graph, executed)};
  layer.coster = w.coster;
  layer.index = w.layer;
  return layer;
}

Status WriteCompute(const LayerWriter& w, int64_t capacity, Arena* scratch,
                    int64_t* smallest) {
  const TiledLayer layer = TiledOf(w);
  Tiling tiling = {};
  TileBuffers buffers = {};
  SLUICE_TRY(w.tilings->Choose(layer, capacity, scratch, &tiling, &buffers, smallest));
  return ComputeLayer(w, layer, tiling, buffers).Write();
}

// A box of one tensor's elements copied to another place that is given by strides.
struct Copy {
  uint32_t from;
  uint32_t to;
  int64_t to_offset;           // bytes from `to`'s place
  uint32_t to_stride[kAxes];   // bytes, in the axes of the box
  Box box;                     // in `from`
  uint32_t parameter = kNone;  // moves `to` by `step` bytes for each unit
  uint32_t step = 0;
};

// Largest chunk, halving N, H, W, C in turn, of which `buffers` fit.
bool ChooseCopyChunk(const LayerWriter& w, const Copy& copy, int64_t capacity,
                     int32_t chunk[kAxes], int* buffers, int64_t* smallest) {
  const Tensor& tensor = w.graph.tensors[copy.from];
  const auto bytes = [&] {
    int64_t n = tensor.element_bytes;
    for (int a = 0; a < kAxes; ++a) n *= chunk[a];
    return RoundUpTo(n, w.alignment(tensor.element_bytes));
  };
  *smallest = RoundUpTo(tensor.element_bytes, w.alignment(tensor.element_bytes));
  for (*buffers = 2; *buffers >= 1; --*buffers) {
    for (int a = 0; a < kAxes; ++a) chunk[a] = copy.box.extent[a];
    for (int a = 0; a < kAxes; ++a) {
      while (bytes() * *buffers > capacity && chunk[a] > 1)
        chunk[a] = (chunk[a] + 1) / 2;
    }
    if (bytes() * *buffers <= capacity) return true;
  }
  return false;
}

Status WriteCopy(const LayerWriter& w, const Copy& copy, int64_t capacity,
                 int64_t* smallest) {
  int32_t chunk[kAxes];
  int buffers = 0;
  if (!ChooseCopyChunk(w, copy, capacity, chunk, &buffers, smallest)) {
    return Status::kInfeasible;
  }
  const Tensor& tensor = w.graph.tensors[copy.from];
  int64_t bytes = tensor.element_bytes;
  for (int32_t c : chunk) bytes *= c;
  bytes = RoundUpTo(bytes, w.alignment(tensor.element_bytes));
  const Tiling tiling = {{chunk[0], chunk[1], chunk[2], chunk[3]}, 0, false, false};
  int turn = 0;
  int32_t at[kAxes] = {};
  for (bool more = true; more; ++turn) {
    if (w.budget->Exhausted()) return Status::kStopped;
    if (w.TooLong()) return Status::kUnsupported;
    Box box;
    Transfer load = {};
    load.role = SLUICE_ROLE_INPUT;
    Transfer store = {};
    store.role = SLUICE_ROLE_OUTPUT;
    store.dram.tensor = copy.to;
    store.dram.region = w.lowering.places[copy.to].region;
    store.dram.offset = copy.to_offset;
    store.dram.moves = copy.parameter != kNone;
    store.dram.parameter = copy.parameter;
    store.dram.step = copy.step;
    for (int a = 0; a < kAxes; ++a) {
      box.begin[a] = copy.box.begin[a] + at[a];
      box.extent[a] = Min(tiling.chunk[a], copy.box.extent[a] - at[a]);
      store.dram.offset += int64_t{at[a]} * copy.to_stride[a];
      store.dram.extent[a] = box.extent[a];
      store.dram.stride[a] = copy.to_stride[a];
    }
    int64_t place = turn % buffers * bytes;
    const BufferRange range = TakeRange(&place, bytes);
    load.dram = TensorBox(copy.from, w.lowering.places[copy.from], box);
    load.buffer = BoxIn(range, box, tensor);
    store.buffer = load.buffer;
    SLUICE_TRY(PushTransfer(w, StepKind::kLoad, load));
    SLUICE_TRY(PushTransfer(w, StepKind::kStore, store));
    more = false;
    for (int a = kAxes - 1; a >= 0 && !more; --a) {
      more = int64_t{at[a]} + chunk[a] < copy.box.extent[a];
      at[a] = more ? at[a] + chunk[a] : 0;
    }
  }
  return Status::kOk;
}

Status WriteCopies(const LayerWriter& w, int64_t capacity, int64_t* smallest) {
  const Layer& layer = w.graph.layers[w.layer];
  const uint32_t out = layer.outputs[0];
  const TensorPlace& place = w.lowering.places[out];
  const ViewRule view_rule = TraitsOf(layer).view;
  int32_t along = 0;  // CONCAT: where the next input goes
  for (uint32_t in : layer.inputs) {
    Copy copy = {in, out, 0, {}, WholeBox(w.graph.tensors[in]), kNone, 0};
    for (int a = 0; a < kAxes; ++a) copy.to_stride[a] = place.stride[a];
    if (view_rule == ViewRule::kReshape) {
      // The output is dense: its memory read with the input's extents.
      uint32_t stride = w.graph.tensors[in].element_bytes;
      for (int a = kAxes - 1; a >= 0; --a) {
        copy.to_stride[a] = stride;
        stride *= static_cast<uint32_t>(w.graph.tensors[in].extent[a]);
      }
    } else if (view_rule == ViewRule::kSlice) {
      for (int a = 0; a < kAxes; ++a) {
        copy.box.begin[a] = layer.attribute(static_cast<size_t>(a));
        copy.box.extent[a] = w.graph.tensors[out].extent[a];
      }
    } else {
      const int axis = layer.attribute(SLUICE_CONCAT_AXIS);
      copy.to_offset = int64_t{along} * place.stride[axis];
      const View& view = w.lowering.views[in];
      const bool in_place =
          view.parent == out && !view.reshape && view.begin[axis] == along;
      along += w.graph.tensors[in].extent[axis];
      if (in_place) continue;
    }
    SLUICE_TRY(WriteCopy(w, copy, capacity, smallest));
  }
  return Status::kOk;
}

// Appends rows to a state, at the index that the parameter gives when the program runs.
Status WriteAppend(const LayerWriter& w, int64_t capacity, int64_t* smallest) {
  const Layer& layer = w.graph.layers[w.layer];
  const TensorPlace& place = w.lowering.places[layer.outputs[0]];
  const uint32_t rows = layer.inputs[1];
  Copy copy = {rows, layer.outputs[0], 0, {}, WholeBox(w.graph.tensors[rows]), kNone,
               0};
  for (int a = 0; a < kAxes; ++a) copy.to_stride[a] = place.stride[a];
  copy.parameter = static_cast<uint32_t>(layer.attribute(SLUICE_APPEND_PARAMETER));
  copy.step = place.stride[layer.attribute(SLUICE_APPEND_AXIS)];
  return WriteCopy(w, copy, capacity, smallest);
}

// Rows of a table chosen by indices: the indices come into the scratchpad first.
Status WriteGather(const LayerWriter& w, int64_t capacity, int64_t* smallest) {
  const Layer& layer = w.graph.layers[w.layer];
  const Tensor& table = w.graph.tensors[layer.inputs[0]];
  const Tensor& indices = w.graph.tensors[layer.inputs[1]];
  const Tensor& out = w.graph.tensors[layer.outputs[0]];
  const TensorPlace& place = w.lowering.places[layer.outputs[0]];
  const int64_t rows = indices.bytes / indices.element_bytes;
  const int64_t row_bytes = int64_t{out.extent[3]} * out.element_bytes;
  const uint32_t alignment = w.alignment(Max(out.element_bytes, indices.element_bytes));
  const auto need = [&](int64_t n) {
    return RoundUpTo(int64_t{n} * 4, alignment) + RoundUpTo(n * row_bytes, alignment);
  };
  int64_t chunk = rows;
  while (chunk > 1 && need(chunk) > capacity) chunk = (chunk + 1) / 2;
  *smallest = need(1);
  if (need(chunk) > capacity) return Status::kInfeasible;
  for (int64_t row = 0; row < rows; row += chunk) {
    if (w.budget->Exhausted()) return Status::kStopped;
    if (w.TooLong()) return Status::kUnsupported;
    const int32_t n = static_cast<int32_t>(Min(chunk, rows - row));
    int64_t at = 0;
    const BufferRange index_range =
        TakeRange(&at, RoundUpTo(int64_t{n} * 4, alignment));
    const BufferRange row_range = TakeRange(&at, RoundUpTo(n * row_bytes, alignment));
    // Indices and output rows are dense lists here, whatever axes they have.
    const Box index_box = {{0, 0, 0, static_cast<int32_t>(row)}, {1, 1, 1, n}};
    const Box row_box = {{0, 0, static_cast<int32_t>(row), 0},
                         {1, 1, n, out.extent[3]}};
    TensorPlace index_place = w.lowering.places[layer.inputs[1]];
    index_place.stride[3] = 4;
    TensorPlace row_place = place;
    row_place.stride[2] = static_cast<uint32_t>(row_bytes);
    Transfer load = {};
    load.role = SLUICE_ROLE_INPUT;
    load.dram = TensorBox(layer.inputs[1], index_place, index_box);
    load.buffer = BoxIn(index_range, index_box, indices);
    SLUICE_TRY(PushTransfer(w, StepKind::kLoad, load));
    Transfer rows_load = {};
    rows_load.role = SLUICE_ROLE_INPUT;
    rows_load.dram =
        TensorBox(layer.inputs[0], w.lowering.places[layer.inputs[0]], WholeBox(table));
    rows_load.buffer = BoxIn(row_range, row_box, out);
    rows_load.indexed = true;
    rows_load.index = load.buffer;
    SLUICE_TRY(PushTransfer(w, StepKind::kLoad, rows_load));
    Transfer store = {};
    store.role = SLUICE_ROLE_OUTPUT;
    store.dram = TensorBox(layer.outputs[0], row_place, row_box);
    store.buffer = rows_load.buffer;
    SLUICE_TRY(PushTransfer(w, StepKind::kStore, store));
  }
  return Status::kOk;
}

Status WriteLayer(const LayerWriter& w, int64_t capacity, Arena* scratch,
                  int64_t* smallest) {
  *smallest = 0;
  switch (KindOf(w.graph.layers[w.layer].op)) {
    case LayerKind::kCompute:
      return WriteCompute(w, capacity, scratch, smallest);
    case LayerKind::kCopy:
      return WriteCopies(w, capacity, smallest);
    case LayerKind::kGather:
      return WriteGather(w, capacity, smallest);
    case LayerKind::kAppend:
      return WriteAppend(w, capacity, smallest);
    case LayerKind::kHost:
      return w.program->AddHost(w.layer);
    case LayerKind::kUnknown:
      break;
  }
  return Status::kUnsupported;
}

// What is known of a graph before anything is written.
struct Counted {
  int64_t tiles = 0;
  // The layer whose smallest tile needs most, of those that compute and do not fit.
  uint32_t worst_layer = kNone;
  int64_t worst_bytes = 0;
};

bool Computes(const LayerWriter& w) {
  return KindOf(w.graph.layers[w.layer].op) == LayerKind::kCompute;
}

// Adds the layer's tiles: counted before anything is written, so that a plan of absurd
// length is refused at once. A layer that does not fit adds none.
Status CountTiles(const LayerWriter& w, int64_t capacity, Arena* scratch,
                  Counted* counted) {
  if (!Computes(w)) return Status::kOk;
  if (w.budget->Tick()) return Status::kStopped;
  Tiling tiling = {};
  TileBuffers buffers = {};
  int64_t smallest = 0;
  const Status status =
      w.tilings->Choose(TiledOf(w), capacity, scratch, &tiling, &buffers, &smallest);
  if (status == Status::kInfeasible) {
    if (smallest > counted->worst_bytes) {
      counted->worst_bytes = smallest;
      counted->worst_layer = w.layer;
    }
    return Status::kOk;
  }
  SLUICE_TRY(status);
  int64_t product = 1;
  for (const int32_t trips : buffers.trips)
    product = Min(product * trips, 2 * kMaxSteps);
  counted->tiles += product;
  return Status::kOk;
}

Status ReportTooLong(uint32_t layer, Diagnostic* diagnostic) {
  return Fail(diagnostic, Status::kUnsupported, kStage)
      .Layer(layer)
      .Say(
          "more than # instructions up to layer #: the scratchpad is too small for a "
          "plan of sensible size",
          kMaxSteps, layer);
}

// The tensor that takes most of the layer's memory: what an infeasible report names.
uint32_t LargestTensor(const Graph& graph, uint32_t layer) {
  uint32_t largest = graph.layers[layer].outputs[0];
  for (uint32_t t : graph.layers[layer].inputs) {
    if (t != kNone && graph.tensors[t].bytes > graph.tensors[largest].bytes)
      largest = t;
  }
  return largest;
}

Status ReportInfeasible(const Graph& graph, uint32_t layer, int64_t required,
                        int64_t available, int64_t smallest, Diagnostic* diagnostic) {
  return Fail(diagnostic, Status::kInfeasible, kStage)
      .Layer(layer)
      .Tensor(LargestTensor(graph, layer))
      .Bytes(static_cast<uint64_t>(required), static_cast<uint64_t>(available))
      .SmallestScratchpad(static_cast<uint64_t>(smallest))
      .Say("layer # (", layer)
      .Text(OpName(graph.layers[layer].op))
      .Say(
          "): its smallest tile needs # bytes of scratchpad, # are available, # too "
          "few; the graph needs #",
          required, available, required - available, smallest);
}

}  // namespace

Status AppendLayer(const LayerCall& call, uint32_t layer, Arena* scratch,
                   Program* program) {
  SLUICE_TRY(program->BeginBlock());
  Arena memory(scratch->memory());
  TilingMemo own(&memory);
  TilingMemo* tilings = call.tilings == nullptr ? &own : call.tilings;
  const LayerWriter writer = {call.graph,  call.hardware, call.lowering, call.coster,
                              call.budget, program,       tilings,       layer};
  int64_t smallest = 0;
  return WriteLayer(writer, call.scratchpad_bytes, scratch, &smallest);
}

namespace {

// *layer: as of CountSteps.
Status CountAll(const LayerCall& call, Arena* scratch, Counted* counted,
                uint32_t* layer) {
  *layer = kNone;
  for (uint32_t l = 0; l < call.graph.layers.size() && *layer == kNone; ++l) {
    if (call.lowering.is_view[l] != 0) continue;
    const LayerWriter writer = {call.graph,  call.hardware, call.lowering, call.coster,
                                call.budget, nullptr,       call.tilings,  l};
    SLUICE_TRY(CountTiles(writer, call.scratchpad_bytes, scratch, counted));
    if (counted->tiles > kMaxSteps) *layer = l;
  }
  return Status::kOk;
}

}  // namespace

Status CountSteps(const LayerCall& call, Arena* scratch, int64_t* steps,
                  uint32_t* layer) {
  Counted counted;
  SLUICE_TRY(CountAll(call, scratch, &counted, layer));
  // Beside each tile there is a step that stores its output or loads other channels.
  *steps = Min(2 * counted.tiles, kMaxSteps);
  return Status::kOk;
}

Status ScheduleLayerByLayer(const LayerCall& call, Arena* scratch, Program* program,
                            Diagnostic* diagnostic) {
  const Graph& graph = call.graph;
  const Lowering& lowering = call.lowering;
  const int64_t scratchpad_bytes = call.scratchpad_bytes;
  Arena memory(scratch->memory());
  TilingMemo own(&memory);
  TilingMemo* tilings = call.tilings == nullptr ? &own : call.tilings;
  const auto writer_of = [&](uint32_t l) {
    return LayerWriter{graph,       call.hardware, lowering, call.coster,
                       call.budget, program,       tilings,  l};
  };
  Counted counted;
  uint32_t too_long = kNone;
  LayerCall counting = call;
  counting.tilings = tilings;
  SLUICE_TRY(CountAll(counting, scratch, &counted, &too_long));
  if (too_long != kNone) return ReportTooLong(too_long, diagnostic);
  const bool fits = counted.worst_layer == kNone;
  for (uint32_t l = 0; l < graph.layers.size(); ++l) {
    const LayerWriter writer = writer_of(l);
    // Where some layer does not fit there is no use for the tiles of the others.
    if (lowering.is_view[l] != 0 || (!fits && Computes(writer))) continue;
    SLUICE_TRY(program->BeginBlock());
    int64_t smallest = 0;
    const Status status = WriteLayer(writer, scratchpad_bytes, scratch, &smallest);
    if (status == Status::kInfeasible) {
      // Look at the other layers too: the report names the scratchpad size that
      // suffices for all.
      if (smallest > counted.worst_bytes) {
        counted.worst_bytes = smallest;
        counted.worst_layer = l;
      }
      continue;
    }
    if (status == Status::kStopped) {
      return Fail(diagnostic, status, kStage)
          .Layer(l)
          .Say("the budget ran out before the first legal plan, at layer #", l);
    }
    if (writer.TooLong()) return ReportTooLong(l, diagnostic);
    if (status == Status::kUnsupported) {
      return Fail(diagnostic, status, kStage)
          .Layer(l)
          .Say("layer # (", l)
          .Text(OpName(graph.layers[l].op))
          .Text(") cannot be scheduled by this version");
    }
    SLUICE_TRY(status);
  }
  if (counted.worst_layer != kNone) {
    return ReportInfeasible(graph, counted.worst_layer, counted.worst_bytes,
                            scratchpad_bytes, counted.worst_bytes, diagnostic);
  }
  return Status::kOk;
}

}  // namespace sluice
