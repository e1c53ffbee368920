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
"$sluice" import "$model" -o "$work/graph.slg" >"$work/import.txt"

# Waits until the tool shows progress, hence searches.
await() {
  tries=0
  until grep -q "iterations" "$work/progress.txt"; do
    tries=$((tries + 1))
    if [ $tries -gt 600 ]; then
      echo "no progress in a minute"
      exit 1
    fi
    sleep 0.1
  done
}

for signal in INT TERM; do
  : >"$work/progress.txt"
  # A shell lets its background processes ignore SIGINT; env restores the default.
  env --default-signal=INT "$sluice" schedule "$work/graph.slg" --hw soma-edge \
    --iterations 1000000000000 --progress --json -o "$work/plan.slp" \
    >"$work/answer.json" 2>"$work/progress.txt" &
  tool=$!
  await
  kill -s $signal $tool
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
