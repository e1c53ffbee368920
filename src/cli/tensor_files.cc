// SPDX-License-Identifier: Apache-2.0
#include "cli/tensor_files.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cli/failure.h"
#include "sluice/import.h"
#include "sluice/ops.h"

namespace sluice::cli {
namespace {

// An integer type: bytes of an element and its range; 0 bytes: floats cannot be
// quantised to it.
struct Stored {
  size_t bytes;
  double low, high;
};

Stored StoredOf(uint32_t dtype) {
  switch (dtype) {
    case SLUICE_DTYPE_INT8:
      return {1, -128, 127};
    case SLUICE_DTYPE_UINT8:
      return {1, 0, 255};
    case SLUICE_DTYPE_INT16:
      return {2, -32768, 32767};
    case SLUICE_DTYPE_INT32:
      return {4, -2147483648.0, 2147483647.0};
    default:
      return {0, 0, 0};
  }
}

bool IsFloats(const std::string& path) { return FileExtension(path) == ".f32"; }

using PortOf = sluice_status_t (*)(const void*, size_t, uint32_t, sluice_graph_port_t*);

std::vector<sluice_graph_port_t> Ports(const Bytes& graph, PortOf of) {
  std::vector<sluice_graph_port_t> ports;
  sluice_graph_port_t port = {};
  port.struct_size = sizeof port;
  while (of(graph.data(), graph.size(), static_cast<uint32_t>(ports.size()), &port) ==
         SLUICE_OK) {
    ports.push_back(port);
    port.struct_size = sizeof port;
  }
  return ports;
}

void RequireOneEach(const std::vector<std::string>& paths, size_t ports,
                    const char* what) {
  if (paths.size() == ports) return;
  throw Failure(kUsage, std::to_string(paths.size()) + " files for the " +
                            std::to_string(ports) + " " + what + " of the graph");
}

Stored RequireScale(const std::string& path, const sluice_graph_port_t& port) {
  const Stored stored = StoredOf(port.dtype);
  if (stored.bytes != 0 && port.scale > 0) return stored;
  throw Failure(kBadInput, path + ": " + port.name +
                               " has no scale, so that floats mean nothing to it");
}

Bytes Quantised(const std::string& path, const sluice_graph_port_t& port,
                const Bytes& floats) {
  const Stored stored = RequireScale(path, port);
  Bytes bytes(floats.size() / 4 * stored.bytes);
  for (size_t i = 0; i < floats.size() / 4; ++i) {
    float real;
    std::memcpy(&real, floats.data() + 4 * i, 4);
    // As TensorFlow Lite's QUANTIZE: ties round away from zero.
    const double steps =
        static_cast<double>(std::round(real / port.scale)) + port.zero_point;
    const double inside =
        std::isnan(steps) ? stored.low : std::clamp(steps, stored.low, stored.high);
    const uint64_t element = static_cast<uint64_t>(static_cast<int64_t>(inside));
    for (size_t b = 0; b < stored.bytes; ++b) {
      bytes[i * stored.bytes + b] = static_cast<uint8_t>(element >> (8 * b));
    }
  }
  return bytes;
}

Bytes Floats(const std::string& path, const sluice_graph_port_t& port,
             const Bytes& bytes) {
  const Stored stored = RequireScale(path, port);
  Bytes floats(bytes.size() / stored.bytes * 4);
  for (size_t i = 0; i < bytes.size() / stored.bytes; ++i) {
    uint64_t element = 0;
    for (size_t b = 0; b < stored.bytes; ++b) {
      element |= uint64_t{bytes[i * stored.bytes + b]} << (8 * b);
    }
    const uint64_t top = uint64_t{1} << (8 * stored.bytes - 1);
    const bool negative = stored.low < 0 && (element & top) != 0;
    const double steps = static_cast<double>(element) -
                         (negative ? 2 * static_cast<double>(top) : 0) -
                         port.zero_point;
    const float real = static_cast<float>(static_cast<double>(port.scale) * steps);
    std::memcpy(floats.data() + 4 * i, &real, 4);
  }
  return floats;
}

}  // namespace

std::vector<Bytes> ReadInputs(const std::vector<std::string>& paths,
                              const Bytes& graph) {
  std::vector<Bytes> inputs;
  if (paths.empty()) return inputs;
  const std::vector<sluice_graph_port_t> ports = Ports(graph, sluice_graph_input);
  RequireOneEach(paths, ports.size(), "inputs");
  for (size_t i = 0; i < paths.size(); ++i) {
    const Bytes bytes = ReadFile(paths[i]);
    inputs.push_back(IsFloats(paths[i]) ? Quantised(paths[i], ports[i], bytes) : bytes);
  }
  return inputs;
}

void WriteOutputs(const std::vector<std::string>& paths, const Bytes& graph,
                  const std::vector<Bytes>& outputs) {
  if (paths.empty()) return;
  const std::vector<sluice_graph_port_t> ports = Ports(graph, sluice_graph_output);
  RequireOneEach(paths, std::min(ports.size(), outputs.size()), "computed outputs");
  for (size_t i = 0; i < paths.size(); ++i) {
    const Bytes bytes =
        IsFloats(paths[i]) ? Floats(paths[i], ports[i], outputs[i]) : outputs[i];
    WriteFile(paths[i], bytes.data(), bytes.size());
  }
}

}  // namespace sluice::cli
