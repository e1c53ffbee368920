// SPDX-License-Identifier: Apache-2.0
#include "plan/operators/operator_write.h"

#include "base/checked.h"
#include "model/tile_cycles.h"
#include "solve/baseline/layer_by_layer.h"

namespace sluice {

namespace {

constexpr char kStage[] = "operators";

// Which tensors a section writes to DRAM: outputs, and what is spilled.
Status FindStored(OperatorSchedule* self, const OperatorSection& section,
                  Span<uint8_t>* stored) {
  SLUICE_TRY(self->arena->Allocate(section.tensor_of.size(), stored));
  for (uint32_t a = 0; a < stored->size(); ++a) {
    (*stored)[a] = section.graph.tensors[a].role == TensorRole::kOutput;
  }
  for (const Residence& stay : section.plan.residences) {
    if (stay.spilled) (*stored)[stay.tensor] = 1;
  }
  return Status::kOk;
}

// The time of each layer of a section. Time does not go on between the first and the last
// run of a layer: what it reads stays in its place.
Status TimeLayers(OperatorSchedule* self, const OperatorSection& section,
                  uint32_t* time, Span<uint32_t> when) {
  const Span<uint32_t> order = section.plan.order;
  Span<uint32_t> last;  // by layer: the step of its last run
  ArenaScope scope(self->arena);
  SLUICE_TRY(self->arena->Allocate(when.size(), &last));
  for (uint32_t step = 0; step < order.size(); ++step) {
    last[section.layer_of[order[step]]] = step;
  }
  uint32_t until = 0;
  for (uint32_t step = 0; step < order.size(); ++step) {
    const uint32_t layer = section.layer_of[order[step]];
    when[layer] = *time;
    until = Max(until, last[layer]);
    if (step >= until) ++*time;
  }
  return Status::kOk;
}

// DRAM places for the order in which layers run.
Status PlaceTensors(OperatorSchedule* self, Lowering* out, Diagnostic* diagnostic) {
  Span<uint32_t> when;
  Span<uint8_t> on_chip;
  SLUICE_TRY(self->arena->Allocate(self->graph.layers.size(), &when));
  SLUICE_TRY(self->arena->Allocate(self->graph.tensors.size(), &on_chip));
  uint32_t time = 0;
  for (const OperatorSection& section : self->sections) {
    if (!section.operators) when[section.first] = time++;
    SLUICE_TRY(TimeLayers(self, section, &time, when));
    Span<uint8_t> stored;
    SLUICE_TRY(FindStored(self, section, &stored));
    for (uint32_t a = 0; a < stored.size(); ++a) {
      const bool made = section.graph.tensors[a].role != TensorRole::kInput;
      if (made && stored[a] == 0) on_chip[section.tensor_of[a]] = 1;
    }
    // Another run of the layer may have stored the tensor.
    for (uint32_t a = 0; a < stored.size(); ++a) {
      if (stored[a] != 0) on_chip[section.tensor_of[a]] = 0;
    }
  }
  for (uint32_t l = 0; l < self->graph.layers.size(); ++l) {
    const uint32_t out_tensor = self->graph.layers[l].outputs[0];
    if (Runs(*self, l) || !(IsRename(*self, l) || IsFolded(*self, l))) continue;
    on_chip[out_tensor] = IsFolded(*self, l) ? 0 : on_chip[self->name[out_tensor]];
    for (uint32_t t : self->graph.layers[l].inputs) {
      if (t == kNone || self->graph.tensors[t].producer == kNone) continue;
      when[l] = Max(when[l], when[self->graph.tensors[t].producer]);
    }
  }
  return PlaceInDram(self->graph, when, on_chip, self->arena, out, diagnostic);
}

// What a tensor is for the layer that it is loaded for.
uint8_t RoleFor(const OperatorSchedule& self, const OperatorSection& section,
                uint32_t o, uint32_t tensor, const Lowering& lowering) {
  const TileOperands roles = OperandsOf(lowering.executed[section.layer_of[o]]);
  for (int r = 0; r < kTileRoles; ++r) {
    if (roles.tensor[r] != kNone && self.name[roles.tensor[r]] == self.name[tensor]) {
      return WireRole(r);
    }
  }
  return SLUICE_ROLE_INPUT;
}

Transfer WholeTensor(const OperatorSchedule& self, uint32_t t, uint8_t role,
                     BufferRange range, const Lowering& lowering) {
  const Tensor& tensor = self.graph.tensors[t];
  const Box box = WholeBox(tensor);
  Transfer transfer = {};
  transfer.role = role;
  transfer.dram = TensorBox(t, lowering.places[t], box);
  transfer.buffer = DenseBuffer(range, box.extent, tensor.dtype, tensor.element_bytes);
  return transfer;
}

// The box of a tensor that lies whole in `range`.
BufferBox PartOfTensor(const OperatorSchedule& self, uint32_t t, BufferRange range,
                       const Box& box) {
  const Tensor& tensor = self.graph.tensors[t];
  BufferBox part =
      DenseBuffer(range, WholeBox(tensor).extent, tensor.dtype, tensor.element_bytes);
  for (int a = 0; a < kAxes; ++a) {
    part.offset += static_cast<uint32_t>(box.begin[a]) * part.stride[a];
    part.extent[a] = box.extent[a];
  }
  return part;
}

// The layer as one tile.
Status WriteTile(OperatorSchedule* self, const OperatorSection& section, uint32_t o,
                 Span<const BufferRange> at, const Lowering& lowering,
                 Program* program) {
  const uint32_t l = section.layer_of[o];
  const Layer& layer = lowering.executed[l];
  const TileOperands roles = OperandsOf(layer);
  const int32_t channels = AccumulatedChannels(self->graph, layer);
  const TileBoxes boxes =
      BoxesOf(self->graph, layer,
              WholeBox(self->graph.tensors[roles.tensor[kRoleOutput]]), 0, channels);
  const Operator& op = section.graph.operators[o];
  uint32_t slot = op.first_input;  // operands are in the order of the roles
  TileStep tile = {};
  for (int r = 0; r < kTileRoles; ++r) {
    if (roles.tensor[r] == kNone) continue;
    tile.present[r] = true;
    const BufferRange range = at[section.graph.operands[slot++]];
    tile.operand[r] = PartOfTensor(*self, roles.tensor[r], range, boxes.box[r]);
  }
  tile.first = tile.last = true;
  tile.c_end = channels;
  for (int i = 0; i < 4; ++i) tile.pad[i] = boxes.pad[i];
  tile.macs = boxes.macs;
  tile.vector_ops = boxes.vector_ops;
  const TileCost cost = DeclaredCost(
      {self->coster, self->hardware, self->graph, layer, l}, boxes, TileSum{channels});
  tile.cycles = cost.cycles;
  tile.energy_pj = cost.energy_pj;
  tile.scratchpad_pj = cost.scratchpad_pj;
  if (tile.cycles > INT64_C(0xffffffff)) return Status::kUnsupported;
  return program->AddTile(l, tile);
}

Status WriteSection(OperatorSchedule* self, const OperatorSection& section,
                    const Lowering& lowering, Program* program) {
  if (section.layer_of.empty()) return Status::kOk;
  Span<uint8_t> stored;
  Span<BufferRange> at;  // of each tensor now
  SLUICE_TRY(FindStored(self, section, &stored));
  SLUICE_TRY(self->arena->Allocate(section.tensor_of.size(), &at));
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
      const int64_t bytes = RoundUpTo(
          self->graph.tensors[section.tensor_of[stay.tensor]].bytes, self->alignment);
      at[stay.tensor] = BufferRange{static_cast<uint32_t>(stay.offset),
                                    static_cast<uint32_t>(stay.offset + bytes)};
      if (stay.tensor == made) continue;
      const uint32_t tensor = section.tensor_of[stay.tensor];
      SLUICE_TRY(program->AddTransfer(
          StepKind::kLoad, layer,
          WholeTensor(*self, tensor, RoleFor(*self, section, o, tensor, lowering),
                      at[stay.tensor], lowering)));
    }
    SLUICE_TRY(WriteTile(self, section, o, at, lowering, program));
    if (stored[made] != 0) {
      SLUICE_TRY(
          program->AddTransfer(StepKind::kStore, layer,
                               WholeTensor(*self, section.tensor_of[made],
                                           SLUICE_ROLE_OUTPUT, at[made], lowering)));
    }
  }
  return Status::kOk;
}

}  // namespace

Status WriteSections(OperatorSchedule* self, Arena* places, Program* program,
                     Lowering* out, Diagnostic* diagnostic) {
  *out = self->lowering;
  SLUICE_TRY(places->Allocate(self->graph.tensors.size(), &out->places));
  SLUICE_TRY(PlaceTensors(self, out, diagnostic));
  Budget
      unlimited;  // the work is linear: what was planned is always written to the end
  for (const OperatorSection& section : self->sections) {
    if (section.operators) {
      SLUICE_TRY(WriteSection(self, section, *out, program));
    } else if (self->lowering.is_view[section.first] == 0) {
      const Status status =
          AppendLayer(LayerCall{self->graph, self->hardware, *out, self->capacity,
                                self->coster, &unlimited},
                      section.first, self->arena, program);
      if (status == Status::kInfeasible) {
        return Fail(diagnostic, status, kStage)
            .Layer(section.first)
            .Say("layer # cannot be copied through this scratchpad", section.first);
      }
      SLUICE_TRY(status);
    }
  }
  return Status::kOk;
}

}  // namespace sluice
