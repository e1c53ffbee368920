// SPDX-License-Identifier: Apache-2.0
// Whole networks: scheduled, verified and simulated; outputs equal the untiled run's.
#include "zoo/zoo.h"

#include <algorithm>

#include "planned.h"

namespace sluice_test {
namespace {

using sluice::zoo::MakeZooGraph;
using sluice::zoo::ZooOptions;
using sluice_sim::SimulateResult;

void Report(const std::string& what, const Planned& p) {
  MESSAGE(what << ": schedule " << p.schedule_ms << " ms, verify " << p.verify_ms
               << " ms, simulate and untiled run " << p.simulate_ms << " ms (CPU)");
}

Bytes Int32(const std::vector<int32_t>& values) {
  Bytes bytes(4 * values.size());
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

void CheckImageNetwork(const char* name) {
  Planned p(MakeZooGraph(name, ZooOptions()), "soma-edge");
  CHECK(p.RefusedBy(p.plan) == "");
  const SimulateResult result = p.Run(p.Options());
  REQUIRE(result.outputs.size() == 1);
  CHECK(result.outputs[0].size() == 1000);
  CheckSpread(result.outputs[0]);
  Report(name, p);
}

TEST_CASE("ResNet-50 equals its untiled run on soma-edge") {
  CheckImageNetwork("resnet50");
}

TEST_CASE("Inception-ResNet-v1 equals its untiled run on soma-edge") {
  CheckImageNetwork("inception_resnet_v1");
}

// Its last layer is no classifier: 7 x 7 x 1024 values, about half of them cut to 0.
TEST_CASE("RandWire equals its untiled run on soma-edge") {
  Planned p(MakeZooGraph("randwire", ZooOptions()), "soma-edge");
  CHECK(p.RefusedBy(p.plan) == "");
  const Bytes output = p.Run(p.Options()).outputs.at(0);
  CHECK(output.size() == 7 * 7 * 1024);
  CHECK(std::set<uint8_t>(output.begin(), output.end()).size() > 60);
  CHECK(std::count(output.begin(), output.end(), uint8_t{0}) <
        static_cast<long>(output.size()) * 6 / 10);
  Report("randwire", p);
}

TEST_CASE("MobileNet-v1 equals its untiled run on soma-edge") {
  CheckImageNetwork("mobilenet_v1");
}

// Its classes are averages of values that are at least 0, so few values occur.
TEST_CASE("SqueezeNet equals its untiled run on soma-edge") {
  Planned p(MakeZooGraph("squeezenet", ZooOptions()), "soma-edge");
  CHECK(p.RefusedBy(p.plan) == "");
  const Bytes output = p.Run(p.Options()).outputs.at(0);
  CHECK(output.size() == 1000);
  CHECK(std::set<uint8_t>(output.begin(), output.end()).size() > 40);
  Report("squeezenet", p);
}

// A prefill and three tokens decoded one by one must equal one prefill of all tokens.
TEST_CASE("GPT-2 small: prefill and decode with a growing cache agree byte for byte") {
  std::vector<int32_t> tokens;
  for (int32_t i = 0; i < 67; ++i) tokens.push_back((i * 7919 + 12345) % 50257);
  ZooOptions options;
  options.context = 128;
  options.seq = 64;
  Planned prefill(MakeZooGraph("gpt2_small_prefill", options), "soma-edge");
  Planned decode(MakeZooGraph("gpt2_small_decode", options), "soma-edge");
  options.seq = 67;
  Planned whole(MakeZooGraph("gpt2_small_prefill", options), "soma-edge");
  CHECK(prefill.RefusedBy(prefill.plan) == "");
  CHECK(decode.RefusedBy(decode.plan) == "");

  Bytes state;
  std::vector<Bytes> inputs = {
      Int32(std::vector<int32_t>(tokens.begin(), tokens.begin() + 64))};
  sluice_sim::SimulateOptions run = prefill.Options();
  run.inputs = &inputs;
  run.state = &state;
  CheckSpread(prefill.Run(run).outputs.at(0));
  Report("gpt2_small_prefill, 64 tokens", prefill);

  Bytes last;
  for (int32_t position = 64; position < 67; ++position) {
    Bytes mask(128, 0);
    std::fill(mask.begin(), mask.begin() + position + 1, uint8_t{1});
    inputs = {Int32({tokens[static_cast<size_t>(position)]}), Int32({position}), mask};
    run = decode.Options();
    run.inputs = &inputs;
    run.state = &state;
    run.parameters = {position};
    last = decode.Run(run).outputs.at(0);
    CheckSpread(last);
    Report("gpt2_small_decode", decode);
  }

  inputs = {Int32(tokens)};
  run = whole.Options();
  run.inputs = &inputs;
  Bytes other_state;
  run.state = &other_state;
  CHECK(whole.Run(run).outputs.at(0) == last);
  CHECK(other_state == state);
}

// Published for one block: 34,812,723,200 MACs of attention and products at 1024
// tokens. The head, which shares the embedding's weights, reads one token.
TEST_CASE("GPT-2 XL has 48 blocks with 1475 million weights, and embeddings") {
  Planned prefill(MakeZooGraph("gpt2_xl_prefill", ZooOptions()), "soma-cloud");
  CHECK(prefill.RefusedBy(prefill.plan) == "");
  CHECK(prefill.report.macs == 48 * uint64_t{34812723200} + uint64_t{1600} * 50257);
  Planned decode(MakeZooGraph("gpt2_xl_decode", ZooOptions()), "soma-cloud");
  CHECK(decode.RefusedBy(decode.plan) == "");
  // The cache has keys and values of 1024 positions, the published block looks at 1025.
  CHECK(decode.report.macs == 48 * uint64_t{34000000 - 2 * 1600} + 1600 * 50257);
  // Bounds: nearly all MACs of a prefill, though one token is asked for; for a decode,
  // all weights and the cache are read.
  CHECK(prefill.report.bound_latency_cycles > prefill.report.macs / 65536 * 47 / 48);
  CHECK(prefill.report.latency_cycles < 2 * prefill.report.bound_latency_cycles);
  CHECK(decode.report.bound_latency_cycles >
        (48 * uint64_t{30720000} + 48 * uint64_t{2 * 1024 * 1600}) / 128);
  CHECK(decode.report.latency_cycles < 2 * decode.report.bound_latency_cycles);
  Report("gpt2_xl_prefill, 1024 tokens", prefill);
  Report("gpt2_xl_decode, 1024 positions", decode);
}

// A layer in front of a strided convolution is needed in part: its weights, and a row
// of each window.
TEST_CASE("default plans of image networks are close to what every plan must do") {
  const struct {
    const char* name;
    double gap;
  } rows[] = {{"resnet50", 1.03}, {"resnet101", 1.03}, {"randwire", 1.03}};
  for (const auto& row : rows) {
    CAPTURE(std::string(row.name));
    Planned p(MakeZooGraph(row.name, ZooOptions()), "soma-edge");
    CHECK(p.report.latency_cycles >= p.report.bound_latency_cycles);
    CHECK(static_cast<double>(p.report.latency_cycles) <
          row.gap * static_cast<double>(p.report.bound_latency_cycles));
  }
}

TEST_CASE("two blocks of GPT-2 XL equal their untiled run on soma-cloud") {
  ZooOptions options;
  options.blocks = 2;
  options.seq = 12;
  options.context = 16;
  Planned prefill(MakeZooGraph("gpt2_xl_prefill", options), "soma-cloud");
  Planned decode(MakeZooGraph("gpt2_xl_decode", options), "soma-cloud");
  Bytes state;
  std::vector<Bytes> inputs = {
      Int32({5, 50256, 0, 77, 78, 79, 80, 1, 9, 123, 4567, 30000})};
  sluice_sim::SimulateOptions run = prefill.Options();
  run.inputs = &inputs;
  run.state = &state;
  CheckSpread(prefill.Run(run).outputs.at(0));
  Bytes mask(16, 1);
  std::fill(mask.begin() + 13, mask.end(), uint8_t{0});
  inputs = {Int32({40000}), Int32({12}), mask};
  run = decode.Options();
  run.inputs = &inputs;
  run.state = &state;
  run.parameters = {12};
  CheckSpread(decode.Run(run).outputs.at(0));
  Report("gpt2_xl_prefill, 2 blocks, 12 tokens", prefill);
  Report("gpt2_xl_decode, 2 blocks", decode);
}

TEST_CASE("two sequences at once give what each gives alone") {
  ZooOptions options;
  options.blocks = 1;
  options.seq = 8;
  options.context = 8;
  options.batch = 2;
  Planned both(MakeZooGraph("gpt2_small_prefill", options), "soma-edge");
  options.batch = 1;
  Planned one(MakeZooGraph("gpt2_small_prefill", options), "soma-edge");
  const std::vector<int32_t> tokens = {5, 50256, 0, 77, 78, 79, 80, 1,
                                       9, 9,     9, 9,  9,  10, 11, 12};
  std::vector<Bytes> inputs = {Int32(tokens)};
  sluice_sim::SimulateOptions run = both.Options();
  run.inputs = &inputs;
  const Bytes logits = both.Run(run).outputs.at(0);
  for (long i = 0; i < 2; ++i) {
    inputs = {Int32(
        std::vector<int32_t>(tokens.begin() + 8 * i, tokens.begin() + 8 * i + 8))};
    run = one.Options();
    run.inputs = &inputs;
    const Bytes alone = one.Run(run).outputs.at(0);
    CHECK(std::equal(alone.begin(), alone.end(), logits.begin() + 50257 * i));
  }
}

TEST_CASE("every network of the zoo is planned and verified") {
  for (const sluice::zoo::ZooEntry& entry : sluice::zoo::ZooEntries()) {
    CAPTURE(entry.name);
    Planned p(entry.make(ZooOptions()), "soma-edge");
    CHECK(p.RefusedBy(p.plan) == "");
  }
}

}  // namespace
}  // namespace sluice_test
