// SPDX-License-Identifier: Apache-2.0
#include "plan/operators/operator_plan.h"

#include "base/checked.h"
#include "model/tile_cycles.h"
#include "solve/baseline/layer_by_layer.h"
#include "solve/placement/spill/joint.h"
#include "solve/placement/spill/replacement.h"

namespace sluice {
namespace {

constexpr char kStage[] = "operators";
constexpr int64_t kElementBytes = 4;  // widest operand of a tile
constexpr uint64_t kStates = 20000;   // of the exact search, per run

// Layers [first, last) of the graph: a run of operators, or one that goes through DRAM.
struct Section {
  uint32_t first, last;
  bool operators;
  Span<uint32_t> layer_of;   // graph layer of each operator
  Span<uint32_t> tensor_of;  // graph tensor of each operator tensor
  OperatorGraph graph;
  SpillPlan plan;
};

class Scheduler {
 public:
  Scheduler(const Graph& graph, const Hardware& hardware, const Lowering& lowering,
            int64_t capacity, const TileCoster& coster, Budget* budget, Arena* arena)
      : graph_(graph),
        hardware_(hardware),
        lowering_(lowering),
        capacity_(capacity),
        coster_(coster),
        budget_(budget),
        arena_(arena),
        sections_(arena) {
    alignment_ = Max<int64_t>(hardware.scratchpad().alignment_bytes, kElementBytes);
  }

  Status Plan(Diagnostic* diagnostic) {
    SLUICE_TRY(FindNames());
    SLUICE_TRY(Cut());
    for (Section& section : sections_) {
      if (section.operators) SLUICE_TRY(BuildOperators(&section));
    }
    SLUICE_TRY(CheckNeeds(diagnostic));
    for (Section& section : sections_) {
      if (section.operators) SLUICE_TRY(PlanSection(&section, diagnostic));
    }
    return Status::kOk;
  }

  Status Write(Arena* places, Program* program, Lowering* out, Diagnostic* diagnostic) {
    *out = lowering_;
    SLUICE_TRY(places->Allocate(graph_.tensors.size(), &out->places));
    SLUICE_TRY(PlaceTensors(out, diagnostic));
    Budget unlimited;  // linear work; what was decided is written to the end
    for (const Section& section : sections_) {
      if (section.operators) {
        SLUICE_TRY(WriteSection(section, *out, program));
      } else if (lowering_.is_view[section.first] == 0) {
        const Status status =
            AppendLayer(graph_, hardware_, *out, section.first, capacity_, coster_,
                        &unlimited, arena_, program);
        if (status == Status::kInfeasible) {
          return Fail(diagnostic, status, kStage)
              .Layer(section.first)
              .Text("layer ")
              .Number(section.first)
              .Text(" cannot be copied through this scratchpad");
        }
        SLUICE_TRY(status);
      }
    }
    return Status::kOk;
  }

 private:
  // name_[t]: the tensor whose bytes t is, through reshapes that move nothing.
  Status FindNames() {
    SLUICE_TRY(arena_->Allocate(graph_.tensors.size(), &name_));
    for (uint32_t t = 0; t < name_.size(); ++t) name_[t] = t;
    for (uint32_t l = 0; l < graph_.layers.size(); ++l) {
      if (IsRename(l)) name_[graph_.layers[l].outputs[0]] = name_[Input(l)];
    }
    return Status::kOk;
  }
  uint32_t Input(uint32_t l) const { return graph_.layers[l].inputs[0]; }
  bool IsRename(uint32_t l) const {
    if (graph_.layers[l].op != SLUICE_OP_RESHAPE || lowering_.is_view[l] == 0) {
      return false;
    }
    // What lies inside another tensor is not dense.
    return Dense(Input(l)) && Dense(graph_.layers[l].outputs[0]);
  }
  bool Dense(uint32_t t) const {
    for (; lowering_.views[t].parent != kNone; t = lowering_.views[t].parent) {
      if (!lowering_.views[t].reshape) return false;
    }
    return true;
  }
  // A folded PAD does nothing and is read by nobody.
  bool IsFolded(uint32_t l) const {
    return graph_.layers[l].op == SLUICE_OP_PAD && lowering_.is_view[l] != 0;
  }
  bool Runs(uint32_t l) const {
    return lowering_.is_view[l] == 0 &&
           KindOf(graph_.layers[l].op) == LayerKind::kCompute;
  }

