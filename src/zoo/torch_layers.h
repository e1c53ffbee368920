// SPDX-License-Identifier: Apache-2.0
// Layers as PyTorch's networks use them: explicit symmetric padding, groups,
// dilation, separate windows of height and width, resizing, attention.
//
// Input    activations of a Network; kernels whose pads are 0 .. window - 1
// Output   layers added to the network; activations with their expected spread
// Errors   none
// Source   outputs as PyTorch counts them: floor((in + 2 pad - reach) / stride) + 1;
//          batch norms are folded into the layer in front
#ifndef SLUICE_ZOO_TORCH_LAYERS_H_
#define SLUICE_ZOO_TORCH_LAYERS_H_

#include <string>
#include <vector>

#include "zoo/network.h"

namespace sluice::zoo {

struct Kernel {
  int32_t h = 1, w = 1;
  int32_t stride_h = 1, stride_w = 1;
  int32_t pad_h = 0, pad_w = 0;
  int32_t dilation = 1;
  int32_t groups = 1;
};
// size x size, padded so that a stride of 1 keeps the extents.
Kernel Square(int32_t size, int32_t stride = 1, int32_t dilation = 1);
Kernel Grouped(Kernel kernel, int32_t groups);

Fmap Conv(Network* net, const std::string& name, const Fmap& in, int32_t channels,
          const Kernel& kernel, bool relu);
Fmap DepthwiseConv(Network* net, const std::string& name, const Fmap& in,
                   const Kernel& kernel, bool relu);
Fmap MaxPool(Network* net, const std::string& name, const Fmap& in,
             const Kernel& kernel);
Fmap AveragePool(Network* net, const std::string& name, const Fmap& in,
                 const Kernel& kernel);
Fmap Relu(Network* net, const std::string& name, const Fmap& in);
// Applies f elementwise by a table of 256 entries; f's argument has a root mean square
// of about 1.
Fmap Curve(Network* net, const std::string& name, const Fmap& in, float (*f)(float));
float Gelu(float x);
float HardSwish(float x);
float HardSigmoid(float x);
float Sigmoid(float x);

// Multiplies each channel by a factor in [0, 1], the output of Sigmoid or HardSigmoid:
// 127 stands for 1.
Fmap Gate(Network* net, const std::string& name, const Fmap& in, const Fmap& gate);
Fmap Slice(Network* net, const std::string& name, const Fmap& in, const Dims& begin,
           Dims dims);
Fmap Transpose(Network* net, const std::string& name, const Fmap& in,
               const std::vector<int32_t>& perm);
Fmap Resize(Network* net, const std::string& name, const Fmap& in, int32_t h,
            int32_t w);
Fmap Softmax(Network* net, const std::string& name, const Fmap& in);

// Multi-head attention of tokens [B,1,S,C] over memory [B,1,S',C], projections
// included.
Fmap Attention(Network* net, const std::string& name, const Fmap& tokens,
               const Fmap& memory, int32_t heads);

}  // namespace sluice::zoo

#endif  // SLUICE_ZOO_TORCH_LAYERS_H_
