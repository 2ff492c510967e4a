import assert from "node:assert/strict";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { test } from "node:test";
import { OwnPages } from "./own-pages.js";

const pages = new OwnPages(["Lab.Example", "fe80::1"]);
const asked = (headers: IncomingHttpHeaders) => () => pages.check({ headers } as IncomingMessage);
const host = "localhost:8888";

test("OwnPages lets programs and its own pages ask", () => {
  for (const name of ["localhost", "127.0.0.1:1", "[::1]:8888", "lab.example", "[fe80::1]:80"]) {
    asked({ host: name })();
  }
  asked({ host, origin: "http://localhost:8888", "sec-fetch-site": "same-origin" })();
  asked({ host, "sec-fetch-site": "none", "sec-fetch-mode": "navigate" })();
});

test("OwnPages keeps out pages of other sites and of other local ports", () => {
  for (const origin of [
    "http://evil.example",
    "http://localhost:3000",
    "http://127.0.0.1:8888",
    "https://localhost:8888",
    "http://localhost:8888.evil.example",
    "null",
    "",
  ]) {
    assert.throws(asked({ host, origin }), /Cannot serve pages of/, origin);
  }
  for (const site of ["cross-site", "same-site"]) {
    assert.throws(asked({ host, "sec-fetch-site": site, "sec-fetch-mode": "no-cors" }), /another/);
    const navigation = { "sec-fetch-site": site, "sec-fetch-mode": "navigate" };
    asked({ host, ...navigation })();
    assert.throws(asked({ host, ...navigation, upgrade: "websocket" }), /another/);
  }
});

test("OwnPages refuses names that are not this server's", () => {
  for (const name of [undefined, "", "evil.example", "localhost.evil.example", "localhost:x"]) {
    assert.throws(asked({ host: name }), /it must be this machine/, name);
  }
});
