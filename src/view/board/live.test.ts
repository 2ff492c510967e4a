import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../../tests/temporary.js";
import { tasks } from "../../tasks/tasks/index.js";
import { train } from "../../run/trainer/train.js";
import { trainOn } from "../../run/trainer/train-cells.js";
import { smallParts } from "../../run/trainer/testing/small-run.js";
import { registerWatch } from "../../base/show/show-as.js";
import type { ViewComm } from "../kernel.js";
import { watchRun } from "./live.js";
import type { StatusReply } from "../status/payload.js";
import type { BoardPayload } from "./payload.js";

const key = Symbol.for("arpo-lab.kernel.host");

/** A page that comes to life with the first board that has a status. */
function livePage() {
  const holder = globalThis as { [key: symbol]: unknown };
  const boards: BoardPayload[] = [];
  const replies: StatusReply[] = [];
  let page: ViewComm | undefined;
  let open: ((comm: ViewComm) => void) | undefined;
  holder[key] = {
    cell: () => ({ id: "1" }),
    comms: { register: (_: string, opened: typeof open) => (open = opened) },
    display: (bundle: Record<string, string>) => {
      const carried = /data-board>(.*?)<\/script>/s.exec(bundle["text/html"]!)![1]!;
      const payload = JSON.parse(carried) as BoardPayload;
      boards.push(payload);
      if (page || !payload.status) return;
      page = { send: (reply) => void replies.push(reply as unknown as StatusReply) };
      open!(page);
      void page.onMessage!({ data: { run: payload.status.key } });
    },
  };
  registerWatch("TrainingRun", watchRun);
  return {
    ...{ boards, replies },
    stop: () => void page!.onMessage!({ data: { run: boards[0]!.status!.key, stop: true } }),
    end: () => {
      holder[key] = undefined;
      registerWatch("TrainingRun", () => undefined);
    },
  };
}

test("a run in a cell says what it does before its first step, and its Stop button ends it after one", async () => {
  const { boards, replies, stop, end } = livePage();
  try {
    const { policy, tools } = await smallParts();
    const run = await trainOn(policy, tasks.calc({ train: 4, test: 1 }), {
      ...{ steps: 6, prompts: 2, n: 3, responseLength: 8, tools },
      onStep: ({ step }) => {
        if (step === 2) stop();
      },
    });
    assert.deepEqual([run.steps.length, run.stoppedAt], [2, 2]);
    const [first] = boards;
    assert.deepEqual([first!.runs[0]!.steps, first!.to], [0, 0]);
    assert.match(first!.status!.line, /^step 1\/6 · rolling out 0\/6/);
    assert.ok(replies.some(({ stopping }) => stopping));
    const last = boards.at(-1)!;
    assert.deepEqual([last.stopped, last.status, last.to], [2, undefined, 2]);
  } finally {
    end();
  }
});

test("training in a folder shows the same, keeps the step it was stopped after, and goes on from there", async () => {
  const { boards, replies, stop, end } = livePage();
  const [folder, other] = [temporaryFolder("arpo-live"), temporaryFolder("arpo-live-other")];
  const metrics = (of: string) => readFileSync(join(of, "metrics.jsonl"), "utf8");
  try {
    const onStep = ({ step }: { step: number }) => {
      if (step === 3) stop();
    };
    const stopped = await train(await smallParts(), { folder, onStep });
    assert.equal(stopped.step, 3);
    assert.match(replies.find(({ stopping }) => stopping)!.line, /^step \d\/4 · /);
    assert.deepEqual([boards.at(-1)!.stopped, boards.at(-1)!.status], [3, undefined]);
    assert.ok(existsSync(join(folder, "global_step_3")));
    const resumed = await train(await smallParts(), { folder, live: false });
    assert.equal(resumed.step, 4);
    await train(await smallParts(), { folder: other, live: false });
    assert.equal(metrics(folder), metrics(other), "as if it had never stopped");
  } finally {
    end();
  }
});
