// Classes of attacks that are known from elsewhere, tried on the lab: sessions that outlive a token, answers that a
// browser would take for pages, settings that a file plants.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test, type TestContext } from "node:test";
import { WebSocket } from "ws";
import { LabServer } from "./lab-server.js";

const folder = mkdtempSync(join(tmpdir(), "lab-known-"));
after(() => rmSync(folder, { recursive: true }));

async function started(t: TestContext, token: string, port = 0): Promise<LabServer> {
  const server = await LabServer.start({ folder, token, port });
  t.after(async () => await server.stop());
  return server;
}

/** The status of a request, whose headers are as they are given. */
async function ask(port: number, path: string, headers: Record<string, string>, method = "GET") {
  return await new Promise<{ status: number; headers: Record<string, unknown> }>((done, failed) => {
    httpRequest({ host: "127.0.0.1", port, path, headers, method, agent: false }, (response) => {
      response.resume();
      response.on("end", () => done({ status: response.statusCode!, headers: response.headers }));
    })
      .on("error", failed)
      .end();
  });
}

async function cookieOf(server: LabServer): Promise<string> {
  const { headers } = await ask(server.port, `/lab?token=${server.token}`, {});
  return (headers["set-cookie"] as string[]).map((line) => line.split(";")[0]!).join("; ");
}

async function opens(port: number, headers: Record<string, string>): Promise<boolean> {
  return await new Promise((done) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/api/events/subscribe`, { headers });
    socket.once("open", () => {
      socket.terminate();
      done(true);
    });
    socket.on("error", () => done(false)); // refused, which is an answer here
  });
}

test("a session ends with its token: the cookie of another token opens nothing", async (t) => {
  const first = await started(t, "first-token");
  const { port } = first;
  const cookie = await cookieOf(first);
  assert.equal((await ask(port, "/api/contents", { cookie })).status, 200);
  assert.ok(await opens(port, { cookie }));
  await first.stop();
  await started(t, "second-token", port);
  assert.equal((await ask(port, "/api/contents", { cookie })).status, 403);
  assert.equal((await ask(port, "/files/a.html", { cookie })).status, 403);
  assert.ok(!(await opens(port, { cookie })));
  const old = { authorization: "token first-token" };
  assert.equal((await ask(port, "/api/contents", old)).status, 403);
});

test("what the lab answers is never a page that acts in its name", async (t) => {
  const server = await started(t, "token");
  const headers = { authorization: "token token" };
  mkdirSync(join(folder, "sub"), { recursive: true });
  for (const name of [
    "a.html",
    "a.svg",
    "a.xhtml",
    "a.xml",
    "a.pdf",
    "a.js",
    "a.txt",
    "a",
    "sub/a.html",
  ]) {
    writeFileSync(join(folder, name), "<script>fetch('/api/contents')</script>");
  }
  const paths = [
    ...["a.html", "a.svg", "a.xhtml", "a.xml", "a.pdf", "a.js", "a.txt", "a", "sub/a.html"].map(
      (name) => `/files/${name}`,
    ),
    ...["/api", "/api/status", "/api/contents", "/api/contents/a.html", "/api/kernels"],
    ...["/api/kernelspecs", "/api/sessions", "/lab/api/settings", "/lab/api/workspaces"],
    ...["/no/such/page", "/files/no.html", "/api/contents/no", "/files/../x"],
  ];
  for (const path of paths) {
    for (const method of ["GET", "HEAD"]) {
      const { headers: given } = await ask(server.port, path, headers, method);
      const policy = String(given["content-security-policy"]);
      assert.match(policy, /(^|; )sandbox( allow-scripts)?(;|$)/, `${method} ${path}`);
      assert.doesNotMatch(policy, /allow-same-origin|allow-top-navigation|allow-forms/);
      assert.equal(given["x-content-type-options"], "nosniff", path);
      assert.equal(given["cross-origin-resource-policy"], "same-origin", path);
    }
  }
});

test("files that a notebook's folder brings are no settings of the lab", async (t) => {
  for (const name of [".arpo-lab", ".jupyter", ".lab", "lab"]) {
    mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, name, "token"), "planted");
    writeFileSync(join(folder, name, "settings.json"), '{"token": "planted"}');
    writeFileSync(join(folder, name, "trusted"), "planted\n");
  }
  writeFileSync(join(folder, "jupyter_server_config.json"), '{"ServerApp": {"token": ""}}');
  const server = await started(t, "token");
  for (const token of ["planted", ""]) {
    const headers = { authorization: `token ${token}` };
    assert.equal((await ask(server.port, "/api/contents", headers)).status, 403);
  }
  assert.equal((await ask(server.port, "/api/contents", {})).status, 403);
});
