// SPDX-License-Identifier: Apache-2.0
#include "plan/space/place_images.h"

#include "base/checked.h"
#include "base/sort.h"
#include "solve/placement/offsets/offsets.h"

namespace sluice {
namespace {

constexpr size_t kManyImages = 4096;                   // above, there is no search
constexpr uint64_t kNodes = 2000, kLastNodes = 20000;  // of the search for offsets
constexpr int kSearched = 3;                           // rounds that also search
constexpr int kRounds = 40, kLeanRounds = 4;           // of shortening leads
constexpr uint32_t kShortLead = 4;                     // positions

int64_t BytesOf(const SpaceImage& image) { return image.bytes * image.slots; }

// Again, AtLast: with an exact search, which is longer at last.
enum class Which : uint8_t { kAll, kAllAgain, kAllAtLast };

// Places images by their lifetimes. *lies: all end within the capacity; if not, some
// have offsets that reach above it.
Status PlaceTogether(const SpacePlan& plan, const PlaceCall& call, Which which,
                     Arena* scratch, bool* lies) {
  ArenaScope scope(scratch);
  Vector<LiveRange> ranges(scratch);
  for (const SpaceImage& image : plan.images) {
    LiveRange range;
    range.begin = image.from;
    range.end = int64_t{image.last} + 1;
    range.bytes = BytesOf(image);
    range.alignment = call.alignment;
    SLUICE_TRY(ranges.Push(range));
  }
  for (const SpaceSegment& segment : plan.segments) {
    if (segment.alone_bytes == 0) continue;
    LiveRange range;
    range.begin = segment.first;
    range.end = segment.last;
    range.bytes = segment.alone_bytes;
    range.fixed_offset = 0;
    SLUICE_TRY(ranges.Push(range));
  }
  OffsetOptions options;
  options.exact = which != Which::kAll && !call.lean;
  options.swaps = !call.lean;
  options.max_nodes = which == Which::kAllAtLast ? kLastNodes : kNodes;
  OffsetPlan placed;
  Diagnostic ignored = {};
  const Status status = PlacePlain(ranges.span(), call.capacity, options,
                                   Workspace{call.budget, scratch, &ignored}, &placed);
  *lies = status == Status::kOk;
  const bool tried = status == Status::kStopped || status == Status::kInfeasible;
  if (!*lies && !tried) return status;
  for (size_t i = 0; i < plan.images.size(); ++i) {
    plan.images[i].offset = placed.offsets.empty() ? call.capacity : placed.offsets[i];
  }
  return Status::kOk;
}

// Bytes of an image that is placed, and the position from which they are free.
struct Taken {
  int64_t begin, end;
  uint32_t until;
};

// Places images in the order in which they begin, each at the lowest bytes that are free.
// This takes much less time than PlaceTogether, where many images meet. Those that end above
// the capacity leave their bytes to others. *lies as there.
Status PlaceInTurn(const SpacePlan& plan, const PlaceCall& call, Arena* scratch,
                   bool* lies) {
  ArenaScope scope(scratch);
  Span<uint32_t> order;
  Span<Taken> taken;  // by address
  SLUICE_TRY(scratch->Allocate(plan.images.size(), &order));
  SLUICE_TRY(scratch->Allocate(plan.images.size(), &taken));
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  Sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const SpaceImage &x = plan.images[a], &y = plan.images[b];
    if (x.from != y.from) return x.from < y.from;
    return BytesOf(x) != BytesOf(y) ? BytesOf(x) > BytesOf(y) : a < b;
  });
  Vector<SpaceSegment> alone(scratch);
  for (const SpaceSegment& segment : plan.segments) {
    if (segment.alone_bytes != 0) SLUICE_TRY(alone.Push(segment));
  }
  size_t count = 0;
  *lies = true;
  for (const uint32_t i : order) {
    if (call.budget->Tick()) return Status::kStopped;
    SpaceImage* const image = &plan.images[i];
    int64_t at = 0;
    for (const SpaceSegment& segment : alone.span()) {
      const bool meets = image->from < segment.last && segment.first <= image->last;
      if (meets) at = Max(at, RoundUpTo(segment.alone_bytes, call.alignment));
    }
    size_t kept = 0, below = 0;
    bool found = false;
    for (size_t k = 0; k < count; ++k) {
      const Taken t = taken[k];
      if (t.until <= image->from) continue;
      found = found || t.begin >= at + BytesOf(*image);
      if (!found) at = Max(at, RoundUpTo(t.end, call.alignment));
      taken[kept++] = t;
      if (!found) below = kept;
    }
    count = kept;
    image->offset = at;
    if (at + BytesOf(*image) > call.capacity) {
      *lies = false;
      continue;
    }
    for (size_t k = count++; k > below; --k) taken[k] = taken[k - 1];
    taken[below] = {at, at + BytesOf(*image), image->last + 1};
  }
  return Status::kOk;
}

