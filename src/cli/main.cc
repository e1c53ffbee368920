// SPDX-License-Identifier: Apache-2.0
// The command line: how it ends.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <new>

#include "cli/command_line.h"
#include "cli/failure.h"
#include "cli/out_of_memory.h"
#include "cli/terminal.h"

namespace {

using namespace sluice::cli;

// A failure for people goes to stderr, for programs to stdout as one object.
int Report(const Failure& failure, bool json) {
  if (!json) {
    std::cerr << Coloured("sluice:", kRed, STDERR_FILENO) << " " << failure.what()
              << "\n";
    return failure.code();
  }
  Json object = {{"ok", false}};
  Json error = failure.details();
  if (error.contains("error")) {  // a result that carries its own error
    object = failure.details();
  } else {
    error["message"] = failure.what();
    object["error"] = error;
  }
  std::cout << object.dump(1) << "\n";
  return failure.code();
}

int Main(int argc, char** argv) {
  Commands commands;
  CLI::App app("Schedules quantised neural networks on accelerators.", "sluice");
  Describe(&app, &commands);
  try {
    app.parse(argc, argv);
    std::cout.flush();
    if (!std::cout) throw Failure(kIo, "cannot write to standard output");
    return kDone;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error) == 0 ? kDone : kUsage;
    // What was parsed before the error does not say whether --json stands behind it.
    const bool json = std::any_of(argv + 1, argv + argc, [](const char* argument) {
      return std::string(argument) == "--json";
    });
    if (json) return Report(Failure(kUsage, error.what()), true);
    return app.exit(error) == 0 ? kDone : kUsage;
  } catch (const Failure& failure) {
    return Report(failure, commands.json());
  }
}

}  // namespace

int main(int argc, char** argv) {
  ThrowWhenOutOfMemory();
  // Beyond a limit on file sizes a write fails, and is cleaned up, like on a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return Main(argc, argv);
  } catch (const std::bad_alloc&) {
    std::cerr << kOutOfMemory;
    return kIo;
  } catch (const std::exception& error) {
    std::cerr << "sluice: " << error.what() << "\n";
    return kIo;
  }
}
