/* SPDX-License-Identifier: Apache-2.0 */
/* Python runs signal handlers only between two bytecode instructions, so not during a call of
 * the library. So an interrupt also sets the word that the library polls. */
#include <signal.h>
#include <string.h>

#include "native.h"

static uint32_t* volatile watched;
static struct sigaction before;

static void on_interrupt(int number, siginfo_t* info, void* context) {
  uint32_t* word = watched;
  if (word != NULL) __atomic_store_n(word, 1, __ATOMIC_RELAXED);
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(number, info, context);
  } else if (before.sa_handler != SIG_IGN && before.sa_handler != SIG_DFL) {
    before.sa_handler(number);
  }
}

int32_t sluice_native_watch(uint32_t* word) {
  if (watched != NULL || sigaction(SIGINT, NULL, &before) != 0) return 0;
  /* If Python has no handler, the default action (end or ignore) stays in place. */
  if ((before.sa_flags & SA_SIGINFO) == 0 &&
      (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN)) {
    return 0;
  }
  struct sigaction ours;
  memset(&ours, 0, sizeof ours);
  ours.sa_sigaction = on_interrupt;
  ours.sa_flags = SA_SIGINFO | (before.sa_flags & (SA_ONSTACK | SA_RESTART));
  ours.sa_mask = before.sa_mask;
  watched = word;
  if (sigaction(SIGINT, &ours, NULL) == 0) return 1;
  watched = NULL;
  return 0;
}

void sluice_native_unwatch(void) {
  if (watched == NULL) return;
  sigaction(SIGINT, &before, NULL);
  watched = NULL;
}
