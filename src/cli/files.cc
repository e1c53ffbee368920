// SPDX-License-Identifier: Apache-2.0
#include "cli/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "cli/failure.h"

namespace sluice::cli {
namespace {

[[noreturn]] void FailIo(const std::string& what, const std::string& path, int error) {
  throw Failure(kIo, what + " " + path + ": " + std::strerror(error));
}

// An open file descriptor; the temporary name is removed unless Keep was called.
class OpenFile {
 public:
  OpenFile(int descriptor, std::string temporary)
      : descriptor_(descriptor), temporary_(std::move(temporary)) {}
  ~OpenFile() {
    if (descriptor_ >= 0) close(descriptor_);
    if (!temporary_.empty()) unlink(temporary_.c_str());
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int descriptor() const { return descriptor_; }
  int Close() {
    const int result = close(descriptor_);
    descriptor_ = -1;
    return result;
  }
  void Keep() { temporary_.clear(); }

 private:
  int descriptor_;
  std::string temporary_;
};

void WriteAll(int descriptor, const void* bytes, size_t size, const std::string& path) {
  const char* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = write(descriptor, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) FailIo("cannot write", path, errno);
    at += written;
    size -= static_cast<size_t>(written);
  }
}

// Devices and pipes cannot be replaced by a rename; they are written in place.
bool WriteInPlace(const std::string& path, const void* bytes, size_t size) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode)) return false;
  OpenFile file(open(path.c_str(), O_WRONLY | O_CLOEXEC), "");
  if (file.descriptor() < 0) FailIo("cannot open", path, errno);
  WriteAll(file.descriptor(), bytes, size, path);
  if (file.Close() != 0) FailIo("cannot write", path, errno);
  return true;
}

}  // namespace

Bytes ReadFile(const std::string& path) {
  OpenFile file(open(path.c_str(), O_RDONLY | O_CLOEXEC), "");
  if (file.descriptor() < 0) FailIo("cannot open", path, errno);
  struct stat status;
  if (fstat(file.descriptor(), &status) != 0) FailIo("cannot read", path, errno);
  if (S_ISDIR(status.st_mode)) FailIo("cannot read", path, EISDIR);
  Bytes bytes;
  size_t size = 0;
  for (;;) {
    // One byte more than is left of a file, so that its end is seen; of a pipe, as much
    // again.
    const size_t length = static_cast<size_t>(std::max<off_t>(status.st_size, 0));
    const size_t room = S_ISREG(status.st_mode) && size <= length
                            ? length - size + 1
                            : std::max<size_t>(size, size_t{1} << 16);
    bytes.resize(size + room);
    const ssize_t got = read(file.descriptor(), bytes.data() + size, room);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) FailIo("cannot read", path, errno);
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  if (size == 0) throw Failure(kBadInput, path + " is empty");
  bytes.resize(size);
  return bytes;
}

MappedFile::MappedFile(const std::string& path) {
  OpenFile file(open(path.c_str(), O_RDONLY | O_CLOEXEC), "");
  struct stat status;
  if (file.descriptor() >= 0 && fstat(file.descriptor(), &status) == 0 &&
      S_ISREG(status.st_mode) && status.st_size > 0) {
    const size_t size = static_cast<size_t>(status.st_size);
    void* const pages =
        mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
    if (pages != MAP_FAILED) {
      data_ = static_cast<const uint8_t*>(pages);
      size_ = size;
      return;
    }
  }
  own_ = ReadFile(path);
  data_ = own_.data();
  size_ = own_.size();
}

MappedFile::~MappedFile() {
  if (own_.empty()) munmap(const_cast<uint8_t*>(data_), size_);
}

void MappedFile::GiveBack(const void* bytes, size_t size) const {
  if (!own_.empty()) return;
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t first = reinterpret_cast<uintptr_t>(bytes);
  const uintptr_t begin = (first + page - 1) / page * page;
  const uintptr_t end = (first + size) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

std::string KindOf(const Bytes& file) {
  if (file.size() < 8) return "";
  const std::string identifier(file.begin() + 4, file.begin() + 8);
  if (identifier == "SLG1") return "graph";
  if (identifier == "SLH1") return "machine";
  return identifier == "SLP1" ? "plan file" : "";
}

Bytes ReadGraph(const std::string& path, const std::string& taker) {
  Bytes bytes = ReadFile(path);
  const std::string kind = KindOf(bytes);
  if (kind.empty() || kind == "graph") return bytes;
  throw Failure(kBadInput,
                path + " is a " + kind + "; " + taker + " takes a graph (.slg)");
}

void WriteFile(const std::string& path, const void* bytes, size_t size) {
  if (WriteInPlace(path, bytes, size)) return;
  std::string temporary = path + ".XXXXXX";
  const int descriptor = mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0) FailIo("cannot create", path, errno);
  OpenFile file(descriptor, temporary);  // mkostemp has filled in the name
  WriteAll(file.descriptor(), bytes, size, path);
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(file.descriptor(), 0666 & ~mask);
  if (fsync(file.descriptor()) != 0) FailIo("cannot write", path, errno);
  if (file.Close() != 0) FailIo("cannot write", path, errno);
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    FailIo("cannot write", path, errno);
  }
  file.Keep();
}

std::string FileStem(const std::string& path) {
  return std::filesystem::path(path).stem().string();
}

std::string FileExtension(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

}  // namespace sluice::cli
