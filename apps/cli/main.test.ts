import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const arpo = (...args: string[]) =>
  spawnSync(process.execPath, ["apps/cli/bin/arpo-lab.mjs", ...args], {
    cwd: root,
    encoding: "utf8",
  });

test("arpo-lab says its version, its engine and its commit", () => {
  const { version } = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as {
    version: string;
  };
  const { stdout, status } = arpo("--version");
  assert.equal(status, 0);
  assert.ok(stdout.startsWith(`${version} (engine `), stdout);
  assert.match(stdout, /, commit [^\n]+\)\n$/);
  assert.equal(arpo("-V").stdout, stdout);
});

test("every command that --help lists has help of its own", () => {
  const { stdout, status } = arpo("--help");
  assert.equal(status, 0);
  const list = stdout.slice(stdout.indexOf("Commands:"));
  const names = [...list.matchAll(/^ {2}([a-z-]+) /gm)].map((match) => match[1]!);
  assert.ok(names.includes("lab") && names.includes("train"), stdout);
  for (const name of names.filter((each) => each !== "help")) {
    const help = arpo(name, "--help");
    assert.equal(help.status, 0, name);
    assert.match(help.stdout, new RegExp(`^Usage: arpo-lab ${name} `), name);
  }
});

test("a command or option that there is not is named, with what there is", () => {
  const command = arpo("trian");
  assert.equal(command.status, 1);
  assert.match(command.stderr, /unknown command 'trian'[^]*Did you mean train/);
  const option = arpo("eval", "data/models/tiny", "--smaples", "2");
  assert.equal(option.status, 1);
  assert.match(option.stderr, /unknown option '--smaples'[^]*Did you mean --samples/);
});

test(
  "a package that could not be opened, since too many files are open: the limit is named",
  { skip: process.platform === "win32" },
  () => {
    for (let most = 31; most < 41; most += 2) {
      const { stderr, status } = spawnSync(
        "sh",
        [
          "-c",
          `ulimit -n ${most}; exec "$0" apps/cli/bin/arpo-lab.mjs sft package.json`,
          process.execPath,
        ],
        { cwd: root, encoding: "utf8" },
      );
      assert.equal(status, 1);
      assert.match(stderr, /ulimit -n 1024|every key must be known/);
    }
  },
);

test(
  "too few files that may be open are said in a line, with what to do",
  { skip: process.platform === "win32" },
  () => {
    for (const most of [20, 24, 40]) {
      const { stderr, status } = spawnSync(
        "sh",
        [
          "-c",
          `ulimit -n ${most}; exec "$0" apps/cli/bin/arpo-lab.mjs train-tiny --help`,
          process.execPath,
        ],
        { cwd: root, encoding: "utf8" },
      );
      if (status === 0 && most > 20) continue; // enough, on this machine
      assert.match(stderr, /open more files.*ulimit -n 1024|EMFILE.*\n.*ulimit -n 1024/);
      assert.doesNotMatch(stderr, /^ {4}at /m);
    }
  },
);

test("a command whose reader closes ends quietly, as other programs do", async () => {
  for (const args of [["doctor"], ["completions", "bash"]]) {
    const child = spawn(process.execPath, ["apps/cli/bin/arpo-lab.mjs", ...args], {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.stdout.destroy();
    let errors = "";
    child.stderr.on("data", (text) => (errors += String(text)));
    const [status] = (await once(child, "close")) as [number];
    assert.equal(status, 141, `${args.join(" ")}: ${errors}`);
    assert.doesNotMatch(errors, /EPIPE|    at /, args.join(" "));
  }
});
