// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include <algorithm>

namespace sluice_sim {
namespace {

// Values of a byte's shadow; 0: undefined.
constexpr uint8_t kDefined = 1;
constexpr uint8_t kFresh = 2;  // written since the scratchpad was last handed over

const char* const kRegionNames[SLUICE_REGION_COUNT] = {"gbuf",   "const", "input",
                                                       "output", "state", "workspace"};

Extent ExtentOf(const sluice_walk_operand_t& o) {
  return {o.extent[0], o.extent[1], o.extent[2], o.extent[3]};
}
Extent StrideOf(const sluice_walk_operand_t& o) {
  return {o.stride[0], o.stride[1], o.stride[2], o.stride[3]};
}

// True if strides are nested, so that all elements have different addresses.
bool IsInjective(const sluice_walk_operand_t& o) {
  int order[4] = {0, 1, 2, 3};
  std::sort(order, order + 4, [&](int a, int b) { return o.stride[a] < o.stride[b]; });
  uint64_t span = static_cast<uint64_t>(DtypeBytes(static_cast<int>(o.dtype)));
  for (int a : order) {
    if (o.extent[a] == 1) continue;
    if (o.stride[a] < span) return false;
    span += static_cast<uint64_t>(o.extent[a] - 1) * o.stride[a];
  }
  return true;
}

}  // namespace

Memory::Memory(uint32_t nodes, const uint64_t* region_bytes, bool functional)
    : nodes_(nodes),
      sizes_(nodes, region_bytes[SLUICE_REGION_GBUF]),
      bytes_(nodes + SLUICE_REGION_COUNT - 1),
      shadow_(nodes + SLUICE_REGION_COUNT - 1) {
  sizes_.insert(sizes_.end(), region_bytes + 1, region_bytes + SLUICE_REGION_COUNT);
  if (!functional) return;
  for (size_t s = 0; s < sizes_.size(); ++s) {
    bytes_[s].assign(static_cast<size_t>(sizes_[s]), 0xa5);
    shadow_[s].assign(static_cast<size_t>(sizes_[s]), 0);
  }
}

std::string Memory::SpaceName(uint32_t space) const {
  if (space >= nodes_) return kRegionNames[space - nodes_ + 1];
  return "gbuf of node " + std::to_string(space);
}

Trap Memory::Check(const Access& access) const {
  const sluice_walk_operand_t& o = access.operand;
  const std::string who = std::string(access.role) + " in " + SpaceName(access.space);
  if (o.offset > sizes_[access.space] || o.span > sizes_[access.space] - o.offset) {
    return {"bounds", who + ": bytes [" + std::to_string(o.offset) + ", " +
                          std::to_string(o.offset + o.span) + ") of " +
                          std::to_string(sizes_[access.space])};
  }
  const uint64_t element = static_cast<uint64_t>(DtypeBytes(static_cast<int>(o.dtype)));
  bool aligned = o.offset % element == 0;
  for (int a = 0; a < 4; ++a) {
    if (o.extent[a] > 1 && o.stride[a] % element != 0) aligned = false;
  }
  if (!aligned) return {"alignment", who + ": elements not at multiples of their size"};
  if (!access.write) return {};
  if (o.region == SLUICE_REGION_CONST || o.region == SLUICE_REGION_INPUT) {
    return {"readonly", who + " is written"};
  }
  if (!IsInjective(o)) return {"overlap", who + ": the box writes a byte twice"};
  return {};
}

Trap Memory::CheckDefined(const Access& access) {
  const sluice_walk_operand_t& o = access.operand;
  uint8_t* shadow = shadow_[access.space].data();
  uint64_t bad = UINT64_MAX;
  ForEachRun(ExtentOf(o), StrideOf(o), DtypeBytes(static_cast<int>(o.dtype)),
             shadow + o.offset, [&](const uint8_t* p, int64_t bytes) {
               if (bad != UINT64_MAX) return;
               const void* hole = std::memchr(p, 0, static_cast<size_t>(bytes));
               if (hole != nullptr) {
                 bad =
                     static_cast<uint64_t>(static_cast<const uint8_t*>(hole) - shadow);
               }
             });
  if (bad == UINT64_MAX) return {};
  return {"undefined", std::string(access.role) + " in " + SpaceName(access.space) +
                           ": byte " + std::to_string(bad) + " was never written"};
}

Box Memory::At(const Access& access) {
  const sluice_walk_operand_t& o = access.operand;
  return Box{bytes_[access.space].data() + o.offset, static_cast<int>(o.dtype),
             ExtentOf(o), StrideOf(o)};
}

void Memory::Define(uint32_t space, uint64_t begin, uint64_t end) {
  std::fill(shadow_[space].begin() + static_cast<std::ptrdiff_t>(begin),
            shadow_[space].begin() + static_cast<std::ptrdiff_t>(end), kFresh);
}

void Memory::Define(const Access& access) {
  const sluice_walk_operand_t& o = access.operand;
  ForEachRun(ExtentOf(o), StrideOf(o), DtypeBytes(static_cast<int>(o.dtype)),
             shadow_[access.space].data() + o.offset, [](uint8_t* p, int64_t bytes) {
               std::memset(p, kFresh, static_cast<size_t>(bytes));
             });
}

void Memory::HandOver(Memory* next, const std::vector<Memory*>& others) {
  std::vector<uint8_t>& mine = shadow_[0];
  for (size_t b = 0; b < mine.size(); ++b) {
    if (mine[b] != kFresh) continue;
    mine[b] = kDefined;
    for (Memory* other : others) {
      if (other != this) other->shadow_[0][b] = 0;
    }
  }
  if (next != this) bytes_[0].swap(next->bytes_[0]);
}

bool Overlap(const Access& a, const Access& b) {
  const sluice_walk_operand_t& x = a.operand;
  const sluice_walk_operand_t& y = b.operand;
  if (a.space != b.space) return false;
  const uint64_t begin = std::max(x.offset, y.offset);
  const uint64_t end = std::min(x.offset + x.span, y.offset + y.span);
  if (begin >= end) return false;
  if (x.bytes == x.span && IsInjective(x) && y.bytes == y.span && IsInjective(y)) {
    return true;  // both are contiguous, so they share bytes
  }
  // Mark the bytes of x in the common range, then look for marked bytes of y.
  std::vector<uint8_t> mark(static_cast<size_t>(end - begin), 0);
  bool found = false;
  auto visit = [&](const sluice_walk_operand_t& o, bool set) {
    const Extent extent = ExtentOf(o), stride = StrideOf(o);
    const int64_t element = DtypeBytes(static_cast<int>(o.dtype));
    for (int64_t i = 0; i < extent[0]; ++i) {
      for (int64_t j = 0; j < extent[1]; ++j) {
        for (int64_t k = 0; k < extent[2]; ++k) {
          for (int64_t l = 0; l < extent[3] && !found; ++l) {
            const uint64_t at =
                o.offset + static_cast<uint64_t>(i * stride[0] + j * stride[1] +
                                                 k * stride[2] + l * stride[3]);
            const uint64_t to = std::min(end, at + static_cast<uint64_t>(element));
            for (uint64_t p = std::max(begin, at); p < to; ++p) {
              if (set) {
                mark[p - begin] = 1;
              } else if (mark[p - begin] != 0) {
                found = true;
              }
            }
          }
        }
      }
    }
  };
  visit(x, true);
  visit(y, false);
  return found;
}

}  // namespace sluice_sim
