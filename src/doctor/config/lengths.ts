import { encodeParts } from "../../model/tokenizer/special-tokens.js";
import { promptParts } from "../../policy/prompt.js";
import { findings } from "../check.js";
import { longestRow, type Rule } from "./context.js";

const { ok, warning, error } = findings("lengths");

/** Whether prompts and responses fit where they have to. */
export const lengths: Rule = function* (context) {
  const { config, model, train, tokenizer } = context;
  const { data, actor_rollout_ref: actor } = config;
  const { rollout } = actor;
  const row = longestRow(context);
  const limit = Math.min(model?.contextLength ?? Infinity, rollout.max_model_len ?? Infinity);
  if (row > limit) {
    const whose =
      rollout.max_model_len === limit ? "actor_rollout_ref.rollout.max_model_len" : "the model";
    yield error(
      "context-too-short",
      `a prompt of ${data.max_prompt_length} and a response of ${rollout.response_length} tokens make ${row}, and ${whose} holds ${limit}: long trajectories end early, without an answer`,
      limit - data.max_prompt_length >= 64
        ? `data.max_response_length=${limit - data.max_prompt_length}, or shorter prompts`
        : "a model with a longer context, or shorter prompts",
    );
  } else if (model) {
    yield ok("context", `trajectories of ${row} tokens fit into the model's ${limit}`);
  }
  if (model && rollout.max_model_len !== null && rollout.max_model_len > model.contextLength) {
    yield error(
      "max-model-len",
      `actor_rollout_ref.rollout.max_model_len is ${rollout.max_model_len}, and the model was made for ${model.contextLength}`,
      "leave it out",
    );
  }
  if (rollout.response_length !== data.max_response_length) {
    yield warning(
      "response-length-differs",
      `rollout.response_length is ${rollout.response_length} and data.max_response_length is ${data.max_response_length}: the first one counts`,
      "set data.max_response_length alone; the other follows",
    );
  }
  if (rollout.response_length < 64 && rollout.mode === "sync_with_tool") {
    yield warning(
      "response-too-short",
      `${rollout.response_length} tokens hardly hold a thought, a call, its result and an answer: trajectories are cut off and get the score of a bad format`,
      "data.max_response_length=128 or more",
    );
  }
  if (!train || !tokenizer) return;
  const sizes = train
    .slice(0, 500)
    .map((task) => encodeParts(tokenizer, promptParts(task, tokenizer)).length);
  const long = sizes.filter((size) => size > data.max_prompt_length).length;
  if (long === 0) return;
  const share = `${long} of ${sizes.length} training prompts have more than ${data.max_prompt_length} tokens (the longest ${Math.max(...sizes)})`;
  if (!data.filter_overlong_prompts && data.truncation !== "error") {
    yield warning(
      "prompts-cut",
      `${share}: they are cut on the ${data.truncation}, which can take the question or the instructions away`,
      "data.filter_overlong_prompts=true leaves them out instead",
    );
  }
};
