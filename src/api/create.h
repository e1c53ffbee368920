// SPDX-License-Identifier: Apache-2.0
// Creates and destroys the objects of the C interface.
//
// Input    a context, and for Make and CreateFrom a function that fills the new object
// Output   the object, in the context's memory; all it holds lies in its own arena
// Errors   nullptr or kOutOfMemory; what the function returns
// Cost     one allocation, and the function
#ifndef SLUICE_API_CREATE_H_
#define SLUICE_API_CREATE_H_

#include <new>

#include "api/arguments.h"
#include "api/objects.h"

namespace sluice {

// Marks a context as in use while a call works with it. A second call that comes
// meanwhile, from another thread or from a callback, has entered() false and must leave
// the context alone.
class ContextUse {
 public:
  explicit ContextUse(sluice_context_t* context)
      : context_(context),
        entered_(__atomic_exchange_n(&context->in_use, 1u, __ATOMIC_ACQUIRE) == 0) {}
  ~ContextUse() {
    if (entered_) __atomic_store_n(&context_->in_use, 0u, __ATOMIC_RELEASE);
  }
  ContextUse(const ContextUse&) = delete;
  ContextUse& operator=(const ContextUse&) = delete;
  bool entered() const { return entered_; }

 private:
  sluice_context_t* context_;
  bool entered_;
};

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

// Makes a new object, lets `fill` fill it and hands it out; destroys it on failure.
template <typename T, typename Fill>
Status Make(sluice_context_t* context, T** out, Fill fill) {
  T* object = Create<T>(context);
  const Status status = object == nullptr ? Status::kOutOfMemory : fill(object);
  if (status == Status::kOk) {
    *out = object;
  } else {
    Destroy(object);
  }
  return status;
}

// Makes an object of bytes or of another object. The call's memory report starts again.
template <typename T, typename Read>
sluice_status_t CreateFrom(sluice_context_t* context, const void* bytes, T** out,
                           sluice_diagnostic_t* diagnostic, Read read) {
  CallReport report(diagnostic);
  if (out != nullptr) *out = nullptr;
  if (context == nullptr || bytes == nullptr || out == nullptr) {
    return report.BadArgument("context, bytes and output pointer must not be null");
  }
  const ContextUse use(context);
  if (!use.entered()) return report.InUse();
  context->memory.ClearPhases();
  context->memory.EnterPhase(SLUICE_PHASE_READ);
  const bool in_place = context->home_bytes == 0;  // then freeing is cheap
  if (!in_place) context->memory.BeginCall();
  const Status status =
      Make(context, out, [&](T* object) { return read(object, report.get()); });
  context->memory.EndCall();
  return report.Done(status);
}

}  // namespace sluice

#endif  // SLUICE_API_CREATE_H_
