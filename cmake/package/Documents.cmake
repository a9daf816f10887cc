# Run by CPack before it packs: what Debian wants of every package, in the folder of what is packed.
# Dates are those of SOURCE_DATE_EPOCH, so that the same sources give the same bytes.
function(compress file)
  execute_process(COMMAND gzip -9n ${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(names_program smplan)
set(names_development libsmplan-dev)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
foreach(component IN ITEMS program development)
  set(name ${names_${component}})
  set(doc ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr/share/doc/${name})
  file(COPY ${CMAKE_CURRENT_LIST_DIR}/copyright DESTINATION ${doc} FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ
    WORLD_READ)
  file(WRITE ${doc}/changelog "smplan (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * What changed is in CHANGELOG.md.gz of the package smplan.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  compress(${doc}/changelog)
endforeach()
set(doc ${CPACK_TEMPORARY_DIRECTORY}/program/usr/share/doc/smplan)
file(COPY ${CMAKE_CURRENT_LIST_DIR}/../../CHANGELOG.md DESTINATION ${doc} FILE_PERMISSIONS OWNER_READ OWNER_WRITE
  GROUP_READ WORLD_READ)
compress(${doc}/CHANGELOG.md)
file(GLOB pages ${CPACK_TEMPORARY_DIRECTORY}/program/usr/share/man/man1/*.1)
foreach(page IN LISTS pages)
  compress(${page})
endforeach()
