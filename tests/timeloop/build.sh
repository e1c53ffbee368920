#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds timeloop-model 3 from a checkout of github.com/NVlabs/timeloop, tag v3.0.3:
#   TIMELOOP_SOURCE=timeloop tests/timeloop/build.sh OUTPUT
# Needs the headers and libraries of libconfig++, yaml-cpp, ncurses, Boost (iostreams,
# serialization, thread). Its own SConstruct compiles every source twice; this compiles what the
# model needs in a few calls, some minutes of one core.
set -eu
output=${1:?the program to make}
cd "${TIMELOOP_SOURCE:?a checkout of timeloop, tag v3.0.3}"
[ -e src/pat ] || cp -r pat-public/src/pat src/pat
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT
sources=$(sed -n '/^common_sources = /,/^""")/p; /^modellib_sources = /,/^""")/p;
/^model_sources = /,/^""")/p' src/SConscript | grep '\.cpp$')
for source in $sources; do
  case $source in
    workload/density*) part=density ;;
    workload/*) part=workload ;;
    model/*) part=model ;;
    sparse-analysis/*) part=sparse ;;
    loop-analysis/*) part=$(echo "$source" | tr / _) ;;
    *) part=rest ;;
  esac
  echo "#include \"$PWD/src/$source\"" >> "$objects/$part.cpp"
done
for part in "$objects"/*.cpp; do
  c++ -O1 -w -std=c++17 -pthread "-DBUILD_BASE_DIR=\"$PWD\"" -Iinclude -c "$part" -o "${part%.cpp}.o"
done
c++ -pthread -o "$output" "$objects"/*.o -lconfig++ -lyaml-cpp -lncurses -ltinfo \
  -lboost_iostreams -lboost_serialization -lboost_thread
