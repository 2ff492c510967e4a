// Installs the packed package as a person would: in an empty folder, without a compiler or development
// dependencies; then, without a network, uses it: a notebook, a cell, the lab in a browser, two steps of
// training, and a smoke on other Nodes. `node tools/package/packed.mjs [--brief] [FILE.tgz]`; without a file it packs
// first. `--brief` leaves other Nodes and the tour to .ci/full. What could not be tried is listed at the end.
import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const script = fileURLToPath(import.meta.url);
const chromium = process.env.CHROMIUM ?? "/usr/bin/chromium";
const brief = process.argv.includes("--brief");
const nodes = brief ? [] : ["20.20", "22", "24", "26"];

const which = (tool) =>
  process.env.PATH.split(delimiter)
    .map((folder) => join(folder, tool))
    .find((path) => existsSync(path));

function run(command, args, { cwd, env }) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    env,
    encoding: "utf8",
    maxBuffer: 1 << 26,
    timeout: 900_000,
  });
  if (status === 0) return { stdout, stderr };
  const said = error?.message ?? `${status}\n${`${stdout}${stderr}`.slice(-3000)}`;
  throw new Error(`Cannot use the package: ${command} ${args.join(" ")} must succeed, got ${said}`);
}

/** What an installation may weigh, in MB, beside the addons of other platforms. */
const heaviest = 150;

function sizeOf(path) {
  const at = statSync(path);
  if (!at.isDirectory()) return at.size;
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => !entry.isSymbolicLink())
    .reduce((sum, { name }) => sum + sizeOf(join(path, name)), 0);
}
const megabytes = (path) => `${(sizeOf(path) / 1e6).toFixed(1)} MB`;
const since = (began) => `${((performance.now() - began) / 1000).toFixed(1)} s`;

/** What is tried gets Node, npm and a shell: no compiler, no git, no Python. */
function bareEnvironment(place) {
  const bin = join(place, "bin");
  const home = join(place, "home");
  for (const folder of [bin, home]) mkdirSync(folder, { recursive: true });
  for (const tool of ["node", "npm", "npx", "sh", "env"]) {
    const found = which(tool);
    if (found && !existsSync(join(bin, tool))) symlinkSync(found, join(bin, tool));
  }
  const passed = Object.entries(process.env).filter(([name]) =>
    /^(npm_config_|https?_proxy$|NODE_EXTRA_CA|LANG$)/i.test(name),
  );
  const config = join(process.env.HOME ?? "/", ".npmrc");
  return {
    ...Object.fromEntries(passed),
    ...(existsSync(config) && { npm_config_userconfig: config }),
    PATH: bin,
    HOME: home,
  };
}

/** With the network: the package, and the other Nodes, each in a folder of its own. */
function install(place, tarball) {
  const env = bareEnvironment(place);
  const leftOut = [];
  const project = join(place, "project");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }\n');
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  let began = performance.now();
  run("npm", ["install", ...quiet, tarball], { cwd: project, env });
  console.log(`installed in ${since(began)}: ${megabytes(join(project, "node_modules"))}`);
  const addons = join(project, "node_modules/arpo-lab/native/prebuilt");
  const others = readdirSync(addons).filter(
    (name) => name !== `${process.platform}-${process.arch}.node`,
  );
  const foreign = others.reduce((sum, name) => sum + sizeOf(join(addons, name)), 0);
  const weight = (sizeOf(join(project, "node_modules")) - foreign) / 1e6;
  if (weight > heaviest) {
    throw new Error(
      `An installation must weigh at most ${heaviest} MB beside ${others.length} addons of other platforms, got ${weight.toFixed(1)}`,
    );
  }
  console.log(
    `the package ${megabytes(tarball)}, unpacked ${megabytes(join(project, "node_modules/arpo-lab"))}`,
  );
  const platform = process.platform === "win32" ? "win" : process.platform;
  began = performance.now();
  for (const version of nodes) {
    const cwd = join(place, `node-${version}`);
    mkdirSync(cwd);
    try {
      const name = `node-${platform}-${process.arch}@${version}`;
      run("npm", ["install", "--prefix", cwd, "--ignore-scripts", ...quiet, name], { cwd, env });
    } catch {
      rmSync(cwd, { recursive: true });
      leftOut.push(`Node ${version}: the registry has none for ${platform} ${process.arch}`);
    }
  }
  console.log(`other Nodes fetched in ${since(began)}`);
  return leftOut;
}

