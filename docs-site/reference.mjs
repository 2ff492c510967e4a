// The reference of the stable entry points, from their types and doc comments, by TypeDoc: a page for each.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

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
  for (const path of readdirSync(made, { recursive: true, encoding: "utf8" })) {
    const { name, about } = entries.find(({ page }) => page === pageOf(path)) ?? {};
    if (!path.endsWith(".md") || name === undefined) continue;
    const text = readFileSync(join(made, path), "utf8")
      .replace(/^# .*$/m, `# ${name}\n\n${about}`)
      .replace(
        /\]\(([\w./-]+)\.md(#[^)]*)?\)/g,
        (_, to, anchor = "") => `](./${pageOf(to)}.md${anchor})`,
      )
      .replace(/\]\((\/source\/[^)]+)\)/g, '](..$1){target="_self"}');
    writeFileSync(join(into, `${pageOf(path)}.md`), text);
  }
  rmSync(made, { recursive: true });
  const rows = entries.map(({ name, page, about }) => `| [${name}](./${page}.md) | ${about} |`);
  writeFileSync(
    join(into, "index.md"),
    `# API reference\n\nWhat each stable entry point exports: signatures, options as tables, examples that run as tests.\n\n| entry point | what is in it |\n| --- | --- |\n${rows.join("\n")}\n\nEntry points below \`arpo-lab/experimental/\` may change in any release. Their types and doc comments are the reference: your editor shows them.\n`,
  );
}
