// SPDX-License-Identifier: Apache-2.0
#include "plan/mesh/segment_answer.h"

#include "base/checked.h"
#include "model/host.h"
#include "model/segment_directive.h"
#include "plan/mesh/node_pricer.h"
#include "plan/mesh/segment_network.h"

namespace sluice {
namespace {

static_assert(
    int{SLUICE_SEGMENTS_TOP_K} == static_cast<int>(SegmentSolver::kTopK) &&
        int{SLUICE_SEGMENTS_LAYERS} == static_cast<int>(SegmentSolver::kLayers) &&
        int{SLUICE_SEGMENT_SPATIAL} == static_cast<int>(SegmentKind::kSpatial) &&
        int{SLUICE_SEGMENT_TEMPORAL} == static_cast<int>(SegmentKind::kTemporal),
    "as in experimental.h");

Status CheckOptions(const sluice_segment_options_t& options, Diagnostic* diagnostic) {
  const struct {
    const char* name;
    uint32_t value, most;
  } limits[] = {{"solver", options.solver, SLUICE_SEGMENTS_LAYERS},
                {"energy_exponent", options.energy_exponent, 16},
                {"delay_exponent", options.delay_exponent, 16},
                {"top_k", options.top_k, 64},
                {"max_stages", options.max_stages, 8},
                {"word_bytes", options.word_bytes, 8}};
  for (const auto& limit : limits) {
    if (limit.value <= limit.most) continue;
    return Fail(diagnostic, Status::kBadArgument, "options")
        .Text(limit.name)
        .Say(" is #, must be at most #", limit.value, limit.most);
  }
  return Status::kOk;
}

void Describe(const SegmentCost& from, sluice_segment_cost_t* to) {
  to->operations_pj = from.operations_pj;
  to->registers_pj = from.registers_pj;
  to->transfer_pj = from.transfer_pj;
  to->scratchpad_pj = from.scratchpad_pj;
  to->dram_pj = from.dram_pj;
  to->noc_pj = from.noc_pj;
  to->leakage_pj = from.leakage_pj;
  to->energy_pj = from.energy_pj;
  to->cycles = static_cast<uint64_t>(from.cycles);
  to->dram_read_bytes = static_cast<uint64_t>(from.dram_read_bytes);
  to->dram_write_bytes = static_cast<uint64_t>(from.dram_write_bytes);
}

void Describe(const LayerOnNodes& from, uint32_t first, sluice_segment_layer_t* to) {
  to->layer = from.layer;
  to->stage = from.stage;
  to->producer = from.producer == kNone ? SLUICE_NO_INDEX : first + from.producer;
  to->column = from.region.begin[kColumns];
  to->row = from.region.begin[kRows];
  to->columns = from.region.extent[kColumns];
  to->rows = from.region.extent[kRows];
  to->top_ifm = static_cast<uint32_t>(from.terms.top_ifm);
  to->top_ofm = static_cast<uint32_t>(from.terms.top_ofm);
  to->fetches = from.fetches ? 1 : 0;
  to->stores = from.stores ? 1 : 0;
  to->kept = from.kept;
  for (uint32_t axis = 0; axis < kMeshAxes; ++axis) {
    for (uint32_t d = 0; d < kDims; ++d) {
      to->split[axis][d] = from.split.factor[axis][d];
    }
  }
  to->energy_pj = from.cost.layer.energy_pj - from.cost.layer.leakage_pj;
  to->busy_cycles = static_cast<uint64_t>(from.cost.busy_cycles);
  to->scratchpad_bytes = static_cast<uint64_t>(from.cost.scratchpad_bytes);
}

// Counts and costs always; segments and layers where there is room for them.
void Describe(const ChosenSegments& chosen, sluice_segment_schedule_t* out) {
  const SegmentSchedule& schedule = chosen.schedule;
  out->proved = chosen.proved ? 1 : 0;
  out->segment_count = static_cast<uint32_t>(schedule.segments.size());
  out->layer_count = static_cast<uint32_t>(schedule.order.size());
  Describe(schedule.cost, &out->cost);
  Describe(chosen.layers_cost, &out->layers_cost);
  out->objective = schedule.objective;
  out->layers_objective = chosen.layers_objective;
  out->bound = schedule.bound;
  out->vertices = chosen.counts.vertices;
  out->candidates = chosen.counts.segments;
  out->spatial_candidates = chosen.counts.spatial;
  out->schemes = chosen.counts.schemes;
  out->valid = chosen.counts.valid;
  out->priced = chosen.counts.priced;
  out->prices = chosen.counts.prices;
  for (uint32_t s = 0; s < out->segment_count; ++s) {
    const Segment& from = schedule.segments[s];
    const uint32_t count = static_cast<uint32_t>(from.layers.size());
    if (out->segments != nullptr && s < out->capacity) {
      sluice_segment_t* to = &out->segments[s];
      *to = sluice_segment_t{};
      to->kind = static_cast<uint32_t>(from.kind);
      to->first_layer = from.begin;
      to->layer_count = count;
      to->stages = from.stages;
      to->top_batch = static_cast<uint32_t>(from.top_batch);
      to->node_cycles = static_cast<uint64_t>(from.node_cycles);
      to->dram_cycles = static_cast<uint64_t>(from.dram_cycles);
      Describe(from.cost, &to->cost);
    }
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t at = from.begin + i;
      if (out->layers == nullptr || at >= out->capacity) break;
      out->layers[at] = sluice_segment_layer_t{};
      Describe(from.layers[i], from.begin, &out->layers[at]);
      out->layers[at].segment = s;
    }
  }
}

// The graph's names, each once and of characters that directives take.
Status NamesOf(const Graph& graph, Arena* arena, Span<Text>* names) {
  SLUICE_TRY(arena->Allocate(graph.layers.size(), names));
  for (uint32_t i = 0; i < graph.layers.size(); ++i) {
    const uint32_t index = graph.layers[i].name;
    const Text given = index == kNone ? Text{"layer", 5} : graph.names[index];
    constexpr uint32_t kRoom = 12;  // for a number
    Span<char> text;
    SLUICE_TRY(arena->Allocate(size_t{given.size} + kRoom, &text));
    for (uint32_t c = 0; c < given.size; ++c) {
      const char ch = given.data[c];
      const bool plain = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
                         (ch >= '0' && ch <= '9') || ch == '.' || ch == '/';
      text[c] = plain ? ch : '_';
    }
    Text* name = &(*names)[i];
    *name = Text{text.data(), given.size};
    bool known = given.size == 0 || index == kNone;
    for (uint32_t j = 0; j < i && !known; ++j) known = SameText((*names)[j], *name);
    if (!known) continue;
    text[name->size++] = '-';
    char digits[kRoom];
    uint32_t count = 0;
    for (uint32_t rest = i; count == 0 || rest != 0; rest /= 10) {
      digits[count++] = static_cast<char>('0' + rest % 10);
    }
    while (count > 0) text[name->size++] = digits[--count];
  }
  return Status::kOk;
}

Status WriteText(const Graph& graph, const SegmentSchedule& schedule, Arena* arena,
                 sluice_segment_schedule_t* out) {
  Span<Text> names;
  SLUICE_TRY(NamesOf(graph, arena, &names));
  DirectiveProgram program;
  SLUICE_TRY(DirectivesOfSegments(schedule, names, arena, &program));
  const uint64_t room = out->text == nullptr ? 0 : out->text_bytes;
  size_t size = 0;
  const Status status =
      PrintDirectives(program, out->text, room == 0 ? 0 : room - 1, &size);
  if (status != Status::kOk && status != Status::kBufferTooSmall) return status;
  if (status == Status::kOk && room > size) out->text[size] = '\0';
  out->text_bytes = size + 1;
  return Status::kOk;
}

SegmentOptions OptionsOf(const sluice_segment_options_t& from) {
  SegmentOptions options;
  options.solver = static_cast<SegmentSolver>(from.solver);
  if (from.top_k != 0) options.top_k = from.top_k;
  if (from.max_stages != 0) options.max_stages = from.max_stages;
  if (from.energy_exponent != 0 || from.delay_exponent != 0) {
    options.energy_exponent = from.energy_exponent;
    options.delay_exponent = from.delay_exponent;
  }
  options.spatial = from.no_spatial == 0;
  options.temporal = from.no_temporal == 0;
  options.proof = from.proof != 0;
  options.max_priced = from.max_prices;
  return options;
}

struct Question {
  Span<const SegmentLayer> layers;
  const Hardware& hardware;
  const SegmentOptions& options;
};

Status ChooseOnce(const Question& asked, Budget* budget, Arena* arena,
                  ChosenSegments* chosen, Diagnostic* diagnostic) {
  const Hardware one = WithNodeLeakage(asked.hardware);
  NodeParallelOptions nodes;
  nodes.node.constraints.energy_exponent = asked.options.energy_exponent;
  nodes.node.constraints.delay_exponent = asked.options.delay_exponent;
  nodes.exact = asked.options.proof;
  NodePricer pricer(asked.layers, one, nodes, budget, arena->memory());
  return ChooseSegments({asked.layers, one, asked.options, pricer.pricer()}, budget,
                        arena, chosen, diagnostic);
}

// Where a proof is asked for, a schedule is found without it first: a proof may take any
// time, and a call whose time ends while it is made still has a schedule to give.
Status Choose(const Question& asked, Budget* budget, Arena* arena,
              ChosenSegments* chosen, Diagnostic* diagnostic) {
  if (!asked.options.proof) return ChooseOnce(asked, budget, arena, chosen, diagnostic);
  SegmentOptions quick = asked.options;
  quick.proof = false;
  SLUICE_TRY(ChooseOnce({asked.layers, asked.hardware, quick}, budget, arena, chosen,
                        diagnostic));
  chosen->proved = false;
  ChosenSegments whole;
  Diagnostic why;
  ClearDiagnostic(&why);
  const Status status = ChooseOnce(asked, budget, arena, &whole, &why);
  if (status == Status::kStopped) return Status::kOk;
  if (status != Status::kOk) {
    *diagnostic = why;
    return status;
  }
  if (whole.schedule.objective <= chosen->schedule.objective) *chosen = whole;
  return Status::kOk;
}

}  // namespace

Status ScheduleSegments(const SegmentCall& call, Arena* arena,
                        sluice_segment_schedule_t* out, Diagnostic* diagnostic) {
  const Hardware& hardware = call.hardware;
  const sluice_segment_options_t& from = call.options;
  SLUICE_TRY(CheckOptions(from, diagnostic));
  Graph graph;
  SLUICE_TRY(FitToMachine(call.graph, hardware, arena, &graph, diagnostic));
  Lowering lowering = {};
  SLUICE_TRY(Lower(graph, hardware, arena, &lowering, diagnostic));
  Span<SegmentLayer> layers;
  SLUICE_TRY(NetworkOfGraph({graph, hardware, lowering, from.word_bytes}, arena,
                            &layers, diagnostic));
  Budget budget(arena->memory()->time(), from.deadline_ns, 0, from.cancel);
  ChosenSegments chosen;
  SLUICE_TRY(
      Choose({layers, hardware, OptionsOf(from)}, &budget, arena, &chosen, diagnostic));
  Describe(chosen, out);
  SLUICE_TRY(WriteText(graph, chosen.schedule, arena, out));
  out->stop_reason = budget.stop_reason();
  return Status::kOk;
}

}  // namespace sluice
