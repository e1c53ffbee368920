/* SPDX-License-Identifier: Apache-2.0 */
/* libsluice_delegate.so: TensorFlow Lite (LiteRT) runs what a machine described to sluice
 * can run on that machine's device, and the rest by its own kernels. bindings/guides/
 * tflite.md shows how. C99.
 *
 * The first two functions are those that the runtime looks for in a library of an external
 * delegate. */
#ifndef SLUICE_BINDINGS_TFLITE_SLUICE_DELEGATE_H_
#define SLUICE_BINDINGS_TFLITE_SLUICE_DELEGATE_H_

#include <stddef.h>

#if defined(_WIN32)
#define SLUICE_DELEGATE_API
#else
#define SLUICE_DELEGATE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct TfLiteDelegate;

/* keys and values: `count` texts each; bindings/guides/tflite.md lists them. NULL: there is
 * no delegate, and report_error, which may be NULL, got the sentence that says why. */
SLUICE_DELEGATE_API struct TfLiteDelegate* tflite_plugin_create_delegate(
    char** keys, char** values, size_t count, void (*report_error)(const char*));

/* Interpreters that use it may go before or after it, but are not invoked after it. */
SLUICE_DELEGATE_API void tflite_plugin_destroy_delegate(
    struct TfLiteDelegate* delegate);

/* What the delegate did so far, as JSON with a NUL behind it: nodes of all graphs that it was
 * applied to, those that the machine supports, those that are delegated, and in how many
 * parts; how often a part was lowered; how many plans were made, rescheduled or found in the
 * cache; nanoseconds of the last graph's Prepare (elapsed, and of the thread's CPU) and of all
 * planning; invocations, faults and cycles of the device. Returns the bytes of the text with
 * its NUL; out gets it when room is that many. */
SLUICE_DELEGATE_API size_t sluice_delegate_report(const struct TfLiteDelegate* delegate,
                                                  char* out, size_t room);

#ifdef __cplusplus
}
#endif

#endif /* SLUICE_BINDINGS_TFLITE_SLUICE_DELEGATE_H_ */
