// SPDX-License-Identifier: Apache-2.0
// Tests that try many cases try fewer under sanitizers, where each takes several times as long. The
// ordinary build tries all of them.
#ifndef SLUICE_TESTS_SUPPORT_SANITIZED_H_
#define SLUICE_TESTS_SUPPORT_SANITIZED_H_

#if defined(__SANITIZE_ADDRESS__)
#define SLUICE_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLUICE_TEST_SANITIZED 1
#endif
#endif

namespace sluice_test {

#ifdef SLUICE_TEST_SANITIZED
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_SANITIZED_H_
