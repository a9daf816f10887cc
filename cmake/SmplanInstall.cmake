include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY SMPLAN_LIBRARIES)
install(TARGETS ${libraries} EXPORT smplanTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/smplan COMPONENT development)
install(FILES ${PROJECT_SOURCE_DIR}/smplan.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/smplan COMPONENT development)
install(EXPORT smplanTargets NAMESPACE smplan:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/smplan COMPONENT development)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/smplanConfig.cmake.in
  ${PROJECT_BINARY_DIR}/smplanConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/smplan)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/smplanConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/smplanConfig.cmake ${PROJECT_BINARY_DIR}/smplanConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FindPCRE2.cmake ${PROJECT_SOURCE_DIR}/cmake/Findutf8proc.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/smplan COMPONENT development)
