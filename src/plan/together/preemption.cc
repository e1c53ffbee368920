// SPDX-License-Identifier: Apache-2.0
#include "plan/together/preemption.h"

#include "model/engines.h"
#include "model/stream_cuts.h"
#include "verify/verify.h"

namespace sluice {

namespace {

constexpr char kStage[] = "coschedule";

}  // namespace

Status FindPreemptionPoints(const PreemptionQuery& query, Arena* scratch,
                            sluice_preemption_point_t* points, uint32_t* count,
                            Diagnostic* diagnostic) {
  const Hardware& hardware = query.hardware;
  const size_t nodes = size_t{hardware.node_cols} * hardware.node_rows;
  if (nodes != 1 || !Engines(hardware).one_queue()) {
    return Fail(diagnostic, Status::kUnsupported, kStage)
        .Text("points are found on machines of one node and one queue only");
  }
  SLUICE_TRY(Verify(query.graph, hardware, query.plan, scratch, nullptr, diagnostic));
  StreamVisits visits;
  SLUICE_TRY(FindVisits(query.plan.stream, scratch, &visits));
  const uint32_t n = visits.count();
  const uint32_t room = points == nullptr ? 0 : *count;
  *count = n + 1;
  if (room <= n) {
    return Fail(diagnostic, Status::kBufferTooSmall, kStage)
        .Say("points: room for #, # needed", room, n + 1);
  }
  Span<DeadBytes> dead;
  Span<int64_t> after;
  SLUICE_TRY(scratch->Allocate(n + 1, &dead));
  SLUICE_TRY(scratch->Allocate(n, &after));
  for (uint32_t k = 0; k <= n; ++k) {
    points[k] = sluice_preemption_point_t{};
    if (k == 0) continue;
    SLUICE_TRY(DrainedCycles(hardware, visits, k - 1, 0, scratch, after));
    points[k].cycles = static_cast<uint64_t>(after[k - 1]);
  }
  const int64_t capacity = hardware.scratchpad().capacity_bytes;
  SLUICE_TRY(FindDead(visits, capacity, scratch, dead));
  for (uint32_t k = 0; k <= n; ++k) {
    points[k].dead_offset = static_cast<uint64_t>(dead[k].begin);
    points[k].dead_bytes = static_cast<uint64_t>(dead[k].end - dead[k].begin);
    points[k].live_bytes = static_cast<uint64_t>(dead[k].live);
  }
  return Status::kOk;
}

}  // namespace sluice
