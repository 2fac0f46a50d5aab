# iap_library(NAME [IMPORTS name...] [INSIDE name...] [USES target...]): the static library iap_NAME with the module iap.NAME of this folder
# and the folders below it; the calls that follow add to it. It links what it names and nothing else, so that any other module is
# unknown to the compiler. IMPORTS are passed on to its users with their headers, INSIDE without. USES: third-party libraries whose door it is.
# The same names stand in the map of CONTRIBUTING.md; the test map:targets compares.
function(iap_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "IMPORTS;INSIDE;USES")
  string(REPLACE . _ target iap_${name})
  string(REPLACE . _ export ${name})
  list(TRANSFORM arg_IMPORTS REPLACE "[.]" _ OUTPUT_VARIABLE imports)
  list(TRANSFORM imports PREPEND iap_)
  list(TRANSFORM arg_INSIDE REPLACE "[.]" _ OUTPUT_VARIABLE inside)
  list(TRANSFORM inside PREPEND iap_)
  add_library(${target} STATIC)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${export})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PUBLIC ${imports} PRIVATE ${inside} ${arg_USES})
  set_property(GLOBAL APPEND PROPERTY IAP_LIBRARIES ${target})
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  list(JOIN arg_IMPORTS " " imports)
  list(JOIN arg_INSIDE " " inside)
  set_property(GLOBAL APPEND_STRING PROPERTY IAP_MAP "${folder}|${name}|${imports}|${inside}\n")
  set(iap_target ${target} PARENT_SCOPE)
endfunction()

# iap_module(FILE.cppm ...): module interfaces of this folder.
function(iap_module)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  target_sources(${iap_target} PUBLIC FILE_SET iap_modules TYPE CXX_MODULES BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${ARGN})
endfunction()

# iap_sources(FILE.cpp ...): bodies of this folder.
function(iap_sources)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  target_sources(${iap_target} PRIVATE ${ARGN})
endfunction()

# iap_simd_sources(FILE.cpp ...): bodies that are compiled once an instruction set: Highway includes the file again from its own folder.
# Beside it, all see the shared loops of modules/attention/simd.
function(iap_simd_sources)
  iap_sources(${ARGN})
  foreach(file IN LISTS ARGN)
    get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR}/${file} DIRECTORY)
    set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/${file} TARGET_DIRECTORY ${iap_target} PROPERTIES
      INCLUDE_DIRECTORIES "${folder};${PROJECT_SOURCE_DIR}/modules/attention/simd" CXX_SCAN_FOR_MODULES OFF)
  endforeach()
endfunction()

# iap_embed(FILE ...): the text of each file as `extern const std::string_view <name>_<extension>` in namespace iap::embedded,
# so that a program finds its models without a data folder. A changed file rebuilds. A generated file is named by its whole path. One
# call a folder.
function(iap_embed)
  set(outputs)
  foreach(file IN LISTS ARGN)
    if(IS_ABSOLUTE ${file})
      file(RELATIVE_PATH name ${CMAKE_CURRENT_BINARY_DIR} ${file})
    else()
      set(name ${file})
      set(file ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    endif()
    string(MAKE_C_IDENTIFIER ${name} symbol)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cpp)
    add_custom_command(OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DINPUT=${file} -DOUTPUT=${output} -DSYMBOL=${symbol}
              -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
      DEPENDS ${file} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake VERBATIM)
    target_sources(${iap_target} PRIVATE ${output})
    set_source_files_properties(${output} TARGET_DIRECTORY ${iap_target} PROPERTIES GENERATED ON CXX_SCAN_FOR_MODULES OFF)
    list(APPEND outputs ${output})
  endforeach()
  # A command's output is known only in its own folder; a library of a folder above needs a target to wait for.
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  string(MAKE_C_IDENTIFIER embed_${folder} target)
  add_custom_target(${target} DEPENDS ${outputs})
  add_dependencies(${iap_target} ${target})
endfunction()

# iap_plugin(NAME SUMMARY text [RECOMMENDS package] SOURCES file... USES target...): the optional shared library libiap-NAME.so
# (modules/plugin), in the build tree and installed where the loader looks; a Debian package of its own, iap-NAME, so that what it is
# linked with is asked of those alone who want it.
function(iap_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SUMMARY;RECOMMENDS" "SOURCES;USES")
  add_library(iap_plugin_${name} MODULE ${arg_SOURCES})
  target_link_libraries(iap_plugin_${name} PRIVATE ${arg_USES})
  target_include_directories(iap_plugin_${name} PRIVATE ${PROJECT_SOURCE_DIR}/modules ${PROJECT_SOURCE_DIR}/engine)
  set_target_properties(iap_plugin_${name} PROPERTIES OUTPUT_NAME iap-${name} CXX_SCAN_FOR_MODULES OFF
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/iap)
  install(TARGETS iap_plugin_${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/iap COMPONENT ${name})
  set_property(GLOBAL APPEND PROPERTY IAP_PLUGINS ${name})
  set_property(GLOBAL PROPERTY IAP_PLUGIN_${name} "${arg_SUMMARY}")
  set_property(GLOBAL PROPERTY IAP_PLUGIN_${name}_RECOMMENDS "${arg_RECOMMENDS}")
endfunction()

# iap_test(NAME FILE.cpp ...): one Catch2 executable.
function(iap_test name)
  if(IAP_SANITIZE STREQUAL "thread") # its runtime brings its own operator new; the counting ones cannot stand beside it
    list(FILTER ARGN EXCLUDE REGEX "allocation_test")
  endif()
  add_executable(test_${name} ${ARGN})
  # The insides of the worlds, too, are for tests.
  target_link_libraries(test_${name} PRIVATE iap_engine iap_envs_car_racing iap_envs_distraction iap_envs_dm_control iap_envs_legged
    iap_envs_take_cover Catch2::Catch2WithMain nlohmann_json::nlohmann_json)
  # A quarter to a half of a test's compilation would be optimising its assertions; what takes long when run is in the libraries.
  target_compile_options(test_${name} PRIVATE -O0)
  target_compile_definitions(test_${name} PRIVATE IAP_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
  set(timeout 300)
  if(IAP_SANITIZE) # OpenGL in software takes many times as long
    set(timeout 1200)
  endif()
  catch_discover_tests(test_${name} DISCOVERY_MODE PRE_TEST TEST_PREFIX ${name}: EXTRA_ARGS --warn NoAssertions
                       PROPERTIES TIMEOUT ${timeout})
endfunction()
