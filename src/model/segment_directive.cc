// SPDX-License-Identifier: Apache-2.0
#include "model/segment_directive.h"

#include "base/checked.h"

namespace sluice {

namespace {

constexpr Text kNode = {"NODE", 4};
constexpr Text kStep = {"STEP", 4};
constexpr Text kKinds[] = {{"single", 6}, {"spatial", 7}, {"temporal", 8}};
constexpr size_t kMostText = 96;  // longest name of a level

// A name put together in the arena.
struct NameWriter {
  Span<const Text> names;  // of the graph's layers
  Arena* arena;
  Status status;

  Text Join(Text name, const char* suffix) {
    const uint32_t more = static_cast<uint32_t>(strlen(suffix));
    Span<char> text;
    const Status made = arena->Allocate(size_t{name.size} + more, &text);
    if (made != Status::kOk) {
      status = made;
      return name;
    }
    if (name.size != 0) memcpy(text.data(), name.data, name.size);
    memcpy(text.data() + name.size, suffix, more);
    return Text{text.data(), name.size + more};
  }
};

void PutText(char* to, size_t* at, Text text) {
  memcpy(to + *at, text.data, text.size);
  *at += text.size;
}

void PutNumber(char* to, size_t* at, uint64_t number) {
  char digits[20];
  size_t count = 0;
  do {
    digits[count++] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  while (count > 0) to[(*at)++] = digits[--count];
}

// spatial.3.1/4.0-8x16
Text PlaceName(const Segment& segment, uint32_t index, const LayerOnNodes& layer,
               NameWriter* names) {
  char text[kMostText + 1];
  size_t at = 0;
  PutText(text, &at, kKinds[static_cast<int>(segment.kind)]);
  const struct {
    char mark;
    uint32_t number;
  } parts[] = {{'.', index},
               {'.', layer.stage},
               {'/', layer.region.begin[kColumns]},
               {'.', layer.region.begin[kRows]},
               {'-', layer.region.extent[kColumns]},
               {'x', layer.region.extent[kRows]}};
  for (const auto& part : parts) {
    text[at++] = part.mark;
    PutNumber(text, &at, part.number);
  }
  text[at] = '\0';
  return names->Join(Text{}, text);
}

Status PushTensors(const MappingProblem& problem, const Text name[kOperands],
                   const int64_t tile[kDims], Vector<Directive>* directives) {
  for (uint32_t v = 0; v < kOperands; ++v) {
    if (!Has(problem, v)) continue;
    SLUICE_TRY(directives->Push(TensorDirective(problem, v, name[v], tile)));
  }
  return Status::kOk;
}

// Adds a stack along an axis of the mesh, or an update (axis -1).
Status PushMove(const MappingProblem& problem, int8_t axis, uint32_t dim, int64_t step,
                int64_t count, Vector<Directive>* directives) {
  if (count == 1) return Status::kOk;
  Directive directive = {};
  directive.kind = axis < 0 ? DirectiveKind::kUpdate : DirectiveKind::kStack;
  directive.axis = axis;
  directive.count = axis < 0 ? 1 : count;
  AddMove(problem, &directive, dim, step);
  return directives->Push(directive);
}

// Writes the three levels of one layer.
Status WriteLayer(const Segment& segment, uint32_t index, const LayerOnNodes& layer,
                  NameWriter* writer, Vector<Directive>* directives,
                  DirectiveLayer* out) {
  const MappingProblem& problem = layer.problem;
  const Span<const Text> names = writer->names;
  const Text own = names[layer.layer];
  const Text inner[kOperands] = {writer->Join(own, ".in"), writer->Join(own, ".w"),
                                 writer->Join(own, ".out")};
  Text outer[kOperands] = {inner[0], inner[1], own};
  if (layer.producer != kNone) {
    outer[kInput] = names[segment.layers[layer.producer].layer];
  }
  int64_t passes[kDims];
  Diagnostic ignored = {};
  SLUICE_TRY(PassesOf(problem, layer.terms, passes, &ignored));
  const MappingProblem step = PassOf(problem, passes);
  const MappingProblem part = PartOf(step, layer.split);
  Span<DirectiveLevel> levels;
  SLUICE_TRY(writer->arena->Allocate(3, &levels));
  size_t end[4] = {directives->size(), 0, 0, 0};
  SLUICE_TRY(PushTensors(problem, inner, part.extent, directives));
  for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
    for (uint32_t i = 0; i < kDims; ++i) {
      const uint32_t d = layer.split.order[axis][i];
      SLUICE_TRY(PushMove(problem, static_cast<int8_t>(axis), d, part.extent[d],
                          layer.split.factor[axis][d], directives));
    }
  }
  end[1] = directives->size();
  SLUICE_TRY(PushTensors(problem, outer, step.extent, directives));
  // If there are several inputs, the one taken on chip counts.
  if (layer.producer != kNone && layer.fetches) {
    int64_t taken[kDims];
    for (uint32_t d = 0; d < kDims; ++d) taken[d] = step.extent[d];
    const MappingProblem& made = segment.layers[layer.producer].problem;
    taken[kDimC] = Max(int64_t{1},
                       made.extent[kDimK] * made.extent[kDimG] / problem.extent[kDimG]);
    (*directives)[end[1]] = TensorDirective(problem, kInput, outer[kInput], taken);
  }
  for (uint32_t d = kDims; d-- > 0;) {  // the batch comes last: outermost
    SLUICE_TRY(PushMove(problem, -1, d, step.extent[d], passes[d], directives));
  }
  end[2] = directives->size();
  SLUICE_TRY(PushTensors(problem, inner, problem.extent, directives));
  end[3] = directives->size();
  levels[0].name = kNode;
  levels[1].name = kStep;
  levels[2].name = PlaceName(segment, index, layer, writer);
  for (int l = 0; l < 3; ++l) {
    levels[static_cast<size_t>(l)].directives =
        directives->span().Slice(end[l], end[l + 1]);
  }
  out->name = own;
  out->levels = levels;
  return writer->status;
}

// ---- reading ----

struct Place {
  SegmentKind kind;
  uint32_t number[6];  // segment, stage, column, row, columns, rows
};

bool ReadPlace(Text name, Place* place) {
  size_t at = 0;
  for (uint32_t k = 0; k < 3; ++k) {
    const Text kind = kKinds[k];
    if (name.size > kind.size && memcmp(name.data, kind.data, kind.size) == 0) {
      place->kind = static_cast<SegmentKind>(k);
      at = kind.size;
    }
  }
  if (at == 0) return false;
  constexpr char kMarks[] = "../.-x";
  for (int i = 0; i < 6; ++i) {
    if (at >= name.size || name.data[at++] != kMarks[i]) return false;
    const size_t begin = at;
    uint64_t number = 0;
    for (; at < name.size && name.data[at] >= '0' && name.data[at] <= '9'; ++at) {
      number = number * 10 + static_cast<uint64_t>(name.data[at] - '0');
      if (number > INT32_MAX) return false;
    }
    if (at == begin) return false;
    place->number[i] = static_cast<uint32_t>(number);
  }
  return at == name.size;
}

Status Bad(Diagnostic* diagnostic, Text layer, const char* what) {
  return Fail(diagnostic, Status::kBadInput, "directives")
      .Text("layer ")
      .Text(layer.data, layer.size)
      .Text(": ")
      .Text(what);
}

// Extents of the operands' dims at a level; 1 if no operand has the dim. C is that of
// the weights. Without weights C counts operands, of which a step may take one on chip.
void ReadExtents(const DirectiveLevel& level, int64_t extent[kDims]) {
  for (uint32_t d = 0; d < kDims; ++d) extent[d] = 1;
  uint32_t tensors = 0;
  for (const Directive& tensor : level.directives) {
    if (tensor.kind != DirectiveKind::kTensor) continue;
    ++tensors;
    for (uint32_t i = 0; i < tensor.terms; ++i) {
      if (tensor.term[i].dim < kDims) {
        extent[tensor.term[i].dim] = tensor.term[i].value;
      }
    }
  }
  if (tensors < kOperands) extent[kDimC] = 1;
}

// Reads the split from the stacks: the steps of each axis in order, no dim twice.
Status ReadSplit(Text layer, const DirectiveLevel& level, NodeSplit* split,
                 Diagnostic* diagnostic) {
  *split = WholeOnEach();
  uint8_t placed[kMeshAxes] = {};
  for (const Directive& stack : level.directives) {
    if (stack.kind != DirectiveKind::kStack) continue;
    if (stack.axis < 0 || stack.axis >= int{kMeshAxes} || stack.terms == 0 ||
        stack.term[0].dim >= kDims || stack.count > INT32_MAX) {
      return Bad(diagnostic, layer, "a stack of nodes names @0 or @1 and one dim");
    }
    const uint32_t axis = static_cast<uint8_t>(stack.axis);
    const uint8_t dim = stack.term[0].dim;
    if (split->factor[axis][dim] != 1) {
      return Bad(diagnostic, layer, "one dim is stacked twice along one axis");
    }
    split->factor[axis][dim] = static_cast<int32_t>(stack.count);
    // Keep the order of the text: this dim comes next.
    uint8_t* order = split->order[axis];
    uint32_t from = placed[axis];
    while (order[from] != dim) ++from;
    for (; from > placed[axis]; --from) order[from] = order[from - 1];
    order[placed[axis]++] = dim;
  }
  return Status::kOk;
}

Status ReadTerms(Text layer, const DirectiveLevel& step, const DirectiveLevel& all,
                 LayerOnNodes* out, Diagnostic* diagnostic) {
  int64_t one[kDims], whole[kDims];
  ReadExtents(step, one);
  ReadExtents(all, whole);
  int64_t updates = 1, passes[kDims];
  for (uint32_t d = 0; d < kDims; ++d) {
    passes[d] = whole[d] / one[d];
    if (whole[d] % one[d] != 0 || passes[d] > INT32_MAX) {
      return Bad(diagnostic, layer, "steps do not divide the whole");
    }
    updates *= passes[d] > 1 ? 2 : 1;
  }
  for (const Directive& update : step.directives) {
    if (update.kind != DirectiveKind::kUpdate) continue;
    const uint32_t dim = update.term[0].dim;
    if (dim >= kDims || update.term[0].value != one[dim] || passes[dim] == 1) {
      return Bad(diagnostic, layer, "an update does not match the sizes of STEP");
    }
    updates /= 2;
  }
  if (updates != 1 ||
      passes[kDimP] * passes[kDimQ] * passes[kDimR] * passes[kDimS] != 1) {
    return Bad(diagnostic, layer,
               "steps need an update each, and only along N, K, C, G");
  }
  out->terms = LayerTerms{};
  out->terms.top_batch = static_cast<int32_t>(passes[kDimN]);
  out->terms.top_ifm = static_cast<int32_t>(Max(passes[kDimC], passes[kDimG]));
  out->terms.top_ofm = static_cast<int32_t>(Max(passes[kDimK], passes[kDimG]));
  return Status::kOk;
}

Text TensorName(const DirectiveLevel& level, bool output) {
  Text name = {};
  for (const Directive& tensor : level.directives) {
    if (tensor.kind != DirectiveKind::kTensor) continue;
    if (!output) return tensor.name;
    name = tensor.name;
  }
  return name;
}

uint32_t FindName(Span<const Text> names, Text name) {
  for (uint32_t i = 0; i < names.size(); ++i) {
    if (SameText(names[i], name)) return i;
  }
  return kNone;
}

Status ReadLayer(const DirectiveLayer& from, Span<const Text> names, Place* place,
                 LayerOnNodes* out, Diagnostic* diagnostic) {
  if (from.levels.size() != 3 || !SameText(from.levels[0].name, kNode) ||
      !SameText(from.levels[1].name, kStep) || !ReadPlace(from.levels[2].name, place)) {
    return Bad(diagnostic, from.name, "needs levels NODE, STEP and the layer's place");
  }
  out->layer = FindName(names, from.name);
  if (out->layer == kNone) return Bad(diagnostic, from.name, "no such layer");
  out->stage = place->number[1];
  for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
    out->region.begin[axis] = place->number[2 + axis];
    out->region.extent[axis] = place->number[4 + axis];
  }
  SLUICE_TRY(ReadSplit(from.name, from.levels[0], &out->split, diagnostic));
  return ReadTerms(from.name, from.levels[1], from.levels[2], out, diagnostic);
}

// Finds each layer's producer: the layer of the segment that its input is named after.
Status Connect(const DirectiveProgram& program, uint32_t begin, Segment* segment,
               Diagnostic* diagnostic) {
  for (uint32_t i = 0; i < segment->layers.size(); ++i) {
    LayerOnNodes* layer = &segment->layers[i];
    layer->producer = kNone;
    const DirectiveLayer& text = program.layers[begin + i];
    const Text input = TensorName(text.levels[1], false);
    for (uint32_t p = 0; p < i; ++p) {
      if (SameText(TensorName(program.layers[begin + p].levels[1], true), input)) {
        layer->producer = p;
      }
    }
    if (layer->terms.top_batch != segment->top_batch) {
      return Bad(diagnostic, text.name, "has other batch slices than its segment");
    }
    if (layer->producer == kNone) continue;
    LayerOnNodes* from = &segment->layers[layer->producer];
    ++from->consumers;
    const bool here = from->stage == layer->stage;
    layer->terms.ifmap.kind = here ? EndKind::kHere : EndKind::kNodes;
    if (!here) layer->terms.ifmap.region = from->region;
    from->terms.ofmap.kind = layer->terms.ifmap.kind;
  }
  return Status::kOk;
}

}  // namespace

