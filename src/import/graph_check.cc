// SPDX-License-Identifier: Apache-2.0
#include "import/graph_check.h"

#include <cstring>
#include <new>

#include "import/error.h"

namespace sluice::import {
namespace {

template <typename Object>
using Create = sluice_status_t (*)(sluice_context_t*, const void*, size_t, Object**,
                                   sluice_diagnostic_t*);

template <typename Object>
sluice_status_t Try(const void* bytes, size_t size, Create<Object> create,
                    void (*destroy)(Object*), sluice_diagnostic_t* diagnostic) {
  sluice_context_t* context = nullptr;
  sluice_status_t status = sluice_context_create(nullptr, &context, diagnostic);
  if (status != SLUICE_OK) return status;
  Object* object = nullptr;
  status = create(context, bytes, size, &object, diagnostic);
  if (status == SLUICE_OK) destroy(object);
  sluice_context_destroy(context);
  return status;
}

}  // namespace

sluice_status_t TryGraph(const void* graph, size_t size,
                         sluice_diagnostic_t* diagnostic) {
  return Try(graph, size, sluice_graph_create, sluice_graph_destroy, diagnostic);
}

sluice_status_t TryHardware(const Bytes& hardware, sluice_diagnostic_t* diagnostic) {
  return Try(hardware.data(), hardware.size(), sluice_hardware_create,
             sluice_hardware_destroy, diagnostic);
}

void CheckGraph(const void* graph, size_t size) {
  sluice_diagnostic_t diagnostic;
  std::memset(&diagnostic, 0, sizeof diagnostic);
  diagnostic.struct_size = sizeof diagnostic;
  const sluice_status_t status = TryGraph(graph, size, &diagnostic);
  if (status == SLUICE_OK) return;
  if (status == SLUICE_OUT_OF_MEMORY) throw std::bad_alloc();
  throw Error(status == SLUICE_UNSUPPORTED ? Fault::kUnsupported : Fault::kBadInput,
              diagnostic.message);
}

}  // namespace sluice::import
