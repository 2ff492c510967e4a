// What people write who come from IPython, and what to write here.
import type { CellDiagnostic } from "../../contract/compiler.js";
import { problem } from "./head.js";

const install = "run `npm install NAME` in a terminal, in the notebook's folder, and import it";
const timing = "write %%time on the first line of a cell, and the code below";

/** Magics of IPython by name, and what does the same here. */
const magics: Readonly<Record<string, string>> = {
  autoreload: "nothing is needed: local files are read again when they have changed",
  bash: "write %%bash on the first line of a cell, and the commands below",
  capture: "give the value a name instead of showing it: const result = …",
  cd: 'write process.chdir("FOLDER")',
  conda: install,
  env: "write process.env.NAME",
  javascript:
    "%%js runs the body as plain JavaScript in the kernel; in the page it runs as the value of " +
    'javascript(`…`), with import { javascript } from "arpo-lab/kernel"',
  load_ext: 'there are no extensions here: import a package instead, import { … } from "NAME"',
  lsmagic: "type %% at the start of a cell and press Tab: the list opens",
  matplotlib: "nothing is needed: a figure as a cell's last value is drawn",
  npm: install,
  pip: install,
  pwd: "write process.cwd()",
  python: "cells are TypeScript; Python runs in a notebook of a Python kernel",
  python3: "cells are TypeScript; Python runs in a notebook of a Python kernel",
  reload_ext: "nothing is needed: local files are read again when they have changed",
  reset: "restart the kernel: it forgets all values",
  run: 'write import "./FILE.ts"',
  sh: "write %%bash",
  time: timing,
  timeit: timing,
  ts: "cells are TypeScript already: leave this line out",
  typescript: "cells are TypeScript already: leave this line out",
  who: "the list of values is in the lab's panel at the right",
  whos: "the list of values is in the lab's panel at the right",
  writefile: 'write import { writeFileSync } from "node:fs" and writeFileSync("FILE", `…`)',
};

const commands = new Set(
  (
    "apt apt-get awk bash cat cd chmod conda cp curl date df du echo env find git grep head kill ls " +
    "make mkdir mv nvidia-smi npm npx node pip pip3 ps pwd python python3 rm sed sh sort tail tar " +
    "touch uname unzip wc wget which zip"
  ).split(" "),
);

/** What to write instead of a magic of IPython; undefined for a name it has not either. */
export function insteadOf(magic: string): string | undefined {
  return Object.hasOwn(magics, magic) ? magics[magic] : undefined;
}

/**
 * The errors of a cell; where one is on a line that IPython would have read, `%name …` or `!command …`,
 * what to write instead of it comes in their place.
 */
export function withInstead(source: string, errors: CellDiagnostic[]): CellDiagnostic[] {
  const foreign: CellDiagnostic[] = [];
  for (const line of source.matchAll(/^([%!])[ \t]*([a-z][\w-]*)([^\r\n]*)/gm)) {
    const [all, sign = "", name = "", rest = ""] = line;
    const instead = sign === "%" ? insteadOf(name) : command(name, rest.trim());
    if (instead === undefined) continue;
    const message = `Cannot run ${all.trimEnd()}: ${instead}`;
    const found = problem(source, line.index, all.length, message);
    if (errors.some((error) => error.line === found.line)) foreign.push(found);
  }
  return foreign.length > 0 ? foreign : errors;
}

function command(name: string, rest: string): string | undefined {
  // `!list.includes(x)` is TypeScript.
  if (!commands.has(name) || /^[.(=?|&,;]/.test(rest)) return undefined;
  if (/^(pip3?|npm|conda)$/.test(name) && rest.includes("install")) return install;
  if (name === "cd") return 'write process.chdir("FOLDER")';
  const line = JSON.stringify(`${name} ${rest}`.trim());
  return (
    'cells are TypeScript; write import { execSync } from "node:child_process" and ' +
    `execSync(${line}, { encoding: "utf8" }), or a cell that begins with %%bash`
  );
}