const notebook = (source) =>
  JSON.stringify({
    cells: [
      { cell_type: "code", id: "one", execution_count: null, metadata: {}, outputs: [], source },
    ],
    metadata: {
      kernelspec: {
        name: "arpo-lab",
        display_name: "TypeScript (arpo-lab)",
        language: "typescript",
      },
    },
    nbformat: 4,
    nbformat_minor: 5,
  });

const cell = `import { advantages, Policy, rollout, score, tasks, update } from "arpo-lab";
const policy = await Policy.load("data/models/tiny");
const task = tasks.calc({ seed: 7 }).train[0]!;
const tree = await rollout(policy, task, { preset: "arpo", n: 8, seed: 1 });
const report = await update(policy, advantages(await score(tree), { estimator: "grpo" }), { preset: "aepo" });
console.log("one step on", process.version, Object.keys(report.metrics).length > 3);`;

/** The lab, from its command to a notebook on the screen. */
async function tryLab(bin, { cwd, env }) {
  const began = performance.now();
  const child = spawn(process.execPath, [bin, "lab", "--no-browser", "--port", "0"], { cwd, env });
  try {
    let said = "";
    const url = await new Promise((found, failed) => {
      child.stderr.on("data", (chunk) => (said += chunk));
      child.stdout.on("data", (chunk) => {
        said += chunk;
        const line = /^http\S+$/m.exec(said);
        if (line) found(line[0]);
      });
      child.once("close", () => failed(new Error(`Cannot start the lab: it said\n${said}`)));
    });
    const answered = since(began);
    if (!existsSync(chromium)) {
      const page = await fetch(url);
      if (!page.ok) throw new Error(`Cannot open the lab: it must answer 200, got ${page.status}`);
      console.log(`the lab answers after ${answered}`);
      return [`the lab's page painted: there is no ${chromium}`];
    }
    const { chromium: browsers } = await import("playwright-core");
    const browser = await browsers.launch({ executablePath: chromium, args: ["--no-sandbox"] });
    const page = await browser.newPage();
    const faults = [];
    page.on("pageerror", (error) => faults.push(error.message));
    const opened = performance.now();
    await page.goto(url.replace("/lab?", "/lab/tree/one.ipynb?"), { waitUntil: "commit" });
    await page.waitForSelector(".jp-Notebook .jp-CodeCell .cm-content", { timeout: 120_000 });
    console.log(
      `the lab: its address after ${answered}, a notebook painted ${since(opened)} later`,
    );
    await browser.close();
    if (faults.length > 0) throw new Error(`Cannot open the lab: the page threw ${faults[0]}`);
    return [];
  } finally {
    child.kill();
  }
}

