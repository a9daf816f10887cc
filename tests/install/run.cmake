# Run with -P: installs BUILD into a stage under WORK, then configures, builds and runs the consumer
# against nothing but the stage.
function(step name)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${name} failed (${status}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
step("install" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/stage)
step("configure" ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK}/consumer -G Ninja
  -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CXX_FLAGS=${CXX_FLAGS} -DCMAKE_PREFIX_PATH=${WORK}/stage
  -Dsmplan_DIR=${WORK}/stage/lib/cmake/smplan)
step("build" ${CMAKE_COMMAND} --build ${WORK}/consumer)
step("consumer" ${WORK}/consumer/consumer)
if(NOT output MATCHES "ml.p4d.24xlarge .*dp[0-9]")
  message(FATAL_ERROR "the consumer says: ${output}")
endif()

# What is installed must not point back into the source or build folder.
file(GLOB_RECURSE exported ${WORK}/stage/*.cmake ${WORK}/stage/*.hpp)
foreach(file IN LISTS exported)
  file(STRINGS ${file} leaks REGEX "${SOURCE}/|${BUILD}/")
  if(leaks)
    message(FATAL_ERROR "${file} names the build machine: ${leaks}")
  endif()
endforeach()
if(CLI)
  step("program" ${WORK}/stage/bin/smplan --version)
endif()
