// SPDX-License-Identifier: Apache-2.0
#include "plan/layer_costs.h"

#include "base/checked.h"
#include "model/bounds.h"
#include "model/host.h"
#include "verify/verify.h"

namespace sluice {
namespace {

double Moved(const MemoryLevel& level, uint64_t read, uint64_t written) {
  return static_cast<double>(read) * 8 * level.read_pj_per_bit +
         static_cast<double>(written) * 8 * level.write_pj_per_bit;
}

// On a mesh the tiles of all nodes run beside each other.
uint32_t LimitOf(const LayerCounts& c, const Hardware& h) {
  if (c.cycles + c.port_cycles + c.host_cycles == 0) return SLUICE_LIMIT_NOTHING;
  const uint64_t nodes = uint64_t{Max(h.node_cols, 1u)} * Max(h.node_rows, 1u);
  const uint64_t cycles = c.cycles / nodes;
  if (c.host_cycles > Max(cycles, c.port_cycles)) return SLUICE_LIMIT_HOST;
  return cycles >= c.port_cycles ? SLUICE_LIMIT_TILES : SLUICE_LIMIT_DRAM;
}

// What a row must move beyond what it does move goes to rows that move more than they must: to
// later ones first, since a tensor that several layers read may be loaded for another one than the
// first, and views of inputs are moved for their readers; then to earlier ones, since views of
// outputs are moved for what makes them.
void HandOn(Span<sluice_layer_cost_t> rows) {
  uint64_t rest = 0;
  const size_t count = rows.size();
  for (size_t i = 0; i < 2 * count; ++i) {
    sluice_layer_cost_t* row = &rows[i < count ? i : 2 * count - 1 - i];
    rest += row->bound_dram_bytes;
    row->bound_dram_bytes = Min(rest, row->dram_read_bytes + row->dram_write_bytes);
    rest -= row->bound_dram_bytes;
  }
}

sluice_layer_cost_t RowOf(uint32_t index, const LayerCounts& c, const Hardware& h) {
  sluice_layer_cost_t row = {};
  row.struct_size = sizeof row;
  row.layer = index;
  row.block = c.first_instance;
  row.limit = LimitOf(c, h);
  row.tiles = c.tiles;
  for (int a = 0; a < kAxes; ++a) row.extent[a] = c.extent[a];
  row.cycles = c.cycles;
  row.port_cycles = c.port_cycles;
  row.host_cycles = c.host_cycles;
  row.dram_read_bytes = c.dram_read_bytes;
  row.dram_write_bytes = c.dram_write_bytes;
  row.spill_bytes = c.spill_bytes;
  row.macs = c.macs;
  row.vector_ops = c.vector_ops;
  row.energy_pj = Moved(h.scratchpad(), c.pad_read_bytes, c.pad_write_bytes) +
                  static_cast<double>(c.host_cycles) * h.host.pj_per_cycle;
  for (uint32_t r = 0; r < SLUICE_REGION_COUNT; ++r) {
    row.energy_pj += Moved(h.HomeOf(r), c.moved_bytes[r][0], c.moved_bytes[r][1]);
  }
  return row;
}

// Adds the energy of tiles to each row. Where the report's energy of all tiles is the
// sum of what their operands and work take, each layer gets that; where the tiles were
// priced in another way (a table, a callback, a mapper), each layer gets a share of the
// report's energy.
void AddTiles(const PlanOfLayers& call, Span<const LayerCounts> counts,
              Span<sluice_layer_cost_t> rows) {
  const Hardware& h = call.hardware;
  const sluice_report_t& r = call.plan.report;
  double transfers = 0, derived = 0, least = 0;
  const auto of_tiles = [&](const LayerCounts& c) {
    return Moved(h.scratchpad(), c.tile_read_bytes, c.tile_write_bytes) +
           static_cast<double>(c.macs) * h.mac_pj +
           static_cast<double>(c.vector_ops) * h.vector_op_pj;
  };
  for (size_t l = 0; l < rows.size(); ++l) {
    transfers +=
        Moved(h.scratchpad(), counts[l].pad_read_bytes, counts[l].pad_write_bytes);
    derived += of_tiles(counts[l]);
    least += rows[l].bound_energy_pj;
  }
  const double tiles = r.energy_scratchpad_pj + r.energy_compute_pj - transfers;
  const bool said = tiles > derived * (1 + 1e-6) || tiles < derived * (1 - 1e-6);
  for (size_t l = 0; l < rows.size(); ++l) {
    const double share = least > 0     ? rows[l].bound_energy_pj / least
                         : derived > 0 ? of_tiles(counts[l]) / derived
                                       : 0;
    rows[l].energy_pj += said ? tiles * share : of_tiles(counts[l]);
  }
}

}  // namespace

Status CostLayers(const PlanOfLayers& call, Arena* scratch,
                  Span<sluice_layer_cost_t> rows, Diagnostic* diagnostic) {
  Span<LayerCounts> counts;
  Span<uint8_t> taken;
  SLUICE_TRY(scratch->Allocate(call.graph.layers.size(), &counts));
  SLUICE_TRY(scratch->Allocate(call.graph.tensors.size(), &taken));
  VerifiedCounts all = {};
  all.by_layer = counts;
  const auto count = call.judged ? CountVerified : Verify;
  SLUICE_TRY(count(call.graph, call.hardware, call.plan, scratch, &all, diagnostic));
  Graph fitted;
  SLUICE_TRY(FitToMachine(call.graph, call.hardware, scratch, &fitted, diagnostic));
  Needs needs(scratch);
  SLUICE_TRY(FindNeeds(fitted, scratch, &needs));
  // Tiles that cost less than the machine says were priced by the caller.
  PricedBy prices = PricedBy::kMachine;
  for (uint32_t l = 0; l < rows.size(); ++l) {
    const LayerBound bound =
        BoundOfLayer(fitted, call.hardware, needs, l, PricedBy::kMachine);
    if (static_cast<uint64_t>(bound.cycles) > counts[l].cycles)
      prices = PricedBy::kCaller;
  }
  for (uint32_t l = 0; l < rows.size(); ++l) {
    rows[l] = RowOf(l, counts[l], call.hardware);
    const LayerBound bound = BoundOfLayer(fitted, call.hardware, needs, l, prices);
    rows[l].bound_cycles = static_cast<uint64_t>(bound.cycles);
    rows[l].bound_energy_pj = bound.energy_pj;
    const Traffic least = TrafficOfLayer(fitted, needs, fitted.layers[l], taken);
    rows[l].bound_dram_bytes = static_cast<uint64_t>(least.read + least.written);
  }
  HandOn(rows);
  AddTiles(call, counts, rows);
  return Status::kOk;
}

}  // namespace sluice
