import { naiveReward } from "../../reward/rewards/registry.js";
import type { Task } from "../../tasks/task.js";
import { isModule } from "../../run/config/choices.js";
import { findings } from "../check.js";
import type { Rule } from "./context.js";

const { note, warning, error } = findings("rewards");

/** How much of the data is looked at. */
const SAMPLE = 500;

const texts = (tasks: readonly Task[]) =>
  tasks.slice(0, SAMPLE).map(({ prompt }) => prompt.map(({ content }) => content).join("\n"));

/** Tags that stand as a pair in a text: what a prompt asks its model to write. */
function pairs(text: string): Set<string> {
  const found = new Set<string>();
  for (const [, tag] of text.matchAll(/<([a-z_]\w*)>/gi)) {
    if (text.includes(`</${tag!}>`)) found.add(tag!);
  }
  return found;
}
const notTools = new Set(["think", "answer", "result", "tool_call", "tool_response", "tools"]);

/** Why rewards may stay where they are: what the prompts ask for, the tools do and the reward wants. */
export const rewards: Rule = function* ({ config, train, tags, tokenizer }) {
  if (!train || train.length === 0) return;
  const source = config.data.train_files;
  const generated = typeof source === "string" && source.startsWith("tasks:");
  const prompts = texts(train);
  const share = (count: number) => `${count} of ${prompts.length} prompts`;

  const empty = train
    .slice(0, SAMPLE)
    .filter(({ groundTruth = "" }) => groundTruth.length === 0).length;
  // A reward of one's own may do without an answer.
  if (empty > 0 && !isModule(config.custom_reward_function.path ?? "")) {
    yield error(
      "no-ground-truth",
      `${share(empty)} have no answer to compare with: their rewards stay at 0 or below`,
      "look at reward_model.ground_truth in the data",
    );
  }
  const broken = prompts.filter((text) => text.includes("\boxed")).length;
  if (broken > 0 && !config.lab.repair_boxed) {
    yield warning(
      "broken-boxed",
      `${share(broken)} ask for a backspace and "oxed" instead of \\boxed, as the published files do: a model that obeys gets -1`,
      "lab.repair_boxed=true",
    );
  }
  // The task generators' own model knows its tags without being told.
  if (generated) return;

  const asked = prompts.map(pairs);
  if (tags && tags.length > 0 && config.actor_rollout_ref.rollout.mode === "sync_with_tool") {
    const silent = asked.filter((seen) => !tags.some((tag) => seen.has(tag))).length;
    // As a run decides it: a model that was not trained on tags is told of its tools where no prompt does.
    const { describe } = config.actor_rollout_ref.rollout.tools;
    const told = describe ?? (tokenizer?.knowsTags === false && silent === prompts.length);
    if (silent > prompts.length / 2 && !told) {
      yield warning(
        "no-tool-instructions",
        `${share(silent)} say nothing of ${tags.map((tag) => `<${tag}>`).join(" or ")}: a model that was not taught the tags calls nothing, and rewards stay where they are`,
        'give the tasks a system message that shows the tags ("prompt": [{"role": "system", "content": …}, …]), or start from a model that was taught them (SFT)',
      );
    }
    const unknown = new Set(
      asked.flatMap((seen) => [...seen].filter((tag) => !tags.includes(tag) && !notTools.has(tag))),
    );
    if (unknown.size > 0) {
      yield error(
        "tag-mismatch",
        `prompts ask for ${[...unknown].map((tag) => `<${tag}>`).join(", ")}, and the tools are ${tags.map((tag) => `<${tag}>`).join(", ")}: such calls go unanswered`,
        "name the instances in tools.tool_instances as the prompts do",
      );
    }
  }
  if (config.custom_reward_function.path === null) {
    for (const what of naiveReward.formats ?? []) {
      // A broken \boxed is told above.
      const word = what.startsWith("<") ? what : "oxed";
      const without = prompts.filter((text) => !text.includes(word)).length;
      if (without <= prompts.length / 2) continue;
      yield warning(
        "format-not-asked",
        `the reward wants ${what}, and ${share(without)} do not mention it: an untaught model gets -1 for its format`,
        "say the format in the system prompt, or choose another reward (custom_reward_function)",
      );
      break;
    }
  }
  const tagTokens = (tags ?? []).filter((tag) => (tokenizer?.encode(`</${tag}>`).length ?? 1) > 6);
  if (tagTokens.length > 0) {
    yield note(
      "long-tags",
      `the tokenizer cuts ${tagTokens.map((tag) => `</${tag}>`).join(", ")} into many pieces: harder to write without a slip`,
    );
  }
};
