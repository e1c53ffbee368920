// SPDX-License-Identifier: Apache-2.0
#include "cli/zoo/zoo.h"

#include "cli/failure.h"

namespace sluice::cli {

const std::vector<ZooEntry>& ZooEntries() {
  static const std::vector<ZooEntry> entries = {
      {"gpt2_small_decode", "GPT-2 small, one token behind a KV cache",
       MakeGpt2SmallDecode},
      {"gpt2_small_prefill", "GPT-2 small, a prompt of 512 into an empty KV cache",
       MakeGpt2SmallPrefill},
      {"gpt2_xl_decode", "GPT-2 XL, one token behind a KV cache", MakeGpt2XlDecode},
      {"gpt2_xl_prefill", "GPT-2 XL, a prompt of 1024 into an empty KV cache",
       MakeGpt2XlPrefill},
      {"inception_resnet_v1", "Inception-ResNet v1, 299 x 299", MakeInceptionResNetV1},
      {"mobilenet_v1", "MobileNet v1, 224 x 224", MakeMobileNetV1},
      {"randwire", "three randomly wired stages, 224 x 224", MakeRandWire},
      {"resnet101", "ResNet-101, 224 x 224", MakeResNet101},
      {"resnet50", "ResNet-50, 224 x 224", MakeResNet50},
      {"vgg16", "VGG-16, 224 x 224", MakeVgg16},
  };
  return entries;
}

Bytes MakeZooGraph(const std::string& name, const ZooOptions& options) {
  if (options.batch < 1 || options.batch > 4096) {
    throw Failure(kUsage, "the batch must be 1 to 4096");
  }
  for (const ZooEntry& entry : ZooEntries()) {
    if (name == entry.name) return entry.make(options);
  }
  throw Failure(kUsage, "no network is called " + name + "; zoo --list names them");
}

}  // namespace sluice::cli
