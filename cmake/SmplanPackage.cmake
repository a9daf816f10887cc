# Debian packages by CPack: `smplan`, the program with its man pages and completions, and `libsmplan-dev`, headers and
# libraries for find_package. `cmake --build build && (cd build && cpack)`; scripts/package does both.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME smplan)
set(CPACK_PACKAGE_VENDOR smplan)
set(CPACK_PACKAGE_CONTACT "smplan maintainers <smplan@users.noreply.github.com>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/package/Documents.cmake)

# fmt and yaml-cpp have other names and other interfaces in other releases.
set(release "Built on Debian 12 (bookworm) and only for it: other releases have no libfmt9
and libyaml-cpp0.7. There, use the Python wheel or build from source.")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME smplan)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "Finds instance types, counts and parallel layouts for a training job, with
their time, memory and cost, and checks jobs before they are submitted.
${release}")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libsmplan-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libexpected-dev, libfmt-dev, libpcre2-dev, libutf8proc-dev, libyaml-cpp-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "For C++ programs: find_package(smplan) gives smplan::planner.
${release}")
include(CPack)
