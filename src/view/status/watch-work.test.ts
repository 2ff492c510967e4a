import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { small } from "../../../tests/cli/training-run.js";
import { temporaryFolder } from "../../../tests/temporary.js";
import { evaluate } from "../../eval/evaluate.js";
import { fineTune } from "../../learn/sft/fine-tune.js";
import { Model } from "../../model/transformer/transformer.js";
import { ScriptedPolicy } from "../../rollout/testing/scripted-policy.js";
import { CodePointTokenizer } from "../../rollout/testing/code-point-tokenizer.js";
import { sweep } from "../../run/sweep/sweep.js";
import type { Tool } from "../../tools/tool.js";
import type { BoardPayload } from "../board/payload.js";
import type { ViewComm } from "../kernel.js";
import { registerShows } from "../register-shows.js";
import type { StatusReply, WorkStatus } from "./payload.js";
import { watchWork } from "./watch-work.js";

const key = Symbol.for("arpo-lab.kernel.host");
const holder = globalThis as { [key: symbol]: unknown };

/** What a notebook has shown, in order, and the page in it. */
let bundles: Record<string, string>[] = [];
let replies: StatusReply[] = [];
let page: ViewComm | undefined;
let open: ((comm: ViewComm) => void) | undefined;
/** Called for every line that the page hears. */
let heard: (line: string) => void = () => undefined;

const carriedIn = <T>(bundle: Record<string, string>, name: string): T | undefined => {
  const found = new RegExp(`data-${name}>(.*?)</script>`, "s").exec(bundle["text/html"] ?? "");
  return found ? (JSON.parse(found[1]!) as T) : undefined;
};
const statusIn = (bundle: Record<string, string>) =>
  carriedIn<WorkStatus>(bundle, "status") ?? carriedIn<BoardPayload>(bundle, "board")?.status;

/** Presses the Stop button of what was shown first. */
const press = () =>
  void page?.onMessage?.({ data: { run: statusIn(bundles[0]!)!.key, stop: true } });

before(() => {
  registerShows();
  holder[key] = {
    cell: () => ({ id: "1", signal: new AbortController().signal }),
    comms: { register: (_: string, opened: typeof open) => (open = opened) },
    display: (bundle: Record<string, string>) => {
      bundles.push(bundle);
      const status = statusIn(bundle);
      if (page || !status) return;
      // What the page does when it comes to life.
      page = {
        send: (data) => {
          const reply = data as unknown as StatusReply;
          replies.push(reply);
          heard(reply.line);
        },
      };
      open!(page);
      void page.onMessage!({ data: { run: status.key } });
    },
  };
});
beforeEach(() => {
  [bundles, replies, page] = [[], [], undefined];
  heard = () => undefined;
});
after(() => {
  holder[key] = undefined;
});

test("fine-tuning in a cell has a board with its loss, and its Stop button ends it after a step", async () => {
  const sizes = { vocabSize: 12, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 };
  const policy = { model: Model.init(sizes, 1), tokenizer: new CodePointTokenizer() };
  const example = { ids: [1, 2, 3], labels: [-100, 2, 3] };
  const tuning = await fineTune(policy, [example, example], {
    ...{ epochs: 5, batchSize: 1 },
    onStep: ({ step }) => {
      if (step === 1) press();
    },
  });
  assert.match(statusIn(bundles[0]!)!.line, /^step 1\/10 · updating/);
  assert.deepEqual([tuning.steps.length, tuning.stoppedAt, tuning.totalSteps], [2, 2, 10]);
  assert.ok(replies.some(({ stopping }) => stopping));
  const last = carriedIn<BoardPayload>(bundles.at(-1)!, "board")!;
  assert.deepEqual([last.stopped, last.to, last.status], [2, 2, undefined]);
  assert.deepEqual(last.panels[0]!.title, "Loss");
  assert.deepEqual(last.panels[0]!.curves[0]!.x, [1, 2]);
  policy.model.dispose();
});

/** Answers its first questions at once; for the others it asks a tool that never answers. */
const slowAfter = (quick: number) => {
  let asked = 0;
  return new ScriptedPolicy(() =>
    ++asked > quick ? { text: "<wait>1</wait>" } : { text: "<answer>\\boxed{7}</answer>\u0001" },
  );
};
const waits: Tool = {
  name: "wait",
  tag: "wait",
  description: "never answers",
  execute: (_, { signal }) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("ended")))),
};