/** Without the network: everything a new user does first. */
async function use(place) {
  const env = { ...bareEnvironment(place), npm_config_offline: "true" };
  const project = join(place, "project");
  const own = join(project, "node_modules/arpo-lab");
  const bin = join(own, "apps/cli/bin/arpo-lab.mjs");
  const here = { cwd: project, env };
  const leftOut = [];
  const timed = (what, work) => {
    const began = performance.now();
    const result = work();
    console.log(`${what}: ${since(began)}`);
    return result;
  };
  writeFileSync(join(project, "one.ipynb"), notebook(cell));
  const asked = ["--input-type=module", "-e", 'await (await import("arpo-lab/model")).ready()'];
  const said = run("node", asked, here).stderr.trim();
  console.log(said);
  if (!/tensors on native \(/.test(said))
    throw new Error(`Cannot use the package: its addon must be chosen, got ${said}`);
  timed("a cell that takes one step", () =>
    run("npx", ["arpo-lab", "run", "one.ipynb", "--out", "done.ipynb"], here),
  );
  const tour = () =>
    run(
      "npx",
      ["arpo-lab", "run", join(own, "notebooks/00-tour.ipynb"), "--out", "tour.ipynb"],
      here,
    );
  if (!brief) timed("the tour", tour);
  leftOut.push(...(await tryLab(bin, here)));
  const two = ["trainer.total_training_steps=2", "trainer.default_local_dir=run"];
  const train = [
    "train",
    "--preset",
    "arpo",
    "--preset",
    "tiny",
    "data.train_files=tasks:calc",
    ...two,
  ];
  timed("two steps of training", () => run("npx", ["arpo-lab", ...train], here));
  const steps = readFileSync(join(project, "run/metrics.jsonl"), "utf8").trim().split("\n").length;
  if (steps < 2) throw new Error(`Cannot train: there must be 2 steps, got ${steps}`);
  for (const version of nodes) {
    const folder = join(place, `node-${version}/node_modules`);
    const packed =
      existsSync(folder) && readdirSync(folder).find((name) => name.startsWith("node-"));
    if (!packed) continue;
    const other = join(folder, packed, process.platform === "win32" ? "bin/node.exe" : "bin/node");
    timed(`a cell and a step on Node ${version}`, () => {
      run(other, [bin, "run", "one.ipynb", "--out", "other.ipynb"], here);
      const done = readFileSync(join(project, "other.ipynb"), "utf8");
      const says = /one step on (v[\d.]+) true/.exec(done)?.[1];
      if (!says)
        throw new Error(`Cannot use Node ${version}: the cell must take a step, got ${done}`);
    });
  }
  return leftOut;
}

/** Runs this script's second half where no network is, if that can be had. */
function useAlone(place) {
  const up = "ip link set lo up 2>/dev/null || ifconfig lo up";
  const cut =
    process.platform === "linux" &&
    spawnSync("unshare", ["-n", "sh", "-c", up], { stdio: "ignore" }).status === 0;
  const nowhere = "http://127.0.0.1:9";
  const env = {
    ...process.env,
    http_proxy: nowhere,
    https_proxy: nowhere,
    npm_config_registry: nowhere,
  };
  const again = [process.execPath, script, "--use", place, ...(brief ? ["--brief"] : [])];
  const [command, args] = cut
    ? ["unshare", ["-n", "sh", "-c", `(${up}) && exec "$@"`, "sh", ...again]]
    : [again[0], again.slice(1)];
  const { status } = spawnSync(command, args, { stdio: "inherit", env: cut ? process.env : env });
  if (status !== 0) throw new Error("Cannot use the package without a network: see above");
  return cut ? [] : ["a machine without network (unshare -n): proxies to nowhere instead"];
}

const [first, second] = process.argv.slice(2).filter((word) => word !== "--brief");
if (first === "--use") {
  const leftOut = await use(second);
  for (const what of leftOut) console.log(`left out: ${what}`);
} else {
  const place = mkdtempSync(join(tmpdir(), "arpo-packed-"));
  try {
    let tarball = first && resolve(first);
    if (!tarball) {
      const began = performance.now();
      const packed = spawnSync("npm", ["pack", "--silent", "--pack-destination", place], {
        cwd: root,
        stdio: ["ignore", "inherit", "inherit"],
      });
      if (packed.status !== 0) throw new Error("Cannot pack: see above");
      tarball = join(
        place,
        readdirSync(place).find((name) => name.endsWith(".tgz")),
      );
      console.log(`packed in ${since(began)}`);
    }
    for (const what of [...install(place, tarball), ...useAlone(place)])
      console.log(`left out: ${what}`);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
