// SPDX-License-Identifier: Apache-2.0
// A convolution and machines for a library without any component.
#ifndef SLUICE_TESTS_ABSENT_BARE_H_
#define SLUICE_TESTS_ABSENT_BARE_H_

#include <doctest/doctest.h>

#include <string>

#include "sluice/experimental.h"
#include "support/array_machine.h"
#include "support/library.h"
#include "support/stream_builder.h"

namespace sluice_test {

struct Bare {
  Library library;
  GraphPtr graph = library.Graph(ConvCase().Graph());
  HardwarePtr plain = library.Hardware(ConvCase().Hardware());
  HardwarePtr mapped = library.Hardware(ArrayMachine(4));
  HardwarePtr mesh = library.Hardware(ArrayMachine(4, 2));

  sluice_context_t* context() const { return library.context.get(); }
  sluice_diagnostic_t* why() { return &library.diagnostic; }

  void CheckAbsent(sluice_status_t status, const std::string& message) {
    CHECK(status == SLUICE_UNSUPPORTED);
    CHECK(std::string(library.diagnostic.stage) == "components");
    CHECK(std::string(library.diagnostic.message) == message);
  }
};

}  // namespace sluice_test

#endif  // SLUICE_TESTS_ABSENT_BARE_H_
