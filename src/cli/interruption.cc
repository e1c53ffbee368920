// SPDX-License-Identifier: Apache-2.0
#include "cli/interruption.h"

#include <iostream>

namespace sluice::cli {
namespace {

constexpr int kSignals[2] = {SIGINT, SIGTERM};

uint32_t interrupted = 0;

void Note(int) { __atomic_store_n(&interrupted, 1, __ATOMIC_RELAXED); }

}  // namespace

Interruption::Interruption() {
  struct sigaction once = {};
  once.sa_handler = Note;
  once.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  sigemptyset(&once.sa_mask);
  for (int i = 0; i < 2; ++i) {
    sigaction(kSignals[i], nullptr, &before_[i]);
    // SIGINT stays ignored where the shell that started the tool in the background set
    // it so.
    if (before_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &once, nullptr);
  }
}

Interruption::~Interruption() {
  for (int i = 0; i < 2; ++i) sigaction(kSignals[i], &before_[i], nullptr);
}

const uint32_t* Interruption::word() { return &interrupted; }

void Interruption::Come() { Note(0); }

void TellOfInterruption() {
  if (!Interruption::came()) return;
  std::cerr << "sluice: interrupted; this is the best that was found until then\n";
}

}  // namespace sluice::cli
