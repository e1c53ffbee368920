// SPDX-License-Identifier: Apache-2.0
// Facts and doubts about a machine, derived from its descriptor.
#include "api/arguments.h"
#include "api/objects.h"
#include "model/engines.h"
#include "model/machine_units.h"
#include "plan/machine_doubts.h"
#include "sluice/experimental.h"

namespace sluice {
namespace {

double Quotient(const Rational& r) {
  return static_cast<double>(r.numerator) / static_cast<double>(r.denominator);
}

}  // namespace
}  // namespace sluice

sluice_status_t sluice_hardware_machine(const sluice_hardware_t* hardware,
                                        sluice_machine_facts_t* out_facts) {
  if (hardware == nullptr) return SLUICE_BAD_ARGUMENT;
  const sluice::Hardware& h = hardware->hardware;
  sluice_machine_facts_t facts = {};
  facts.struct_size = sizeof facts;
  facts.nodes = h.node_cols * h.node_rows;
  facts.engines = sluice::Engines(h).count();
  sluice::Diagnostic doubt;
  while (sluice::MachineDoubt(h, facts.doubts, &doubt)) ++facts.doubts;
  facts.costs_from = sluice::TileCostsFrom(h);
  facts.fanout_units =
      h.fanouts.empty()
          ? 0
          : static_cast<uint64_t>(sluice::UnitsFed(h, h.scratchpad_level + 1, 0));
  facts.array_places = static_cast<uint64_t>(sluice::PlacesOf(h.array));
  facts.macs_per_cycle = facts.nodes * static_cast<uint64_t>(h.macs_per_cycle);
  facts.vector_ops_per_cycle =
      facts.nodes * static_cast<uint64_t>(h.vector_ops_per_cycle);
  facts.dram_bytes_per_cycle = sluice::Quotient(h.dram().bandwidth);
  facts.scratchpad_fill_cycles = static_cast<double>(h.scratchpad().capacity_bytes) *
                                 facts.nodes / facts.dram_bytes_per_cycle;
  facts.macs_per_dram_byte =
      static_cast<double>(facts.macs_per_cycle) / facts.dram_bytes_per_cycle;
  return sluice::WriteStruct(facts, out_facts);
}

sluice_status_t sluice_hardware_engine(const sluice_hardware_t* hardware,
                                       uint32_t index, sluice_engine_t* out_engine) {
  if (hardware == nullptr || out_engine == nullptr) return SLUICE_BAD_ARGUMENT;
  const sluice::Engines engines(hardware->hardware);
  if (index >= engines.count()) return SLUICE_BAD_ARGUMENT;
  *out_engine = engines.Describe(index);
  return SLUICE_OK;
}

sluice_status_t sluice_hardware_doubt(const sluice_hardware_t* hardware, uint32_t index,
                                      sluice_diagnostic_t* out_doubt) {
  if (hardware == nullptr || out_doubt == nullptr) return SLUICE_BAD_ARGUMENT;
  sluice::CallReport report(out_doubt);
  if (!sluice::MachineDoubt(hardware->hardware, index, report.get())) {
    return report.BadArgument("there is no doubt of that number");
  }
  return report.Done(sluice::Status::kOk);
}
