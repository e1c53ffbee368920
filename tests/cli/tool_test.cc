// SPDX-License-Identifier: Apache-2.0
// What the tool is made of besides importers: quantities, files, descriptors, reports.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "cli/failure.h"
#include "cli/files.h"
#include "cli/hardware_files.h"
#include "cli/quantities.h"
#include "cli/report.h"

namespace sluice::cli {
namespace {

TEST_CASE("quantities: sizes and times as people type them") {
  uint64_t value = 0;
  const auto bytes = [&](const char* text) { return ParseBytes(text, &value); };
  CHECK((bytes("4096") && value == 4096));
  CHECK((bytes("64K") && value == 65536));
  CHECK((bytes("1.5MiB") && value == 1572864));
  CHECK((bytes("2gb") && value == uint64_t{2} << 30));
  for (const char* bad :
       {"", "K", "-1", "1.3B", "12X", "1K2", "99999999999999999999"}) {
    CHECK_MESSAGE(!bytes(bad), bad);
  }
  const auto time = [&](const char* text) { return ParseDuration(text, &value); };
  CHECK((time("50ms") && value == 50000000));
  CHECK((time("1.5s") && value == 1500000000));
  CHECK((time("7") && value == 7000000));
  for (const char* bad : {"", "ms", "5m", "1 s", "0.5ns"})
    CHECK_MESSAGE(!time(bad), bad);
}

TEST_CASE("hardware: a JSON error says where, an unknown preset says what there is") {
  const auto what = [](const auto& work) -> std::string {
    try {
      work();
    } catch (const Failure& failure) {
      CHECK(failure.code() == kBadInput);
      return failure.what();
    }
    return "";
  };
  CHECK(what([] {
          HardwareFromJson("{ \"macs_per_cycles\": 1 }");
        }).find("macs_per_cycles") != std::string::npos);
  CHECK(what([] { LoadHardware("nonesuch"); }).find("soma-edge") != std::string::npos);
}

int CodeOfWrite(const std::string& path, const Bytes& bytes) {
  try {
    WriteFile(path, bytes.data(), bytes.size());
    return kDone;
  } catch (const Failure& failure) {
    return failure.code();
  }
}

TEST_CASE(
    "files: a write replaces whole files and leaves nothing behind when it fails") {
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::temp_directory_path() / ("sluice_files_" + std::to_string(getpid()));
  fs::create_directory(folder);
  const std::string path = (folder / "a.bin").string();
  CHECK(CodeOfWrite(path, Bytes(100000, 1)) == kDone);
  CHECK(CodeOfWrite(path, Bytes(7, 2)) == kDone);
  CHECK(ReadFile(path) == Bytes(7, 2));
  CHECK(CodeOfWrite((folder / "none" / "b.bin").string(), Bytes(1, 1)) == kIo);
  CHECK(CodeOfWrite(folder.string(), Bytes(1, 1)) == kIo);
  int entries = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    CHECK(entry.path().filename() == "a.bin");
    ++entries;
  }
  CHECK(entries == 1);
  fs::remove_all(folder);
  if (fs::exists("/dev/full")) CHECK(CodeOfWrite("/dev/full", Bytes(10, 1)) == kIo);
}

TEST_CASE("report: numbers have groups, units and aligned columns") {
  CHECK(Grouped(0) == "0");
  CHECK(Grouped(1234567) == "1,234,567");
  CHECK(BytesText(1536) == "1.50 KiB");
  CHECK(EnergyText(2.5e6) == "2.50 uJ");
  CHECK(TimeText(0.0123) == "12.3 ms");
  Report report("title");
  report.Line("a", "1", "x");
  report.Line("bcd", "22", "y");
  CHECK(report.Text() == "title\n  a    1   x\n  bcd  22  y\n");
}

}  // namespace
}  // namespace sluice::cli
