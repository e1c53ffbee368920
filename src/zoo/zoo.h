// SPDX-License-Identifier: Apache-2.0
// Complete known networks as int8 graphs, with seeded weights instead of stored ones.
//
// Input    a name of ZooEntries(), batch size, sequence lengths
// Output   graph.fbs bytes; the same ones on every call. Weights of one name are the
//          same numbers in all graphs of a family (prefill and decode).
// Errors   Error(kBadArgument) for an unknown name or a size the network cannot have
// Source   shapes as published with each network; multipliers are chosen so that random
//          weights keep activations within their 8 bits (network.h)
#ifndef SLUICE_ZOO_ZOO_H_
#define SLUICE_ZOO_ZOO_H_

#include <cstdint>
#include <string>
#include <vector>

#include "import/bytes.h"

namespace sluice::zoo {

using import::Bytes;

struct ZooOptions {
  int32_t batch = 1;
  int32_t seq = 0;      // tokens of a prefill; 0 = the network's own
  int32_t context = 0;  // positions of the KV cache; 0 = the network's
  int32_t blocks = 0;   // of a transformer; 0 = all
};

// The sizes that a network has beside its batch.
enum class ZooSizes { kBatch, kBlocks, kPromptAndBlocks };

struct ZooEntry {
  const char* name;
  const char* text;
  Bytes (*make)(const ZooOptions& options);
  ZooSizes sizes = ZooSizes::kBatch;
};
const std::vector<ZooEntry>& ZooEntries();
// Throws where the network does not have one of these sizes. A decode of GPT-2 takes the
// length of the prompt before it, which changes nothing.
Bytes MakeZooGraph(const std::string& name, const ZooOptions& options);

Bytes MakeResNet50(const ZooOptions& options);
Bytes MakeResNet101(const ZooOptions& options);
Bytes MakeInceptionResNetV1(const ZooOptions& options);
Bytes MakeRandWire(const ZooOptions& options);
Bytes MakeMobileNetV1(const ZooOptions& options);
Bytes MakeVgg16(const ZooOptions& options);
Bytes MakeSqueezeNet(const ZooOptions& options);

Bytes MakeAlexNet(const ZooOptions& options);
Bytes MakeGoogLeNet(const ZooOptions& options);
Bytes MakeMlpL(const ZooOptions& options);
Bytes MakeLstmGnmt(const ZooOptions& options);

Bytes MakeAmoebaNetD(const ZooOptions& options);
Bytes MakeDarts(const ZooOptions& options);
Bytes MakeDeepLabV3ResNet50(const ZooOptions& options);
Bytes MakeDenseNet121(const ZooOptions& options);
Bytes MakeFcnResNet50(const ZooOptions& options);
Bytes MakeLraspp(const ZooOptions& options);
Bytes MakeNasNetA(const ZooOptions& options);
Bytes MakePnasNet5(const ZooOptions& options);
Bytes MakeR2Plus1D18(const ZooOptions& options);
Bytes MakeResNext50(const ZooOptions& options);
Bytes MakeS3d(const ZooOptions& options);
Bytes MakeTransformer(const ZooOptions& options);
Bytes MakeVitB16(const ZooOptions& options);

Bytes MakeGpt2SmallPrefill(const ZooOptions& options);
Bytes MakeGpt2SmallDecode(const ZooOptions& options);
Bytes MakeGpt2XlPrefill(const ZooOptions& options);
Bytes MakeGpt2XlDecode(const ZooOptions& options);

}  // namespace sluice::zoo

#endif  // SLUICE_ZOO_ZOO_H_
