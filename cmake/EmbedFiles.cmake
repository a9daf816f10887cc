# Run with -P: writes OUT, a translation unit with
#   std::span<const EmbeddedFile> FUNCTION();
# holding each of FILES (separated by |) under its file name. See base/embedded_file.hpp.
string(REPLACE "|" ";" files "${FILES}")
set(entries "")
set(body "")
set(index 0)
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME)
  file(READ "${file}" hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
  string(APPEND body "const char kFile${index}[] = {${bytes}'\\0'};\n")
  string(APPEND entries "    {\"${name}\", {kFile${index}, sizeof(kFile${index}) - 1}},\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE "${OUT}" "// Generated from the data files by cmake/EmbedFiles.cmake.
#include \"base/embedded_file.hpp\"

namespace smplan {
namespace {
${body}
const EmbeddedFile kFiles[] = {
${entries}};
}  // namespace

std::span<const EmbeddedFile> ${FUNCTION}() { return kFiles; }
}  // namespace smplan
")
