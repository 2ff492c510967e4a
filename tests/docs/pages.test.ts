// The documentation's sources: every link and picture leads to a file, every anchor to a heading.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const pages = [
  ...["README.md", "notebooks/README.md"],
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .map((name) => `docs/${name.replaceAll("\\", "/")}`)
    // A pre-registration is never edited again, so its links are not held to what is there.
    .filter((name) => name.endsWith(".md") && !/\/preregistration\.md$|^docs\/site\//.test(name)),
];

const withoutCode = (text: string): string => text.replace(/^ *```[^]*?^ *```$/gm, "");

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(path: string): Set<string> {
  const headings = withoutCode(readFileSync(path, "utf8")).matchAll(/^#{1,6} (.+)$/gm);
  return new Set(
    [...headings].map(([, heading]) =>
      heading!
        .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, "")
        .trim()
        .replace(/\s/g, "-"),
    ),
  );
}

test("every link and picture of the documentation leads somewhere", () => {
  let count = 0;
  const faults: string[] = [];
  for (const page of pages) {
    const text = withoutCode(readFileSync(join(root, page), "utf8")).replace(/`[^`\n]*`/g, "");
    for (const [, path = "", anchor] of text.matchAll(/\]\(([^)\s#]*)(?:#([^)\s]*))?\)/g)) {
      if (/^[a-z]+:/.test(path)) continue;
      count++;
      const target = path === "" ? join(root, page) : join(root, dirname(page), path);
      if (!existsSync(target)) faults.push(`${page} leads to ${path}`);
      else if (anchor !== undefined && target.endsWith(".md") && !anchorsOf(target).has(anchor))
        faults.push(`${page} leads to ${path}#${anchor}, which has no such heading`);
    }
  }
  assert.deepEqual(faults, []);
  assert.ok(count > 150, `${count} links`);
});

/** Made from the code, or a record: long pages are right there. */
const long =
  /^(docs\/(CHANGELOG|SECURITY|api-report|cli|config|metrics|algorithms|options)|docs\/(internal|evidence)\/.*)/;

test("every page of the documentation that is not generated has at most 150 lines", () => {
  const counted = pages.filter((page) => !long.test(page));
  assert.ok(counted.length > 40, `${counted.length} pages`);
  const faults = counted
    .map(
      (page) =>
        [page, readFileSync(join(root, page), "utf8").trimEnd().split("\n").length] as const,
    )
    .filter(([, lines]) => lines > 150);
  assert.deepEqual(faults, []);
});
