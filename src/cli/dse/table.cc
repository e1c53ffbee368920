// SPDX-License-Identifier: Apache-2.0
#include "cli/dse/table.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "cli/failure.h"
#include "cli/files.h"

namespace sluice::cli {
namespace {

[[noreturn]] void FailIo(const std::string& what, const std::string& path) {
  throw Failure(kIo, what + " " + path + ": " + std::strerror(errno));
}

std::string Quoted(const std::string& cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string out = "\"";
  for (const char c : cell) {
    if (c == '"') out += '"';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out + "\"";
}

// Drops a half-written last line. What cannot be the beginning of a table is refused.
void DropHalfLine(const std::string& path, const std::string& header,
                  std::string* text) {
  const size_t whole =
      text->find('\n') == std::string::npos ? 0 : text->rfind('\n') + 1;
  if (whole == 0 && header.compare(0, text->size(), *text) != 0) {
    throw Failure(kBadInput, path + " holds no table; name another file");
  }
  text->resize(whole);
}

// Whether a new file with this text is there.
bool WriteBeside(const std::string& path, const std::string& text, mode_t mode) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return false;
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = write(file, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) break;
    done += static_cast<size_t>(written);
  }
  const bool good = done == text.size() && fchmod(file, mode & 0777) == 0;
  if (close(file) == 0 && good) return true;
  unlink(path.c_str());
  return false;
}

}  // namespace

std::string CsvLine(const Cells& cells) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) line += (i ? "," : "") + Quoted(cells[i]);
  return line + "\n";
}

bool ParseCsvLine(const std::string& line, Cells* cells) {
  cells->assign(1, "");
  bool quoted = false, closed = false;  // closed: only a comma may follow
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted) {
      if (c != '"') {
        cells->back() += c;
      } else if (i + 1 < line.size() && line[i + 1] == '"') {
        cells->back() += line[++i];
      } else {
        quoted = false;
        closed = true;
      }
    } else if (c == ',') {
      cells->emplace_back();
      closed = false;
    } else if (closed || (c == '"' && !cells->back().empty())) {
      return false;
    } else if (c == '"') {
      quoted = true;
    } else {
      cells->back() += c;
    }
  }
  return !quoted;
}

SweepTable::SweepTable(std::string path, Cells columns, size_t keys)
    : path_(std::move(path)), columns_(std::move(columns)), keys_(keys) {
  descriptor_ = open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) FailIo("cannot open", path_);
  try {
    struct stat status;
    if (fstat(descriptor_, &status) != 0) FailIo("cannot read", path_);
    std::string text;
    if (S_ISREG(status.st_mode)) {
      if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
        throw Failure(kIo, path_ + " is in use by another run");
      }
      const Bytes bytes = status.st_size == 0 ? Bytes() : ReadFile(path_);
      text.assign(bytes.begin(), bytes.end());
      DropHalfLine(path_, CsvLine(columns_), &text);
    }
    for (const Cells& row : Rows(text, path_)) rows_.insert_or_assign(KeyOf(row), row);
    if (S_ISREG(status.st_mode) && text.size() != static_cast<size_t>(status.st_size) &&
        ftruncate(descriptor_, static_cast<off_t>(text.size())) != 0) {
      FailIo("cannot write", path_);
    }
    if (text.empty()) Write(CsvLine(columns_));
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

SweepTable::~SweepTable() { close(descriptor_); }

Cells SweepTable::KeyOf(const Cells& row) const {
  return Cells(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(keys_));
}

// Parses whole lines, the first of which holds the columns' names.
std::vector<Cells> SweepTable::Rows(const std::string& text,
                                    const std::string& path) const {
  std::vector<Cells> rows;
  size_t number = 0;
  for (size_t at = 0; at < text.size(); ++number) {
    const size_t end = text.find('\n', at);
    std::string line = text.substr(at, end - at);
    at = end + 1;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    Cells cells;
    if (!ParseCsvLine(line, &cells) || cells.size() != columns_.size() ||
        (number == 0 && cells != columns_)) {
      throw Failure(
          kBadInput,
          path + (number == 0 ? " holds a table with other columns; name another file"
                              : ", line " + std::to_string(number + 1) +
                                    ": this is no row of " +
                                    std::to_string(columns_.size()) + " cells"));
    }
    if (number != 0) rows.push_back(cells);
  }
  return rows;
}

size_t SweepTable::Merge(const std::string& path) {
  const Bytes bytes = ReadFile(path);
  std::string text(bytes.begin(), bytes.end());
  DropHalfLine(path, CsvLine(columns_), &text);
  size_t taken = 0;
  for (const Cells& row : Rows(text, path)) {
    const Cells* const known = Find(KeyOf(row));
    if (known != nullptr && *known <= row) continue;
    taken += known == nullptr;
    Append(row);
  }
  return taken;
}

std::string SweepTable::Ordered(const std::vector<Cells>& keys) const {
  std::map<Cells, Cells> left = rows_;
  std::string text = CsvLine(columns_);
  for (const Cells& key : keys) {
    const auto row = left.find(key);
    if (row == left.end()) continue;
    text += CsvLine(row->second);
    left.erase(row);
  }
  for (const auto& [key, row] : left) text += CsvLine(row);
  return text;
}

void SweepTable::Order(const std::vector<Cells>& keys) const {
  struct stat status;
  if (fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) return;
  const std::string text = Ordered(keys);
  const Bytes now = ReadFile(path_);
  if (text.size() == now.size() && std::equal(text.begin(), text.end(), now.begin())) {
    return;
  }
  std::error_code error;
  const std::string real = std::filesystem::canonical(path_, error).string();
  const std::string beside = real + ".ordered";
  if (error || !WriteBeside(beside, text, status.st_mode)) return;
  if (rename(beside.c_str(), real.c_str()) != 0) unlink(beside.c_str());
}

void SweepTable::Write(const std::string& line) {
  size_t done = 0;
  while (done < line.size()) {
    const ssize_t written = write(descriptor_, line.data() + done, line.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) FailIo("cannot write", path_);
    done += static_cast<size_t>(written);
  }
}

const Cells* SweepTable::Find(const Cells& key) const {
  const auto row = rows_.find(key);
  return row == rows_.end() ? nullptr : &row->second;
}

void SweepTable::Append(const Cells& row) {
  Write(CsvLine(row));
  rows_.insert_or_assign(KeyOf(row), row);
}

}  // namespace sluice::cli
