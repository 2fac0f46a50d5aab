include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/iap)

# The C library has an export of its own, so that C hosts need none of what the engine is linked with.
install(TARGETS iap_c EXPORT iapCTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES engine/host/iap.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT iapCTargets NAMESPACE iap:: DESTINATION ${package})
file(RELATIVE_PATH iap_pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" iap_pc_prefix ${iap_pc_prefix})
configure_file(cmake/iap.pc.in ${PROJECT_BINARY_DIR}/iap.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/iap.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The Python package finds the C library in the same tree.
install(DIRECTORY engine/python/iap DESTINATION ${IAP_PYTHON_DIR} FILES_MATCHING PATTERN "*.py" PATTERN __pycache__ EXCLUDE)

# What there is to read and to run: experiments with the trained policies, documents, hosts to build.
install(DIRECTORY scripts DESTINATION ${CMAKE_INSTALL_DATADIR}/iap)
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN __pycache__ EXCLUDE)
get_property(reference GLOBAL PROPERTY IAP_REFERENCE)
install(FILES ${reference}/iap.meta.lua DESTINATION ${CMAKE_INSTALL_DATADIR}/iap) # what editors know of the Lua module
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

get_property(libraries GLOBAL PROPERTY IAP_LIBRARIES)
install(TARGETS iap ${libraries} EXPORT iapTargets
  FILE_SET iap_modules DESTINATION ${CMAKE_INSTALL_LIBDIR}/iap/modules
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT iapTargets NAMESPACE iap:: DESTINATION ${package} CXX_MODULES_DIRECTORY modules)
install(TARGETS iap_lua_module LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/lua/5.4)

string(REGEX MATCH "^[0-9]+" iap_clang ${CMAKE_CXX_COMPILER_VERSION})
configure_package_config_file(cmake/iapConfig.cmake.in ${PROJECT_BINARY_DIR}/iapConfig.cmake INSTALL_DESTINATION ${package})
configure_file(cmake/iapEngine.cmake.in ${PROJECT_BINARY_DIR}/iapEngine.cmake @ONLY)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/iapConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/iapConfig.cmake ${PROJECT_BINARY_DIR}/iapEngine.cmake ${PROJECT_BINARY_DIR}/iapConfigVersion.cmake
  DESTINATION ${package})