// Adds to `slack` for each image that ends above the capacity: at those positions of
// its life where most bytes are in use, or nearly as many. How far above the capacity
// the image ends says little about what is in its way.
Status AskForSlack(const SpacePlan& plan, const PlaceCall& call, Arena* scratch) {
  ArenaScope scope(scratch);
  Span<int64_t> level;  // by position: bytes in use
  Span<uint8_t> crowded;
  SLUICE_TRY(scratch->Allocate(call.slack.size() + 1, &level));
  SLUICE_TRY(scratch->Allocate(call.slack.size(), &crowded));
  for (const SpaceImage& image : plan.images) {
    level[image.first] += BytesOf(image);
    level[image.last + 1] -= BytesOf(image);
  }
  for (size_t p = 1; p < level.size(); ++p) level[p] += level[p - 1];
  for (const SpaceImage& image : plan.images) {
    if (image.offset + BytesOf(image) <= call.capacity) continue;
    int64_t fullest = 0;
    for (uint32_t p = image.first; p <= image.last; ++p) {
      fullest = Max(fullest, level[p]);
    }
    for (uint32_t p = image.first; p <= image.last; ++p) {
      if (level[p] + call.more > fullest) crowded[p] = 1;
    }
  }
  for (size_t p = 0; p < crowded.size(); ++p) {
    if (crowded[p] == 0) continue;
    call.slack[p] = Min(call.slack[p] + call.more, call.capacity / 2);
  }
  return Status::kInfeasible;
}

void Shorten(SpaceImage* image) {
  image->from = image->first - (image->first - image->from) / 2;
}

// Shortens the lead of each image that ends above the capacity or, if it has none, of
// the largest image that is loaded ahead during its life. False if there is no lead to
// shorten.
bool ShortenLeads(const SpacePlan& plan, int64_t capacity) {
  bool shorter = false;
  for (SpaceImage& image : plan.images) {
    if (image.offset + BytesOf(image) <= capacity) continue;
    SpaceImage* victim = image.from < image.first ? &image : nullptr;
    for (SpaceImage& other : plan.images) {
      if (image.from < image.first) break;
      const bool meets = other.from <= image.last && image.first < other.first;
      if (other.from == other.first || !meets) continue;
      if (victim == nullptr || BytesOf(other) > BytesOf(*victim)) victim = &other;
    }
    if (victim == nullptr) continue;
    Shorten(victim);
    shorter = true;
  }
  return shorter;
}

// PlaceTogether; keeps the present offsets if it finds none.
Status Search(const SpacePlan& plan, const PlaceCall& call, Which which, Arena* scratch,
              bool* lies) {
  ArenaScope scope(scratch);
  Span<int64_t> offsets;
  SLUICE_TRY(scratch->Allocate(plan.images.size(), &offsets));
  for (size_t i = 0; i < offsets.size(); ++i) offsets[i] = plan.images[i].offset;
  const Status status = PlaceTogether(plan, call, which, scratch, lies);
  // A search that runs out of memory has found nothing.
  if (status != Status::kOutOfMemory) SLUICE_TRY(status);
  *lies = *lies && status == Status::kOk;
  for (size_t i = 0; i < offsets.size() && !*lies; ++i) {
    plan.images[i].offset = offsets[i];
  }
  return Status::kOk;
}

// Whether none of `taken` has bytes of [begin, end).
bool IsFree(Span<const Taken> taken, int64_t begin, int64_t end) {
  for (const Taken& t : taken) {
    if (t.begin < end && begin < t.end) return false;
  }
  return true;
}

// The first position from which [begin, end) is free, of images that end before. They
// are in falling order of that position, so the first that lies there decides.
uint32_t FreeFrom(Span<const Taken> ended, int64_t begin, int64_t end) {
  for (const Taken& t : ended) {
    if (t.begin < end && begin < t.end) return t.until;
  }
  return 0;
}

