// Requests of those who have no token, or come from another site.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { LabServer } from "../../../kernel/server/lab-server.js";
import type { Random } from "../../../src/base/random/random.js";
import { serveTiny } from "../../serve/tiny-server.js";
import { type Area, Broken } from "../attempt.js";

interface Sent {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string | undefined;
}

const paths = [
  ...[
    "/lab",
    "/lab/tree/a.txt",
    "/api",
    "/api/status",
    "/api/contents",
    "/api/contents/a.txt",
    "/api/kernels",
  ],
  ...["/api/kernelspecs", "/api/sessions", "/api/terminals", "/files/a.txt", "/lab/api/settings"],
  ...[
    "/lab/api/workspaces",
    "/api/contents/a.txt/checkpoints",
    "/api/events/subscribe",
    "/api/shutdown",
  ],
  ...[
    "/api/contents/../a.txt",
    "//evil.example/api",
    "/api/kernels/x/channels",
    "/files/..%2fa.txt",
  ],
];
const bodies = [
  undefined,
  "{}",
  '{"name":"arpo-lab"}',
  '{"type":"file","format":"text","content":"x"}',
  "[1]",
  "{",
];

/** What a browser on another site, or somebody without a token, can send; each lacks what is needed. */
const strangers: Record<
  string,
  (random: Random, token: string, port: number) => Record<string, string>
> = {
  "no token": () => ({}),
  "a wrong token": (random) => ({ authorization: `token ${random.integer(1e9)}` }),
  "half a token": (random, token) => ({
    authorization: `token ${token.slice(0, random.integer(token.length))}`,
  }),
  "the token in other letters": (_, token) => ({ authorization: `token ${token.toUpperCase()}` }),
  "basic authentication": (_, token) => ({
    authorization: `Basic ${Buffer.from(`a:${token}`).toString("base64")}`,
  }),
  "a made-up cookie": (random, token, port) => ({
    cookie: `arpo-lab-${port}=${token}${random.integer(9)}; _xsrf=x`,
    "x-xsrftoken": "x",
  }),
  "the token, from another site": (random, token) => ({
    authorization: `token ${token}`,
    origin: random.choose([
      "http://evil.example",
      "null",
      "http://127.0.0.1:1",
      "file://",
      "http://localhost.evil.example",
    ]),
  }),
  "the token, to another name": (random, token) => ({
    authorization: `token ${token}`,
    host: random.choose([
      "evil.example",
      "evil.example:80",
      "127.0.0.1.evil.example",
      "10.0.0.1",
      "evil@127.0.0.1",
      "[::ffff:1.2.3.4]",
    ]),
  }),
  "the token, as a part of another site": (random, token) => ({
    authorization: `token ${token}`,
    "sec-fetch-site": random.choose(["cross-site", "same-site"]),
    "sec-fetch-mode": "cors",
  }),
};

async function send(port: number, { method, path, headers, body }: Sent) {
  return await new Promise<{ status: number; text: string }>((done, failed) => {
    const asked = httpRequest(
      { host: "127.0.0.1", port, method, path, headers, agent: false },
      (response) => {
        let text = "";
        response.on("data", (data: Buffer) => (text += data.toString()));
        response.on("end", () => done({ status: response.statusCode!, text }));
        response.on("error", failed);
      },
    );
    asked.on("error", failed);
    asked.end(body);
  });
}

const json = (size: number, random: Random): unknown => {
  const value = random.integer(9);
  if (size === 0 || value < 4)
    return random.choose([null, true, -1, 1e308, "", "x".repeat(3000), "\0", NaN, {}, []]);
  if (value < 6) return Array.from({ length: random.integer(4) }, () => json(size - 1, random));
  const names = [
    "model",
    "prompt",
    "messages",
    "role",
    "content",
    "max_tokens",
    "n",
    "stop",
    "__proto__",
    "tools",
    "stream",
    "logprobs",
    "temperature",
    "seed",
  ];
  return Object.fromEntries(
    Array.from({ length: random.integer(6) }, () => [random.choose(names), json(size - 1, random)]),
  );
};

export const requests: Area = {
  name: "requests",
  share: 6,
  seconds: 60,
  make: (random) => {
    if (random.uniform() < 0.4) {
      const asked = Array.from({ length: 8 }, () => ({
        path: random.choose([
          "/v1/completions",
          "/v1/chat/completions",
          "/tokenize",
          "/detokenize",
          "/v1/models/x",
        ]),
        body: { max_tokens: 2, ...(json(4, random) as object) },
      }));
      return {
        name: `serve is sent ${asked.map(({ path, body }) => `${path} ${JSON.stringify(body).slice(0, 60)}`).join("; ")}`,
        promise: "an answer or a refusal in words, never an error of the server",
        run: async (place) => {
          const { server } = await serveTiny(place);
          const port = Number(new URL(server.url).port);
          const headers = { "content-type": "application/json" };
          const seen: number[] = [];
          for (const { path, body } of asked) {
            const { status, text } = await send(port, {
              method: "POST",
              path,
              headers,
              body: JSON.stringify(body),
            });
            assert.ok(status < 500, `${path} ${JSON.stringify(body)}: ${status} ${text}`);
            seen.push(status);
          }
          return seen.join(" ");
        },
      };
    }
    const asked = Array.from({ length: 12 }, () => ({
      who: random.choose(Object.keys(strangers)),
      method: random.choose(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]),
      path: random.choose(paths),
      body: random.choose(bodies),
    }));
    return {
      name: `the lab is asked ${asked.map(({ who, method, path }) => `${method} ${path} with ${who}`).join("; ")}`,
      promise: "everything is refused, and nothing changes",
      run: async (place) => {
        writeFileSync(place.path("a.txt"), "secret");
        const token = `t${random.integer(1e9)}xYz`;
        const lab = await LabServer.start({ folder: place.folder, token });
        place.after(async () => await lab.stop());
        const seen: number[] = [];
        for (const { who, method, path, body } of asked) {
          const headers = strangers[who]!(random, token, lab.port);
          const { status, text } = await send(lab.port, { method, path, headers, body });
          const isRefused = status >= 300 && status < 500;
          if (!isRefused || text.includes("secret") || text.includes(token)) {
            throw new Broken(
              "broken",
              `${method} ${path} with ${who}: ${status} ${text.slice(0, 200)}`,
            );
          }
          seen.push(status);
        }
        return seen.join(" ");
      },
    };
  },
};