  Status Cut() {
    SLUICE_TRY(arena_->Allocate(graph_.layers.size(), &section_of_));
    for (uint32_t l = 0; l < graph_.layers.size(); ++l) {
      const bool inside = Runs(l) || IsRename(l) || IsFolded(l);
      if (!inside || sections_.size() == 0 ||
          !sections_[sections_.size() - 1].operators) {
        SLUICE_TRY(sections_.Push(Section{l, l, inside, {}, {}, {}, {}}));
      }
      sections_[sections_.size() - 1].last = l + 1;
      section_of_[l] = static_cast<uint32_t>(sections_.size() - 1);
    }
    return MarkNeeded();
  }

  // needed_[t], by name: read outside the section that writes it, or by the host.
  Status MarkNeeded() {
    SLUICE_TRY(arena_->Allocate(graph_.tensors.size(), &needed_));
    Span<uint32_t> home;
    SLUICE_TRY(arena_->Allocate(graph_.tensors.size(), &home));
    for (uint32_t l = 0; l < graph_.layers.size(); ++l) {
      if (!Runs(l)) continue;
      home[name_[lowering_.executed[l].outputs[0]]] = section_of_[l] + 1;
    }
    for (uint32_t l = 0; l < graph_.layers.size(); ++l) {
      if (IsRename(l)) continue;
      for (uint32_t t : lowering_.executed[l].inputs) {
        if (t != kNone && home[name_[t]] != section_of_[l] + 1) needed_[name_[t]] = 1;
      }
    }
    for (uint32_t t = 0; t < graph_.tensors.size(); ++t) {
      if (graph_.tensors[t].kind == TensorKind::kOutput) needed_[name_[t]] = 1;
    }
    return Status::kOk;
  }

  Status BuildOperators(Section* section) {
    size_t operands = 0, count = 0;
    for (uint32_t l = section->first; l < section->last; ++l) {
      if (!Runs(l)) continue;
      ++count;
      operands += kTileRoles;
    }
    Span<Operator> operators;
    Span<OperatorTensor> tensors;
    Span<uint32_t> list, index;
    SLUICE_TRY(arena_->Allocate(count, &operators));
    SLUICE_TRY(arena_->Allocate(count, &section->layer_of));
    SLUICE_TRY(arena_->Allocate(operands, &list));
    SLUICE_TRY(arena_->Allocate(operands, &tensors));
    SLUICE_TRY(arena_->Allocate(operands, &section->tensor_of));
    SLUICE_TRY(arena_->Allocate(graph_.tensors.size(), &index));  // plus one
    uint32_t used = 0, known = 0;
    const auto operand = [&](uint32_t tensor, bool written) {
      const uint32_t t = name_[tensor];
      if (index[t] == 0) {
        section->tensor_of[known] = t;
        tensors[known].bytes = graph_.tensors[t].bytes;
        tensors[known].role = TensorRole::kInput;
        index[t] = ++known;
      }
      if (written) {
        tensors[index[t] - 1].role =
            needed_[t] != 0 ? TensorRole::kOutput : TensorRole::kIntermediate;
      }
      list[used++] = index[t] - 1;
    };
    count = 0;
    for (uint32_t l = section->first; l < section->last; ++l) {
      if (!Runs(l)) continue;
      const TileOperands roles = OperandsOf(lowering_.executed[l]);
      Operator& op = operators[count];
      section->layer_of[count++] = l;
      op.in_place = kNoOperand;
      op.first_input = used;
      for (int r = 0; r < kRoleOutput; ++r) {
        if (roles.tensor[r] != kNone) operand(roles.tensor[r], false);
      }
      op.input_count = used - op.first_input;
      op.first_output = used;
      operand(roles.tensor[kRoleOutput], true);
      op.output_count = 1;
    }
    section->tensor_of = section->tensor_of.Slice(0, known);
    section->graph.operators = operators;
    section->graph.tensors = tensors.Slice(0, known);
    section->graph.operands = list.Slice(0, used);
    return Status::kOk;
  }

