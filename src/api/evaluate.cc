// SPDX-License-Identifier: Apache-2.0
// sluice_evaluate: a notation of a graph's layers, in the library's own terms and back.
#include "model/evaluate.h"

#include "api/arguments.h"
#include "api/objects.h"
#include "base/checked.h"
#include "model/lowering.h"
#include "plan/tile_costs.h"
#include "sluice/experimental.h"
#include "solve/fusion/problem.h"

namespace sluice {
namespace {

constexpr char kStage[] = "evaluate";

// The rule that a diagnostic carries, by fault.
const char* RuleOf(uint32_t fault) {
  switch (fault) {
    case SLUICE_SCHEDULE_ORDER:
      return "order";
    case SLUICE_SCHEDULE_TILES:
      return "tiles";
    case SLUICE_SCHEDULE_DURATION:
      return "duration";
    case SLUICE_SCHEDULE_SOURCE:
      return "source";
    case SLUICE_SCHEDULE_BLOCKED:
      return "blocked";
    case SLUICE_SCHEDULE_BUFFER:
      return "buffer";
    case SLUICE_SCHEDULE_MAPPING:
      return "mapping";
    default:
      return "";
  }
}

const char* SentenceOf(uint32_t fault, bool dram) {
  switch (fault) {
    case SLUICE_SCHEDULE_ORDER:
      return dram ? "the DRAM order does not name every DRAM tensor of the groups "
                    "once, tile after tile"
                  : "a layer stands before one that it reads";
    case SLUICE_SCHEDULE_TILES:
      return "the group cannot be cut into that many tiles";
    case SLUICE_SCHEDULE_DURATION:
      return "the living duration starts or ends outside what its tiles allow";
    case SLUICE_SCHEDULE_SOURCE:
      return "a load stands before the store that it reads";
    case SLUICE_SCHEDULE_BLOCKED:
      return "a DRAM transfer waits for a tile that waits for it";
    case SLUICE_SCHEDULE_MAPPING:
      return "a tile cannot be computed on this machine";
    default:
      return "the schedule needs more of the scratchpad than there is";
  }
}

class Evaluator {
 public:
  Evaluator(const Graph& graph, const Hardware& hardware,
            const sluice_notation_t& notation, const sluice_schedule_options_t& options,
            Arena* arena, Diagnostic* diagnostic)
      : graph_(graph),
        hardware_(hardware),
        capacity_(hardware.scratchpad().capacity_bytes),
        notation_(notation),
        options_(options),
        arena_(arena),
        diagnostic_(diagnostic) {
    if (options.scratchpad_bytes != 0) {
      capacity_ = static_cast<int64_t>(
          Min(options.scratchpad_bytes, static_cast<uint64_t>(capacity_)));
    }
  }

  Status Run(sluice_evaluation_t* out) {
    SLUICE_TRY(Lower(graph_, hardware_, arena_, &lowering_, diagnostic_));
    SLUICE_TRY(MakeRun());
    SLUICE_TRY(Translate());
    Arena tile_memory(arena_->memory());
    TileCosts costs(graph_, hardware_, lowering_, options_, &tile_memory);
    SLUICE_TRY(costs.Init(diagnostic_));
    run_.coster = costs.coster();
    ResolvedSchedule resolved;
    SLUICE_TRY(ResolveNotation(run_.problem, ModelOf(&run_), own_, arena_, &resolved,
                               out, diagnostic_));
    SLUICE_TRY(costs.status(diagnostic_));
    TranslateBack(out);
    if (out->tiles != 0) FillEnergy(resolved.list, out);
    return out->fault == SLUICE_SCHEDULE_LEGAL ? Status::kOk : Explain(resolved, *out);
  }

 private:
  Status BadLayer(uint32_t layer, const char* why) {
    return Fail(diagnostic_, Status::kUnsupported, kStage)
        .Layer(layer)
        .Text("the layer cannot stand in a notation: ")
        .Text(why);
  }

