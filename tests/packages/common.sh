# For packages.sh and tarball.sh, which run as root in a bare Debian; sourced.
export DEBIAN_FRONTEND=noninteractive
useradd --create-home reader

# What apt says is shown only where it fails.
get() { apt-get -q -y -o Dpkg::Use-Pty=0 "$@" >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }; }

# The CMake that C++ hosts need: on Debian 12 that of the backports.
newer_cmake() {
  local CODENAME
  dpkg --compare-versions "$(dpkg-query -W -f '${Version}' cmake)" lt 3.28 || return 0
  CODENAME=$(. /etc/os-release && echo "$VERSION_CODENAME")
  sed -n "s/ $CODENAME main.*/ $CODENAME-backports main/p" /etc/apt/sources.list | head -n 1 >/etc/apt/sources.list.d/backports.list
  get update
  get install --no-install-recommends -t "$CODENAME-backports" cmake
}

# as_reader PREFIX WHAT: a part of use.sh as a user with an empty folder.
as_reader() {
  local place
  place=$(runuser -u reader -- mktemp -d)
  (cd "$place" && runuser -u reader -- env HOME=/home/reader bash /test/use.sh "$@") || { echo "FAILED: $2 of $1"; exit 1; }
  rm -r "$place"
}
