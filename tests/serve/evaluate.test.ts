// An evaluation over our own endpoint gives the samples of one on this machine.
import assert from "node:assert/strict";
import { test } from "node:test";
import { world } from "../../src/tasks/tasks/world.js";
import { evaluate } from "../../src/eval/evaluate.js";
import type { EvaluateOptions } from "../../src/eval/evaluate-benchmarks.js";
import { Policy } from "../../src/policy/policies.js";
import { taskTools } from "../../src/tasks/task-tools.js";
import { serveTiny, tinyFolder } from "./tiny-server.js";

test("evaluate() gives over an endpoint what it gives here", async (t) => {
  const { policy: local, server } = await serveTiny(t);
  const tools = taskTools(world);
  t.after(() => tools.dispose());
  const both = async (dialect: "arpo-lab" | "vllm", options: EvaluateOptions) => {
    const remote = await Policy.remote(server.url, { tokenizer: tinyFolder, dialect });
    const made = await Promise.all(
      [local, remote].map((policy) =>
        evaluate(policy, "gaia-lookalike", { tools, questions: 4, ...options }),
      ),
    );
    const [here, there] = made.map(({ samples }) =>
      samples.map(({ logs, prediction, status, metrics }) => ({
        ...{ logs, prediction, status, metrics },
      })),
    );
    assert.deepEqual(there, here);
    return new Set(here!.map(({ prediction }) => prediction)).size;
  };
  // Our own dialect sends the stream of draws; others have a seed, which is enough when nothing is drawn.
  assert.ok((await both("arpo-lab", { samples: 2, seed: 5 })) > 1);
  await both("vllm", { sampling: { temperature: 0 } });
});
