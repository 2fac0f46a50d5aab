# What `./dev package` makes with CPack: a Debian package of each component of install.cmake and of each plugin (iap_plugin),
# and a tarball of everything.
cmake_host_system_information(RESULT distribution QUERY DISTRIB_INFO)
set(CPACK_PACKAGE_VENDOR iap)
set(CPACK_PACKAGE_CONTACT "The iap authors <authors@iap.invalid>")
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/package_files.cmake)

# Each release of Debian has other versions of the libraries, so that packages made on different ones are not the same.
set(CPACK_DEBIAN_PACKAGE_RELEASE 1~deb${distribution_VERSION_ID})
set(own_version ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
set(CPACK_PACKAGE_FILE_NAME iap-${PROJECT_VERSION}-${distribution_ID}${distribution_VERSION_ID}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# iap_package(COMPONENT PACKAGE SECTION SUMMARY CONTENTS [DEPENDS text] [RECOMMENDS text] [SUGGESTS text]): CONTENTS are lines of a
# description; shared libraries are found out and added to the dependencies.
macro(iap_package component package section summary contents)
  cmake_parse_arguments(arg "" "DEPENDS;RECOMMENDS;SUGGESTS" "" ${ARGN})
  string(TOUPPER ${component} key)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${package})
  set(CPACK_DEBIAN_${key}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${key}_PACKAGE_DEPENDS "${arg_DEPENDS}")
  set(CPACK_DEBIAN_${key}_PACKAGE_RECOMMENDS "${arg_RECOMMENDS}")
  set(CPACK_DEBIAN_${key}_PACKAGE_SUGGESTS "${arg_SUGGESTS}")
  set(CPACK_DEBIAN_${key}_DESCRIPTION "vision policies through linear attention: ${summary}\n${about}\n.\n${contents}")
endmacro()

set(CPACK_COMPONENTS_ALL)
set(about "iap trains policies of a few thousand parameters that see pixels through\nlinear-time attention, by evolution strategies.")
# OpenGL, films as MP4 and Doom's art are looked for while a program runs.
iap_package(tool iap science "program and experiments"
  "This package has the program, experiments with their trained policies,\ndocuments, examples and the module for Lua 5.4."
  DEPENDS fonts-dejavu-core RECOMMENDS "libegl1, libgl1-mesa-dri" SUGGESTS "lua5.4, ffmpeg, freedoom")
iap_package(library libiap${abi} libs "C library"
  "This package has the C library: policies, environments, batches of them and\nrollouts for an optimizer of your own."
  RECOMMENDS "libegl1, libgl1-mesa-dri")
# A C host needs the library alone; what C++ hosts link besides is recommended, and find_package asks for it.
iap_package(development libiap-dev libdevel "development files"
  "This package has iap.h, the C++20 modules with their static libraries, and\nthe files of pkg-config and CMake. C hosts need nothing else; C++ hosts need\nthe recommended packages, clang ${iap_clang}, Ninja and CMake 3.28."
  DEPENDS "libiap${abi} (= ${own_version})"
  RECOMMENDS "pkg-config, libtbb-dev, libhwy-dev, libmujoco-dev, libbox2d-dev, libbullet-dev, liburdfdom-dev, libembree-dev, nlohmann-json3-dev, libfmt-dev, zlib1g-dev, libpng-dev, libjpeg62-turbo-dev, liblua5.4-dev, libcairo2-dev, libwebp-dev, libzip-dev, libisal-dev, libgl-dev"
  SUGGESTS "clang-${iap_clang}, clang-tools-${iap_clang}, cmake (>= 3.28), ninja-build")
iap_package(python python3-iap python "Python package"
  "This package has the Python package iap: Gymnasium's interface, batches and\nrollouts over numpy."
  DEPENDS "libiap${abi} (>= ${PROJECT_VERSION}), python3, python3-numpy" SUGGESTS python3-gymnasium)
get_property(plugins GLOBAL PROPERTY IAP_PLUGINS)
foreach(plugin IN LISTS plugins)
  get_property(summary GLOBAL PROPERTY IAP_PLUGIN_${plugin})
  get_property(recommended GLOBAL PROPERTY IAP_PLUGIN_${plugin}_RECOMMENDS)
  iap_package(${plugin} iap-${plugin} science "${summary}" "This package has a plugin of the program: ${summary}."
    DEPENDS "iap (= ${own_version})" RECOMMENDS "${recommended}")
endforeach()

# What dpkg does at installation and removal.
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
  ${PROJECT_SOURCE_DIR}/cmake/debian/python/postinst ${PROJECT_SOURCE_DIR}/cmake/debian/python/prerm)
file(WRITE ${PROJECT_BINARY_DIR}/debian/shlibs "libiap ${abi} libiap${abi} (>= ${PROJECT_VERSION})\n")
file(WRITE ${PROJECT_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/shlibs ${PROJECT_BINARY_DIR}/debian/triggers)
include(CPack)
