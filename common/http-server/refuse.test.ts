import assert from "node:assert/strict";
import { once } from "node:events";
import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  request as httpRequest,
} from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { readBody } from "./body.js";
import { refuse } from "./refuse.js";

/** The port of a server that refuses every body that is too long. */
async function refusing(t: TestContext, most: number): Promise<number> {
  const server = createServer((request, response) => {
    const answer = { status: 413, headers: { "x-why": "large" }, text: "no" };
    if (most < 0) refuse(request, response, answer);
    else
      readBody(request, most).then(
        () => response.end("taken"),
        () => refuse(request, response, answer),
      );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

async function answerOf(request: ClientRequest): Promise<[number, string]> {
  const [response] = (await once(request, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of response) text += String(chunk);
  return [response.statusCode!, text];
}

test("a client that sends too much can read why it is refused", async (t) => {
  const port = await refusing(t, 1000);
  const body = Buffer.alloc(8 << 20, "x");
  const chunked = { "transfer-encoding": "chunked" };
  for (const headers of [{ "content-length": String(body.length) }, chunked]) {
    for (let i = 0; i < 8; i++) {
      const request = httpRequest({ port, method: "POST", path: "/", headers });
      request.end(body);
      assert.deepEqual(await answerOf(request), [413, "no"]);
    }
  }
});

test("what stands behind a request without a body is no part of it: the refusal is read all the same", async (t) => {
  const port = await refusing(t, -1);
  for (const method of ["GET", "DELETE", "OPTIONS"]) {
    for (const body of ["", "{}"]) {
      const request = httpRequest({ port, method, path: "/", agent: false });
      request.end(body);
      assert.deepEqual(await answerOf(request), [413, "no"], `${method}, ${body.length} bytes`);
    }
  }
});
