/* SPDX-License-Identifier: Apache-2.0 */
/* Includes only the public headers, in C and C++. */
#include "sluice/build.h"
#include "sluice/experimental.h"
#include "sluice/import.h"
#include "sluice/layers.h"
#include "sluice/lowering.h"
#include "sluice/machine.h"
#include "sluice/ops.h"
#include "sluice/place.h"
#include "sluice/presets.h"
#include "sluice/schedule.h"
#include "sluice/sluice.h"
#include "sluice/stream.h"
#include "sluice/zoo.h"

#ifdef __cplusplus
#define SLUICE_ASSERT_SIZE(type, bytes) static_assert(sizeof(type) == (bytes), #type)
#else
#define SLUICE_ASSERT_SIZE(type, bytes) \
  extern int sluice_size_of_##type[sizeof(type) == (bytes) ? 1 : -1]
#endif

SLUICE_ASSERT_SIZE(sluice_stream_header_t, 176);
SLUICE_ASSERT_SIZE(sluice_block_t, 96);
SLUICE_ASSERT_SIZE(sluice_instance_t, 16);
SLUICE_ASSERT_SIZE(sluice_binding_t, 16);
SLUICE_ASSERT_SIZE(sluice_kernel_t, 16);
SLUICE_ASSERT_SIZE(sluice_instruction_t, 16);
SLUICE_ASSERT_SIZE(sluice_wait_t, 8);
SLUICE_ASSERT_SIZE(sluice_loop_t, 16);
SLUICE_ASSERT_SIZE(sluice_shape_t, 32);
SLUICE_ASSERT_SIZE(sluice_operand_t, 16);
SLUICE_ASSERT_SIZE(sluice_transfer_t, 32);
SLUICE_ASSERT_SIZE(sluice_tile_t, 64);
SLUICE_ASSERT_SIZE(sluice_host_call_t, 32);
