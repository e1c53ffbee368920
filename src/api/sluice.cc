// SPDX-License-Identifier: Apache-2.0
// The C functions: check arguments once, call the rooms, translate status.
#include "sluice/sluice.h"

#include <stdlib.h>

#include <new>

#include "api/arguments.h"
#include "api/objects.h"
#include "io/read.h"
#include "plan/carry/compare_streams.h"
#include "plan/memory_bound.h"
#include "plan/pipeline.h"
#include "verify/verify.h"

namespace sluice {
namespace {

constexpr char kStage[] = "api";

void* MallocAllocate(void*, size_t bytes, size_t alignment) {
  void* p = nullptr;
  if (alignment < sizeof(void*)) alignment = sizeof(void*);
  return posix_memalign(&p, alignment, bytes) == 0 ? p : nullptr;
}

void MallocRelease(void*, void* pointer, size_t, size_t) { free(pointer); }

void* HeapAllocate(void* user, size_t bytes, size_t alignment) {
  return static_cast<BlockHeap*>(user)->Allocate(bytes, alignment);
}

void HeapRelease(void* user, void* pointer, size_t bytes, size_t) {
  static_cast<BlockHeap*>(user)->Release(pointer, bytes);
}

using Report = CallReport;

template <typename T>
T* Create(sluice_context_t* context) {
  void* p = context->memory.Allocate(sizeof(T), alignof(T));
  return p == nullptr ? nullptr : new (p) T(&context->memory);
}

// The object's Memory is reached through its arena, so no context is needed.
template <typename T>
void Destroy(T* object) {
  if (object == nullptr) return;
  Memory* memory = object->arena.memory();
  object->~T();
  memory->Release(object, sizeof(T), alignof(T));
}

// Reads bytes into a new object; destroys it on failure.
template <typename T, typename Read>
sluice_status_t CreateFrom(sluice_context_t* context, const void* bytes, T** out,
                           sluice_diagnostic_t* diagnostic, Read read) {
  Report report(diagnostic);
  if (out != nullptr) *out = nullptr;
  if (context == nullptr || bytes == nullptr || out == nullptr) {
    return report.BadArgument("context, bytes and output pointer must not be null");
  }
  context->memory.ClearPhases();
  context->memory.EnterPhase(SLUICE_PHASE_READ);
  const bool in_place = context->home_bytes == 0;  // where giving back is cheap
  if (!in_place) context->memory.BeginCall();
  T* object = Create<T>(context);
  const Status status =
      object == nullptr ? Status::kOutOfMemory : read(object, report.get());
  if (status == Status::kOk) {
    *out = object;
  } else {
    Destroy(object);
  }
  context->memory.EndCall();
  return report.Done(status);
}

// Copies plan bytes into the plan's arena and reads them there.
Status AdoptPlan(sluice_plan_t* plan, const void* bytes, size_t size,
                 Diagnostic* diagnostic) {
  void* copy = plan->arena.AllocateBytes(size == 0 ? 1 : size, 16);
  if (copy == nullptr) return Status::kOutOfMemory;
  memcpy(copy, bytes, size);
  plan->bytes = Span<const uint8_t>(static_cast<const uint8_t*>(copy), size);
  return ReadPlan(copy, size, &plan->arena, &plan->plan, diagnostic);
}

// The plan to resume from lies in a C object that the planner does not know.
PlanRequest RequestOf(const sluice_graph_t& graph, const sluice_hardware_t& hardware,
                      const sluice_schedule_options_t& options) {
  PlanRequest request = {graph.graph, hardware.hardware, options};
  if (options.resume != nullptr) {
    request.resume = &options.resume->plan;
    request.resume_bytes = options.resume->bytes.size();
  }
  return request;
}

Status ScheduleInto(sluice_context_t* context, const sluice_graph_t& graph,
                    const sluice_hardware_t& hardware,
                    const sluice_schedule_options_t& options,
                    const sluice_plan_t* before, bool minimise_changes,
                    sluice_change_t* change, sluice_plan_t* plan,
                    Diagnostic* diagnostic) {
  Memory* memory = &context->memory;
  Arena scratch(memory);
  PlanRequest request = RequestOf(graph, hardware, options);
  if (before != nullptr) request.before = &before->plan;
  request.minimise_changes = minimise_changes;
  SLUICE_TRY(
      MakePlan(request, &plan->arena, &scratch, &plan->bytes, change, diagnostic));
  SLUICE_TRY(ReadPlan(plan->bytes.data(), plan->bytes.size(), &plan->arena, &plan->plan,
                      diagnostic));
  uint64_t* peaks = plan->plan.report.phase_peak_bytes;
  for (uint32_t p = 0; p < SLUICE_PHASE_COUNT; ++p) {
    peaks[p] = memory->phase_peak_bytes(p);
  }
  peaks[SLUICE_PHASE_READ] = graph.read_peak_bytes > hardware.read_peak_bytes
                                 ? graph.read_peak_bytes
                                 : hardware.read_peak_bytes;
  if (before != nullptr) CompareStreams(before->plan, plan->plan, change);
  return Status::kOk;
}

sluice_status_t CreateInBlock(const sluice_context_options_t& options,
                              sluice_context_t** out, Report* report) {
  BlockHeap heap;
  const size_t bytes = static_cast<size_t>(options.block_bytes);
  sluice_context_t* context = nullptr;
  if (heap.Init(options.block, bytes)) {
    void* p = heap.Allocate(sizeof(sluice_context_t), alignof(sluice_context_t));
    if (p != nullptr) {
      sluice_allocator_t none = {};
      context = new (p) sluice_context_t(none, options.max_bytes);
      context->heap = heap;
      sluice_allocator_t inside = {};
      inside.struct_size = sizeof inside;
      inside.user = &context->heap;
      inside.allocate = HeapAllocate;
      inside.release = HeapRelease;
      const bool capped = options.max_bytes != 0 && options.max_bytes < bytes;
      context->memory = Memory(inside, capped ? options.max_bytes : bytes);
    }
  }
  if (context == nullptr) {
    return report->Done(
        Fail(report->get(), Status::kOutOfMemory, kStage)
            .Text("the block is too small to hold a context")
            .Bytes(sizeof(sluice_context_t) + 128, options.block_bytes));
  }
  *out = context;
  return report->Done(Status::kOk);
}

}  // namespace
}  // namespace sluice

