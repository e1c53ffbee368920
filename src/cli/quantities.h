// SPDX-License-Identifier: Apache-2.0
// Quantities as people type them: 64K, 1M, 50ms.
//
// Output   false when the text is no quantity or its value does not fit 64 bits
#ifndef SLUICE_CLI_QUANTITIES_H_
#define SLUICE_CLI_QUANTITIES_H_

#include <cstdint>
#include <string>

namespace sluice::cli {

// A number and nothing, B, K, KB, KiB, M, MB, MiB, G, GB, GiB; K is 1024.
bool ParseBytes(const std::string& text, uint64_t* bytes);
// A number (decimals allowed) and ns, us, ms or s; no unit means ms.
bool ParseDuration(const std::string& text, uint64_t* nanoseconds);

}  // namespace sluice::cli

#endif  // SLUICE_CLI_QUANTITIES_H_
