// SPDX-License-Identifier: Apache-2.0
#include "model/graph.h"

namespace sluice {

const char* OpName(uint16_t op) {
  switch (op) {
#define SLUICE_CASE(constant, code, name) \
  case code:                              \
    return name;
    SLUICE_OPS(SLUICE_CASE)
#undef SLUICE_CASE
    default:
      return "unknown";
  }
}

const char* DtypeName(uint8_t dtype) {
  switch (dtype) {
#define SLUICE_CASE(constant, code, bytes, name) \
  case code:                                     \
    return name;
    SLUICE_DTYPES(SLUICE_CASE)
#undef SLUICE_CASE
    default:
      return "unknown";
  }
}

uint32_t DtypeBytes(uint8_t dtype) {
  switch (dtype) {
#define SLUICE_CASE(constant, code, bytes, name) \
  case code:                                     \
    return bytes;
    SLUICE_DTYPES(SLUICE_CASE)
#undef SLUICE_CASE
    default:
      return 0;
  }
}

}  // namespace sluice
