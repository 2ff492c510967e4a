// Rollouts at endpoints that fail: whole trees, or an error that says which endpoint and why; never a part of a tree.
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import {
  good,
  type Handler,
  policyAt,
  reply,
  serve,
} from "../../../src/policy/remote/testing/fake-endpoint.js";
import type { Random } from "../../../src/base/random/random.js";
import { rollout } from "../../../src/rollout/rollout.js";
import { treesFromJsonl, treesToJsonl } from "../../../src/rollout/files/tree-jsonl.js";
import type { Area } from "../attempt.js";

/** How an answer goes wrong. */
const failures: Record<string, (response: ServerResponse, random: Random) => void> = {
  "hangs up": (response) => response.destroy(),
  "answers 500": (response) => response.writeHead(500).end("broken"),
  "answers 503": (response) => response.writeHead(503).end(),
  "answers 429": (response) => response.writeHead(429, { "retry-after": "0" }).end("{}"),
  "answers half": (response) => {
    response.writeHead(200, { "content-length": "1000" });
    response.write('{"choices": [{"te');
    response.destroy();
  },
  "answers no JSON": (response) => response.end("<html>a proxy</html>"),
  "answers without choices": (response) => response.end('{"choices": []}'),
  "answers null": (response) => response.end("null"),
  "answers late": (response, random) =>
    void pause(random.integer(300)).then(() => reply(response, good)),
  "answers log-probabilities above 0": (response) =>
    reply(response, {
      ...good,
      logprobs: { tokens: ["a"], token_logprobs: [3], top_logprobs: [{}] },
    }),
};

export const endpoints: Area = {
  name: "endpoints",
  share: 4,
  seconds: 60,
  make: (random) => {
    const share = random.uniform() ** 2;
    const names = Array.from({ length: 1 + random.integer(3) }, () =>
      random.choose(Object.keys(failures)),
    );
    const count = 1 + random.integer(3);
    return {
      name: `${count} endpoints of which ${(100 * share).toFixed(0)} % of the answers fail (${names.join(", ")})`,
      promise: "whole trees, or an error in words; nothing hangs",
      run: async (place) => {
        let asked = 0;
        let failed = 0;
        const handler: Handler = (_, response) => {
          asked++;
          if (random.uniform() >= share) {
            reply(response, good);
            return;
          }
          failed++;
          failures[random.choose(names)]!(response, random);
        };
        const urls = await Promise.all(
          Array.from({ length: count }, async () => (await serve(place, handler)).url),
        );
        const policy = policyAt(urls, { topLogprobs: 0, timeoutMs: 2000 } as never);
        const tasks = [{ prompt: "a" }, { prompt: "b" }];
        const grown = rollout(policy, tasks, {
          n: 4,
          initialRollouts: 4,
          entropyWeight: 0,
        } as never);
        const said = await grown.then(
          (trees) => {
            assert.equal(trees.length, 2);
            for (const tree of trees) assert.equal(tree.trajectories.length, 4);
            const text = treesToJsonl(trees);
            assert.equal(treesToJsonl(treesFromJsonl(text)), text);
            return "whole trees";
          },
          (error: Error) => {
            assert.ok(failed > 0, error.stack);
            assert.match(error.message, /^Cannot |127\.0\.0\.1/, error.stack);
            return error.message;
          },
        );
        return `${failed} of ${asked} failed: ${said.slice(0, 300)}`;
      },
    };
  },
};
