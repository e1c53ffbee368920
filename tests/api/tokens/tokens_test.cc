// SPDX-License-Identifier: Apache-2.0
// sluice_tokens as a caller sees it: arguments, memory, the hash of outputs.
#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include "sluice/lowering.h"
#include "support/library.h"
#include "support/recording_allocator.h"
#include "support/stream_builder.h"

namespace sluice_test {
namespace {

TEST_CASE("arguments of sluice_tokens are checked") {
  Library library;
  const Bytes image = ConvCase().stream.Image();
  sluice_token_lists_t* lists = nullptr;
  const auto call = [&](const std::vector<sluice_token_channel_t>& channels) {
    const sluice_token_options_t options = {
        sizeof options, static_cast<uint32_t>(channels.size()), channels.data()};
    return sluice_tokens(library.context.get(), image.data(), image.size(), &options,
                         &lists, &library.diagnostic);
  };
  CHECK(call({{0, 2, 0, 0}, {2, 0, 0, 0}}) == SLUICE_OK);
  REQUIRE(lists != nullptr);
  sluice_token_view_t view = {};
  CHECK(sluice_token_lists_view(lists, &view) == SLUICE_BAD_ARGUMENT);
  view.struct_size = sizeof view;
  CHECK(sluice_token_lists_view(lists, &view) == SLUICE_OK);
  CHECK(view.instructions == 14);
  CHECK(view.channels == 2);
  CHECK(view.relays == 0);
  CHECK(sluice_token_lists_view(nullptr, &view) == SLUICE_BAD_ARGUMENT);
  sluice_token_lists_destroy(lists);
  sluice_token_lists_destroy(nullptr);
  CHECK(call({{0, 3, 0, 0}}) == SLUICE_BAD_ARGUMENT);
  CHECK(lists == nullptr);
  CHECK(call({{2, 2, 0, 0}}) == SLUICE_BAD_ARGUMENT);
  CHECK(call({{0, 2, 0, 0}, {0, 2, 4, 0}}) == SLUICE_BAD_ARGUMENT);
  CHECK(std::string(library.diagnostic.message) ==
        "channel 1 leads where another one leads");
  CHECK(call({{0, 2, 0, 1}}) == SLUICE_BAD_ARGUMENT);
  CHECK(call(std::vector<sluice_token_channel_t>(65)) == SLUICE_BAD_ARGUMENT);
  CHECK(sluice_tokens(library.context.get(), nullptr, 0, nullptr, &lists, nullptr) ==
        SLUICE_BAD_ARGUMENT);
  for (const sluice_token_options_t bad :
       {sluice_token_options_t{0, 0, nullptr},
        sluice_token_options_t{sizeof(sluice_token_options_t), 1, nullptr}}) {
    CHECK(sluice_tokens(library.context.get(), image.data(), image.size(), &bad, &lists,
                        nullptr) == SLUICE_BAD_ARGUMENT);
  }
}

TEST_CASE("all memory of sluice_tokens is the context's, and is given back") {
  const Bytes image = ConvCase().stream.Image();
  const sluice_token_channel_t channels[] = {{0, 2, 0, 0}, {2, 0, 0, 0}};
  const sluice_token_options_t both = {sizeof both, 2, channels};
  sluice_context_options_t options = {};
  options.struct_size = sizeof options;
  bool refused = false;
  for (uint64_t cap = 1 << 10; cap <= 1 << 18; cap *= 2) {
    CAPTURE(cap);
    options.max_bytes = cap;
    Library library(&options);
    REQUIRE(library.context);
    sluice_memory_stats_t before = {}, after = {};
    before.struct_size = after.struct_size = sizeof before;
    sluice_context_memory(library.context.get(), &before);
    sluice_token_lists_t* lists = nullptr;
    const sluice_status_t status =
        sluice_tokens(library.context.get(), image.data(), image.size(), &both, &lists,
                      &library.diagnostic);
    CHECK((status == SLUICE_OK || status == SLUICE_OUT_OF_MEMORY));
    refused = refused || status == SLUICE_OUT_OF_MEMORY;
    if (cap == 1 << 18) CHECK(status == SLUICE_OK);
    sluice_token_lists_destroy(lists);
    sluice_context_memory(library.context.get(), &after);
    CHECK(after.live_bytes == before.live_bytes);
    CHECK(after.peak_bytes <= cap);
  }
  CHECK(refused);
}

TEST_CASE("the hash of outputs is FNV-1a over their bytes, one tensor after another") {
  const uint8_t bytes[] = {'f', 'o', 'o', 'b', 'a', 'r'};
  uint64_t hash = sluice_output_hash(SLUICE_OUTPUT_HASH_START, bytes, 3);
  hash = sluice_output_hash(hash, bytes + 3, 3);
  CHECK(hash == 0x85944171f73967e8u);  // the published value of "foobar"
}

}  // namespace
}  // namespace sluice_test
