// The public surface as text: every entry point with the names and signatures of its declarations in
// dist. docs/api-report.md is compared with it, so the surface changes only on purpose.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { declarationsBehind, entryPoints, exportsOf } from "./declarations.mjs";
import { root } from "./imports.mjs";

const file = "docs/api-report.md";
const limits = { names: 350, values: 250 };
const atRunTime = (list) => list.filter((one) => one.runTime).length;
const stable = ({ name }) => !/^arpo-lab\/(experimental|internal)\//.test(name);

/** A declaration without its comments, members in the order they are written. */
const signature = (code) =>
  code
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "")
    .join("\n");

function section({ name, exports }) {
  const code = exports.map((one) => signature(one.code)).join("\n");
  return `## ${name}\n\n${exports.length} names, ${atRunTime(exports)} at run time.\n\n\`\`\`ts\n${code}\n\`\`\`\n`;
}

/** What stable declarations are made of and do not export; the configuration's schema is docs/config.md. */
const behind = (entries) =>
  declarationsBehind(entries.flatMap(({ exports }) => exports))
    .map(({ code }) => signature(code))
    .filter((code) => code.split("\n").length < 100)
    .join("\n");

/** Experimental names may change at any time: only what they are called is written down. */
function outline({ name, exports }) {
  return `- \`${name}\`: ${exports.map((one) => one.name).join(", ")}`;
}

/** The report, and what breaks its limits. */
function report() {
  const entries = entryPoints().map(({ name, path }) => ({ name, exports: exportsOf(path) }));
  const main = entries.filter(stable);
  const names = new Map(
    main.slice(1).flatMap(({ exports }) => exports.map((one) => [one.name, one])),
  );
  const values = atRunTime([...names.values()]);
  const homes = new Map();
  const faults = [];
  for (const { name, exports } of entries.filter(({ name }) => name !== "arpo-lab")) {
    for (const one of exports) {
      if (homes.has(one.name)) faults.push(`${one.name}: in ${homes.get(one.name)} and in ${name}`);
      homes.set(one.name, name);
    }
  }
  for (const { name } of main[0].exports)
    if (!homes.has(name))
      faults.push(`${name}: in arpo-lab alone, without an entry point of its own`);
  if (names.size > limits.names) faults.push(`${names.size} stable names: at most ${limits.names}`);
  if (values > limits.values)
    faults.push(`${values} of them at run time: at most ${limits.values}`);
  const text = `# API report

The public surface, written by \`npm run check -- --write\` from the declarations in \`dist\`; CI refuses a
surface that differs. ${main.length} stable entry points with ${names.size} names, ${values} of them at run time.
How names get there: [architecture](architecture.md#the-public-api).

| entry point | names | at run time |
| --- | ---: | ---: |
${entries.map(({ name, exports }) => `| \`${name}\` | ${exports.length} | ${atRunTime(exports)} |`).join("\n")}

${main.map(section).join("\n")}
## What these are made of

Interfaces that exported ones extend, and functions that are members of exported objects.

\`\`\`ts
${behind(main)}
\`\`\`

## Experimental and internal

${entries
  .filter((one) => !stable(one))
  .map(outline)
  .join("\n")}
`;
  return { text, faults };
}

/** What differs between the surface and docs/api-report.md, as sentences. */
export function checkApi(write) {
  const { text, faults } = report();
  const path = join(root, file);
  if (write) writeFileSync(path, text);
  const kept = existsSync(path) ? readFileSync(path, "utf8") : "";
  if (kept === text) return faults;
  const [now, then] = [text, kept].map((all) => new Set(all.split("\n")));
  const lines = [
    ...[...then].filter((line) => !now.has(line)).map((line) => `- ${line}`),
    ...[...now].filter((line) => !then.has(line)).map((line) => `+ ${line}`),
  ];
  return [...faults, `${file}: \`npm run check -- --write\` writes it anew`, ...lines.slice(0, 30)];
}

/** Imports in the documentation and the lessons of names that the entry points do not export, as sentences. */
export function brokenImports() {
  const known = new Map(
    entryPoints().map(({ name, path }) => [name, new Set(exportsOf(path).map((one) => one.name))]),
  );
  const files = ["README.md", ...listed("docs", ".md"), ...listed("notebooks", ".ipynb")];
  return files.flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8").replaceAll('\\"', '"');
    return [...text.matchAll(/import (?:type )?\{([^}]*)\} from "(arpo-lab[\w/-]*)"/g)].flatMap(
      ([, names, entry]) =>
        names
          .replace(/\\n|["*]/g, " ")
          .split(",")
          .map((name) => name.trim().replace(/^type |\s+as .*$/g, ""))
          .filter((name) => name !== "" && !known.get(entry)?.has(name))
          .map((name) => `${file}: ${name} of ${entry}`),
    );
  });
}

const listed = (folder, ending) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith(ending) && !name.startsWith("internal"))
    .map((name) => `${folder}/${name}`);
