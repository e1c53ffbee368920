// SPDX-License-Identifier: Apache-2.0
#include "plan/machine_doubts.h"

#include "base/checked.h"
#include "base/components.h"
#include "model/engines.h"
#include "model/machine_units.h"
#include "solve/mapping/tile_mapper.h"

namespace sluice {

namespace {

// Writes the doubt that the caller wants and counts the others.
class Doubts {
 public:
  Doubts(uint32_t wanted, Diagnostic* out) : left_(wanted), out_(out) {}
  bool found() const { return found_; }
  // True when the next doubt is the one to write.
  bool Next() {
    if (found_) return false;
    found_ = left_ == 0;
    if (!found_) --left_;
    return found_;
  }
  Fail Sentence() { return Fail(out_, Status::kOk, "hardware"); }

 private:
  uint32_t left_;
  Diagnostic* out_;
  bool found_ = false;
};

void DoubtUnits(const Hardware& hardware, Doubts* doubts) {
  const int64_t peak = hardware.macs_per_cycle;
  const int64_t fed = UnitsFed(hardware, hardware.scratchpad_level + 1, 0);
  if (!hardware.fanouts.empty() && fed > peak && doubts->Next()) {
    doubts->Sentence().Say(
        "the fanouts feed # units, but macs_per_cycle is #: no tile is faster than "
        "that",
        fed, peak);
  }
  const int64_t pass = PlacesOf(hardware.array);
  if (pass % peak != 0 && doubts->Next()) {
    doubts->Sentence().Say(
        "a pass of the array has # places and takes # cycles at macs_per_cycle #: in "
        "the last of them units are idle",
        pass, CeilDivide(pass, peak), peak);
  }
  if (TileCostsFrom(hardware) == SLUICE_COSTS_FROM_PEAK && fed > 1 && doubts->Next()) {
    doubts->Sentence().Text(
        "tiles cost work / macs_per_cycle whatever the fanouts are: those count only "
        "with a single level below the scratchpad that they all feed; or give an "
        "array");
  }
}

void DoubtInstances(const Hardware& hardware, Doubts* doubts) {
  if (hardware.cores.rows > 0 || hardware.fanouts.empty()) return;
  for (uint32_t l = 0; l < hardware.scratchpad_level; ++l) {
    const int64_t fed = UnitsFed(hardware, hardware.scratchpad_level + 1, l + 1);
    if (hardware.levels[l].instances == fed || !doubts->Next()) continue;
    doubts->Sentence().Say("level # has # instances, the fanouts above it feed #", l,
                           hardware.levels[l].instances, fed);
  }
}

void DoubtBandwidth(const Hardware& hardware, Doubts* doubts) {
  Rational pad = hardware.scratchpad().bandwidth;  // of all nodes together
  pad.numerator *= int64_t{hardware.node_cols} * hardware.node_rows;
  const Rational dram = hardware.dram().bandwidth;
  if (pad.numerator == 0) return;
  const auto cross = [](const Rational& a, const Rational& b) {
    return static_cast<unsigned __int128>(a.numerator) *
           static_cast<unsigned __int128>(b.denominator);
  };
  if (cross(pad, dram) < cross(dram, pad) && doubts->Next()) {
    doubts->Sentence().Text(
        "the scratchpad moves fewer bytes per cycle than DRAM: tiles are limited by "
        "that, transfers are not");
  }
}

}  // namespace

uint32_t TileCostsFrom(const Hardware& hardware) {
  if (hardware.cores.rows > 0) return SLUICE_COSTS_FROM_CORES;
  if (Has(SLUICE_COMPONENT_MAPPERS) && NeedsMappers(hardware)) {
    return SLUICE_COSTS_FROM_NESTS;
  }
  return hardware.array.k != 0 ? SLUICE_COSTS_FROM_ARRAY : SLUICE_COSTS_FROM_PEAK;
}

sluice_machine_facts_t FactsOf(const Hardware& h) {
  sluice_machine_facts_t facts = {};
  facts.struct_size = sizeof facts;
  facts.nodes = h.node_cols * h.node_rows;
  facts.engines = Engines(h).count();
  Diagnostic doubt;
  while (MachineDoubt(h, facts.doubts, &doubt)) ++facts.doubts;
  facts.costs_from = TileCostsFrom(h);
  facts.fanout_units =
      h.fanouts.empty() ? 0
                        : static_cast<uint64_t>(UnitsFed(h, h.scratchpad_level + 1, 0));
  facts.array_places = static_cast<uint64_t>(PlacesOf(h.array));
  facts.macs_per_cycle = facts.nodes * static_cast<uint64_t>(h.macs_per_cycle);
  facts.vector_ops_per_cycle =
      facts.nodes * static_cast<uint64_t>(h.vector_ops_per_cycle);
  const Rational& dram = h.dram().bandwidth;
  facts.dram_bytes_per_cycle =
      static_cast<double>(dram.numerator) / static_cast<double>(dram.denominator);
  facts.scratchpad_fill_cycles = static_cast<double>(h.scratchpad().capacity_bytes) *
                                 facts.nodes / facts.dram_bytes_per_cycle;
  facts.macs_per_dram_byte =
      static_cast<double>(facts.macs_per_cycle) / facts.dram_bytes_per_cycle;
  return facts;
}

bool MachineDoubt(const Hardware& hardware, uint32_t index, Diagnostic* doubt) {
  Doubts doubts(index, doubt);
  DoubtUnits(hardware, &doubts);
  DoubtInstances(hardware, &doubts);
  DoubtBandwidth(hardware, &doubts);
  return doubts.found();
}

}  // namespace sluice
