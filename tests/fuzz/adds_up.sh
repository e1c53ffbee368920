#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh adds up what runs have done and goes on with other random numbers. In place of a fuzz
# target stands a script that tells its arguments and counts of its own.
#   adds_up.sh RUN_SH WORK
set -eu
run=$1
work=$2
rm -rf "$work"
mkdir -p "$work/tests/fuzz"
unset SLUICE_FUZZ_SEED SLUICE_FUZZ_FOUND
cat >"$work/tests/fuzz/fuzz_csv" <<'END'
#!/bin/sh
echo "$@" >>"$(dirname "$0")/asked"
case "$*" in *-merge*) exit ;; esac
i=0
while [ $i -lt 20000 ]; do i=$((i + 1)); done
echo "stat::number_of_executed_units: 3000000000" >&2
[ ! -e "$(dirname "$0")/crash" ] || exit 77
END
chmod +x "$work/tests/fuzz/fuzz_csv"
ln "$work/tests/fuzz/fuzz_csv" "$work/tests/fuzz/fuzz_json"

fail() {
  echo "$*"
  cat "$work/fuzz_found/totals.txt" "$work/tests/fuzz/asked"
  exit 1
}

# totals TARGET RUNS EXECUTIONS
totals() {
  grep -qE "^$1 $2 $3 [0-9]+\.[0-9]+$" "$work/fuzz_found/totals.txt" || fail "$*: other totals"
}

"$run" "$work" 1300 csv json >"$work/told" 2>&1 # turns of 600, 600 and 100 seconds
totals csv 3 9000000000
"$run" "$work" 5 csv >"$work/told" 2>&1
totals csv 4 12000000000
totals json 3 9000000000
awk '$1 == "csv" && $4 > 0 { good = 1 } END { exit !good }' "$work/fuzz_found/totals.txt" ||
  fail "no time of the processor"
[ "$(grep -o -e '-seed=[0-9]*' "$work/tests/fuzz/asked" | tr '\n' ' ')" = \
  "-seed=1 -seed=1 -seed=2 -seed=2 -seed=3 -seed=3 -seed=4 " ] || fail "other seeds"
SLUICE_FUZZ_SEED=9 "$run" "$work" 5 csv >"$work/told" 2>&1
grep -q -e '-seed=9' "$work/tests/fuzz/asked" || fail "the given seed is not used"
totals csv 4 12000000000
touch "$work/tests/fuzz/crash"
code=0
"$run" "$work" 5 csv json >"$work/told" 2>&1 || code=$?
[ $code -eq 77 ] || fail "a crash: exit $code"
totals csv 5 15000000000
totals json 3 9000000000
"$run" "$work" --merge csv >"$work/told" 2>&1
totals csv 5 15000000000
