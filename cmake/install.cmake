include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/iap)

# The C library has an export of its own, so that C hosts need none of what the engine is linked with.
install(TARGETS iap_c EXPORT iapCTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
install(FILES engine/host/iap.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(EXPORT iapCTargets NAMESPACE iap:: DESTINATION ${package} COMPONENT development)
file(RELATIVE_PATH iap_pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" iap_pc_prefix ${iap_pc_prefix})
configure_file(cmake/iap.pc.in ${PROJECT_BINARY_DIR}/iap.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/iap.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# The Python package finds the C library in the same tree.
install(DIRECTORY engine/python/iap DESTINATION ${IAP_PYTHON_DIR} COMPONENT python FILES_MATCHING PATTERN "*.py" PATTERN __pycache__ EXCLUDE)

# What there is to read and to run: experiments with the trained policies, documents, hosts to build.
# One script compares with a task of the tests.
install(DIRECTORY scripts DESTINATION ${CMAKE_INSTALL_DATADIR}/iap COMPONENT tool PATTERN runs EXCLUDE PATTERN tasks/speed.lua EXCLUDE)
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tool PATTERN __pycache__ EXCLUDE)
get_property(reference GLOBAL PROPERTY IAP_REFERENCE)
install(FILES ${reference}/iap.meta.lua DESTINATION ${CMAKE_INSTALL_DATADIR}/iap COMPONENT tool) # what editors know of the Lua module
install(FILES README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tool)

get_property(libraries GLOBAL PROPERTY IAP_LIBRARIES)
install(TARGETS ${libraries} EXPORT iapTargets
  FILE_SET iap_modules DESTINATION ${CMAKE_INSTALL_LIBDIR}/iap/modules COMPONENT development
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(EXPORT iapTargets NAMESPACE iap:: DESTINATION ${package} CXX_MODULES_DIRECTORY modules COMPONENT development)
# Outside of the export: who has the libraries need not have the program.
install(TARGETS iap RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tool)
install(TARGETS iap_lua_module LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/lua/5.4 COMPONENT tool)
# All that is installed, which is less than all that is built.
get_property(plugins GLOBAL PROPERTY IAP_PLUGINS)
list(TRANSFORM plugins PREPEND iap_plugin_)
add_custom_target(installed DEPENDS iap iap_c iap_lua_module ${libraries} ${plugins})

string(REGEX MATCH "^[0-9]+" iap_clang ${CMAKE_CXX_COMPILER_VERSION})
configure_package_config_file(cmake/iapConfig.cmake.in ${PROJECT_BINARY_DIR}/iapConfig.cmake INSTALL_DESTINATION ${package})
configure_file(cmake/iapEngine.cmake.in ${PROJECT_BINARY_DIR}/iapEngine.cmake @ONLY)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/iapConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/iapConfig.cmake ${PROJECT_BINARY_DIR}/iapEngine.cmake ${PROJECT_BINARY_DIR}/iapConfigVersion.cmake
  DESTINATION ${package} COMPONENT development)