test("an evaluation says how many answers it has; its Stop button keeps those", async () => {
  const tasks = [1, 2, 3, 4].map((i) => ({ prompt: `${i}+1?`, groundTruth: "7" }));
  heard = (line) => void (line === "answering 0/4" && setTimeout(press, 100));
  const stopped = await evaluate(slowAfter(2), tasks, { tools: [waits] });
  assert.deepEqual(stopped.stoppedAt, { tasks: 2, of: 4 });
  assert.equal(stopped.results.length, 2);
  assert.match(String(stopped), /2 tasks: .*, stopped after 2 of 4 tasks/);
  assert.deepEqual(bundles.at(-1), {}, "nothing of the line is left");
  const { share } = replies.at(-1)!;
  assert.equal(share, 0.5);
});

test("an evaluation on a benchmark is stopped with the answers it has, and goes on in its folder", async () => {
  const folder = await temporaryFolder("arpo-stopped");
  const name = "hotpotqa-lookalike";
  heard = (line) => void (line.startsWith("answering 5/12") && setTimeout(press, 100));
  const options = { folder, tools: [waits], seed: 1 };
  const stopped = await evaluate(slowAfter(5), name, options);
  assert.deepEqual(stopped.stoppedAt, { answers: 5, of: 12 });
  assert.match(String(stopped), /It was stopped after 5 of 12 answers/);
  assert.deepEqual(bundles.at(-1), {});
  page = undefined;
  let asked = 0;
  const counted = new ScriptedPolicy(() => {
    asked++;
    return { text: "<answer>\\boxed{7}</answer>\u0001" };
  });
  const whole = await evaluate(counted, name, options);
  assert.deepEqual([whole.samples.length, whole.stoppedAt, asked], [12, undefined, 7]);
});

test("a sweep in a cell has a table of its settings, and its Stop button returns what there is", async () => {
  heard = press;
  const runs = await sweep({
    folder: join(await temporaryFolder("arpo-sweep"), "runs"),
    seeds: [1, 2],
    arms: { fresh: { preset: "grpo" }, trees: { preset: "arpo" } },
    preset: "tiny",
  });
  const { table, line, share } = statusIn(bundles[0]!)!;
  assert.equal(line, "0 of 4 runs done · 0%");
  assert.equal(share, 0);
  assert.match(table!, /fresh +0\/2 .*\n.*trees +0\/2/s);
  assert.deepEqual(new Set(runs.runs.map(({ state }) => state)), new Set(["stopped"]));
});

test("a sweep under way has a curve of every setting, in its page and in its text", async () => {
  const runs = await sweep({
    folder: join(await temporaryFolder("arpo-sweep"), "runs"),
    seeds: [1],
    arms: { fresh: { preset: "grpo" }, trees: { preset: "arpo" } },
    preset: "tiny",
    overrides: small("trainer.total_training_steps=3").slice(1),
    processes: 2,
  });
  assert.deepEqual(runs.failed, []);
  const { curves } = replies.findLast(({ line }) => !line.startsWith("2 of 2"))!;
  assert.deepEqual(
    curves!.curves.map(({ name }) => name),
    ["fresh", "trees"],
  );
  assert.ok(curves!.curves.some(({ x }) => x.length > 1));
});

test("the display of work carries its curves as a picture and as text", () => {
  const curve = { seeds: 2, x: [0, 1000, 2000], y: [0, 0.2, 0.3], low: [null, 0.1, 0.2] };
  const curves = ["fresh", "trees"].map((name) => ({ name, ...curve, high: [null, 0.3, 0.4] }));
  const shown = watchWork({ after: "the steps under way" })!;
  shown.tell!("0 of 4 runs done", { curves: { title: "held-out score", x: "tokens", curves } });
  const [{ "text/html": html, "text/plain": text }] = bundles as [Record<string, string>];
  const still = /data-picture>(.*?)<script/s.exec(html!)![1]!;
  assert.equal(still.match(/stroke-width="2"/g)?.length, 2, "a line for each");
  assert.equal(still.match(/fill-opacity="0.16"/g)?.length, 2, "a band for each");
  assert.match(still, />tokens 0<.*>1,000<.*>2,000</s);
  assert.match(
    text!,
    /held-out score, 0 to 2,000 tokens.*\nfresh +▁.*█ +0\.30 ± 0\.10 \(2 seeds\)\ntrees/s,
  );
  assert.deepEqual(statusIn(bundles[0]!)!.curves!.curves, curves);
  shown.done();
});
