#!/usr/bin/env bash
# Looks at the page of the API's description in headless Chromium, on a running local stack. Without a Chromium it fetches Debian's
# package and unpacks it into a folder of its own, which needs no rights and changes nothing of this machine.
#
# usage: run.sh STACK_JSON; CHROMIUM names the program
set -euo pipefail
stack=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fetch_chromium() {
  if ! command -v apt-get >/dev/null; then
    echo 'The page is looked at in Chromium: name it in CHROMIUM.' >&2
    exit 1
  fi
  mkdir -p "$work/lists/partial" "$work/packages/partial" "$work/root"
  local options=(-qq -o Debug::NoLocking=1 -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work" -o Dir::Cache::Archives="$work/packages")
  apt-get "${options[@]}" update
  apt-get "${options[@]}" install --yes --no-install-recommends --download-only chromium-headless-shell
  for package in "$work"/packages/*.deb; do dpkg-deb --extract "$package" "$work/root"; done
  local libraries
  libraries=$(find "$work/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd :)
  printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$libraries" "$work/root/usr/lib/chromium/chromium-headless-shell" >"$work/chromium"
  chmod +x "$work/chromium"
}

chromium=${CHROMIUM:-$(command -v chromium-headless-shell || command -v chromium || true)}
if [[ -z $chromium ]]; then
  fetch_chromium
  chromium=$work/chromium
fi
"$here/../../../node_modules/.bin/node" "$here/check-page.ts" "$stack" "$chromium"
