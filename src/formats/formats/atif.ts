import { shown } from "../../../common/options/check-arguments.js";
import { defined } from "../../../common/options/defined.js";
import { isRecord } from "../../../common/options/is-record.js";
import {
  chatOf,
  type FileRecord,
  idsOf,
  listOf,
  numberIn,
  numbersIn,
  numbersPerToken,
} from "../row/fields.js";
import type { ImportedPart, ImportedRow } from "../row/imported-row.js";
import { messageText, OpenCalls } from "../row/message-text.js";
import type { RolloutFormat } from "./format.js";

const roles: Readonly<Record<string, string>> = {
  system: "system",
  user: "user",
  agent: "assistant",
};

/** Trajectories within trajectories: deeper ones are refused. */
const deepest = 8;

function stepsOf(trajectory: FileRecord): FileRecord[] {
  return listOf(trajectory, "steps").map((step, i) => {
    if (!isRecord(step) || roles[String(step["source"])] === undefined) {
      throw new TypeError(
        `steps[${i}].source must be system, user or agent, got ${shown(isRecord(step) ? step["source"] : step)}`,
      );
    }
    return step;
  });
}

/** A step as messages: what was said, and what came back. */
function messagesOf(step: FileRecord): FileRecord[] {
  const { message = "", reasoning_content, tool_calls: calls, observation } = step;
  const results = isRecord(observation) ? observation["results"] : undefined;
  const own = {
    role: roles[String(step["source"])],
    content: message,
    ...defined({ reasoning_content }),
    ...(Array.isArray(calls) && {
      tool_calls: calls.filter(isRecord).map((call) => ({
        ...{ id: call["tool_call_id"], name: call["function_name"], arguments: call["arguments"] },
      })),
    }),
  };
  const answers = (Array.isArray(results) ? results : [])
    .filter(isRecord)
    .map(({ source_call_id: id, content }) => ({
      ...{ role: "tool", content: content ?? "", tool_call_id: id },
    }));
  return [own, ...answers];
}

const metricsOf = ({ metrics }: FileRecord): FileRecord => (isRecord(metrics) ? metrics : {});

/** Whether the model wrote a step: what was copied from another trajectory is context. */
const isWritten = (step: FileRecord) =>
  step["source"] === "agent" && step["is_copied_context"] !== true;

const hasIds = (step: FileRecord) =>
  Array.isArray(metricsOf(step)["completion_token_ids"]) &&
  Array.isArray(metricsOf(step)["prompt_token_ids"]);

/** The model's tokens of a step, with the numbers that go with them. */
function written(step: FileRecord): ImportedPart {
  const metrics = metricsOf(step);
  const tokens = idsOf(metrics, "completion_token_ids");
  const extra = isRecord(metrics["extra"]) ? metrics["extra"] : {};
  const [said] = chatOf(messagesOf(step).slice(0, 1), "message");
  return {
    ...{ by: "model", tokens, text: messageText(said!) },
    ...defined({
      logprobs: numbersPerToken(metrics, "logprobs", tokens.length),
      entropies: numbersPerToken(extra, "entropies", tokens.length),
      advantages: numbersPerToken(extra, "advantages", tokens.length),
    }),
  };
}

const beginsWith = (ids: readonly number[], start: readonly number[]) =>
  ids.length >= start.length && start.every((id, i) => ids[i] === id);

/** What stands between two of the model's turns. */
function answered(
  tokens: readonly number[],
  between: readonly FileRecord[],
  calls: OpenCalls,
): ImportedPart {
  const answers = between.length === 0 ? [] : chatOf(between, "observation");
  const [answer] = answers;
  return {
    ...{ by: "tool", tokens, text: answers.map(messageText).join("\n") },
    ...defined({ call: answer && calls.answered(answer) }),
  };
}

