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