using sluice::Report;
using sluice::Status;

const char* sluice_version(void) { return "0.1.0"; }

const char* sluice_status_name(sluice_status_t status) {
  switch (status) {
    case SLUICE_OK:
      return "ok";
    case SLUICE_INFEASIBLE:
      return "infeasible";
    case SLUICE_STOPPED:
      return "stopped";
    case SLUICE_REJECTED:
      return "rejected";
    case SLUICE_BAD_ARGUMENT:
      return "bad argument";
    case SLUICE_BAD_INPUT:
      return "bad input";
    case SLUICE_UNSUPPORTED:
      return "unsupported";
    case SLUICE_OUT_OF_MEMORY:
      return "out of memory";
    case SLUICE_BUFFER_TOO_SMALL:
      return "buffer too small";
    case SLUICE_INTERNAL:
      return "internal error";
    default:
      return "unknown";
  }
}

sluice_status_t sluice_context_create(const sluice_context_options_t* options,
                                      sluice_context_t** out_context,
                                      sluice_diagnostic_t* diagnostic) {
  Report report(diagnostic);
  sluice_context_options_t own;
  sluice_allocator_t allocator;
  if (out_context == nullptr) return report.BadArgument("out_context must not be null");
  *out_context = nullptr;
  if (!sluice::ReadStruct(options, &own) ||
      !sluice::ReadStruct(own.allocator, &allocator)) {
    return report.BadArgument("struct_size is too small or an unknown field is set");
  }
  if (own.block != nullptr) {
    if (own.allocator != nullptr) {
      return report.BadArgument("give an allocator or a block, not both");
    }
    return sluice::CreateInBlock(own, out_context, &report);
  }
  if (own.allocator == nullptr) {
    allocator.allocate = sluice::MallocAllocate;
    allocator.release = sluice::MallocRelease;
  }
  if (allocator.allocate == nullptr || allocator.release == nullptr) {
    return report.BadArgument("the allocator lacks a function");
  }
  void* p = allocator.allocate(allocator.user, sizeof(sluice_context_t),
                               alignof(max_align_t));
  if (p == nullptr) return report.Done(Status::kOutOfMemory);
  sluice_context_t* context = new (p) sluice_context_t(allocator, own.max_bytes);
  context->home = allocator;
  context->home_bytes = sizeof(sluice_context_t);
  *out_context = context;
  return report.Done(Status::kOk);
}

void sluice_context_destroy(sluice_context_t* context) {
  if (context == nullptr || context->home_bytes == 0)
    return;  // in place: nothing to free
  const sluice_allocator_t home = context->home;
  const size_t bytes = context->home_bytes;
  context->memory.GiveBack();
  context->~sluice_context();
  home.release(home.user, context, bytes, alignof(max_align_t));
}

sluice_status_t sluice_context_memory(const sluice_context_t* context,
                                      sluice_memory_stats_t* out_stats) {
  if (context == nullptr) return SLUICE_BAD_ARGUMENT;
  sluice_memory_stats_t stats = {};
  stats.struct_size = sizeof stats;
  stats.live_bytes = context->memory.live_bytes() + context->memory.kept_bytes();
  stats.peak_bytes = context->memory.peak_bytes();
  stats.allocations = context->memory.allocations();
  return sluice::WriteStruct(stats, out_stats);
}

