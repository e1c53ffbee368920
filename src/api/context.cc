// SPDX-License-Identifier: Apache-2.0
// Contexts: the memory that all other objects live in; names of versions and statuses.
#include <stdlib.h>

#include <new>

#include "api/arguments.h"
#include "api/objects.h"
#include "base/components.h"
#include "sluice/sluice.h"

namespace sluice {
namespace {

constexpr char kStage[] = "api";

void* MallocAllocate(void*, size_t bytes, size_t alignment) {
  void* p = nullptr;
  if (alignment < sizeof(void*)) alignment = sizeof(void*);
  return posix_memalign(&p, alignment, bytes) == 0 ? p : nullptr;
}

void MallocRelease(void*, void* pointer, size_t, size_t) { free(pointer); }

sluice_status_t CreateInBlock(const sluice_context_options_t& options,
                              sluice_context_t** out, CallReport* report) {
  BlockHeap heap;
  const size_t bytes = static_cast<size_t>(options.block_bytes);
  sluice_context_t* context = nullptr;
  if (heap.Init(options.block, bytes)) {
    void* p = heap.Allocate(sizeof(sluice_context_t), alignof(sluice_context_t));
    if (p != nullptr) {
      sluice_allocator_t none = {};
      context = new (p) sluice_context_t(none, options.max_bytes);
      context->heap = heap;
      const bool capped = options.max_bytes != 0 && options.max_bytes < bytes;
      context->memory =
          Memory(context->heap.allocator(), capped ? options.max_bytes : bytes,
                 Clock{options.now_ns, options.clock_user});
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

using sluice::Status;

const char* sluice_version(void) { return "0.1.0"; }

uint32_t sluice_components(void) { return sluice::Components(); }

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
  sluice::CallReport report(diagnostic);
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
  sluice_context_t* context = new (p) sluice_context_t(
      allocator, own.max_bytes, sluice::Clock{own.now_ns, own.clock_user});
  context->home_bytes = sizeof(sluice_context_t);
  *out_context = context;
  return report.Done(Status::kOk);
}

void sluice_context_destroy(sluice_context_t* context) {
  if (context == nullptr || context->home_bytes == 0)
    return;  // in place: nothing to free
  context->memory.Retire(context, context->home_bytes);
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
