import { mkdirSync } from "#platform/files";
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { say } from "../terminal/say.js";

const home = fileURLToPath(new URL("../../../../", import.meta.url));

interface Package {
  version: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}
const packageIn = (folder: string): Package =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Package;

/** Throws for a folder with anything in it, and for what is no folder or cannot be made one. */
function makeEmpty(folder: string): void {
  let names: string[];
  try {
    mkdirSync(folder, { recursive: true });
    names = readdirSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(
      `Cannot make a project: ${folder} must be a folder that can be made and read, got ${code}`,
      { cause: error },
    );
  }
  if (names.length === 0) return;
  const more = names.length > 3 ? ", …" : "";
  throw new RangeError(
    `Cannot make a project: ${folder} must be empty, got ${names.slice(0, 3).join(", ")}${more}; name another folder`,
  );
}

/** How a project names this package: a clone by its folder, an installed one as its own project does. */
function ownRange({ version }: Package): string {
  const at = (path: string) => `file:${path.replaceAll("\\", "/")}`;
  if (existsSync(join(home, ".git"))) return at(resolve(home));
  const around = resolve(home, "../..");
  try {
    const { dependencies, devDependencies } = packageIn(around);
    const given = dependencies?.["arpo-lab"] ?? devDependencies?.["arpo-lab"];
    if (given?.startsWith("file:")) return at(resolve(around, given.slice("file:".length)));
    if (given !== undefined) return given;
  } catch {
    // It is installed elsewhere: the version says enough.
  }
  return `^${version}`;
}

/** A name that npm takes, from the folder's. */
const nameOf = (folder: string): string =>
  basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 100) || "my-task";

const compilerOptions = {
  module: "nodenext",
  target: "es2024",
  strict: true,
  types: ["node"],
  noEmit: true,
};

/** Makes a sample project in an empty folder, and returns its path. */
export function initProject(folder: string): string {
  const path = resolve(folder);
  makeEmpty(path);
  cpSync(join(home, "examples/sample"), path, {
    recursive: true,
    filter: (source) => !/\.ipynb_checkpoints|[\\/]runs$/.test(source),
  });
  const own = packageIn(home);
  const write = (name: string, value: object) =>
    writeFileSync(join(path, name), `${JSON.stringify(value, undefined, 2)}\n`);
  write("package.json", {
    name: nameOf(path),
    private: true,
    type: "module",
    scripts: {
      test: "tsc && arpo-lab run --no-check test.ts",
      train: "arpo-lab train --preset arpo --preset tiny --config run.yaml --out runs/one",
    },
    dependencies: { "arpo-lab": ownRange(own) },
    devDependencies: {
      "@types/node": own.dependencies!["@types/node"],
      typescript: `^${own.devDependencies!["typescript"]}`,
    },
  });
  write("tsconfig.json", { compilerOptions, include: ["*.ts"] });
  writeFileSync(join(path, ".gitignore"), "node_modules/\nruns/\n");
  return path;
}

/** `arpo-lab init [FOLDER]`. */
export function runInit(folder: string): void {
  const path = initProject(folder);
  say(`made ${path}: ${readdirSync(path).join(", ")}`);
  const place = relative("", path);
  say("next:");
  for (const line of [
    ...(place === "" ? [] : [`cd ${place}`]),
    "npm install      # where arpo-lab and typescript are not installed above it",
    "npm test         # types, the tool, the reward and a rollout",
    "npm run train    # 4 steps of ARPO on the small model",
  ])
    say(`  ${line}`);
}
