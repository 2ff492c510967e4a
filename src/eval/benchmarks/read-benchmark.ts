import { utf8Text } from "#platform/bytes";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { checkOptions } from "../../../common/options/check-options.js";
import { sha256 } from "#platform/sha256";
import { readFile } from "#platform/files";
import { join } from "#platform/path";
import { z } from "#zod";
import type { Benchmark, BenchmarkItem, LoadedBenchmark } from "./benchmark.js";

const row = z.record(z.string(), z.unknown());
const one = z.union([z.string(), z.number()]);
const answers = z.union([one, z.array(one).min(1)]);

function readItem(benchmark: Benchmark, line: string, index: number): BenchmarkItem {
  const data = row.parse(JSON.parse(line));
  const { question: questionKey = "question", answer: answerKey = "answer" } = benchmark;
  const question = data[questionKey];
  if (typeof question !== "string") {
    throw new TypeError(`${questionKey} must be a text, got ${JSON.stringify(question)}`);
  }
  const answer = answers.safeParse(data[answerKey]);
  if (!answer.success) {
    throw new TypeError(
      `${answerKey} must be a text, a number or a list of them, got ${JSON.stringify(data[answerKey])}`,
    );
  }
  const { readAnswer = (given) => given } = benchmark;
  return { index, question, answer: readAnswer(answer.data), row: data };
}

/**
 * Reads `FOLDER/NAME/test.jsonl`, the reference's layout.
 *
 * @param benchmark the benchmark, from `benchmarks.get` or your own
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { readBenchmark } from "arpo-lab/run";
 *
 * const folder = await mkdtemp(join(tmpdir(), "arpo-"));
 * await mkdir(`${folder}/mine`);
 * await writeFile(`${folder}/mine/test.jsonl`, '{"q": "2+2?", "answer": 4}\n');
 * const mine = { name: "mine", title: "Mine", task: "math", question: "q", folder } as const;
 * const { items } = await readBenchmark(mine);
 * assert.deepEqual([items[0].question, items[0].answer], ["2+2?", 4]);
 * ```
 */
export async function readBenchmark(
  benchmark: Benchmark,
  options: {
    /** Where `NAME/test.jsonl` is, for a benchmark that names no folder itself. Default: none. */
    folder?: string;
  } = {},
): Promise<LoadedBenchmark> {
  checkArguments("read a benchmark", { benchmark }, { benchmark: { name: "text" } });
  checkOptions("read a benchmark", options, { folder: "path?" });
  const { name } = benchmark;
  const folder = benchmark.folder ?? options.folder;
  if (folder === undefined) {
    throw new TypeError(
      `Cannot read ${name}: the folder with ${name}/test.jsonl must be given, got none`,
    );
  }
  const path = join(folder, name, "test.jsonl");
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`Cannot read ${name}: ${path} must be there (${error.code ?? error.message})`);
  });
  const items = utf8Text(bytes)
    .split("\n")
    .flatMap((line, number) => (line.trim() === "" ? [] : [{ line, number }]))
    .map(({ line, number }, index) => {
      try {
        return readItem(benchmark, line, index);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        throw new TypeError(`Cannot read ${path}, line ${number + 1}: ${why}`, { cause: error });
      }
    });
  if (items.length === 0) {
    throw new RangeError(`Cannot read ${path}: it must hold a question, got none`);
  }
  return { benchmark, items, path, sha256: sha256(bytes) };
}
