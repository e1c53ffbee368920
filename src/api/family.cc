// SPDX-License-Identifier: Apache-2.0
// Plans for one dimension of a graph over a range: the first from scratch, every other
// one from its nearest neighbour.
//
// Input    graphs by value, from the caller; hardware; options.
// Output   plans by the tops of their buckets.
// Errors   kBadArgument; whatever planning a member says.
// Cost     a rescheduling per bucket; selecting is a binary search.
#include <new>

#include "api/arguments.h"
#include "api/objects.h"
#include "base/checked.h"
#include "sluice/experimental.h"

namespace sluice {
namespace {

constexpr uint32_t kMost = 16;
constexpr uint32_t kTolerancePercent = 10;

struct Member {
  int64_t top;
  sluice_plan_t* plan;
  double cost;
};

}  // namespace
}  // namespace sluice

struct sluice_family {
  explicit sluice_family(sluice::Memory* memory) : arena(memory), members(&arena) {}
  sluice::Arena arena;
  int64_t first = 0;
  sluice::Vector<sluice::Member> members;
};

namespace sluice {
namespace {

class FamilyMaker {
 public:
  FamilyMaker(sluice_context_t* context, const sluice_hardware_t* hardware,
              const sluice_family_options_t& options, sluice_family_t* family,
              sluice_diagnostic_t* diagnostic)
      : context_(context),
        hardware_(hardware),
        options_(options),
        family_(family),
        diagnostic_(diagnostic) {}

  sluice_status_t Make() {
    for (uint32_t i = 0; i < options_.tops; ++i) {
      const sluice_status_t status = Add(options_.top[i], i);
      if (status != SLUICE_OK) return status;
    }
    return options_.tops != 0 ? SLUICE_OK : Choose();
  }

 private:
  // Halves the bucket whose top costs the most beside the one below.
  sluice_status_t Choose() {
    const Vector<Member>& members = family_->members;
    const uint32_t most = options_.most != 0 ? options_.most : kMost;
    const uint32_t percent = options_.tolerance_percent != 0
                                 ? options_.tolerance_percent
                                 : kTolerancePercent;
    sluice_status_t status = Add(options_.last, 0);
    if (status == SLUICE_OK && options_.first < options_.last) {
      status = Add(options_.first, 0);
    }
    while (status == SLUICE_OK && members.size() < most) {
      uint32_t at = 0;
      double worst = 1 + percent / 100.0;
      for (uint32_t i = 1; i < members.size(); ++i) {
        const double ratio = members[i].cost / members[i - 1].cost;
        if (ratio > worst && members[i].top - members[i - 1].top > 1) {
          worst = ratio;
          at = i;
        }
      }
      if (at == 0) break;
      const int64_t below = members[at - 1].top;
      status = Add(below + (members[at].top - below) / 2, at);
    }
    return status;
  }

  // Plans `value` from the member that will stand behind it, or before, or alone.
  sluice_status_t Add(int64_t value, uint32_t at) {
    const void* bytes = nullptr;
    size_t size = 0;
    if (options_.graph(options_.user, value, &bytes, &size) != 0) {
      CallReport report(diagnostic_);
      return report.Done(Fail(report.get(), Status::kBadArgument, "family")
                             .Text("there is no graph for the value ")
                             .Number(value));
    }
    Vector<Member>* members = &family_->members;
    sluice_graph_t* graph = nullptr;
    sluice_status_t status =
        sluice_graph_create(context_, bytes, size, &graph, diagnostic_);
    if (status != SLUICE_OK) return status;
    Member made = {value, nullptr, 0};
    if (members->size() == 0) {
      status = sluice_schedule(context_, graph, hardware_, options_.schedule,
                               &made.plan, diagnostic_);
    } else {
      sluice_reschedule_options_t again = {};
      again.struct_size = sizeof again;
      again.schedule = options_.schedule;
      const uint32_t near = Min(at, static_cast<uint32_t>(members->size() - 1));
      status = sluice_reschedule(context_, (*members)[near].plan, graph, hardware_,
                                 &again, &made.plan, nullptr, diagnostic_);
    }
    sluice_graph_destroy(graph);
    if (status != SLUICE_OK) return status;
    const sluice_report_t& r = made.plan->plan.report;
    made.cost = r.energy_pj * static_cast<double>(r.latency_cycles);
    if (members->Push(made) != Status::kOk) {
      sluice_plan_destroy(made.plan);
      CallReport report(diagnostic_);
      return report.Done(Status::kOutOfMemory);
    }
    for (size_t i = members->size() - 1; i > at; --i) {
      (*members)[i] = (*members)[i - 1];
    }
    (*members)[at] = made;
    return SLUICE_OK;
  }

  sluice_context_t* context_;
  const sluice_hardware_t* hardware_;
  const sluice_family_options_t& options_;
  sluice_family_t* family_;
  sluice_diagnostic_t* diagnostic_;
};

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
  void* p = context->memory.Allocate(sizeof(sluice_family_t), alignof(sluice_family_t));
  if (p == nullptr) {
    return sluice::CallReport(diagnostic).Done(sluice::Status::kOutOfMemory);
  }
  sluice_family_t* family = new (p) sluice_family_t(&context->memory);
  family->first = own.first;
  const sluice_status_t status =
      sluice::FamilyMaker(context, hardware, own, family, diagnostic).Make();
  if (status != SLUICE_OK) {
    sluice_family_destroy(family);
    return status;
  }
  *out_family = family;
  return SLUICE_OK;
}

void sluice_family_destroy(sluice_family_t* family) {
  if (family == nullptr) return;
  sluice::Memory* memory = family->arena.memory();
  for (const sluice::Member& m : family->members) sluice_plan_destroy(m.plan);
  family->~sluice_family();
  memory->Release(family, sizeof(sluice_family_t), alignof(sluice_family_t));
}

const sluice_plan_t* sluice_family_bucket(const sluice_family_t* family, uint32_t i,
                                          int64_t* out_top) {
  if (family == nullptr || i >= family->members.size()) return nullptr;
  if (out_top != nullptr) *out_top = family->members[i].top;
  return family->members[i].plan;
}

const sluice_plan_t* sluice_family_select(const sluice_family_t* family, int64_t value,
                                          int64_t* out_top) {
  if (family == nullptr || value < family->first) return nullptr;
  uint32_t low = 0;
  uint32_t high = static_cast<uint32_t>(family->members.size());
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (family->members[middle].top < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return sluice_family_bucket(family, low, out_top);
}
