// SPDX-License-Identifier: Apache-2.0
#include "verify/verify.h"

#include <string.h>

#include <initializer_list>

#include "base/checked.h"
#include "verify/beside.h"
#include "verify/follow.h"
#include "verify/repeats/repeats.h"
#include "verify/report.h"

namespace sluice {
namespace {

using judge::Judge;
using judge::Reject;

Status CheckIdentity(const Judge& judge) {
  if (judge.plan.graph_hash != judge.graph.hash) {
    return Reject(judge, "structure").Text("made for another graph");
  }
  if (judge.plan.hardware_hash != judge.hardware.hash) {
    return Reject(judge, "structure").Text("made for other hardware");
  }
  if (judge.plan.tensors.size() != judge.graph.tensors.size()) {
    return Reject(judge, "structure").Text("places for another number of tensors");
  }
  return Status::kOk;
}

void Clear(VerifiedCounts* counts) {
  const Span<LayerCounts> by_layer = counts->by_layer;
  for (LayerCounts& layer : by_layer) layer = LayerCounts{};
  *counts = VerifiedCounts{};
  counts->by_layer = by_layer;
}

Status FollowAll(Judge* judge, judge::Preference preference, VerifiedCounts* counts) {
  Clear(counts);
  // Clocks have an entry per engine, so that a long stream takes its share of work
  // before it is followed, too.
  judge->work += 4096 * static_cast<int64_t>(judge->stream.instructions);
  judge::Order order;
  SLUICE_TRY(judge::FindOrder(judge, preference, &order));
  for (uint32_t e = 0; e < judge->stream.engines; ++e) {
    if (judge->stream.stores[e] != 0) judge->storer = order.column[e];
  }
  SLUICE_TRY(judge->arena->Allocate(order.steps.size(), &judge->stream.time));
  judge::Follower follower(judge, &order, counts);
  SLUICE_TRY(InitFollower(&follower));
  judge::Repeats repeats(&follower);
  SLUICE_TRY(InitRepeats(&repeats));
  for (size_t i = 0; i < order.steps.size();) {
    if (i % 16 == 15 && judge->arena->memory()->Stop()) return Status::kStopped;
    SLUICE_TRY(FollowStep(&follower, order.steps[i++]));
    SLUICE_TRY(PassRepeats(&repeats, &i));
  }
  SLUICE_TRY(CheckEnd(&follower));
  return judge::FindLatency(judge, order, counts);
}

// A missing wait may be reported as a read of missing content. Judges such a stream
// again in other orders, to name the cause.
Status NameCause(Judge* judge, Status status, VerifiedCounts* counts) {
  const Diagnostic found = *judge->diagnostic;
  const bool about_content =
      strcmp(found.rule, "content") == 0 || strcmp(found.rule, "accumulate") == 0;
  if (status != Status::kRejected || !about_content) return status;
  judge->unrolls = true;
  for (const judge::Preference preference :
       {judge::Preference::kFirstEngine, judge::Preference::kLastEngine}) {
    ArenaScope scope(judge->arena);
    const Status again = FollowAll(judge, preference, counts);
    if (again == Status::kRejected && strcmp(judge->diagnostic->rule, "order") == 0) {
      return again;
    }
  }
  *judge->diagnostic = found;
  return status;
}

Status Run(Judge* judge, VerifiedCounts* counts) {
  SLUICE_TRY(CheckIdentity(*judge));
  SLUICE_TRY(judge::CheckViews(judge));
  SLUICE_TRY(judge::ReadStream(judge));
  judge->joins = judge->stream.nodes == 1 && judge->stream.storers == 1 &&
                 judge->stream.dram_engines > 1;
  Status status = FollowAll(judge, judge::Preference::kAny, counts);
  if (status == Status::kRejected && judge->joined) {
    ArenaScope scope(judge->arena);
    judge->joins = false;
    judge->unrolls = true;
    status = FollowAll(judge, judge::Preference::kAny, counts);
  }
  if (status == Status::kOk && judge->counts_only) return status;
  if (status != Status::kOk) return NameCause(judge, status, counts);
  SLUICE_TRY(judge::CheckBeside(*judge));
  return judge::CheckReport(*judge, *counts);
}

constexpr int64_t kWork = int64_t{1} << 24;

Status RunIn(Arena* scratch, Judge* judge, VerifiedCounts* counts) {
  Clear(counts);
  ClearDiagnostic(judge->diagnostic);
  ArenaScope scope(scratch);
  const Status status = Run(judge, counts);
  if (status == Status::kOutOfMemory) {
    return Fail(judge->diagnostic, status, "verify")
        .Text("no memory left to verify with");
  }
  return status;
}

}  // namespace

Status Verify(const Graph& graph, const Hardware& hardware, const Plan& plan,
              Arena* scratch, VerifiedCounts* counts, Diagnostic* diagnostic) {
  Diagnostic unread;
  VerifiedCounts uncounted = {};
  if (diagnostic == nullptr) diagnostic = &unread;
  if (counts == nullptr) counts = &uncounted;
  Judge judge = {graph, hardware, plan, scratch, diagnostic, {}, kWork, {}, false};
  return RunIn(scratch, &judge, counts);
}

Status CountVerified(const Graph& graph, const Hardware& hardware, const Plan& plan,
                     Arena* scratch, VerifiedCounts* counts, Diagnostic* diagnostic) {
  Judge judge = {graph, hardware, plan, scratch, diagnostic,
                 {},    kWork,    {},   false,   true};
  return RunIn(scratch, &judge, counts);
}

}  // namespace sluice