  // The named layers, each once, as a fusion problem.
  Status MakeRun() {
    const sluice_notation_t& n = notation_;
    if (n.layers == 0 || n.order == nullptr || n.cuts == nullptr ||
        n.tiles == nullptr || (n.transfers != 0 && n.dram == nullptr)) {
      return Fail(diagnostic_, Status::kBadArgument, kStage)
          .Text("the notation is empty, or an array of it is missing");
    }
    SLUICE_TRY(arena_->Allocate(graph_.layers.size(), &fusion_of_));
    for (uint32_t& f : fusion_of_) f = kNone;
    for (uint32_t i = 0; i < n.layers; ++i) {
      if (n.order[i] >= graph_.layers.size() || fusion_of_[n.order[i]] != kNone) {
        return Fail(diagnostic_, Status::kBadArgument, kStage)
            .Layer(n.order[i] < graph_.layers.size() ? n.order[i] : kNone)
            .Text("the order names no layer, or one for the second time, at position ")
            .Number(i);
      }
      fusion_of_[n.order[i]] = 0;
    }
    Span<uint32_t> layers;
    SLUICE_TRY(arena_->Allocate(graph_.layers.size(), &layers));
    uint32_t count = 0;
    for (uint32_t l = 0; l < graph_.layers.size(); ++l) {
      const Span<const uint32_t> run = layers.Slice(0, count);
      if (fusion_of_[l] == kNone) {  // appends go along with what they append
        if (MayAppend(graph_, lowering_, run, l)) layers[count++] = l;
        continue;
      }
      SLUICE_TRY(CheckLayer(run, l));
      layers[count++] = l;
    }
    SLUICE_TRY(MakeFusionRun(graph_, hardware_, lowering_, layers.Slice(0, count),
                             capacity_, arena_, &run_));
    for (uint32_t i = 0; i < run_.layer.size(); ++i) fusion_of_[run_.layer[i]] = i;
    return Status::kOk;
  }

  Status CheckLayer(Span<const uint32_t> run, uint32_t l) {
    if (lowering_.is_view[l] != 0) return BadLayer(l, "it is a view and does nothing");
    if (!MayFuse(graph_, hardware_, lowering_, l, capacity_)) {
      return BadLayer(l,
                      "it does not compute, or on state, or its weights are too large "
                      "for this scratchpad");
    }
    if (ReadsAlias(graph_, lowering_, run, l)) {
      return BadLayer(l,
                      "it reads memory that a layer before it writes under another "
                      "name");
    }
    return Status::kOk;
  }

  uint32_t RootOf(uint32_t tensor) const {
    while (lowering_.views[tensor].parent != kNone) {
      tensor = lowering_.views[tensor].parent;
    }
    return tensor;
  }

  // What a layer's input is called inside, by the graph's tensor or a view of it.
  uint32_t SourceOf(uint32_t layer, uint32_t tensor) const {
    if (tensor >= graph_.tensors.size()) return kNone;
    const FusionLayer& l = run_.problem.layers[layer];
    for (uint32_t e = l.first_input; e < l.first_input + l.inputs; ++e) {
      if (RootOf(run_.edge_tensor[e]) == RootOf(tensor)) {
        return run_.problem.inputs[e].source;
      }
    }
    return kNone;
  }

  // Numbers of the graph become those of the problem.
  Status Translate() {
    Span<uint32_t> order;
    Span<sluice_dram_tensor_t> dram;
    SLUICE_TRY(arena_->Allocate(notation_.layers, &order));
    SLUICE_TRY(arena_->Allocate(notation_.transfers, &dram));
    for (uint32_t i = 0; i < notation_.layers; ++i) {
      order[i] = fusion_of_[notation_.order[i]];
    }
    for (uint32_t i = 0; i < notation_.transfers; ++i) {
      dram[i] = notation_.dram[i];
      const uint32_t layer = dram[i].layer;
      dram[i].layer = layer < fusion_of_.size() ? fusion_of_[layer] : kNone;
      if (dram[i].layer == kNone || dram[i].kind > SLUICE_DRAM_STORE) {
        return Fail(diagnostic_, Status::kBadArgument, kStage)
            .Layer(layer < fusion_of_.size() ? layer : kNone)
            .Text(
                "no such DRAM tensor: its layer is not in the order, or its kind is "
                "unknown, at place ")
            .Number(i);
      }
      if (dram[i].kind != SLUICE_DRAM_INPUT) continue;
      dram[i].source = SourceOf(dram[i].layer, notation_.dram[i].source);
    }
    own_ = notation_;
    own_.struct_size = sizeof own_;
    own_.order = order.data();
    own_.dram = dram.data();
    return Status::kOk;
  }

