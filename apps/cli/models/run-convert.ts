import {
  compareCheckpoints,
  type Comparison,
  type TensorComparison,
} from "../../../src/interop/convert/compare-checkpoints.js";
import { convertCheckpoint } from "../../../src/interop/convert/convert-checkpoint.js";
import type { GgufWeightType } from "../../../src/model/export/save-gguf.js";
import type { WeightType } from "../../../src/model/files/half.js";
import { modelFolder } from "../../../src/model/files/model-folder.js";
import { say } from "../terminal/say.js";

/** What the command line gives. */
export interface ConvertCommandOptions {
  dtype?: keyof typeof types;
  base?: string;
  lora?: string;
  maxShard?: string;
  pre?: string;
  compare?: boolean;
  tolerance: number;
  json?: boolean;
}

const types = {
  ...({ f32: "float32", bf16: "bfloat16", f16: "float16" } as const),
  ...({ q8_0: "q8_0", q4_0: "q4_0", q4_1: "q4_1" } as const),
};
const units: Record<string, number> = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9 };
const mostRows = 50;

function bytes(text: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)([KMG]?B)$/i.exec(text) ?? [];
  if (number === undefined || !(Number(number) > 0)) {
    throw new RangeError(`Cannot convert: --max-shard must be a size such as 5GB, got ${text}`);
  }
  return Number(number) * units[unit!.toUpperCase()]!;
}

function rowText({
  name,
  verdict,
  from,
  to,
  differing,
  beyond,
  largest,
}: TensorComparison): string {
  const sides = from === to ? from : `${from ?? "none"} | ${to ?? "none"}`;
  const figures =
    differing > 0
      ? `  ${differing} differ, ${beyond} beyond, largest ${largest.toPrecision(3)}`
      : "";
  return `${verdict.padEnd(13)}  ${name}  ${sides}${figures}`;
}

function showComparison({ match, rows }: Comparison, from: string, to: string): void {
  const unequal = rows.filter(({ verdict }) => verdict !== "equal");
  for (const row of unequal.slice(0, mostRows)) say(rowText(row));
  if (unequal.length > mostRows) {
    say(`… and ${unequal.length - mostRows} more; --json shows all`);
  }
  const count = new Map<string, number>();
  for (const { verdict } of rows) count.set(verdict, (count.get(verdict) ?? 0) + 1);
  const sums = [...count].map(([verdict, n]) => `${n} ${verdict}`).join(", ");
  say(`${rows.length} tensors: ${sums}`);
  say(match ? `${from} and ${to} match.` : `${from} and ${to} do not match.`);
}

/** Converts or compares; gives the exit code. */
export async function runConvert(
  from: string,
  to: string,
  options: ConvertCommandOptions,
): Promise<number> {
  const dtype: GgufWeightType | undefined = options.dtype && types[options.dtype];
  if (options.compare) {
    if (!(options.tolerance >= 0)) {
      throw new RangeError(
        `Cannot compare: --tolerance must be from 0 up, got ${options.tolerance}`,
      );
    }
    if (options.lora !== undefined) {
      throw new TypeError(
        `Cannot compare: --lora must be left out, as nothing is written, got ${options.lora}`,
      );
    }
    if (dtype?.startsWith("q")) {
      throw new RangeError(`Cannot compare: --dtype must be f32, bf16 or f16, got ${dtype}`);
    }
    const comparison = await compareCheckpoints(modelFolder(from), to, {
      dtype: dtype as WeightType | undefined,
      tolerance: options.tolerance,
    });
    if (options.json) say(JSON.stringify(comparison));
    else showComparison(comparison, from, to);
    return comparison.match ? 0 : 1;
  }
  const done = await convertCheckpoint(modelFolder(from), to, {
    dtype,
    base: options.base,
    lora: options.lora,
    pre: options.pre,
    maxShardBytes: options.maxShard === undefined ? undefined : bytes(options.maxShard),
  });
  if (options.json) say(JSON.stringify(done));
  else {
    say(
      `${done.from}: ${done.tensors} tensors, ${done.parameters} parameters, written to ${to} in ${done.dtype}`,
    );
    if (done.tied.length > 0) say(`left out, tied to the embeddings: ${done.tied.join(", ")}`);
    if (options.lora !== undefined) say(`with the adapters of ${options.lora} added`);
    say(`from ${done.base}: ${done.files.join(", ") || "config, tokenizer and chat template"}`);
  }
  return 0;
}
