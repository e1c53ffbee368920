// SPDX-License-Identifier: Apache-2.0
#include "model/evaluate.h"

#include "base/checked.h"
#include "model/dma_bound.h"
#include "model/dma_list.h"

namespace sluice {
namespace {

constexpr int64_t kMostTiles = int64_t{1} << 24;  // largest notation that is evaluated

uint32_t ToFault(DmaFault fault) {
  switch (fault) {
    case DmaFault::kLegal:
      return SLUICE_SCHEDULE_LEGAL;
    case DmaFault::kOrder:
      return SLUICE_SCHEDULE_ORDER;
    case DmaFault::kDuration:
      return SLUICE_SCHEDULE_DURATION;
    case DmaFault::kSource:
      return SLUICE_SCHEDULE_SOURCE;
    case DmaFault::kBlocked:
      return SLUICE_SCHEDULE_BLOCKED;
  }
  return SLUICE_SCHEDULE_ORDER;
}

uint32_t ToFault(ParseResult result) {
  switch (result) {
    case ParseResult::kOk:
      return SLUICE_SCHEDULE_LEGAL;
    case ParseResult::kOrder:
      return SLUICE_SCHEDULE_ORDER;
    case ParseResult::kMapping:
      return SLUICE_SCHEDULE_MAPPING;
    case ParseResult::kCut:
    case ParseResult::kTooMany:
      return SLUICE_SCHEDULE_TILES;
  }
  return SLUICE_SCHEDULE_ORDER;
}

Status Bad(Diagnostic* diagnostic, const char* text) {
  return Fail(diagnostic, Status::kBadArgument, "evaluate").Text(text);
}

Status Bad(Diagnostic* diagnostic, const char* text, uint32_t index) {
  return Fail(diagnostic, Status::kBadArgument, "evaluate").Text(text).Number(index);
}

// Start cycles of tiles and transfers, in one pass: a legal schedule lists everything
// behind what it waits for.
Status Times(const TileList& list, const DmaNotation& dma, Arena* scratch,
             sluice_evaluation_t* out) {
  // By position: transfers that must be done before, a count in DRAM order.
  Span<uint32_t> due;
  Span<int64_t> finish;  // by position + 1
  SLUICE_TRY(scratch->Allocate(list.tiles + 1, &due));
  SLUICE_TRY(scratch->Allocate(list.tiles + 1, &finish));
  for (uint32_t i = 0; i < list.transfers; ++i) {
    const uint32_t id = dma.order[i];
    const DramTensor& t = list.transfer[id];
    due[static_cast<size_t>(t.kind == kStore ? dma.end[id] : t.use)] = i + 1;
  }
  uint32_t moved = 0;
  int64_t channel = 0;
  for (uint32_t p = 0; p <= list.tiles; ++p) {
    const uint32_t needed = p == list.tiles ? list.transfers : due[p];
    int64_t begin = finish[p];
    for (; moved < needed; ++moved) {
      const uint32_t id = dma.order[moved];
      const bool store = list.transfer[id].kind == kStore;
      const int32_t after = store ? dma.start[id] : Max(dma.start[id], 0) - 1;
      channel = Max(channel, finish[static_cast<size_t>(after + 1)]);
      if (out->transfer_begin != nullptr) out->transfer_begin[moved] = channel;
      channel += list.transfer[id].cycles;
      begin = Max(begin, channel);
    }
    if (p == list.tiles) break;
    if (out->tile_begin != nullptr) out->tile_begin[p] = begin;
    finish[p + 1] = begin + list.cycles[p];
  }
  out->latency_cycles = Max(finish[list.tiles], channel);
  return Status::kOk;
}

void FillProfile(const TileList& list, Span<const int64_t> profile,
                 sluice_evaluation_t* out) {
  double area = 0;
  for (uint32_t p = 0; p < list.tiles; ++p) {
    area += static_cast<double>(profile[p + 1]) * static_cast<double>(list.cycles[p]);
  }
  if (list.compute_cycles > 0) {
    out->average_buffer_bytes = area / static_cast<double>(list.compute_cycles);
  }
  if (out->buffer_bytes == nullptr) return;
  memcpy(out->buffer_bytes, profile.data(), (list.tiles + 1) * sizeof(int64_t));
}

// Fills the numbers of the evaluation; without arrays of tiles and transfers.
Status Judge(const FusionProblem& problem, const TileList& list, const DmaNotation& dma,
             Arena* scratch, sluice_evaluation_t* out) {
  Span<int32_t> seen;
  Span<int64_t> profile;
  SLUICE_TRY(scratch->Allocate(list.transfers, &seen));
  SLUICE_TRY(scratch->Allocate(list.tiles + 2, &profile));
  out->fault = ToFault(CheckDma(list, dma, seen, &out->fault_index));
  out->tiles = list.tiles;
  out->transfers = list.transfers;
  out->compute_cycles = list.compute_cycles;
  out->dram_cycles = list.dram_cycles;
  out->load_bytes = list.load_bytes;
  out->store_bytes = list.store_bytes;
  out->compute_pj = list.core_pj;
  out->energy_pj = Energy(problem, list);
  out->dram_pj = problem.dram_pj_per_byte *
                 static_cast<double>(list.load_bytes + list.store_bytes);
  if (out->fault != SLUICE_SCHEDULE_LEGAL) return Status::kOk;
  out->peak_buffer_bytes = ProfileBuffer(list, dma, profile);
  FillProfile(list, profile, out);
  if (out->peak_buffer_bytes > problem.buffer_bytes) {
    out->fault = SLUICE_SCHEDULE_BUFFER;
    for (uint32_t p = 0; p <= list.tiles; ++p) {
      if (profile[p] != out->peak_buffer_bytes) continue;
      out->fault_index = p == 0 ? 0 : p - 1;
      break;
    }
  }
  SLUICE_TRY(Times(list, dma, scratch, out));
  return BoundDma(problem, list, Max(problem.buffer_bytes, out->peak_buffer_bytes),
                  scratch, &out->bound_cycles);
}

// Clears the numbers of an earlier use; keeps array pointers and size.
void Clear(sluice_evaluation_t* out) {
  sluice_evaluation_t blank = {};
  blank.struct_size = out->struct_size;
  blank.fault_index = kNone;
  blank.tile_begin = out->tile_begin;
  blank.transfer_begin = out->transfer_begin;
  blank.buffer_bytes = out->buffer_bytes;
  blank.tile_layer = out->tile_layer;
  blank.tile_number = out->tile_number;
  blank.tile_cycles = out->tile_cycles;
  blank.tile_box = out->tile_box;
  blank.dram = out->dram;
  blank.transfer_bytes = out->transfer_bytes;
  *out = blank;
}

Status AllocateDma(size_t transfers, Arena* arena, DmaNotation* dma) {
  SLUICE_TRY(arena->Allocate(transfers, &dma->order));
  SLUICE_TRY(arena->Allocate(transfers, &dma->start));
  return arena->Allocate(transfers, &dma->end);
}

// Converts a resolved schedule to the tiles and transfers that the timeline reads.
Status ReadTiles(const sluice_timed_schedule_t& s, TileList* list,
                 Diagnostic* diagnostic) {
  for (uint32_t p = 0; p < s.tiles; ++p) {
    const sluice_timed_tile_t& t = s.tile[p];
    if (t.cycles < 1 || t.ofmap_bytes < 0) {
      return Bad(diagnostic, "cycles or bytes out of range in tile ", p);
    }
    if (t.ofmap_end <= static_cast<int32_t>(p) ||
        t.ofmap_end > static_cast<int32_t>(s.tiles) ||
        (t.store != kNone && t.store >= s.transfers)) {
      return Bad(diagnostic, "indices out of range in tile ", p);
    }
    list->cycles[p] = t.cycles;
    list->ofmap_bytes[p] = t.ofmap_bytes;
    list->ofmap_end[p] = t.ofmap_end;
    list->store[p] = t.store;
    list->compute_cycles += t.cycles;
    list->core_pj += t.energy_pj;
  }
  return Status::kOk;
}

Status ReadTransfers(const sluice_timed_schedule_t& s, TileList* list, DmaNotation* dma,
                     Diagnostic* diagnostic) {
  for (uint32_t i = 0; i < s.transfers; ++i) {
    const sluice_timed_transfer_t& from = s.transfer[i];
    const int32_t n = static_cast<int32_t>(s.tiles);
    if (from.bytes < 1 || from.held_bytes < 0 || from.setup_cycles < 0 ||
        from.kind > SLUICE_DRAM_STORE || from.use < 0 || from.use >= n ||
        from.start < -1 || from.start > from.use || from.end <= from.use ||
        from.end > n || (from.after != kNone && from.after >= s.transfers) ||
        from.reserved != 0) {
      return Bad(diagnostic, "fields out of range in DRAM transfer ", i);
    }
    DramTensor* t = &list->transfer[i];
    t->bytes = from.bytes;
    t->held = from.held_bytes;
    t->cycles = s.latency_cycles + from.setup_cycles +
                TransferCycles(from.bytes, s.bandwidth_bytes, s.bandwidth_cycles);
    t->use = from.use;
    t->kind = static_cast<TransferKind>(from.kind);
    t->end =
        t->kind == kStore ? list->ofmap_end[static_cast<size_t>(from.use)] : from.end;
    t->previous = kNone;
    t->after = from.after;
    t->source = kNone;
    list->dram_cycles += t->cycles;
    (t->kind == kStore ? list->store_bytes : list->load_bytes) += t->bytes;
    dma->order[i] = i;
    dma->start[i] = from.start;
    dma->end[i] = from.end;
  }
  return Status::kOk;
}

bool KindsFit(const sluice_timed_schedule_t& s) {
  for (uint32_t i = 0; i < s.transfers; ++i) {
    const uint32_t after = s.transfer[i].after;
    if (after != kNone && (s.transfer[after].kind != SLUICE_DRAM_STORE ||
                           s.transfer[i].kind == SLUICE_DRAM_STORE)) {
      return false;
    }
  }
  for (uint32_t p = 0; p < s.tiles; ++p) {
    const uint32_t store = s.tile[p].store;
    if (store != kNone && (s.transfer[store].kind != SLUICE_DRAM_STORE ||
                           s.transfer[store].use != static_cast<int32_t>(p))) {
      return false;
    }
  }
  return true;
}

// Transfers grouped by layer, and within a layer by tile, to look up transfers by name.
struct Index {
  Span<uint32_t> first;  // by layer
  Span<uint32_t> id;

