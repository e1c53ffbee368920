// SPDX-License-Identifier: Apache-2.0
// A run of bytes: a file's content, a graph, a descriptor.
#ifndef SLUICE_IMPORT_BYTES_H_
#define SLUICE_IMPORT_BYTES_H_

#include <cstdint>
#include <vector>

namespace sluice::import {

using Bytes = std::vector<uint8_t>;

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_BYTES_H_
