#!/usr/bin/env bash
# The tarball: unpacked, with the packages that it names, used in one place and then in another.
set -euo pipefail
. /test/common.sh
get update
tar -C /opt -xzf /packages/iap-*.tar.gz
mv /opt/iap-* /opt/iap
get install --no-install-recommends $(cat /opt/iap/share/doc/iap/debian-packages.txt)
as_reader /opt/iap tool
mv /opt/iap "/opt/another place"
as_reader "/opt/another place" tool
get install --no-install-recommends lua5.4 gcc libc6-dev make cmake pkg-config python3-numpy
mv "/opt/another place" /home/iap
for part in lua python c; do as_reader /home/iap $part; done
echo "the tarball was used in three places"
