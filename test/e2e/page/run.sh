#!/usr/bin/env bash
# Looks at the page of the API's description in headless Chromium, on a running local stack.
#
# usage: run.sh STACK_JSON; CHROMIUM names the program, otherwise it is found or fetched
set -euo pipefail
stack=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

chromium=$("$here/../chromium.sh" "$work/chromium")
"$here/../../../node_modules/.bin/node" "$here/check-page.ts" "$stack" "$chromium"
