#!/usr/bin/env bash
# Drives a running local stack with the public clients, unchanged: each version in an environment of its own, all side by
# side. Prints each failure and `N passed, N failed`; the exit code is 1 when any failed.
#
# usage: run.sh STACK_JSON [ENVIRONMENTS]; environments are kept in this folder, without it made anew each time.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export STACK_JSON=$(realpath "$1") PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d)
trap 'jobs -p | xargs -r kill 2>/dev/null; rm -rf "$work"' EXIT
environments=$(realpath "${2:-$work}")
tools=(pytest==9.1.0 pytest-timeout==2.4.0 boto3==1.44.5)

# run_suites ENVIRONMENT "SUITE..." PACKAGE...
run_suites() {
  local name=$1 suites=$2 python=$environments/$1/bin/python
  shift 2
  if [[ ! -x $python ]]; then
    python3 -m venv "$environments/$name"
    "$python" -m pip install --quiet --disable-pip-version-check "${tools[@]}" "$@"
  fi
  cd "$here"
  # shellcheck disable=SC2086
  "$python" -m pytest -q -p no:cacheprovider -W ignore --timeout 90 $suites
}

run_suites pasqal-cloud-0.22 pasqal_cloud_suite pasqal-cloud==0.22.0 >"$work/1.log" 2>&1 &
run_suites pasqal-cloud-0.23 pasqal_cloud_suite pasqal-cloud==0.23.0 >"$work/2.log" 2>&1 &
run_suites pasqal-cloud-0.24 pasqal_cloud_suite pasqal-cloud==0.24.0 >"$work/3.log" 2>&1 &
run_suites pulser-1.9 'pulser_suite qrmi_suite' pulser==1.9.1 pasqal-cloud==0.24.0 qrmi==0.26.4 >"$work/4.log" 2>&1 &

broken=0
for suite in $(jobs -p); do
  wait "$suite" || broken=1
done
cat "$work"/?.log

# The sum over the last lines of the suites, such as `1 failed, 90 passed in 12.34s`.
count() {
  tail -qn 1 "$work"/?.log |
    awk -v outcome="$1" '{ for (i = 2; i <= NF; i++) if ($i ~ outcome) sum += $(i - 1) } END { print sum + 0 }'
}
failed=$(count '^(failed|error)')
# A suite that could not even start has no such line.
if ((broken && failed == 0)); then failed=1; fi
echo "$(count '^passed') passed, $failed failed"
exit "$broken"
