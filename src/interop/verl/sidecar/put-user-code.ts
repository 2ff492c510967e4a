import { mkdir } from "#platform/files";
import { inputPaths } from "../../../run/config/place-paths.js";
import type { Config } from "../../../run/config/schema.js";
import { labOnNode, labSource, shellWord } from "../../upload/lab-source.js";
import { LocalFiles } from "../../upload/local-files.js";
import type { SidecarFile } from "./sidecar-file.js";
import { existsSync } from "node:fs";
import { copyFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

/** `sidecar.sh SOCKET` of a job folder: starts what serves a worker of verl. `lab` says how this package is there. */
const sidecarScript = (lab: string): string => `#!/bin/sh
# The TypeScript tools and rewards of this folder for one worker of verl, which listens at a socket: sh sidecar.sh SOCKET
set -eu
case $0 in */*) cd "\${0%/*}" ;; esac
here=$(pwd)
lab=${shellWord(lab)}
${labOnNode}run_lab sidecar "$here" "$1"
`;

const instances = "actor_rollout_ref.rollout.tools.tool_instances";
const rewardKey = "custom_reward_function.path";

/** What runs in Node beside verl's workers. */
interface UserCode {
  /** Tags of its tools. */
  tags: readonly string[];
  /** Whether the configuration's reward is among it. */
  reward: boolean;
}

/** A path as a module is named: `#name` is one of its exports. */
function placed(local: LocalFiles, path: string): string | undefined {
  const [file = "", ...name] = path.split("#");
  if (!existsSync(resolve(file))) return undefined;
  return [`./${local.place(resolve(file))}`, ...name].join("#");
}

/**
 * Puts a user's modules into a job folder, with what they import from beside them, and what starts Node with
 * them. Gives the configuration that names them there.
 */
export async function putUserCode(
  config: Config,
  folder: string,
  code: UserCode,
  lab = "image",
): Promise<Config> {
  const source = labSource(lab);
  const local = new LocalFiles();
  const moved = inputPaths(config, (key, path) => {
    const tag = code.tags.find((one) => key.startsWith(`${instances}.${one}.`));
    if (tag === undefined && !(code.reward && key === rewardKey)) return path;
    const there = placed(local, path);
    if (there === undefined && /^[.~]/.test(path)) {
      throw new RangeError(
        `Cannot export to verl: ${key} must be a file that is there, got ${path}`,
      );
    }
    return there ?? path;
  }) as Config;
  for (const { name, path } of local.files) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await copyFile(path, join(folder, name));
  }
  if (source.kind === "tarball") await copyFile(source.path, join(folder, "lab.tgz"));
  const { tools } = moved.actor_rollout_ref.rollout;
  const { path, name } = moved.custom_reward_function;
  const own = Object.entries(tools.tool_instances).filter(([tag]) => code.tags.includes(tag));
  const sidecar: SidecarFile = {
    tools: {
      ...{ max_workers: tools.max_workers, timeout: tools.timeout },
      retry_count: tools.retry_count,
      tool_instances: Object.fromEntries(own),
    },
    reward: code.reward && path !== null ? { path, name } : null,
  };
  await writeFile(join(folder, "sidecar.json"), `${JSON.stringify(sidecar, null, 2)}\n`);
  const where = source.kind === "path" ? source.path : source.kind;
  await writeFile(join(folder, "sidecar.sh"), sidecarScript(where));
  return moved;
}
