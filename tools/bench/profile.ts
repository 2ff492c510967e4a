// What each operation of a training step takes and what share of this machine's limit that is, at the sizes of
// `bench engine`: `npm run bench -- profile [small] [large] [--runs N]`. The time is CPU time of one thread, which
// a busy machine disturbs least; `--wall` measures all threads by the clock.
import { tf } from "../../src/tensor/tf.js";
import { compiledEngine } from "../../src/tensor/engine/compiled-engine.js";
import { ready } from "../../src/tensor/backends.js";
import { measureMachine } from "../../src/tensor/profile/machine.js";
import { profile } from "../../src/tensor/profile/profile.js";
import type { Benchmark } from "./figure.js";
import { engineSizes, type EngineSize } from "./parts/engine-sizes.js";
import { trainStep } from "./parts/train-step.js";

export const figures: Benchmark = async function* (args) {
  await ready();
  const wall = args.includes("--wall");
  if (!wall) compiledEngine()?.call.set_threads(1);
  const limits = compiledEngine() && measureMachine();
  const runs = Number(args[args.indexOf("--runs") + 1]) || 10;
  const sizes = Object.keys(engineSizes) as EngineSize[];
  const chosen = sizes.filter((size) => args.includes(size));
  for (const size of chosen.length > 0 ? chosen : sizes) {
    const { model, step } = await trainStep(size);
    const report = await profile(step, {
      ...{ runs, warmUps: 2, clock: wall ? "wall" : "cpu" },
      ...(limits && { limits }),
    });
    if (!args.includes("--json")) console.log(`${size}: ${report}`);
    for (const { operation, milliseconds, ofLimit } of report.operations) {
      const name = `profile.${size}.${operation.replaceAll(" ", "_")}_ms`;
      const share = ofLimit === undefined ? {} : { share: ofLimit };
      if (args.includes("--json"))
        yield { name, value: milliseconds, unit: "ms", backend: tf.getBackend(), ...share };
    }
    const { productMilliseconds: products, milliseconds } = report;
    const figure = { unit: "ms", backend: tf.getBackend() };
    yield { name: `profile.${size}.products_ms`, value: products, ...figure };
    yield { name: `profile.${size}.step_ms`, value: milliseconds, ...figure };
    model.dispose();
  }
};
