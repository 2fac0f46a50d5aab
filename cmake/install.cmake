include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY IAP_LIBRARIES)
install(TARGETS iap ${libraries} iap_c EXPORT iapTargets
  FILE_SET iap_modules DESTINATION ${CMAKE_INSTALL_LIBDIR}/iap/modules
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS iap_lua_module LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/lua/5.4)
install(FILES engine/iap.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT iapTargets NAMESPACE iap:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/iap CXX_MODULES_DIRECTORY modules)

configure_package_config_file(cmake/iapConfig.cmake.in ${PROJECT_BINARY_DIR}/iapConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/iap)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/iapConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/iapConfig.cmake ${PROJECT_BINARY_DIR}/iapConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/iap)
