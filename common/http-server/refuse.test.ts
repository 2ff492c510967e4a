import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { readBody } from "./body.js";
import { refuse } from "./refuse.js";

test("a client that sends too much can read why it is refused", async (t) => {
  const server = createServer((request, response) => {
    readBody(request, 1000).then(
      () => response.end("taken"),
      () => refuse(request, response, { status: 413, headers: { "x-why": "large" }, text: "no" }),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const body = Buffer.alloc(8 << 20, "x");
  const chunked = { "transfer-encoding": "chunked" };
  for (const headers of [{ "content-length": String(body.length) }, chunked]) {
    for (let i = 0; i < 8; i++) {
      const request = httpRequest({ port, method: "POST", path: "/", headers });
      request.end(body);
      const [response] = (await once(request, "response")) as [NodeJS.ReadableStream & object];
      let text = "";
      for await (const chunk of response) text += String(chunk);
      assert.equal(text, "no");
      assert.equal((response as { statusCode?: number }).statusCode, 413);
    }
  }
});
