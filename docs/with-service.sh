#!/usr/bin/env bash
# Starts the service and the emulator, runs a command, and ends both: for pipelines.
#
# usage: with-service.sh COMMAND...
# The command finds addresses and tokens in the file $STACK_JSON. The exit code is the command's.
set -euo pipefail
# Each background job is a group of its own, so that it can be ended with all that it has started.
set -m
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
cleanup() {
  # Bash would report each job that it ends.
  exec 2>/dev/null
  jobs -p | sed s/^/-/ | xargs -r kill -- || true
  wait || true
  rm -rf "$work"
}
trap cleanup EXIT
export STACK_JSON=$work/.local/stack.json

(cd "$work" && PORT=0 exec "$root/node_modules/.bin/node" "$root/infra/local/start.ts" --batches 0) >"$work/service.log" 2>&1 &
until [[ -f $STACK_JSON ]]; do
  if ! kill -0 $! 2>/dev/null; then
    cat "$work/service.log" >&2
    exit 1
  fi
  sleep 0.2
done
# Jobs wait for it: it installs itself at its first start.
npm --prefix "$root" run --silent emulator -- --stack "$STACK_JSON" >"$work/emulator.log" 2>&1 &

"$@"
