// What a tree saves, and whether tools hold generation up, on a model of the tiny policy's size with
// random weights. Such a model writes no calls of its own, so a wrapper ends its segments with one:
// everything is decoded as always, only where a segment ends is prescribed.
import { setTimeout as sleep } from "node:timers/promises";
import { decoderShape, decoderWeights } from "../../src/model/decoder/of-model.js";
import { Model } from "../../src/model/transformer/transformer.js";
import { PlainDecoder } from "../../src/model/decoder/plain.js";
import { EngineDecoder } from "../../src/model/decoder/engine.js";
import { LocalPolicy } from "../../src/policy/local-policy.js";
import type { Policy } from "../../src/policy/policies.js";
import type { Sequence, Segment } from "../../src/policy/policy.js";
import { rollout } from "../../src/rollout/rollout.js";
import { rolloutPresets } from "../../src/rollout/presets.js";
import type { RolloutOptions } from "../../src/rollout/options.js";
import { CodePointTokenizer } from "../../src/rollout/testing/code-point-tokenizer.js";
import { loadNativeEngine, nativeEngineExists } from "../../src/tensor/engine/native-engine.js";
import { loadWasmEngine } from "../../src/tensor/engine/wasm-engine.js";
import { ToolSet } from "../../src/tools/tool-set.js";
import type { Tool } from "../../src/tools/tool.js";
import type { Figure } from "./figure.js";
import { beside } from "./parts/beside.js";
import { refilled } from "./parts/refills.js";

const calls = 3;
const call = "<t>1</t>";
const tokenizer = new CodePointTokenizer({ vocabSize: 751 });
const text = (length: number) => "p".repeat(length);

function tinyPolicy(): { policy: LocalPolicy; backend: string } {
  const shape = { hiddenSize: 128, intermediateSize: 384, layers: 4, heads: 4, kvHeads: 4 };
  const model = Model.init({ vocabSize: 751, contextLength: 1024, ...shape }, 1);
  const chosen = process.env.ARPO_LAB_BACKEND;
  const backend = chosen ?? (nativeEngineExists() ? "native" : "wasm");
  const parts = [decoderShape(model.config), () => decoderWeights(model)] as const;
  const engine = () => (backend === "native" ? loadNativeEngine() : loadWasmEngine()).call;
  const decoder =
    backend === "cpu" ? new PlainDecoder(...parts) : new EngineDecoder(engine(), ...parts);
  return { policy: new LocalPolicy({ name: "tiny", tokenizer, decoder }), backend };
}

/** A policy whose segments are as long as `length` says and end in a call, the last with an end token. */
function paced(inner: Policy, length: (row: Sequence, turn: number) => number): Policy {
  const session = () => {
    const own = inner.session();
    const generate = async (row: Sequence, options: Parameters<typeof own.generate>[1]) => {
      const turn = tokenizer.decode(row.tokens).split("</result>").length - 1;
      const last = turn === calls;
      const end = last ? [tokenizer.eosId] : tokenizer.encode(call);
      const segment = await own.generate(row, {
        ...options,
        maxTokens: length(row, turn),
        stop: [],
        allowedIds: tokenizer.encode(text(1) + "qrstuvw"),
      });
      own.append(row, end);
      const finished: Segment = {
        ...segment,
        tokens: Int32Array.of(...segment.tokens, ...end),
        finish: last ? "end" : "stop",
      };
      if (!last) finished.stop = "</t>";
      return finished;
    };
    return { ...methods(own), generate };
  };
  const { name, contextLength } = inner;
  return { name, tokenizer, contextLength, session };
}

function methods(session: ReturnType<Policy["session"]>) {
  const { open, fork, append, truncate, close, dispose } = session;
  return {
    open: open.bind(session),
    fork: fork.bind(session),
    append: append.bind(session),
    truncate: truncate.bind(session),
    close: close.bind(session),
    dispose: dispose.bind(session),
  };
}

function tool(ms: number): ToolSet {
  const execute: Tool["execute"] = async () => {
    if (ms > 0) await sleep(ms);
    return "four";
  };
  return new ToolSet([{ name: "t", tag: "t", description: "", execute }], { callLimit: calls });
}

export async function* figures(): AsyncIterable<Figure> {
  const { policy, backend } = tinyPolicy();
  const common: RolloutOptions = { responseLength: 400, keepTop: true };

  // 16 from 8 against 16 of equal length: every trajectory writes 4 segments of 24 tokens around 3 calls.
  const even = paced(policy, () => 24);
  const task = { prompt: text(128) };
  const tree = () =>
    rollout(even, task, { ...common, ...rolloutPresets.arpo, tools: tool(0), seed: 1 });
  const apart = () =>
    rollout(even, new Array<typeof task>(16).fill(task), { ...common, tools: tool(0), seed: 1 });
  const { trajectories, nodes } = await tree();
  const written = nodes.reduce((sum, node) => sum + node.tokens.length, 0);
  const whole = (await apart()).reduce((sum, t) => sum + t.selected[0]!.tokens.length, 0);
  const [ours, theirs] = await beside(tree, apart);
  const baseline = "16 independent rollouts";
  yield {
    name: "rollout.tree_s",
    value: ours,
    unit: "s",
    backend,
    baseline,
    baselineValue: theirs,
    ratio: ours / theirs,
  };
  const tokens = { value: 128 + written, baselineValue: 16 * 128 + whole };
  yield {
    name: "rollout.tree_tokens",
    unit: "tokens",
    baseline,
    ...tokens,
    ratio: tokens.value / tokens.baselineValue,
  };
  yield { name: "rollout.trajectories", value: trajectories.length, unit: "trajectories" };

  // 16 from 8 where no trajectory calls a tool: 48 tokens each, the refills together against one at a time.
  const silent: typeof common = {
    ...common,
    responseLength: 48,
    sampling: { allowedIds: tokenizer.encode(text(1) + "qrstuvw") },
  };
  for (const prompts of [1, 4]) {
    const asked = new Array<typeof task>(prompts).fill(task);
    yield await refilled(`rollout.no_calls_${prompts}_prompts_s`, policy, backend, asked, silent);
  }

  // 64 trajectories, calls of 100 ms: segments of 8 to 88 tokens, so that calls come at all times.
  const uneven = paced(policy, (row, turn) => 8 + ((row.id * 31 + turn * 47) % 81));
  const many = Array.from({ length: 8 }, () => task);
  const wait = (ms: number, scheduling: "prompt" | "lockstep") => () =>
    rollout(uneven, many, { ...common, n: 8, tools: tool(ms), seed: 1, scheduling });
  for (const scheduling of ["prompt", "lockstep"] as const) {
    const [slow, instant] = await beside(wait(100, scheduling), wait(0, scheduling), { runs: 3 });
    yield {
      name: `rollout.tools_100ms_${scheduling}_s`,
      value: slow,
      unit: "s",
      backend,
      baseline: "tools that take no time",
      baselineValue: instant,
      ratio: slow / instant,
    };
  }
  policy.dispose();
}
