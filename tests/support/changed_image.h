// SPDX-License-Identifier: Apache-2.0
// Changes single fields of a stream's image and makes its hashes right again, so that a
// judge finds the changed field and nothing else.
//
// Input    an image as StreamBuilder::Image() lays it out
// Output   the image, changed in place
#ifndef SLUICE_TESTS_SUPPORT_CHANGED_IMAGE_H_
#define SLUICE_TESTS_SUPPORT_CHANGED_IMAGE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "support/stream_builder.h"

namespace sluice_test {

inline sluice_stream_header_t HeaderOf(const Bytes& image) {
  sluice_stream_header_t h;
  std::memcpy(&h, image.data(), sizeof h);
  return h;
}

inline sluice_block_t BlockOf(const Bytes& image, uint32_t index = 0) {
  sluice_block_t b;
  std::memcpy(&b, image.data() + HeaderOf(image).block_offset + index * sizeof b,
              sizeof b);
  return b;
}

// Makes the hashes of blocks right whose bodies lie inside the image, then the image's.
inline void RehashAll(Bytes* image) {
  const sluice_stream_header_t h = HeaderOf(*image);
  const uint64_t room = image->size() / sizeof(sluice_block_t);
  for (uint32_t i = 0; i < h.block_count; ++i) {
    if (h.block_offset > image->size() || i >= room ||
        h.block_offset + (i + 1) * sizeof(sluice_block_t) > image->size()) {
      break;
    }
    sluice_block_t
        b;  // a wrong directory may lie over the header, so h is a copy of it
    std::memcpy(&b, image->data() + h.block_offset + i * sizeof b, sizeof b);
    if (uint64_t{b.body_offset} + b.body_bytes > image->size()) continue;
    const uint64_t hash = StreamHash(image->data() + b.body_offset, b.body_bytes);
    b.hash_lo = static_cast<uint32_t>(hash);
    b.hash_hi = static_cast<uint32_t>(hash >> 32);
    std::memcpy(image->data() + h.block_offset + i * sizeof b, &b, sizeof b);
  }
  const uint64_t hash = StreamHash(image->data() + sizeof h, image->size() - sizeof h);
  const uint32_t words[2] = {static_cast<uint32_t>(hash),
                             static_cast<uint32_t>(hash >> 32)};
  std::memcpy(image->data() + offsetof(sluice_stream_header_t, hash_lo), words, 8);
}

template <typename T>
void Put(Bytes* image, size_t at, T value) {
  std::memcpy(image->data() + at, &value, sizeof value);
}

}  // namespace sluice_test

#endif  // SLUICE_TESTS_SUPPORT_CHANGED_IMAGE_H_
