#!/usr/bin/env bash
# Generates a Python client from openapi.json, checks a program that uses it with mypy, and runs it against a running local stack.
#
# usage: python.sh STACK_JSON
set -euo pipefail
stack=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"${PYTHON:-python3}" -m venv "$work/venv"
export PATH=$work/venv/bin:$PATH
pip install --quiet --disable-pip-version-check openapi-python-client==0.29.1 mypy==1.18.2
openapi-python-client generate --path "$here/../../../openapi.json" --output-path "$work/client" --fail-on-warning
pip install --quiet --disable-pip-version-check "$work/client"
cd "$work"
mypy --strict "$here/python_client.py"
python "$here/python_client.py" "$stack"
