// SPDX-License-Identifier: Apache-2.0
// Contents beside a memory that is written down byte by byte.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "box_bytes.h"
#include "judged_case.h"
#include "verify/contents.h"

namespace sluice_test {
namespace {

using sluice::kNone;
using sluice::Status;
using sluice::judge::Box;
using sluice::judge::Contents;
using sluice::judge::Frame;
using sluice::judge::Part;

constexpr uint32_t kEngines = 3;
constexpr int64_t kBytes = 96;

using Element = std::array<int64_t, 4>;

struct Byte {
  bool written = false;
  uint32_t root = 0, engine = kNone, position = 0;
  Element element = {};
  int64_t within = 0;  // byte of its element
  int64_t width = 0;
  std::set<std::pair<uint32_t, uint32_t>> readers;  // since it was written
};

// An axis-parallel box of elements of a root, and where it lies.
struct Place {
  uint32_t root;
  int64_t width, base;
  int64_t origin[4], extent[4], stride[4];

  Box AsBox(const int64_t* twin) const {
    Box box = Box::At(base, 0, width);
    for (int a = 0; a < 4; ++a) box.Add(extent[a], stride[a], twin[a]);
    return box;
  }
  Part AsPart() const {
    Part part = {root, width, {}, {}, base, {}};
    for (int a = 0; a < 4; ++a) {
      part.origin[a] = origin[a];
      part.extent[a] = extent[a];
      part.twin_stride[a] = extent[a] > 1 ? stride[a] : 0;
    }
    return part;
  }
  int64_t end() const {
    int64_t last = base + width;
    for (int a = 0; a < 4; ++a) last += (extent[a] - 1) * stride[a];
    return last;
  }
  // f(address, element) for each element.
  template <typename F>
  void ForEach(F f) const {
    Element i = {};
    for (i[0] = 0; i[0] < extent[0]; ++i[0]) {
      for (i[1] = 0; i[1] < extent[1]; ++i[1]) {
        for (i[2] = 0; i[2] < extent[2]; ++i[2]) {
          for (i[3] = 0; i[3] < extent[3]; ++i[3]) {
            int64_t at = base;
            Element element;
            for (size_t a = 0; a < 4; ++a) {
              at += i[a] * stride[a];
              element[a] = origin[a] + i[a];
            }
            f(at, element);
          }
        }
      }
    }
  }
};

// A place whose strides nest, on axes in any order.
Place RandomPlace(sluice::Rng* rng, uint32_t root, int64_t width) {
  Place p = {root, width, 0, {}, {1, 1, 1, 1}, {}};
  int order[4] = {0, 1, 2, 3};
  for (uint32_t i = 4; i > 1; --i) std::swap(order[i - 1], order[rng->Below(i)]);
  int64_t next = width;
  const uint32_t dims = rng->Below(4);
  for (uint32_t d = 0; d < dims; ++d) {
    const int a = order[d];
    p.extent[a] = 1 + rng->Below(4);
    p.stride[a] = next + (rng->Below(2) == 0 ? 0 : width * rng->Below(4));
    next = p.stride[a] * p.extent[a];
    p.origin[a] = rng->Below(5);
  }
  const int64_t room = (kBytes - p.end()) / width;
  if (room < 0) return RandomPlace(rng, root, width);
  p.base = width * rng->Below(static_cast<uint32_t>(room + 1));
  return p;
}

// Engines that wait for each other, so that the clocks say what is ordered.
struct Machine {
  Machine(uint32_t seed, bool dram, uint32_t dram_engines) : rng(seed) {
    judge.stream.nodes = 1;
    judge.stream.visits = {&visit, 1};
    judge.stream.first_debug = {&first, 1};
    judge.stream.dram_engines = dram_engines;
    judge.stream.region_limit[SLUICE_REGION_GBUF] = kBytes;
    one_engine = dram && dram_engines == 1;
    memory = dram ? 1 + SLUICE_REGION_WORKSPACE : 0;
    waits = 2 + rng.Below(12);
    last.assign(kEngines, {});
    bytes.resize(kBytes);
  }
  // The next instruction of some engine, which may wait for one of another.
  void Step(Contents* contents) {
    const uint32_t e = one_engine ? 0 : rng.Below(kEngines);
    std::array<uint32_t, kEngines> clock = last[e];
    for (uint32_t other = 0; other < kEngines; ++other) {
      if (other == e || rng.Below(waits) == 0) continue;
      const std::array<uint32_t, kEngines>& known = last[other];
      for (uint32_t c = 0; c < kEngines; ++c) clock[c] = std::max(clock[c], known[c]);
      clock[other] = std::max(clock[other], position[other]);
    }
    last[e] = clock;
    step = {0, 0, e, ++position[e]};
    EnterStep(contents, step, last[e].data());
  }
  bool Before(uint32_t engine, uint32_t at) const {
    if (engine == kNone) return true;
    return engine == step.engine ? at < step.position : last[step.engine][engine] >= at;
  }

