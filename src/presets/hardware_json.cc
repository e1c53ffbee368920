// SPDX-License-Identifier: Apache-2.0
#include "presets/hardware_json.h"

#include "flatbuffers/idl.h"
#include "presets/embedded.h"

namespace sluice::presets {
namespace {

bool LoadSchema(flatbuffers::Parser* parser) {
  for (const EmbeddedFile& file : Schemas()) {
    if (std::string(file.name) != "hardware") continue;
    const std::string text(reinterpret_cast<const char*>(file.data), file.size);
    return parser->Parse(text.c_str());
  }
  return false;
}

}  // namespace

std::vector<uint8_t> HardwareFromJson(const std::string& text, std::string* error) {
  flatbuffers::IDLOptions options;
  options.strict_json = false;
  flatbuffers::Parser parser(options);
  if (!LoadSchema(&parser) || !parser.ParseJson(text.c_str())) {
    *error = parser.error_;
    return {};
  }
  const uint8_t* data = parser.builder_.GetBufferPointer();
  return std::vector<uint8_t>(data, data + parser.builder_.GetSize());
}

std::string HardwareToJson(const uint8_t* bytes) {
  flatbuffers::IDLOptions options;
  options.strict_json = true;
  options.indent_step = 2;
  options.output_default_scalars_in_json = true;
  flatbuffers::Parser parser(options);
  std::string text;
  if (!LoadSchema(&parser) || !flatbuffers::GenerateText(parser, bytes, &text))
    return {};
  return text;
}

}  // namespace sluice::presets
