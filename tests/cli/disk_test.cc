// SPDX-License-Identifier: Apache-2.0
// What the whole tool does and says when its output cannot be written.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/failure.h"
#include "cli/files.h"
#include "tests/import/tiny_model.h"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

struct Ended {
  int code;  // -1: ended by a signal
  std::string said;
};

// Runs the tool in `folder` with files of at most `limit` bytes (0 = no limit). Its
// messages go through a pipe, which has no limit.
Ended RunTool(const fs::path& folder, std::vector<std::string> arguments,
              uint64_t limit) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    dup2(ends[1], 2);
    close(ends[0]);
    close(ends[1]);
    if (limit != 0) {
      const rlimit most = {limit, limit};
      setrlimit(RLIMIT_FSIZE, &most);
    }
    if (chdir(folder.c_str()) != 0) _exit(127);
    std::vector<char*> argv = {const_cast<char*>(SLUICE_TOOL)};
    for (std::string& a : arguments) argv.push_back(a.data());
    argv.push_back(nullptr);
    execv(SLUICE_TOOL, argv.data());
    _exit(127);
  }
  close(ends[1]);
  Ended ended = {-1, {}};
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) {
    ended.said.append(buffer, static_cast<size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) ended.code = WEXITSTATUS(status);
  return ended;
}

std::vector<std::string> Entries(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST_CASE("a full disk: exit code 6, the old file whole, nothing half-written") {
  const fs::path folder =
      fs::temp_directory_path() / ("sluice_disk_" + std::to_string(getpid()));
  fs::create_directory(folder);
  const Bytes model = import::TinyConvolution();
  WriteFile((folder / "m.tflite").string(), model.data(), model.size());
  const std::vector<std::string> on = {"p.slp", "--graph", "g.slg", "--hw", "mcu-256k"};
  const auto with = [&](std::vector<std::string> front, std::vector<std::string> back) {
    front.insert(front.end(), on.begin(), on.end());
    front.insert(front.end(), back.begin(), back.end());
    return front;
  };
  const std::vector<std::vector<std::string>> commands = {
      {"import", "m.tflite", "-o", "g.slg"},
      {"schedule", "g.slg", "--hw", "mcu-256k", "-o", "p.slp"},
      {"zoo", "mobilenet_v1", "-o", "z.slg"},
      {"hw", "mcu-256k", "-o", "h.slh"},
      with({"simulate"}, {"--trace", "t.json"}),
      with({"plot"}, {"-o", "p.svg"}),
  };
  for (const auto& command : commands) {
    const std::string output = command.back();
    CAPTURE(command[0]);
    const auto before = Entries(folder);
    // No output of an earlier run exists yet.
    Ended ended = RunTool(folder, command, 64);
    CHECK(ended.code == kIo);
    CHECK(ended.said.find("cannot write " + output + ": File too large") !=
          std::string::npos);
    CHECK(Entries(folder) == before);
    ended = RunTool(folder, command, 0);
    INFO(ended.said);
    REQUIRE(ended.code == kDone);
    const Bytes whole = ReadFile((folder / output).string());
    REQUIRE(whole.size() > 64);
    const auto after = Entries(folder);
    CHECK(RunTool(folder, command, 64).code == kIo);
    CHECK(ReadFile((folder / output).string()) == whole);
    CHECK(Entries(folder) == after);
    // A file in a folder that does not exist.
    auto nowhere = command;
    nowhere.back() = "none/" + output;
    ended = RunTool(folder, nowhere, 0);
    CHECK(ended.code == kIo);
    CHECK(ended.said.find("cannot create none/" + output +
                          ": No such file or directory") != std::string::npos);
    CHECK(Entries(folder) == after);
    // A device that is always full.
    if (!fs::exists("/dev/full")) continue;
    auto full = command;
    full.back() = "/dev/full";
    if (command[0] == "plot") continue;  // takes .svg and .html only
    ended = RunTool(folder, full, 0);
    CHECK(ended.code == kIo);
    CHECK(ended.said.find("cannot write /dev/full: No space left on device") !=
          std::string::npos);
  }
  fs::remove_all(folder);
}

TEST_CASE("zero is no deadline and no budget: said, not taken as no limit") {
  for (const char* option : {"--deadline", "--budget", "--memory"}) {
    const Ended ended =
        RunTool(".", {"schedule", "g.slg", "--hw", "mcu-256k", option, "0"}, 0);
    CHECK(ended.code == kUsage);
    CHECK(ended.said.find(std::string(option) + ": must be above zero") !=
          std::string::npos);
  }
}

}  // namespace
}  // namespace sluice::cli
