# What takes longer than scripts/test has time for, each as a target: `cmake --build build --target long.fuzz`. The
# scripts know what to build; arguments go to them directly (CONTRIBUTING.md).
foreach(check IN ITEMS fuzz properties lint valgrind coverage mutation trust reproduce growth)
  add_custom_target(long.${check} COMMAND ${PROJECT_SOURCE_DIR}/scripts/${check} USES_TERMINAL VERBATIM)
endforeach()
foreach(kind IN ITEMS address thread)
  add_custom_target(long.sanitize.${kind} COMMAND ${PROJECT_SOURCE_DIR}/scripts/sanitize ${kind} USES_TERMINAL VERBATIM)
endforeach()
