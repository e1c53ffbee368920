// SPDX-License-Identifier: Apache-2.0
// The small network of the fusion tests, with a parser of its notations and a list for
// what they say.
#ifndef SLUICE_TESTS_MODEL_SMALL_PARSER_H_
#define SLUICE_TESTS_MODEL_SMALL_PARSER_H_

#include <doctest/doctest.h>

#include "model/notation.h"
#include "tests/bench/soma_peer.h"
#include "tests/solve/fusion/small_network.h"

namespace sluice {

struct SmallParser : Small {
  explicit SmallParser(const TileRoom& room = {512, 1024}) {
    REQUIRE(memo.Init(&arena, model, 256) == Status::kOk);
    REQUIRE(InitParser(&parser, &arena, &problem, &memo, room, &list) == Status::kOk);
  }
  Memory memory{HostAllocator(), 0};
  Arena arena{&memory};
  TileMemo memo;
  Parser parser;
  TileList list;
};

}  // namespace sluice

#endif  // SLUICE_TESTS_MODEL_SMALL_PARSER_H_
