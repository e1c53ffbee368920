// SPDX-License-Identifier: Apache-2.0
#include "model/directive.h"

#include "base/checked.h"

namespace sluice {

namespace {

constexpr char kDimLetters[] = "NKCPQRSGHW";

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool IsNameChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         c == '_' || c == '.' || c == '/' || c == '-';
}

// One line of the text, read from left to right.
struct Cursor {
  const char* at;
  const char* end;
  int64_t line;
  Diagnostic* diagnostic;

  void Skip() {
    while (at < end && IsSpace(*at)) ++at;
  }
  bool Take(const char* word) {
    Skip();
    const char* p = at;
    for (; *word != '\0'; ++word, ++p) {
      if (p == end || *p != *word) return false;
    }
    at = p;
    return true;
  }
  Text Name() {
    Skip();
    const char* begin = at;
    while (at < end && IsNameChar(*at)) ++at;
    return Text{begin, static_cast<uint32_t>(at - begin)};
  }
  bool Number(int64_t* value) {
    Skip();
    const char* begin = at;
    *value = 0;
    for (; at < end && *at >= '0' && *at <= '9'; ++at) {
      if (!CheckedMultiply(*value, 10, value) ||
          !CheckedAdd(*value, *at - '0', value)) {
        return false;
      }
    }
    return at != begin && *value >= 1;
  }
  Status Bad(const char* what) const {
    return Fail(diagnostic, Status::kBadInput, "directives")
        .Say("line #: ", line)
        .Text(what);
  }
};

uint8_t DimOfName(Text name) {
  constexpr struct {
    char name[3];
    uint8_t dim;
  } kAliases[] = {{"Xi", kDimW}, {"Yi", kDimH}, {"Xo", kDimQ}, {"Yo", kDimP}};
  if (name.size == 1) {
    for (uint8_t d = 0; d < kDirectiveDims; ++d) {
      if (kDimLetters[d] == name.data[0]) return d;
    }
  }
  for (const auto& alias : kAliases) {
    if (name.size == 2 && memcmp(name.data, alias.name, 2) == 0) return alias.dim;
  }
  return kDirectiveDims;
}

// (dim=size, ..., shr=4) or (dim+=step, ..., count)
Status ParseTerms(Cursor* cursor, Directive* directive) {
  const bool tensor = directive->kind == DirectiveKind::kTensor;
  if (!cursor->Take("(")) return cursor->Bad("expected (");
  bool counted = false;
  while (!cursor->Take(")")) {
    if ((directive->terms != 0 || counted) && !cursor->Take(",")) {
      return cursor->Bad("expected , or )");
    }
    if (counted) return cursor->Bad("nothing may follow the count");
    int64_t value = 0;
    if (directive->kind == DirectiveKind::kStack && cursor->Number(&value)) {
      directive->count = value;
      counted = true;
      continue;
    }
    const Text name = cursor->Name();
    const bool share = tensor && SameText(name, Text{"shr", 3});
    const uint8_t dim = DimOfName(name);
    if (!share && dim == kDirectiveDims) return cursor->Bad("unknown dim");
    if (!cursor->Take(tensor ? "=" : "+=")) return cursor->Bad("expected = or +=");
    if (!cursor->Number(&value)) return cursor->Bad("expected a number of at least 1");
    if (share) {
      directive->count = value;
      counted = true;
      continue;
    }
    for (uint32_t i = 0; i < directive->terms; ++i) {
      if (directive->term[i].dim == dim) return cursor->Bad("the dim is given twice");
    }
    directive->term[directive->terms++] = DirectiveTerm{dim, value};
  }
  if (directive->kind == DirectiveKind::kStack && !counted) {
    return cursor->Bad("a stack needs a count");
  }
  if (directive->kind == DirectiveKind::kUpdate && directive->terms == 0) {
    return cursor->Bad("an update needs a dim");
  }
  return Status::kOk;
}

Status ParseDirective(Cursor* cursor, Directive* directive) {
  *directive = Directive{};
  directive->axis = -1;
  directive->count = 1;
  if (cursor->Take("tensor")) {
    directive->kind = DirectiveKind::kTensor;
    if (!cursor->Take("{")) return cursor->Bad("expected {");
    directive->name = cursor->Name();
    if (directive->name.size == 0 || !cursor->Take("}")) {
      return cursor->Bad("expected a name and }");
    }
  } else if (cursor->Take("stack")) {
    directive->kind = DirectiveKind::kStack;
    if (cursor->Take("@")) {
      int64_t axis = 0;
      if (!cursor->Take("0") && !cursor->Number(&axis)) return cursor->Bad("bad axis");
      if (axis >= int64_t{kMaxAxes}) return cursor->Bad("bad axis");
      directive->axis = static_cast<int8_t>(axis);
    }
  } else if (cursor->Take("update")) {
    directive->kind = DirectiveKind::kUpdate;
  } else {
    return cursor->Bad("expected tensor, stack or update");
  }
  SLUICE_TRY(ParseTerms(cursor, directive));
  cursor->Skip();
  return cursor->at == cursor->end ? Status::kOk : cursor->Bad("text after )");
}

// Flat lists while parsing; each `end` indexes into the next finer list.
struct Reader {
  explicit Reader(Arena* arena)
      : layers(arena),
        levels(arena),
        directives(arena),
        layer_end(arena),
        level_end(arena) {}
  Vector<DirectiveLayer> layers;
  Vector<DirectiveLevel> levels;
  Vector<Directive> directives;
  Vector<size_t> layer_end;
  Vector<size_t> level_end;
};

Status ReadLine(Cursor* cursor, Reader* reader) {
  const bool indented = cursor->at < cursor->end && IsSpace(*cursor->at);
  cursor->Skip();
  if (cursor->at == cursor->end) return Status::kOk;
  Cursor ahead = *cursor;
  const Text name = ahead.Name();
  if (name.size != 0 && ahead.Take(":")) {
    ahead.Skip();
    if (ahead.at != ahead.end) return ahead.Bad("text after :");
    if (!indented) {
      SLUICE_TRY(reader->layers.Push(DirectiveLayer{name, {}}));
      return reader->layer_end.Push(reader->levels.size());
    }
    if (reader->layers.size() == 0) return cursor->Bad("a level outside a layer");
    SLUICE_TRY(reader->levels.Push(DirectiveLevel{name, {}}));
    reader->layer_end[reader->layers.size() - 1] = reader->levels.size();
    return reader->level_end.Push(reader->directives.size());
  }
  if (reader->levels.size() == 0 || reader->layer_end[reader->layers.size() - 1] == 0) {
    return cursor->Bad("a directive outside a level");
  }
  Directive directive;
  SLUICE_TRY(ParseDirective(cursor, &directive));
  SLUICE_TRY(reader->directives.Push(directive));
  reader->level_end[reader->levels.size() - 1] = reader->directives.size();
  return Status::kOk;
}

struct Writer {
  char* buffer;
  size_t capacity;
  size_t size;
  void Put(char c) {
    if (size < capacity) buffer[size] = c;
    ++size;
  }
  void Put(Text text) {
    for (uint32_t i = 0; i < text.size; ++i) Put(text.data[i]);
  }
  void Put(const char* text) {
    for (; *text != '\0'; ++text) Put(*text);
  }
  void Put(int64_t value) {
    char digits[20];
    int n = 0;
    do {
      digits[n++] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value != 0);
    while (n > 0) Put(digits[--n]);
  }
};

void PrintDirective(const Directive& directive, Writer* out) {
  const bool tensor = directive.kind == DirectiveKind::kTensor;
  out->Put(tensor                                    ? "  tensor{"
           : directive.kind == DirectiveKind::kStack ? "  stack"
                                                     : "  update");
  if (tensor) {
    out->Put(directive.name);
    out->Put('}');
  } else if (directive.axis >= 0) {
    out->Put('@');
    out->Put(int64_t{directive.axis});
  }
  out->Put('(');
  for (uint32_t i = 0; i < directive.terms; ++i) {
    if (i > 0) out->Put(", ");
    out->Put(kDimLetters[directive.term[i].dim]);
    out->Put(tensor ? "=" : "+=");
    out->Put(directive.term[i].value);
  }
  const bool shared = tensor && directive.count > 1;
  if (shared || directive.kind == DirectiveKind::kStack) {
    if (directive.terms > 0) out->Put(", ");
    if (shared) out->Put("shr=");
    out->Put(directive.count);
  }
  out->Put(")\n");
}

// Extent that all stacked buffers of the level cover together, in the tensor's images
// (N) or channels (C, K and G).
int64_t Covered(const DirectiveLevel& level, const Directive& tensor, bool channels) {
  int64_t covered = 1;
  for (uint32_t i = 0; i < tensor.terms; ++i) {
    const uint32_t dim = tensor.term[i].dim;
    const bool channel = dim == kDimC || dim == kDimK || dim == kDimG;
    if (channels ? !channel : dim != kDimN) continue;
    int64_t extent = tensor.term[i].value;
    for (const Directive& stack : level.directives) {
      if (stack.kind != DirectiveKind::kStack) continue;
      for (uint32_t j = 0; j < stack.terms; ++j) {
        if (stack.term[j].dim == dim) extent += stack.term[j].value * (stack.count - 1);
      }
    }
    covered *= extent;
  }
  return covered;
}

const Directive* FindTensor(const DirectiveLevel& level, Text name) {
  for (const Directive& directive : level.directives) {
    if (directive.kind == DirectiveKind::kTensor && SameText(directive.name, name)) {
      return &directive;
    }
  }
  return nullptr;
}

Status CompareTensor(const DirectiveLevel& a, const Directive& tensor,
                     const DirectiveLevel& b, Diagnostic* diagnostic) {
  const Directive* other = FindTensor(b, tensor.name);
  if (other == nullptr || !SameText(a.name, b.name)) return Status::kOk;
  for (int i = 0; i < 2; ++i) {
    const bool channels = i == 1;
    const int64_t made = Covered(a, tensor, channels);
    const int64_t taken = Covered(b, *other, channels);
    if (made == taken) continue;
    return Fail(diagnostic, Status::kRejected, "directives")
        .Text("tensor ")
        .Text(tensor.name.data, tensor.name.size)
        .Text(" at ")
        .Text(a.name.data, a.name.size)
        .Text(channels ? " covers channels " : " covers images ")
        .Say("# in one layer, # in another", made, taken);
  }
  return Status::kOk;
}

}  // namespace

