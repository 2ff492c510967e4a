import { writeFile } from "#platform/files";
import { sha256 } from "#platform/sha256";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions } from "../../../common/options/check-options.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";
import type { Trajectory } from "../../rollout/tree/trajectory.js";
import type { TrajectoryEnd } from "../../rollout/tree/tree-values.js";
import {
  type Known,
  knowing,
  type KnownOptions,
  knownRules,
  type Stretch,
  stretchesOf,
} from "./stretches.js";

const finishes: Record<TrajectoryEnd, string> = {
  ...{ answer: "stop", done: "stop", "bad-call": "stop", "call-limit": "stop" },
  ...{ length: "length", context: "length" },
};

const [internal, client] = [1, 3];

type Attribute = string | number | undefined;

const valueOf = (value: string | number) => {
  if (typeof value === "string") return { stringValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
};

const attributesOf = (all: Record<string, Attribute>) =>
  Object.entries(all).flatMap(([key, value]) =>
    value === undefined || value !== value ? [] : [{ key, value: valueOf(value) }],
  );

const textMessage = (role: string, content: string) => ({
  role,
  parts: [{ type: "text", content }],
});

/** What the model wrote, and the call that it ended with; a call in tags is not said twice. */
function saidBy(part: Stretch, answer: Stretch | undefined, finish: string) {
  const { tag = "tool", input = "" } = answer ?? {};
  const call = `<${tag}>${input}</${tag}>`;
  const isTagged = answer !== undefined && part.text.trimEnd().endsWith(call);
  const text = isTagged ? part.text.slice(0, part.text.lastIndexOf(call)) : part.text;
  return {
    role: "assistant",
    parts: [
      ...(text === "" ? [] : [{ type: "text", content: text }]),
      ...(answer
        ? [{ type: "tool_call", id: `call_${part.to}`, name: tag, arguments: { input } }]
        : []),
    ],
    finish_reason: finish,
  };
}

/** A trajectory as the spans of one trace: the agent, its calls of the model, its calls of tools. */
function spansOf(tree: RolloutTree, row: Trajectory, known: Known, began: number) {
  const name = `${tree.seed}-${tree.index}-${row.id}`;
  const traceId = sha256(`${name} ${began} ${tree.prompt.text}`).slice(0, 32);
  const nanos = (ms: number) => String(BigInt(Math.round((began + ms) * 1000)) * 1000n);
  const spanId = (place: number) => sha256(`${traceId} ${place}`).slice(0, 16);
  const stretches = stretchesOf(tree, row);
  const { prompt } = tree.task;
  const messages: object[] =
    typeof prompt === "string"
      ? [textMessage("user", tree.prompt.text)]
      : prompt.map(({ role, content }) => textMessage(role, content));
  let now = stretches[0]?.run?.start ?? 0;
  const start = now;
  const score = { "arpo_lab.score": known.score };
  const spans = stretches.map((part, i) => {
    const { from, to, text, run = { start: now, end: now }, tag = "tool", input = "" } = part;
    now = run.end;
    const span = (title: string, kind: number, attributes: Record<string, Attribute>) => ({
      ...{ traceId, spanId: spanId(i + 1), parentSpanId: spanId(0), name: title, kind },
      ...{ startTimeUnixNano: nanos(run.start), endTimeUnixNano: nanos(run.end) },
      attributes: attributesOf(attributes),
    });
    if (part.by === "tool") {
      const id = `call_${from}`;
      messages.push({ role: "tool", parts: [{ type: "tool_call_response", id, response: text }] });
      return span(`execute_tool ${tag}`, internal, {
        ...{ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tag },
        ...{ "gen_ai.tool.call.id": id, "gen_ai.tool.call.arguments": JSON.stringify({ input }) },
        "gen_ai.tool.call.result": text,
      });
    }
    const next = stretches[i + 1];
    const finish = next?.by === "tool" ? "tool_call" : finishes[row.end];
    const said = saidBy(part, next?.by === "tool" ? next : undefined, finish);
    const asked = JSON.stringify(messages);
    messages.push({ role: said.role, parts: said.parts });
    return span(`chat ${tree.policy}`, client, {
      ...{ "gen_ai.operation.name": "chat", "gen_ai.provider.name": "arpo_lab" },
      ...{ "gen_ai.request.model": tree.policy, "gen_ai.conversation.id": name },
      "gen_ai.usage.input_tokens": tree.prompt.tokens.length + from,
      "gen_ai.usage.output_tokens": to - from,
      ...{ "gen_ai.input.messages": asked, "gen_ai.output.messages": JSON.stringify([said]) },
      ...score,
    });
  });
  const agent = {
    ...{ traceId, spanId: spanId(0), name: "invoke_agent arpo-lab", kind: internal },
    ...{ startTimeUnixNano: nanos(start), endTimeUnixNano: nanos(now) },
    attributes: attributesOf({
      ...{ "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "arpo-lab" },
      ...{ "gen_ai.conversation.id": name, "arpo_lab.trajectory": row.id },
      ...{ "arpo_lab.kind": row.kind, "arpo_lab.parent": row.parent, "arpo_lab.end": row.end },
      ...{ ...score, "arpo_lab.reason": known.reason },
    }),
  };
  return [agent, ...spans];
}

/**
 * Writes trees as OpenTelemetry's GenAI spans in OTLP JSON, a line for each tree: each trajectory is a trace with a span
 * for the agent, for every turn of the model and for every call of a tool. Trees know how long things took and not
 * when: the last is said to have ended at the time of writing.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdtemp, rm } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { importRollouts, saveSpans } from "arpo-lab/experimental/import";
 * import { rollout } from "arpo-lab/rollout";
 * import { randomTextPolicy } from "arpo-lab/experimental/testing";
 *
 * const folder = await mkdtemp(join(tmpdir(), "spans-"));
 * const tree = await rollout(randomTextPolicy(), { prompt: "6*7?" }, { n: 2, seed: 1 });
 * await saveSpans([tree], join(folder, "spans.jsonl"));
 * const read = await importRollouts(folder);
 * assert.equal(read.format, "otel");
 * await rm(folder, { recursive: true });
 * ```
 */
export async function saveSpans(
  trees: Iterable<RolloutTree>,
  path: string,
  options: KnownOptions = {},
): Promise<void> {
  checkArguments("save spans", { trees, path }, { trees: "items", path: "path" });
  checkOptions("save spans", options, knownRules);
  if (!path.endsWith(".jsonl")) {
    throw new RangeError(`Cannot save spans: the file name must end in .jsonl, got ${path}`);
  }
  const known = knowing(options);
  const resource = { attributes: attributesOf({ "service.name": "arpo-lab" }) };
  let text = "";
  for (const tree of trees) {
    const took = tree.nodes.reduce((longest, { run }) => Math.max(longest, run?.end ?? 0), 0);
    const began = Date.now() - took;
    const spans = tree.trajectories.flatMap((row) => spansOf(tree, row, known(row), began));
    const scopeSpans = [{ scope: { name: "arpo-lab" }, spans }];
    text += `${JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] })}\n`;
  }
  await writeFile(path, text);
}