  OwnJudge own;
  sluice::judge::Judge& judge = own.judge;
  sluice::judge::Visit visit = {};
  uint32_t first = 0;
  sluice::Rng rng;
  uint32_t memory, waits;
  bool one_engine;
  std::vector<std::array<uint32_t, kEngines>> last;
  std::array<uint32_t, kEngines> position = {};
  sluice::judge::Step step = {};
  std::vector<Byte> bytes;
  uint32_t roots = 0;
};

// What a read must answer: kOk, with each element where it lies; else a refusal.
Status WantedOfRead(const Machine& m, const Box& box) {
  for (const int64_t at : BytesOf(box)) {
    const Byte& b = m.bytes[static_cast<size_t>(at)];
    if (!b.written || !m.Before(b.engine, b.position)) return Status::kRejected;
  }
  return Status::kOk;
}

// False: elements of the read are not whole elements of what lies there.
bool Aligned(const Machine& m, const Place& p) {
  bool aligned = true;
  p.ForEach([&](int64_t at, const Element&) {
    const Byte& first = m.bytes[static_cast<size_t>(at)];
    for (int64_t i = 0; i < p.width; ++i) {
      const Byte& b = m.bytes[static_cast<size_t>(at + i)];
      aligned = aligned && b.width == p.width && b.within == i &&
                b.root == first.root && b.element == first.element;
    }
  });
  return aligned;
}

void CheckParts(const Machine& m, const Place& p, const sluice::Vector<Part>& parts,
                const int64_t* dense) {
  std::map<int64_t, int64_t> address;  // of each element of the read, by its twin
  p.ForEach([&](int64_t at, const Element& element) {
    int64_t twin = 0;
    for (size_t a = 0; a < 4; ++a) twin += (element[a] - p.origin[a]) * dense[a];
    address[twin] = at;
  });
  size_t elements = 0;
  for (const Part& part : parts) {
    REQUIRE(part.width == p.width);
    Place of = {part.root, part.width, part.twin, {}, {}, {}};
    for (int a = 0; a < 4; ++a) {
      of.origin[a] = part.origin[a];
      of.extent[a] = part.extent[a];
      of.stride[a] = part.twin_stride[a];
    }
    of.ForEach([&](int64_t twin, const Element& element) {
      REQUIRE(address.count(twin) == 1);
      const Byte& b = m.bytes[static_cast<size_t>(address[twin])];
      REQUIRE(b.root == part.root);
      REQUIRE(b.element == element);
      address.erase(twin);
      ++elements;
    });
  }
  REQUIRE(address.empty());
}

// A read of an element in each of its twins, of which no two are equal.
Status Read(Machine* m, Contents* contents, const Place& p, bool record) {
  int64_t dense[4], step = 1;
  for (int a = 3; a >= 0; --a) {
    dense[a] = step;
    step *= p.extent[a];
  }
  const Box box = p.AsBox(dense);
  Status want = WantedOfRead(*m, box);
  if (want == Status::kOk && !Aligned(*m, p)) want = Status::kRejected;
  sluice::Vector<Part> parts(&m->own.arena);
  const Status status = ReadParts(contents, m->memory, box, record, &parts);
  REQUIRE(status == want);
  if (status != Status::kOk) return status;
  CheckParts(*m, p, parts, dense);
  if (!record || m->one_engine) return status;
  for (const int64_t at : BytesOf(box)) {
    m->bytes[static_cast<size_t>(at)].readers.insert(
        {m->step.engine, m->step.position});
  }
  return status;
}

Status Write(Machine* m, Contents* contents, const Place& p, const Place* read) {
  const int64_t none[4] = {};
  const Box box = p.AsBox(none);
  const std::set<int64_t> bytes = BytesOf(box);
  Status want = Status::kOk;
  for (const int64_t at : bytes) {
    const Byte& b = m->bytes[static_cast<size_t>(at)];
    if (b.written && !m->Before(b.engine, b.position)) want = Status::kRejected;
    for (const auto& [engine, position] : b.readers) {
      const bool own = engine == m->step.engine && position == m->step.position;
      if (own ? read == nullptr : !m->Before(engine, position))
        want = Status::kRejected;
    }
  }
  const Status status = Overwrite(contents, m->memory, box, read != nullptr);
  REQUIRE(status == want);
  if (status != Status::kOk) return status;
  // As one part or as two.
  std::vector<Place> parts = {p};
  const int along = static_cast<int>(m->rng.Below(4));
  if (p.extent[along] > 1 && m->rng.Below(4) == 0) {
    parts.push_back(p);
    parts[0].extent[along] = 1;
    parts[1].extent[along] -= 1;
    parts[1].origin[along] += 1;
    parts[1].base += p.stride[along];
  }
  for (const Place& part : parts) {
    REQUIRE(PutPart(contents, m->memory, part.AsPart()) == Status::kOk);
  }
  p.ForEach([&](int64_t at, const Element& element) {
    for (int64_t i = 0; i < p.width; ++i) {
      Byte& b = m->bytes[static_cast<size_t>(at + i)];
      b = Byte{};
      b.written = true;
      b.root = p.root;
      b.engine = m->step.engine;
      b.position = m->step.position;
      b.element = element;
      b.within = i;
      b.width = p.width;
    }
  });
  return status;
}

// A part of a place, or the whole of it.
Place Within(sluice::Rng* rng, Place p) {
  for (int a = 0; a < 4; ++a) {
    if (p.extent[a] == 1 || rng->Below(3) != 0) continue;
    const int64_t at = rng->Below(static_cast<uint32_t>(p.extent[a]));
    p.base += at * p.stride[a];
    p.origin[a] += at;
    p.extent[a] = 1 + rng->Below(static_cast<uint32_t>(p.extent[a] - at));
  }
  return p;
}

struct Tried {
  int reads = 0, writes = 0, refused = 0;
};

// Writes and reads until one of them is refused, or enough.
void Follow(Machine* m, Tried* tried) {
  Contents contents(&m->judge);
  REQUIRE(InitContents(&contents) == Status::kOk);
  const int64_t width = 1 + m->rng.Below(4) / 3;
  std::vector<Place> places;
  Status status = Status::kOk;
  for (int i = 0; i < 40 && status == Status::kOk; ++i) {
    m->Step(&contents);
    const bool again = !places.empty() && m->rng.Below(3) != 0;
    const int64_t of = m->rng.Below(12) == 0 ? 3 - width : width;
    Place p = again ? places[m->rng.Below(static_cast<uint32_t>(places.size()))]
                    : RandomPlace(&m->rng, 0, of);
    if (m->rng.Below(2) == 0) p = Within(&m->rng, p);
    const bool read = again && m->rng.Below(3) != 0;
    if (read) {
      ++tried->reads;
      status = Read(m, &contents, p, m->rng.Below(4) != 0);
      if (status != Status::kOk || m->rng.Below(4) != 0) continue;
    }
    // Behind a read of the same instruction: over what it read, or elsewhere.
    const bool over = read && m->rng.Below(2) == 0;
    Place to = over || !read ? p : RandomPlace(&m->rng, 0, width);
    if (m->rng.Below(3) != 0) to.root = ++m->roots % 5;
    ++tried->writes;
    status = Write(m, &contents, to, over ? &p : nullptr);
    places.push_back(to);
  }
  tried->refused += status != Status::kOk;
}

TEST_CASE("contents: random writes and reads, beside a memory of single bytes") {
  struct Kind {
    bool dram;
    uint32_t engines;
  };
  for (const Kind& kind : {Kind{false, 1}, Kind{true, 1}, Kind{true, 2}}) {
    Tried tried;
    for (uint32_t seed = 0; seed < 3000; ++seed) {
      CAPTURE(seed);
      Machine machine(seed, kind.dram, kind.engines);
      Follow(&machine, &tried);
    }
    MESSAGE(tried.reads << " reads, " << tried.writes << " writes, " << tried.refused
                        << " refused");
    CHECK(tried.reads > 2000);
    CHECK(tried.refused > 200);
  }
}

sluice::judge::Piece PieceOf(const Place& p) {
  sluice::judge::Piece piece = {};
  REQUIRE(MakeFrame(p.base, p.width, p.extent, p.stride, &piece.frame));
  piece.box = BoxOf(piece.frame);
  piece.rows = RowsOf(piece.box);
  piece.begin = p.base;
  piece.end = p.end();
  for (int a = 0; a < 4; ++a) piece.origin[a] = p.origin[a];
  return piece;
}

using Elements = std::multiset<std::pair<int64_t, Element>>;  // with their addresses

void AddElements(const Place& p, Elements* to) {
  p.ForEach([&](int64_t at, const Element& element) { to->insert({at, element}); });
}

Elements ElementsOf(const sluice::judge::Piece& piece) {
  Place p = {0, piece.frame.width, piece.frame.base, {}, {1, 1, 1, 1}, {}};
  for (int a = 0; a < 4; ++a) p.origin[a] = piece.origin[a];
  for (uint32_t d = 0; d < piece.frame.dims; ++d) {
    p.extent[piece.frame.axis[d]] = piece.frame.count[d];
    p.stride[piece.frame.axis[d]] = piece.frame.stride[d];
  }
  CHECK(piece.begin == p.base);
  CHECK(piece.end == p.end());
  Elements elements;
  AddElements(p, &elements);
  return elements;
}

TEST_CASE("contents: two pieces become one where one would hold the same") {
  sluice::Rng rng(3);
  int halves = 0, merged = 0;
  for (int round = 0; round < 20000; ++round) {
    // Two parts of one place; then one of them is changed a little, mostly.
    Place a = RandomPlace(&rng, 0, 1 + rng.Below(2)), b = a;
    const size_t along = rng.Below(4);
    const int64_t whole = a.extent[along];
    if (whole == 1) continue;
    a.extent[along] = 1 + rng.Below(static_cast<uint32_t>(whole - 1));
    b.extent[along] = whole - a.extent[along];
    b.origin[along] += a.extent[along];
    b.base += a.extent[along] * a.stride[along];
    const uint32_t change = rng.Below(6);
    const size_t axis = rng.Below(4);
    if (change == 0) b.origin[axis] += 1;
    if (change == 1) b.base += rng.Below(2) == 0 ? 1 : -1;
    if (change == 2) b.stride[axis] += 1;
    if (change == 3) b.extent[axis] = 1 + b.extent[axis] % 3;
    if (change == 4) b.origin[axis] -= 1;
    Frame frame;
    if (!MakeFrame(b.base, b.width, b.extent, b.stride, &frame)) continue;
    Elements both;
    AddElements(a, &both);
    AddElements(b, &both);
    const bool swap = rng.Below(2) == 0;
    sluice::judge::Piece older = PieceOf(swap ? b : a), newer = PieceOf(swap ? a : b);
    const bool one = TryMerge(older, &newer);
    if (change == 5) REQUIRE(one);
    if (one) REQUIRE(ElementsOf(newer) == both);
    halves += change == 5;
    merged += one;
  }
  CHECK(halves > 500);
  CHECK(merged > halves);
}

}  // namespace
}  // namespace sluice_test
