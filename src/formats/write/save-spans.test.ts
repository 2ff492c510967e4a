import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../../tests/temporary.js";
import { score } from "../../reward/score-trees.js";
import { rollout } from "../../rollout/rollout.js";
import { randomTextPolicy } from "../../rollout/testing/random-text-policy.js";
import { presets } from "../../run/presets.js";
import { calculator } from "../../tools/calculator/calculator.js";
import { ToolSet } from "../../tools/tool-set.js";
import { importRollouts } from "../import-rollouts.js";
import { saveSpans } from "./save-spans.js";

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Record<string, string | number> }[];
}
type Line = { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };

test("saveSpans: a trace for each trajectory, read back with its texts, calls and scores", async () => {
  const path = join(temporaryFolder("spans"), "spans.jsonl");
  const tools = new ToolSet([calculator()]);
  const prompt = [
    { role: "system", content: "Be short." },
    { role: "user", content: "6*7?" },
  ];
  const options = { ...presets.arpo, tools, n: 6, initialRollouts: 3, seed: 3 };
  const tree = await rollout(randomTextPolicy(), { prompt, groundTruth: "42" }, options);
  const called = tree.trajectories.flatMap(({ nodes }) =>
    nodes.filter((id) => tree.nodes[id]!.kind === "tool"),
  );
  assert.ok(called.length > 0);
  const before = BigInt(Date.now() - 60_000) * 1_000_000n;
  const scored = await score(tree, ({ length }) => length / 4);
  await saveSpans([tree], path, { scored });

  const lines = readFileSync(path, "utf8").trim().split("\n");
  assert.equal(lines.length, 1);
  const spans = (JSON.parse(lines[0]!) as Line).resourceSpans[0]!.scopeSpans[0]!.spans;
  const of = (name: string) => spans.filter((span) => span.name.startsWith(name));
  assert.equal(new Set(spans.map(({ traceId }) => traceId)).size, tree.trajectories.length);
  assert.equal(of("invoke_agent").length, tree.trajectories.length);
  assert.equal(of("execute_tool calc").length, called.length);
  assert.equal(new Set(spans.map(({ spanId }) => spanId)).size, spans.length);
  const agents = new Map(of("invoke_agent").map((span) => [span.spanId, span]));
  for (const span of spans) {
    assert.match(`${span.traceId} ${span.spanId}`, /^[0-9a-f]{32} [0-9a-f]{16}$/);
    const [start, end] = [BigInt(span.startTimeUnixNano), BigInt(span.endTimeUnixNano)];
    assert.ok(before < start && start <= end);
    if (span.parentSpanId === undefined) continue;
    const agent = agents.get(span.parentSpanId)!;
    assert.equal(agent.traceId, span.traceId);
    assert.ok(BigInt(agent.startTimeUnixNano) <= start && end <= BigInt(agent.endTimeUnixNano));
  }
  const tokens = of("chat").map(({ attributes }) =>
    Number(attributes.find(({ key }) => key === "gen_ai.usage.output_tokens")!.value["intValue"]),
  );
  const written = tree.trajectories.flatMap(({ nodes }) =>
    nodes.map((id) => (tree.nodes[id]!.kind === "model" ? tree.nodes[id]!.tokens.length : 0)),
  );
  const sum = (all: readonly number[]) => all.reduce((a, b) => a + b, 0);
  assert.equal(sum(tokens), sum(written));

  const read = await importRollouts(path);
  assert.equal(read.format, "otel");
  assert.equal(read.rows, tree.trajectories.length);
  const scores = (all: readonly (number | undefined)[]) => [...all].sort((a, b) => a! - b!);
  assert.deepEqual(
    scores(read.prompts.flatMap((one) => [...one.scores])),
    scores(scored.trajectories.map((one) => one.score.score)),
  );
  const results = read.trees.flatMap(({ trajectories, nodes }) =>
    trajectories.flatMap((row) => row.nodes.flatMap((id) => nodes[id]!.tool?.text ?? [])),
  );
  const own = called.map((id) => tree.nodes[id]!.tool!.text);
  assert.deepEqual(results.sort(), own.sort());
  assert.match(read.tree(0).prompt.text, /Be short\.[^]*6\*7\?/);
});

test("saveSpans refuses a file that is not a list of lines", async () => {
  const tree = await rollout(randomTextPolicy(), { prompt: "6*7?" }, { n: 1, seed: 1 });
  await assert.rejects(saveSpans([tree], "x.json"), /Cannot save spans: the file name must end in \.jsonl, got x\.json/); // prettier-ignore
});
