import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { tools } from "../../apps/cli/mcp/tools/registry.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");

test("AGENTS.md has at most 60 lines, and names commands that there are", () => {
  const text = read("docs/AGENTS.md");
  assert.ok(text.trimEnd().split("\n").length <= 60);
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  const named = [...text.matchAll(/npm run (?:-s )?([\w:]+)/g)].map(([, name]) => name!);
  assert.ok(named.length > 3);
  for (const name of named) assert.ok(Object.hasOwn(scripts, name), name);
  for (const [, file] of text.matchAll(/node (tools\/[\w./-]+)/g))
    assert.ok(existsSync(join(root, file!)), file);
});

test("each skill says its name, and what it is for", () => {
  const names = readdirSync(join(root, "docs/skills"));
  assert.deepEqual(names.sort(), ["capture-an-agent", "read-a-tree", "write-a-reward"]);
  for (const name of names) {
    const [, head = ""] = /^---\n([^]*?)\n---\n/.exec(read(`docs/skills/${name}/SKILL.md`)) ?? [];
    const told = parse(head) as { name: string; description: string };
    assert.equal(told.name, name);
    assert.match(told.description, /^[A-Z].{40,500}Use it where /s);
  }
});

test("docs/coding-agents.md has the tools that there are, and which of them ask", () => {
  const rows = [...read("docs/coding-agents.md").matchAll(/^\| `(\w+)` +\| (\*\*asks you\*\*)?/gm)];
  assert.deepEqual(
    rows.map(([, name, asks]) => [name, asks !== undefined]),
    tools.map(({ name, acts }) => [name, acts !== undefined]),
  );
});

test("llms.txt has every page of the sidebar with a sentence", async () => {
  const { llmsText, firstSentence } = (await import(
    new URL("../../../docs/site/llms.mjs", import.meta.url).href
  )) as {
    llmsText: (
      about: string,
      groups: unknown,
      read: (page: string) => string | undefined,
    ) => string;
    firstSentence: (text: string) => string;
  };
  const { groups } = (await import(
    new URL("../../../docs/site/sidebar.mjs", import.meta.url).href
  )) as { groups: { text: string; items: [string, string][] }[] };
  const text = llmsText("About it.", groups, (page) =>
    existsSync(join(root, `docs/${page}.md`)) ? read(`docs/${page}.md`) : undefined,
  );
  assert.ok(text.startsWith("# arpo-lab\n\n> About it.\n"));
  const pages = groups.flatMap(({ items }) => items.map(([, page]) => page));
  const there = pages.filter((page) => existsSync(join(root, `docs/${page}.md`)));
  assert.ok(there.length > 40);
  for (const page of there) {
    const line = text.split("\n").find((one) => one.includes(`](${page}.html)`));
    assert.match(line ?? "", /^- \[.+\]\(.+\.html\)/, page);
  }
  assert.equal(
    firstSentence(
      "# T\n\n```ts\nx\n```\n\nSet `actor_rollout_ref` in [the _file_](a.md). Then go.\n",
    ),
    "Set actor_rollout_ref in the file",
  );
});