  uint32_t TensorOf(const sluice_dram_tensor_t& t) const {
    const FusionLayer& l = run_.problem.layers[t.layer];
    for (uint32_t e = l.first_input; e < l.first_input + l.inputs; ++e) {
      if (run_.problem.inputs[e].source == t.source) return run_.edge_tensor[e];
    }
    return kNone;
  }

  // And back again, in the caller's arrays.
  void TranslateBack(sluice_evaluation_t* out) const {
    for (uint32_t p = 0; out->tile_layer != nullptr && p < out->tiles; ++p) {
      out->tile_layer[p] = run_.layer[out->tile_layer[p]];
    }
    for (uint32_t i = 0; out->dram != nullptr && i < out->transfers; ++i) {
      sluice_dram_tensor_t* t = &out->dram[i];
      t->source = t->kind == SLUICE_DRAM_INPUT ? TensorOf(*t) : kNone;
      t->layer = run_.layer[t->layer];
    }
  }

  // From counts, in the order of a plan's report.
  void FillEnergy(const TileList& list, sluice_evaluation_t* out) const {
    TileWork sum = {};
    for (uint32_t p = 0; p < list.tiles; ++p) {
      const TileWork work = WorkOf(run_, list.layer[p], ToBox(list.box[p]));
      sum.declared.energy_pj += work.declared.energy_pj - work.declared.scratchpad_pj;
      sum.declared.scratchpad_pj += work.declared.scratchpad_pj;
      if (work.declared.energy_pj > 0) continue;
      sum.macs += work.macs;
      sum.vector_ops += work.vector_ops;
      sum.read_bytes += work.read_bytes;
      sum.written_bytes += work.written_bytes;
    }
    sum.read_bytes += list.store_bytes;
    sum.written_bytes += list.load_bytes;
    const MemoryLevel& dram = hardware_.dram();
    const MemoryLevel& pad = hardware_.scratchpad();
    out->dram_pj = static_cast<double>(list.load_bytes) * 8 * dram.read_pj_per_bit +
                   static_cast<double>(list.store_bytes) * 8 * dram.write_pj_per_bit;
    out->scratchpad_pj =
        static_cast<double>(sum.read_bytes) * 8 * pad.read_pj_per_bit +
        static_cast<double>(sum.written_bytes) * 8 * pad.write_pj_per_bit +
        sum.declared.scratchpad_pj;
    out->compute_pj = static_cast<double>(sum.macs) * hardware_.mac_pj +
                      static_cast<double>(sum.vector_ops) * hardware_.vector_op_pj +
                      sum.declared.energy_pj;
    out->leakage_pj =
        static_cast<double>(out->latency_cycles) * hardware_.leakage_pj_per_cycle;
    out->energy_pj =
        out->dram_pj + out->scratchpad_pj + out->compute_pj + out->leakage_pj;
  }

