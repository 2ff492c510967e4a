// Source files as pages with a number at each line: what the reference's links lead to.
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

const escape = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
const style = `:root{color-scheme:light dark}body{font:14px/1.5 ui-monospace,monospace;margin:16px}
pre{margin:0}a{color:GrayText;text-decoration:none;display:inline-block;width:4em;user-select:none}
span:target{background:Mark;color:MarkText}`;

/** The files that pages of a folder link to as sources. */
export function sourcesNamed(folder) {
  const found = new Set();
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".md")) continue;
    const text = readFileSync(join(folder, name), "utf8");
    for (const [, path] of text.matchAll(/\/source\/([^)\s#]+)\.html#L\d+/g)) found.add(path);
  }
  return found;
}

export function sourcePage(root, path) {
  const lines = readFileSync(join(root, path), "utf8").trimEnd().split("\n");
  const rows = lines.map(
    (line, i) => `<span id="L${i + 1}"><a href="#L${i + 1}">${i + 1}</a>${escape(line)}</span>`,
  );
  const title = escape(posix.basename(path));
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"><meta name="viewport" content="width=device-width"><title>${title} - arpo-lab</title><style>${style}</style></head><body><h1 style="font-size:16px">${escape(path)}</h1><pre>${rows.join("\n")}</pre></body></html>\n`;
}
