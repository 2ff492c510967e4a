// Models, pickles and trees that came from elsewhere: damaged, or made to do harm.
import { cpSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { unpickle } from "../../../src/interop/convert/pickle.js";
import { archive, pickle, tensor } from "../../convert/torch-files.js";
import { TorchArchive } from "../../../src/interop/convert/torch-archive.js";
import {
  torchGlobals,
  torchStorage,
  type TorchTensor,
} from "../../../src/interop/convert/torch-globals.js";
import { saveGguf } from "../../../src/model/export/save-gguf.js";
import { loadModel } from "../../../src/model/load/load-model.js";
import { HfTokenizer } from "../../../src/model/tokenizer/hf-tokenizer.js";
import type { Random } from "../../../src/base/random/random.js";
import { loadTrees } from "../../../src/rollout/files/tree-files.js";
import { treesToJsonl } from "../../../src/rollout/files/tree-jsonl.js";
import { rollout } from "../../../src/rollout/rollout.js";
import { randomTextPolicy } from "../../../src/rollout/testing/random-text-policy.js";
import { type Area, type Attempt, Broken, type Place } from "../attempt.js";

const tiny = fileURLToPath(new URL("../../../../data/models/tiny", import.meta.url));
const odd = [
  -1,
  0,
  1e308,
  2 ** 53,
  1.5,
  NaN,
  null,
  "x",
  [],
  {},
  "__proto__",
  "../../etc/passwd",
  1e9,
  true,
];

/** A JSON value with one place changed. */
function changed(value: unknown, random: Random): unknown {
  if (typeof value !== "object" || value === null || random.uniform() < 0.15)
    return random.choose(odd);
  const names = Object.keys(value);
  if (names.length === 0) return random.choose(odd);
  const name = random.choose(names);
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Record<
    string,
    unknown
  >;
  copy[name] = changed(copy[name], random);
  return copy;
}

async function refusedOrWhole(what: () => Promise<unknown>): Promise<string> {
  try {
    await what();
    return "loaded";
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof RangeError && /call stack|allocation|Invalid array length/.test(message))
      throw error;
    if (
      !/^Cannot [a-z]+ /.test(message) ||
      /^Cannot (read properties|convert|destructure)/.test(message)
    )
      throw new Broken("broken", `refused without saying why: ${(error as Error).stack}`);
    return `refused: ${message.slice(0, 200)}`;
  }
}

async function model(place: Place, random: Random): Promise<string> {
  cpSync(tiny, place.folder, { recursive: true });
  const name = random.choose([
    "model.safetensors",
    "model.safetensors",
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
  ]);
  const path = place.path(name);
  const bytes = readFileSync(path);
  let damage: string;
  if (name.endsWith(".json")) {
    writeFileSync(path, JSON.stringify(changed(JSON.parse(bytes.toString()), random)));
    damage = "a value changed";
  } else {
    const length = Number(bytes.readBigUInt64LE(0));
    const header = JSON.parse(bytes.subarray(8, 8 + length).toString()) as object;
    damage = random.choose(["length", "header", "cut", "bytes"]);
    if (damage === "length")
      bytes.writeBigUInt64LE(BigInt(random.choose([0, 1, 1e6, 2 ** 40, 2 ** 52])), 0);
    if (damage === "bytes")
      for (let i = 0; i < 8; i++) bytes[random.integer(length + 100)] = random.integer(256);
    let out: Uint8Array =
      damage === "cut" ? bytes.subarray(0, random.integer(bytes.length)) : bytes;
    if (damage === "header") {
      const text = Buffer.from(JSON.stringify(changed(header, random)));
      const size = Buffer.alloc(8);
      size.writeBigUInt64LE(BigInt(text.length));
      out = Buffer.concat([size, text, bytes.subarray(8 + length)]);
    }
    writeFileSync(path, out);
  }
  const said = await refusedOrWhole(async () => {
    const tokenizer = await HfTokenizer.load(place.folder);
    tokenizer.encode("What is 1 + 1?");
    (await loadModel(place.folder)).dispose();
  });
  return `${damage} in ${name}: ${said}`;
}

