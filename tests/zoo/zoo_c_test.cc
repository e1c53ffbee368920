// SPDX-License-Identifier: Apache-2.0
// The C functions of zoo.h.
#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include "sluice/zoo.h"
#include "support/recording_allocator.h"
#include "zoo/zoo.h"

namespace sluice_test {
namespace {

sluice_zoo_options_t Options() {
  sluice_zoo_options_t options;
  std::memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  return options;
}

struct Answer {
  sluice_status_t status;
  std::string why;
  std::vector<uint8_t> graph;
};

Answer Ask(const char* name, const sluice_zoo_options_t* options) {
  sluice_diagnostic_t why = {};
  why.struct_size = sizeof why;
  sluice_bytes_t bytes = {};
  Answer answer = {sluice_zoo_graph(name, options, &bytes, &why), why.message, {}};
  if (answer.status != SLUICE_OK) {
    CHECK(bytes.data == nullptr);
    CHECK(std::string(why.stage) == "zoo");
    return answer;
  }
  const auto* first = static_cast<const uint8_t*>(bytes.data);
  answer.graph.assign(first, first + bytes.size);
  const sluice_allocator_t* allocator =
      options == nullptr ? nullptr : options->allocator;
  sluice_bytes_release(allocator, &bytes);
  return answer;
}

TEST_CASE(
    "zoo in C: names are in order, each with a line about it, then there are none") {
  const uint32_t count = sluice_zoo_count();
  REQUIRE(count == 28);
  for (uint32_t i = 0; i < count; ++i) {
    CAPTURE(i);
    if (i > 0) {
      CHECK(std::strcmp(sluice_zoo_name(i - 1), sluice_zoo_name(i)) < 0);
    }
    CHECK(std::strlen(sluice_zoo_text(i)) > 10);
  }
  CHECK(std::string(sluice_zoo_name(0)) == "alexnet");
  CHECK(sluice_zoo_name(count) == nullptr);
  CHECK(sluice_zoo_text(count) == nullptr);
}

TEST_CASE("zoo in C: sizes reach the network, zero is what was published") {
  sluice::zoo::ZooOptions sizes;
  CHECK(Ask("mlp_l", nullptr).graph == sluice::zoo::MakeZooGraph("mlp_l", sizes));
  sluice_zoo_options_t options = Options();
  CHECK(Ask("mlp_l", &options).graph == sluice::zoo::MakeZooGraph("mlp_l", sizes));
  options.batch = sizes.batch = 3;
  options.seq = sizes.seq = 4;
  options.context = sizes.context = 8;
  options.blocks = sizes.blocks = 1;
  const Answer answer = Ask("gpt2_small_prefill", &options);
  CHECK(answer.graph == sluice::zoo::MakeZooGraph("gpt2_small_prefill", sizes));
  options = Options();
  options.training = 1;
  const Answer trained = Ask("mlp_l", &options);
  CHECK(trained.status == SLUICE_OK);
  CHECK(trained.graph.size() > Ask("mlp_l", nullptr).graph.size());
  options = Options();
  options.skip_unread = 1;
  CHECK(Ask("mlp_l", &options).graph == Ask("mlp_l", nullptr).graph);
  CHECK(Ask("resnet50", &options).graph != Ask("resnet50", nullptr).graph);
}

TEST_CASE("zoo in C: the report says what skip_unread left out") {
  sluice_import_report_t* report = nullptr;
  sluice_zoo_options_t options = Options();
  options.out_report = &report;
  for (const uint32_t skip : {0u, 1u}) {
    options.skip_unread = skip;
    const Answer answer = Ask("resnet50", &options);
    REQUIRE(report != nullptr);
    sluice_import_summary_t summary = {};
    summary.struct_size = sizeof summary;
    REQUIRE(sluice_import_report_summary(report, &summary) == SLUICE_OK);
    CHECK(summary.graph_bytes == answer.graph.size());
    CHECK(summary.inputs == 1);
    CHECK(summary.outputs == 1);
    // Three stages begin with a stride: their last sums, and two convolutions before each.
    REQUIRE(summary.lists[SLUICE_IMPORT_SKIPPED] == 2 * skip);
    for (uint32_t i = 0; i < summary.lists[SLUICE_IMPORT_SKIPPED]; ++i) {
      sluice_import_entry_t entry = {};
      entry.struct_size = sizeof entry;
      REQUIRE(sluice_import_report_entry(report, SLUICE_IMPORT_SKIPPED, i, &entry) ==
              SLUICE_OK);
      CHECK(entry.name == std::string(i == 0 ? "conv" : "add"));
      CHECK(entry.count == (i == 0 ? 6 : 3));
    }
    sluice_import_report_destroy(report);
  }
  options.training = 1;  // refused, which clears the report
  CHECK(Ask("resnet50", &options).status == SLUICE_BAD_ARGUMENT);
  CHECK(report == nullptr);
}

TEST_CASE("zoo in C: what there is not is refused with a sentence") {
  CHECK(Ask("nonesuch", nullptr).status == SLUICE_BAD_ARGUMENT);
  CHECK(Ask("nonesuch", nullptr).why == "no network is called nonesuch");
  CHECK(Ask(nullptr, nullptr).why == "name is NULL");
  sluice_zoo_options_t options = Options();
  for (const int32_t batch : {-1, 4097}) {
    options.batch = batch;
    CHECK(Ask("mlp_l", &options).status == SLUICE_BAD_ARGUMENT);
    CHECK(Ask("mlp_l", &options).why == "the batch must be 1 to 4096");
  }
  options = Options();
  options.seq = 3;
  CHECK(Ask("mobilenet_v1", &options).status == SLUICE_BAD_ARGUMENT);
  CHECK(Ask("mobilenet_v1", &options).why ==
        "mobilenet_v1 takes no seq: that is the prompt of GPT-2");
  CHECK(Ask("gpt2_small_decode", &options).status == SLUICE_OK);
  options.seq = 0;
  options.context = 5;
  CHECK(Ask("resnet50", &options).why ==
        "resnet50 takes no context: that is the KV cache of GPT-2");
  options.context = 0;
  options.blocks = 2;
  CHECK(Ask("resnet50", &options).why ==
        "resnet50 takes no blocks: those are of a transformer");
  options.seq = 1;
  CHECK(Ask("vit_b_16", &options).why ==
        "vit_b_16 takes no seq: that is the prompt of GPT-2");
  options = Options();
  options.training = options.skip_unread = 1;
  CHECK(Ask("resnet50", &options).why ==
        "skip_unread: a training step reads all pixels; leave one of the two out");
  options = Options();
  options.struct_size = 2;
  CHECK(Ask("mlp_l", &options).why ==
        "options.struct_size is not that of a known version");
  sluice_diagnostic_t why = {};
  why.struct_size = sizeof why;
  CHECK(sluice_zoo_graph("mlp_l", nullptr, nullptr, &why) == SLUICE_BAD_ARGUMENT);
  CHECK(std::string(why.message) == "out_graph is NULL");
}

TEST_CASE("zoo in C: the graph lies in the caller's memory") {
  RecordingAllocator memory;
  sluice_zoo_options_t options = Options();
  options.allocator = memory.interface();
  CHECK(Ask("mlp_l", &options).status == SLUICE_OK);
  CHECK(memory.allocations() == 1);
  CHECK(memory.live_blocks() == 0);
  memory.FailAt(1);
  CHECK(Ask("mlp_l", &options).status == SLUICE_OUT_OF_MEMORY);
  CHECK(memory.sound());
}

}  // namespace
}  // namespace sluice_test
