#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the library again, by other compilers, for other machines, at other levels of
# optimisation, and compares what all of them answer with what a reference answers.
#
#   variants.sh SOURCE WORK FLATC FLATBUFFERS_INCLUDE REFERENCE "VARIANT ..." ARGUMENT...
#
# REFERENCE   the plan_hashes program of the build at hand
# VARIANT     COMPILER-LEVEL: gcc-O0, clang-O3, aarch64-O2, riscv64-O0, musl-O1, ...; musl is
#             this machine with another C library, of which musl-gcc has headers and archive
# ARGUMENT    of plan_hashes; - : only build. Programs stay as WORK/VARIANT/plan_hashes.
# Says "skipped" of variants whose compiler or emulator is not there; exits with 77 when
# that is all of them, 5 when a hash differs.
set -eu
source=$1 work=$2 flatc=$3 flatbuffers=$4 reference=$5 variants=$6
shift 6

mkdir -p "$work/include"
work=$(cd "$work" && pwd)
# Only the headers of flatbuffers are needed; a cross compiler would not find them itself.
ln -sfn "$flatbuffers/flatbuffers" "$work/include/flatbuffers"
: >"$work/include/FlatbuffersConfig.cmake"
# Calls for different variants may run at the same time.
expected=$work/expected-$(echo "$variants" | tr ' ' '+')
[ "$1" = - ] || "$reference" "$@" >"$expected"

# tool_of NAME...: the first that is there.
tool_of() {
  for tool in "$@"; do
    if command -v "$tool" >/dev/null; then
      echo "$tool"
      return
    fi
  done
}

# build VARIANT C_COMPILER CXX_COMPILER LINK_FLAGS CMAKE_ARGUMENT...
build() {
  folder=$work/$1 level=${1##*-} c=$2 link=$4
  cxx=$3
  shift 4
  cmake -S "$source" -B "$folder" -G Ninja -Wno-dev -DCMAKE_BUILD_TYPE=Variant \
    -DCMAKE_C_COMPILER="$c" -DCMAKE_CXX_COMPILER="$cxx" \
    -DCMAKE_CXX_COMPILER_LAUNCHER="${SLUICE_LAUNCHER:-}" \
    -DCMAKE_CXX_FLAGS="-$level -Wno-error -isystem $work/include" \
    -DSLUICE_BUILD_CLI=OFF -DSLUICE_BUILD_IMPORT=OFF -DSLUICE_BUILD_TESTS=OFF \
    -DSLUICE_JOINED=ON \
    -DSLUICE_FLATC="$flatc" \
    -DFlatbuffers_DIR="$work/include" \
    "$@" >"$folder.log" 2>&1 &&
    cmake --build "$folder" --target sluice_static >>"$folder.log" 2>&1 &&
    "$c" -std=c99 "-$level" $link -I"$source/include" \
      "$source/tests/determinism/plan_hashes.c" "$folder/src/libsluice_rooms.a" \
      -o "$folder/plan_hashes" >>"$folder.log" 2>&1 && return
  tail -30 "$folder.log"
  echo "$folder does not build"
  exit 6
}

# The C++ compiler for musl, as a program: the headers of gcc's C++ library are written for
# another C library, and ask for its version.
musl_cxx() {
  mkdir -p "$work/musl"
  headers=$(echo | LC_ALL=C g++ -E -v -x c++ - 2>&1 |
    sed -n '/#include <...>/,/^End/s/^ \(.*c++.*\)$/-isystem \1/p' | tr '\n' ' ')
  cat >"$work/musl/g++" <<END
#!/bin/sh
REALGCC=g++ exec musl-gcc $headers \\
   "-D__GLIBC_PREREQ(a,b)=0" -D__locale_t=locale_t "\$@"
END
  chmod +x "$work/musl/g++"
  echo "$work/musl/g++"
}

compared=0
for variant in $variants; do
  emulator=""
  link=""
  cross=""
  case $variant in
    gcc-*) c=$(tool_of gcc) cxx=g++ ;;
    musl-*)
      c=$(tool_of musl-gcc) cxx=""
      link=-static
      [ -z "$c" ] || ! command -v g++ >/dev/null || cxx=$(musl_cxx)
      ;;
    clang-*) c=$(tool_of clang) cxx=clang++ ;;
    *)
      machine=${variant%-*}
      c=$(tool_of "$machine-linux-gnu-gcc") cxx=$machine-linux-gnu-g++
      emulator=$(tool_of "qemu-$machine" "qemu-$machine-static")
      link=-static # so that the emulator needs no libraries of that machine
      cross="-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=$machine"
      [ -n "$emulator" ] || c=""
      ;;
  esac
  if [ -z "$c" ] || ! command -v "$cxx" >/dev/null; then
    echo "skipped: no compiler, or no emulator, for $variant"
    continue
  fi
  # shellcheck disable=SC2086
  build "$variant" "$c" "$cxx" "$link" $cross
  printf '%s\n' ${emulator:+"$emulator"} >"$work/$variant/emulator"
  compared=$((compared + 1))
  [ "$1" != - ] || continue
  # shellcheck disable=SC2086
  $emulator "$work/$variant/plan_hashes" "$@" >"$work/$variant/hashes"
  if ! cmp -s "$expected" "$work/$variant/hashes"; then
    echo "$variant answers otherwise:"
    diff "$expected" "$work/$variant/hashes" | head -40
    exit 5
  fi
  echo "$variant: $(wc -l <"$expected") hashes equal"
done
[ "$compared" -ne 0 ] || exit 77
