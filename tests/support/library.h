// SPDX-License-Identifier: Apache-2.0
// The C interface for tests: handles that destroy themselves, diagnostics as text.
#ifndef SLUICE_TESTS_SUPPORT_LIBRARY_H_
#define SLUICE_TESTS_SUPPORT_LIBRARY_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "sluice/sluice.h"

namespace sluice_test {

template <auto destroy>
struct DestroyWith {
  template <typename T>
  void operator()(T* object) const {
    destroy(object);
  }
};
using ContextPtr =
    std::unique_ptr<sluice_context_t, DestroyWith<sluice_context_destroy>>;
using GraphPtr = std::unique_ptr<sluice_graph_t, DestroyWith<sluice_graph_destroy>>;
using HardwarePtr =
    std::unique_ptr<sluice_hardware_t, DestroyWith<sluice_hardware_destroy>>;
using PlanPtr = std::unique_ptr<sluice_plan_t, DestroyWith<sluice_plan_destroy>>;

inline sluice_diagnostic_t EmptyDiagnostic() {
  sluice_diagnostic_t d;
  std::memset(&d, 0, sizeof d);
  d.struct_size = sizeof d;
  return d;
}

// One context. Functions return null on failure; the last status and diagnostic are
// kept.
struct Library {
  using ByteVector = std::vector<uint8_t>;

  explicit Library(const sluice_context_options_t* options = nullptr) {
    sluice_context_t* c = nullptr;
    status = sluice_context_create(options, &c, &diagnostic);
    context.reset(c);
  }
  GraphPtr Graph(const ByteVector& bytes) {
    sluice_graph_t* g = nullptr;
    status =
        sluice_graph_create(context.get(), bytes.data(), bytes.size(), &g, &diagnostic);
    return GraphPtr(g);
  }
  HardwarePtr Hardware(const ByteVector& bytes) {
    sluice_hardware_t* h = nullptr;
    status = sluice_hardware_create(context.get(), bytes.data(), bytes.size(), &h,
                                    &diagnostic);
    return HardwarePtr(h);
  }
  PlanPtr Plan(const ByteVector& bytes) {
    sluice_plan_t* p = nullptr;
    status =
        sluice_plan_create(context.get(), bytes.data(), bytes.size(), &p, &diagnostic);
    return PlanPtr(p);
  }
  PlanPtr Schedule(const GraphPtr& graph, const HardwarePtr& hardware,
                   uint64_t scratchpad_bytes = 0, uint32_t solver = 0,
                   uint64_t max_iterations = 0) {
    sluice_schedule_options_t options;
    std::memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    options.solver = solver;
    options.scratchpad_bytes = scratchpad_bytes;
    options.max_iterations = max_iterations;
    sluice_plan_t* p = nullptr;
    status = sluice_schedule(context.get(), graph.get(), hardware.get(), &options, &p,
                             &diagnostic);
    return PlanPtr(p);
  }
  sluice_status_t Verify(const GraphPtr& graph, const HardwarePtr& hardware,
                         const PlanPtr& plan) {
    return status = sluice_verify(context.get(), graph.get(), hardware.get(),
                                  plan.get(), &diagnostic);
  }

  ContextPtr context;
  sluice_status_t status = SLUICE_OK;
  sluice_diagnostic_t diagnostic = EmptyDiagnostic();
};

inline std::vector<uint8_t> BytesOf(const PlanPtr& plan) {
  const void* bytes = nullptr;
  size_t size = 0;
  sluice_plan_bytes(plan.get(), &bytes, &size);
  const uint8_t* first = static_cast<const uint8_t*>(bytes);
  return std::vector<uint8_t>(first, first + size);
}

inline sluice_report_t ReportOf(const sluice_plan_t* plan) {
  sluice_report_t r;
  std::memset(&r, 0, sizeof r);
  r.struct_size = sizeof r;
  sluice_plan_report(plan, &r);
  return r;
}
inline sluice_report_t ReportOf(const PlanPtr& plan) { return ReportOf(plan.get()); }

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_LIBRARY_H_
