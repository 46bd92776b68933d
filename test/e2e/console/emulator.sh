#!/usr/bin/env bash
# Uses the console in headless Chromium with a program of Pulser's, on a running local stack where no other emulator is at work.
#
# usage: emulator.sh STACK_JSON ENVIRONMENTS; the environments are those that ../clients/run.sh has made for its suite `emulator`;
# CHROMIUM names the program, otherwise it is found or fetched
set -euo pipefail
stack=$(realpath "$1")
python=$(realpath --no-symlinks "$2/pulser/bin/python")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

chromium=$("$here/../chromium.sh" "$work/chromium")
PYTHONDONTWRITEBYTECODE=1 "$here/../../../node_modules/.bin/node" "$here/check-emulator.ts" "$stack" "$chromium" "$python"
