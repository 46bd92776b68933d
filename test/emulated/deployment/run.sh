#!/usr/bin/env bash
# Deploys the synthesized template to ministack, an emulator of AWS, and examines it there by HTTP.
# Needs Python 3.11 with venv. It listens on 127.0.0.1 alone, and takes at most thirty minutes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes --requirement "$here/requirements.txt"
mkdir "$work/home"
timeout 1800 "$here/../../../node_modules/.bin/node" --disable-warning=ExperimentalWarning \
  "$here/check-deployment.ts" "$work/venv" "$work/home"
