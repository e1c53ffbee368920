// SPDX-License-Identifier: Apache-2.0
// Writes nodes in the place of one.
#ifndef SLUICE_IMPORT_ONNX_ONNX_REWRITER_H_
#define SLUICE_IMPORT_ONNX_ONNX_REWRITER_H_

#include <onnx/onnx_pb.h>

#include <map>
#include <string>
#include <vector>

namespace sluice::import {

using OnnxShapes = std::map<std::string, std::vector<int64_t>>;

class Rewriter {
 public:
  struct Attribute {
    const char* name;
    std::vector<int64_t> numbers;
    bool list = false;
  };

  Rewriter(onnx::GraphProto* graph, const onnx::NodeProto& from, int64_t opset,
           const OnnxShapes& known)
      : node(from), version(opset), graph_(*graph), shapes_(known) {}

  // ---- the node that is replaced
  bool Has(int input) const;
  std::string In(int input) const { return Has(input) ? node.input(input) : ""; }
  bool Gives(int output) const;
  int64_t Int(const char* attribute, int64_t otherwise) const;
  float Float(const char* attribute, float otherwise) const;
  std::vector<int64_t> Ints(const char* attribute) const;
  std::string Text(const char* attribute, const char* otherwise) const;
  // Empty: not known.
  std::vector<int64_t> Shape(const std::string& name) const;
  bool HasShape(const std::string& name) const { return shapes_.count(name) != 0; }
  const onnx::GraphProto& graph() const { return graph_; }
  // An initialiser, or the value of a Constant; nullptr: neither.
  onnx::TensorProto* Constant(const std::string& name) const;
  // False: no constant of at most 64 integers, or of at most `most` floats.
  bool Integers(const std::string& name, std::vector<int64_t>* numbers) const;
  bool Floats(const std::string& name, std::vector<float>* numbers,
              size_t most = 64) const;

  // ---- what replaces it
  std::string Op(const char* op, const std::vector<std::string>& inputs,
                 const std::vector<Attribute>& attributes = {});
  std::string Real(const std::vector<float>& numbers,
                   const std::vector<int64_t>& dims = {});
  std::string Whole(const std::vector<int64_t>& numbers);
  onnx::TensorProto* NewConstant();
  std::string Reshape(const std::string& x, const std::vector<int64_t>& dims) {
    return Op("Reshape", {x, Whole(dims)});
  }
  std::string Transposed(const std::string& x, const std::vector<int64_t>& perm) {
    return Op("Transpose", {x}, {{"perm", perm, true}});
  }
  std::string Product(const char* equation, const std::vector<std::string>& operands);
  std::string Reduced(const char* op, const std::string& x,
                      const std::vector<int64_t>& axes);
  // The last node writes the output.
  void Finish(int output, const std::string& value);

  const onnx::NodeProto node;
  const int64_t version;
  std::vector<onnx::NodeProto> nodes;

 private:
  const onnx::AttributeProto* Find(const char* name) const;
  std::string Fresh();

  onnx::GraphProto& graph_;
  const OnnxShapes& shapes_;
  int made_ = 0;
};

// Elements of the last axis.
std::string Part(Rewriter* r, const std::string& x, int64_t begin, int64_t end,
                 int64_t step = 1);

// False: the node stays. What a rewriter has written by then is dropped.
bool RewriteAttention(Rewriter* r);  // onnx_attention.cc
bool RewriteRotation(Rewriter* r);
bool RewriteOldAttention(Rewriter* r);  // com.microsoft.Attention and QAttention
bool RewriteManyHeads(Rewriter* r);     // com.microsoft.MultiHeadAttention
bool RewriteGroups(Rewriter* r);        // com.microsoft.GroupQueryAttention
bool RewriteBits(Rewriter* r);          // com.microsoft.MatMulNBits (onnx_bits.cc)

bool RewriteVolume(Rewriter* r);  // onnx_volumes.cc: convolutions over three axes
bool RewriteVolumePool(Rewriter* r);
bool RewriteVolumeTransposed(Rewriter* r);

bool RewriteGroupsTransposed(Rewriter* r);  // ConvTranspose of several groups

bool RewriteFourier(Rewriter* r);  // onnx_signals.cc: DFT, STFT, windows, mel weights
bool RewriteShortFourier(Rewriter* r);
bool RewriteHann(Rewriter* r);
bool RewriteHamming(Rewriter* r);
bool RewriteBlackman(Rewriter* r);
bool RewriteMel(Rewriter* r);

bool RewriteDeformed(Rewriter* r);  // onnx_volumes.cc: DeformConv

bool RewriteScan(Rewriter* r);
bool RewriteIf(Rewriter* r);  // onnx_subgraphs.cc
bool RewriteLoop(Rewriter* r);

}  // namespace sluice::import

#endif  // SLUICE_IMPORT_ONNX_ONNX_REWRITER_H_
