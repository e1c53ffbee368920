// SPDX-License-Identifier: Apache-2.0
// Multiplications that functions of the host do in the place of units.
//
// Input    graph.fbs bytes, untrusted
// Output   MACs of the OPAQUE layers that the importers make of convolutions, matrix products
//          and recurrent operators; of other OPAQUE layers nothing is known, and they count 0
#ifndef SLUICE_CLI_HOST_PRODUCTS_H_
#define SLUICE_CLI_HOST_PRODUCTS_H_

#include <cstdint>

#include "cli/files.h"

namespace sluice::cli {

uint64_t HostProducts(const Bytes& graph);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_HOST_PRODUCTS_H_
