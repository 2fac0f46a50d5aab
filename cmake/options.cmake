option(IAP_TESTS "Build the tests" ON)
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

# Flags that change the language must be the same in every unit that shares a module.
if(IAP_SANITIZE)
  add_compile_options(-fsanitize=${IAP_SANITIZE} -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${IAP_SANITIZE})
  if(IAP_SANITIZE STREQUAL "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()
