// SPDX-License-Identifier: Apache-2.0
// Bytes that are no stream are refused, and nothing outside of these bytes is read.
#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "support/random_stream.h"
#include "support/token_machine.h"

namespace sluice_test {
namespace {

sluice_status_t StatusOf(Library* library, const Bytes& image) {
  // A block of exactly the image's size: sanitizers see what is read behind it.
  const auto copy = std::make_unique<uint32_t[]>((image.size() + 3) / 4);
  if (!image.empty()) std::memcpy(copy.get(), image.data(), image.size());
  const auto channels = AllPairs(2, 0);
  sluice_token_lists_t* lists = nullptr;
  const sluice_token_options_t options = {
      sizeof options, static_cast<uint32_t>(channels.size()), channels.data()};
  const sluice_status_t status =
      sluice_tokens(library->context.get(), copy.get(), image.size(), &options, &lists,
                    &library->diagnostic);
  CHECK((status == SLUICE_OK) == (lists != nullptr));
  sluice_token_lists_destroy(lists);
  return status;
}

TEST_CASE("cut and changed images are refused or read as they are") {
  Library library;
  const Bytes image = ConvCase().stream.Image();
  CHECK(StatusOf(&library, image) == SLUICE_INFEASIBLE);  // engine 2 has no channel
  for (size_t size = 0; size < image.size(); size += 4) {
    CHECK(StatusOf(&library,
                   Bytes(image.begin(), image.begin() + static_cast<long>(size))) ==
          SLUICE_BAD_INPUT);
  }
  sluice::Rng rng(5);
  int refused = 0;
  for (int i = 0; i < 4000; ++i) {
    Bytes changed = image;
    for (uint32_t n = 1 + rng.Below(3); n > 0; --n) {
      const size_t word =
          rng.Below(static_cast<uint32_t>(image.size() / 4)) * size_t{4};
      const uint32_t value = rng.Below(2) == 0 ? rng.Below(64) : ~rng.Below(64);
      std::memcpy(changed.data() + word, &value, 4);
    }
    refused += StatusOf(&library, changed) == SLUICE_BAD_INPUT;
  }
  CHECK(refused > 100);
}

TEST_CASE("waits that form a cycle, and waits on what is not there, are refused") {
  Library library;
  StreamBuilder s;
  s.engine_table.assign(2, {SLUICE_DOES_COMPUTE, 0, SLUICE_NO_QUEUE, 0, 0});
  s.blocks.emplace_back();
  s.blocks[0].Append(0, SLUICE_OPCODE_COMPUTE, 0, 0, {After(1, 1)});
  s.blocks[0].Append(1, SLUICE_OPCODE_COMPUTE, 0, 0, {After(0, 1)});
  s.AddInstance(0, 0, 0);
  CHECK(StatusOf(&library, s.Image()) == SLUICE_BAD_INPUT);
  CHECK(std::string(library.diagnostic.message) ==
        "the waits of the stream form a cycle");
  s.blocks[0].lists[1][0].waits[0] = AfterAllBut(0, 2);
  CHECK(StatusOf(&library, s.Image()) == SLUICE_BAD_INPUT);
  s.blocks[0].lists[1][0].waits[0] = AfterAllBut(0, 0);
  CHECK(StatusOf(&library, s.Image()) == SLUICE_OK);  // no visits before this one
  s.blocks[0].lists[1][0].waits[0].before = 2;
  CHECK(StatusOf(&library, s.Image()) == SLUICE_BAD_INPUT);
  s.blocks[0].lists[1][0].waits.clear();
  s.loops = {{0, 1, 2, SLUICE_NONE}};
  CHECK(StatusOf(&library, s.Image()) == SLUICE_BAD_INPUT);
  s.loops = {{0, 0, 1u << 30, SLUICE_NONE}};
  CHECK(StatusOf(&library, s.Image()) == SLUICE_UNSUPPORTED);
  s.loops.clear();
  s.blocks[0].lists[0][0].waits[0] = After(1, 2);
  CHECK(StatusOf(&library, s.Image()) == SLUICE_BAD_INPUT);
}

}  // namespace
}  // namespace sluice_test
