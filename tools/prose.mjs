// Part of `npm run lint`: how we write (CONTRIBUTING.md). Refuses home-made words for what the field has words
// for, and sentences of more than 35 words, in README and docs, the lessons' text, the commands' help and the
// doc comments of stable names. `node tools/prose.mjs FILE…` looks at some documents, exempt or not.
import { readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { exportedValues } from "./architecture/examples.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const longest = 35;

/** Documents that still wait for their language pass. Shorten this list; never add to it. */
export const exempt = [];

/** What is refused, and what to write. */
const glossary = [
  [/\b(?:fresh|new) rows?\b(?= (?:start|is|are|of a tree))/, "new root trajectory"],
  [/\brows? (?:that|which) go(?:es)? on\b/, "active sequence"],
  [
    /\brows? (?:may |can |cannot )?branch(?:es)?\b|\brows of (?:a|the|one) (?:tree|prompt|group)\b/,
    "trajectory",
  ],
  [/\b(?:longest|open|session) rows?\b|\brows? at (?:the same time|once)\b/, "sequence"],
  [/\bbehind (?:a|the|each|every) row\b/, "at the end of each trajectory"],
  [/\bstretch(?:es)? of (?:a|the) (?:tree|row|trajectory)\b/, "segment"],
  [/\bby lot\b/, "stochastic rounding, at random"],
  [/\bcaches? of prefixes\b/, "shared-prefix KV cache"],
  [/\bmade of software\b/, "software GPU adapter"],
  [/\blikeliest\b/, "most likely; top-1 agreement"],
  [/\breckon(?:s|ed|ing)?\b/, "compute"],
  [/\bhangs? on\b/, "depends on"],
  [/\bmend(?:s|ed|ing)?\b/, "fix"],
  [/\bit says once\b|\bsaid once\b/, "prints once"],
  [/\bsaid with each\b/, "given with each"],
  [/\b(?:asked for|taken) by name\b/, "opt-in; selected by name"],
  [
    /\b(?:the house|rooms? and floors?|this room|what a room)\b/,
    "codebase, module, layer, boundary",
  ],
  [/\barrows? (?:point )?one way\b/, "dependencies point one way"],
  [/\bgolden vectors?\b/, "golden test cases"],
  [/\bthe gate\b/, "CI"],
  [/(?<!-)\bpeers?\b(?! dependenc)/, "baseline, other framework"],
  [/\bquiet machine\b|\bload of others\b/, "idle machine, concurrent load"],
  [/\bprocessor time\b/, "CPU time"],
  [/\bis before us\b|\bin the lead\b/, "is faster than"],
  [/\bof two minds\b/, "with mixed outcomes"],
  [/\bwell-formed\b/, "valid (format)"],
  [/\blook-?alikes?\b/, "synthetic stand-in"],
  [/\bthe way back\b/, "backward pass"],
  [/\blets? go of\b|\bletting go of\b/, "frees"],
  [/\b(?:widened|narrowed) weights?\b/, "dequantized or quantized weights"],
  [/\b(?:pieces|parts) of (?:a|the) GGUF\b/, "shards"],
  [/\ban own\b/, "a separate"],
  [/\b(?:told|tell|tells) (?:\w+ )?apart\b/, "distinguish, resolve"],
  [/\bshel(?:f|ves)\b/, "section"],
  [/\bin so many words\b/, "explicitly"],
  [/\bbits of the last place\b/, "last-bit differences"],
  [/\b(?:tree|group|run)s? at home\b|\bhome of (?:a|the) (?:tree|group)\b/, "preferred endpoint"],
  [/\bnobody waits\b/, "sequences do not wait for each other"],
  [/\bbabbl(?:er|ers|es)\b/, "random policy"],
];

/** Faults of prose whose n-th line is line n of a file: where, which word, and what to write. */
export function faultsOfProse(file, text) {
  const faults = [];
  const lineOf = (at) => text.slice(0, at).split("\n").length;
  for (const [pattern, write] of glossary) {
    for (const { 0: found, index } of text.matchAll(new RegExp(pattern, "gi"))) {
      faults.push([lineOf(index), `"${found}": write ${write}`]);
    }
  }
  for (const { 0: block, index } of text.matchAll(
    /(?:(?!\n[ \t]*\n|\n[ \t]*(?:[-*>#|]|\d+\.) )[^])+/g,
  )) {
    if (/^\s*[|#<]/.test(block)) continue;
    let at = index;
    for (const sentence of block.split(/(?<=[.!?]["')*]?)(?=\s)/)) {
      const words = sentence
        .split(/\s+/)
        .filter((word) => /[\p{L}\p{N}]/u.test(word) && !/^\W*x\W*$/.test(word));
      const start = at + sentence.search(/\S|$/);
      at += sentence.length;
      if (words.length <= longest) continue;
      const begin = words.slice(0, 5).join(" ");
      faults.push([
        lineOf(start),
        `"${begin} …": ${words.length} words; write sentences of at most ${longest}`,
      ]);
    }
  }
  return faults.sort(([a], [b]) => a - b).map(([line, what]) => `${file}:${line}: ${what}`);
}

const blank = (text) => text.replace(/[^\n]/g, " ");

/** Markdown with code, links' targets and comments blanked, line by line as it was. */
export const proseOf = (markdown) =>
  markdown
    .replace(/^(?: {0,3})(```|~~~)[^]*?^(?: {0,3})\1/gm, blank)
    .replace(/<!--[^]*?-->/g, blank)
    .replace(/\$\$[^]*?\$\$|\$[^$\n]+\$/g, (math) => `x${blank(math.slice(1))}`)
    .replace(/`[^`]*`/g, (code) => `x${blank(code.slice(1))}`)
    .replace(/(?<=\])\([^)\n]*\)/g, blank);

const read = (path) => readFileSync(join(root, path), "utf8");

/** A notebook's text, each cell's first line at the line it has in the file. */
function lessonText(path) {
  const lines = read(path).split("\n");
  const isMarkdown = (at) =>
    lines
      .slice(0, at)
      .findLast((l) => /^ {3}"cell_type"/.test(l))
      ?.includes("markdown");
  return lines
    .map((line, i) =>
      /^ {4}"/.test(line) && isMarkdown(i)
        ? String(JSON.parse(line.trim().replace(/,$/, ""))).trimEnd()
        : "",
    )
    .join("\n");
}

/** The strings of a command's source, each at its line. */
function helpText(path) {
  const source = ts.createSourceFile(path, read(path), ts.ScriptTarget.Latest, true);
  const lines = source.text.split("\n").map(() => "");
  const visit = (node) => {
    if (ts.isStringLiteralLike(node) && / /.test(node.text)) {
      lines[source.getLineAndCharacterOfPosition(node.getStart()).line] +=
        `${node.text.replace(/\s+/g, " ")}. `;
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return lines.join("\n\n");
}

const files = (folder, end) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile() && one.name.endsWith(end))
    .map((one) => relative(root, join(one.parentPath, one.name)).replaceAll("\\", "/"))
    .filter(
      (path) => !/^docs\/(internal|site)\/|api-report|CHANGELOG|checkpoints\/|\/\./.test(path),
    )
    .sort();

/** Every document with its faults. */
export function documents() {
  const pages = ["README.md", ...files("docs", ".md"), ...files("notebooks", ".md")];
  const comments = new Map();
  for (const { path, text, line } of exportedValues()) {
    const prose = text.replace(/@example[^]*/, "").replace(/^[ \t]*\/?\*+\/?/gm, "");
    comments.set(path, [
      ...(comments.get(path) ?? []),
      ...faultsOfProse(path, "\n".repeat(line - 1) + proseOf(prose)),
    ]);
  }
  return new Map([
    ...pages.map((path) => [path, faultsOfProse(path, proseOf(read(path)))]),
    ...files("notebooks", ".ipynb").map((path) => [
      path,
      faultsOfProse(path, proseOf(lessonText(path))),
    ]),
    ...["apps/cli/program.ts", ...files("apps/cli/commands", ".ts")].map((path) => [
      path,
      faultsOfProse(path, helpText(path).replaceAll("\n\n", "\n")),
    ]),
    ...comments,
  ]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const chosen = process.argv.slice(2);
  const all = documents();
  const looked = [...all].filter(([path]) =>
    chosen.length > 0 ? chosen.some((word) => path.includes(word)) : !exempt.includes(path),
  );
  const faults = looked.flatMap(([, own]) => own);
  for (const fault of faults) console.error(fault);
  for (const path of exempt.filter((one) => !all.get(one)?.length)) {
    console.log(`${path} is clean: take it off the list in tools/prose.mjs`);
  }
  console.log(`${looked.length} documents read, ${faults.length} faults, ${exempt.length} exempt`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
