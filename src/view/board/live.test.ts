import assert from "node:assert/strict";
import { test } from "node:test";
import { tasks } from "../../data/tasks/index.js";
import { trainOn } from "../../run/trainer/train-cells.js";
import { smallParts } from "../../run/trainer/testing/small-run.js";
import { registerWatch } from "../../show/show-as.js";
import type { ViewComm } from "../kernel.js";
import { watchRun } from "./live.js";
import type { StatusReply } from "../status/payload.js";
import type { BoardPayload } from "./payload.js";

const key = Symbol.for("arpo-lab.kernel.host");

test("a run in a cell says what it does before its first step, and its Stop button ends it after one", async () => {
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
      // What the page does when it comes to life.
      page = { send: (reply) => void replies.push(reply as unknown as StatusReply) };
      open!(page);
      void page.onMessage!({ data: { run: payload.status.key } });
    },
  };
  registerWatch("TrainingRun", watchRun);
  try {
    const { policy, tools } = await smallParts();
    const run = await trainOn(policy, tasks.calc({ train: 4, test: 1 }), {
      ...{ steps: 6, prompts: 2, n: 3, responseLength: 8, tools },
      onStep: ({ step }) => {
        const { status } = boards[0]!;
        if (step === 2) void page!.onMessage!({ data: { run: status!.key, stop: true } });
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
    holder[key] = undefined;
    registerWatch("TrainingRun", () => undefined);
  }
});
