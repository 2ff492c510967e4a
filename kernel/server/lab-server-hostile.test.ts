import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { WebSocket } from "ws";
import { LabServer } from "./lab-server.js";
import { temporaryFolder } from "../../tests/temporary.js";

const token = "right-token";
const outside = temporaryFolder("lab-outside");
const folder = temporaryFolder("lab-hostile");
writeFileSync(join(outside, "secret.txt"), "secret");
writeFileSync(join(folder, "note.txt"), "mine");
writeFileSync(join(folder, ".hidden"), "secret");
mkdirSync(join(folder, ".ssh"));
writeFileSync(join(folder, ".ssh", "id"), "secret");
symlinkSync(outside, join(folder, "link"));
symlinkSync(join(outside, "secret.txt"), join(folder, "link.txt"));
symlinkSync(join(outside, "new.txt"), join(folder, "dangling.txt"));

let server: LabServer;
before(async () => {
  server = await LabServer.start({ folder, token, maxBody: 100_000 });
});
after(async () => await server.stop());

interface Sent {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** Sends a request as it is: `fetch` would tidy the path and refuse the headers. */
async function send(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string,
): Promise<Sent> {
  return await new Promise((done, failed) => {
    const request = httpRequest(
      { host: "127.0.0.1", port: server.port, method, path, headers },
      (response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => (text += chunk.toString()));
        response.on("end", () =>
          done({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
        );
        response.on("error", failed);
      },
    );
    request.on("error", failed);
    request.end(body);
  });
}

const auth = { authorization: `token ${token}` };
const json = { ...auth, "content-type": "application/json" };

async function cookie(): Promise<{ cookie: string; xsrf: string }> {
  const { headers } = await send("GET", `/lab?token=${token}`);
  const pairs = [headers["set-cookie"] ?? []].flat().map((line) => line.split(";")[0]!);
  return { cookie: pairs.join("; "), xsrf: pairs.find((p) => p.startsWith("_xsrf="))!.slice(6) };
}

const contents = (path: string): string => `/api/contents/${path}`;
const save = (content: string, more: object = {}): string =>
  JSON.stringify({ type: "file", format: "text", content, ...more });

/** Name, what is sent, and the statuses that refuse it. */
const attacks: [string, () => Promise<Sent>, number[]][] = [
  ["no token", () => send("GET", "/api/contents"), [403]],
  ["no token for the page", () => send("GET", "/lab"), [403]],
  ["no token for a file", () => send("GET", "/files/note.txt"), [403]],
  ["no token for kernels", () => send("POST", "/api/kernels", {}, "{}"), [403]],
  ["a wrong token", () => send("GET", "/api/contents", { authorization: "token wrong" }), [403]],
  ["an empty token", () => send("GET", "/api/contents", { authorization: "token " }), [403]],
  ["a wrong token in the address", () => send("GET", "/api/contents?token=wrong"), [403]],
  ["an empty token in the address", () => send("GET", "/api/contents?token="), [403]],
  ["half a token", () => send("GET", `/api/contents?token=${token.slice(0, 5)}`), [403]],
  [
    "basic authentication",
    () => send("GET", "/api", { authorization: "Basic cmlnaHQ6dG9rZW4=" }),
    [403],
  ],
  [
    "a made-up cookie",
    () => send("GET", "/api", { cookie: `arpo-lab-${server.port}=${token}` }),
    [403],
  ],
  ["another port's cookie", () => send("GET", "/api", { cookie: "arpo-lab-1=x" }), [403]],
  [
    "the token and another site's origin",
    () => send("GET", "/api", { ...auth, origin: "http://evil.example" }),
    [403],
  ],
  ["origin null", () => send("GET", "/api", { ...auth, origin: "null" }), [403]],
  [
    "another port's origin",
    () => send("GET", "/api", { ...auth, origin: "http://127.0.0.1:1" }),
    [403],
  ],
  [
    "a picture or script for a page of another port",
    () => send("GET", "/api", { ...auth, "sec-fetch-site": "same-site" }),
    [403],
  ],
  [
    "https of this host as origin",
    () => send("GET", "/api", { ...auth, origin: `https://127.0.0.1:${server.port}` }),
    [403],
  ],
  [
    "an origin that begins like ours",
    () => send("GET", "/api", { ...auth, origin: `http://127.0.0.1:${server.port}.evil.example` }),
    [403],
  ],
  [
    "a script of another site",
    () =>
      send("GET", "/api", { ...auth, "sec-fetch-site": "cross-site", "sec-fetch-mode": "cors" }),
    [403],
  ],
  ["a rebound name", () => send("GET", "/api", { ...auth, host: "evil.example" }), [403]],
  [
    "a rebound name with our port",
    () => send("GET", "/api", { ...auth, host: `evil.example:${server.port}` }),
    [403],
  ],
  [
    "a name that begins like ours",
    () => send("GET", "/api", { ...auth, host: "localhost.evil.example" }),
    [403],
  ],
  [
    "a name that ends like ours",
    () => send("GET", "/api", { ...auth, host: "evil-localhost" }),
    [403],
  ],
  ["an address that is not ours", () => send("GET", "/api", { ...auth, host: "10.0.0.1" }), [403]],
  ["a host with a user", () => send("GET", "/api", { ...auth, host: "evil@127.0.0.1" }), [403]],
  ["dots", () => send("GET", contents("../secret.txt"), auth), [400]],
  ["many dots", () => send("GET", contents("../../../../etc/passwd"), auth), [400]],
  ["dots within", () => send("GET", contents("a/../../secret.txt"), auth), [400]],
  ["encoded dots", () => send("GET", contents("%2e%2e/secret.txt"), auth), [400]],
  ["encoded slashes", () => send("GET", contents("..%2f..%2fetc%2fpasswd"), auth), [400]],
  ["half encoded dots", () => send("GET", contents(".%2e/secret.txt"), auth), [400]],
  ["dots in a file's address", () => send("GET", "/files/../../etc/passwd", auth), [400]],
  ["doubly encoded dots", () => send("GET", contents("%252e%252e/secret.txt"), auth), [404]],
  ["backslashes", () => send("GET", contents("..\\secret.txt"), auth), [400]],
  ["an absolute path", () => send("GET", contents("/etc/passwd"), auth), [404]],
  ["another server's address", () => send("GET", "//evil.example/api", auth), [400]],
  ["a proxy's address", () => send("GET", "http://evil.example/api", auth), [400]],
  ["NUL", () => send("GET", contents("note.txt%00.png"), auth), [400]],
  ["broken encoding", () => send("GET", contents("%ff%fe"), auth), [400]],
  ["a hidden file", () => send("GET", contents(".hidden"), auth), [404]],
  ["a file in a hidden folder", () => send("GET", contents(".ssh/id"), auth), [404]],
  ["a hidden file's bytes", () => send("GET", "/files/.ssh/id", auth), [404]],
  ["a link to a folder outside", () => send("GET", contents("link/secret.txt"), auth), [404]],
  ["a link to a file outside", () => send("GET", contents("link.txt"), auth), [404]],
  ["the bytes behind a link", () => send("GET", "/files/link.txt", auth), [404]],
  ["writing through a link", () => send("PUT", contents("link/new.txt"), json, save("x")), [404]],
  [
    "writing through a dangling link",
    () => send("PUT", contents("dangling.txt"), json, save("x")),
    [404],
  ],
  ["writing outside", () => send("PUT", contents("..%2fnew.txt"), json, save("x")), [400]],
  ["writing a hidden file", () => send("PUT", contents(".bashrc"), json, save("x")), [404]],
  [
    "renaming to the outside",
    () => send("PATCH", contents("note.txt"), json, '{"path":"../stolen.txt"}'),
    [400],
  ],
  [
    "renaming into a link",
    () => send("PATCH", contents("note.txt"), json, '{"path":"link/stolen.txt"}'),
    [404],
  ],
  [
    "copying from outside",
    () => send("POST", contents(""), json, '{"copy_from":"link/secret.txt"}'),
    [404],
  ],
  [
    "an extension that is a path",
    () => send("POST", contents(""), json, '{"type":"file","ext":"/../../x"}'),
    [400],
  ],
  ["deleting the folder itself", () => send("DELETE", contents(""), auth), [400]],
  ["deleting through a link", () => send("DELETE", contents("link/secret.txt"), auth), [404]],
  ["broken JSON", () => send("PUT", contents("a.txt"), json, '{"type":'), [400]],
  ["JSON that is no object", () => send("PUT", contents("a.txt"), json, "[1]"), [400]],
  [
    "JSON that is no UTF-8",
    () => send("POST", "/api/sessions", json, Buffer.from([0x22, 0xff, 0x22]).toString("latin1")),
    [400],
  ],
  [
    "a time that is none",
    () => send("PUT", contents("a.txt"), json, save("x", { last_modified: "yesterday" })),
    [400],
  ],
  ["fields of the wrong type", () => send("PUT", contents("a.txt"), json, '{"type":7}'), [400]],
  [
    "a notebook that is none",
    () => send("PUT", contents("a.ipynb"), json, '{"type":"notebook","content":{}}'),
    [400],
  ],
  [
    "a body that is too large",
    () => send("PUT", contents("a.txt"), json, save("x".repeat(200_000))),
    [413],
  ],
  [
    "a length that is too large",
    () => send("PUT", contents("a.txt"), { ...json, "content-length": "99999999999" }),
    [413],
  ],
  [
    "a header that is too large",
    () => send("GET", "/api", { ...auth, "x-large": "x".repeat(40_000) }),
    [431],
  ],
  ["an unknown method", () => send("PROPFIND", "/api/contents", auth), [404, 405]],
  ["an unknown kernel", () => send("POST", "/api/kernels", json, '{"name":"../../bin/sh"}'), [404]],
  [
    "a kernel's icon outside",
    () => send("GET", "/kernelspecs/arpo-lab/..%2f..%2fpackage.json", auth),
    [400],
  ],
  [
    "a write with only the cookie",
    async () => send("PUT", contents("a.txt"), { cookie: (await cookie()).cookie }, save("x")),
    [403],
  ],
  [
    "a write with the cookie and a guessed XSRF token",
    async () =>
      send(
        "PUT",
        contents("a.txt"),
        { cookie: (await cookie()).cookie, "x-xsrftoken": "guess" },
        save("x"),
      ),
    [403],
  ],
  [
    "a write with an XSRF cookie of the attacker's choice",
    async () =>
      send(
        "PUT",
        contents("a.txt"),
        {
          cookie: (await cookie()).cookie.replace(/_xsrf=[^;]*/, "_xsrf=mine"),
          "x-xsrftoken": "mine",
        },
        save("x"),
      ),
    [403],
  ],
];

test("LabServer takes a write of its own page with the cookie, whatever another lab made of _xsrf", async () => {
  const jar = (await cookie()).cookie.replace(/_xsrf=[^;]*/, "_xsrf=another-labs");
  const write = (origin: string) =>
    send(
      "PUT",
      contents("own.txt"),
      { cookie: jar, "x-xsrftoken": "another-labs", origin },
      save("own"),
    );
  assert.equal((await write(`http://127.0.0.1:${server.port}`)).status, 201);
  assert.equal((await write(`http://127.0.0.1:${server.port + 1}`)).status, 403);
  assert.equal((await write("null")).status, 403);
});

for (const [name, attack, statuses] of attacks) {
  test(`LabServer refuses ${name}`, async () => {
    const { status, body } = await attack();
    assert.ok(statuses.includes(status), `${status} ${body.slice(0, 200)}`);
    assert.ok(!body.includes("secret\n") && !body.includes("root:"), body);
  });
}

async function connect(path: string, headers: Record<string, string>): Promise<number> {
  return await new Promise((done) => {
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}${path}`, { headers });
    socket.once("unexpected-response", (_, response) => {
      done(response.statusCode ?? 0);
      socket.terminate();
    });
    socket.once("open", () => {
      socket.terminate();
      done(101);
    });
    socket.on("error", () => undefined); // told by the status already
  });
}

const sockets: [string, string, () => Promise<Record<string, string>>, number][] = [
  ["a socket without a token", "/api/events/subscribe", async () => ({}), 403],
  ["a socket with a wrong token", "/api/events/subscribe?token=x", async () => ({}), 403],
  [
    "a socket of another site",
    "/api/events/subscribe",
    async () => ({ ...auth, origin: "http://evil.example" }),
    403,
  ],
  [
    "a socket of another site with the cookie",
    "/api/events/subscribe",
    async () => ({ cookie: (await cookie()).cookie, origin: "http://evil.example" }),
    403,
  ],
  [
    "a socket to a rebound name",
    "/api/events/subscribe",
    async () => ({ ...auth, host: "evil.example" }),
    403,
  ],
  ["a socket to no kernel", "/api/kernels/none/channels", async () => auth, 404],
  ["a socket to somewhere else", "/api/contents", async () => auth, 404],
];

for (const [name, path, headers, status] of sockets) {
  test(`LabServer refuses ${name}`, async () => {
    assert.equal(await connect(path, await headers()), status);
  });
}

test("LabServer lets in who has the token, and keeps it out of the address", async () => {
  const first = await send("GET", `/lab?token=${token}&reset`);
  assert.equal(first.status, 302);
  assert.equal(first.headers["location"], "/lab?reset=");
  const { cookie: jar, xsrf } = await cookie();
  assert.ok(!jar.includes(token));
  assert.equal((await send("GET", "/api", { cookie: jar })).status, 200);
  const good = await send(
    "PUT",
    contents("good.txt"),
    { cookie: jar, "x-xsrftoken": xsrf },
    save("ok"),
  );
  assert.equal(good.status, 201);
  assert.equal(await connect("/api/events/subscribe", { cookie: jar }), 101);
  assert.equal(
    (await send("GET", "/api", { ...auth, host: `localhost:${server.port}` })).status,
    200,
  );
});

test("LabServer changed nothing outside while it was attacked", () => {
  assert.deepEqual(readdirSync(outside), ["secret.txt"]);
  assert.equal(readFileSync(join(outside, "secret.txt"), "utf8"), "secret");
  assert.equal(readFileSync(join(folder, "note.txt"), "utf8"), "mine");
});
