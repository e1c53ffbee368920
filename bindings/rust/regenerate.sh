#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes src/sys.rs from the C headers. Needs bindgen; run after the headers changed.
set -eu
cd "$(dirname "$0")"
bindgen ../../include/sluice/sluice.h --no-doc-comments --no-layout-tests --use-core --size_t-is-usize \
  --allowlist-file '.*/sluice/[a-z]*\.h' --with-derive-default \
  --raw-line '// SPDX-License-Identifier: Apache-2.0' \
  --raw-line '//! The C interface as it is. Generated: regenerate.sh.' \
  --raw-line '#![allow(non_camel_case_types, non_upper_case_globals, missing_docs)]' \
  --raw-line '#![allow(clippy::all, deref_nullptr, unsafe_op_in_unsafe_fn)]' \
  -o src/sys.rs -- -I../../include \
  -include ../../include/sluice/stream.h -include ../../include/sluice/ops.h
# Drops the line with the generator's version, so that it does not change the file.
sed -i '/automatically generated/d' src/sys.rs