  // The sentence for what is wrong, with layer and tile.
  Status Explain(const ResolvedSchedule& resolved, const sluice_evaluation_t& out) {
    const uint32_t at = out.fault_index;
    if (out.fault == SLUICE_SCHEDULE_BUFFER) {
      const uint32_t layer = run_.layer[resolved.list.layer[at]];
      return Fail(diagnostic_, Status::kRejected, kStage)
          .Rule(RuleOf(out.fault))
          .Layer(layer)
          .Bytes(static_cast<uint64_t>(out.peak_buffer_bytes),
                 static_cast<uint64_t>(capacity_))
          .Text(SentenceOf(out.fault, false))
          .Text(", first during tile ")
          .Number(resolved.list.tile[at])
          .Text(" of the layer");
    }
    // Groups stand in the order, DRAM tensors in the list or, when it could not be
    // read, in the caller's.
    const bool dram = resolved.dma.order.size() != 0;
    if (!dram) {
      const bool known = at < notation_.layers;
      return Fail(diagnostic_, Status::kRejected, kStage)
          .Rule(RuleOf(out.fault))
          .Layer(known ? notation_.order[at] : kNone)
          .Text(SentenceOf(out.fault, false))
          .Text(", at position ")
          .Number(known ? at : notation_.layers);
    }
    uint32_t layer = kNone;
    int64_t tile = 0;
    if (notation_.transfers != 0 && at < notation_.transfers) {
      layer = notation_.dram[at].layer;
      tile = notation_.dram[at].tile;
    }
    if (layer == kNone) {
      return Fail(diagnostic_, Status::kRejected, kStage)
          .Rule(RuleOf(out.fault))
          .Text(SentenceOf(out.fault, true))
          .Text(": it has ")
          .Number(notation_.transfers)
          .Text(" of ")
          .Number(resolved.list.transfers);
    }
    return Fail(diagnostic_, Status::kRejected, kStage)
        .Rule(RuleOf(out.fault))
        .Layer(layer)
        .Text(SentenceOf(out.fault, true))
        .Text(", tile ")
        .Number(tile)
        .Text(" of the layer, place ")
        .Number(at)
        .Text(" in the DRAM order");
  }

  const Graph& graph_;
  const Hardware& hardware_;
  int64_t capacity_;
  const sluice_notation_t& notation_;
  const sluice_schedule_options_t& options_;
  Arena* arena_;
  Diagnostic* diagnostic_;
  Lowering lowering_ = {};
  FusionRun run_ = {};
  Span<uint32_t> fusion_of_;  // by graph layer
  sluice_notation_t own_ = {};
};

}  // namespace
}  // namespace sluice

sluice_status_t sluice_evaluate(sluice_context_t* context, const sluice_graph_t* graph,
                                const sluice_hardware_t* hardware,
                                const sluice_notation_t* notation,
                                const sluice_schedule_options_t* options,
                                sluice_evaluation_t* evaluation,
                                sluice_diagnostic_t* diagnostic) {
  sluice::CallReport report(diagnostic);
  sluice_notation_t own;
  sluice_schedule_options_t chosen;
  sluice_evaluation_t out;
  if (context == nullptr || graph == nullptr || hardware == nullptr ||
      notation == nullptr || evaluation == nullptr ||
      !sluice::ReadStruct(notation, &own) || !sluice::ReadStruct(options, &chosen) ||
      !sluice::ReadStruct(evaluation, &out)) {
    return report.BadArgument(
        "context, graph, hardware, notation and evaluation must not be null, structs "
        "of a known version");
  }
  sluice::Arena arena(&context->memory);
  const sluice::Status status = sluice::Evaluator(graph->graph, hardware->hardware, own,
                                                  chosen, &arena, report.get())
                                    .Run(&out);
  if (status == sluice::Status::kOk || status == sluice::Status::kRejected) {
    (void)sluice::WriteStruct(out, evaluation);
  }
  return report.Done(status);
}

sluice_status_t sluice_evaluate_timed(sluice_context_t* context,
                                      const sluice_timed_schedule_t* schedule,
                                      sluice_evaluation_t* evaluation,
                                      sluice_diagnostic_t* diagnostic) {
  sluice::CallReport report(diagnostic);
  sluice_timed_schedule_t own;
  sluice_evaluation_t out;
  if (context == nullptr || schedule == nullptr || evaluation == nullptr ||
      !sluice::ReadStruct(schedule, &own) || !sluice::ReadStruct(evaluation, &out)) {
    return report.BadArgument(
        "context, schedule and evaluation must not be null, structs of a known "
        "version");
  }
  sluice::Arena arena(&context->memory);
  sluice::Status status = sluice::EvaluateTimed(own, &arena, &out, report.get());
  if (status == sluice::Status::kOk) {
    (void)sluice::WriteStruct(out, evaluation);
    if (out.fault != SLUICE_SCHEDULE_LEGAL) {
      status = sluice::Fail(report.get(), sluice::Status::kRejected, sluice::kStage)
                   .Rule(sluice::RuleOf(out.fault))
                   .Text(sluice::SentenceOf(out.fault, true))
                   .Text(", at ")
                   .Number(out.fault_index);
    }
  }
  return report.Done(status);
}
