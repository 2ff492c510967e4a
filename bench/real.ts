// A model of a real one's size: how long it takes to load, how fast it decodes, what memory it needs,
// as each dtype, and what a step of ARPO with adapters takes, beside transformers and peft on the same
// folder in the same run, the two in turn. The folder is ARPO_LAB_REAL_MODEL, or one with random weights of
// Qwen2.5-0.5B's shape made for the run. `npm run bench -- real bfloat16 lora_step` measures these alone.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Benchmark, Figure } from "./figure.js";
import { Asked } from "./parts/asked.js";

const promptLength = 64;
const tokens = 32;
const rows = 8;
const rounds = 2;
const response = 64;

interface Speeds {
  prefill: number;
  decode: number;
}
interface Decoded {
  one: Speeds;
  many: Speeds;
  megabytes: number;
}
interface Loaded {
  backend?: string;
  version?: string;
  load: number;
}
interface Trained extends Loaded {
  prompt: number;
  rows: number;
  response: number;
  generate: number;
  old: number;
  update: number;
  step: number;
  processor: number;
  megabytes: number;
}

const python = process.env.ARPO_LAB_PYTHON ?? "python3";
const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const has = (modules: string) =>
  spawnSync(python, ["-c", `import ${modules}`], { stdio: "ignore" }).status === 0;

const better = (a: Speeds, b: Speeds): Speeds => ({
  prefill: Math.max(a.prefill, b.prefill),
  decode: Math.max(a.decode, b.decode),
});

/** Both loaded, then asked in turn; the faster of the rounds, which a busy machine disturbs less. */
async function decoded(processes: readonly Asked[]): Promise<(Loaded & Decoded)[]> {
  try {
    const loaded: Loaded[] = [];
    for (const one of processes) loaded.push((await one.read()) as Loaded);
    let best: Decoded[] = [];
    for (let round = 0; round < rounds; round++) {
      const now: Decoded[] = [];
      for (const one of processes) now.push((await one.ask()) as Decoded);
      best = now.map((x, i) => {
        const before = best[i] ?? x;
        return { ...x, one: better(x.one, before.one), many: better(x.many, before.many) };
      });
    }
    return loaded.map((what, i) => ({ ...what, ...best[i]! }));
  } finally {
    for (const one of processes) await one.close();
  }
}

function* compared<T extends Loaded & { megabytes: number }>(
  prefix: string,
  ours: T,
  peer: T | undefined,
  parts: Record<string, (m: T) => number>,
): Iterable<Figure> {
  const all: typeof parts = { ...parts, memory_mb: (m) => m.megabytes };
  for (const [name, of] of Object.entries(all)) {
    const unit = name.endsWith("tok_s") ? "tok/s" : name.endsWith("_mb") ? "MB" : "s";
    yield {
      ...{ name: `real.${prefix}.${name}`, value: of(ours), unit, backend: ours.backend },
      ...(peer && {
        peer: `transformers ${peer.version}`,
        peerValue: of(peer),
        ratio: of(ours) / of(peer),
      }),
    };
  }
}

async function trained(folder: string): Promise<[Trained, Trained | undefined]> {
  const once = async (command: string, args: string[]) => {
    const process = new Asked(command, args);
    const result = (await process.read()) as Trained;
    await process.close();
    return result;
  };
  const size = [rows, response].map(String);
  const ours = await once(process.execPath, [path("parts/real-train.js"), folder, ...size]);
  if (!has("torch, transformers, peft")) return [ours, undefined];
  const shape = [ours.prompt, ours.rows, ours.response].map(String);
  const peer = await once(python, [path("../../bench/peers/peft_peer.py"), folder, ...shape]);
  return [ours, { ...peer, prompt: ours.prompt, rows: ours.rows, response: ours.response }];
}

export const figures: Benchmark = async function* (args) {
  const chosen = ["float32", "bfloat16", "int8", "lora_step"].filter((part) => args.includes(part));
  const wanted = (part: string) => chosen.length === 0 || chosen.includes(part);
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
    const there = has("torch, transformers");
    const script = path("../../bench/peers/transformers_peer.py");
    for (const dtype of ["float32", "bfloat16", "int8"].filter(wanted)) {
      // transformers has no int8 of its own on a CPU: it is compared with its bfloat16.
      const theirs = dtype === "int8" ? "bfloat16" : dtype;
      const [ours, peer] = await decoded([
        new Asked(process.execPath, [path("parts/real-decode.js"), folder, dtype, ...settings]),
        ...(there ? [new Asked(python, [script, folder, theirs, ...settings])] : []),
      ]);
      yield* compared(dtype, ours!, peer, {
        load_s: (m) => m.load,
        prefill_tok_s: (m) => m.one.prefill,
        decode_tok_s: (m) => m.one.decode,
        [`decode_${rows}_rows_tok_s`]: (m) => m.many.decode,
      });
    }
    if (!wanted("lora_step")) return;
    yield* compared("lora_step", ...(await trained(folder)), {
      load_s: (m) => m.load,
      rollout_tok_s: (m) => (m.rows * m.response) / m.generate,
      generate_s: (m) => m.generate,
      old_log_prob_s: (m) => m.old,
      update_actor_s: (m) => m.update,
      step_s: (m) => m.step,
      // What a busy machine disturbs least.
      step_processor_s: (m) => m.processor,
    });
  } finally {
    if (!given) rmSync(folder, { recursive: true });
  }
};
