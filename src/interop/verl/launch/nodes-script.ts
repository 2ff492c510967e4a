/** `nodes.sh`: one run on several nodes that see the job folder at the same path, each started by hand or by Slurm. */
export const nodesScript = (nodes: number): string => `#!/bin/sh
# One run of verl on several nodes, all of which see this folder at the same path.
#   on the first:       NODES=${Math.max(2, nodes)} sh nodes.sh head [override...]
#   on each of others:  sh nodes.sh worker ADDRESS_OF_THE_FIRST
# Whoever reaches Ray's ports runs programs there: set RAY_AUTH_MODE=token and one RAY_AUTH_TOKEN on all of them.
set -eu
case $0 in */*) cd "\${0%/*}" ;; esac
usage() {
  echo "Cannot start: it must be nodes.sh head [override...] or nodes.sh worker HEAD, got \${*:-nothing}" >&2
  exit 2
}
[ $# -gt 0 ] || usage
role=$1
shift
port=\${RAY_PORT:-6379}
# A file that the head makes when it is over; its workers go then.
over=\${ARPO_LAB_OVER:-}
ray_pid=
run_pid=
finish() {
  [ -z "$run_pid" ] || kill "$run_pid" 2>/dev/null || true
  [ -z "$ray_pid" ] || kill "$ray_pid" 2>/dev/null || true
  [ "$role" != head ] || [ -z "$over" ] || : >"$over"
}
trap finish EXIT
trap 'exit 143' INT TERM
[ -n "\${RAY_AUTH_TOKEN:-}\${RAY_AUTH_TOKEN_PATH:-}" ] || echo "note: no RAY_AUTH_TOKEN: whoever reaches these nodes runs programs on them" >&2

case $role in
head)
  nodes=\${NODES:-${nodes}}
  ray start --head --port "$port" --block &
  ray_pid=$!
  left=\${WAIT:-900}
  until
    there=$("\${PYTHON:-python3}" -c 'import ray; ray.init(address="auto", log_to_driver=False); print(sum(n["Alive"] for n in ray.nodes()))' 2>/dev/null) || there=0
    [ "\${there:-0}" -ge "$nodes" ]
  do
    kill -0 "$ray_pid" 2>/dev/null || { echo "Cannot start: Ray's head must stay, it ended" >&2; exit 1; }
    [ "$left" -gt 0 ] || { echo "Cannot start: $nodes nodes must join within \${WAIT:-900} s, got \${there:-0}" >&2; exit 1; }
    left=$((left - 5))
    sleep 5
  done
  # A cluster that is there says its own processors.
  RAY_ADDRESS=auto sh run.sh "trainer.nnodes=$nodes" ray_kwargs.ray_init.num_cpus=null "$@" &
  run_pid=$!
  status=0
  wait "$run_pid" || status=$?
  run_pid=
  exit "$status"
  ;;
worker)
  [ $# -eq 1 ] || usage worker "$@"
  tries=\${TRIES:-60}
  while :; do
    # The head may not be up yet.
    ray start --address "$1:$port" --block &
    ray_pid=$!
    while kill -0 "$ray_pid" 2>/dev/null; do
      if [ -n "$over" ] && [ -e "$over" ]; then exit 0; fi
      sleep 2
    done
    ray_pid=
    if [ -n "$over" ] && [ -e "$over" ]; then exit 0; fi
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || { echo "Cannot join: Ray must answer at $1:$port, it did not" >&2; exit 1; }
    sleep 5
  done
  ;;
*) usage "$role" "$@" ;;
esac
`;

/** What a launch is made of. */
export interface Launch {
  /** Of the run, without anything that a scheduler would not take. */
  name: string;
  nodes: number;
  /** Of each node. */
  gpus: number;
}

/** `slurm.sh`, for sbatch: `nodes.sh` on each node of the allocation. */
export const slurmScript = ({ name, nodes, gpus }: Launch): string => `#!/bin/bash
#SBATCH --job-name=${name}
#SBATCH --nodes=${nodes}
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=${gpus}
#SBATCH --exclusive
#SBATCH --output=slurm-%j.log
# From this folder, which all nodes see:  sbatch --partition=... --time=... slurm.sh [override...]
set -euo pipefail
# Slurm runs a copy of this file; the folder is where sbatch was.
cd "\${SLURM_SUBMIT_DIR:-.}"
[ -f nodes.sh ] || { echo "Cannot start: sbatch must be run in the job's folder, got $PWD" >&2; exit 2; }
hosts=$(scontrol show hostnames "$SLURM_JOB_NODELIST")
head=$(printf '%s\\n' "$hosts" | sed -n 1p)
export NODES=$SLURM_JOB_NUM_NODES HEAD_NODE=$head
# Other users' jobs may share the network: a key of this job's own, which srun hands on to its nodes.
export RAY_AUTH_MODE=token
export RAY_AUTH_TOKEN=\${RAY_AUTH_TOKEN:-$(od -An -N32 -tx1 /dev/urandom | tr -d ' \\n')}
export RAY_PORT=\${RAY_PORT:-$((20000 + SLURM_JOB_ID % 20000))}
mkdir -p results
export ARPO_LAB_OVER=$PWD/results/.over-$SLURM_JOB_ID-\${SLURM_RESTART_COUNT:-0}
trap 'rm -f "$ARPO_LAB_OVER"' EXIT
# shellcheck disable=SC2016  # each node reads its own number
srun --nodes="$SLURM_JOB_NUM_NODES" --ntasks="$SLURM_JOB_NUM_NODES" --ntasks-per-node=1 --kill-on-bad-exit=1 \\
  sh -c 'if [ "$SLURM_NODEID" = 0 ]; then exec sh nodes.sh head "$@"; else exec sh nodes.sh worker "$HEAD_NODE"; fi' nodes "$@"
`;