function hostilePickle(place: Place, random: Random): Promise<string> {
  const marker = place.path("marker");
  const { call, global, text, tuple, whole, bytes } = pickle;
  const names: [string, string][] = [
    ["os", "system"],
    ["posix", "system"],
    ["builtins", "eval"],
    ["builtins", "exec"],
    ["builtins", "getattr"],
    ["subprocess", "Popen"],
    ["torch", "load"],
    ["torch.storage", "_load_from_bytes"],
    ["collections", "OrderedDict.__init__"],
    ["__builtin__", "eval"],
    ["constructor", "constructor"],
    ["__proto__", "constructor"],
  ];
  const [module, name] = random.choose(names);
  const attack = call(global(module, name), tuple(text(`touch ${marker}`)));
  const noise = Buffer.from(Array.from({ length: random.integer(30) }, () => random.integer(256)));
  const made = random.choose([
    whole(attack),
    whole(bytes(attack, noise)),
    Buffer.from(bytes(noise, attack)),
  ]);
  return refusedOrWhole(() => {
    unpickle(made, { globals: torchGlobals, persistent: torchStorage });
    return Promise.resolve();
  }).then((said) => {
    if (existsSync(marker)) throw new Broken("broken", `${module}.${name} was called`);
    return `${module}.${name}: ${said}`;
  });
}

/** A file with some bytes changed, cut off, or its lengths made enormous; mostly where its lists are. */
function damagedBytes(whole: Uint8Array, lists: number, random: Random): [string, Uint8Array] {
  const out = Buffer.from(whole);
  const how = random.choose(["bytes", "length", "cut", "doubled"]);
  if (how === "bytes") for (let i = 0; i < 6; i++) out[random.integer(lists)] = random.integer(256);
  if (how === "length") {
    const at = random.integer(lists - 8);
    out.writeBigUInt64LE(BigInt(random.choose([0, 1, 0xffffffff, 2 ** 40, 2 ** 53])), at);
  }
  if (how === "cut") return [how, out.subarray(0, random.integer(out.length))];
  return [how, how === "doubled" ? Buffer.concat([out, out]) : out];
}

async function gguf(place: Place, random: Random): Promise<string> {
  const whole = join(place.shared, "whole.gguf");
  if (!existsSync(whole)) {
    const model = await loadModel(tiny);
    await saveGguf(model, await HfTokenizer.load(tiny), `${whole}.tmp`, { dtype: "q8_0" });
    model.dispose();
    renameSync(`${whole}.tmp`, whole);
  }
  const path = place.path("model.gguf");
  const [how, bytes] = damagedBytes(readFileSync(whole), 20_000, random);
  writeFileSync(path, bytes);
  const said = await refusedOrWhole(async () => {
    (await HfTokenizer.load(path)).encode("What is 1 + 1?");
    (await loadModel(path)).dispose();
  });
  return `${how} in a GGUF file: ${said}`;
}

async function torchFile(place: Place, random: Random): Promise<string> {
  const saved = pickle.dict({ w: tensor({ key: "0", length: 6, shape: [2, 3] }) });
  const whole = archive(saved, { 0: new Float32Array([0, 1, 2, 3, 4, 5]) });
  const path = place.path("model.pt");
  const [how, bytes] = damagedBytes(whole, whole.length, random);
  writeFileSync(path, bytes);
  const said = await refusedOrWhole(async () => {
    const opened = await TorchArchive.open(path);
    try {
      for (const one of (opened.root as Map<string, TorchTensor>).values()) await opened.read(one);
    } finally {
      await opened.close();
    }
  });
  return `${how} in a PyTorch file: ${said}`;
}

async function trees(place: Place, random: Random): Promise<string> {
  const tree = await rollout(
    randomTextPolicy(),
    { prompt: "1" },
    { n: 4, initialRollouts: 2, seed: 1 },
  );
  const whole = JSON.parse(treesToJsonl([tree])) as unknown;
  const path = join(place.folder, "trees.jsonl");
  const read = async () => {
    const read = await loadTrees(path);
    for (const one of read) void [String(one), one.selected.map(({ text }) => text)];
    treesToJsonl(read);
  };
  // What is whole must load: otherwise every change would be refused for another reason.
  writeFileSync(path, `${JSON.stringify(whole)}\n`);
  await read();
  writeFileSync(path, `${JSON.stringify(changed(whole, random))}\n`);
  return await refusedOrWhole(read);
}

export const packages: Area = {
  name: "packages",
  share: 6,
  seconds: 30,
  make: (random): Attempt => {
    const safe = "it is loaded or refused in words; no crash, no endless work";
    const [name, promise, attack] = random.choose([
      ["a model's folder with something changed", safe, model],
      ["a GGUF file with bytes changed", safe, gguf],
      ["a PyTorch file with bytes changed", safe, torchFile],
      ["a pickle that calls what it should not", "nothing of it is called", hostilePickle],
      ["trees with something changed", safe, trees],
    ] as const);
    return { name, promise, run: (place) => attack(place, random) };
  },
};
