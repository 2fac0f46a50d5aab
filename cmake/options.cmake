option(IAP_TESTS "Build the tests" ON)
option(IAP_LIVE "Build the plugin for windows (iap play --live), where there is SDL2" ON)
option(IAP_FUZZ "With IAP_SANITIZE=address: what `./dev fuzz` runs" OFF)
set(IAP_SANITIZE "" CACHE STRING "address, undefined or thread: build everything with that sanitizer")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
# No contraction: a fused multiply-add that appears on one machine and not on another would change results.
add_compile_options(-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wno-missing-field-initializers -ffp-contract=off)
add_link_options(-Wl,--as-needed)
# What makes a found hole harder to use (docs/reliability.md has what it costs); the test dev:hardening reads what was built. Without
# _FORTIFY_SOURCE: where modules are imported, clang 19 leaves its inlined functions undefined (memcpy.inline).
include(CheckPIESupported)
check_pie_supported()
add_compile_options(-fstack-protector-strong -fstack-clash-protection)
add_link_options(-Wl,-z,relro,-z,now,-z,noexecstack)
# No file says in which folder it was built.
add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)

# Flags that change the language must be the same in every unit that shares a module.
if(IAP_SANITIZE)
  add_compile_options(-fsanitize=${IAP_SANITIZE} -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${IAP_SANITIZE})
  if(IAP_SANITIZE STREQUAL "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
  # Of a build that is tested once, compiling is most of what it costs, and -O1 takes a sixth off that; fuzzers run for hours.
  if(NOT IAP_FUZZ)
    add_compile_options(-O1)
  else() # what fuzzers learn from
    add_compile_options(-fsanitize=fuzzer-no-link,undefined -fno-sanitize-recover=undefined)
    add_link_options(-fsanitize=undefined)
  endif()
endif()
set(IAP_PYTHON_DIR lib/python3/dist-packages CACHE STRING "Where the Python package is installed, under the prefix")
