// A model of a real one's size: how long it takes to load, how fast it decodes, what memory it needs,
// as each dtype, beside transformers on the same folder in the same run. The folder is
// ARPO_LAB_REAL_MODEL, or one with random weights of Qwen2.5-0.5B's shape made for the run.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Benchmark, Figure } from "./figure.js";

const promptLength = 64;
const tokens = 32;
const rows = 8;

interface Speeds {
  prefill: number;
  decode: number;
}
interface Measured {
  backend?: string;
  version?: string;
  load: number;
  one: Speeds;
  many: Speeds;
  megabytes: number;
}

const python = process.env.ARPO_LAB_PYTHON ?? "python3";
const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

function measure(command: string, args: string[]): Measured {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`Cannot measure ${args[0]}: ${stderr}`);
  return JSON.parse(stdout.trim().split("\n").at(-1)!) as Measured;
}

function* compare(dtype: string, ours: Measured, peer: Measured | undefined): Iterable<Figure> {
  const figure = (name: string, unit: string, of: (m: Measured) => number): Figure => ({
    ...{ name: `real.${dtype}.${name}`, value: of(ours), unit, backend: ours.backend },
    ...(peer && {
      peer: `transformers ${peer.version}`,
      peerValue: of(peer),
      ratio: of(ours) / of(peer),
    }),
  });
  yield figure("load_s", "s", (m) => m.load);
  yield figure("prefill_tok_s", "tok/s", (m) => m.one.prefill);
  yield figure("decode_tok_s", "tok/s", (m) => m.one.decode);
  yield figure(`decode_${rows}_rows_tok_s`, "tok/s", (m) => m.many.decode);
  yield figure("memory_mb", "MB", (m) => m.megabytes);
}

export const figures: Benchmark = async function* () {
  const given = process.env.ARPO_LAB_REAL_MODEL;
  const folder = given ?? mkdtempSync(join(tmpdir(), "arpo-real-"));
  try {
    if (!given) {
      const script = path("../../scripts/random-model.mjs");
      const { status, stderr } = spawnSync(process.execPath, [script, folder], {
        encoding: "utf8",
      });
      if (status !== 0) throw new Error(`Cannot make a model: ${stderr}`);
    }
    const settings = [promptLength, tokens, rows].map(String);
    const there =
      spawnSync(python, ["-c", "import torch, transformers"], { stdio: "ignore" }).status === 0;
    const script = path("../../bench/peers/transformers_peer.py");
    let peer: Measured | undefined;
    for (const dtype of ["float32", "bfloat16", "int8"]) {
      const ours = measure(process.execPath, [
        path("parts/real-decode.js"),
        ...[folder, dtype, ...settings],
      ]);
      // transformers has no int8 of its own on a CPU: it is compared with its bfloat16.
      if (there && dtype !== "int8") peer = measure(python, [script, folder, dtype, ...settings]);
      yield* compare(dtype, ours, peer);
    }
  } finally {
    if (!given) rmSync(folder, { recursive: true });
  }
};
