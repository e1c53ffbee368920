// SPDX-License-Identifier: Apache-2.0
// Runs the command line and turns failures into messages and exit codes.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <iostream>
#include <new>

#include "cli/command_line.h"
#include "cli/failure.h"
#include "cli/interruption.h"
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
  if (Interruption::came()) object["interrupted"] = true;
  std::cout << JsonText(object, 1) << "\n";
  return failure.code();
}

// Whether --json stands anywhere: also where parsing has failed before it.
bool WantsJson(int argc, char** argv) {
  return std::any_of(argv + std::min(argc, 1), argv + argc, [](const char* argument) {
    return std::strcmp(argument, "--json") == 0;
  });
}

int Main(int argc, char** argv, bool json) {
  Commands commands;
  CLI::App app("Schedules quantised neural networks on accelerators.", "sluice");
  Describe(&app, &commands);
  if (argc > 1 && argv[1][0] != '-') {
    const std::string unknown = UnknownCommand(app, argv[1]);
    if (!unknown.empty()) return Report(Failure(kUsage, unknown), json);
  }
  try {
    app.parse(argc, argv);
    std::cout.flush();
    if (!std::cout) throw Failure(kIo, "cannot write to standard output");
    return kDone;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error) == 0 ? kDone : kUsage;
    if (json) return Report(Failure(kUsage, error.what()), true);
    return app.exit(error) == 0 ? kDone : kUsage;
  } catch (const Failure& failure) {
    return Report(failure, commands.json());
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return Report(Failure(kIo, error.what()), json);
  }
}

}  // namespace

int main(int argc, char** argv) {
  ThrowWhenOutOfMemory();
  // Ignoring SIGXFSZ lets a write beyond the file size limit fail as on a full disk, so
  // that it is cleaned up.
  std::signal(SIGXFSZ, SIG_IGN);
  const bool json = WantsJson(argc, argv);
  try {
    return Main(argc, argv, json);
  } catch (const std::bad_alloc&) {
    (json ? std::cout : std::cerr)
        << (json ? kOutOfMemoryJson : kOutOfMemory) << std::flush;
    return kIo;
  }
}
