#!/usr/bin/env bash
# Generates TypeScript types from openapi.json, compiles a client that uses them, and runs it against a running local stack.
#
# usage: typescript.sh STACK_JSON
set -euo pipefail
stack=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../../..
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp "$here/typescript-client.ts" "$work"
cd "$work"
echo '{ "private": true, "type": "module" }' >package.json
npm install --silent --no-audit --no-fund --no-package-lock openapi-typescript@7.13.0 openapi-fetch@0.17.0 @types/node@24.19.2
npx openapi-typescript "$root/openapi.json" --output api.d.ts
npx tsc --noEmit --strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --target es2022 --module nodenext \
  --allowImportingTsExtensions --types node typescript-client.ts
"$root/node_modules/.bin/node" typescript-client.ts "$stack"
