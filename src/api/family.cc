// SPDX-License-Identifier: Apache-2.0
// Families: plans for one dimension of a graph over a range of values. The first plan
// is made from scratch, every other one from its nearest neighbour.
#include "api/arguments.h"
#include "api/create.h"
#include "api/objects.h"
#include "base/checked.h"
#include "plan/family/buckets.h"
#include "sluice/experimental.h"

struct sluice_family {
  explicit sluice_family(sluice::Memory* memory)
      : arena(memory), buckets(&arena), plans(&arena) {}
  ~sluice_family() {
    for (sluice_plan_t* plan : plans) sluice_plan_destroy(plan);
  }
  sluice::Arena arena;
  int64_t first = 0;
  sluice::Vector<sluice::Bucket> buckets;
  sluice::Vector<sluice_plan_t*> plans;  // one for each bucket, in the same order
};

namespace sluice {
namespace {

struct FamilyCall {
  sluice_context_t* context;
  const sluice_hardware_t* hardware;
  const sluice_family_options_t& options;
  sluice_family_t* family;
  sluice_diagnostic_t* diagnostic;
};

// Starts from the plan of the next larger value, else of the next smaller one, else
// from scratch.
Status PlanFromNeighbour(const FamilyCall& call, const sluice_graph_t* graph,
                         uint32_t at, sluice_plan_t** out) {
  const Vector<sluice_plan_t*>& plans = call.family->plans;
  if (plans.size() == 0) {
    return static_cast<Status>(sluice_schedule(call.context, graph, call.hardware,
                                               call.options.schedule, out,
                                               call.diagnostic));
  }
  sluice_reschedule_options_t again = {};
  again.struct_size = sizeof again;
  again.schedule = call.options.schedule;
  again.previous = plans[Min(at, static_cast<uint32_t>(plans.size() - 1))];
  return static_cast<Status>(sluice_reschedule(call.context, graph, call.hardware,
                                               &again, out, call.diagnostic));
}

// Room for one more plan and its bucket: what is added after this cannot fail.
Status KeepRoom(const FamilyCall& call) {
  CallReport report(call.diagnostic);
  // The plans were made by calls of their own. Between two of them another thread may
  // have begun a call.
  const ContextUse use(call.context);
  if (!use.entered()) return static_cast<Status>(report.InUse());
  const size_t n = call.family->plans.size() + 1;
  Status status = call.family->buckets.Reserve(n);
  if (status == Status::kOk) status = call.family->plans.Reserve(n);
  return static_cast<Status>(report.Done(status));
}

Status PlanValue(void* user, int64_t value, uint32_t at, double* cost) {
  const FamilyCall& call = *static_cast<const FamilyCall*>(user);
  const void* bytes = nullptr;
  size_t size = 0;
  if (call.options.graph(call.options.user, value, &bytes, &size) != 0) {
    CallReport report(call.diagnostic);
    return static_cast<Status>(
        report.Done(Fail(report.get(), Status::kBadArgument, "family")
                        .Say("there is no graph for the value #", value)));
  }
  sluice_graph_t* graph = nullptr;
  SLUICE_TRY(static_cast<Status>(
      sluice_graph_create(call.context, bytes, size, &graph, call.diagnostic)));
  sluice_plan_t* plan = nullptr;
  const Status status = PlanFromNeighbour(call, graph, at, &plan);
  sluice_graph_destroy(graph);
  SLUICE_TRY(status);
  Vector<sluice_plan_t*>* plans = &call.family->plans;
  const Status kept = KeepRoom(call);
  if (kept != Status::kOk) {
    sluice_plan_destroy(plan);
    return kept;
  }
  (void)plans->Push(plan);
  for (size_t i = plans->size() - 1; i > at; --i) (*plans)[i] = (*plans)[i - 1];
  (*plans)[at] = plan;
  const sluice_report_t& r = plan->plan.report;
  *cost = r.energy_pj * static_cast<double>(r.latency_cycles);
  return Status::kOk;
}

Status MakeFamily(FamilyCall* call) {
  const sluice_family_options_t& options = call->options;
  Vector<Bucket>* buckets = &call->family->buckets;
  const BucketPlanner planner = {call, PlanValue};
  for (uint32_t i = 0; i < options.tops; ++i) {
    SLUICE_TRY(AddBucket(planner, options.top[i], i, buckets));
  }
  if (options.tops != 0) return Status::kOk;
  return ChooseBuckets(
      {options.first, options.last, options.most, options.tolerance_percent}, planner,
      buckets);
}

bool ValidRange(const sluice_family_options_t& o) {
  if (o.graph == nullptr || o.first < 1 || o.last < o.first) return false;
  if (o.tops == 0) return true;
  if (o.top == nullptr || o.top[o.tops - 1] != o.last || o.top[0] < o.first) {
    return false;
  }
  for (uint32_t i = 1; i < o.tops; ++i) {
    if (o.top[i] <= o.top[i - 1]) return false;
  }
  return true;
}

}  // namespace
}  // namespace sluice

sluice_status_t sluice_family_create(sluice_context_t* context,
                                     const sluice_hardware_t* hardware,
                                     const sluice_family_options_t* options,
                                     sluice_family_t** out_family,
                                     sluice_diagnostic_t* diagnostic) {
  sluice_family_options_t own;
  if (out_family != nullptr) *out_family = nullptr;
  if (context == nullptr || hardware == nullptr || out_family == nullptr ||
      !sluice::ReadStruct(options, &own) || !sluice::ValidRange(own)) {
    return sluice::CallReport(diagnostic)
        .BadArgument(
            "a family needs context, hardware, a function that gives graphs, "
            "1 <= first <= last, and tops that ascend within the range to its last");
  }
  sluice_family_t* family = nullptr;
  {
    sluice::CallReport report(diagnostic);
    const sluice::ContextUse use(context);
    if (!use.entered()) return report.InUse();
    family = sluice::Create<sluice_family_t>(context);
    if (family == nullptr) return report.Done(sluice::Status::kOutOfMemory);
  }
  family->first = own.first;
  sluice::FamilyCall call = {context, hardware, own, family, diagnostic};
  const sluice_status_t status = static_cast<int32_t>(sluice::MakeFamily(&call));
  if (status != SLUICE_OK) {
    sluice_family_destroy(family);
    return status;
  }
  *out_family = family;
  return SLUICE_OK;
}

void sluice_family_destroy(sluice_family_t* family) { sluice::Destroy(family); }

const sluice_plan_t* sluice_family_bucket(const sluice_family_t* family, uint32_t i,
                                          int64_t* out_top) {
  if (family == nullptr || i >= family->plans.size()) return nullptr;
  if (out_top != nullptr) *out_top = family->buckets[i].top;
  return family->plans[i];
}

const sluice_plan_t* sluice_family_select(const sluice_family_t* family, int64_t value,
                                          int64_t* out_top) {
  if (family == nullptr || value < family->first) return nullptr;
  return sluice_family_bucket(family, sluice::BucketOf(family->buckets, value),
                              out_top);
}
