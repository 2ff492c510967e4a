// `npm run release:check`: whether what is here can be released, a line for each item; exit code 1 where one is not
// so. It changes nothing and asks no server. `npm run release:pack` makes the package that it looks at.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { supplyChain } from "../architecture/supply-chain.mjs";
import { addons, faultsOf } from "./package-rules.mjs";

function output(command, args, cwd) {
  return execFileSync(command, args, {
    ...{ cwd, encoding: "utf8", maxBuffer: 1 << 26, timeout: 60_000 },
    stdio: ["ignore", "pipe", "ignore"],
  }).trim();
}

const attempt = (work, otherwise) => {
  try {
    return work();
  } catch {
    return otherwise;
  }
};

/** Files that differ from the commit, or that git does not know. */
export function treeFaults(root) {
  const text = attempt(() => output("git", ["status", "--porcelain"], root), undefined);
  if (text === undefined) return ["git does not answer here"];
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => `not committed: ${line.slice(2).trim()}`);
}

/**
 * Whether the gate and the nightly list were green for this commit, as far as this clone knows: each marks the last
 * commit that passed (`mark_green` in .ci/lib.sh). Only the table of times, which they write, may have changed since.
 */
export function gateFaults(root) {
  return ["run", "full"].flatMap((which) => {
    const ref = `refs/ci/${which}`;
    const at = attempt(() => output("git", ["rev-parse", "--verify", "-q", ref], root), undefined);
    if (at === undefined) return [`.ci/${which} has not been green in this clone`];
    const args = ["diff", "--name-only", ref, "HEAD", "--", ".", ":!docs/ci.md"];
    const changed = output("git", args, root).split("\n").filter(Boolean);
    if (changed.length === 0) return [];
    return [
      `.ci/${which} was green for ${at.slice(0, 12)}; since then ${changed.length} files changed, ${changed[0]} the first`,
    ];
  });
}

/** The addons, and the packed file: for which platforms, of which commit, with which files. */
export function packageFaults(root, { name, version }) {
  const prebuilt = join(root, "native/prebuilt");
  const there = existsSync(prebuilt) ? readdirSync(prebuilt) : [];
  const missing = addons.filter((addon) => !there.includes(`${addon}.node`));
  const faults = missing.map((addon) => `native/prebuilt has no addon for ${addon}`);
  const file = `${name}-${version}.tgz`;
  if (!existsSync(join(root, file)))
    return [...faults, `${file} is missing: npm run release:pack makes it`];
  const listed = attempt(() => output("tar", ["-tzf", file], root), undefined);
  if (listed === undefined) return [...faults, `${file} cannot be read as a packed package`];
  const paths = listed.split("\n").map((path) => path.replace(/^package\//, ""));
  faults.push(...faultsOf(paths).map((fault) => `${file}: ${fault}`));
  const inside = ["-xzOf", file, "package/dist/commit.json"];
  const { commit } = attempt(() => JSON.parse(output("tar", inside, root)), {}) ?? {};
  const head = attempt(() => output("git", ["rev-parse", "HEAD"], root), "");
  if (typeof commit !== "string" || commit.length < 12 || !head.startsWith(commit))
    faults.push(`${file} is of commit ${commit ?? "unknown"}, not of ${head.slice(0, 12)}`);
  return faults;
}

/** What npm needs to say where a package comes from. Only the owner knows the repository's address. */
export function provenanceFaults({ repository }, workflow) {
  const url = typeof repository === "string" ? repository : repository?.url;
  // The release workflow is GitHub's, and npm compares its repository with this one.
  const named = /^(git\+)?https:\/\/github\.com\/[\w.-]+\/[\w.-]+$/.test(url ?? "");
  return [
    ...(named
      ? []
      : [
          `set repository in package.json before publishing: npm provenance needs it; "git+https://github.com/OWNER/NAME.git", got ${JSON.stringify(url) ?? "none"}`,
        ]),
    ...(/id-token: write/.test(workflow) ? [] : ["the release workflow may not ask for a token"]),
    ...(/npm publish .*--provenance/.test(workflow)
      ? []
      : ["the release workflow publishes without --provenance"]),
  ];
}

/** The version's notes: a dated section that says something, and what to change. */
export function notesFaults(text, version) {
  const sections = text.split(/^## /m).slice(1);
  const own = sections.find((section) => section.split(/[,\n]/)[0].trim() === version);
  if (own === undefined) return [`docs/CHANGELOG.md has no section ${version}`];
  const [heading, ...lines] = own.split("\n");
  return [
    ...(/, \d{4}-\d\d-\d\d$/.test(heading.trim())
      ? []
      : [
          `date the section before publishing: "## ${version}, YEAR-MONTH-DAY", got "${heading.trim()}"`,
        ]),
    ...(lines.some((line) => line.startsWith("- ")) ? [] : ["the section has no entry"]),
    ...(/^\*\*What to change\*\*$/m.test(own) ? [] : ["the section has no **What to change**"]),
  ];
}

/** Every item with what is wrong with it. */
export function releaseItems(root) {
  const read = (path) => readFileSync(join(root, path), "utf8");
  const described = JSON.parse(read("package.json"));
  const { version } = described;
  return [
    ["the tree is clean", treeFaults(root)],
    ["CI was green for this commit", gateFaults(root)],
    [`the package of ${addons.length} platforms is there`, packageFaults(root, described)],
    ["licences, checksums and install scripts are known", supplyChain().faults],
    [
      "the package says where it comes from",
      provenanceFaults(described, read(".github/workflows/release.yml")),
    ],
    [`the notes of ${version} are written`, notesFaults(read("docs/CHANGELOG.md"), version)],
  ];
}

/** An item's faults that are printed. */
const most = 8;

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const items = releaseItems(fileURLToPath(new URL("../..", import.meta.url)));
  for (const [what, faults] of items) {
    console.log(`${faults.length === 0 ? "✔" : "✖"} ${what}`);
    for (const fault of faults.slice(0, most)) console.log(`  ${fault}`);
    if (faults.length > most) console.log(`  and ${faults.length - most} more`);
  }
  const wrong = items.filter(([, faults]) => faults.length > 0).length;
  console.log(
    wrong === 0
      ? "ready: push the tag, and the release workflow publishes"
      : `not ready: ${wrong} of ${items.length} items`,
  );
  process.exitCode = wrong === 0 ? 0 : 1;
}
