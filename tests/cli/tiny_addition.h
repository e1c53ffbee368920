// SPDX-License-Identifier: Apache-2.0
// The graph of a tiny model: two inputs, added.
#ifndef SLUICE_TESTS_CLI_TINY_ADDITION_H_
#define SLUICE_TESTS_CLI_TINY_ADDITION_H_

#include "import/tflite/import_tflite.h"
#include "tests/import/tiny_model.h"

namespace sluice::cli {

inline Bytes TinyAddition() {
  import::TinyModel model;
  const auto tensor = [&](const char* name) {
    return model.AddTensor(name, {1, 40, 30, 8}, tflite::TensorType::INT8, 0.5f, 1);
  };
  const int a = tensor("a"), b = tensor("b"), c = tensor("c");
  model.AddOperator(tflite::BuiltinOperator::ADD, {a, b}, {c},
                    tflite::BuiltinOptions::AddOptions,
                    tflite::CreateAddOptions(model.builder()).Union());
  const Bytes file = model.Finish({a, b}, {c});
  return WriteRows(import::ImportTflite(file.data(), file.size(), {}).rows);
}

}  // namespace sluice::cli

#endif  // SLUICE_TESTS_CLI_TINY_ADDITION_H_
