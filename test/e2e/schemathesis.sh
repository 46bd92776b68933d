#!/usr/bin/env bash
# Runs Schemathesis against a running local stack with demo data: every check, from the document that the stack serves; what
# machines and operators call with tokens of their own, everything else with a user's.
#
# usage: schemathesis.sh [STACK_JSON [OPTIONS…]] (default .local/stack.json). The exit code is not 0 when it finds
# anything. Its virtual environment, made by PYTHON, is kept in .local.
set -euo pipefail
cd "$(dirname "$0")/../.."

stack=${1:-.local/stack.json}
venv=.local/schemathesis
[[ -x $venv/bin/pip ]] || "${PYTHON:-python3}" -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check schemathesis==4.32.5 hypothesis==6.170.15

# JOB_ID and BATCH_ID of the first account, the tokens and openapi.
settings=$("$venv/bin/python" - "$stack" <<'PYTHON'
import json, sys, urllib.request

stack = json.load(open(sys.argv[1]))
token = stack["users"][0]["token"]
done = urllib.request.Request(
    f"{stack['baseUrl']}/api/v2/jobs?status=DONE&limit=1", headers={"Authorization": f"Bearer {token}"}
)
job = json.load(urllib.request.urlopen(done))["data"][0]
print(f"user={token}; device={stack['device']['token']}; operator={stack['operator']['token']}; openapi={stack['openapiUrl']}")
print(f"export JOB_ID={job['id']} BATCH_ID={job['batch_id']}")
PYTHON
)
eval "$settings"
# It leaves a cache in the directory where it runs.
cd .local
check() { schemathesis/bin/schemathesis --config-file ../test/e2e/schemathesis.toml run "$openapi" "$@"; }
TOKEN=$user check --exclude-tag 'For devices' --exclude-tag 'For operators' "${@:2}"
TOKEN=$device check --include-tag 'For devices' "${@:2}"
TOKEN=$operator check --include-tag 'For operators' "${@:2}"
