// SPDX-License-Identifier: Apache-2.0
// Conversion between a loop nest and its directives.
#include "base/checked.h"
#include "model/directive.h"

namespace sluice {

namespace {

constexpr char kDefaultNames[kMaxLevels][3] = {"L0", "L1", "L2", "L3", "L4", "L5"};
constexpr Text kMacs = {"MAC", 3};

Text LevelName(const Hardware& hardware, uint32_t level) {
  const Text name = hardware.levels[level].name;
  return name.size != 0 ? name : Text{kDefaultNames[level], 2};
}

void AddTerm(Directive* directive, uint32_t dim, int64_t value) {
  directive->term[directive->terms++] = DirectiveTerm{static_cast<uint8_t>(dim), value};
}

}  // namespace

void AddMove(const MappingProblem& problem, Directive* directive, uint32_t dim,
             int64_t step) {
  AddTerm(directive, dim, step);
  if (dim < kDimP || dim > kDimS) return;
  const int axis = dim == kDimP || dim == kDimR ? 0 : 1;
  const int64_t each =
      dim <= kDimQ ? WindowStep(problem, axis) : int64_t{problem.dilation[axis]};
  AddTerm(directive, axis == 0 ? uint32_t{kDimH} : uint32_t{kDimW}, step * each);
}

Directive TensorDirective(const MappingProblem& problem, uint32_t operand, Text name,
                          const int64_t tile[kDims]) {
  Directive directive = {};
  directive.kind = DirectiveKind::kTensor;
  directive.axis = -1;
  directive.name = name;
  directive.count = 1;
  for (uint32_t d = 0; d < kDims; ++d) {
    const bool window = operand == kInput && d >= kDimP && d <= kDimS;
    if (Moves(d, operand) && !window && problem.extent[d] > 1) {
      AddTerm(&directive, d, tile[d]);
    }
  }
  if (operand != kInput) return directive;
  for (int axis = 0; axis < 2; ++axis) {
    const uint32_t p = kDimP + static_cast<uint32_t>(axis);
    const uint32_t r = kDimR + static_cast<uint32_t>(axis);
    AddTerm(&directive, kDimH + static_cast<uint32_t>(axis),
            WindowSpan(problem, axis, tile[p], tile[r]));
  }
  return directive;
}

namespace {

// Stacks and updates between tile(level) and tile(level + 1).
Status PushMoves(const MappingProblem& problem, const LoopNest& nest, int level,
                 Vector<Directive>* directives) {
  int64_t step[kDims];
  TileExtents(nest, level, step);
  const uint32_t above = static_cast<uint32_t>(level + 1);
  Directive directive = {};
  for (uint32_t a = 0; a < kMaxAxes; ++a) {
    for (uint32_t d = 0; d < kDims; ++d) {
      const int64_t factor = nest.spatial[above][a][d];
      if (factor == 1) continue;
      directive = Directive{};
      directive.kind = DirectiveKind::kStack;
      directive.axis = static_cast<int8_t>(a);
      directive.count = factor;
      AddMove(problem, &directive, d, step[d]);
      SLUICE_TRY(directives->Push(directive));
      step[d] *= factor;
    }
  }
  for (int i = 0; i < kDims; ++i) {
    const uint32_t d = nest.order[above][i];
    if (nest.temporal[above][d] == 1) continue;
    directive = Directive{};
    directive.kind = DirectiveKind::kUpdate;
    directive.axis = -1;
    directive.count = 1;
    AddMove(problem, &directive, d, step[d]);
    SLUICE_TRY(directives->Push(directive));
  }
  return Status::kOk;
}

// State while reading a layer from the outermost level inwards.
struct Reading {
  const MappingProblem* problem;
  const Hardware* hardware;
  const TensorNames* names;
  LoopNest* nest;
  int64_t bound[kDims];  // tile of the level above, clipped
  Diagnostic* diagnostic;

