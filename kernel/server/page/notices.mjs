// Whose code a bundle holds, and under which licence: what a person who passes it on must know.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";

/**
 * Licences under which code may be passed on inside a package, as SPDX spells them. Those of Mozilla and
 * Eclipse want the reader told where the source is.
 */
const allowed =
  /^\(?(MIT|ISC|BSD-2-Clause|BSD-3-Clause|Apache-2\.0|0BSD|Unlicense|CC0-1\.0|BlueOak-1\.0\.0|Python-2\.0|Zlib|MPL-2\.0|EPL-2\.0|OFL-1\.1|CC-BY-4\.0|WTFPL|MIT-0)\b/;

/** What is meant where a package names its licence and leaves the text out, as JupyterLab's do. */
const texts = {
  MIT: `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`,
  "BSD-3-Clause": `Redistribution and use in source and binary forms, with or without modification, are permitted provided that the
following conditions are met:

1. Redistributions of source code must retain the above copyright notice, this list of conditions and the following
   disclaimer.
2. Redistributions in binary form must reproduce the above copyright notice, this list of conditions and the following
   disclaimer in the documentation and/or other materials provided with the distribution.
3. Neither the name of the copyright holder nor the names of its contributors may be used to endorse or promote
   products derived from this software without specific prior written permission.

THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS "AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES,
INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE
DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT HOLDER OR CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL,
SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR
SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY,
WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF
THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.`,
};

/** The folder of the package that a file belongs to: the innermost with a name. */
function packageOf(file) {
  for (
    let folder = dirname(file);
    folder.includes(`${sep}node_modules${sep}`);
    folder = dirname(folder)
  ) {
    const manifest = join(folder, "package.json");
    if (!existsSync(manifest)) continue;
    const json = JSON.parse(readFileSync(manifest, "utf8"));
    if (json.name && json.version) return { folder, json };
  }
  return undefined;
}

/** What a package says of its licence: the text of its file, or nothing. */
function textOf(folder) {
  const names = readdirSync(folder).filter((f) =>
    /^(licen[cs]e|copying|notice)([.-].*)?$/i.test(f),
  );
  return names
    .sort()
    .map((f) => readFileSync(join(folder, f), "utf8").replaceAll("\r\n", "\n").trim())
    .join("\n\n");
}

const holderOf = ({ author, contributors }) =>
  [author, ...(contributors ?? [])]
    .map((who) => (typeof who === "string" ? who : who?.name))
    .find((who) => who)
    ?.replace(/\s*[<(].*$/, "");

/**
 * The packages that `files` come from, one entry each, sorted by name: name, version, licence and its text.
 * Throws where one's licence does not allow passing it on, or is not known.
 */
export function notices(files) {
  const found = new Map();
  const refused = [];
  for (const file of files) {
    const { folder, json } = packageOf(file) ?? {};
    if (json === undefined || found.has(`${json.name}@${json.version}`)) continue;
    const { name, version } = json;
    const own = textOf(folder);
    const licence =
      (typeof json.license === "string" ? json.license : json.license?.type) ??
      json.licenses?.map(({ type }) => type).join(" OR ") ??
      (/^[^\n]*\bMIT License\b|^Permission is hereby granted, free of charge/m.test(own)
        ? "MIT"
        : undefined);
    if (!allowed.test(licence ?? "")) refused.push(`${name} (${licence ?? "none"})`);
    const holder = holderOf(json) ?? `the authors of ${name}`;
    const text = own || `Copyright (c) ${holder}\n\n${texts[licence] ?? ""}`.trim();
    found.set(`${name}@${version}`, {
      name,
      version,
      licence,
      text,
    });
  }
  if (refused.length > 0) {
    throw new Error(
      `Cannot bundle: a licence must be one that allows it, got ${refused.join(", ")}`,
    );
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}
