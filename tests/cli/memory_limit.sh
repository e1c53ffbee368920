#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Under any limit on its memory the tool does its work or says that memory is exhausted
# (exit code 6); it never dies of a signal.
#   memory_limit.sh SLUICE WORK MODEL...
# Limits under which the loader cannot map the libraries (exit code 127) are passed over.
set -u
sluice=$1
work=$2
shift 2
rm -rf "$work"
mkdir -p "$work"

# limited KIB COMMAND...: sets `code` to the exit code; $work/said has the output.
limited() {
  kib=$1
  shift
  (ulimit -v "$kib" && exec "$@") >"$work/said" 2>&1
  code=$?
}

# step NAME KIB COMMAND...
step() {
  name=$1
  shift
  limited "$@"
  case $code in
    0) done=$((done + 1)) ;;
    6)
      if ! grep -q "^sluice: ." "$work/said"; then
        echo "$name under $1 KiB: exit 6 without a sentence"
        exit 1
      fi
      refused=$((refused + 1))
      ;;
    *)
      echo "$name under $1 KiB: exit $code"
      cat "$work/said"
      exit 1
      ;;
  esac
}

done=0
refused=0
for model in "$@"; do
  "$sluice" import "$model" -o "$work/whole.slg" >/dev/null || exit 1
  kib=32768
  while [ $kib -le 1048576 ]; do
    limited $kib "$sluice" --version
    if [ $code -ne 127 ]; then
      step "import $model" $kib "$sluice" import "$model" -o "$work/model.slg"
      step "schedule $model" $kib "$sluice" schedule "$work/whole.slg" --hw mcu-256k \
        --iterations 10 -o "$work/plan.slp"
    fi
    kib=$((kib * 21 / 20))
  done
done
echo "$done runs did their work, $refused said that memory was exhausted"
[ $done -gt 0 ] && [ $refused -gt 0 ]