// Moves images that are loaded to bytes that are free for longer, if there are any.
Status LoadEarlier(const SpacePlan& plan, const PlaceCall& call, Arena* scratch) {
  // Images are compared in pairs; bytes of layers that are alone are not considered.
  if (plan.images.size() > kManyImages) return Status::kInfeasible;
  for (const SpaceSegment& segment : plan.segments) {
    if (segment.alone_bytes != 0) return Status::kInfeasible;
  }
  ArenaScope scope(scratch);
  Vector<uint32_t> near(scratch);
  Vector<Taken> live(scratch), ended(scratch);
  constexpr uint32_t kFar = 40;  // positions; bytes unused for longer gain nothing
  for (uint32_t i = 0; i < plan.images.size(); ++i) {
    SpaceImage* image = &plan.images[i];
    if (!image->load) continue;
    if (call.budget->Exhausted()) return Status::kStopped;
    near.Truncate(0);
    live.Truncate(0);
    ended.Truncate(0);
    for (uint32_t k = 0; k < plan.images.size(); ++k) {
      const SpaceImage& other = plan.images[k];
      const bool before = other.last + kFar < image->first;
      if (k == i || before || other.first > image->last) continue;
      SLUICE_TRY(near.Push(k));
      const Taken taken = {other.offset, other.offset + BytesOf(other), other.last + 1};
      SLUICE_TRY((other.last >= image->first ? live : ended).Push(taken));
    }
    Sort(ended.data(), ended.data() + ended.size(),
         [](const Taken& a, const Taken& b) { return a.until > b.until; });
    uint32_t best = kNone;
    int64_t at = image->offset;
    const auto consider = [&](int64_t offset) {
      const int64_t end = offset + BytesOf(*image);
      if (offset < 0 || end > call.capacity) return;
      if (best == 0 || !IsFree(live.span(), offset, end)) return;
      const uint32_t from = FreeFrom(ended.span(), offset, end);
      if (from >= best) return;
      best = from;
      at = offset;
    };
    consider(image->offset);
    for (const uint32_t k : near.span()) {
      const SpaceImage& other = plan.images[k];
      consider(RoundUpTo(other.offset + BytesOf(other), call.alignment));
      consider((other.offset - BytesOf(*image)) / call.alignment * call.alignment);
    }
    image->offset = at;
  }
  return Status::kOk;
}

// Searches for offsets in the first rounds, while leads are long, and at the end. In
// between, the heuristic placement shows which leads are too long better than a search
// that was cut short.
Status PlaceByLeads(const SpacePlan& plan, const PlaceCall& call, Arena* scratch) {
  bool lies = false, longer = true;
  for (int round = 0; longer; ++round) {
    if (call.in_turn) SLUICE_TRY(PlaceInTurn(plan, call, scratch, &lies));
    if (!call.first && !lies) {
      SLUICE_TRY(PlaceTogether(plan, call, Which::kAll, scratch, &lies));
    }
    if (lies) return Status::kOk;
    if (call.budget->Exhausted()) return Status::kStopped;
    if (round < kSearched && !call.lean) {
      SLUICE_TRY(Search(plan, call, Which::kAllAgain, scratch, &lies));
    }
    if (lies) return Status::kOk;
    longer = round < (call.lean ? kLeanRounds : kRounds) &&
             ShortenLeads(plan, call.capacity);
  }
  SLUICE_TRY(Search(plan, call, Which::kAllAtLast, scratch, &lies));
  // In the end leads are short, then 0. Loads may still be moved ahead later, where the
  // bytes at these offsets are free earlier.
  for (uint32_t most = kShortLead; !lies; most /= 2) {
    for (SpaceImage& image : plan.images) {
      image.from = Max(image.from, image.first - Min(image.first, most));
    }
    SLUICE_TRY(Search(plan, call, Which::kAllAtLast, scratch, &lies));
    if (most == 0) break;
  }
  return lies ? Status::kOk : AskForSlack(plan, call, scratch);
}

}  // namespace

Status PlaceImages(const SpacePlan& plan, const PlaceCall& call, PlaceOrder order,
                   Arena* scratch) {
  switch (order) {
    case PlaceOrder::kByLeads:
      return PlaceByLeads(plan, call, scratch);
    case PlaceOrder::kEarlier:
      return LoadEarlier(plan, call, scratch);
  }
  return Status::kInfeasible;
}

}  // namespace sluice
