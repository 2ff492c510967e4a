import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { RemotePolicy } from "../../src/policy/remote/remote-policy.js";
import { calculator } from "../../src/tools/calculator/calculator.js";
import { ToolSet } from "../../src/tools/tool-set.js";
import { rollout } from "../../src/rollout/rollout.js";
import { rolloutPresets } from "../../src/rollout/presets.js";
import { treesFromJsonl, treesToJsonl } from "../../src/rollout/files/tree-jsonl.js";
import { CodePointTokenizer } from "../../src/rollout/testing/code-point-tokenizer.js";

const tokenizer = new CodePointTokenizer({ vocabSize: 128 });

/** What a vLLM server answers; it calls the calculator until it has read two results. */
function answer(prompt: number[]) {
  const results = tokenizer.decode(prompt).split("<result>").length - 1;
  const text = results < 2 ? `<calc>${results}+1</calc>` : "done\u0001";
  const ids = tokenizer.encode(text);
  const logprobs = {
    tokens: ids.map((id) => `token_id:${id}`),
    token_logprobs: ids.map(() => -0.5),
    top_logprobs: ids.map((id) => ({ [`token_id:${id}`]: -0.5, "token_id:120": -1.5 })),
  };
  const stop = results < 2 ? { stop_reason: "</calc>" } : { stop_reason: null };
  return { choices: [{ text, finish_reason: "stop", ...stop, logprobs }] };
}

test("rollout() grows trees from a remote endpoint", async (t) => {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (data: Buffer) => (body += data.toString()));
    request.on("end", () => {
      const { prompt } = JSON.parse(body) as { prompt: number[] };
      response.end(JSON.stringify(answer(prompt)));
    });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const urls = [`http://127.0.0.1:${port}/v1`];
  const policy = new RemotePolicy({ urls, model: "m", tokenizer, contextLength: 512 });
  const tools = new ToolSet([calculator()]);
  const options = { ...rolloutPresets.arpo, n: 6, initialRollouts: 2, branchProbability: 1, tools };
  const tree = await rollout(policy, { prompt: "add" }, options);
  assert.equal(tree.trajectories.length, 6);
  assert.ok(tree.selected.every(({ sampler }) => sampler === "remote"));
  assert.equal(treesFromJsonl(treesToJsonl([tree]))[0]!.sampler, "remote");
  assert.equal(tree.trajectories.filter((trajectory) => trajectory.kind === "branch").length, 4);
  for (const { text, logprobs, end } of tree.selected) {
    assert.equal(
      text,
      "<calc>0+1</calc> <result>\n1\n</result><calc>1+1</calc> <result>\n2\n</result>done",
    );
    assert.equal(logprobs[0], -0.5);
    assert.equal(end, "answer");
  }
  // Two alternatives of probability e^-0.5 and e^-1.5 at each of the 16 positions of a call.
  const nats = 16 * (0.5 * Math.exp(-0.5) + 1.5 * Math.exp(-1.5));
  assert.ok(Math.abs(tree.nodes[0]!.entropy! - nats / Math.log(128)) < 1e-6);
});
