// SPDX-License-Identifier: Apache-2.0
// Imports models that declare far more than they hold, in a process with little memory.
#ifndef SLUICE_TESTS_IMPORT_ONNX_HOSTILE_H_
#define SLUICE_TESTS_IMPORT_ONNX_HOSTILE_H_

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "sluice/import.h"
#include "tests/import/onnx/tiny_onnx.h"

namespace sluice_test {

constexpr int64_t kHuge = int64_t{1} << 27;

// Imports in a child process limited to 512 MiB. Returns the status, or 100 plus the
// signal that ended the child.
inline int StatusOf(const std::vector<uint8_t>& model) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit = {rlim_t{512} << 20, rlim_t{512} << 20};
    setrlimit(RLIMIT_AS, &limit);
    sluice_import_options_t options;
    std::memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    options.allow_opaque = 1;
    sluice_bytes_t graph;
    const sluice_status_t status = sluice_import_model(
        model.data(), model.size(), &options, &graph, nullptr, nullptr);
    _exit(-status);
  }
  int ended = 0;
  waitpid(child, &ended, 0);
  return WIFEXITED(ended) ? -WEXITSTATUS(ended) : 100 + WTERMSIG(ended);
}

struct Hostile {
  const char* name;
  std::function<void(TinyOnnx*)> make;
  sluice_status_t status;
};

inline void CheckEach(const std::vector<Hostile>& models) {
  for (const Hostile& hostile : models) {
    CAPTURE(std::string(hostile.name));
    TinyOnnx model;
    hostile.make(&model);
    model.Output("y");
    CHECK(StatusOf(model.Finish()) == hostile.status);
  }
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_IMPORT_ONNX_HOSTILE_H_
