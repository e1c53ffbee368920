// SPDX-License-Identifier: Apache-2.0
// ONNX: windows that move over one or two spatial axes.
#ifndef SLUICE_IMPORT_ONNX_ONNX_WINDOWS_H_
#define SLUICE_IMPORT_ONNX_ONNX_WINDOWS_H_

#include <vector>

#include "import/onnx/onnx_lowering.h"

namespace sluice::import {

// One spatial axis.
struct Axis {
  int32_t in, out, window, stride, dilation, before, after;
};
// Height and width. A single spatial axis counts as the width.
struct Frame {
  Axis h, w;
};
constexpr Axis kPoint = {1, 1, 1, 1, 1, 0, 0};

// Extents as ONNX has them; the window without its channels.
Frame FrameOf(const OnnxNode& node, const std::vector<int64_t>& in,
              const std::vector<int64_t>& out, const std::vector<int64_t>& window);
// N H W C of a value with two or one spatial axes.
Dims ImageDims(const std::vector<int64_t>& shape);
std::vector<int32_t> ConvAttributes(const Frame& f, int32_t groups, const Numbers& in,
                                    int32_t weight_zero, const Numbers& out);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_ONNX_ONNX_WINDOWS_H_
