// SPDX-License-Identifier: Apache-2.0
#include "model/gemm_cost.h"

#include "base/checked.h"

namespace sluice {
namespace {

constexpr char kStage[] = "mapping";
constexpr const char* kAxisName[kGemmAxes] = {"M", "N", "K"};

// Reuse of the datum of axis d: the product of the trip counts of the innermost loops
// (trip count 1 skipped) as long as they run along d. Loops from inner to outer.
struct TemporalLoop {
  int axis;
  int64_t trips;
};

int64_t KeptTrips(const TemporalLoop* loops, int count, int d) {
  int64_t kept = 1;
  for (int i = 0; i < count; ++i) {
    if (loops[i].trips == 1) continue;
    if (loops[i].axis != d) break;
    kept *= loops[i].trips;
  }
  return kept;
}

struct Reuse {
  int64_t middle[kGemmAxes];  // of fills of the middle memory
  int64_t inner[kGemmAxes];   // of fills of the inner memory
};

Reuse PaperReuse(const int64_t outer_trips[], const int64_t middle_trips[],
                 const GemmMapping& mapping) {
  Reuse reuse = {{1, 1, 1}, {1, 1, 1}};
  const int p = mapping.outer_order.axis[0];
  const int q = mapping.middle_order.axis[0];
  reuse.middle[p] = outer_trips[p];
  reuse.inner[q] = middle_trips[q];
  return reuse;
}

Reuse LoopReuse(const int64_t outer_trips[], const int64_t middle_trips[],
                const GemmMapping& mapping) {
  TemporalLoop loops[2 * kGemmAxes];
  for (int i = 0; i < kGemmAxes; ++i) {
    const int inside = mapping.middle_order.axis[i];
    const int outside = mapping.outer_order.axis[i];
    loops[i] = {inside, middle_trips[inside]};
    loops[kGemmAxes + i] = {outside, outer_trips[outside]};
  }
  Reuse reuse;
  for (int d = 0; d < kGemmAxes; ++d) {
    reuse.middle[d] = KeptTrips(loops + kGemmAxes, kGemmAxes, d);
    reuse.inner[d] = KeptTrips(loops, 2 * kGemmAxes, d);
  }
  return reuse;
}

// Books the traffic of one datum between the memory that supplies it and its receiver.
// Inputs: `words` go down. Sums (P): `words` come back; the old sums go down first,
// except the `first` words, which have none yet. Multicast and spatial reduction divide
// the source's traffic by `sharers`.
struct Transfer {
  int64_t words;
  int64_t first;
  int64_t sharers;
};

void BookInput(const Transfer& t, int d, int source, int receiver, GemmAccess* access) {
  access->reads[source][d] += t.words / t.sharers;
  if (receiver >= 0) access->writes[receiver][d] += t.words;
}

void BookSum(const Transfer& t, int source, int receiver, GemmAccess* access) {
  constexpr int z = 2;
  access->writes[source][z] += t.words / t.sharers;
  access->reads[source][z] += (t.words - t.first) / t.sharers;
  if (receiver >= 0) access->writes[receiver][z] += t.words - t.first;
}

void BookDatum(const GemmShape& shape, const GemmMapping& mapping, const Reuse& reuse,
               int64_t macs, int d, GemmAccess* access) {
  const bool in_middle = (mapping.middle_holds >> d & 1) != 0;
  const bool in_inner = (mapping.inner_holds >> d & 1) != 0;
  const int source = in_middle ? kGemmMiddle : kGemmOuter;
  const int64_t s = mapping.spatial[d];
  const int64_t once = macs / shape.extent[d];  // every word of the datum once
  Transfer fill = {macs / (mapping.middle_tile[d] * reuse.middle[d]), once, 1};
  Transfer feed = {macs / (mapping.inner_tile[d] * reuse.inner[d]), once * s, s};
  Transfer operand = {macs, once * s, in_inner ? 1 : s};
  const int supplier = in_inner ? kGemmInner : source;
  if (d == 2) {
    if (in_middle) BookSum(fill, kGemmOuter, kGemmMiddle, access);
    if (in_inner) BookSum(feed, source, kGemmInner, access);
    BookSum(operand, supplier, -1, access);
  } else {
    if (in_middle) BookInput(fill, d, kGemmOuter, kGemmMiddle, access);
    if (in_inner) BookInput(feed, d, source, kGemmInner, access);
    BookInput(operand, d, supplier, -1, access);
  }
}

// Words through one instance at the memory's bandwidth; the PEs at work share the words
// of the inner memories evenly.
void SetMemoryCycles(const Rational& rate, int memory, GemmCost* cost) {
  if (rate.numerator == 0) return;
  int64_t words = 0;
  for (int d = 0; d < kGemmAxes; ++d) {
    const bool fits = CheckedAdd(words, cost->access.reads[memory][d], &words) &&
                      CheckedAdd(words, cost->access.writes[memory][d], &words);
    if (!fits) words = INT64_MAX;
  }
  if (memory == kGemmInner) words = CeilDivide(words, cost->pe_used);
  cost->memory_cycles[memory] = TransferCycles(words, rate.numerator, rate.denominator);
  cost->cycles = Max(cost->cycles, cost->memory_cycles[memory]);
}

bool ValidEnergy(double pj) { return pj >= 0 && pj <= 1e30; }  // false for NaN

bool Fits(const int64_t tile[], uint8_t holds, int64_t words) {
  return GemmFootprint(tile, holds) <= words;
}

bool IsOrder(const GemmOrder& order) {
  unsigned seen = 0;
  for (uint8_t axis : order.axis) {
    if (axis >= kGemmAxes) return false;
    seen |= 1u << axis;
  }
  return seen == 7;
}

Status CheckCapacities(const GemmMachine& machine, const GemmMapping& mapping,
                       Diagnostic* diagnostic) {
  if (!Fits(mapping.middle_tile, mapping.middle_holds, machine.middle_words)) {
    return Fail(diagnostic, Status::kBadInput, kStage)
        .Say("the middle tile needs # words, the memory has #",
             GemmFootprint(mapping.middle_tile, mapping.middle_holds),
             machine.middle_words);
  }
  if (!Fits(mapping.inner_tile, mapping.inner_holds, machine.inner_words)) {
    return Fail(diagnostic, Status::kBadInput, kStage)
        .Say("the inner tile needs # words, the memory has #",
             GemmFootprint(mapping.inner_tile, mapping.inner_holds),
             machine.inner_words);
  }
  return Status::kOk;
}

}  // namespace

GemmOrder GemmOrderFrom(int walking_axis) {
  GemmOrder order;
  order.axis[0] = static_cast<uint8_t>(walking_axis);
  int n = 1;
  for (int d = 0; d < kGemmAxes; ++d) {
    if (d != walking_axis) order.axis[n++] = static_cast<uint8_t>(d);
  }
  return order;
}

int64_t GemmFootprint(const int64_t tile[kGemmAxes], uint8_t holds) {
  int64_t words = 0;
  for (int d = 0; d < kGemmAxes; ++d) {
    if ((holds >> d & 1) == 0) continue;
    int64_t face;
    if (!CheckedMultiply(tile[(d + 1) % kGemmAxes], tile[(d + 2) % kGemmAxes], &face) ||
        !CheckedAdd(words, face, &words)) {
      return INT64_MAX;
    }
  }
  return words;
}

namespace {

Status CheckRates(const GemmMachine& machine, Diagnostic* diagnostic) {
  for (const Rational& rate : machine.bandwidth) {
    if (rate.numerator < 0 || rate.denominator < 1) {
      return Fail(diagnostic, Status::kBadInput, kStage)
          .Say("a bandwidth is # / # words per cycle", rate.numerator,
               rate.denominator);
    }
  }
  return Status::kOk;
}

}  // namespace

Status CheckGemm(const GemmShape& shape, const GemmMachine& machine,
                 Diagnostic* diagnostic) {
  int64_t macs = 1;
  for (int d = 0; d < kGemmAxes; ++d) {
    const int64_t extent = shape.extent[d];
    if (extent < 1 || extent > kGemmMaxExtent) {
      return Fail(diagnostic, Status::kBadInput, kStage)
          .Text("GEMM extent ")
          .Text(kAxisName[d])
          .Say(" is #, must be 1 to 2147483648", extent);
    }
    if (!CheckedMultiply(macs, extent, &macs) || macs > kGemmMaxMacs) {
      return Fail(diagnostic, Status::kBadInput, kStage)
          .Say("GEMM # x # x # has more than 2^61 multiplications", shape.extent[0],
               shape.extent[1], shape.extent[2]);
    }
    const int64_t limit = machine.fanout_limit[d];
    if (limit < 0) {
      return Fail(diagnostic, Status::kBadInput, kStage)
          .Text("fanout limit of axis ")
          .Text(kAxisName[d])
          .Say(" is #", limit);
    }
  }
  if (machine.middle_words < 0 || machine.inner_words < 0 || machine.pe_count < 1 ||
      machine.pe_count > kGemmMaxExtent) {
    return Fail(diagnostic, Status::kBadInput, kStage)
        .Say(
            "machine has # middle words, # inner words, # PEs; words must be at least "
            "0, PEs 1 to 2147483648",
            machine.middle_words, machine.inner_words, machine.pe_count);
  }
  SLUICE_TRY(CheckRates(machine, diagnostic));
  const double energies[] = {
      machine.outer_read_pj,   machine.outer_write_pj, machine.middle_read_pj,
      machine.middle_write_pj, machine.inner_read_pj,  machine.inner_write_pj,
      machine.mac_pj,          machine.middle_leak_pj, machine.inner_leak_pj};
  for (const double pj : energies) {
    if (!ValidEnergy(pj)) {
      return Fail(diagnostic, Status::kBadInput, kStage)
          .Text("an energy is negative, above 1e30 pJ or not a number");
    }
  }
  return Status::kOk;
}

Status CheckGemmMapping(const GemmShape& shape, const GemmMachine& machine,
                        const GemmMapping& mapping, Diagnostic* diagnostic) {
  SLUICE_TRY(CheckGemm(shape, machine, diagnostic));
  if (mapping.middle_holds > 7 || mapping.inner_holds > 7 ||
      !IsOrder(mapping.outer_order) || !IsOrder(mapping.middle_order)) {
    return Fail(diagnostic, Status::kBadInput, kStage)
        .Text("a loop order is no permutation, or a bypass mask has unknown bits");
  }
  int64_t pes = 1;
  for (int d = 0; d < kGemmAxes; ++d) {
    const int64_t l1 = mapping.middle_tile[d];
    const int64_t s = mapping.spatial[d];
    const int64_t l3 = mapping.inner_tile[d];
    const int64_t limit = machine.fanout_limit[d];
    if (l1 < 1 || s < 1 || l3 < 1 || s > kGemmMaxExtent || l3 > kGemmMaxExtent ||
        shape.extent[d] % l1 != 0 || l1 % (s * l3) != 0) {
      return Fail(diagnostic, Status::kBadInput, kStage)
          .Text("axis ")
          .Text(kAxisName[d])
          .Say(": #, middle tile #, # PEs x # do not divide each other",
               shape.extent[d], l1, s, l3);
    }
    if ((limit != 0 && s > limit) || s > machine.pe_count / pes) {
      return Fail(diagnostic, Status::kBadInput, kStage)
          .Text("axis ")
          .Text(kAxisName[d])
          .Say(" unrolls # PEs, more than there are", s);
    }
    pes *= s;
  }
  return CheckCapacities(machine, mapping, diagnostic);
}

GemmCost EvaluateGemm(const GemmShape& shape, const GemmMachine& machine,
                      const GemmMapping& mapping, GemmForm form) {
  GemmCost cost = {};
  cost.macs = shape.extent[0] * shape.extent[1] * shape.extent[2];
  cost.pe_used = mapping.spatial[0] * mapping.spatial[1] * mapping.spatial[2];
  cost.compute_cycles = cost.cycles = cost.macs / cost.pe_used;
  int64_t outer_trips[kGemmAxes];
  int64_t middle_trips[kGemmAxes];
  for (int d = 0; d < kGemmAxes; ++d) {
    outer_trips[d] = shape.extent[d] / mapping.middle_tile[d];
    middle_trips[d] =
        mapping.middle_tile[d] / (mapping.spatial[d] * mapping.inner_tile[d]);
  }
  const Reuse reuse = form == GemmForm::kPaper
                          ? PaperReuse(outer_trips, middle_trips, mapping)
                          : LoopReuse(outer_trips, middle_trips, mapping);
  for (int d = 0; d < kGemmAxes; ++d) {
    BookDatum(shape, mapping, reuse, cost.macs, d, &cost.access);
  }
  const double read_pj[] = {machine.outer_read_pj, machine.middle_read_pj,
                            machine.inner_read_pj};
  const double write_pj[] = {machine.outer_write_pj, machine.middle_write_pj,
                             machine.inner_write_pj};
  const double macs = static_cast<double>(cost.macs);
  for (int memory = 0; memory < 3; ++memory) {
    double pj = 0;
    for (int d = 0; d < kGemmAxes; ++d) {
      pj += static_cast<double>(cost.access.reads[memory][d]) * read_pj[memory];
      pj += static_cast<double>(cost.access.writes[memory][d]) * write_pj[memory];
    }
    cost.memory_pj[memory] = pj;
    SetMemoryCycles(machine.bandwidth[memory], memory, &cost);
  }
  cost.mac_pj = macs * machine.mac_pj;
  cost.leak_pj = static_cast<double>(cost.cycles) *
                 (machine.middle_leak_pj +
                  machine.inner_leak_pj * static_cast<double>(machine.pe_count));
  cost.energy_pj = cost.memory_pj[0] + cost.memory_pj[1] + cost.memory_pj[2] +
                   cost.mac_pj + cost.leak_pj;
  cost.energy_pj_per_mac = cost.energy_pj / macs;
  return cost;
}

}  // namespace sluice
