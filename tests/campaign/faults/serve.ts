// Clients of `arpo-lab serve` that leave, send rubbish or dawdle: the others have the same answers as before.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { Random } from "../../../src/base/random/random.js";
import { serveTiny } from "../../serve/tiny-server.js";
import type { Area } from "../attempt.js";

type Ask = (port: number, random: Random) => Promise<void>;

const rubbish = (random: Random, size: number) =>
  Buffer.from(Array.from({ length: size }, () => random.integer(256)));

/** Sends bytes and is gone after a while. */
const gone =
  (bytes: (random: Random) => Buffer | string): Ask =>
  async (port, random) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined); // The server hangs up, as it may.
    socket.write(bytes(random));
    await pause(random.integer(60));
    socket.destroy();
  };
const head = (path: string, length: number) =>
  `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
const body = (more: object) =>
  JSON.stringify({ model: "tiny", prompt: "What is 1 + 1?", max_tokens: 60, ...more });

const faults: Record<string, Ask> = {
  "leaves in a stream": gone(() => {
    const text = body({ stream: true });
    return head("/v1/completions", text.length) + text;
  }),
  "leaves before its answer": gone(() => {
    const text = body({ n: 4 });
    return head("/v1/completions", text.length) + text;
  }),
  "sends half of a body": gone(() => head("/v1/completions", 4000) + body({}).slice(0, 20)),
  "sends a body that is too long": gone(() => head("/v1/completions", 5) + body({})),
  "sends bytes at random": gone((random) => rubbish(random, 1 + random.integer(3000))),
  "sends random bytes as a body": gone((random) => {
    const bytes = rubbish(random, 1 + random.integer(3000));
    return Buffer.concat([Buffer.from(head("/v1/completions", bytes.length)), bytes]);
  }),
  "sends nothing": gone(() => ""),
  "sends many headers": gone(() => `GET /health HTTP/1.1\r\n${"a: b\r\n".repeat(3000)}\r\n`),
  "sends a broken chunk": gone(
    () =>
      "POST /v1/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nx\r\n",
  ),
};

export const serve: Area = {
  name: "serve",
  share: 4,
  seconds: 60,
  make: (random) => {
    const names = Array.from({ length: 2 + random.integer(5) }, () =>
      random.choose(Object.keys(faults)),
    );
    return {
      name: `a client ${names.join(", one ")}`,
      promise: "the server lives, and others have the same answers as before",
      run: async (place) => {
        const { server } = await serveTiny(place);
        const port = Number(new URL(server.url).port);
        const ask = async () => {
          const response = await fetch(`${server.url}/completions`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({
              model: server.model,
              prompt: "What is 2 + 2?",
              max_tokens: 12,
              temperature: 0,
            }),
          });
          const { choices } = (await response.json()) as { choices: { text: string }[] };
          return choices[0]!.text;
        };
        const before = await ask();
        const during = ask();
        await Promise.all(names.map((name) => faults[name]!(port, random)));
        assert.equal(await during, before);
        assert.equal(await ask(), before);
        assert.equal((await fetch(server.url.replace(/\/v1$/, "/health"))).status, 200);
        return `answers ${JSON.stringify(before)}`;
      },
    };
  },
};
