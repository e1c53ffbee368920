// SPDX-License-Identifier: Apache-2.0
// Plans: reading them from bytes, their contents, comparing two of them, verification.
#include <string.h>

#include "api/arguments.h"
#include "api/create.h"
#include "api/objects.h"
#include "base/hash.h"
#include "io/read.h"
#include "plan/compare_streams.h"
#include "plan/patch_ranges.h"
#include "verify/verify.h"

namespace sluice {
namespace {

// The plan's bytes of a plan file, whose last four words are the sizes of its plan, graph
// and machine, and a mark (plan.fbs). Other bytes are those of a plan.
size_t PlanBytes(const void* bytes, size_t size) {
  uint64_t word[4];
  if (size < sizeof word) return size;
  memcpy(word, static_cast<const char*>(bytes) + size - sizeof word, sizeof word);
  constexpr uint64_t kMark = 0x31454c4946504c53;  // "SLPFILE1"
  return word[3] == kMark && word[0] < size ? static_cast<size_t>(word[0]) : size;
}

// Copies plan bytes into the plan's arena and reads them there.
Status AdoptPlan(sluice_plan_t* plan, const void* bytes, size_t size,
                 Diagnostic* diagnostic) {
  size = PlanBytes(bytes, size);
  void* copy = plan->arena.AllocateBytes(size == 0 ? 1 : size, 16);
  if (copy == nullptr) return Status::kOutOfMemory;
  memcpy(copy, bytes, size);
  plan->bytes = Span<const uint8_t>(static_cast<const uint8_t*>(copy), size);
  return ReadPlan(copy, size, &plan->arena, &plan->plan, diagnostic);
}

}  // namespace
}  // namespace sluice

sluice_status_t sluice_plan_create(sluice_context_t* context, const void* bytes,
                                   size_t size, sluice_plan_t** out_plan,
                                   sluice_diagnostic_t* diagnostic) {
  return sluice::CreateFrom(context, bytes, out_plan, diagnostic,
                            [&](sluice_plan_t* plan, sluice::Diagnostic* d) {
                              return sluice::AdoptPlan(plan, bytes, size, d);
                            });
}

void sluice_plan_destroy(sluice_plan_t* plan) { sluice::Destroy(plan); }

sluice_status_t sluice_plan_bytes(const sluice_plan_t* plan, const void** out_bytes,
                                  size_t* out_size) {
  if (plan == nullptr || out_bytes == nullptr || out_size == nullptr) {
    return SLUICE_BAD_ARGUMENT;
  }
  *out_bytes = plan->bytes.data();
  *out_size = plan->bytes.size();
  return SLUICE_OK;
}

sluice_status_t sluice_plan_stream(const sluice_plan_t* plan, const void** out_stream,
                                   size_t* out_size) {
  if (plan == nullptr || out_stream == nullptr || out_size == nullptr) {
    return SLUICE_BAD_ARGUMENT;
  }
  *out_stream = plan->plan.stream.data();
  *out_size = plan->plan.stream.size();
  return SLUICE_OK;
}

sluice_status_t sluice_plan_write(const sluice_plan_t* plan, void* buffer,
                                  size_t* size) {
  if (plan == nullptr || size == nullptr) return SLUICE_BAD_ARGUMENT;
  const size_t capacity = *size;
  *size = plan->bytes.size();
  if (buffer == nullptr || capacity < plan->bytes.size())
    return SLUICE_BUFFER_TOO_SMALL;
  memcpy(buffer, plan->bytes.data(), plan->bytes.size());
  return SLUICE_OK;
}

sluice_status_t sluice_plan_report(const sluice_plan_t* plan,
                                   sluice_report_t* out_report) {
  if (plan == nullptr) return SLUICE_BAD_ARGUMENT;
  return sluice::WriteStruct(plan->plan.report, out_report);
}

sluice_status_t sluice_plan_certificate(const sluice_plan_t* plan,
                                        sluice_certificate_t* out_certificate) {
  if (plan == nullptr) return SLUICE_BAD_ARGUMENT;
  return sluice::WriteStruct(plan->plan.certificate, out_certificate);
}

sluice_status_t sluice_verify(sluice_context_t* context, const sluice_graph_t* graph,
                              const sluice_hardware_t* hardware,
                              const sluice_plan_t* plan,
                              sluice_diagnostic_t* diagnostic) {
  sluice::CallReport report(diagnostic);
  if (context == nullptr || graph == nullptr || hardware == nullptr ||
      plan == nullptr) {
    return report.BadArgument("context, graph, hardware and plan must not be null");
  }
  const sluice::ContextUse use(context);
  if (!use.entered()) return report.InUse();
  sluice::Arena scratch(&context->memory);
  sluice::VerifiedCounts counts = {};
  return report.Done(sluice::Verify(graph->graph, hardware->hardware, plan->plan,
                                    &scratch, &counts, report.get()));
}

sluice_status_t sluice_plan_tensor(const sluice_plan_t* plan, uint32_t index,
                                   sluice_tensor_place_t* out_place) {
  if (plan == nullptr || index >= plan->plan.tensors.size()) return SLUICE_BAD_ARGUMENT;
  const sluice::TensorPlace& p = plan->plan.tensors[index];
  sluice_tensor_place_t place = {};
  place.struct_size = sizeof place;
  place.region = p.region;
  place.offset = p.offset;
  for (int a = 0; a < sluice::kAxes; ++a) place.stride[a] = p.stride[a];
  return sluice::WriteStruct(place, out_place);
}

sluice_status_t sluice_plan_hash(const sluice_plan_t* plan,
                                 sluice_plan_hashes_t* out_hashes) {
  if (plan == nullptr) return SLUICE_BAD_ARGUMENT;
  sluice_plan_hashes_t h = {};
  h.struct_size = sizeof h;
  h.plan = sluice::Fnv1a(plan->bytes.data(), plan->bytes.size());
  h.made_for_graph = plan->plan.graph_hash;
  h.made_for_hardware = plan->plan.hardware_hash;
  h.scratchpad_bytes = static_cast<uint64_t>(sluice::BudgetOf(plan->plan));
  return sluice::WriteStruct(h, out_hashes);
}

sluice_status_t sluice_plan_patch(const sluice_plan_t* before,
                                  const sluice_plan_t* after, uint64_t gap_bytes,
                                  sluice_patch_range_t* ranges, size_t* count) {
  if (before == nullptr || after == nullptr || count == nullptr) {
    return SLUICE_BAD_ARGUMENT;
  }
  return static_cast<int32_t>(sluice::FindPatchRanges(
      before->plan.stream, after->plan.stream, gap_bytes, ranges, count));
}
