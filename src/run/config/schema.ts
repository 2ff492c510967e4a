import { z } from "#zod";
import { callDialects, dialectWords } from "../../tools/calls/dialects/registry.js";
import { whileKnown } from "./choices.js";
import { kept } from "./kept-keys.js";
import {
  atLeast,
  files,
  flag,
  free,
  oneOf,
  optionalCount,
  optionalText,
  section,
  text,
} from "./kinds.js";
import { distillationTable } from "../../learn/distillation/options.js";
import { dynamicTable, rolloutSettings } from "../../rollout/settings.js";
import { keysFrom } from "./from-table.js";
import { runTable } from "./run-table.js";
import { stalenessTable } from "../staleness/options.js";
import { actor, critic, model, reference } from "./schema-actor.js";
import { algorithm, lab, trainer } from "./schema-trainer.js";

/** How rollouts run ahead of updates, in verl's words. */
const asyncTraining = () =>
  section({
    ...keysFrom(stalenessTable, "async_training"),
    require_batches: optionalCount.describe(
      "Mini-batches that a step waits for: all of its own, data.train_batch_size / ppo_mini_batch_size; none: as many",
    ),
    ...kept.async_training,
  });

/** Where prompts come from and how they are cut. */
const data = section({
  train_files: files
    .default("tasks:calc")
    .describe("Parquet, JSONL or CSV files, or `tasks:NAME` for a generator (docs/tasks.md)"),
  val_files: files.default("tasks:calc").describe("The same for validation"),
  environment: optionalText.describe(
    "World that trajectories act in: `maze`, `shop`, or a module as `./world.ts#World`; unset is that of the generator",
  ),
  prompt_key: text("prompt").describe("Column of the prompt"),
  reward_fn_key: text("data_source").describe("Column that chooses the reward"),
  max_prompt_length: atLeast(1, 512).describe("Longest prompt in tokens"),
  ...keysFrom(runTable, "data"),
  val_batch_size: optionalCount.describe(
    "Validation prompts at the same time; changes memory, no answer",
  ),
  shuffle: flag(true).describe("Visit the prompts in a seeded random order"),
  filter_overlong_prompts: flag(false).describe(
    "Leave out tasks with prompts over max_prompt_length",
  ),
  truncation: oneOf(["error", "left", "right", "middle"], "error").describe(
    "What to do with a prompt over max_prompt_length",
  ),
  tokenizer: optionalText.describe("Tokenizer folder; unset is the model's own"),
  ...kept.data,
});

const customRewardFunction = section({
  path: optionalText.describe(
    "A module that exports the reward; unset is the built-in one for the data source",
  ),
  name: text("compute_score").describe("The exported function's name"),
});

const temperature = (by: number) => z.number().min(0).max(1000).default(by);
const nucleus = z.number().gt(0).max(1).default(1);
const topK = z
  .number()
  .int()
  .min(-1)
  .max(1_000_000)
  .refine((k) => k !== 0, "must be above 0, or -1 for all")
  .default(-1);

/** One tool: the reference's class path, or a name or module of ours. */
const toolInstance = z.strictObject({
  class_path: z
    .string()
    .describe("`python`, `search`, a module path, or the reference's class path"),
  params: free,
});

const tools = () =>
  section({
    ...keysFrom(rolloutSettings, "actor_rollout_ref.rollout.tools"),
    calls: oneOf(
      ["tags", "auto", ...callDialects.names.filter((name) => name !== "tags")],
      "tags",
    ).describe(
      `How the model writes calls: \`tags\`, or as stock models do: ${dialectWords()}; \`auto\`: as its chat template shows tools`,
    ),
    max_workers: atLeast(1, 64, 10_000).describe("Calls at the same time"),
    timeout: z
      .number()
      .positive()
      .max(2_000_000)
      .default(120)
      .describe("Seconds a call may take; enforced"),
    retry_count: atLeast(1, 3, 1000).describe("Attempts before a call counts as failed"),
    verbose_logging: flag(true).describe("Write every call to tool_calls.jsonl in the run folder"),
    fail_on_error: flag(false).describe(
      "Stop when a tool cannot be loaded, rather than go without",
    ),
    tool_instances: z.record(z.string(), toolInstance).default({}).describe("The tools, by tag"),
  });

const { response_length, ...branching } = keysFrom(rolloutSettings, "actor_rollout_ref.rollout");

/** How trajectories are sampled and where they branch. */
const rollout = () =>
  section({
    mode: oneOf(["sync", "sync_with_tool"], "sync").describe(
      "`sync`: no tools; `sync_with_tool`: the tree rollout with tools",
    ),
    temperature: temperature(1).describe("Sampling temperature; 0 is greedy"),
    top_k: topK.describe("Keep the k most likely tokens; -1 keeps all"),
    top_p: nucleus.describe("Keep the most likely tokens that reach p together"),
    do_sample: flag(true).describe("Off: greedy, one trajectory a prompt"),
    response_length,
    max_model_len: optionalCount.describe("Longest sequence; unset is the model's own limit"),
    max_num_seqs: atLeast(1, 1024).describe(
      "Most sequences at the same time; changes memory, no answer",
    ),
    ...branching,
    enable_dynamic_rollouts: flag(false).describe(
      "AEPO: choose initial rollouts by a probe's entropy",
    ),
    ...keysFrom(dynamicTable, "actor_rollout_ref.rollout"),
    val_kwargs: section({
      top_k: topK.describe("The same for validation"),
      top_p: nucleus.describe("The same for validation"),
      temperature: temperature(0).describe("The same for validation, where do_sample is on"),
      n: atLeast(1, 1, 65_536).describe("Samples per validation prompt: mean@n, best@n"),
      do_sample: flag(false).describe("Sample validation answers; off: greedy"),
    }),
    tools: tools(),
    ...kept["actor_rollout_ref.rollout"],
  });

/** Every key of verl's and ARPO's configuration, and `lab` for what they have no key for. */
export const schema = whileKnown(() =>
  z.strictObject({
    data,
    actor_rollout_ref: section({
      model,
      actor: actor(),
      ref: reference,
      rollout: rollout(),
      ...kept.actor_rollout_ref,
    }),
    critic,
    reward_model: section(kept.reward_model),
    custom_reward_function: customRewardFunction,
    algorithm: algorithm(),
    async_training: asyncTraining(),
    distillation: section({
      teacher_model: section({
        model_path: optionalText.describe(
          "The model that says how likely the tokens should be that were sampled; none: no distillation",
        ),
      }),
      distillation_loss: section(keysFrom(distillationTable, "distillation.distillation_loss")),
    }),
    trainer: trainer(),
    lab: lab(),
    ray_init: section(kept.ray_init),
    ...kept[""],
  }),
);

/** A configuration with every key present. */
export type Config = z.output<ReturnType<typeof schema>>;
