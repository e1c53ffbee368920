// SPDX-License-Identifier: Apache-2.0
// What the tool is made of besides importers: quantities, files, descriptors, reports.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "cli/embedded.h"
#include "cli/failure.h"
#include "cli/files.h"
#include "cli/hardware_files.h"
#include "cli/hardware_json.h"
#include "cli/quantisation.h"
#include "cli/quantities.h"
#include "cli/report.h"
#include "sluice/ops.h"

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

TEST_CASE("quantisation: factors are fractions of 2^31 and a shift") {
  const auto is = [](Factor f, int64_t m, int32_t s) {
    return f.multiplier == m && f.shift == s;
  };
  CHECK(is(QuantiseFactor(0), 0, 0));
  CHECK(is(QuantiseFactor(1), 1 << 30, 1));
  CHECK(is(QuantiseFactor(0.5), 1 << 30, 0));
  CHECK(is(QuantiseFactor(0.75), 3 << 29, 0));
  CHECK(is(QuantiseFactor(std::nextafter(1.0, 0.0)), 1 << 30, 1));  // rounds up to 1
  CHECK(is(QuantiseFactor(1e-20), 0, 0));
  CHECK(QuantiseFactor(2.0 / 3).multiplier == 1431655765);
  CHECK(QuantiseFactorUp(2.0 / 3).multiplier == 1431655766);
}

TEST_CASE("quantisation: clamps stay inside the type and survive tiny scales") {
  const float infinity = std::numeric_limits<float>::infinity();
  const Range relu6 = ClampRange(SLUICE_DTYPE_INT8, {6.0f / 255, -128}, 0, 6);
  CHECK((relu6.min == -128 && relu6.max == 127));
  const Range relu = ClampRange(SLUICE_DTYPE_UINT8, {0.1f, 100}, 0, infinity);
  CHECK((relu.min == 100 && relu.max == 255));
  const Range tiny = ClampRange(SLUICE_DTYPE_INT8, {1e-30f, 0}, -1, 1);
  CHECK((tiny.min == -128 && tiny.max == 127));
}

TEST_CASE("hardware: presets survive the way to JSON and back unchanged") {
  int count = 0;
  for (const EmbeddedFile& preset : HardwarePresets()) {
    const Bytes bytes(preset.data, preset.data + preset.size);
    std::string error;
    CHECK(HardwareFromJson(HardwareAsJson(bytes), &error) == bytes);
    CHECK(FactsOf(bytes).name == preset.name);
    ++count;
  }
  CHECK(count == 11);
}

TEST_CASE("hardware: a JSON error says where, an unknown preset says what there is") {
  std::string error;
  CHECK(HardwareFromJson("{ \"macs_per_cycles\": 1 }", &error).empty());
  CHECK(error.find("macs_per_cycles") != std::string::npos);
  try {
    LoadHardware("nonesuch");
    FAIL("loaded");
  } catch (const Failure& failure) {
    CHECK(failure.code() == kBadInput);
    CHECK(std::string(failure.what()).find("soma-edge") != std::string::npos);
  }
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
