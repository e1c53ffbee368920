// SPDX-License-Identifier: Apache-2.0
#include "model/report.h"

#include "base/checked.h"
#include "model/host.h"
#include "model/off_chip.h"

namespace sluice {

namespace {

// One past the last byte of a box.
int64_t BoxEnd(const BufferBox& box) {
  int64_t last = box.offset + int64_t{DtypeBytes(box.dtype)};
  for (int a = 0; a < kAxes; ++a) last += int64_t{box.extent[a] - 1} * box.stride[a];
  return last;
}

struct Counts {
  // Bytes that leave or reach memories off chip, by region.
  int64_t read[SLUICE_REGION_COUNT] = {};
  int64_t written[SLUICE_REGION_COUNT] = {};
  int64_t pad_read = 0;  // scratchpad
  int64_t pad_write = 0;
  int64_t macs = 0;
  int64_t vector_ops = 0;
  double tile_scratchpad_pj = 0;  // of tiles that declare their energy
  double tile_compute_pj = 0;
  double links = 0;        // links * bytes that cross them; exact below 2^53
  int64_t other_macs = 0;  // of tiles that do not declare their energy
  int64_t other_vector_ops = 0;
  int64_t host_cycles = 0;  // of HOST calls
  HostTraffic host = {0, 0};
};

// Links from the nearest corner of the mesh, where DRAM is.
int64_t LinksToCorner(const Program& program, const NodeRect& rect) {
  const uint32_t right = program.cols() - 1, below = program.nodes() - right - 1;
  const uint32_t corners[] = {0u, right, below, below + right};
  int64_t links = INT64_MAX;
  for (const uint32_t corner : corners) {
    links = Min(links, LinksTo(program.cols(), corner, rect));
  }
  return links;
}

void CountTransfer(const Graph& graph, const Program& program, const Step& step,
                   Counts* c) {
  const TransferForm& t = program.transfer_form(step.item);
  const BufferBox& buffer = program.box(t.buffer);
  const int64_t bytes = BoxBytes(buffer);
  const bool load = step.kind == StepKind::kLoad;
  const bool forward = step.kind == StepKind::kForward;
  if (!forward) {
    (load ? c->read : c->written)[t.region] +=
        load ? MovedBytes(graph.tensors[t.tensor], bytes) : bytes;
  }
  if (!load) c->pad_read += bytes;
  if (load || forward) c->pad_write += bytes * t.cols * t.rows;
  if (t.other != kNoBox && !forward) c->pad_read += BoxBytes(program.box(t.other));
  if (program.nodes() == 1) return;
  const NodeRect rect = {forward ? t.to : step.node, t.cols, t.rows};
  c->links += static_cast<double>(bytes) *
              static_cast<double>(forward ? LinksTo(program.cols(), step.node, rect)
                                          : LinksToCorner(program, rect));
}

void CountTile(const Program& program, const TileForm& t, Counts* c) {
  const bool declared = t.energy_pj() > 0;
  for (int r = 0; r < kTileRoles && !declared; ++r) {
    if (t.operand[r] == kNoBox) continue;
    (r == kRoleOutput ? c->pad_write : c->pad_read) +=
        BoxBytes(program.box(t.operand[r]));
  }
  if (t.accumulator != kNoBox) {
    const int64_t bytes = BoxBytes(program.box(t.accumulator));
    if (t.first == 0) c->pad_read += bytes;
    if (t.last == 0 && !declared) c->pad_write += bytes;
  }
  c->macs += t.macs;
  c->vector_ops += t.vector_ops;
  if (declared) {
    c->tile_scratchpad_pj += t.scratchpad_pj();
    c->tile_compute_pj += t.energy_pj() - t.scratchpad_pj();
  } else {
    c->other_macs += t.macs;
    c->other_vector_ops += t.vector_ops;
  }
}

void CountHost(const Graph& graph, const Layer& layer, Counts* c) {
  c->host_cycles += HostCycles(layer);
  const HostTraffic traffic = HostTrafficOf(graph, layer);
  c->host.read += traffic.read;
  c->host.written += traffic.written;
}

Status CountSteps(const Graph& graph, const Program& program, size_t begin, size_t end,
                  const Memory& memory, Counts* c) {
  for (size_t i = begin; i < end; ++i) {
    if (i % 256 == 255 && memory.Stop()) return Status::kStopped;
    const Step step = program.step(i);
    if (step.kind == StepKind::kCompute) {
      CountTile(program, program.tile_form(step.item), c);
    } else if (step.kind == StepKind::kHost) {
      CountHost(graph, graph.layers[step.item], c);
    } else {
      CountTransfer(graph, program, step, c);
    }
  }
  return Status::kOk;
}

// The highest byte of a scratchpad that the program uses: a box stands for some step.
int64_t PeakOf(const Program& program) {
  int64_t peak = 0;
  for (uint32_t i = 0; i < program.box_count(); ++i) {
    peak = Max(peak, BoxEnd(program.box(i)));
  }
  return peak;
}

double Moved(const MemoryLevel& level, int64_t read, int64_t written) {
  return static_cast<double>(read) * 8 * level.read_pj_per_bit +
         static_cast<double>(written) * 8 * level.write_pj_per_bit;
}

void FillOffChip(const Hardware& hardware, const Counts& c, sluice_report_t* report) {
  int64_t read = 0, written = 0, last_read = 0, last_written = 0;
  double pj = 0;
  for (uint32_t r = 0; r < SLUICE_REGION_COUNT; ++r) {
    read += c.read[r];
    written += c.written[r];
    if (const OffChip* memory = hardware.MemoryOf(r)) {
      pj += Moved(memory->level, c.read[r], c.written[r]);
    } else {
      last_read += c.read[r];
      last_written += c.written[r];
    }
  }
  report->dram_read_bytes = static_cast<uint64_t>(read);
  report->dram_write_bytes = static_cast<uint64_t>(written);
  report->energy_dram_pj = pj + Moved(hardware.dram(), last_read, last_written);
}

void FillCosts(const Hardware& hardware, const Counts& c, int64_t cycles,
               sluice_report_t* report) {
  const MemoryLevel& pad = hardware.scratchpad();
  report->struct_size = sizeof *report;
  report->latency_cycles = static_cast<uint64_t>(cycles);
  FillOffChip(hardware, c, report);
  // Neither outputs nor states are stored there.
  report->spill_bytes = static_cast<uint64_t>(c.written[SLUICE_REGION_WORKSPACE]);
  report->macs = static_cast<uint64_t>(c.macs);
  report->vector_ops = static_cast<uint64_t>(c.vector_ops);
  report->energy_scratchpad_pj =
      Moved(pad, c.pad_read, c.pad_write) + c.tile_scratchpad_pj;
  report->energy_compute_pj =
      static_cast<double>(c.other_macs) * hardware.mac_pj +
      static_cast<double>(c.other_vector_ops) * hardware.vector_op_pj +
      c.tile_compute_pj;
  report->energy_leakage_pj =
      static_cast<double>(cycles) * hardware.leakage_pj_per_cycle;
  report->energy_noc_pj = c.links * 8 * hardware.hop_pj_per_bit;
  report->energy_pj = report->energy_dram_pj + report->energy_scratchpad_pj +
                      report->energy_compute_pj + report->energy_leakage_pj +
                      report->energy_noc_pj;
  report->host_bytes = static_cast<uint64_t>(c.host.read + c.host.written);
  report->energy_host_pj =
      static_cast<double>(c.host_cycles) * hardware.host.pj_per_cycle +
      HostTrafficEnergy(hardware, c.host);
  report->energy_pj += report->energy_host_pj;
}

}  // namespace

Status FillCosts(const ProgramRun& run, int64_t cycles, const Memory& memory,
                 sluice_report_t* report) {
  const auto& [graph, hardware, program] = run;
  Counts c;
  SLUICE_TRY(CountSteps(graph, program, 0, program.size(), memory, &c));
  FillCosts(hardware, c, cycles, report);
  report->peak_buffer_bytes = static_cast<uint64_t>(PeakOf(program));
  return Status::kOk;
}

Status FillBlockCosts(const ProgramRun& run, Span<const int64_t> block_cycles,
                      const Memory& memory, Span<BlockCost> costs) {
  const auto& [graph, hardware, program] = run;
  int64_t before = 0;
  for (size_t b = 0; b < costs.size(); ++b) {
    const uint32_t begin = program.block_begin(b);
    const uint32_t end = program.block_begin(b + 1);
    costs[b].cycles = block_cycles[b] - before;
    costs[b].steps = end - begin;
    before = block_cycles[b];
    Counts c;
    SLUICE_TRY(CountSteps(graph, program, begin, end, memory, &c));
    sluice_report_t report;
    FillCosts(hardware, c, costs[b].cycles, &report);
    costs[b].energy_pj = report.energy_pj;
  }
  return Status::kOk;
}

Status FillReport(const ProgramRun& run, int64_t cycles, const PlanBound& bound,
                  Arena* scratch, sluice_report_t* report) {
  const auto& [graph, hardware, program] = run;
  SLUICE_TRY(FillCosts(run, cycles, *scratch->memory(), report));
  ArenaScope scope(scratch);
  Span<uint8_t> works;  // by layer: a step is for it
  SLUICE_TRY(scratch->Allocate(graph.layers.size(), &works));
  for (size_t i = 0; i < program.size(); ++i) works[program.step(i).layer] = 1;
  report->layers = report->host_layers = 0;
  report->host_macs = 0;
  for (uint32_t l = 0; l < graph.layers.size(); ++l) {
    if (works[l] == 0) continue;
    ++report->layers;
    if (KindOf(graph.layers[l].op) != LayerKind::kHost) continue;
    ++report->host_layers;
    if (graph.is_moved(l) && IsMacOp(graph.given[l].op)) {
      report->host_macs += static_cast<uint64_t>(WorkOfLayer(graph, graph.given[l]));
    }
  }
  report->tiles = static_cast<uint32_t>(program.tile_count());
  report->instructions = static_cast<uint32_t>(program.size());
  report->bound_latency_cycles = static_cast<uint64_t>(bound.cycles);
  report->bound_energy_pj = bound.energy_pj;
  return Status::kOk;
}

}  // namespace sluice
