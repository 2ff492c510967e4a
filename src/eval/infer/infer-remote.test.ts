import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { RemotePolicy } from "../../policy/remote/remote-policy.js";
import { CodePointTokenizer } from "../../rollout/testing/code-point-tokenizer.js";
import { ToolSet } from "../../tools/tool-set.js";
import { infer } from "./infer.js";

interface Body {
  prompt: number[];
  stop?: string[];
  top_k?: number;
  min_p?: number;
  temperature: number;
  top_p: number;
  repetition_penalty: number;
}

const tokenizer = new CodePointTokenizer();

/** An endpoint in vLLM's words that says these texts in turn, by how often it was asked. */
async function endpoint(t: TestContext, say: (asked: number, text: string) => string | undefined) {
  const bodies: Body[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      const body = JSON.parse(text) as Body;
      bodies.push(body);
      const said = say(bodies.length, tokenizer.decode(body.prompt));
      if (said === undefined) return response.writeHead(500).end();
      const stop = body.stop?.find((one) => said.endsWith(one));
      const ids = tokenizer.encode(said);
      return response.end(
        JSON.stringify({
          choices: [
            {
              ...{ text: said, finish_reason: "stop", stop_reason: stop ?? null },
              logprobs: {
                tokens: ids.map((id) => `token_id:${id}`),
                token_logprobs: ids.map(() => -0.5),
                top_logprobs: ids.map((id) => ({ [`token_id:${id}`]: -0.5 })),
              },
            },
          ],
        }),
      );
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, bodies };
}

const question = {
  benchmark: { name: "toy", title: "Toy", task: "qa", prompt: "base" } as const,
  items: [{ index: 0, question: "Which city?", answer: "Oslo", row: {} }],
  path: "",
  sha256: "",
};
const tools = new ToolSet([
  { name: "search", tag: "search", description: "", execute: (input) => `found ${input}` },
]);
const texts = ["<think>?</think><search>capital</search>", "<answer>\\boxed{Oslo}</answer>"];
const policyAt = (...urls: string[]) =>
  new RemotePolicy({ urls, model: "m", tokenizer, contextLength: 20_000, backoffMs: 1 });

test("infer() sends prompt and transcript to an endpoint as one text, sampled as documented", async (t) => {
  const { url, bodies } = await endpoint(t, (asked) => texts[(asked - 1) % 2]);
  const [sample] = await infer(policyAt(url), [question], { tools });
  assert.deepEqual([sample!.prediction, sample!.status], ["Oslo", "answered"]);
  const [first, second] = bodies as [Body, Body];
  const sent = (body: Body) => tokenizer.decode(body.prompt);
  assert.equal(sent(second), `${sent(first)}${texts[0]} <result>\nfound capital\n</result>`);
  assert.match(sent(first), /^system: You solve .*user: Which city\?/s);
  assert.deepEqual(first.stop, ["</search>", "</answer>"]);
  const { temperature, top_p, top_k, repetition_penalty } = first;
  assert.deepEqual([temperature, top_p, top_k, repetition_penalty], [0.6, 0.95, 20, 1.1]);
  await infer(policyAt(url), [question], { tools, asReference: true, chained: 1 });
  assert.equal(bodies[2]!.top_k ?? -1, -1); // which keeps all
  assert.ok(!bodies[2]!.stop?.length);
});

test("infer() goes on at another endpoint where one fails, and says so where all do", async (t) => {
  const broken = await endpoint(t, () => undefined);
  const good = await endpoint(t, (_, text) => texts[text.includes("found") ? 1 : 0]);
  const [sample] = await infer(policyAt(broken.url, good.url), [question], { tools });
  assert.equal(sample!.prediction, "Oslo");
  await assert.rejects(
    infer(policyAt(broken.url), [question], { tools }),
    /must answer, got nothing but failures \(1\).*got 500/,
  );
});
