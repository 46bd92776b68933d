#!/usr/bin/env bash
# Judges the template's stream patterns by event-ruler, the engine that AWS filters records with.
# Needs Maven and Java 17.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mvn --batch-mode --quiet -Dstyle.color=never --no-transfer-progress --file "$here/pom.xml" \
  org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory="$work/jars"
# These files and no others.
(cd "$work/jars" && sha256sum -- *) | diff "$here/jars.sha256" -
"$here/../../../node_modules/.bin/node" "$here/check-patterns.ts" "$work/jars"
