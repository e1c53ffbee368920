// SPDX-License-Identifier: Apache-2.0
#include "presets/hardware_json.h"

#include <flatbuffers/flatbuffers.h>
#include <flatbuffers/reflection_generated.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "import/error.h"
#include "presets/embedded.h"
#include "presets/json_text.h"

namespace sluice::presets {
namespace {

using import::Error;
using import::Fault;
using reflection::BaseType;
using reflection::Field;
using reflection::Object;

struct Reading {
  JsonText json;
  const reflection::Schema* schema;
  const char* value;  // that is read, for messages
  flatbuffers::FlatBufferBuilder builder;
};

// A field's value until its table is written.
struct Value {
  const Field* field;
  uint64_t whole;                   // of numbers and truths
  double real;                      // of doubles
  flatbuffers::Offset<void> other;  // where a text, list or table lies
};

const reflection::Schema& HardwareSchema() {
  return *reflection::GetSchema(Schemas().begin()->data);
}

const Object* ObjectOf(const reflection::Schema& schema, const Field& field) {
  return schema.objects()->Get(static_cast<uint32_t>(field.type()->index()));
}

const Field* FieldOf(const Object& type, const std::string& name) {
  for (const Field* field : *type.fields()) {
    if (field->name()->str() == name) return field;
  }
  return nullptr;
}

size_t SizeOf(BaseType type) {
  if (type == reflection::Bool) return 1;
  return type == reflection::ULong || type == reflection::Double ? 8 : 4;
}

[[noreturn]] void Refuse(const Reading& reading, const std::string& path,
                         const std::string& sentence) {
  const JsonText place = {reading.json.begin, reading.json.end, reading.value};
  throw Error(Fault::kBadInput, path + ": " + sentence + Where(place));
}

// The number of single changes between two names.
size_t Distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t corner = row[0]++;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = corner + (a[i - 1] == b[j - 1] ? 0 : 1);
      corner = row[j];
      row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

[[noreturn]] void RefuseName(const Reading& reading, const Object& type,
                             const std::string& path, const std::string& name) {
  std::string nearest;
  size_t least = 4;  // as far as a slip of the pen goes
  if (name.size() < 64) {
    for (const Field* field : *type.fields()) {
      const size_t distance = Distance(name, field->name()->str());
      if (distance >= least) continue;
      least = distance;
      nearest = field->name()->str();
    }
  }
  Refuse(reading, path + name.substr(0, 64),
         "there is no such field" +
             (nearest.empty() ? std::string() : "; did you mean " + nearest + "?"));
}

// Whole numbers may be written as 64, 0x40, 64.0 and "64".
bool WholeOf(const std::string& text, uint64_t* whole) {
  const char* first = text.data();
  const char* last = first + text.size();
  const bool hex = text.size() > 2 && text[0] == '0' && (text[1] | 0x20) == 'x';
  auto read = std::from_chars(hex ? first + 2 : first, last, *whole, hex ? 16 : 10);
  if (read.ec == std::errc() && read.ptr == last) return true;
  double real = 0;
  read = std::from_chars(first, last, real);
  if (read.ec != std::errc() || read.ptr != last || !(real >= 0 && real < 9e15) ||
      std::floor(real) != real) {
    return false;
  }
  *whole = static_cast<uint64_t>(real);
  return true;
}

std::string Shown(const JsonValue& value) {
  return value.kind == JsonKind::kText ? Quoted(value.text) : value.text;
}

void SetNumber(const Reading& reading, const std::string& path, const JsonValue& value,
               Value* out) {
  const BaseType type = out->field->type()->base_type();
  const bool number = value.kind == JsonKind::kNumber || value.kind == JsonKind::kText;
  if (type == reflection::Double) {
    const char* last = value.text.data() + value.text.size();
    const auto read = std::from_chars(value.text.data(), last, out->real);
    if (!number || read.ec != std::errc() || read.ptr != last ||
        !std::isfinite(out->real)) {
      Refuse(reading, path, Shown(value) + " is no number; 0.5 is one");
    }
  } else if (type == reflection::Bool) {
    if (!number) {
      out->whole = value.kind == JsonKind::kTrue ? 1 : 0;
    } else if (!WholeOf(value.text, &out->whole) || out->whole > 1) {
      Refuse(reading, path, Shown(value) + " is neither true nor false");
    }
  } else {
    const uint64_t most = SizeOf(type) == 8 ? UINT64_MAX : UINT32_MAX;
    if (!number || !WholeOf(value.text, &out->whole) || out->whole > most) {
      Refuse(reading, path,
             Shown(value) + " is no whole number from 0 to " + std::to_string(most));
    }
  }
}

flatbuffers::Offset<void> ReadTable(Reading* reading, const Object& type,
                                    const std::string& path);

flatbuffers::Offset<void> ReadList(Reading* reading, const Object& type,
                                   const std::string& path) {
  std::vector<flatbuffers::Offset<void>> tables;
  MustTake(&reading->json, '[');
  while (!Take(&reading->json, ']')) {
    const std::string item = path + "[" + std::to_string(tables.size()) + "]";
    const char next = Next(&reading->json);
    reading->value = reading->json.at;
    if (next != '{') {
      Refuse(*reading, item,
             "a {...} with fields is expected, not " + Beginning(&reading->json));
    }
    tables.push_back(ReadTable(reading, type, item + "."));
    if (!Take(&reading->json, ',') && Next(&reading->json) != ']') {
      MustTake(&reading->json, ']');
    }
  }
  return reading->builder.CreateVector(tables).o;
}

// False: the value is null, which stands for a field that is not there.
bool ReadField(Reading* reading, const std::string& path, Value* out) {
  const BaseType type = out->field->type()->base_type();
  const bool table = type == reflection::Obj, list = type == reflection::Vector;
  const char next = Next(&reading->json);
  reading->value = reading->json.at;
  if ((next == '{' && table) || (next == '[' && list)) {
    const Object& inner = *ObjectOf(*reading->schema, *out->field);
    out->other =
        table ? ReadTable(reading, inner, path + ".") : ReadList(reading, inner, path);
    return true;
  }
  if (next == '{' || next == '[') {
    Refuse(*reading, path,
           std::string(next == '{' ? "a {...}" : "a list") + " stands where " +
               (list    ? "a list"
                : table ? "a {...}"
                        : "a single value") +
               " is expected");
  }
  const JsonValue value = ReadValue(&reading->json);
  if (value.kind == JsonKind::kNull) return false;
  if (table || list) {
    Refuse(*reading, path,
           Shown(value) + " stands where " +
               (list ? "a list of {...}" : "a {...} with fields") + " is expected");
  } else if (type != reflection::String) {
    SetNumber(*reading, path, value, out);
  } else if (value.kind == JsonKind::kText) {
    out->other = reading->builder.CreateString(value.text).o;
  } else {
    Refuse(*reading, path, value.text + " is no text in quotes");
  }
  return true;
}

void WriteField(const Value& value, flatbuffers::FlatBufferBuilder* builder) {
  const Field& field = *value.field;
  const auto at = field.offset();
  const auto usual = static_cast<uint64_t>(field.default_integer());
  switch (field.type()->base_type()) {
    case reflection::Bool:
      builder->AddElement(at, static_cast<uint8_t>(value.whole),
                          static_cast<uint8_t>(usual));
      return;
    case reflection::UInt:
      builder->AddElement(at, static_cast<uint32_t>(value.whole),
                          static_cast<uint32_t>(usual));
      return;
    case reflection::ULong:
      builder->AddElement(at, value.whole, usual);
      return;
    case reflection::Double:
      builder->AddElement(at, value.real, field.default_real());
      return;
    default:
      builder->AddOffset(at, value.other);
  }
}

// The table's fields, the widest first, as flatc orders them: no bytes between them.
flatbuffers::Offset<void> WriteTable(std::vector<Value> values,
                                     flatbuffers::FlatBufferBuilder* builder) {
  std::sort(values.begin(), values.end(), [](const Value& a, const Value& b) {
    const size_t size = SizeOf(a.field->type()->base_type());
    const size_t other = SizeOf(b.field->type()->base_type());
    return size != other ? size > other : a.field->offset() > b.field->offset();
  });
  const flatbuffers::uoffset_t start = builder->StartTable();
  for (const Value& value : values) WriteField(value, builder);
  return builder->EndTable(start);
}

flatbuffers::Offset<void> ReadTable(Reading* reading, const Object& type,
                                    const std::string& path) {
  JsonText* json = &reading->json;
  std::vector<Value> values;
  MustTake(json, '{');
  while (!Take(json, '}')) {
    Next(json);
    reading->value = json->at;
    const std::string name = ReadName(json);
    Value value = {FieldOf(type, name), 0, 0, 0};
    if (value.field == nullptr) RefuseName(*reading, type, path, name);
    for (const Value& other : values) {
      if (other.field == value.field)
        Refuse(*reading, path + name, "it stands here twice");
    }
    MustTake(json, ':');
    if (ReadField(reading, path + name, &value)) values.push_back(value);
    if (!Take(json, ',') && Next(json) != '}') MustTake(json, '}');
  }
  return WriteTable(std::move(values), &reading->builder);
}

// The shortest text that is read as the same number, with a point or an exponent.
std::string TextOf(double real) {
  char room[32];
  const auto end = std::to_chars(room, room + sizeof room, real).ptr;
  std::string text(room, end);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::vector<const Field*> InOrder(const Object& type) {
  std::vector<const Field*> fields(type.fields()->begin(), type.fields()->end());
  std::sort(fields.begin(), fields.end(),
            [](const Field* a, const Field* b) { return a->id() < b->id(); });
  return fields;
}

struct Writing {
  const reflection::Schema* schema;
  std::string text;
  int indent;
};

void NewLine(Writing* out) { out->text += "\n" + std::string(2 * out->indent, ' '); }

void WriteText(const flatbuffers::Table& table, const Object& type, Writing* out);

void WriteList(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::Table>>& list,
               const Object& type, Writing* out) {
  out->text += "[";
  ++out->indent;
  for (uint32_t i = 0; i < list.size(); ++i) {
    if (i != 0) out->text += ",";
    NewLine(out);
    WriteText(*list.Get(i), type, out);
  }
  --out->indent;
  NewLine(out);
  out->text += "]";
}

void WriteValue(const flatbuffers::Table& table, const Field& field, Writing* out) {
  const auto at = field.offset();
  const auto usual = static_cast<uint64_t>(field.default_integer());
  switch (field.type()->base_type()) {
    case reflection::Bool:
      out->text += table.GetField<uint8_t>(at, usual != 0) != 0 ? "true" : "false";
      return;
    case reflection::UInt:
      out->text +=
          std::to_string(table.GetField<uint32_t>(at, static_cast<uint32_t>(usual)));
      return;
    case reflection::ULong:
      out->text += std::to_string(table.GetField<uint64_t>(at, usual));
      return;
    case reflection::Double:
      out->text += TextOf(table.GetField<double>(at, field.default_real()));
      return;
    case reflection::String:
      out->text += Quoted(table.GetPointer<const flatbuffers::String*>(at)->str());
      return;
    case reflection::Vector:
      WriteList(
          *table.GetPointer<
              const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::Table>>*>(at),
          *ObjectOf(*out->schema, field), out);
      return;
    default:
      WriteText(*table.GetPointer<const flatbuffers::Table*>(at),
                *ObjectOf(*out->schema, field), out);
  }
}

void WriteText(const flatbuffers::Table& table, const Object& type, Writing* out) {
  out->text += "{";
  ++out->indent;
  bool first = true;
  for (const Field* field : InOrder(type)) {
    const BaseType base = field->type()->base_type();
    const bool single = base != reflection::String && base != reflection::Vector &&
                        base != reflection::Obj;
    if (!single && !table.CheckField(field->offset())) continue;
    if (!first) out->text += ",";
    first = false;
    NewLine(out);
    out->text += "\"" + field->name()->str() + "\": ";
    WriteValue(table, *field, out);
  }
  --out->indent;
  NewLine(out);
  out->text += "}";
}

}  // namespace

std::vector<uint8_t> HardwareFromJson(const std::string& text, std::string* error) try {
  Reading reading = {JsonOf(text), &HardwareSchema(), nullptr,
                     flatbuffers::FlatBufferBuilder(1024)};
  const auto root = ReadTable(&reading, *reading.schema->root_table(), "");
  if (Next(&reading.json) != '\0' || reading.json.at != reading.json.end) {
    throw Error(Fault::kBadInput, "after the machine's '}' stands " +
                                      Beginning(&reading.json) + Where(reading.json));
  }
  const std::string identifier = reading.schema->file_ident()->str();
  reading.builder.Finish(root, identifier.c_str());
  const uint8_t* data = reading.builder.GetBufferPointer();
  return std::vector<uint8_t>(data, data + reading.builder.GetSize());
} catch (const Error& wrong) {
  *error = wrong.what();
  return {};
}

std::string HardwareToJson(const uint8_t* bytes) {
  const reflection::Schema& schema = HardwareSchema();
  Writing out = {&schema, "", 0};
  WriteText(*flatbuffers::GetRoot<flatbuffers::Table>(bytes), *schema.root_table(),
            &out);
  return out.text + "\n";
}

}  // namespace sluice::presets
