#!/usr/bin/env bash
# Prints the path of Prometheus' promtool: the one that PROMTOOL names, or that this machine has. Without one it fetches Debian's
# package and unpacks it into the folder, which needs no rights and changes nothing of this machine. Prints nothing where there is
# no apt-get.
#
# usage: promtool.sh FOLDER
set -euo pipefail
found=${PROMTOOL:-$(command -v promtool || true)}
if [[ -n $found ]] || ! command -v apt-get >/dev/null; then
  echo "$found"
  exit
fi
mkdir -p "$1/lists/partial" "$1/root"
folder=$(realpath "$1")
options=(-qq -o Debug::NoLocking=1 -o Dir::State::Lists="$folder/lists" -o Dir::Cache="$folder")
apt-get "${options[@]}" update >&2
# The package alone: promtool needs no other.
(cd "$folder" && apt-get "${options[@]}" download prometheus >&2)
dpkg-deb --extract "$folder"/prometheus_*.deb "$folder/root"
echo "$folder/root/usr/bin/promtool"
