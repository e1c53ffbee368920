// SPDX-License-Identifier: Apache-2.0
// Constants that are copied and constants that stay where they are.
#include "import/constant_bytes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace sluice::import {
namespace {

TEST_CASE("constant bytes: copies, what stays where it is, and gaps become one run") {
  Bytes model = {1, 2, 3, 4};
  ConstantBytes constants;
  {
    const Bytes brief = {9, 8, 7};
    constants.Copy(brief.data(), brief.size());
  }
  constants.Align(8);
  CHECK(constants.size() == 8);
  constants.Refer(model.data() + 1, 3);
  constants.Copy(model.data(), 0);  // without bytes there is no constant
  CHECK(constants.size() == 11);
  model[2] = 5;  // seen, because it was not copied
  CHECK(*constants.At(0) == 9);
  CHECK(*constants.At(2) == 7);
  CHECK(constants.At(3) == nullptr);  // a gap
  CHECK(*constants.At(9) == 5);
  CHECK(constants.At(11) == nullptr);

  const uint64_t before = constants.size();
  constants.Align(4);
  constants.Refer(model.data(), 4);
  constants.Truncate(before);
  CHECK(constants.size() == 11);
  CHECK(constants.At(12) == nullptr);
  constants.Align(4);

  const Bytes all = {9, 8, 7, 0, 0, 0, 0, 0, 2, 5, 4, 0};
  Bytes out(12, 0xff);
  constants.CopyTo(out.data());
  CHECK(out == all);
  out.assign(12, 0xff);
  constants.MoveTo(out.data());
  CHECK(out == all);
  CHECK(constants.size() == 0);
  CHECK(constants.At(0) == nullptr);
}

TEST_CASE(
    "constant bytes: what is computed is written where it goes, and its source is "
    "done") {
  const Bytes model = {1, 2, 3};
  const auto reversed = [&](uint8_t* out) {
    for (size_t i = 0; i < 3; ++i) out[i] = model[2 - i];
  };
  ConstantBytes constants;
  constants.Copy(model.data(), 1);
  constants.Align(4);
  constants.Compute(3, model.data(), 3, reversed);
  constants.Refer(model.data() + 1, 2);
  CHECK(constants.size() == 9);
  CHECK(constants.At(4) == nullptr);  // not made yet
  CHECK(*constants.At(7) == 2);
  const Bytes all = {1, 0, 0, 0, 3, 2, 1, 2, 3};
  Bytes out(9, 0xff);
  constants.CopyTo(out.data());
  CHECK(out == all);
  out.assign(9, 0xff);
  std::vector<std::pair<const uint8_t*, size_t>> done;
  constants.MoveTo(out.data(), [&](const uint8_t* bytes, size_t size) {
    done.push_back({bytes, size});
  });
  CHECK(out == all);
  // The copied constant was made of nobody's bytes.
  CHECK(done == std::vector<std::pair<const uint8_t*, size_t>>{{model.data(), 3},
                                                               {model.data() + 1, 2}});
}

TEST_CASE("constant bytes: a large constant is given up piece by piece, whole") {
  Bytes model((size_t{1} << 25) + 3);
  for (size_t i = 0; i < model.size(); i += 1021)
    model[i] = static_cast<uint8_t>(i >> 8);
  ConstantBytes constants;
  constants.Refer(model.data(), model.size());
  Bytes out(model.size());
  size_t next = 0, pieces = 0;
  constants.MoveTo(out.data(), [&](const uint8_t* bytes, size_t size) {
    CHECK(bytes == model.data() + next);
    CHECK(std::equal(bytes, bytes + size, out.begin() + static_cast<int64_t>(next)));
    next += size;
    ++pieces;
  });
  CHECK(next == model.size());
  CHECK(pieces == 3);
  CHECK(out == model);
}

}  // namespace
}  // namespace sluice::import
