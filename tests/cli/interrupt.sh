#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SIGINT and SIGTERM end a search: the tool writes the best plan so far, which is valid,
# and says that it was interrupted. A second signal ends the tool.
#   interrupt.sh SLUICE WORK MODEL
set -eu
sluice=$1
work=$2
model=$3
rm -rf "$work"
mkdir -p "$work"
mkfifo "$work/told"
"$sluice" import "$model" -o "$work/graph.slg" >"$work/import.txt"

for signal in INT TERM; do
  # A shell lets its background processes ignore SIGINT; env restores the default.
  env --default-signal=INT "$sluice" schedule "$work/graph.slg" --hw soma-edge \
    --solver soma --iterations 1000000000000 --progress --json -o "$work/plan.slp" \
    >"$work/answer.json" 2>"$work/told" &
  tool=$!
  # The tool searches once it has told its progress, in lines of less than 100 bytes.
  exec 3<"$work/told"
  head -c 200 <&3 >"$work/progress.txt"
  if ! grep -q "iterations" "$work/progress.txt"; then
    echo "no progress: $(cat "$work/progress.txt")"
    exit 1
  fi
  kill -s $signal $tool
  cat <&3 >>"$work/progress.txt" # until the tool ends
  code=0
  wait $tool || code=$?
  if [ $code -ne 0 ]; then
    echo "SIG$signal: exit $code"
    exit 1
  fi
  grep -q '"stop_reason": "cancelled"' "$work/answer.json"
  grep -q '"interrupted": true' "$work/answer.json"
  grep -q "interrupted; this is the best" "$work/progress.txt"
  "$sluice" verify "$work/plan.slp" --graph "$work/graph.slg" --hw soma-edge
done
