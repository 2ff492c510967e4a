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
