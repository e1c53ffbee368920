#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs fuzz targets for a while, from the committed corpus and, when they are there, the
# small models among the shared files:
#   run.sh BUILD_FOLDER [SECONDS_EACH] [TARGET]...     targets: graph hardware plan tflite
#                                                     json onnx notation csv
#   run.sh BUILD_FOLDER --merge [TARGET]...
# New inputs are kept in BUILD_FOLDER/fuzz_found; --merge copies those that reach new code
# into tests/fuzz/corpus. A crash leaves its input in BUILD_FOLDER.
#
# Runs add up: fuzz_found/totals.txt has a line per target, its runs, executions and seconds of
# the processor. The targets take turns of ten minutes; each is a run, whose random numbers begin
# with the number of runs before it. What ends the script loses the turn that it is in.
#   SLUICE_FUZZ_FOUND=FOLDER   instead of BUILD_FOLDER/fuzz_found: one that outlives builds
#   SLUICE_FUZZ_TIMEOUT=N      seconds that one input may take, by the clock on the wall: 10, more
#                              where the processors belong to others (chrt --idle 0)
#   SLUICE_FUZZ_SEED=N         begins with this number, the same again, and is not counted
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
shift
seconds=10
if [ $# -gt 0 ]; then
  seconds=$1
  shift
fi
[ $# -gt 0 ] || set -- graph hardware plan tflite json onnx notation csv
models=${SLUICE_SHARED:-$here/../../../shared}/models/tflite
kept=${SLUICE_FUZZ_FOUND:-$build/fuzz_found}
totals=$kept/totals.txt
mkdir -p "$kept"
touch "$totals"
turn=600

# Sets `cpu` to the seconds that the programs of this script have taken. A subshell would tell
# its own.
take_time() {
  times >"$kept/times"
  cpu=$(awk 'NR == 2 { for (i = 1; i <= 2; ++i) { split($i, t, "[ms]"); s += 60 * t[1] + t[2] }
                       printf "%.2f\n", s }' "$kept/times")
}

# add TARGET EXECUTIONS SECONDS: one run more.
add() {
  awk -v target="$1" -v executions="$2" -v seconds="$3" '
    { runs[$1] = $2; done[$1] = $3; cpu[$1] = $4 }
    END {
      ++runs[target]; done[target] += executions; cpu[target] += seconds
      for (t in runs) printf "%s %d %.0f %.2f\n", t, runs[t], done[t], cpu[t]
    }' "$totals" | sort >"$totals.next"
  mv "$totals.next" "$totals"
}

# run TARGET SECONDS
run() {
  target=$1
  found=$kept/$target
  corpus=$here/corpus/$target
  mkdir -p "$found"
  # Weighing inputs by how rare what they reach is (-entropic) took nine tenths of the time.
  fuzz="$build/tests/fuzz/fuzz_$target -entropic=0 -rss_limit_mb=2048 -timeout=${SLUICE_FUZZ_TIMEOUT:-10} -verbosity=0"
  if [ "$2" = --merge ]; then
    $fuzz -merge=1 -max_len=4096 "$corpus" "$found"
    return
  fi
  seeds=""
  [ "$target" != tflite ] || echo "looks for the reference data"
  if [ "$target" = tflite ] && [ -d "$models" ]; then
    seeds=-seed_inputs=$(find "$models" -name '*.tflite' -size -64k | paste -sd, -)
  fi
  seed=$(awk -v target="$target" '$1 == target { n = $2 } END { print n + 1 }' "$totals")
  take_time
  before=$cpu
  code=0
  # shellcheck disable=SC2086
  $fuzz -seed=${SLUICE_FUZZ_SEED:-$seed} -max_total_time="$2" -max_len=65536 \
    -print_final_stats=1 -artifact_prefix="$build/$target-" $seeds "$found" "$corpus" \
    2>"$kept/$target.log" || code=$?
  cat "$kept/$target.log" >&2
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$kept/$target.log")
  if [ -z "${SLUICE_FUZZ_SEED:-}" ] && [ -n "$executions" ]; then
    take_time
    add "$target" "$executions" "$(awk -v b="$before" -v e="$cpu" 'BEGIN { print e - b }')"
  fi
  [ $code -eq 0 ] || exit $code
}

if [ "$seconds" = --merge ]; then
  for target in "$@"; do run "$target" --merge; done
  exit
fi
left=$seconds
while [ "$left" -gt 0 ]; do
  now=$((left < turn ? left : turn))
  for target in "$@"; do run "$target" $now; done
  left=$((left - now))
done
[ -n "${SLUICE_FUZZ_SEED:-}" ] || cat "$totals"
