import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { HttpError, requestJson } from "./request-json.js";

async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await new Promise((listening) => server.once("listening", listening));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const fault = (message: RegExp, kind: string) => (error: unknown) => {
  assert.ok(error instanceof HttpError);
  assert.match(error.message, message);
  assert.equal(error.fault, kind);
  return true;
};

test("requestJson() follows a redirect on the same server and none to another", async (t) => {
  let reached = 0;
  const other = await serve(t, (_, response) => {
    reached++;
    response.end("{}");
  });
  const url = await serve(t, (request, response) => {
    if (request.url === "/new") response.end('{"here": true}');
    else {
      const location = request.url === "/old" ? "/new" : `${other}/taken?key=secret`;
      response.writeHead(307, { location }).end();
    }
  });
  const post = (path: string) =>
    requestJson("ask", { method: "POST", url: `${url}${path}`, body: { secret: 1 } });
  assert.deepEqual(await post("/old"), { here: true });
  await assert.rejects(post("/away"), (error: HttpError) => {
    assert.match(error.message, /\/away must answer itself, got a redirect to http:.*\/taken$/);
    assert.equal(error.retry, false);
    return true;
  });
  assert.equal(reached, 0);
});

test("requestJson() takes no more bytes than it may, however they are packed", async (t) => {
  const { gzipSync } = await import("node:zlib");
  const url = await serve(t, (request, response) => {
    if (request.url === "/plain") response.end(`"${"a".repeat(5000)}"`);
    else {
      response.setHeader("content-encoding", "gzip");
      response.end(gzipSync(`"${"a".repeat(10_000_000)}"`));
    }
  });
  for (const path of ["/plain", "/packed"]) {
    await assert.rejects(
      requestJson("ask", { url: url + path, maxBytes: 1000 }),
      fault(/must answer with at most 1000 bytes, got more/, "content"),
    );
  }
});

test("requestJson() refuses answers that are nested without end", async (t) => {
  const url = await serve(t, (_, response) => response.end("[".repeat(5e4) + "]".repeat(5e4)));
  await assert.rejects(
    requestJson("ask", { url }),
    fault(/must answer with at most 500 lists and objects within each other, got more/, "content"),
  );
});

test("requestJson() ends with its time, though the answer drips on", async (t) => {
  const url = await serve(t, (_, response) => {
    const drip = setInterval(() => response.write(" "), 5);
    response.on("close", () => clearInterval(drip));
  });
  await assert.rejects(
    requestJson("ask", { url, timeoutMs: 100 }),
    fault(/must answer, got nothing in time/, "timeout"),
  );
});

test("requestJson() says how long a server asks to wait", async (t) => {
  const url = await serve(t, (_, response) =>
    response.writeHead(503, { "retry-after": "90" }).end(),
  );
  await assert.rejects(requestJson("ask", { url }), (error: HttpError) => {
    assert.match(error.message, /got 503 and is to be asked again in 90 s/);
    assert.equal(error.retryAfterMs, 90_000);
    return true;
  });
});
