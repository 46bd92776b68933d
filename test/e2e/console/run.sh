#!/usr/bin/env bash
# Uses the console in headless Chromium: on a running local stack, and on one of its own that trusts an issuer of others.
#
# usage: run.sh STACK_JSON [--screenshots DIRECTORY]; CHROMIUM names the program, otherwise it is found or fetched. With a directory
# it only makes the pictures of the documents: docs/images.
set -euo pipefail
stack=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

chromium=$("$here/../chromium.sh" "$work/chromium")
npm install --no-save --no-package-lock --loglevel=error --prefix "$work" oidc-provider@9.13.3 >/dev/null
"$here/../../../node_modules/.bin/node" "$here/check-console.ts" "$stack" "$chromium" "$work" "${@:2}"