Status DirectivesOfSegments(const SegmentSchedule& schedule, Span<const Text> names,
                            Arena* arena, DirectiveProgram* program) {
  NameWriter writer = {names, arena, Status::kOk};
  // Reserved in full, since slices of it must not move: 2 axes, 3 levels at most.
  Vector<Directive> directives(arena);
  SLUICE_TRY(directives.Reserve(schedule.order.size() *
                                (3 * kOperands + (kMeshAxes + 1) * kDims)));
  Span<DirectiveLayer> layers;
  SLUICE_TRY(arena->Allocate(schedule.order.size(), &layers));
  size_t count = 0;
  for (uint32_t s = 0; s < schedule.segments.size(); ++s) {
    for (const LayerOnNodes& layer : schedule.segments[s].layers) {
      SLUICE_TRY(WriteLayer(schedule.segments[s], s, layer, &writer, &directives,
                            &layers[count++]));
    }
  }
  program->layers = layers;
  return Status::kOk;
}

Status SegmentsOfDirectives(const DirectiveProgram& program, Span<const Text> names,
                            Arena* arena, SegmentSchedule* schedule,
                            Diagnostic* diagnostic) {
  *schedule = SegmentSchedule{};
  SLUICE_TRY(CheckForwarding(program, diagnostic));
  const uint32_t n = static_cast<uint32_t>(program.layers.size());
  Span<LayerOnNodes> layers;
  SLUICE_TRY(arena->Allocate(n, &layers));
  SLUICE_TRY(arena->Allocate(n, &schedule->order));
  Vector<Segment> segments(arena);
  for (uint32_t i = 0; i < n; ++i) {
    Place place = {};
    SLUICE_TRY(ReadLayer(program.layers[i], names, &place, &layers[i], diagnostic));
    schedule->order[i] = layers[i].layer;
    const size_t known = segments.size();
    if (place.number[0] == known) {
      Segment segment = {};
      segment.kind = place.kind;
      segment.begin = i;
      segment.top_batch = layers[i].terms.top_batch;
      SLUICE_TRY(segments.Push(segment));
    } else if (place.number[0] + 1 != known || place.kind != segments[known - 1].kind) {
      return Bad(diagnostic, program.layers[i].name,
                 "segments are numbered in order, each of one kind");
    }
    Segment* last = &segments[segments.size() - 1];
    last->stages = Max(last->stages, place.number[1] + 1);
    last->layers = layers.Slice(last->begin, size_t{i} + 1);
  }
  for (Segment& segment : segments) {
    SLUICE_TRY(Connect(program, segment.begin, &segment, diagnostic));
  }
  schedule->segments = segments.span();
  return Status::kOk;
}

}  // namespace sluice
