// SPDX-License-Identifier: Apache-2.0
#include "model/directive.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/model/directive_text.h"
#include "tests/solve/mapping/scratch.h"

namespace sluice {
namespace {

TEST_CASE("directives: the published example parses and prints itself") {
  const char* text =
      "CONV:\n"
      " REGF:\n"
      "  tensor{0}(N=1, C=2, Xi=5, Yi=1)   % one row\n"
      "  tensor{w1}(C=2, K=3, R=5, S=1)\n"
      "  tensor{1}(N=1, K=3, Xo=1, Yo=1)\n"
      "  stack(Yi+=1, Yo+=1, 8)  % PE columns\n"
      "  stack(S+=1, Yi+=1, 5)\n"
      "  update(Xi+=1, Xo+=1)\n"
      "  update(Yi+=8, Yo+=8)\n"
      "  update(N+=1)\n"
      "  update(C+=2)\n"
      "  update(K+=3)\n"
      " GBUF:\n"
      "  tensor{0}(N=4, C=4, Xi=19, Yi=19, shr=4)\n"
      "  tensor{w1}(C=4, K=6, R=5, S=5)\n"
      "  tensor{1}(N=4, K=6, Xo=15, Yo=15)\n"
      "  stack(K+=6, 4)\n"
      "  stack(N+=4, 16)\n"
      "  update(C+=4)\n"
      "  update(K+=24)\n"
      "  update(N+=64)\n"
      "DWCONV:\n"
      " REGF:\n"
      "  % ...\n"
      " GBUF:\n"
      "  tensor{1}(N=4, C=4, Xi=9, Yi=15)\n"
      "  tensor{w2}(C=4, R=3, S=3)\n"
      "  tensor{2}(N=4, C=4, Xo=4, Yo=7)\n"
      "  stack(C+=4, 6)\n"
      "  stack(N+=4, 16)\n"
      "  stack(Xo+=4, 2)\n"
      "  update(Yo+=7)\n"
      "  update(C+=24)\n"
      "  update(N+=64)\n";
  Scratch scratch;
  DirectiveProgram program;
  REQUIRE(ParseDirectives(T(text), &scratch.arena, &program, &scratch.diagnostic) ==
          Status::kOk);
  REQUIRE(program.layers.size() == 2);
  CHECK(program.layers[0].levels.size() == 2);
  CHECK(program.layers[0].levels[0].directives.size() == 10);
  CHECK(program.layers[0].levels[1].directives[0].count == 4);
  CHECK(program.layers[1].levels[0].directives.size() == 0);
  // Both layers agree on 24 channels and 64 images of the tensor that is forwarded.
  CHECK(CheckForwarding(program, &scratch.diagnostic) == Status::kOk);
  const std::string once = Print(program);
  CHECK(once.find("tensor{0}(N=4, C=4, W=19, H=19, shr=4)") != std::string::npos);
  DirectiveProgram again;
  REQUIRE(ParseDirectives(T(once.c_str()), &scratch.arena, &again,
                          &scratch.diagnostic) == Status::kOk);
  CHECK(Print(again) == once);
}

TEST_CASE("directives: layers that cut a shared tensor differently are rejected") {
  const char* text =
      "a:\n GBUF:\n  tensor{t}(N=4, K=6)\n  stack(K+=6, 4)\n"
      "b:\n GBUF:\n  tensor{t}(N=4, C=4)\n  stack(C+=4, 5)\n";
  Scratch scratch;
  DirectiveProgram program;
  REQUIRE(ParseDirectives(T(text), &scratch.arena, &program, &scratch.diagnostic) ==
          Status::kOk);
  CHECK(CheckForwarding(program, &scratch.diagnostic) == Status::kRejected);
  CHECK(std::string(scratch.diagnostic.message) ==
        "tensor t at GBUF covers channels 24 in one layer, 20 in another");
}

TEST_CASE("directives: bad text names the line") {
  const char* bad[] = {"a:\n GBUF:\n  tensor{x}(Z=4)\n",
                       "a:\n GBUF:\n  tensor{x}(N=0)\n",
                       "a:\n GBUF:\n  tensor{x}(N=4, N=4)\n",
                       "a:\n GBUF:\n  stack(N+=4)\n",
                       "a:\n GBUF:\n  update()\n",
                       "a:\n GBUF:\n  update(N+=4\n",
                       "a:\n GBUF:\n  update(N+=99999999999999999999)\n",
                       "a:\n GBUF:\n  stack@7(N+=4, 2)\n",
                       "a:\n GBUF:\n  loop(N+=4)\n",
                       "a:\n GBUF:\n  update(N+=4) x\n",
                       "a:\n b:\n  stack(N+=1, 3, 4)\n"};
  for (const char* text : bad) {
    Scratch scratch;
    DirectiveProgram program;
    INFO(text);
    CHECK(ParseDirectives(T(text), &scratch.arena, &program, &scratch.diagnostic) ==
          Status::kBadInput);
    CHECK(std::string(scratch.diagnostic.message).find("line 3: ") == 0);
  }
  Scratch scratch;
  DirectiveProgram program;
  CHECK(ParseDirectives(T(" GBUF:\n"), &scratch.arena, &program, &scratch.diagnostic) ==
        Status::kBadInput);
  CHECK(ParseDirectives(T("a:\n update(N+=1)\n"), &scratch.arena, &program,
                        &scratch.diagnostic) == Status::kBadInput);
}

}  // namespace
}  // namespace sluice
