# Run by CPack before it packs, where the files stand. Debian packages get what each of them must have: copyright and changelog. The
# tarball gets the list of the packages that it needs (IAP_PACKAGES, names with spaces between).
if(CPACK_GENERATOR STREQUAL "TGZ")
  string(REPLACE " " "\n" names "${IAP_PACKAGES}")
  file(WRITE ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/share/doc/iap/debian-packages.txt "${names}\n")
  return()
endif()

string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} key)
  set(package ${CPACK_DEBIAN_${key}_PACKAGE_NAME})
  set(folder ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr/share/doc/${package})
  configure_file(${CMAKE_CURRENT_LIST_DIR}/../LICENSE ${folder}/copyright COPYONLY)
  file(WRITE ${folder}/changelog.Debian "${package} (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * Made of iap ${CPACK_PACKAGE_VERSION}; its CHANGELOG.md is in the package iap.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  execute_process(COMMAND gzip -9n ${folder}/changelog.Debian COMMAND_ERROR_IS_FATAL ANY)
endforeach()
