# smplan_add_library(<folder> [LINK public...] [LINK_PRIVATE private...] [SOURCES extra...] [EXCLUDE regex])
# One static library a folder: all its .cpp files, its .hpp files as a verified header set; EXCLUDE leaves
# out subfolders that are libraries of their own.
function(smplan_add_library name)
  cmake_parse_arguments(ARG "" "EXCLUDE" "LINK;LINK_PRIVATE;SOURCES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.hpp)
  if(ARG_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "${ARG_EXCLUDE}")
    list(FILTER headers EXCLUDE REGEX "${ARG_EXCLUDE}")
  endif()
  add_library(smplan_${name} STATIC ${sources} ${ARG_SOURCES})
  add_library(smplan::${name} ALIAS smplan_${name})
  target_sources(smplan_${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${headers})
  target_link_libraries(smplan_${name} PUBLIC ${ARG_LINK})
  foreach(library IN LISTS ARG_LINK_PRIVATE)
    target_link_libraries(smplan_${name} PRIVATE $<BUILD_INTERFACE:${library}>)
  endforeach()
  set_target_properties(smplan_${name} PROPERTIES
    EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON VERIFY_INTERFACE_HEADER_SETS ON)
  smplan_compile_options(smplan_${name})
  smplan_precompile_headers(smplan_${name})
  set_property(GLOBAL APPEND PROPERTY SMPLAN_LIBRARIES smplan_${name})
endfunction()

# Language level, determinism (no contraction of floating point) and warnings, for our code only. Designated
# initialisers name the fields that differ from the defaults, so missing ones are no mistake. g++ 12 warns
# of overlaps in std::string that are not there (GCC bug 105651), and of its bounds where headers are precompiled.
function(smplan_compile_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE -ffp-contract=off -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion
    -Wno-missing-field-initializers "$<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-array-bounds>"
    $<$<BOOL:${SMPLAN_WARNINGS_AS_ERRORS}>:-Werror>)
  target_compile_definitions(${target} PRIVATE $<$<CONFIG:Debug>:SMPLAN_ENABLE_ASSERTS>)
  set_source_files_properties(${SMPLAN_COMPILED_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# What nearly every source includes is read once a build, by the first library. It saves time and nothing else: each
# file still includes what it uses, which scripts/lint shows (CMAKE_DISABLE_PRECOMPILE_HEADERS).
function(smplan_precompile_headers target)
  get_property(first GLOBAL PROPERTY SMPLAN_PRECOMPILED)
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <charconv> <cmath> <cstdint> <functional> <map>
      <memory> <optional> <set> <span> <string> <string_view> <utility> <variant> <vector> <fmt/format.h> <tl/expected.hpp>)
    set_property(GLOBAL PROPERTY SMPLAN_PRECOMPILED ${target})
  endif()
endfunction()

# Tests are compiled once and run once: less time for the optimiser, and what nearly all include is read once, by the
# first of them.
function(smplan_compile_fast target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-O1>)
  get_property(first GLOBAL PROPERTY SMPLAN_PRECOMPILED_TESTS)
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <cmath> <cstdint> <filesystem> <fstream> <map>
      <optional> <set> <sstream> <string> <string_view> <vector> <fmt/format.h> <gmock/gmock.h> <gtest/gtest.h>
      <nlohmann/json.hpp> <tl/expected.hpp>)
    set_property(GLOBAL PROPERTY SMPLAN_PRECOMPILED_TESTS ${target})
  endif()
endfunction()

# smplan_embed(<target source variable> <namespace function> files...): a .cpp that holds the files as
# strings, so that the binary needs no data at run time.
function(smplan_embed out function_name)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/${function_name}.cpp)
  list(JOIN ARGN "|" joined)
  add_custom_command(OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} -DOUT=${generated} -DFUNCTION=${function_name} "-DFILES=${joined}"
            -P ${PROJECT_SOURCE_DIR}/cmake/EmbedFiles.cmake
    DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/EmbedFiles.cmake
    VERBATIM)
  set_source_files_properties(${generated} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set(${out} ${generated} PARENT_SCOPE)
endfunction()

# smplan_add_tests(<folder> LINK ...): every *_test.cpp of tests/<folder> in one GoogleTest program.
function(smplan_add_tests name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*_test.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(smplan_${name}_tests ${sources})
  target_link_libraries(smplan_${name}_tests PRIVATE ${ARG_LINK} GTest::gmock_main fmt::fmt)
  target_include_directories(smplan_${name}_tests PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(smplan_${name}_tests PRIVATE SMPLAN_TEST_DATA="${PROJECT_SOURCE_DIR}/tests")
  smplan_compile_options(smplan_${name}_tests)
  smplan_compile_fast(smplan_${name}_tests)
  gtest_discover_tests(smplan_${name}_tests TEST_PREFIX "${name}." NO_PRETTY_VALUES
    DISCOVERY_TIMEOUT 60 PROPERTIES LABELS unit)
endfunction()
