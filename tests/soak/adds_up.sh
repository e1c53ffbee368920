#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Two runs of the soak, of which the second goes on where the first has ended, have done what one
# run does; a signal ends a run with its state written; a plan with another byte is noticed, and
# again by the next run.
#   adds_up.sh SOAK WORK
set -eu
soak=$1
work=$2
rm -rf "$work"
mkdir -p "$work"
cd "$work"

fail() {
  echo "$*"
  exit 1
}

# counts FILE: without what differs between runs.
counts() {
  grep -vE '^(runs|cpu_seconds) ' "$1"
}

SLUICE_SOAK_ROUNDS=20 "$soak" parts >first.txt
SLUICE_SOAK_ROUNDS=30 "$soak" parts >second.txt
SLUICE_SOAK_ROUNDS=50 "$soak" whole >whole.txt
grep -q '^runs 2$' parts || fail "the runs are not counted: $(cat parts)"
grep -q '^rounds 50$' parts || fail "the rounds do not add up: $(cat parts)"
counts parts >parts.txt
counts whole | cmp - parts.txt || fail "other counts in one run: $(cat whole)"
[ "$(sed -n 's/^compared_bytes //p' parts)" -gt 0 ] || fail "nothing was compared"

code=0
SLUICE_SOAK_ROUNDS=100 SLUICE_SOAK_SPOIL=53 "$soak" parts >spoiled.txt 2>why.txt || code=$?
[ $code -eq 5 ] || fail "a changed plan: exit $code"
grep -q "round 53: plan: verify" why.txt || fail "a changed plan: $(cat why.txt)"
grep -q '^rounds 52$' parts || fail "the round that failed is not tried again: $(cat parts)"

"$soak" parts 3600 >signal.txt &
run=$!
polls=0
# The state is written after some rounds; from then on the signal ends a run that has some.
until [ "$(sed -n 's/^rounds //p' parts)" -gt 52 ]; do
  polls=$((polls + 1))
  [ $polls -lt 6000 ] || fail "no round is made within five minutes"
  sleep 0.05
done
kill -s TERM $run
wait $run || fail "a signal: exit $?"
[ "$(sed -n 's/^rounds //p' parts)" -gt 52 ] || fail "a signal: $(cat parts)"
cmp parts signal.txt || fail "a signal: the state is not what was told"

# Rounds that went wrong once. 51522: a fused section that was divided when its plan moved to a
# smaller scratchpad got layers of its other half. 65646: a part of an output was made into
# another part that had come back from DRAM, and was not stored. 87168: a layer read all images
# of what a loop over pieces makes image by image.
for round in 51522 65646 87168; do
  sed "s/^rounds .*/rounds $((round - 1))/" whole >known
  SLUICE_SOAK_ROUNDS=1 "$soak" known >known.txt || fail "round $round: exit $?"
done

echo "no state" >other
code=0
"$soak" other 1 >other.txt 2>why.txt || code=$?
[ $code -eq 2 ] || fail "a file of something else: exit $code"
[ "$(cat other)" = "no state" ] || fail "a file of something else was replaced"
