// SPDX-License-Identifier: Apache-2.0
#include "plan/operators/operator_sections.h"

#include "base/checked.h"

namespace sluice {

namespace {

uint32_t InputOf(const OperatorSchedule& self, uint32_t l) {
  return self.graph.layers[l].inputs[0];
}

bool Dense(const OperatorSchedule& self, uint32_t t) {
  for (; self.lowering.views[t].parent != kNone; t = self.lowering.views[t].parent) {
    if (!self.lowering.views[t].reshape) return false;
  }
  return true;
}

// Sets `name`, looking through reshapes that move nothing.
Status FindNames(OperatorSchedule* self) {
  SLUICE_TRY(self->arena->Allocate(self->graph.tensors.size(), &self->name));
  for (uint32_t t = 0; t < self->name.size(); ++t) self->name[t] = t;
  for (uint32_t l = 0; l < self->graph.layers.size(); ++l) {
    if (IsRename(*self, l))
      self->name[self->graph.layers[l].outputs[0]] = self->name[InputOf(*self, l)];
  }
  return Status::kOk;
}

// Sets `needed`.
Status MarkNeeded(OperatorSchedule* self) {
  SLUICE_TRY(self->arena->Allocate(self->graph.tensors.size(), &self->needed));
  Span<uint32_t> home;
  SLUICE_TRY(self->arena->Allocate(self->graph.tensors.size(), &home));
  for (uint32_t l = 0; l < self->graph.layers.size(); ++l) {
    if (!Runs(*self, l)) continue;
    home[self->name[self->lowering.executed[l].outputs[0]]] = self->section_of[l] + 1;
  }
  for (uint32_t l = 0; l < self->graph.layers.size(); ++l) {
    if (IsRename(*self, l)) continue;
    for (uint32_t t : self->lowering.executed[l].inputs) {
      if (t != kNone && home[self->name[t]] != self->section_of[l] + 1)
        self->needed[self->name[t]] = 1;
    }
  }
  for (uint32_t t = 0; t < self->graph.tensors.size(); ++t) {
    if (self->graph.tensors[t].kind == TensorKind::kOutput)
      self->needed[self->name[t]] = 1;
  }
  return Status::kOk;
}

}  // namespace

bool IsRename(const OperatorSchedule& self, uint32_t l) {
  if (TraitsOf(self.graph.layers[l]).view != ViewRule::kReshape ||
      self.lowering.is_view[l] == 0) {
    return false;
  }
  // A tensor that lies inside another one is not dense.
  return Dense(self, InputOf(self, l)) && Dense(self, self.graph.layers[l].outputs[0]);
}

bool IsFolded(const OperatorSchedule& self, uint32_t l) {
  return IsFolded(self.graph.layers[l].op, self.lowering.is_view[l]);
}

bool Runs(const OperatorSchedule& self, uint32_t l) {
  return self.lowering.is_view[l] == 0 &&
         KindOf(self.graph.layers[l].op) == LayerKind::kCompute;
}

Status FindSections(OperatorSchedule* self) {
  SLUICE_TRY(FindNames(self));
  SLUICE_TRY(self->arena->Allocate(self->graph.layers.size(), &self->section_of));
  for (uint32_t l = 0; l < self->graph.layers.size(); ++l) {
    const bool inside = Runs(*self, l) || IsRename(*self, l) || IsFolded(*self, l);
    if (!inside || self->sections.size() == 0 ||
        !self->sections[self->sections.size() - 1].operators) {
      SLUICE_TRY(self->sections.Push(OperatorSection{l, l, inside, {}, {}, {}, {}}));
    }
    self->sections[self->sections.size() - 1].last = l + 1;
    self->section_of[l] = static_cast<uint32_t>(self->sections.size() - 1);
  }
  return MarkNeeded(self);
}

Status BuildOperators(OperatorSchedule* self, OperatorSection* section) {
  size_t operands = 0, count = 0;
  for (uint32_t l = section->first; l < section->last; ++l) {
    if (!Runs(*self, l)) continue;
    ++count;
    operands += kTileRoles;
  }
  Span<Operator> operators;
  Span<OperatorTensor> tensors;
  Span<uint32_t> list, index;
  SLUICE_TRY(self->arena->Allocate(count, &operators));
  SLUICE_TRY(self->arena->Allocate(count, &section->layer_of));
  SLUICE_TRY(self->arena->Allocate(operands, &list));
  SLUICE_TRY(self->arena->Allocate(operands, &tensors));
  SLUICE_TRY(self->arena->Allocate(operands, &section->tensor_of));
  SLUICE_TRY(self->arena->Allocate(self->graph.tensors.size(), &index));  // plus one
  uint32_t used = 0, known = 0;
  const auto operand = [&](uint32_t tensor, bool written) {
    const uint32_t t = self->name[tensor];
    if (index[t] == 0) {
      section->tensor_of[known] = t;
      tensors[known].bytes = self->graph.tensors[t].bytes;
      tensors[known].role = TensorRole::kInput;
      index[t] = ++known;
    }
    if (written) {
      tensors[index[t] - 1].role =
          self->needed[t] != 0 ? TensorRole::kOutput : TensorRole::kIntermediate;
    }
    list[used++] = index[t] - 1;
  };
  count = 0;
  for (uint32_t l = section->first; l < section->last; ++l) {
    if (!Runs(*self, l)) continue;
    const TileOperands roles = OperandsOf(self->lowering.executed[l]);
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

}  // namespace sluice