  // Every operator's operands must fit together; the answer names the worst.
  Status CheckNeeds(Diagnostic* diagnostic) const {
    int64_t worst = 0;
    uint32_t layer = kNone;
    for (const Section& section : sections_) {
      for (uint32_t o = 0; section.operators && o < section.layer_of.size(); ++o) {
        OperatorGraph alone = section.graph;
        alone.operators = section.graph.operators.Slice(o, o + 1);
        const int64_t need = LargestOperator(alone, alignment_);
        if (need <= worst) continue;
        worst = need;
        layer = section.layer_of[o];
      }
    }
    if (worst <= capacity_ / alignment_ * alignment_) return Status::kOk;
    return Fail(diagnostic, Status::kInfeasible, kStage)
        .Layer(layer)
        .Bytes(static_cast<uint64_t>(worst), static_cast<uint64_t>(capacity_))
        .SmallestScratchpad(static_cast<uint64_t>(worst))
        .Text("layer ")
        .Number(layer)
        .Text(" (")
        .Text(OpName(graph_.layers[layer].op))
        .Text("): its whole tensors need ")
        .Number(worst)
        .Text(" bytes of scratchpad, ")
        .Number(capacity_)
        .Text(" are available");
  }

  Status PlanSection(Section* section, Diagnostic* diagnostic) {
    if (section->layer_of.empty()) return Status::kOk;
    JointOptions options;
    options.capacity = capacity_;
    options.alignment = alignment_;
    options.max_states = kStates;
    Status status =
        PlanJoint(section->graph, options, budget_, arena_, &section->plan, diagnostic);
    if (status != Status::kUnsupported && status != Status::kStopped) return status;
    Span<uint32_t> order;
    SLUICE_TRY(arena_->Allocate(section->layer_of.size(), &order));
    for (uint32_t o = 0; o < order.size(); ++o) order[o] = o;
    options.fixed_order = order;
    options.exact = false;
    return PlanReplacement(section->graph, options, budget_, arena_, &section->plan,
                           diagnostic);
  }

  // DRAM places for the order in which layers run.
  Status PlaceTensors(Lowering* out, Diagnostic* diagnostic) {
    Span<uint32_t> when;
    Span<uint8_t> on_chip;
    SLUICE_TRY(arena_->Allocate(graph_.layers.size(), &when));
    SLUICE_TRY(arena_->Allocate(graph_.tensors.size(), &on_chip));
    uint32_t time = 0;
    for (const Section& section : sections_) {
      if (!section.operators) when[section.first] = time++;
      for (uint32_t o : section.plan.order) when[section.layer_of[o]] = time++;
      Span<uint8_t> stored;
      SLUICE_TRY(FindStored(section, &stored));
      for (uint32_t a = 0; a < stored.size(); ++a) {
        const bool made = section.graph.tensors[a].role != TensorRole::kInput;
        if (made && stored[a] == 0) on_chip[section.tensor_of[a]] = 1;
      }
    }
    for (uint32_t l = 0; l < graph_.layers.size(); ++l) {
      const uint32_t out_tensor = graph_.layers[l].outputs[0];
      if (Runs(l) || !(IsRename(l) || IsFolded(l))) continue;
      on_chip[out_tensor] = IsFolded(l) ? 0 : on_chip[name_[out_tensor]];
      for (uint32_t t : graph_.layers[l].inputs) {
        if (t == kNone || graph_.tensors[t].producer == kNone) continue;
        when[l] = Max(when[l], when[graph_.tensors[t].producer]);
      }
    }
    return PlaceInDram(graph_, when, on_chip, arena_, out, diagnostic);
  }

  // Which tensors a section writes to DRAM: outputs, and what is spilled.
  Status FindStored(const Section& section, Span<uint8_t>* stored) {
    SLUICE_TRY(arena_->Allocate(section.tensor_of.size(), stored));
    for (uint32_t a = 0; a < stored->size(); ++a) {
      (*stored)[a] = section.graph.tensors[a].role == TensorRole::kOutput;
    }
    for (const Residence& stay : section.plan.residences) {
      if (stay.spilled) (*stored)[stay.tensor] = 1;
    }
    return Status::kOk;
  }

