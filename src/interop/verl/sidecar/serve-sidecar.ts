import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { z } from "#zod";
import { checkArguments } from "../../../../common/options/check-arguments.js";
import { loadReward } from "../../../reward/load-reward.js";
import { score } from "../../../reward/score-trees.js";
import type { Reward } from "../../../reward/reward-function.js";
import { rolloutConfig } from "../../../rollout/config.js";
import type { RolloutConfig } from "../../../rollout/settings.js";
import { loadConfig } from "../../../run/config/load.js";
import { rolloutOptions } from "../../../run/trainer/options.js";
import { loadTools } from "../../../tools/load-tools.js";
import type { ToolSet } from "../../../tools/tool-set.js";
import { treeOfRecord, treeRecord } from "../tree-record.js";
import { sidecarFile } from "./sidecar-file.js";

const question = z.discriminatedUnion("do", [
  z.object({ id: z.number(), do: z.literal("call"), tag: z.string(), input: z.string() }),
  z.object({ id: z.number(), do: z.literal("score"), tree: treeRecord }),
]);
type Question = z.infer<typeof question>;

/** What a job folder's questions are answered with. */
interface Parts {
  tools: ToolSet;
  reward: Reward | undefined;
  config: RolloutConfig;
}

async function load(folder: string): Promise<Parts> {
  const said = sidecarFile.parse(JSON.parse(await readFile(join(folder, "sidecar.json"), "utf8")));
  const { config } = await loadConfig({ files: [join(folder, "config.yaml")] });
  const tools = await loadTools({ ...said.tools, fail_on_error: true }, { folder });
  const { path, name } = said.reward ?? {};
  const reward = path?.startsWith("./") ? resolve(folder, path) : path;
  return {
    tools,
    reward: reward === undefined ? undefined : await loadReward(reward, name),
    config: rolloutConfig(rolloutOptions(config)),
  };
}

async function answer(asked: Question, { tools, reward, config }: Parts): Promise<object> {
  if (asked.do === "call") {
    const { text, ok, retries } = await tools.call(asked.tag, asked.input);
    return { text, ok, retries };
  }
  if (reward === undefined) {
    throw new RangeError("Cannot score a tree: sidecar.json must name a reward, got none");
  }
  // Validation has trajectories of its own number.
  const own = { ...config, n: asked.tree.rows.length };
  const { trajectories: rows } = await score(treeOfRecord(asked.tree, own, new Map()), reward);
  return { outcomes: rows.map((row) => row.score) };
}

/**
 * Serves the TypeScript tools and the reward of a job folder that `exportVerl` wrote to one worker of verl,
 * which listens at a socket: a question is a line of JSON, so is its answer. Ends with the connection.
 * `arpo-lab sidecar FOLDER SOCKET` is this; the folder's `sidecar.sh` starts it.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { serveSidecar } from "arpo-lab/experimental/scale";
 *
 * await assert.rejects(serveSidecar("/no/such/job", "/tmp/no-socket"), /ENOENT/);
 * ```
 */
export async function serveSidecar(folder: string, socket: string): Promise<void> {
  checkArguments("serve a worker", { folder, socket }, { folder: "path", socket: "path" });
  const parts = await load(resolve(folder));
  const worker = connect(socket);
  await once(worker, "connect");
  // A worker that is gone is told nothing more.
  worker.on("error", () => worker.destroy());
  const reply = (id: number, said: object): void => {
    if (worker.writable) worker.write(`${JSON.stringify({ id, ...said })}\n`);
  };
  const take = async (line: string): Promise<void> => {
    const { id } = z.object({ id: z.number() }).parse(JSON.parse(line));
    try {
      reply(id, await answer(question.parse(JSON.parse(line)), parts));
    } catch (error) {
      reply(id, { error: error instanceof Error ? error.message : String(error) });
    }
  };
  const lines = createInterface({ input: worker, crlfDelay: Infinity });
  lines.on("line", (line) => void take(line));
  await once(lines, "close");
  worker.destroy();
  await parts.tools.dispose();
}
