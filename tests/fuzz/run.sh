#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs every fuzz target for a while: run.sh BUILD_FOLDER [SECONDS_EACH]
# The corpus grows in BUILD_FOLDER/fuzz_corpus; a crash leaves its input there.
set -eu
build=$1
seconds=${2:-30}
corpus=$build/fuzz_corpus
for target in graph hardware plan tflite; do mkdir -p "$corpus/$target"; done
"$build/tests/fuzz/sluice_make_corpus" "$corpus"
for target in graph hardware plan tflite; do
  "$build/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=10 \
    -rss_limit_mb=2048 -artifact_prefix="$corpus/$target-" -print_final_stats=1 \
    "$corpus/$target"
done
