# SPDX-License-Identifier: Apache-2.0
# cmake -DOUTPUT=FILE.cc -DFUNCTION=NAME -DINPUTS="NAME=FILE;..." -P embed.cmake
# Writes files as byte arrays with a table of their names.
set(arrays "")
set(table "")
foreach(pair ${INPUTS})
  string(FIND "${pair}" "=" split)
  string(SUBSTRING "${pair}" 0 ${split} name)
  math(EXPR after "${split} + 1")
  string(SUBSTRING "${pair}" ${after} -1 file)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(MAKE_C_IDENTIFIER ${name} symbol)
  string(APPEND arrays "alignas(16) const unsigned char ${symbol}[] = {${bytes}};\n")
  string(APPEND table "    {\"${name}\", ${symbol}, sizeof ${symbol}},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"presets/embedded.h\"
namespace sluice::presets {
namespace {
${arrays}const EmbeddedFile kFiles[] = {
${table}};
}  // namespace
EmbeddedFiles ${FUNCTION}() { return {kFiles, sizeof kFiles / sizeof kFiles[0]}; }
}  // namespace sluice::presets
")
