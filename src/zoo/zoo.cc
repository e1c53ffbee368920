// SPDX-License-Identifier: Apache-2.0
#include "zoo/zoo.h"

#include "import/error.h"

namespace sluice::zoo {

const std::vector<ZooEntry>& ZooEntries() {
  static const std::vector<ZooEntry> entries = {
      {"alexnet", "AlexNet in two towers, 224 x 224", MakeAlexNet},
      {"amoebanet_d", "AmoebaNet-D, 4 cells of 48 filters a stage", MakeAmoebaNetD},
      {"darts", "DARTS for ImageNet, 14 cells of 48 filters", MakeDarts},
      {"deeplabv3", "DeepLabV3 on ResNet-50, 224 x 224", MakeDeepLabV3ResNet50},
      {"densenet121", "DenseNet-121, 224 x 224", MakeDenseNet121},
      {"fcn", "FCN on ResNet-50, 224 x 224", MakeFcnResNet50},
      {"googlenet", "GoogLeNet, 224 x 224", MakeGoogLeNet},
      {"gpt2_small_decode", "GPT-2 small, one token behind a KV cache",
       MakeGpt2SmallDecode, ZooSizes::kPromptAndBlocks},
      {"gpt2_small_prefill", "GPT-2 small, a prompt of 512 into an empty KV cache",
       MakeGpt2SmallPrefill, ZooSizes::kPromptAndBlocks},
      {"gpt2_xl_decode", "GPT-2 XL, one token behind a KV cache", MakeGpt2XlDecode,
       ZooSizes::kPromptAndBlocks},
      {"gpt2_xl_prefill", "GPT-2 XL, a prompt of 1024 into an empty KV cache",
       MakeGpt2XlPrefill, ZooSizes::kPromptAndBlocks},
      {"inception_resnet_v1", "Inception-ResNet v1, 299 x 299", MakeInceptionResNetV1},
      {"lraspp", "L-RASPP on MobileNetV3-Large, 224 x 224", MakeLraspp},
      {"lstm_gnmt", "one step of GNMT's four LSTM cells, 1000 wide", MakeLstmGnmt},
      {"mlp_l", "MLP-L: 784, 1500, 1000, 500, 10", MakeMlpL},
      {"mobilenet_v1", "MobileNet v1, 224 x 224", MakeMobileNetV1},
      {"nasnet_a", "NASNet-A 4 @ 1056, 224 x 224", MakeNasNetA},
      {"pnasnet5", "PNASNet-5, 3 cells of 54 filters a stage", MakePnasNet5},
      {"r2plus1d_18", "R(2+1)D-18, 16 frames of 224 x 224", MakeR2Plus1D18},
      {"randwire", "three randomly wired stages, 224 x 224", MakeRandWire},
      {"resnet101", "ResNet-101, 224 x 224", MakeResNet101},
      {"resnet50", "ResNet-50, 224 x 224", MakeResNet50},
      {"resnext50", "ResNeXt-50 32x4d, 224 x 224", MakeResNext50},
      {"s3d", "S3D, 16 frames of 224 x 224", MakeS3d},
      {"squeezenet", "SqueezeNet 1.1, 224 x 224", MakeSqueezeNet},
      {"transformer", "Transformer base, 32 pairs of 10 and 20 tokens", MakeTransformer,
       ZooSizes::kBlocks},
      {"vgg16", "VGG-16, 224 x 224", MakeVgg16},
      {"vit_b_16", "ViT-B/16, 224 x 224", MakeVitB16, ZooSizes::kBlocks},
  };
  return entries;
}

namespace {

void MustHave(const ZooEntry& entry, const ZooOptions& options) {
  const bool prompt = entry.sizes == ZooSizes::kPromptAndBlocks;
  const char* wrong = nullptr;
  if (options.seq != 0 && !prompt) wrong = "seq: that is the prompt of GPT-2";
  if (options.context != 0 && !prompt) wrong = "context: that is the KV cache of GPT-2";
  if (options.blocks != 0 && entry.sizes == ZooSizes::kBatch) {
    wrong = "blocks: those are of a transformer";
  }
  if (wrong == nullptr) return;
  throw import::Error(import::Fault::kBadArgument,
                      std::string(entry.name) + " takes no " + wrong);
}

}  // namespace

Bytes MakeZooGraph(const std::string& name, const ZooOptions& options) {
  if (options.batch < 1 || options.batch > 4096) {
    throw import::Error(import::Fault::kBadArgument, "the batch must be 1 to 4096");
  }
  for (const ZooEntry& entry : ZooEntries()) {
    if (name != entry.name) continue;
    MustHave(entry, options);
    return entry.make(options);
  }
  throw import::Error(import::Fault::kBadArgument, "no network is called " + name + "");
}

}  // namespace sluice::zoo
