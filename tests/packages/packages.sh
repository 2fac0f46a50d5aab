#!/usr/bin/env bash
# The Debian packages: each installed with what it asks for, used, and removed.
set -euo pipefail
. /test/common.sh
get update
cd /packages
get install --no-install-recommends ./iap_*.deb
! dpkg -l libiap1 2>/dev/null | grep -q ^ii || { echo "the program wants the library"; exit 1; }
as_reader /usr tool
get install --no-install-recommends lua5.4
as_reader /usr lua
# Plugins, each with what it is for.
get install --no-install-recommends ./iap-live_*.deb ./iap-openmpi_*.deb openmpi-bin ./iap-mpich_*.deb mpich
for plugin in live openmpi mpich; do as_reader /usr $plugin; done
get install --no-install-recommends ./libiap[0-9]*.deb ./python3-iap_*.deb
as_reader /usr python
# A C host needs a compiler and nothing else, neither the program nor what the engine is made of.
get install --no-install-recommends gcc libc6-dev make cmake pkg-config ./libiap-dev_*.deb
as_reader /usr c
newer_cmake
get install --no-install-recommends clang-19 clang-tools-19 ninja-build
get install ./libiap-dev_*.deb --no-install-recommends $(dpkg-deb -f libiap-dev_*.deb Recommends | tr -d ,)
as_reader /usr cpp

own=$(dpkg-query -W -f '${Package}\n' | grep -E '^(lib|python3-)?iap([0-9]|-|$)')
[ "$(echo $own)" = "iap iap-live iap-mpich iap-openmpi libiap-dev libiap1 python3-iap" ] || { echo "installed are: $own"; exit 1; }
dpkg -L $own | sort -u >/tmp/files
get purge $own
# Folders that other packages have too stay.
while IFS= read -r file; do
  if [ -e "$file" ] && ! dpkg -S "$file" >/dev/null 2>&1; then echo "left: $file"; exit 1; fi
done </tmp/files
left=$(find / -xdev \( -path /packages -o -path /test -o -path /proc -o -path /home -o -path /var/cache -o -path /var/log -o -path /tmp \) -prune -o -name '*iap*' -print |
  while IFS= read -r file; do dpkg -S "$file" >/dev/null 2>&1 || echo "$file"; done)
[ -z "$left" ] || { echo "left: $left"; exit 1; }
ldconfig -p | grep libiap && { echo "the loader still knows the library"; exit 1; }
echo "the packages were installed, used and removed"
