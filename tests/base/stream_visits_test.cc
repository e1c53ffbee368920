// SPDX-License-Identifier: Apache-2.0
// Visits of hand-made loops, and tables of loops that are refused.
#include "base/stream_visits.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace sluice {
namespace {

struct Listed {
  Status status;
  std::string what;
  std::vector<std::vector<uint32_t>> visits;  // instance, then indices
};

Listed VisitsOf(uint32_t instances, const std::vector<sluice_loop_t>& loops,
                uint64_t most = 1000) {
  sluice_stream_header_t header = {};
  header.instance_count = instances;
  header.loop_count = static_cast<uint32_t>(loops.size());
  header.loop_offset = sizeof header;
  std::vector<uint8_t> image(sizeof header + loops.size() * sizeof(sluice_loop_t));
  std::memcpy(image.data(), &header, sizeof header);
  if (!loops.empty()) {
    std::memcpy(image.data() + sizeof header, loops.data(),
                loops.size() * sizeof(sluice_loop_t));
  }
  sluice_allocator_t malloc_free = {};
  malloc_free.struct_size = sizeof malloc_free;
  malloc_free.allocate = [](void*, size_t bytes, size_t) { return std::malloc(bytes); };
  malloc_free.release = [](void*, void* p, size_t, size_t) { std::free(p); };
  Memory memory(malloc_free, 0);
  Arena arena(&memory);
  Span<sluice_visit_t> visits;
  const char* what = "";
  Listed out;
  out.status = ListVisits({image.data(), image.size()}, most, &arena, &visits, &what);
  if (out.status != Status::kOk) {
    out.what = what;
    return out;
  }
  for (const sluice_visit_t& v : visits) {
    out.visits.push_back({v.instance, v.index[0], v.index[1], v.index[2]});
  }
  return out;
}

TEST_CASE("stream visits: nested loops, a neighbour, and instances outside of loops") {
  using Visits = std::vector<std::vector<uint32_t>>;
  CHECK(VisitsOf(2, {}).visits == Visits{{0, 0, 0, 0}, {1, 0, 0, 0}});
  CHECK(VisitsOf(0, {}).visits.empty());
  // Instances 0 ( 1 ( 2 ) ( 3 ) ) 4: the outer loop runs twice, the loop of 2 twice,
  // the loop of 3 three times.
  const Listed l = VisitsOf(5, {{1, 3, 2, SLUICE_NONE}, {2, 2, 2, 0}, {3, 3, 3, 0}});
  CHECK(l.visits == Visits{{0, 0, 0, 0},
                           {1, 0, 0, 0},
                           {2, 0, 0, 0},
                           {2, 0, 1, 0},
                           {3, 0, 0, 0},
                           {3, 0, 1, 0},
                           {3, 0, 2, 0},
                           {1, 1, 0, 0},
                           {2, 1, 0, 0},
                           {2, 1, 1, 0},
                           {3, 1, 0, 0},
                           {3, 1, 1, 0},
                           {3, 1, 2, 0},
                           {4, 0, 0, 0}});
  // Three loops around one instance.
  CHECK(VisitsOf(1, {{0, 0, 2, SLUICE_NONE}, {0, 0, 2, 0}, {0, 0, 2, 1}}).visits[6] ==
        std::vector<uint32_t>{0, 1, 1, 0});
}

TEST_CASE("stream visits: loops that cross, come too late, or are too many") {
  const auto refused = [](const std::vector<sluice_loop_t>& loops) {
    const Listed l = VisitsOf(4, loops);
    CHECK(l.status == Status::kBadInput);
    CHECK(l.what == "the stream's loops are not nested or apart");
  };
  refused({{0, 2, 2, SLUICE_NONE}, {1, 3, 2, 0}});  // cross
  refused({{1, 2, 2, SLUICE_NONE}, {0, 0, 2, SLUICE_NONE}});
  refused({{2, 1, 2, SLUICE_NONE}});
  refused({{3, 4, 2, SLUICE_NONE}});  // beyond the last instance
  refused({{0, 0, 1, SLUICE_NONE}});
  refused(
      {{0, 0, 2, SLUICE_NONE}, {0, 0, 2, 0}, {0, 0, 2, 1}, {0, 0, 2, 2}});  // four deep
  CHECK(VisitsOf(1, {{0, 0, 1001, SLUICE_NONE}}).status == Status::kUnsupported);
  CHECK(VisitsOf(1, {{0, 0, 1000, SLUICE_NONE}}).status == Status::kOk);
  CHECK(VisitsOf(1, {{0, 0, 0xffffffffu, SLUICE_NONE}}).status == Status::kUnsupported);
}

}  // namespace
}  // namespace sluice