  Status Init(const TileList& list, size_t layers, Arena* scratch) {
    SLUICE_TRY(scratch->Allocate(layers + 1, &first));
    SLUICE_TRY(scratch->Allocate(list.transfers, &id));
    for (uint32_t i = 0; i < list.transfers; ++i) ++first[list.transfer[i].layer + 1];
    for (size_t l = 0; l < layers; ++l) first[l + 1] += first[l];
    for (uint32_t i = 0; i < list.transfers; ++i) {
      id[first[list.transfer[i].layer]++] = i;
    }
    for (size_t l = layers; l > 0; --l) first[l] = first[l - 1];
    first[0] = 0;
    return Status::kOk;
  }

  uint32_t Find(const TileList& list, const sluice_dram_tensor_t& wanted) const {
    uint32_t low = first[wanted.layer];
    const uint32_t end = first[wanted.layer + 1];
    const auto tile_of = [&](uint32_t i) {
      return static_cast<uint32_t>(list.transfer[id[i]].tile);
    };
    for (uint32_t high = end; low < high;) {
      const uint32_t middle = (low + high) / 2;
      if (tile_of(middle) < wanted.tile) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    for (; low < end && tile_of(low) == wanted.tile; ++low) {
      const DramTensor& t = list.transfer[id[low]];
      if (t.kind != wanted.kind) continue;
      if (t.kind != kLoadInput || t.source == wanted.source) return id[low];
    }
    return kNone;
  }
};

// Reads the notation's DRAM attributes for the transfers that its groups parse to.
Status ReadDram(const sluice_notation_t& notation, const TileList& list, Arena* scratch,
                DmaNotation* dma, sluice_evaluation_t* out, bool* complete) {
  Index index;
  SLUICE_TRY(index.Init(list, notation.layers, scratch));
  *complete = notation.transfers == list.transfers;
  for (uint32_t i = 0; i < notation.transfers && *complete; ++i) {
    const sluice_dram_tensor_t& t = notation.dram[i];
    const uint32_t id = t.layer < notation.layers ? index.Find(list, t) : kNone;
    if (id == kNone || t.start < -1) {
      out->fault_index = i;
      *complete = false;
      break;
    }
    dma->order[i] = id;
    dma->start[id] = t.start;
    dma->end[id] = t.end;
  }
  return Status::kOk;
}

Status ListDram(const FusionProblem& problem, const TileList& list, Arena* scratch,
                DmaNotation* dma) {
  DmaLister lister;
  SLUICE_TRY(InitDmaLister(scratch, list.tiles, list.transfers, &lister));
  uint32_t best = kDmaPolicies;
  int64_t fastest = INT64_MAX;
  for (uint32_t policy = 0; policy < kDmaPolicies; ++policy) {
    const int64_t cycles =
        ListTransfers(&lister, list, problem.buffer_bytes, policy, dma);
    if (cycles < 0 || cycles >= fastest) continue;
    fastest = cycles;
    best = policy;
  }
  if (best == kDmaPolicies) {
    DoubleBuffer(list, dma);  // exceeds the buffer too; the evaluation says by how much
  } else {
    ListTransfers(&lister, list, problem.buffer_bytes, best, dma);
  }
  return Status::kOk;
}

Status CheckGroups(const FusionProblem& problem, const sluice_notation_t& n,
                   Arena* scratch, Diagnostic* diagnostic) {
  if (n.layers != problem.layers.size() || n.layers == 0) {
    return Bad(diagnostic, "the notation must order every layer; it has ", n.layers);
  }
  if (n.order == nullptr || n.cuts == nullptr || n.tiles == nullptr ||
      (n.transfers != 0 && n.dram == nullptr)) {
    return Bad(diagnostic, "an array of the notation is missing");
  }
  Span<uint8_t> seen;
  SLUICE_TRY(scratch->Allocate(n.layers, &seen));
  for (uint32_t i = 0; i < n.layers; ++i) {
    if (n.order[i] >= n.layers || seen[n.order[i]]++ != 0) {
      return Bad(diagnostic, "unknown or repeated layer at position ", i);
    }
    if (n.cuts[i] > SLUICE_CUT_DRAM || (i == 0 && n.cuts[0] != SLUICE_CUT_DRAM)) {
      return Bad(diagnostic, "unknown cut at position ", i);
    }
  }
  return Status::kOk;
}

// Upper bounds on the tiles and transfers that the notation parses to; false if too
// many.
bool CountTiles(const FusionProblem& problem, const sluice_notation_t& n,
                int64_t* tiles, int64_t* transfers) {
  int64_t number = 1;
  *tiles = *transfers = 0;
  for (uint32_t i = 0; i < n.layers; ++i) {
    if (n.cuts[i] != SLUICE_CUT_NONE) number = n.tiles[i];
    if (number < 1) number = 1;  // the parser refuses it
    *tiles += number;
    *transfers += 1 + number * (problem.layers[n.order[i]].inputs + int64_t{1});
    if (*tiles > kMostTiles || *transfers > 4 * kMostTiles) return false;
  }
  return true;
}

// The first position whose layer stands before one of its inputs' producers.
uint32_t FindUnordered(const FusionProblem& problem, const GroupNotation& groups) {
  for (uint32_t i = 0; i < groups.order.size(); ++i) {
    const FusionLayer& l = problem.layers[groups.order[i]];
    for (uint32_t e = l.first_input; e < l.first_input + l.inputs; ++e) {
      for (uint32_t later = i; later < groups.order.size(); ++later) {
        if (groups.order[later] == problem.inputs[e].source) return i;
      }
    }
  }
  return kNone;
}

// The first group that cannot be cut as requested even when all others are left whole.
uint32_t FindBadGroup(Parser* parser, const GroupNotation& groups, Arena* scratch,
                      TileList* list) {
  GroupNotation probe = groups;
  if (scratch->Allocate(groups.tiles.size(), &probe.tiles) != Status::kOk) return kNone;
  for (int32_t& tiles : probe.tiles) tiles = 1;
  for (uint32_t i = 0; i < groups.tiles.size(); ++i) {
    if (groups.cut[i] == kCutNone) continue;
    probe.tiles[i] = groups.tiles[i];
    if (ParseNotation(parser, probe, list) != ParseResult::kOk) return i;
    probe.tiles[i] = 1;
  }
  return kNone;
}

sluice_dram_tensor_t Named(const DramTensor& t, int32_t start, int32_t end) {
  return sluice_dram_tensor_t{static_cast<uint32_t>(t.kind),
                              t.layer,
                              static_cast<uint32_t>(t.tile),
                              t.source,
                              start,
                              end};
}

// Fills the schedule arrays that the caller gave.
void FillSchedule(const TileList& list, const DmaNotation& dma,
                  sluice_evaluation_t* out) {
  for (uint32_t p = 0; p < list.tiles; ++p) {
    if (out->tile_layer != nullptr) out->tile_layer[p] = list.layer[p];
    if (out->tile_number != nullptr) {
      out->tile_number[p] = static_cast<uint32_t>(list.tile[p]);
    }
    if (out->tile_cycles != nullptr) out->tile_cycles[p] = list.cycles[p];
    if (out->tile_box == nullptr) continue;
    memcpy(out->tile_box + 8 * size_t{p}, &list.box[p], sizeof(CutBox));
  }
  for (uint32_t i = 0; i < list.transfers; ++i) {
    const uint32_t id = dma.order[i];
    if (id >= list.transfers) continue;
    const DramTensor& t = list.transfer[id];
    if (out->dram != nullptr) out->dram[i] = Named(t, dma.start[id], dma.end[id]);
    if (out->transfer_bytes != nullptr) out->transfer_bytes[i] = t.bytes;
  }
}

}  // namespace

Status EvaluateTimed(const sluice_timed_schedule_t& s, Arena* scratch,
                     sluice_evaluation_t* out, Diagnostic* diagnostic) {
  ArenaScope scope(scratch);
  Clear(out);
  if ((s.tiles != 0 && s.tile == nullptr) ||
      (s.transfers != 0 && s.transfer == nullptr) || s.bandwidth_bytes < 1 ||
      s.bandwidth_cycles < 1 || s.latency_cycles < 0 || s.tiles > kMostTiles ||
      s.transfers > 4 * kMostTiles) {
    return Bad(diagnostic, "an array is missing, or a size is out of range");
  }
  FusionProblem problem = {};
  problem.dram_bandwidth.numerator = s.bandwidth_bytes;
  problem.dram_bandwidth.denominator = s.bandwidth_cycles;
  problem.dram_latency_cycles = s.latency_cycles;
  problem.dram_pj_per_byte = s.dram_pj_per_byte;
  problem.buffer_bytes = s.buffer_bytes;
  TileList list;
  DmaNotation dma;
  list.tiles = s.tiles;
  list.transfers = s.transfers;
  SLUICE_TRY(scratch->Allocate(s.tiles, &list.cycles));
  SLUICE_TRY(scratch->Allocate(s.tiles, &list.ofmap_bytes));
  SLUICE_TRY(scratch->Allocate(s.tiles, &list.ofmap_end));
  SLUICE_TRY(scratch->Allocate(s.tiles, &list.store));
  SLUICE_TRY(scratch->Allocate(s.transfers, &list.transfer));
  SLUICE_TRY(AllocateDma(s.transfers, scratch, &dma));
  SLUICE_TRY(ReadTiles(s, &list, diagnostic));
  SLUICE_TRY(ReadTransfers(s, &list, &dma, diagnostic));
  if (!KindsFit(s))
    return Bad(diagnostic, "after or store names a transfer that is not a store");
  return Judge(problem, list, dma, scratch, out);
}

Status EvaluateNotation(const FusionProblem& problem, const TileModel& model,
                        const sluice_notation_t& n, Arena* scratch,
                        sluice_evaluation_t* out, Diagnostic* diagnostic) {
  ArenaScope scope(scratch);
  ResolvedSchedule resolved;
  return ResolveNotation({problem, model, n}, scratch, &resolved, out, diagnostic);
}

Status ResolveNotation(const NotationCall& call, Arena* scratch,
                       ResolvedSchedule* resolved, sluice_evaluation_t* out,
                       Diagnostic* diagnostic) {
  const auto& [problem, model, n] = call;
  *resolved = ResolvedSchedule{};
  Clear(out);
  SLUICE_TRY(CheckGroups(problem, n, scratch, diagnostic));
  GroupNotation groups;
  SLUICE_TRY(scratch->Allocate(n.layers, &groups.order));
  SLUICE_TRY(scratch->Allocate(n.layers, &groups.cut));
  SLUICE_TRY(scratch->Allocate(n.layers, &groups.tiles));
  memcpy(groups.order.data(), n.order, n.layers * sizeof(uint32_t));
  memcpy(groups.cut.data(), n.cuts, n.layers);
  memcpy(groups.tiles.data(), n.tiles, n.layers * sizeof(int32_t));
  int64_t tiles = 0;
  int64_t transfers = 0;
  if (!CountTiles(problem, n, &tiles, &transfers)) {
    return Bad(diagnostic, "too many tiles");
  }
  TileMemo memo;
  Parser parser;
  TileList& list = resolved->list;
  SLUICE_TRY(memo.Init(scratch, model, 64 * size_t{n.layers}));
  SLUICE_TRY(InitParser(
      &parser, scratch, &problem, &memo,
      {static_cast<uint32_t>(tiles), static_cast<uint32_t>(transfers)}, &list));
  const ParseResult parsed = ParseNotation(&parser, groups, &list);
  out->fault = ToFault(parsed);
  if (parsed != ParseResult::kOk) {
    out->fault_index = parsed == ParseResult::kOrder
                           ? FindUnordered(problem, groups)
                           : FindBadGroup(&parser, groups, scratch, &list);
    return Status::kOk;
  }
  out->groups = list.groups;
  out->fine_groups = list.fine_groups;
  DmaNotation& dma = resolved->dma;
  SLUICE_TRY(AllocateDma(list.transfers, scratch, &dma));
  bool complete = true;
  if (n.transfers != 0) {
    SLUICE_TRY(ReadDram(n, list, scratch, &dma, out, &complete));
  } else if (n.double_buffer != 0) {
    DoubleBuffer(list, &dma);
  } else {
    SLUICE_TRY(ListDram(problem, list, scratch, &dma));
  }
  if (!complete) {
    out->fault = SLUICE_SCHEDULE_ORDER;
    return Status::kOk;
  }
  SLUICE_TRY(Judge(problem, list, dma, scratch, out));
  FillSchedule(list, dma, out);
  return Status::kOk;
}

Status ExportNotation(const GroupNotation& groups, const TileList& list,
                      const DmaNotation& dma, Arena* arena, sluice_notation_t* out) {
  Span<sluice_dram_tensor_t> dram;
  SLUICE_TRY(arena->Allocate(list.transfers, &dram));
  for (uint32_t i = 0; i < list.transfers; ++i) {
    const uint32_t id = dma.order[i];
    const DramTensor& t = list.transfer[id];
    dram[i] = Named(t, dma.start[id], dma.end[id]);
  }
  *out = sluice_notation_t{};
  out->struct_size = sizeof *out;
  out->layers = static_cast<uint32_t>(groups.order.size());
  out->order = groups.order.data();
  out->cuts = groups.cut.data();
  out->tiles = groups.tiles.data();
  out->transfers = list.transfers;
  out->dram = dram.data();
  return Status::kOk;
}

}  // namespace sluice
