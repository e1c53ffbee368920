// SPDX-License-Identifier: Apache-2.0
// Out of memory: the tool ends with exit code kIo and a sentence, at any time.
//
// The tool has its own operator new, because that of mimalloc ends the program by a signal
// where C++ throws. Before ThrowWhenOutOfMemory, while the libraries that the tool links
// initialise themselves, the program ends at once; from then on std::bad_alloc is thrown.
#ifndef SLUICE_CLI_OUT_OF_MEMORY_H_
#define SLUICE_CLI_OUT_OF_MEMORY_H_

namespace sluice::cli {

constexpr char kOutOfMemory[] = "sluice: memory is exhausted\n";
// The same for --json. Text, since an object would need memory.
constexpr char kOutOfMemoryJson[] =
    "{\"ok\": false, \"error\": {\"message\": \"memory is exhausted\"}}\n";

void ThrowWhenOutOfMemory();

}  // namespace sluice::cli

#endif  // SLUICE_CLI_OUT_OF_MEMORY_H_
