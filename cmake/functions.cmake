# iap_module(FILE.cppm ...): module interfaces of this folder.
function(iap_module)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  target_sources(iap_engine PUBLIC FILE_SET iap_modules TYPE CXX_MODULES BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${ARGN})
endfunction()

# iap_sources(FILE.cpp ...): bodies of this folder.
function(iap_sources)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  target_sources(iap_engine PRIVATE ${ARGN})
endfunction()

# iap_embed(FILE ...): the text of each file as `extern const std::string_view <name>_<extension>` in namespace iap::embedded,
# so that a program finds its models without a data folder. A changed file rebuilds. One call a folder.
function(iap_embed)
  set(outputs)
  foreach(file IN LISTS ARGN)
    string(MAKE_C_IDENTIFIER ${file} symbol)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cpp)
    add_custom_command(OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DINPUT=${CMAKE_CURRENT_SOURCE_DIR}/${file} -DOUTPUT=${output} -DSYMBOL=${symbol}
              -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
      DEPENDS ${file} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake VERBATIM)
    target_sources(iap_engine PRIVATE ${output})
    set_source_files_properties(${output} TARGET_DIRECTORY iap_engine PROPERTIES GENERATED ON CXX_SCAN_FOR_MODULES OFF)
    list(APPEND outputs ${output})
  endforeach()
  # A command's output is known only in its own folder; the library in the root needs a target to wait for.
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  string(MAKE_C_IDENTIFIER embed_${folder} target)
  add_custom_target(${target} DEPENDS ${outputs})
  add_dependencies(iap_engine ${target})
endfunction()

# iap_test(NAME FILE.cpp ...): one Catch2 executable.
function(iap_test name)
  if(IAP_SANITIZE STREQUAL "thread") # its runtime brings its own operator new; the counting ones cannot stand beside it
    list(FILTER ARGN EXCLUDE REGEX "allocation_test")
  endif()
  add_executable(test_${name} ${ARGN})
  target_link_libraries(test_${name} PRIVATE iap_host Catch2::Catch2WithMain nlohmann_json::nlohmann_json)
  target_compile_definitions(test_${name} PRIVATE IAP_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
  set(timeout 300)
  if(IAP_SANITIZE) # OpenGL in software takes many times as long
    set(timeout 1200)
  endif()
  catch_discover_tests(test_${name} DISCOVERY_MODE PRE_TEST TEST_PREFIX ${name}: EXTRA_ARGS --warn NoAssertions
                       PROPERTIES TIMEOUT ${timeout})
endfunction()
