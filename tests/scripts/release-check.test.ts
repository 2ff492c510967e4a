// tools/package/release-check.mjs: what each item of `npm run release:check` finds, in a small repository.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../temporary.js";

const script = new URL("../../../tools/package/release-check.mjs", import.meta.url);
const { gateFaults, notesFaults, packageFaults, provenanceFaults, releaseItems, treeFaults } =
  (await import(script.href)) as {
    treeFaults(root: string): string[];
    gateFaults(root: string): string[];
    packageFaults(root: string, described: { name: string; version: string }): string[];
    provenanceFaults(described: { repository?: unknown }, workflow: string): string[];
    notesFaults(text: string, version: string): string[];
    releaseItems(root: string): readonly (readonly [what: string, faults: string[]])[];
  };

function repository() {
  const root = temporaryFolder("arpo-release");
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], {
      ...{ cwd: root, encoding: "utf8" },
    }).trim();
  const put = (path: string, text: string) => {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  git("init", "-q");
  put("a", "1");
  git("add", ".");
  git("commit", "-qm", "one");
  return { root, git, put };
}

test("a tree with a file that is not committed is named; one without git, too", () => {
  const { root, put } = repository();
  assert.deepEqual(treeFaults(root), []);
  put("b", "2");
  assert.deepEqual(treeFaults(root), ["not committed: b"]);
  assert.deepEqual(treeFaults(temporaryFolder("arpo-release")), ["git does not answer here"]);
});

test("the gate counts for the commit that it marked, and for one that adds its table alone", () => {
  const { root, git, put } = repository();
  assert.equal(gateFaults(root).length, 2);
  for (const which of ["run", "full"]) git("update-ref", `refs/ci/${which}`, "HEAD");
  const commit = (path: string) => {
    put(path, path);
    git("add", ".");
    git("commit", "-qm", path);
  };
  commit("docs/ci.md");
  assert.deepEqual(gateFaults(root), []);
  commit("src/new.ts");
  assert.match(gateFaults(root)[0]!, /^\.ci\/run was green for [0-9a-f]{12}; .*src\/new\.ts/);
});

test("addons that are missing are named, and a packed file of another commit is told", () => {
  const { root, put, git } = repository();
  const described = { name: "arpo-lab", version: "1.0.0" };
  const without = packageFaults(root, described);
  assert.equal(without.filter((fault) => /no addon for/.test(fault)).length, 7);
  assert.match(without.at(-1)!, /arpo-lab-1\.0\.0\.tgz is missing: npm run release:pack/);
  put("native/prebuilt/linux-x64.node", "");
  assert.ok(!packageFaults(root, described).some((fault) => fault.endsWith("linux-x64")));

  const packed = (commit: string): string[] => {
    put("package/dist/commit.json", JSON.stringify({ commit }));
    execFileSync("tar", ["-czf", "arpo-lab-1.0.0.tgz", "package"], { cwd: root });
    return packageFaults(root, described).filter((fault) => fault.includes(" of commit "));
  };
  assert.deepEqual(packed(git("rev-parse", "--short=12", "HEAD")), []);
  for (const commit of ["0123456789ab", "", `${git("rev-parse", "HEAD")} with changes`])
    assert.equal(packed(commit).length, 1, commit);
  put("arpo-lab-1.0.0.tgz", "no archive");
  assert.match(packageFaults(root, described).at(-1)!, /cannot be read as a packed package/);
});

const address = "git+https://github.com/a/b.git";

test("with its repository's address and a day, this package says where it comes from and what changed", () => {
  const { root, put } = repository();
  const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
  const described = JSON.parse(read("package.json")) as { version: string };
  put("package.json", JSON.stringify({ ...described, repository: { type: "git", url: address } }));
  put(".github/workflows/release.yml", read(".github/workflows/release.yml"));
  const dated = `## ${described.version}, 2026-12-01`;
  const notes = read("docs/CHANGELOG.md").replace(`## ${described.version}, unreleased`, dated);
  put("docs/CHANGELOG.md", notes);
  const items = releaseItems(root).map(([what, faults]) => [what, faults.length] as const);
  assert.deepEqual(
    items.filter(([, count]) => count === 0).map(([what]) => what),
    [
      "licences, checksums and install scripts are known",
      "the package says where it comes from",
      `the notes of ${described.version} are written`,
    ],
  );
  assert.equal(items.length, 6);
});

test("provenance needs a repository, a token and the flag; notes a date, an entry and what to change", () => {
  const workflow = "id-token: write\n- run: npm publish --provenance --access public FILE";
  assert.deepEqual(provenanceFaults({ repository: { url: address } }, workflow), []);
  assert.deepEqual(provenanceFaults({ repository: "https://github.com/a/b" }, workflow), []);
  assert.equal(provenanceFaults({}, "").length, 3);
  for (const repository of [undefined, "", "a/b", { url: "https://example.org/a/b" }, {}])
    assert.match(
      provenanceFaults({ repository }, workflow).join(),
      /^set repository in package\.json before publishing: npm provenance needs it; .*, got /,
    );
  const notes = (heading: string, body: string) =>
    `# Changelog\n\n## ${heading}\n\n${body}\n\n## 0.9.0, 2025-01-01\n\n- Old.\n`;
  const whole = "**What to change**\n\n- Nothing.";
  assert.deepEqual(notesFaults(notes("1.0.0, 2026-12-01", whole), "1.0.0"), []);
  assert.match(notesFaults(notes("1.0.0, unreleased", whole), "1.0.0").join(), /unreleased/);
  assert.equal(notesFaults(notes("1.0.0, 2026-12-01", "Text."), "1.0.0").length, 2);
  assert.deepEqual(notesFaults("# Changelog", "1.0.0"), ["docs/CHANGELOG.md has no section 1.0.0"]);
});

test("npm run release:check prints a line an item, and its status says whether all hold", () => {
  const { status, stdout } = spawnSync(process.execPath, [fileURLToPath(script)], {
    encoding: "utf8",
  });
  const items = stdout.match(/^[✔✖] .*$/gm)!;
  assert.equal(items.length, 6, stdout);
  assert.equal(status, items.every((item) => item.startsWith("✔")) ? 0 : 1);
});
