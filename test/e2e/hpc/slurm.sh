#!/usr/bin/env bash
# Runs a command against a Slurm cluster of its own: one node, this machine, on ports of its own, without changing it. Takes the
# Slurm and MUNGE that are installed, otherwise unpacks Debian's packages into the folder. All it starts ends with the command.
#
# usage: slurm.sh FOLDER [PLUGSTACK_LINE] -- COMMAND…; the line loads a SPANK plugin, as in plugstack.conf
set -euo pipefail
# Each background job is a group of its own, so that it can be ended with all that it has started.
set -m
mkdir -p "$1"
folder=$(realpath "$1")
plugin=''
if [[ $2 != -- ]]; then
  plugin=$2
  shift
fi
shift 2

if ! command -v slurmctld >/dev/null && [[ ! -d $folder/root ]]; then
  mkdir -p "$folder/lists/partial" "$folder/packages/partial"
  options=(-qq -o Debug::NoLocking=1 -o Dir::State::Lists="$folder/lists" -o Dir::Cache="$folder")
  options+=(-o Dir::Cache::Archives="$folder/packages")
  apt-get "${options[@]}" update >&2
  apt-get "${options[@]}" install --yes --no-install-recommends --download-only slurmctld slurmd slurm-client munge >&2
  for package in "$folder"/packages/*.deb; do dpkg-deb --extract "$package" "$folder/root"; done
  # Debian's packages leave these names to update-alternatives.
  for name in slurmctld slurmd slurmstepd; do ln -s "$name-wlm" "$folder/root/usr/sbin/$name"; done
fi
if [[ -d $folder/root ]]; then
  export PATH=$folder/root/usr/sbin:$folder/root/usr/bin:$PATH
  libraries=$(find "$folder/root" -name '*.so*' -printf '%h\n' | sort -u | paste -sd :)
  export LD_LIBRARY_PATH=$libraries
fi
plugins=$(dirname "$(find -L "${folder}/root/usr/lib" /usr/lib -name auth_munge.so 2>/dev/null | head -n 1)")

state=$(mktemp -d)
chmod 755 "$state"
cleanup() {
  status=$?
  if ((status)); then tail -n 20 "$state"/*.log >&2 || true; fi
  jobs -p | sed s/^/-/ | xargs -r kill -- 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$state"
  exit "$status"
}
trap cleanup EXIT

read -r port next_port < <(python3 -c '
import socket
held = [socket.socket() for _ in range(2)]
for each in held: each.bind(("127.0.0.1", 0))
print(*[each.getsockname()[1] for each in held])')
host=$(hostname -s)
export SLURM_CONF=$state/slurm.conf
cat >"$SLURM_CONF" <<END
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$next_port
AuthInfo=socket=$state/munge
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
StateSaveLocation=$state/controller
SlurmdSpoolDir=$state/node
SlurmctldPidFile=$state/slurmctld.pid
SlurmdPidFile=$state/slurmd.pid
PluginDir=$plugins
PlugStackConfig=$state/plugstack.conf
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/linear
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc)
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE
END
echo "$plugin" >"$state/plugstack.conf"
mkdir "$state/controller" "$state/node"
head -c 1024 /dev/urandom >"$state/munge.key"
chmod 600 "$state/munge.key"

munged --foreground --force --key-file "$state/munge.key" --socket "$state/munge" --pid-file "$state/munged.pid" \
  --seed-file "$state/munged.seed" --log-file "$state/munged.log" >/dev/null 2>&1 &
until [[ -S $state/munge ]]; do sleep 0.2; done
slurmctld -D -i >"$state/slurmctld.log" 2>&1 &
slurmd -D -d "$(command -v slurmstepd)" >"$state/slurmd.log" 2>&1 &
until [[ $(sinfo --noheader --format %t 2>/dev/null) == idle ]]; do
  if (($(jobs -pr | wc -l) < 3)); then
    echo 'MUNGE or Slurm ended.' >&2
    exit 1
  fi
  sleep 0.5
done
"$@"
