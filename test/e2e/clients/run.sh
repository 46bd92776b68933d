#!/usr/bin/env bash
# Drives a running local stack with the public clients, unchanged: each version in an environment of its own, all side by
# side. Prints each failure and `N passed, N failed`; the exit code is 1 when any failed.
#
# usage: run.sh STACK_JSON [ENVIRONMENTS [clients|alone|emulator]]; environments are kept in this folder, without it made anew each
# time. The tests play the machines, so no emulator may be at work; with `emulator` it is all that is tested, and nothing is played.
# `alone` takes the test that a busy machine would slow down too much, `clients` all others of the clients.
set -euo pipefail
# Each background job is a group of its own, so that it can be ended with all that it has started.
set -m
here=$(cd "$(dirname "$0")" && pwd)
export STACK_JSON=$(realpath "$1") PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d)
trap 'jobs -p | sed s/^/-/ | xargs -r kill -- 2>/dev/null; rm -rf "$work"' EXIT
environments=$(realpath "${2:-$work}")
tools=(pytest==9.1.0 pytest-timeout==2.4.0 boto3==1.44.5)

# make_environment ENVIRONMENT PACKAGE...: one run at a time, where the machine has flock
make_environment() (
  environment=$environments/$1
  shift
  exec 9>"$environment.lock"
  if command -v flock >/dev/null; then flock 9; fi
  if [[ ! -d $environment ]]; then
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet --disable-pip-version-check "${tools[@]}" "$@" || { rm -rf "$environment" && exit 1; }
  fi
)

# run_suites ENVIRONMENT SUITE...
run_suites() {
  local python=$environments/$1/bin/python
  shift
  cd "$here"
  "$python" -m pytest -q -p no:cacheprovider -W ignore --timeout 600 "$@"
}

# with_pasqal_cloud VERSION [SUITE...]
with_pasqal_cloud() {
  make_environment "pasqal-cloud-$1" "pasqal-cloud==$1" || return
  run_suites "pasqal-cloud-$1" pasqal_cloud_suite "${@:2}"
}

with_pulser() {
  make_environment pulser pulser==1.9.1 pasqal-cloud==0.24.0 qrmi==0.26.4 || return
  run_suites pulser "$@"
}

broken=0
chosen=${3:-clients alone}
if [[ $chosen == emulator ]]; then
  with_pulser emulator_suite >"$work/1.log" 2>&1 || broken=1
fi
if [[ $chosen == *clients* ]]; then
  with_pasqal_cloud 0.22.0 >"$work/1.log" 2>&1 &
  with_pasqal_cloud 0.23.0 >"$work/2.log" 2>&1 &
  with_pasqal_cloud 0.24.0 snippets_suite >"$work/3.log" 2>&1 &
  with_pulser pulser_suite qrmi_suite --ignore pulser_suite/alone >"$work/4.log" 2>&1 &
  for suites in $(jobs -p); do
    wait "$suites" || broken=1
  done
fi
if [[ $chosen == *alone ]]; then
  with_pulser pulser_suite/alone >"$work/5.log" 2>&1 || broken=1
fi
cat "$work"/?.log

# The sum over the last lines of the suites, such as `1 failed, 90 passed in 12.34s`.
count() {
  tail -qn 1 "$work"/?.log |
    awk -v outcome="$1" '{ for (i = 2; i <= NF; i++) if ($i ~ outcome) sum += $(i - 1) } END { print sum + 0 }'
}
failed=$(count '^(failed|error)')
# Suites that could not even start have no such line.
if ((broken && failed == 0)); then failed=1; fi
echo "$(count '^passed') passed, $failed failed"
exit "$broken"
