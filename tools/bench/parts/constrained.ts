// What it costs to hold 16 sequences to schemas: tokens per second beside the same sequences free, in turns. Lists of
// so many items that none ends before its last token.
import { availableParallelism, cpus, loadavg } from "node:os";
import { Random } from "../../../src/base/random/random.js";
import { defined } from "../../../common/options/defined.js";
import type { Constraint } from "../../../src/policy/policy.js";
import { Policy } from "../../../src/policy/policies.js";
import { jsonConstraint } from "../../../src/policy/structured/json-constraint.js";
import type { Figure } from "../figure.js";

const sequences = 16;
const maxTokens = 48;
const rounds = 5;

const listOf = (items: object) => ({ type: "array", minItems: 200, items });
const schemas = [
  listOf({ type: "integer", minimum: -90, maximum: 6000 }),
  listOf({ enum: ["north", "east", "south", "west"] }),
  listOf({ type: "string", minLength: 3, maxLength: 40 }),
  listOf({
    type: "object",
    properties: { name: { type: "string" }, size: { type: "number" }, done: { type: "boolean" } },
    required: ["name", "size", "done"],
    additionalProperties: false,
  }),
];

interface Speed {
  /** Tokens per second of all sequences together. */
  wall: number;
  /** Milliseconds of CPU a token. */
  processor: number;
}

const best = (a: Speed | undefined, b: Speed): Speed => ({
  wall: Math.max(a?.wall ?? 0, b.wall),
  processor: Math.min(a?.processor ?? Infinity, b.processor),
});

async function decoded(policy: Policy, constraints: readonly Constraint[]): Promise<Speed> {
  const session = policy.session();
  const stem = session.open(
    policy.tokenizer.encode("Tell me about ten towns and the way to each."),
  );
  const rows = Array.from({ length: sequences }, () => session.fork(stem));
  const [start, before] = [performance.now(), process.cpuUsage()];
  const segments = await Promise.all(
    rows.map((row, i) =>
      session.generate(row, {
        ...{ maxTokens, random: Random.from(i) },
        ...defined({ constraint: constraints[i % constraints.length] }),
      }),
    ),
  );
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(before);
  const tokens = segments.reduce((sum, segment) => sum + segment.tokens.length, 0);
  session.dispose();
  return { wall: tokens / seconds, processor: (user + system) / 1000 / tokens };
}

/** The machine, and whether others used it. */
function machine(): string {
  const [load = 0] = loadavg();
  const cores = availableParallelism();
  const idle = load > cores ? "not idle" : "idle";
  return `${cores} cores of ${cpus()[0]?.model.trim() ?? "unknown"}, load ${load.toFixed(1)} (${idle})`;
}

/** Tokens per second and CPU time of a token, held and free. */
export async function* constrained(model: string, backend: string): AsyncIterable<Figure> {
  const policy = await Policy.load(model);
  const held = schemas.map((schema) => jsonConstraint(policy.tokenizer, schema));
  const where = machine();
  let [ours, free]: [Speed | undefined, Speed | undefined] = [undefined, undefined];
  for (let round = -1; round < rounds; round++) {
    const [constrained, unheld] = [await decoded(policy, held), await decoded(policy, [])];
    if (round >= 0) [ours, free] = [best(ours, constrained), best(free, unheld)];
  }
  policy.dispose();
  const baseline = `free decoding, ${where}`;
  for (const [name, of, unit] of [
    ["tok_s", ({ wall }: Speed) => wall, "tok/s"],
    ["processor_ms", ({ processor }: Speed) => processor, "ms a token"],
  ] as const) {
    const [value, baselineValue] = [of(ours!), of(free!)];
    yield {
      ...{ name: `real.constrained_${sequences}_sequences.${name}`, value, unit, backend },
      ...{ baseline, baselineValue, ratio: value / baselineValue },
    };
  }
}
