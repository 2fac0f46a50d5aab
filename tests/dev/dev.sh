#!/usr/bin/env bash
# Tests of ./dev: dev.sh SOURCE_TREE CASE. A copy of the script runs in a folder of its own.
set -uo pipefail
source_tree=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tree/.ci" "$work/bin"
cp "$source_tree/dev" "$work/tree/"
cp "$source_tree"/.ci/* "$work/tree/.ci/"
cd "$work/tree" || exit 1

fail() {
  echo "FAILED: $*"
  cat "$work/out" "$work/calls" 2>/dev/null
  exit 1
}
says() { grep -qF -- "$1" "$work/out" || fail "expected '$1'"; }
silent_about() { ! grep -qF -- "$1" "$work/out" || fail "did not expect '$1'"; }

stand_in() {
  cat >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}
stand_in dpkg-query <<'SH'
#!/bin/sh
case "$*" in *Version*) echo 3.7.1; exit ;; esac
shift 3
for package; do echo installed; done
SH
stand_in cmake <<SH
#!/bin/sh
case \$1 in
  --version) echo cmake version 3.31.0 ;;
  -S) mkdir -p "\$4" && touch "\$4/build.ninja" ;;
esac
SH
stand_in apt-get <<'SH'
#!/bin/sh
echo "apt-get was called" >&2
exit 1
SH
stand_in nproc <<'SH'
#!/bin/sh
echo 2
SH
# steps FILE: what Ninja prints when it builds; an empty one stands for a tree that is up to date
stand_in ninja <<SH
#!/bin/sh
echo "ninja \$*" >>"$work/calls"
if [ ! -s "$work/steps" ]; then case " \$* " in *" --quiet "*) ;; *) echo "ninja: no work to do." ;; esac; exit 0; fi
case " \$* " in *" -n "*) exit 0 ;; esac
[ -t 1 ] && echo "on a terminal"
cat "$work/steps"
mkdir -p "$work/tree/build/bin" && printf '#!/bin/sh\necho the program: "\$@"\n' >"$work/tree/build/bin/iap" && chmod +x "$work/tree/build/bin/iap"
! grep -q FAILED "$work/steps"
SH
# Packs what it is asked to, or fails after half of it where the file "broken" lies.
stand_in cpack <<SH
#!/bin/sh
echo "cpack \$*" >>"$work/calls"
mkdir -p "\$4"
case \$2 in
  DEB) echo half >"\$4/iap_1_amd64.deb"; [ ! -e "$work/broken" ] || { echo "no space left"; exit 1; }; echo whole >"\$4/libiap1_1_amd64.deb" ;;
  TGZ) echo all >"\$4/iap-1.tar.gz" ;;
esac
SH
stand_in dpkg-deb <<'SH'
#!/bin/sh
echo "libc6 (>= 2.35), libpng16-16 | libpng17, libiap1 (= 1), zlib1g"
SH
export PATH=$work/bin:$PATH
printf '[1/2] Building CXX object core.cpp.o\n[2/2] Linking CXX executable bin/iap\n' >"$work/steps"

case $2 in
  first_build)
    ./dev run script.lua >"$work/out" 2>&1 || fail "exit code $?"
    says "building program: 10 to 25 minutes of CPU time"
    says "so some 5 to 13 on 2 quiet cores"
    says "the program: run script.lua"
    grep -q 'ninja .* iap$' "$work/calls" || fail "expected only the program to be built"
    ! grep -v ' iap$' "$work/calls" || fail "built more than the program"
    ./dev iap list >"$work/out" 2>&1 || fail "exit code $?"
    silent_about "minutes"
    ;;
  copied)
    # A build folder that came with a copied tree is not taken for this one's.
    mkdir build && touch build/build.ninja build/mine && echo "CMAKE_HOME_DIRECTORY:INTERNAL=$work/original" >build/CMakeCache.txt
    ./dev iap list >"$work/out" 2>&1 || fail "exit code $?"
    says "was built for the tree '$work/original'; building it anew"
    says "dev: configuring"
    [ -e build/mine ] && [ ! -e build/CMakeCache.txt ] || fail "$(ls build)"
    # This tree's own is left alone, under whatever name it is reached.
    echo "CMAKE_HOME_DIRECTORY:INTERNAL=$work/tree" >build/CMakeCache.txt
    ln -s "$work/tree" "$work/link"
    "$work/link/dev" iap list >"$work/out" 2>&1 || fail "exit code $?"
    silent_about "anew"
    ;;
  backports)
    # sudo notes what it is asked for; with it comes a Catch2 that is new enough once the backports are asked.
    release=$(. /etc/os-release && [ "$ID" = debian ] && echo "$VERSION_CODENAME") || { echo "skipped: this is no Debian"; exit 77; }
    stand_in id <<<'echo 1000'
    stand_in sudo <<SH
#!/bin/sh
echo "sudo \$*" >>"$work/calls"
case "\$*" in
  tee*) cat >"$work/entry" ;;
  rm*) rm "$work/entry" ;;
  *update) [ ! -e "$work/entry" ] || [ ! -e "$work/unreadable" ] ;;
  *-backports*) touch "$work/newer" ;;
esac
SH
    stand_in dpkg-query <<SH
#!/bin/sh
case "\$*" in *Version*) [ -e "$work/newer" ] && echo 3.7 || echo 2.13; exit ;; esac
shift 3
for package; do echo installed; done
SH
    stand_in apt-get <<SH
#!/bin/sh
cat "$work/targets"
SH
    # Another vendor's entry stands first, and the suites' own names begin alike.
    printf '%s\n' "$release|Docker|http://vendor/" "$release-security|Debian|http://mirror/security/" \
      "$release|Debian|http://mirror/debian/" >"$work/targets"
    ./dev iap list >"$work/out" 2>&1 || fail "exit code $?"
    [ "$(sed -n 2,3p "$work/entry")" = "$(printf 'URIs: http://mirror/debian/\nSuites: %s-backports' "$release")" ] ||
      fail "$(cat "$work/entry")"
    # What apt cannot read goes again.
    rm "$work/entry" "$work/newer"
    touch "$work/unreadable"
    ./dev iap list >"$work/out" 2>&1 && fail "went on without backports"
    says "apt cannot read $release-backports from http://mirror/debian/"
    [ ! -e "$work/entry" ] || fail "an entry that cannot be read stays"
    rm "$work/unreadable" "$work/calls"
    # An entry that is there already serves.
    echo "$release-backports|Debian Backports|http://mirror/debian/" >>"$work/targets"
    ./dev iap list >"$work/out" 2>&1 || fail "exit code $?"
    [ ! -e "$work/entry" ] || fail "a second entry was written"
    ;;
  no_root)
    (. /etc/os-release && [ "$ID" = debian ]) || { echo "skipped: this is no Debian"; exit 77; }
    stand_in id <<<'echo 1000'
    stand_in dpkg-query <<<'case "$*" in *Version*) echo 3.7 ;; *liblua5.4-dev*) echo none ;; *) for p; do echo installed; done ;; esac'
    command() { [ "$*" != "-v sudo" ] && builtin command "$@"; }
    export -f command
    ./dev iap list >"$work/out" 2>&1 && fail "went on without what it needs"
    says "ask an administrator to run: apt-get install --no-install-recommends "
    says " liblua5.4-dev"
    [ "$(wc -l <"$work/out")" = 1 ] || fail "expected one line"
    ;;
  progress_pipe)
    ./dev build >"$work/out" 2>&1 || fail "exit code $?"
    says "building everything"
    silent_about "core.cpp.o"
    ;;
  progress_terminal)
    script -qec './dev build' /dev/null >"$work/out" 2>&1 || fail "exit code $?"
    says "on a terminal"
    says "[1/2] Building"
    ;;
  failure)
    printf '[1/2] Building CXX object core.cpp.o\nFAILED: core.cpp.o\ncore.cpp:1: error: no such name\n' >"$work/steps"
    ./dev run script.lua >"$work/out" 2>&1 && fail "a failed build ran the program"
    says "core.cpp:1: error: no such name"
    says "the build failed"
    silent_about "the program:"
    ;;
  nothing_to_do)
    ./dev build >/dev/null 2>&1 || fail "exit code $?"
    : >"$work/steps"
    ./dev iap list >"$work/out" 2>&1 || fail "exit code $?"
    [ "$(cat "$work/out")" = "the program: list" ] || fail "expected only the program's words"
    ;;
  install)
    ./dev install there >"$work/out" 2>&1 || fail "exit code $?"
    says "export PATH=$work/tree/there/bin:\$PATH"
    ;;
  package)
    ./dev package >"$work/out" 2>&1 || fail "exit code $?"
    [ "$(ls build/packages)" = "$(printf 'iap-1.tar.gz\niap_1_amd64.deb\nlibiap1_1_amd64.deb')" ] || fail "packages: $(ls build/packages)"
    grep -q 'ninja .* installed$' "$work/calls" || fail "expected what is installed to be built"
    grep -q 'cpack -G TGZ .*IAP_PACKAGES=libc6 libpng16-16 zlib1g$' "$work/calls" || fail "expected the packages that the tarball needs"
    # A folder is relative to where one stands, is made, and what else lies there stays.
    mkdir -p "$work/elsewhere/out/.iap-part" && echo mine >"$work/elsewhere/out/mine"
    (cd "$work/elsewhere" && ../tree/dev package out && ../tree/dev package new/folder) >"$work/out" 2>&1 || fail "exit code $?"
    [ "$(ls -A "$work/elsewhere/out" | xargs)" = "iap-1.tar.gz iap_1_amd64.deb libiap1_1_amd64.deb mine" ] || fail "$(ls -A "$work/elsewhere/out")"
    [ "$(ls -A "$work/elsewhere/new/folder" | wc -l)" = 3 ] || fail "expected three packages"
    ;;
  package_refused)
    echo mine >file
    for folder in file file/in "$work/tree/dev/x"; do
      ./dev package "$folder" >"$work/out" 2>&1 && fail "packages were written to '$folder'"
      says "is not a folder"
      [ "$(wc -l <"$work/out")" = 1 ] || fail "expected one line"
    done
    ./dev package /proc/nowhere >"$work/out" 2>&1 && fail "packages were written to /proc"
    says "dev: cannot write packages to '/proc/nowhere': '/proc' is not writable"
    [ "$(wc -l <"$work/out")" = 1 ] || fail "expected one line"
    [ ! -e build ] || fail "built before it looked at the folder"
    ./dev package --on bookworm there >"$work/out" 2>&1 && fail "a folder in another Debian was taken"
    says "packages are made in build-bookworm/src/build/packages; leave out 'there'"
    touch "$work/broken"
    ./dev package new >"$work/out" 2>&1 && fail "broken packing passed"
    says "no space left"
    says "packing failed"
    [ ! -e new ] || fail "something half-written is left"
    ./dev package one two >"$work/out" 2>&1 && fail "two folders were taken"
    says "usage: ./dev COMMAND"
    ./dev test-packages --on potato >"$work/out" 2>&1 && fail "an unknown release was taken"
    says "--on takes bookworm or trixie, not 'potato'"
    ;;
  release)
    ./dev test --on potato >"$work/out" 2>&1 && fail "an unknown release was taken"
    says "--on takes bookworm or trixie, not 'potato'"
    ./dev test --on >"$work/out" 2>&1 && fail "a missing release was taken"
    says "usage: ./dev COMMAND"
    ;;
  tidy_hours)
    command -v git >/dev/null || { echo "skipped: there is no git"; exit 77; }
    stand_in clang-tidy-19 <<'SH'
#!/bin/sh
for last; do :; done
echo "analysed $last"
SH
    export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a
    commit() { git add -A && GIT_COMMITTER_DATE="$1 +0000" git commit -qm one || fail "git commit"; }
    mkdir -p modules/core modules/lua engine/cli engine/script envs && git init -q .
    touch modules/core/{old,new}.cpp engine/cli/{body,other}.cpp engine/cli/cli.hpp envs/world.cpp
    # Without a history of so many hours, all.
    commit "2026-01-01 10:00"
    ./dev tidy --hours 4 >"$work/out" 2>&1 || fail "exit code $?"
    [ "$(grep -c analysed "$work/out")" = 4 ] || fail "expected all four bodies"
    echo 1 | tee modules/core/new.cpp >envs/world.cpp
    commit "2026-01-02 10:00"
    ./dev tidy --hours 4 >"$work/out" 2>&1 || fail "exit code $?"
    [ "$(grep analysed "$work/out")" = "analysed modules/core/new.cpp" ] || fail "expected what was changed"
    # A header stands for the bodies beside it.
    echo 1 >engine/cli/cli.hpp
    commit "2026-01-02 13:00"
    ./dev tidy --hours 4 >"$work/out" 2>&1 || fail "exit code $?"
    [ "$(grep analysed "$work/out" | sort | xargs)" = "analysed engine/cli/body.cpp analysed engine/cli/other.cpp analysed modules/core/new.cpp" ] ||
      fail "expected the bodies beside the header"
    echo 1 >words.md
    commit "2026-01-03 10:00"
    ./dev tidy --hours 4 >"$work/out" 2>&1 || fail "exit code $?"
    says "the commits of these 4 hours changed nothing that is analysed"
    silent_about "analysed modules"
    ./dev tidy --hours soon >"$work/out" 2>&1 && fail "'soon' was taken for hours"
    says "--hours: write a whole number from 1 on, got 'soon'"
    ;;
  arguments)
    stand_in clang-format-19 <<SH
#!/bin/sh
echo "clang-format \$*" >>"$work/calls"
SH
    mkdir -p engine/cli envs examples modules tests && touch engine/cli/body.cpp
    while read -r words; do
      # shellcheck disable=SC2086
      ./dev $words >"$work/out" 2>&1 </dev/null
      [ $? = 2 ] || fail "expected exit code 2 of ./dev $words"
      says "usage: ./dev COMMAND"
      [ ! -e "$work/calls" ] || fail "./dev $words did something"
    done <<'WORDS'
format --chekc
format --check engine
build --sanitize address
docs modules
install --help
package --help
endurance --minutes 1 2
endurance --hours 1
combine --minutes
combine --seed x
combine 5
tidy --hours 6 engine/cli
tidy --all engine/cli
tidy --al
tidy engine/cli --all
WORDS
    ./dev tidy engine/clii >"$work/out" 2>&1 && fail "a folder that does not exist was analysed"
    says "there is no folder 'engine/clii'"
    ./dev format --check >"$work/out" 2>&1 || fail "exit code $?"
    grep -q '^clang-format --dry-run --Werror .*engine/cli/body.cpp$' "$work/calls" || fail "expected a check of the format"
    ;;
  *) fail "no case '$2'" ;;
esac
