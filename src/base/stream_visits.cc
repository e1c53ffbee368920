// SPDX-License-Identifier: Apache-2.0
#include "base/stream_visits.h"

#include <string.h>

namespace sluice {
namespace {

struct Loops {
  Span<const uint8_t> image;
  uint32_t count, offset, instances;

  sluice_loop_t At(uint32_t l) const {
    sluice_loop_t loop;
    memcpy(&loop, image.data() + offset + size_t{l} * sizeof loop, sizeof loop);
    return loop;
  }
};

// True if the loops are sorted by their first instance, any two are nested or disjoint,
// and each has at least two iterations.
bool AreSound(const Loops& loops) {
  sluice_loop_t open[SLUICE_MAX_LOOPS];
  uint32_t depth = 0, first = 0;
  for (uint32_t l = 0; l < loops.count; ++l) {
    const sluice_loop_t loop = loops.At(l);
    while (depth > 0 && open[depth - 1].last < loop.first) --depth;
    if (loop.first < first || loop.first > loop.last || loop.last >= loops.instances ||
        loop.count < 2 || depth == SLUICE_MAX_LOOPS ||
        (depth > 0 && loop.last > open[depth - 1].last)) {
      return false;
    }
    first = loop.first;
    open[depth++] = loop;
  }
  return true;
}

// Counts the visits of the instances and lists them in the order of execution, with a
// stack of the loops that are open.
class Unroll {
 public:
  Unroll(const Loops& loops, Span<sluice_visit_t> out) : loops_(loops), out_(out) {}

  uint64_t visits() const { return visits_; }
  // Stops counting beyond `most`; writes as many visits as `out` has room for.
  void Run(uint64_t most) {
    uint32_t next = 0, i = 0;
    while (i < loops_.instances && visits_ <= most) {
      while (next < loops_.count && loops_.At(next).first == i) {
        open_[depth_] = {loops_.At(next), next + 1, 0};
        ++depth_;
        ++next;
      }
      if (visits_ < out_.size()) {
        sluice_visit_t* visit = &out_[static_cast<size_t>(visits_)];
        *visit = {};
        visit->instance = i;
        for (uint32_t d = 0; d < depth_; ++d) visit->index[d] = open_[d].done;
      }
      ++visits_;
      ++i;
      while (depth_ > 0 && open_[depth_ - 1].loop.last + 1 == i) {
        Open& top = open_[depth_ - 1];
        if (++top.done < top.loop.count) {
          i = top.loop.first;
          next = top.inside;
          break;
        }
        --depth_;
      }
    }
  }

 private:
  struct Open {
    sluice_loop_t loop;
    uint32_t inside;  // table index of the next loop, perhaps an inner one
    uint32_t done;    // iterations completed
  };
  const Loops& loops_;
  Span<sluice_visit_t> out_;
  Open open_[SLUICE_MAX_LOOPS];
  uint32_t depth_ = 0;
  uint64_t visits_ = 0;
};

}  // namespace

Status ListVisits(Span<const uint8_t> image, uint64_t most, Arena* arena,
                  Span<sluice_visit_t>* visits, const char** what) {
  sluice_stream_header_t h;
  memcpy(&h, image.data(), sizeof h);
  const Loops loops = {image, h.loop_count, h.loop_offset, h.instance_count};
  *what = "a table of the stream lies outside the image";
  if (h.loop_count != 0 &&
      (h.loop_offset > image.size() ||
       h.loop_count > (image.size() - h.loop_offset) / sizeof(sluice_loop_t))) {
    return Status::kBadInput;
  }
  *what = "the stream's loops are not nested or apart";
  if (!AreSound(loops)) return Status::kBadInput;
  *what = "the stream's loops have too many visits";
  Unroll count(loops, {});
  count.Run(most);
  if (count.visits() > most) return Status::kUnsupported;
  *what = "no memory left for the stream's visits";
  SLUICE_TRY(arena->Allocate(static_cast<size_t>(count.visits()), visits));
  Unroll(loops, *visits).Run(most);
  return Status::kOk;
}

}  // namespace sluice
