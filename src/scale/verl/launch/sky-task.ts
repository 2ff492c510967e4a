import { stringify } from "yaml";
import type { Launch } from "./slurm-script.js";

const header = `# For SkyPilot, from this folder:  sky launch sky.yaml     (sky jobs launch goes on elsewhere after a preemption)
# Choose the accelerators. This folder is copied to the same path of every node, and what a node writes stays there:
# for results and checkpoints of more than one node put it on a bucket (file_mounts with mode: MOUNT).
# Secrets are named here and given on the command line, as the key of Ray's cluster is:
#   RAY_AUTH_TOKEN=$(openssl rand -hex 32) sky launch --secret RAY_AUTH_TOKEN sky.yaml
`;

// SkyPilot has a Ray of its own on 6380, which `ray stop` would end too.
const run = `[ "$SKYPILOT_NUM_NODES" -gt 1 ] || exec sh run.sh "trainer.n_gpus_per_node=$SKYPILOT_NUM_GPUS_PER_NODE"
export RAY_AUTH_MODE=token RAY_PORT=6399
head=$(printf '%s\\n' "$SKYPILOT_NODE_IPS" | sed -n 1p)
[ "$SKYPILOT_NODE_RANK" = 0 ] || exec sh nodes.sh worker "$head"
NODES=$SKYPILOT_NUM_NODES exec sh nodes.sh head "trainer.n_gpus_per_node=$SKYPILOT_NUM_GPUS_PER_NODE"
`;

/** `sky.yaml`: the run as a task of SkyPilot. */
export function skyTask({ name, nodes, gpus }: Launch): string {
  const task = {
    name: name.toLowerCase().replaceAll(/[^a-z0-9-]+/g, "-"),
    workdir: ".",
    num_nodes: nodes,
    resources: { accelerators: `H100:${gpus}`, disk_size: 512 },
    ...(nodes > 1 ? { secrets: { RAY_AUTH_TOKEN: null } } : {}),
    setup: 'pip install "verl[vllm]==0.9.1"\n',
    run,
  };
  return header + stringify(task);
}
