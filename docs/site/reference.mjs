// The reference of the stable entry points, from their types and doc comments, by TypeDoc: a page for each.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { optionsIn, stablePaths } from "../../tools/architecture/documented.mjs";
import { rangesOf } from "./ranges.mjs";

const { entryPoints } = JSON.parse(readFileSync(new URL("typedoc.json", import.meta.url), "utf8"));
const nameOf = (path) =>
  basename(path, ".ts").replace(/^index$/, path.includes("kernel") ? "kernel" : "");

/** The entry points as their importers name them, each with its page and what its first comment says. */
const entries = entryPoints.map((path) => {
  const comment = /^\/\*\* ([^]*?)\s*\*\//.exec(
    readFileSync(new URL(path, import.meta.url), "utf8"),
  );
  return {
    name: ["arpo-lab", nameOf(path)].filter(Boolean).join("/"),
    page: nameOf(path) || "arpo-lab",
    about: (comment?.[1] ?? "").replace(/\n \* ?/g, " "),
  };
});

const root = fileURLToPath(new URL("../..", import.meta.url));
const sentence = (words) => (words ? ` ${words[0].toUpperCase()}${words.slice(1)}.` : "");

/** The tables of options with the ranges of numbers. */
function withRanges(text, rangeOf) {
  let type = "";
  return text
    .split("\n")
    .map((line) => {
      type = /^### (\w+)/.exec(line)?.[1] ?? type;
      const option = /^\|.*?`(\w+)\??` \|/.exec(line)?.[1];
      return option ? line.replace(/ \|$/, `${sentence(rangeOf(type, option))} |`) : line;
    })
    .join("\n");
}

const cell = (text) => text.replaceAll("|", "\\|").replaceAll("<", "&lt;");

/** Options whose type is not exported, by the page of the function that takes them. */
function unnamedOptions(page, known, rangeOf) {
  const tables = new Map();
  for (const option of optionsIn(stablePaths())) {
    if (pageOfEntry(option.path) !== page || known.has(option.of)) continue;
    if (option.of === "" && known.has(option.owner)) continue;
    const title = option.of || `Options of ${option.takenBy}`;
    if (!tables.has(title)) tables.set(title, { takenBy: new Set(), rows: new Map() });
    const table = tables.get(title);
    table.takenBy.add(option.takenBy);
    table.rows.set(option.name, option);
  }
  const sections = [...tables].map(([title, { takenBy, rows }]) => {
    const lines = [...rows.values()].map(
      ({ owner, name, optional, type, comment }) =>
        `| \`${name}${optional ? "?" : ""}\` | \`${type.replaceAll("|", "\\|")}\` | ${cell(comment)}${sentence(rangeOf(owner, name))} |`,
    );
    const taken = [...takenBy].map((one) => `\`${one}\``).join(", ");
    return `### ${title}\n\nTaken by ${taken}.\n\n| Option | Type | Description |\n| --- | --- | --- |\n${lines.join("\n")}\n`;
  });
  return sections.length === 0 ? "" : `\n## More options\n\n${sections.join("\n")}`;
}

const pageOfEntry = (path) =>
  basename(path, ".d.ts").replace(/^index$/, path.includes("kernel/index") ? "kernel" : "arpo-lab");

/** Writes the pages into a folder. */
export function writeReference({ into, run }) {
  rmSync(into, { recursive: true, force: true });
  const made = `${into}-made`;
  run("npx", ["typedoc", "--out", made]);
  // TypeDoc names pages by folders of the repository, with a number where a type has the same name.
  const pageOf = (path) => {
    const page = basename(path, ".md").replace(/-\d$/, "");
    return page === "api" ? "arpo-lab" : page;
  };
  mkdirSync(into);
  const rangeOf = rangesOf(root);
  const pages = readdirSync(made, { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith(".md"),
  );
  const known = new Set(
    pages.flatMap((path) =>
      [...readFileSync(join(made, path), "utf8").matchAll(/^### (\w+)/gm)].map(([, name]) => name),
    ),
  );
  for (const path of pages) {
    const { name, about } = entries.find(({ page }) => page === pageOf(path)) ?? {};
    if (name === undefined) continue;
    const text = readFileSync(join(made, path), "utf8")
      .replace(/^# .*$/m, `# ${name}\n\n${about}`)
      .replace(
        /\]\(([\w./-]+)\.md(#[^)]*)?\)/g,
        (_, to, anchor = "") => `](./${pageOf(to)}.md${anchor})`,
      )
      .replace(/\]\((\/source\/[^)]+)\)/g, '](..$1){target="_self"}');
    const more = unnamedOptions(pageOf(path), known, rangeOf);
    writeFileSync(join(into, `${pageOf(path)}.md`), withRanges(text, rangeOf) + more);
  }
  rmSync(made, { recursive: true });
  const rows = entries.map(({ name, page, about }) => `| [${name}](./${page}.md) | ${about} |`);
  writeFileSync(
    join(into, "index.md"),
    `# API reference\n\nWhat each stable entry point exports: signatures, options as tables, examples that run as tests.\n\n| entry point | what is in it |\n| --- | --- |\n${rows.join("\n")}\n\nEntry points below \`arpo-lab/experimental/\` may change in any release. Their types and doc comments are the reference: your editor shows them.\n`,
  );
}
