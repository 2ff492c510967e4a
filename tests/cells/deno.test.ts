// What notebooks written for Deno's kernel rely on, as its documentation describes it.
import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { TestSession } from "./test-session.js";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "arpo-lab-deno-")));
after(() => rmSync(folder, { recursive: true }));
const session = (language: "typescript" | "javascript" = "typescript"): TestSession =>
  new TestSession(folder, { language });

test("Deno.jupyter.display shows values, bundles and updates", async () => {
  const s = session();
  await s.run(
    "await Deno.jupyter.display({ 'text/html': '<b>1</b>' }, { raw: true, display_id: 'a' })",
  );
  await s.run(
    "await Deno.jupyter.display(Deno.jupyter.md`*${2}*`, { update: true, display_id: 'a' })",
  );
  deepEqual(
    s.host.calls.map(({ bundle, options }) => [bundle, options?.id, options?.update]),
    [
      [{ "text/html": "<b>1</b>" }, "a", undefined],
      [{ "text/markdown": "*2*", "text/plain": "*2*" }, "a", true],
    ],
  );
});

test("templates and pictures are values that show themselves, as are classes with $display", async () => {
  const s = session();
  const png = Buffer.from("89504e470d0a1a0a", "hex");
  writeFileSync(join(folder, "dot.png"), png);
  await s.run("class T { [Deno.jupyter.$display]() { return { 'text/html': 'T' } } }");
  for (const [source, mime, content] of [
    ["Deno.jupyter.html`<i>${1}</i>`", "text/html", "<i>1</i>"],
    ["Deno.jupyter.svg`<svg/>`", "image/svg+xml", "<svg/>"],
    [`Deno.jupyter.image("${join(folder, "dot.png")}")`, "image/png", png.toString("base64")],
    ["Deno.jupyter.image(Uint8Array.of(255, 216, 255))", "image/jpeg", "/9j/"],
    ["new T()", "text/html", "T"],
  ] as const) {
    const bundle = await s.run(`await Deno.jupyter.format(${source})`);
    equal((bundle as Record<string, unknown>)[mime], content, source);
  }
  await rejects(
    s.run("Deno.jupyter.image(Uint8Array.of(1))"),
    /PNG, JPEG, GIF or WebP, got 1 other/,
  );
});

for (const language of ["typescript", "javascript"] as const) {
  test(`Deno.jupyter.broadcast sends messages of the protocol (${language})`, async () => {
    const s = session(language);
    await s.run(`for (const type of ["display_data", "update_display_data"])
      await Deno.jupyter.broadcast(type, {
        data: { "text/html": type }, metadata: {}, transient: { display_id: "b" } })`);
    deepEqual(
      s.host.calls.map(({ bundle, options }) => [
        bundle?.["text/html"],
        options?.id,
        options?.update,
      ]),
      [
        ["display_data", "b", false],
        ["update_display_data", "b", true],
      ],
    );
    await rejects(
      s.run("await Deno.jupyter.broadcast('status', {})"),
      /msgType must be one of display_data/,
    );
  });
}

test("only cells have Deno, and code that asks which runtime it is in hears Node", async () => {
  const s = session();
  equal(await s.run("typeof Deno"), "undefined");
  equal(await s.run("'Deno' in globalThis"), false);
  await rejects(s.run("Deno.readTextFile('a')"), (error: Error) => {
    match(error.message, /Property 'readTextFile' does not exist/);
    return true;
  });
  equal(await s.run("const Deno = { version: 1 }; Deno.version"), 1);
  equal(await s.run("Deno.version + 1"), 2);
});

test("a name of the web is a cell's own where a cell declares it", async () => {
  const s = session();
  equal(await s.run("const prompt = 'What is 2 + 2?'; prompt.length"), 14);
  equal(await s.run("prompt.toUpperCase().length"), 14);
});
