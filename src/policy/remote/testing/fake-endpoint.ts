import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import type { Tokenizer } from "../../../model/tokenizer/tokenizer.js";
import { Random } from "../../../base/random/random.js";
import type { GenerateOptions } from "../../policy.js";
import { RemotePolicy, type RemotePolicyOptions } from "../remote-policy.js";

/** One token per character; 1 ends, as a character it reads as itself. */
export const letters: Tokenizer = {
  vocabSize: 128,
  eosId: 1,
  eosIds: [1],
  padId: 0,
  encode: (text) => [...text].map((c) => c.charCodeAt(0)),
  decode: (ids) => String.fromCharCode(...Array.from(ids)),
  chat: (messages) => messages.map((m) => `${m.role}:${m.content}`).join("|"),
};

/** A JSON object, as it is sent. */
export type Body = Record<string, unknown>;
/** Answers a request. */
export type Handler = (body: Body, response: ServerResponse, request: IncomingMessage) => void;

/** An endpoint that does as it is told and keeps what it was asked. */
export async function serve(
  t: Pick<TestContext, "after">,
  handler: Handler,
): Promise<{ url: string; bodies: Body[] }> {
  const bodies: Body[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (data: Buffer) => (text += data.toString()));
    request.on("end", () => {
      const body = JSON.parse(text || "{}") as Body;
      bodies.push(body);
      handler(body, response, request);
    });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, bodies };
}

/** Answers with one choice. */
export const reply = (response: ServerResponse, choice: Body) =>
  response.end(JSON.stringify({ choices: [choice] }));

/** A choice that ends at once. */
export const good: Body = { text: "a\u0001", finish_reason: "stop" };

/** A policy of letters at endpoints. */
export const policyAt = (urls: string[], options: Partial<RemotePolicyOptions> = {}) =>
  new RemotePolicy({
    urls,
    model: "m",
    tokenizer: letters,
    contextLength: 64,
    topLogprobs: 2,
    backoffMs: 5,
    ...options,
  });
/** Options of one generate call. */
export const once = (options: Partial<GenerateOptions> = {}): GenerateOptions => ({
  maxTokens: 20,
  stop: ["</s>"],
  random: Random.from(1),
  ...options,
});
