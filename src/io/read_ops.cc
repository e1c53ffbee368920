// SPDX-License-Identifier: Apache-2.0
#include "io/read_ops.h"

#include "base/checked.h"
#include "io/wire.h"
#include "model/ops/traits.h"
#include "sluice/hardware_generated.h"

namespace sluice {
namespace {

constexpr char kStage[] = "hardware";
constexpr uint32_t kDtypes = (1u << SLUICE_DTYPE_COUNT) - 2;
constexpr uint64_t kMost = uint64_t{1} << 40;  // of a rate, and of a call's cycles

// A field of a row: its value where the row does not set it, and the bits that are
// allowed.
struct Field {
  uint32_t otherwise, known;
  char name[16];
};
constexpr uint32_t kAny = 0xffffffff;
constexpr Field kFields[kOpFields] = {
    {0, kAny, "op"},           {1, 7, "arithmetic"},    {kDtypes, kDtypes, "dtypes"},
    {7, 7, "requantise"},      {7, 7, "zero_points"},   {0, kAny, "max_kernel_h"},
    {0, kAny, "max_kernel_w"}, {0, kAny, "max_stride"}, {0, kAny, "max_dilation"}};

// True if the value of field f has no meaning: an operator that engines do not do,
// undefined bits, an empty set, or limits of a window for an operator without one.
bool IsWrong(const OpTraits& traits, uint32_t f, uint32_t value) {
  const bool slides =
      traits.window != WindowRule::kNoWindow && traits.window != WindowRule::kPads;
  const bool multiplies = traits.quantities.multiplier != kNoScales;
  if (f == kOpOperator) {
    return traits.kind != LayerKind::kCompute && traits.kind != LayerKind::kGather;
  }
  if (f >= kOpKernelH) return value != 0 && !slides;
  const bool needed = f != kOpZeroPoints && (f != kOpRequantise || multiplies);
  return (value & ~kFields[f].known) != 0 || (value == 0 && needed);
}

Status ReadRow(const wire::OpSupport* in, uint32_t index, OpSupport* out,
               Diagnostic* diagnostic) {
  const auto* table = reinterpret_cast<const flatbuffers::Table*>(in);
  // A code above 16 bits becomes 0xffff, which is no operator.
  const OpTraits& traits = TraitsOf(static_cast<uint16_t>(Min(in->op(), 0xffffu)));
  for (uint32_t f = 0; f < kOpFields; ++f) {
    const uint32_t value = table->GetField<uint32_t>(
        static_cast<flatbuffers::voffset_t>(4 + 2 * f), kFields[f].otherwise);
    if (IsWrong(traits, f, value)) {
      return Fail(diagnostic, Status::kBadInput, kStage)
          .Say("row # of ops: ", index)
          .Text(kFields[f].name)
          .Say(" cannot be #", value);
    }
    out->field[f] = value;
  }
  return Status::kOk;
}

Status ReadHost(const wire::Host* in, Host* out, Diagnostic* diagnostic) {
  *out = {};
  if (in == nullptr) return Status::kOk;
  if (in->call_cycles() > kMost || !(in->pj_per_cycle() >= 0) ||
      in->pj_per_cycle() >= 1e12) {
    return Fail(diagnostic, Status::kBadInput, kStage)
        .Text("host: call_cycles or pj_per_cycle is out of range");
  }
  out->there = true;
  out->call_cycles = static_cast<int64_t>(in->call_cycles());
  out->pj_per_cycle = in->pj_per_cycle();
  out->uses_port = in->uses_port();
  SLUICE_TRY(ReadBandwidth(in->bytes_per_cycle_numerator(),
                           in->bytes_per_cycle_denominator(), "host: bytes_per_cycle",
                           &out->bytes_per_cycle, diagnostic));
  return ReadBandwidth(in->ops_per_cycle_numerator(), in->ops_per_cycle_denominator(),
                       "host: ops_per_cycle", &out->ops_per_cycle, diagnostic);
}

}  // namespace

Status ReadOps(const wire::Hardware* in, Arena* arena, Hardware* hardware,
               Diagnostic* diagnostic) {
  SLUICE_TRY(ReadHost(in->host(), &hardware->host, diagnostic));
  hardware->ops = {};
  if (in->ops() == nullptr) return Status::kOk;
  const uint32_t n = in->ops()->size();
  if (n == 0 || n > kMaxOps) {
    return Fail(diagnostic, Status::kBadInput, kStage)
        .Say("ops must have 1 to 256 rows, not #", n);
  }
  Span<OpSupport> ops;
  SLUICE_TRY(arena->Allocate(n, &ops));
  for (uint32_t i = 0; i < n; ++i) {
    SLUICE_TRY(ReadRow(in->ops()->Get(i), i, &ops[i], diagnostic));
  }
  hardware->ops = ops;
  return Status::kOk;
}

}  // namespace sluice
