#!/usr/bin/env bash
# Prints the path of a Chromium: the one that CHROMIUM names, or that this machine has. Without one it fetches Debian's package and
# unpacks it into the folder, which needs no rights and changes nothing of this machine.
#
# usage: chromium.sh FOLDER
set -euo pipefail
found=${CHROMIUM:-$(command -v chromium-headless-shell || command -v chromium || true)}
if [[ -n $found ]]; then
  echo "$found"
  exit
fi
if ! command -v apt-get >/dev/null; then
  echo 'The pages are looked at in Chromium: name it in CHROMIUM.' >&2
  exit 1
fi
# One run at a time, where the machine has flock: the second one finds what the first has unpacked.
mkdir -p "$1"
exec 9>"$1/lock"
if command -v flock >/dev/null; then flock 9; fi
if [[ -x $1/chromium ]]; then
  realpath "$1/chromium"
  exit
fi
mkdir -p "$1/lists/partial" "$1/packages/partial" "$1/root"
folder=$(realpath "$1")
options=(-qq -o Debug::NoLocking=1 -o Dir::State::Lists="$folder/lists" -o Dir::Cache="$folder" -o Dir::Cache::Archives="$folder/packages")
apt-get "${options[@]}" update >&2
apt-get "${options[@]}" install --yes --no-install-recommends --download-only chromium-headless-shell >&2
for package in "$folder"/packages/*.deb; do dpkg-deb --extract "$package" "$folder/root"; done
libraries=$(find "$folder/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd :)
printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$libraries" "$folder/root/usr/lib/chromium/chromium-headless-shell" >"$folder/chromium"
chmod +x "$folder/chromium"
echo "$folder/chromium"