/** The steps whose prompts go on from the ones before; where one does not, another row begins. */
function rowsOfIds(
  steps: readonly FileRecord[],
  tail: readonly number[],
): Omit<ImportedRow, "prompt">[] {
  const rows: { promptTokens: readonly number[]; parts: ImportedPart[] }[] = [];
  let seen: readonly number[] = [];
  let between: FileRecord[] = [];
  const calls = new OpenCalls();
  for (const step of steps) {
    if (!isWritten(step)) {
      between.push(...messagesOf(step));
      continue;
    }
    const prompt = idsOf(metricsOf(step), "prompt_token_ids");
    const row = rows.at(-1);
    if (row === undefined || !beginsWith(prompt, seen)) {
      rows.push({ promptTokens: prompt, parts: [written(step)] });
    } else {
      if (prompt.length > seen.length) {
        row.parts.push(answered(prompt.slice(seen.length), between, calls));
      }
      row.parts.push(written(step));
    }
    seen = [...prompt, ...idsOf(metricsOf(step), "completion_token_ids")];
    const [said, ...answers] = messagesOf(step);
    calls.asked(chatOf([said], "message")[0]!);
    between = answers;
  }
  if (tail.length > 0) rows.at(-1)?.parts.push(answered(tail, between, calls));
  return rows;
}

/** What stands beside the steps: arpo-lab's own names, or a program's. */
function extraOf({ extra }: FileRecord): FileRecord {
  const own = isRecord(extra) ? extra["arpo_lab"] : undefined;
  return isRecord(own) ? own : isRecord(extra) ? extra : {};
}

/** What the file says of the whole trajectory. */
function besides(trajectory: FileRecord) {
  const { agent, final_metrics: final } = trajectory;
  const numbers = isRecord(final) ? numbersIn(final) : {};
  const own = extraOf(trajectory);
  const model = isRecord(agent) ? agent["model_name"] : undefined;
  const { ground_truth: truth, group } = own;
  return {
    numbers,
    ...defined({ score: numberIn(own["reward"]), step: numberIn(own["step"]) }),
    ...(typeof truth === "string" ? { groundTruth: truth } : {}),
    ...(typeof group === "string" ? { group } : {}),
    ...(typeof model === "string" ? { model } : {}),
  };
}

function rowsOf(trajectory: FileRecord, depth = 0): ImportedRow[] {
  if (depth > deepest)
    throw new RangeError(`subagent_trajectories must be at most ${deepest} deep, got more`);
  const steps = stepsOf(trajectory);
  const first = steps.findIndex(isWritten);
  const inner = trajectory["subagent_trajectories"];
  const others = (Array.isArray(inner) ? inner.filter(isRecord) : []).flatMap((one) =>
    rowsOf(one, depth + 1),
  );
  if (first < 0) return others;
  const prompt = chatOf(
    [...steps.slice(0, first).flatMap(messagesOf), { role: "none" }],
    "steps",
  ).slice(0, -1);
  const own = extraOf(trajectory);
  const rows = steps.filter(isWritten).every(hasIds)
    ? rowsOfIds(
        steps.slice(first),
        Array.isArray(own["tail_token_ids"]) ? idsOf(own, "tail_token_ids") : [],
      )
    : [{ parts: [], messages: chatOf(steps.slice(first).flatMap(messagesOf), "steps") }];
  const shared = besides(trajectory);
  return [...rows.map((row): ImportedRow => ({ prompt, ...row, ...shared })), ...others];
}

/** Harbor's Agent Trajectory Interchange Format, which coding agents and chat programs export. */
export const atif: RolloutFormat = {
  name: "atif",
  title: "ATIF trajectories",
  fits: ({ schema_version: version, steps }) =>
    typeof version === "string" && version.startsWith("ATIF-") && Array.isArray(steps),
  read: (record) => ({ rows: rowsOf(record) }),
  says: {
    tokens: "prompt_token_ids and completion_token_ids of a step's metrics",
    "tool results": "observation.results; copied context counts as the prompt",
    "log-probs": "logprobs of a step's metrics",
    entropies: "metrics.extra.entropies, where arpo-lab wrote it",
    rewards: "extra.reward: Harbor keeps it in a file of its own",
    advantages: "metrics.extra.advantages, where arpo-lab wrote it",
    "ground truth": "extra.ground_truth, where arpo-lab wrote it",
  },
};
