// VitePress builds for one absolute path. This makes its output work below any path, and under a policy that
// lets no page reach another host: addresses become relative, and inline scripts files.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const base = "/__docs_base__/";
const policy =
  "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'";

/** Runs before the page's scripts: where the site is, and the addresses of links as absolute paths. */
const begin = `const place = new URL("..", document.currentScript.src).pathname;
globalThis.__docsBase = place;
`;
const links = `for (const link of document.querySelectorAll("a[href]")) {
  const address = link.getAttribute("href");
  if (!/^([a-z]+:|#)/.test(address)) link.setAttribute("href", link.pathname + link.search + link.hash);
}
`;

export function relocate(out) {
  const names = readdirSync(out, { recursive: true, encoding: "utf8" })
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => statSync(join(out, name)).isFile());
  const scripts = new Map();
  const fileOf = (text) => {
    const name = `assets/${createHash("sha256").update(text).digest("hex").slice(0, 12)}.js`;
    scripts.set(name, text);
    return name;
  };
  const own = (name) => !/^(lessons|source)\//.test(name);
  for (const name of names.filter((name) => own(name) && /\.(html|js|css)$/.test(name))) {
    const path = join(out, name);
    let text = readFileSync(path, "utf8");
    if (name.endsWith(".html")) {
      const up = "../".repeat(name.split("/").length - 1) || "./";
      text = text.replace(
        /<script(?![^>]*\bsrc=)([^>]*)>([^]*?)<\/script>/g,
        (_, attributes, code) => {
          const settings = code.includes("__VP_SITE_DATA__");
          const whole = settings
            ? `${code}\nwindow.__VP_SITE_DATA__.base = globalThis.__docsBase;\n`
            : code;
          const module = /type="module"/.test(attributes);
          return `<script${attributes} src="${base}${fileOf(module ? whole : `{${whole}}`)}"></script>`;
        },
      );
      text = text
        .replace(
          "<head>",
          `<head><meta http-equiv="Content-Security-Policy" content="${policy}"><script src="${base}${fileOf(begin)}"></script>`,
        )
        .replace("</body>", `<script src="${base}${fileOf(links)}"></script></body>`)
        .replaceAll(base, up);
    } else if (name.endsWith(".css")) {
      text = text.replaceAll(`${base}assets/`, "./");
    } else if (name.includes("@localSearchIndex")) {
      // A string of JSON with addresses in it.
      const asked = '.replaceAll("/__docs_" + "base__/", globalThis.__docsBase)';
      text = text.replace(
        /export\s*\{\s*(\w+) as default\s*\}/,
        `const found = $1${asked};export{found as default}`,
      );
      if (!text.includes(asked))
        throw new Error(
          "Cannot relocate the documentation: the search index has no default export",
        );
    } else {
      text = text.replace(/(["'`])\/__docs_base__\/([^"'`\\]*)\1/g, '(globalThis.__docsBase+"$2")');
    }
    if (text.includes(base) && !name.includes("@localSearchIndex"))
      throw new Error(`Cannot relocate the documentation: ${name} has the address in another form`);
    writeFileSync(path, text);
  }
  for (const [name, text] of scripts) writeFileSync(join(out, name), text);
  const all = [...names, ...scripts.keys()];
  return {
    files: all.length,
    bytes: all.reduce((sum, name) => sum + statSync(join(out, name)).size, 0),
  };
}
