#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SIGINT and SIGTERM in place, map, segments, curve, coschedule, reschedule and dse: each ends
# soon, prints what it has found until then as one JSON object and says that it was interrupted.
#   interrupt_commands.sh SLUICE WORK
set -eu
sluice=$1
work=$2
rm -rf "$work"
mkdir -p "$work"
cd "$work"
"$sluice" zoo nasnet_a -o nasnet.slg >zoo.txt
"$sluice" zoo resnet50 -o resnet.slg >>zoo.txt
"$sluice" schedule resnet.slg --hw soma-edge -o resnet.slp >schedule.txt
# Buffers whose least peak is not proved in minutes.
awk 'BEGIN {
  print "id,lower,upper,size"
  for (i = 0; i < 300; ++i) {
    x = (x * 1103515245 + 12345) % 2147483648; from = int(x / 65536) % 200
    x = (x * 1103515245 + 12345) % 2147483648; to = from + 1 + int(x / 65536) % 60
    x = (x * 1103515245 + 12345) % 2147483648
    print i "," from "," to "," 1 + int(x / 16) % 100000
  }
}' >buffers.csv
echo '{ "networks": ["resnet50", "nasnet_a"], "hardware": "soma-edge",
  "dram_bytes_per_cycle": [4, 8, 16, 32], "buffer_bytes": ["1M", "2M", "4M"],
  "deadline": "60s" }' >grid.json

fail() {
  echo "$*"
  cat answer.json told.txt
  exit 1
}

# interrupted SIGNAL WORK ARGUMENTS...: interrupts the tool when it catches signals and has used
# WORK ticks of a processor. Its exit code is in $code, its answer in answer.json.
interrupted() {
  signal=$1
  work_before=$2
  shift 2
  # A shell lets its background processes ignore SIGINT; env restores the default.
  env --default-signal=INT "$sluice" "$@" --json >answer.json 2>told.txt &
  tool=$!
  # Until the tool catches signals 2 and 15 it is still reading.
  polls=0
  while true; do
    polls=$((polls + 1))
    if [ $polls -gt 2000 ]; then
      kill -s KILL $tool
      fail "$*: does not catch signals, or does not work"
    fi
    caught=$(sed -n 's/^SigCgt:[^0-9a-f]*//p' /proc/$tool/status 2>/dev/null || true)
    [ -n "$caught" ] || fail "$*: ended before it was interrupted"
    used=$(awk '{ print $14 + $15 }' /proc/$tool/stat 2>/dev/null || echo 0)
    if [ $((0x$caught & 0x4002)) -eq $((0x4002)) ] && [ "$used" -ge "$work_before" ]; then
      break
    fi
    sleep 0.05
  done
  kill -s "$signal" $tool || fail "$*: ended before it was interrupted"
  code=0
  wait $tool || code=$?
  grep -q '"interrupted": true' answer.json || fail "$*: the answer does not say it"
}

# ends SIGNAL CODE ARGUMENTS...: after 0.1 s of work the tool ends with this code.
ends() {
  name=$1
  want=$2
  shift 2
  interrupted "$name" 10 "$@"
  [ $code -eq "$want" ] || fail "$*, SIG$name: exit $code instead of $want"
}

# found SIGNAL ARGUMENTS...: ends with 0 when it has worked long enough to find something. Until
# then it says that nothing was found, with 4.
found() {
  name=$1
  shift
  for ticks in 10 20 40 80 160 320 640; do
    interrupted "$name" $ticks "$@"
    [ $code -ne 0 ] || return 0
    [ $code -eq 4 ] || fail "$*, SIG$name: exit $code"
    [ "$1" != segments ] || grep -q "before any split was solved" answer.json ||
      fail "segments: why not?"
  done
  fail "$*, SIG$name: has found nothing after $ticks ticks of work"
}

for signal in INT TERM; do
  found $signal place buffers.csv --smallest --deadline 3600s -o placed.csv
  grep -q '"ok": true' answer.json || fail "place has no placement"
  grep -q "interrupted; this is the best" told.txt || fail "place does not tell it"
  rm placed.csv
  found $signal map nasnet.slg --layer all --hw simba --solver search
  grep -q '"levels"' answer.json || fail "map has no loop nest"
  grep -q "interrupted; this is the best" told.txt || fail "map does not tell it"
  found $signal segments resnet.slg --hw kapla-16x16 --proof --deadline 3600s
  grep -q '"directives"' answer.json || fail "segments has no schedule"
  grep -q "interrupted; this is the best" told.txt || fail "segments does not tell it"
  # Some of the sizes have plans.
  found $signal curve nasnet.slg --hw soma-edge --points 256 -o curve.svg
  grep -q '"latency_cycles"' answer.json || fail "curve has no point"
  grep -q "interrupted; this is the best" told.txt || fail "curve does not tell it"
  [ -s curve.svg ] || fail "curve has no picture"
  # The plans are valid together, as the simulator finds.
  found $signal coschedule nasnet.slg resnet.slg --hw soma-edge --points 256 --simulate
  grep -q '"simulated_cycles"' answer.json || fail "coschedule has no plans"
  grep -q "interrupted; this is the best" told.txt || fail "coschedule does not tell it"
  found $signal reschedule resnet.slp --budget 256K --iterations 1000000000000 -o next.slp
  grep -q "interrupted; this is the best" told.txt || fail "reschedule does not tell it"
  "$sluice" verify next.slp || fail "reschedule has written another plan"
  rm next.slp
  # What was found is in the table, and the sweep is not done.
  ends $signal 4 dse grid.json -o table.csv
  grep -q "24 points are open, and the same command goes on" answer.json ||
    fail "dse does not say what is open"
done
