#!/usr/bin/env bash
# What the CMake package says to hosts: those that cannot take the C++ modules are told what they lack, and a C host needs nothing of it.
# usage: package.sh BUILD SOURCE
set -euo pipefail
unset CC CXX CMAKE_GENERATOR
build=$1 source=$2 work=$1/package
rm -rf "$work"
mkdir -p "$work"
cd "$work"
cmake --install "$build" --prefix "$work/prefix" >install.log

# Experiments and trained policies come along and play; so do the documents and the hosts.
"$work/prefix/bin/iap" verify cheetah-run.iap >verify.log || { cat verify.log; exit 1; }
# What editors are told, and documents whose links lead somewhere in the installation, too.
lua5.4 "$source/tests/dev/annotations.lua" "$work/prefix/share/iap/iap.meta.lua" >/dev/null || exit 1
(cd "$work/prefix/share/doc/iap" && "$work/prefix/bin/iap" run "$source/tests/dev/links.lua" README.md docs/*.md docs/reference/*.md) >links.log || { cat links.log; exit 1; }
for kept in LICENSE README.md docs/embedding.md examples/host_c; do
  [ -e "$work/prefix/share/doc/iap/$kept" ] || { echo "$kept is not installed"; exit 1; }
done

# configure NAME HEAD CMAKE-ARGUMENT...: a host whose CMakeLists.txt begins with HEAD.
configure() {
  local name=$1 head=$2
  shift 2
  mkdir "$name"
  printf '%s\n' "$head" 'add_executable(host main.cpp)' 'target_link_libraries(host PRIVATE iap::engine)' "${tail:-}" >"$name/CMakeLists.txt"
  echo 'import iap; int main() {}' >"$name/main.cpp"
  cmake -S "$name" -B "$name/build" -DCMAKE_PREFIX_PATH="$work/prefix" "$@" >"$name.log" 2>&1
}

# refused NAME SENTENCE HEAD CMAKE-ARGUMENT...
refused() {
  local name=$1 sentence=$2
  shift 2
  if configure "$name" "$@"; then
    echo "$name was not refused"
    exit 1
  fi
  # CMake wraps and indents what it prints.
  tr -s ' \n' ' ' <"$name.log" | grep -qF -- "$sentence" || { echo "$name does not say '$sentence':"; cat "$name.log"; exit 1; }
}

# settings LANGUAGES LINE...: what stands before the target of a host with these settings.
settings() {
  local languages=$1
  shift
  printf '%s\n' 'cmake_minimum_required(VERSION 3.28...3.31)' "project(host LANGUAGES $languages)" "$@" 'find_package(iap REQUIRED)'
}

ninja=(-G Ninja)
clang=(-DCMAKE_C_COMPILER=clang-19 -DCMAKE_CXX_COMPILER=clang++-19)
standard='set(CMAKE_CXX_STANDARD 20)' extensions='set(CMAKE_CXX_EXTENSIONS OFF)'
good=$(settings 'C CXX' "$standard" "$extensions")

configure good "$good" "${ninja[@]}" "${clang[@]}" || { cat good.log; exit 1; }
# The messages name what the host has, so that a machine whose g++ or make differ in version passes too.
refused gcc 'the compiler clang 19 or newer, not GNU' "$good" "${ninja[@]}" -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++
refused makefiles 'the generator Ninja, not Unix Makefiles' "$good" -G 'Unix Makefiles' "${clang[@]}"
refused cxx23 'C++20, not C++23' "$(settings 'C CXX' 'set(CMAKE_CXX_STANDARD 23)' "$extensions")" "${ninja[@]}" "${clang[@]}"
refused extensions 'C++ without GNU extensions: set(CMAKE_CXX_EXTENSIONS OFF)' "$(settings 'C CXX' "$standard")" "${ninja[@]}" "${clang[@]}"
refused explicit_extensions 'C++ without GNU extensions' "$(settings 'C CXX' "$standard" 'set(CMAKE_CXX_EXTENSIONS ON)')" "${ninja[@]}" "${clang[@]}"
refused unscanned 'sources that are scanned for modules: cmake_minimum_required(VERSION 3.28)' "${good/3.28...3.31/3.20}" "${ninja[@]}" "${clang[@]}"
refused no_cxx 'the language C++: project(... LANGUAGES C CXX)' "$(settings C)" "${ninja[@]}" "${clang[@]}"
refused no_cxx_remedy 'find_package(iap COMPONENTS c)' "$(settings C)" "${ninja[@]}" "${clang[@]}"
refused component "There is no component 'cpp'; known: c, engine." "${good/REQUIRED/REQUIRED COMPONENTS cpp}" "${ninja[@]}" "${clang[@]}"
# All at once, in one message.
refused all 'not Unix Makefiles' "$(settings 'C CXX' 'set(CMAKE_CXX_STANDARD 23)')" -G 'Unix Makefiles' -DCMAKE_CXX_COMPILER=g++
for part in 'not GNU' 'not C++23' 'GNU extensions'; do grep -qF -- "$part" all.log; done
# Settings of the target itself, which the package cannot see.
tail='set_target_properties(host PROPERTIES CXX_STANDARD 23)' refused target_cxx23 "The target 'host' links iap::engine, which needs C++20, not C++23" \
  "$good" "${ninja[@]}" "${clang[@]}"
tail='target_compile_features(host PRIVATE cxx_std_23)' refused target_feature 'needs C++20, not C++23' "$good" "${ninja[@]}" "${clang[@]}"
tail='set_target_properties(host PROPERTIES CXX_EXTENSIONS ON)' refused target_extensions 'set its CXX_EXTENSIONS to OFF' \
  "$good" "${ninja[@]}" "${clang[@]}"
# A host that can do without is not stopped.
tail='' configure optional "$(settings 'C CXX' | sed 's/iap REQUIRED)/iap)\nif(iap_FOUND)\n  message(FATAL_ERROR found)\nendif()\nreturn()/')" \
  "${ninja[@]}" -DCMAKE_CXX_COMPILER=g++ || { cat optional.log; exit 1; }
# Neither is one that can do without a component: it gets the others, and is told why.
# does_without NAME SENTENCE COMPONENTS CMAKE-ARGUMENT...: a C host that wants these, and links iap::c.
does_without() {
  local name=$1 sentence=$2 components=$3
  shift 3
  mkdir "$name"
  printf '%s\n' 'cmake_minimum_required(VERSION 3.28)' 'project(host LANGUAGES C CXX)' "$standard" "$extensions" "find_package(iap $components)" \
    'if(iap_engine_FOUND OR NOT iap_c_FOUND OR TARGET iap::engine)' '  message(FATAL_ERROR "the engine is there, or C is not")' 'endif()' \
    'add_executable(host main.c)' 'target_link_libraries(host PRIVATE iap::c)' >"$name/CMakeLists.txt"
  echo 'int main(void) { return 0; }' >"$name/main.c"
  cmake -S "$name" -B "$name/build" -DCMAKE_PREFIX_PATH="$work/prefix" "$@" >"$name.log" 2>&1 || { cat "$name.log"; exit 1; }
  tr -s ' \n' ' ' <"$name.log" | grep -qF -- "$sentence" || { echo "$name does not say '$sentence':"; cat "$name.log"; exit 1; }
}
gcc_make=(-G 'Unix Makefiles' -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++)
does_without optional_engine 'not Unix Makefiles' 'REQUIRED COMPONENTS c OPTIONAL_COMPONENTS engine' "${gcc_make[@]}"
does_without optional_unknown "There is no component 'cpp'" 'REQUIRED COMPONENTS c OPTIONAL_COMPONENTS cpp' "${gcc_make[@]}"
does_without optional_dependency 'fmt' 'REQUIRED COMPONENTS c OPTIONAL_COMPONENTS engine' "${ninja[@]}" "${clang[@]}" -DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON
PKG_CONFIG_LIBDIR=$work does_without optional_module 'what pkg-config calls bullet-float64' 'REQUIRED COMPONENTS c OPTIONAL_COMPONENTS engine' \
  "${ninja[@]}" "${clang[@]}"
PKG_CONFIG_LIBDIR=$work refused module 'what pkg-config calls bullet-float64' "$good" "${ninja[@]}" "${clang[@]}"

# The C host, with gcc and make, where nothing that the engine is linked with is to be found.
without=(-DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON)
for dependency in $(sed -n 's/^find_dependency(\(.*\))/\1/p' "$source/cmake/iapEngine.cmake.in"); do
  without+=("-DCMAKE_DISABLE_FIND_PACKAGE_$dependency=ON")
done
[ ${#without[@]} -gt 8 ] || { echo "found no dependencies to hide"; exit 1; }
cmake -S "$source/examples/host_c" -B host_c -G 'Unix Makefiles' -DCMAKE_C_COMPILER=gcc -DCMAKE_PREFIX_PATH="$work/prefix" \
  "${without[@]}" --no-warn-unused-cli >host_c.log 2>&1 && cmake --build host_c >>host_c.log 2>&1 || { cat host_c.log; exit 1; }
if host_c/host_c nowhere.iap nowhere.bin 1 2>host_c.err; then
  echo "host_c found a policy that does not exist"
  exit 1
fi
grep -q 'nowhere.iap' host_c.err
echo "hosts are told what they lack, and a C host lacks nothing"