  Status Bad(const DirectiveLevel& level, const char* what) const {
    return Fail(diagnostic, Status::kBadInput, "directives")
        .Text("level ")
        .Text(level.name.data, level.name.size)
        .Text(": ")
        .Text(what);
  }
};

// The one dim of a stack or update, its input rows or columns checked against it.
Status MovedDim(const Reading& reading, const DirectiveLevel& level,
                const Directive& directive, uint32_t* dim, int64_t* step) {
  Directive expected = {};
  *dim = kDims;
  for (uint32_t i = 0; i < directive.terms; ++i) {
    if (directive.term[i].dim >= kDims) continue;
    if (*dim != kDims) return reading.Bad(level, "a stack or update moves two dims");
    *dim = directive.term[i].dim;
    *step = directive.term[i].value;
  }
  if (*dim == kDims) return reading.Bad(level, "a stack or update moves no dim");
  if (*step > reading.problem->extent[*dim] * 2) {
    return reading.Bad(level, "a step beyond the tensor");
  }
  AddMove(*reading.problem, &expected, *dim, *step);
  for (uint32_t i = 0; i < directive.terms; ++i) {
    bool found = false;
    for (uint32_t j = 0; j < expected.terms; ++j) {
      found |= directive.term[i].dim == expected.term[j].dim &&
               directive.term[i].value == expected.term[j].value;
    }
    if (!found)
      return reading.Bad(level, "input rows do not move along with the output");
  }
  return Status::kOk;
}

// Axis of a stack: as given, else the first that may unroll the dim and has room.
uint32_t AxisOf(const Reading& reading, const Directive& directive, uint32_t above,
                uint32_t dim) {
  if (directive.axis >= 0) return static_cast<uint32_t>(directive.axis);
  for (uint32_t a = 0; a < kMaxAxes; ++a) {
    const Fanout* fanout = FanoutAt(*reading.hardware, above, a);
    if (fanout == nullptr) break;
    int64_t used = directive.count;
    for (uint32_t d = 0; d < kDims; ++d) {
      if (!CheckedMultiply(used, reading.nest->spatial[above][a][d], &used)) {
        used = INT64_MAX;
      }
    }
    if (MayUnroll(*fanout, dim) && used <= int64_t{fanout->extent}) return a;
  }
  return kMaxAxes;
}

// Fills spatial and temporal factors of level `above`; *tile becomes the tile below it.
Status ReadMoves(Reading* reading, const DirectiveLevel& level, uint32_t above,
                 int64_t tile[kDims]) {
  LoopNest* nest = reading->nest;
  int64_t step[kDims];
  bool moved[kDims] = {}, updated[kDims] = {};
  uint32_t ordered = 0;
  for (uint32_t d = 0; d < kDims; ++d) tile[d] = step[d] = reading->bound[d];
  for (const Directive& directive : level.directives) {
    if (directive.kind == DirectiveKind::kTensor) continue;
    uint32_t d = 0;
    int64_t by = 0;
    SLUICE_TRY(MovedDim(*reading, level, directive, &d, &by));
    if (updated[d]) return reading->Bad(level, "a dim moves after its update");
    if (moved[d] && by != step[d])
      return reading->Bad(level, "a step differs from the extent moved before it");
    if (!moved[d]) tile[d] = step[d] = by;
    moved[d] = true;
    if (directive.kind == DirectiveKind::kUpdate) {
      nest->temporal[above][d] = CeilDivide(reading->bound[d], step[d]);
      nest->order[above][ordered++] = static_cast<uint8_t>(d);
      updated[d] = true;
      continue;
    }
    const uint32_t axis = AxisOf(*reading, directive, above, d);
    if (axis == kMaxAxes) return reading->Bad(level, "no fanout for a stack");
    // Stacks of one dim must be in the order of their axes, as the nest has them.
    for (uint32_t a = axis; a < kMaxAxes; ++a) {
      if (nest->spatial[above][a][d] != 1) {
        return reading->Bad(level, "a dim's stacks must be in the order of their axes");
      }
    }
    nest->spatial[above][axis][d] = directive.count;
    if (!CheckedMultiply(step[d], directive.count, &step[d])) {
      return reading->Bad(level, "a stack beyond the tensor");
    }
  }
  // Dims without an update come last (outermost), in the default order.
  const LoopNest defaults = EmptyNest(*reading->hardware, *reading->problem);
  for (int i = 0; i < kDims; ++i) {
    const uint8_t d = defaults.order[above][i];
    if (!updated[d]) nest->order[above][ordered++] = d;
  }
  return Status::kOk;
}

// Reads which operands the level holds, and checks their sizes against the tile's.
Status ReadTensors(const Reading& reading, const DirectiveLevel& level, uint32_t index,
                   const int64_t tile[kDims]) {
  reading.nest->hold[index] = 0;
  for (const Directive& directive : level.directives) {
    if (directive.kind != DirectiveKind::kTensor) continue;
    if (directive.count > 1) {
      return Fail(reading.diagnostic, Status::kUnsupported, "directives")
          .Say("a tensor shared by # buffers has no nest on one node", directive.count);
    }
    uint32_t operand = kOperands;
    for (uint32_t v = 0; v < kOperands; ++v) {
      if (Has(*reading.problem, v) &&
          SameText(reading.names->operand[v], directive.name)) {
        operand = v;
      }
    }
    if (operand == kOperands) return reading.Bad(level, "a tensor of another layer");
    const Directive expected =
        TensorDirective(*reading.problem, operand, directive.name, tile);
    for (uint32_t i = 0; i < directive.terms; ++i) {
      bool found = directive.term[i].value == 1;  // dims of extent 1 may be written
      for (uint32_t j = 0; j < expected.terms; ++j) {
        if (directive.term[i].dim != expected.term[j].dim) continue;
        found = directive.term[i].value == expected.term[j].value;
      }
      if (!found)
        return reading.Bad(level, "a tensor's size differs from what its moves cover");
    }
    reading.nest->hold[index] |= static_cast<uint8_t>(OperandBit(operand));
  }
  return Status::kOk;
}

}  // namespace

Status DirectivesOfNest(const MappingProblem& problem, const Hardware& hardware,
                        const LoopNest& nest, const TensorNames& names, Arena* arena,
                        DirectiveLayer* layer) {
  bool macs = false;
  for (uint32_t d = 0; d < kDims; ++d) macs |= SpatialFactor(nest, 0, d) > 1;
  Vector<DirectiveLevel> levels(arena);
  SLUICE_TRY(levels.Reserve(nest.levels));
  for (int l = macs ? -1 : 0; l + 1 < static_cast<int>(nest.levels); ++l) {
    Vector<Directive> directives(arena);
    int64_t tile[kDims];
    TileExtents(nest, l, tile);
    for (uint32_t d = 0; d < kDims; ++d) tile[d] = Min(tile[d], problem.extent[d]);
    for (uint32_t v = 0; l >= 0 && v < kOperands; ++v) {
      if ((nest.hold[l] >> v & 1) == 0) continue;
      SLUICE_TRY(directives.Push(TensorDirective(problem, v, names.operand[v], tile)));
    }
    SLUICE_TRY(PushMoves(problem, nest, l, &directives));
    const Text name = l < 0 ? kMacs : LevelName(hardware, static_cast<uint32_t>(l));
    SLUICE_TRY(levels.Push(DirectiveLevel{name, directives.span()}));
  }
  layer->name = names.layer;
  layer->levels = levels.span();
  return Status::kOk;
}

Status NestOfDirectives(const MappingProblem& problem, const Hardware& hardware,
                        const DirectiveLayer& layer, const TensorNames& names,
                        LoopNest* nest, Diagnostic* diagnostic) {
  SLUICE_TRY(CheckProblem(problem, diagnostic));
  SLUICE_TRY(CheckHierarchy(hardware, diagnostic));
  *nest = EmptyNest(hardware, problem);
  Reading reading = {&problem, &hardware, &names, nest, {}, diagnostic};
  for (uint32_t d = 0; d < kDims; ++d) reading.bound[d] = problem.extent[d];
  const bool macs = layer.levels.size() != 0 && SameText(layer.levels[0].name, kMacs);
  const size_t expected = hardware.levels.size() - 1 + (macs ? 1 : 0);
  if (layer.levels.size() != expected) {
    return Fail(diagnostic, Status::kBadInput, "directives")
        .Say("the layer has # levels instead of #", layer.levels.size(), expected);
  }
  for (size_t i = layer.levels.size(); i-- > 0;) {
    const DirectiveLevel& level = layer.levels[i];
    const int index = static_cast<int>(i) - (macs ? 1 : 0);
    const Text name =
        index < 0 ? kMacs : LevelName(hardware, static_cast<uint32_t>(index));
    if (!SameText(level.name, name)) return reading.Bad(level, "unexpected here");
    int64_t tile[kDims];
    SLUICE_TRY(ReadMoves(&reading, level, static_cast<uint32_t>(index + 1), tile));
    for (uint32_t d = 0; d < kDims; ++d) {
      reading.bound[d] = Min(tile[d], problem.extent[d]);
    }
    if (index < 0) break;
    SLUICE_TRY(
        ReadTensors(reading, level, static_cast<uint32_t>(index), reading.bound));
    // The first level's own loops are inside its tensors.
    for (uint32_t d = 0; d < kDims && index == 0 && !macs; ++d) {
      nest->temporal[0][d] = reading.bound[d];
    }
  }
  return CheckNest(problem, hardware, *nest, 0, diagnostic);
}

}  // namespace sluice
