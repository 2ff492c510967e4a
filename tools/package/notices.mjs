// Writes THIRD_PARTY_NOTICES.md: whose code the package carries inside its own files, and under which
// licence. What npm installs beside it brings its own.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { notices } from "../../kernel/server/page/notices.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** What the bundles in dist/vendor are made of. */
function bundled() {
  const vendor = join(root, "dist/vendor");
  return readdirSync(vendor, { recursive: true })
    .filter((name) => name.endsWith(".inputs.json"))
    .flatMap((name) => JSON.parse(readFileSync(join(vendor, name), "utf8")))
    .map((input) => resolve(root, input));
}

/** What the addons are linked with: parts of zig's run-time library and, for Windows, of mingw-w64. */
function linked(zig) {
  const folder = dirname(zig);
  const read = (file) => readFileSync(join(folder, file), "utf8").trim();
  return [
    { name: "zig (compiler_rt)", licence: "MIT", text: read("LICENSE") },
    {
      name: "mingw-w64 and winpthreads",
      licence: "ZPL-2.1 and MIT",
      text: read("lib/libc/mingw/COPYING"),
    },
  ];
}

/** Where the source of weak copyleft is, which must be said. */
const source = (users) =>
  users.some(({ licence }) => /^\(?[ME]PL/.test(licence))
    ? "\n\nThe source is the package of this name and version in the npm registry."
    : "";

/** One part of the file: a table of packages, then the texts, each once. */
function section(title, entries) {
  const texts = new Map();
  for (const entry of entries) {
    texts.set(entry.text, [...(texts.get(entry.text) ?? []), entry]);
  }
  const named = ({ name, version }) => (version ? `${name} ${version}` : name);
  const body = [...texts].map(
    ([text, users]) =>
      `### ${users.map(named).join(", ")}\n\n${users[0].licence}${source(users)}\n\n\`\`\`\`text\n${text}\n\`\`\`\`\n`,
  );
  return `## ${title}\n\n${body.join("\n")}`;
}

/** Writes the file; `page` is the built page's folder. Throws where a licence does not allow this. */
export function writeNotices({ page, zig, out = join(root, "THIRD_PARTY_NOTICES.md") }) {
  const inPage = JSON.parse(readFileSync(join(page, "notices.json"), "utf8"));
  const parts = [
    "# Third-party notices\n\narpo-lab's own code is under the MIT licence (LICENSE). Inside its files it carries the work of others;\nthis file is generated from what the bundler and the linker put in.\n",
    section("dist/vendor: tensors, schemas, the compiler of cells, frames", notices(bundled())),
    section("dist/lab-page: the lab, which is JupyterLab's application", inPage),
    ...(zig && existsSync(join(dirname(zig), "LICENSE"))
      ? [section("native/prebuilt: the addons", linked(zig))]
      : []),
    "## data/python/packages.zip\n\nSymPy and mpmath, each with its licence (BSD-3-Clause) inside the archive.\n",
  ];
  writeFileSync(out, parts.join("\n"));
  return { packages: notices(bundled()).length + inPage.length };
}