  Status WriteSection(const Section& section, const Lowering& lowering,
                      Program* program) {
    if (section.layer_of.empty()) return Status::kOk;
    Span<uint8_t> stored;
    Span<BufferRange> at;  // of each tensor now
    SLUICE_TRY(FindStored(section, &stored));
    SLUICE_TRY(arena_->Allocate(section.tensor_of.size(), &at));
    SLUICE_TRY(program->BeginBlock());
    size_t next = 0;
    for (uint32_t step = 0; step < section.plan.order.size(); ++step) {
      const uint32_t o = section.plan.order[step];
      const uint32_t layer = section.layer_of[o];
      const uint32_t made = section.graph.OutputsOf(section.graph.operators[o])[0];
      for (; next < section.plan.residences.size() &&
             section.plan.residences[next].begin == step;
           ++next) {
        const Residence& stay = section.plan.residences[next];
        const int64_t bytes =
            RoundUpTo(graph_.tensors[section.tensor_of[stay.tensor]].bytes, alignment_);
        at[stay.tensor] = BufferRange{static_cast<uint32_t>(stay.offset),
                                      static_cast<uint32_t>(stay.offset + bytes)};
        if (stay.tensor == made) continue;
        SLUICE_TRY(program->AddTransfer(
            StepKind::kLoad, layer,
            Whole(section.tensor_of[stay.tensor], at[stay.tensor], lowering)));
      }
      SLUICE_TRY(WriteTile(section, o, at, lowering, program));
      if (stored[made] != 0) {
        SLUICE_TRY(
            program->AddTransfer(StepKind::kStore, layer,
                                 Whole(section.tensor_of[made], at[made], lowering)));
      }
    }
    return Status::kOk;
  }

  Transfer Whole(uint32_t t, BufferRange range, const Lowering& lowering) const {
    const Tensor& tensor = graph_.tensors[t];
    const Box box = WholeBox(tensor);
    Transfer transfer = {};
    transfer.dram = TensorBox(t, lowering.places[t], box);
    transfer.buffer =
        DenseBuffer(range, box.extent, tensor.dtype, tensor.element_bytes);
    return transfer;
  }

  // The box of a tensor that lies whole in `range`.
  BufferBox Part(uint32_t t, BufferRange range, const Box& box) const {
    const Tensor& tensor = graph_.tensors[t];
    BufferBox part =
        DenseBuffer(range, WholeBox(tensor).extent, tensor.dtype, tensor.element_bytes);
    for (int a = 0; a < kAxes; ++a) {
      part.offset += static_cast<uint32_t>(box.begin[a]) * part.stride[a];
      part.extent[a] = box.extent[a];
    }
    return part;
  }

  // The layer as one tile.
  Status WriteTile(const Section& section, uint32_t o, Span<const BufferRange> at,
                   const Lowering& lowering, Program* program) {
    const uint32_t l = section.layer_of[o];
    const Layer& layer = lowering.executed[l];
    const TileOperands roles = OperandsOf(layer);
    const int32_t channels = AccumulatedChannels(graph_, layer);
    const TileBoxes boxes =
        BoxesOf(graph_, layer, WholeBox(graph_.tensors[roles.tensor[kRoleOutput]]), 0,
                channels);
    const Operator& op = section.graph.operators[o];
    uint32_t slot = op.first_input;  // operands stand in the order of the roles
    TileStep tile = {};
    for (int r = 0; r < kTileRoles; ++r) {
      if (roles.tensor[r] == kNone) continue;
      tile.present[r] = true;
      const BufferRange range = at[section.graph.operands[slot++]];
      tile.operand[r] = Part(roles.tensor[r], range, boxes.box[r]);
    }
    tile.first = tile.last = true;
    tile.c_end = channels;
    for (int i = 0; i < 4; ++i) tile.pad[i] = boxes.pad[i];
    tile.macs = boxes.macs;
    tile.vector_ops = boxes.vector_ops;
    const TileCost cost = DeclaredCost(coster_, hardware_, l, boxes, channels);
    tile.cycles = cost.cycles;
    tile.energy_pj = cost.energy_pj;
    tile.scratchpad_pj = cost.scratchpad_pj;
    if (tile.cycles > INT64_C(0xffffffff)) return Status::kUnsupported;
    return program->AddTile(l, tile);
  }

  const Graph& graph_;
  const Hardware& hardware_;
  const Lowering& lowering_;
  const int64_t capacity_;
  const TileCoster& coster_;
  Budget* const budget_;
  Arena* const arena_;
  int64_t alignment_ = 1;
  Span<uint32_t> name_, section_of_;
  Span<uint8_t> needed_;
  Vector<Section> sections_;
};

}  // namespace

Status ScheduleOperators(const Graph& graph, const Hardware& hardware,
                         const Lowering& lowering, int64_t scratchpad_bytes,
                         const TileCoster& coster, Budget* budget, Arena* places,
                         Arena* scratch, Program* program, Lowering* out,
                         Diagnostic* diagnostic) {
  Scheduler scheduler(graph, hardware, lowering, scratchpad_bytes, coster, budget,
                      scratch);
  SLUICE_TRY(scheduler.Plan(diagnostic));
  return scheduler.Write(places, program, out, diagnostic);
}

}  // namespace sluice