Status ParseDirectives(Text source, Arena* arena, DirectiveProgram* program,
                       Diagnostic* diagnostic) {
  Reader reader(arena);
  const char* at = source.data;
  const char* end = source.data + source.size;
  for (int64_t line = 1; at < end; ++line) {
    const char* stop = at;
    while (stop < end && *stop != '\n') ++stop;
    const char* comment = at;
    while (comment < stop && *comment != '%') ++comment;
    const char* last = comment;
    while (last > at && IsSpace(last[-1])) --last;
    Cursor cursor = {at, last, line, diagnostic};
    SLUICE_TRY(ReadLine(&cursor, &reader));
    at = stop == end ? end : stop + 1;
  }
  size_t level = 0, directive = 0;
  for (size_t i = 0; i < reader.layers.size(); ++i) {
    const size_t first = level;
    for (; level < reader.layer_end[i]; ++level) {
      reader.levels[level].directives =
          reader.directives.span().Slice(directive, reader.level_end[level]);
      directive = reader.level_end[level];
    }
    reader.layers[i].levels = reader.levels.span().Slice(first, level);
  }
  program->layers = reader.layers.span();
  return Status::kOk;
}

Status PrintDirectives(const DirectiveProgram& program, char* buffer, size_t capacity,
                       size_t* size) {
  Writer out = {buffer, capacity, 0};
  for (const DirectiveLayer& layer : program.layers) {
    out.Put(layer.name);
    out.Put(":\n");
    for (const DirectiveLevel& level : layer.levels) {
      out.Put(' ');
      out.Put(level.name);
      out.Put(":\n");
      for (const Directive& directive : level.directives) {
        PrintDirective(directive, &out);
      }
    }
  }
  *size = out.size;
  return out.size <= capacity ? Status::kOk : Status::kBufferTooSmall;
}

Status CheckForwarding(const DirectiveProgram& program, Diagnostic* diagnostic) {
  for (size_t i = 0; i < program.layers.size(); ++i) {
    for (size_t j = i + 1; j < program.layers.size(); ++j) {
      for (const DirectiveLevel& a : program.layers[i].levels) {
        for (const DirectiveLevel& b : program.layers[j].levels) {
          for (const Directive& tensor : a.directives) {
            if (tensor.kind != DirectiveKind::kTensor) continue;
            SLUICE_TRY(CompareTensor(a, tensor, b, diagnostic));
          }
        }
      }
    }
  }
  return Status::kOk;
}

}  // namespace sluice
