import { program } from "#pages/loop";
import { readFile } from "#platform/files";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { writeDurably } from "../../../common/files/durable.js";
import type { ModelPolicy } from "../../policy/policy-from-model.js";
import type { ScorableTask } from "../../reward/score-trees.js";
import { View } from "../page/view.js";
import { loopPicture } from "./loop-picture.js";
import type { LoopPayload } from "./payload.js";
import { actWords, aboutWords } from "./page/loop-words.js";
import { showLoop } from "./page/shown-loop.js";
import type { LoopOptions } from "./record-loop.js";
import { loopStyle } from "./style.js";

/**
 * How a policy hesitates, branches, is compared and learns, on one question; shows itself.
 */
export class Loop extends View<LoopPayload> {
  protected override readonly page = { name: "loop", style: loopStyle, program };

  override get summary(): string {
    const loop = showLoop(this.payload);
    return [
      `${this.payload.tree.title}. ${aboutWords(loop)}`,
      ...[1, 2, 3, 4].map((act) => actWords(loop, act, this.payload.updates).join("")),
    ].join("\n");
  }

  override picture(): string {
    return loopPicture(this.payload);
  }

  protected override still(): string {
    return this.drawn;
  }

  /** Writes the recording to a file, which `theLoop(path)` shows again. */
  async save(path: string): Promise<void> {
    checkArguments("save the loop", { path }, { path: "path" });
    await writeDurably(path, `${JSON.stringify(this.payload)}\n`);
  }
}

/** A file that is larger is no recording. */
const mostBytes = 64e6;

/** A recording as `save` wrote it; anything else is refused. */
async function readLoop(path: string): Promise<LoopPayload> {
  const text = await readFile(path, "utf8");
  const refuse = (got: string): never => {
    throw new TypeError(
      `Cannot show the loop: ${path} must be a recording that loop.save(path) wrote, got ${got}`,
    );
  };
  if (text.length > mostBytes) refuse(`${text.length} bytes`);
  let found: Partial<LoopPayload> | null = null;
  try {
    found = JSON.parse(text) as Partial<LoopPayload> | null;
  } catch {
    refuse("no JSON");
  }
  const { tree, updates, fresh, surprises, entropies, words, tries, note } = found ?? {};
  const isPacked = (one: LoopPayload["words"] | undefined) => typeof one?.data === "string";
  const isWhole =
    typeof tree === "object" &&
    Number.isInteger(updates) &&
    fresh?.length === updates! + 1 &&
    [surprises, entropies, words].every(isPacked) &&
    typeof tries === "number" &&
    typeof note === "string";
  if (!isWhole) refuse("other data");
  return found as LoopPayload;
}

/**
 * How agentic RL works, on one question of yours: where the policy hesitates, where it branches and why, what scores
 * make of it, and what training changes. Records a rollout, then trains and looks again: the same tokens scored after
 * every update, and fresh tries of the question with their interval. It trains the policy in place: give it one of its
 * own.
 *
 * @param policy the policy, which is trained; or the path of a recording that `save` wrote
 * @param task the question with its right answer
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { theLoop } from "arpo-lab/view";
 *
 * // Usually: await theLoop(await Policy.load("data/models/tiny"), task, { tools, steps: 24 })
 * const loop = await theLoop("data/loop.json");
 * assert.match(loop.summary, /The right answer is \d+/);
 * ```
 */
export function theLoop(path: string): Promise<Loop>;
/**
 * @param policy the policy, which is trained
 * @param task the question with its right answer
 */
export function theLoop(
  policy: ModelPolicy,
  task: ScorableTask,
  options?: LoopOptions,
): Promise<Loop>;
export async function theLoop(
  policy: ModelPolicy | string,
  task?: ScorableTask,
  options: LoopOptions = {},
): Promise<Loop> {
  if (typeof policy === "string") return new Loop(await readLoop(policy));
  checkArguments("record the loop", { policy, task }, { policy: "policy", task: "object" });
  // What trains is read when somebody trains.
  const { recordLoop } = await import("./record-loop.js");
  return new Loop(await recordLoop(policy, task!, options));
}
