#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# On systems without Debian's packages `./run build` says what it needs and how the system
# installs that, before it tries to build.
#   elsewhere.sh SOURCE_FOLDER WORK_FOLDER
set -eu
source=$1
work=$2
rm -rf "$work"
mkdir -p "$work"
cp "$source/run" "$work/run"

# says INSTALLER WORDS: what run prints where only this installer exists.
says() {
  rm -rf "$work/bin"
  mkdir "$work/bin"
  for tool in sh sed dirname cat mkdir rm; do ln -s "$(command -v $tool)" "$work/bin/$tool"; done
  for tool in cmake $1; do
    printf '#!%s\nexit 1\n' "$work/bin/sh" >"$work/bin/$tool"
    chmod +x "$work/bin/$tool"
  done
  if said=$(PATH="$work/bin" "$work/bin/sh" "$work/run" build 2>&1); then
    echo "it built without cmake: $said"
    exit 1
  fi
  case "$said" in
    *"$2"*) ;;
    *)
      echo "with '$1' expected '$2' in: $said"
      exit 1
      ;;
  esac
}

says "" "not Debian: needs what these packages of Debian have: cmake ninja-build g++"
says dnf "here, for a build (not tried): dnf install cmake ninja-build gcc-c++"
says apk "here, for a build (not tried): apk add cmake samurai g++"
says brew "here, for a build (not tried): brew install cmake ninja flatbuffers"
# A system without a known installer is not told of one.
says "" "python3"
case "$said" in
  *"here, for a build"*) exit 1 ;;
esac
