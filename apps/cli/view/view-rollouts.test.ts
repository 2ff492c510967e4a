import assert from "node:assert/strict";
import { request } from "node:http";
import { after, test } from "node:test";
import { ViewServer } from "./view-rollouts.js";

const server = await ViewServer.start({
  page: "<p>page</p>",
  tree: (index) => (index < 2 ? `<p>tree ${index}</p>` : undefined),
  port: 0,
});
after(() => server.stop());

const at = (path: string) => new URL(path, server.url);
const token = new URL(server.url).searchParams.get("token")!;

test("the view's server gives its pages to whoever has the token, and then the cookie", async () => {
  const first = await fetch(server.url);
  assert.equal(await first.text(), "<p>page</p>");
  assert.match(first.headers.get("content-security-policy")!, /default-src 'none'/);
  const cookie = first.headers.getSetCookie()[0]!.split(";")[0]!;
  const tree = await fetch(at("/tree/1"), { headers: { cookie } });
  assert.equal(await tree.text(), "<p>tree 1</p>");
  assert.equal((await fetch(at("/tree/2"), { headers: { cookie } })).status, 404);
  assert.equal((await fetch(at("/tree/-1"), { headers: { cookie } })).status, 404);
  assert.equal((await fetch(at("/etc/passwd"), { headers: { cookie } })).status, 404);
});

test("the view's server refuses who has no token, other hosts, other pages and writing", async () => {
  assert.equal((await fetch(at("/"))).status, 403);
  assert.equal((await fetch(at("/?token=guess"))).status, 403);
  assert.equal((await fetch(server.url, { method: "POST" })).status, 405);
  const status = (headers: Record<string, string>) =>
    new Promise<number>((told, failed) => {
      request(
        { host: "127.0.0.1", port: server.port, path: `/?token=${token}`, headers },
        (answer) => {
          answer.resume();
          told(answer.statusCode!);
        },
      )
        .on("error", failed)
        .end();
    });
  assert.equal(await status({ host: "evil.example" }), 403);
  assert.equal(
    await status({ host: `127.0.0.1:${server.port}`, origin: "http://127.0.0.1:1" }),
    403,
  );
  assert.equal(await status({ host: `127.0.0.1:${server.port}` }), 200);
});