sluice_status_t sluice_graph_create(sluice_context_t* context, const void* bytes,
                                    size_t size, sluice_graph_t** out_graph,
                                    sluice_diagnostic_t* diagnostic) {
  return sluice::CreateFrom(context, bytes, out_graph, diagnostic,
                            [&](sluice_graph_t* object, sluice::Diagnostic* d) {
                              const Status status = sluice::ReadGraph(
                                  bytes, size, &object->arena, &object->graph, d);
                              object->read_peak_bytes =
                                  context->memory.phase_peak_bytes(SLUICE_PHASE_READ);
                              return status;
                            });
}

void sluice_graph_destroy(sluice_graph_t* graph) { sluice::Destroy(graph); }

sluice_status_t sluice_hardware_create(sluice_context_t* context, const void* bytes,
                                       size_t size, sluice_hardware_t** out_hardware,
                                       sluice_diagnostic_t* diagnostic) {
  return sluice::CreateFrom(context, bytes, out_hardware, diagnostic,
                            [&](sluice_hardware_t* object, sluice::Diagnostic* d) {
                              const Status status = sluice::ReadHardware(
                                  bytes, size, &object->arena, &object->hardware, d);
                              object->read_peak_bytes =
                                  context->memory.phase_peak_bytes(SLUICE_PHASE_READ);
                              return status;
                            });
}

void sluice_hardware_destroy(sluice_hardware_t* hardware) { sluice::Destroy(hardware); }

sluice_status_t sluice_schedule(sluice_context_t* context, const sluice_graph_t* graph,
                                const sluice_hardware_t* hardware,
                                const sluice_schedule_options_t* options,
                                sluice_plan_t** out_plan,
                                sluice_diagnostic_t* diagnostic) {
  sluice_schedule_options_t own;
  if (graph == nullptr || hardware == nullptr || !sluice::ReadStruct(options, &own)) {
    if (out_plan != nullptr) *out_plan = nullptr;
    return Report(diagnostic)
        .BadArgument(
            "graph and hardware must not be null, options must be of a known version");
  }
  return sluice::CreateFrom(context, graph, out_plan, diagnostic,
                            [&](sluice_plan_t* plan, sluice::Diagnostic* d) {
                              return sluice::ScheduleInto(context, *graph, *hardware,
                                                          own, nullptr, false, nullptr,
                                                          plan, d);
                            });
}

sluice_status_t sluice_reschedule(sluice_context_t* context,
                                  const sluice_plan_t* previous,
                                  const sluice_graph_t* graph,
                                  const sluice_hardware_t* hardware,
                                  const sluice_reschedule_options_t* options,
                                  sluice_plan_t** out_plan, sluice_change_t* out_change,
                                  sluice_diagnostic_t* diagnostic) {
  sluice_reschedule_options_t own;
  sluice_schedule_options_t schedule;
  sluice_change_t change = {};
  change.struct_size = sizeof change;
  if (previous == nullptr || graph == nullptr || hardware == nullptr ||
      !sluice::ReadStruct(options, &own) ||
      !sluice::ReadStruct(own.schedule, &schedule)) {
    if (out_plan != nullptr) *out_plan = nullptr;
    return Report(diagnostic)
        .BadArgument(
            "plan, graph and hardware must not be null, options must be of a known "
            "version");
  }
  const sluice_status_t status = sluice::CreateFrom(
      context, graph, out_plan, diagnostic,
      [&](sluice_plan_t* plan, sluice::Diagnostic* d) {
        return sluice::ScheduleInto(context, *graph, *hardware, schedule, previous,
                                    own.minimise_changes != 0, &change, plan, d);
      });
  if (out_change != nullptr) (void)sluice::WriteStruct(change, out_change);
  return status;
}

sluice_status_t sluice_schedule_memory_bound(sluice_context_t* context,
                                             const sluice_graph_t* graph,
                                             const sluice_hardware_t* hardware,
                                             const sluice_schedule_options_t* options,
                                             uint64_t* out_bytes,
                                             sluice_diagnostic_t* diagnostic) {
  Report report(diagnostic);
  sluice_schedule_options_t own;
  if (context == nullptr || graph == nullptr || hardware == nullptr ||
      out_bytes == nullptr || !sluice::ReadStruct(options, &own)) {
    return report.BadArgument(
        "context, graph, hardware and out_bytes must not be null, options must be of a "
        "known version");
  }
  sluice::Arena scratch(&context->memory);
  return report.Done(sluice::BoundMemory(sluice::RequestOf(*graph, *hardware, own),
                                         &scratch, out_bytes, report.get()));
}

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

sluice_status_t sluice_verify(sluice_context_t* context, const sluice_graph_t* graph,
                              const sluice_hardware_t* hardware,
                              const sluice_plan_t* plan,
                              sluice_diagnostic_t* diagnostic) {
  Report report(diagnostic);
  if (context == nullptr || graph == nullptr || hardware == nullptr ||
      plan == nullptr) {
    return report.BadArgument("context, graph, hardware and plan must not be null");
  }
  sluice::Arena scratch(&context->memory);
  sluice::VerifiedCounts counts = {};
  return report.Done(sluice::Verify(graph->graph, hardware->hardware, plan->plan,
                                    &scratch, &counts, report.get()));
}
