import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../until.js";
import { clearOutput, display, prompt } from "../../kernel/cells.js";
import { displaySymbol } from "../../kernel/display/displayable.js";
import { formatValue } from "../../kernel/display/format.js";
import { FakeHost } from "./fake-host.js";
import { html, image, json, latex, Rich } from "../../kernel/display/rich.js";

const run = (id: string) => ({ id, count: 1, signal: new AbortController().signal });

test("display() sends a bundle and its handle updates in place", async () => {
  const host = new FakeHost();
  await host.within(() => {
    const handle = display([1]);
    handle.update(2);
    handle.update(undefined);
  });
  assert.deepEqual(
    host.calls.map((c) => [c.bundle?.["text/plain"], c.options?.update]),
    [
      ["[ 1 ]", false],
      ["2", true],
    ],
  );
  assert.equal(host.calls[0]?.options?.id, host.calls[1]?.options?.id);
});

test("display() returns a handle that shows nothing when it ends a cell", async () => {
  const host = new FakeHost();
  await host.within(() => assert.equal(formatValue(display(1)), undefined));
});

test("display() with an id replaces within a run and shows again in the next", async () => {
  const host = new FakeHost();
  await host.within(() => {
    display("a", { id: "x1" });
    display("b", { id: "x1" });
    host.identity = run("run-2");
    display("c", { id: "x1" });
  });
  assert.deepEqual(
    host.calls.map((c) => [c.bundle?.["text/plain"], c.options?.update]),
    [
      ["'a'", false],
      ["'b'", true],
      ["'c'", true],
      ["'c'", false],
    ],
  );
});

test("display() keeps the order of a slow value and a later update", async () => {
  const host = new FakeHost();
  await host.within(async () => {
    let finish: ((bundle: Record<string, string>) => void) | undefined;
    const slow = {
      [displaySymbol]: () => new Promise<Record<string, string>>((done) => (finish = done)),
    };
    const handle = display(slow);
    handle.update("fast");
    const ready = await until(() => finish, "the slow value to be asked");
    assert.deepEqual(host.calls, [], "the update waits for the slow value");
    ready({ "text/plain": "slow" });
    await until(() => host.calls.length === 2, "the slow value and its update");
    handle.update("later");
  });
  assert.deepEqual(
    host.calls.map((c) => c.bundle?.["text/plain"]),
    ["slow", "'fast'", "'later'"],
  );
});

test("display.kind() sends each kind under its mime type", async () => {
  const host = new FakeHost();
  const bytes = new Uint8Array([1, 2]);
  await host.within(() => {
    display.html("<b>");
    display.markdown("*m*");
    display.latex("x^2");
    display.svg("<svg/>");
    display.png(bytes, { metadata: { "image/png": { width: 10 } } });
    display.jpeg(bytes);
    display.gif(bytes);
    display.javascript("1");
    display.json({ a: new Set([1]) });
    display.text("plain");
    display.raw("application/x-mine", bytes);
  });
  const firsts = host.calls.map((c) => Object.entries(c.bundle!)[0]);
  assert.deepEqual(firsts, [
    ["text/html", "<b>"],
    ["text/markdown", "*m*"],
    ["text/latex", "$$x^2$$"],
    ["image/svg+xml", "<svg/>"],
    ["image/png", "AQI="],
    ["image/jpeg", "AQI="],
    ["image/gif", "AQI="],
    ["application/javascript", "1"],
    ["application/json", { a: [1] }],
    ["text/plain", "plain"],
    ["application/x-mine", "AQI="],
  ]);
  assert.deepEqual(host.calls[4]?.options?.metadata, { "image/png": { width: 10 } });
});

test("clearOutput() passes on whether to wait", async () => {
  const host = new FakeHost();
  await host.within(() => {
    clearOutput();
    clearOutput({ wait: true });
  });
  assert.deepEqual(
    host.calls.map((c) => c.wait),
    [false, true],
  );
});

test("prompt() returns what the person typed", async () => {
  const host = new FakeHost();
  host.answers.push("Ada", "Bob");
  await host.within(async () => {
    assert.equal(await prompt("name? "), "Ada");
    assert.equal(prompt.sync("name? "), "Bob");
    await assert.rejects(prompt("name? "), /nobody answers/);
  });
  assert.throws(() => prompt.sync("x"), /must run in a kernel/);
});

test("html() escapes template values, keeps nested HTML and joins lists", () => {
  const items = ["<a>", "b"].map((x) => html`<i>${x}</i>`);
  assert.equal(
    html`<p title="${'"'}">${items}</p>`.bundle["text/html"]?.toString().replace(/\s*\n\s*/g, ""),
    '<p title="&quot;"><i>&lt;a&gt;</i><i>b</i></p>',
  );
});

test("image() refuses bytes that are no picture", () => {
  assert.throws(() => image(new Uint8Array(3)), /must be PNG, JPEG, GIF or WebP, got 3 bytes/);
});

test("json() refuses a value that contains itself", () => {
  const loop: Record<string, unknown> = {};
  loop["self"] = loop;
  assert.throws(() => json(loop), /must not contain itself/);
  assert.ok(json([1]) instanceof Rich);
});

test("latex() leaves delimited mathematics alone", () => {
  assert.equal(latex("\\(x\\)").bundle["text/latex"], "\\(x\\)");
});
