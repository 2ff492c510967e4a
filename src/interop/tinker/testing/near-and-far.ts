import type { TestContext } from "node:test";
import { ModelTrainee, type StepReport, type StepWork } from "../../../learn/update/trainee.js";
import { type UpdateOptions, updateSettings } from "../../../learn/update/update-settings.js";
import { addLora } from "../../../model/lora/add-lora.js";
import { HfTokenizer } from "../../../model/tokenizer/hf-tokenizer.js";
import { Model } from "../../../model/transformer/transformer.js";
import { tinyTokenizer } from "../../../run/tiny/tiny-tokenizer.js";
import { detached } from "../../../tensor/detached.js";
import { ready } from "../../../tensor/backends.js";
import type { PassSequence } from "../../../learn/update/passes.js";
import { openTinker, type TinkerOptions } from "../engine.js";
import type { TinkerPolicy } from "../tinker-policy.js";
import { FakeServer, type FakeServerOptions } from "./fake-server.js";

export const tokenizer = new HfTokenizer(tinyTokenizer());
export const lora = { rank: 3, seed: 4 };

/** A model of a few weights whose sequences are no sense but many. */
export async function smallModel(family: "qwen2" | "qwen3" | "llama" = "qwen3"): Promise<Model> {
  await ready();
  const sizes = { hiddenSize: 16, intermediateSize: 24, layers: 1, heads: 2, contextLength: 128 };
  const { vocabSize, eosIds } = tokenizer;
  return Model.init({ family, vocabSize, eosIds: [...eosIds], ...sizes, initializerRange: 0.2 }, 3);
}

/** A fake server with a model that was opened there. */
export async function farModel(
  t: TestContext,
  base: Model,
  server: Partial<FakeServerOptions> = {},
  options: Partial<TinkerOptions> = {},
): Promise<{ server: FakeServer; far: TinkerPolicy }> {
  const fake = await new FakeServer({ base, tokenizer, reduction: "mean", ...server }).listen(t);
  const far = await openTinker(fake.url, {
    ...{ tokenizer, lora, backoffMs: 1, attempts: 4, note: () => undefined },
    ...options,
  });
  t.after(() => far.close());
  return { server: fake, far };
}

/** A model in memory whose updates take surprisals for entropies, as a server's must. */
export class SurprisedTrainee extends ModelTrainee {
  override step<R extends PassSequence>(work: StepWork<R>): Promise<StepReport> {
    const { lossOf } = work;
    return super.step({
      ...work,
      lossOf: (pass, { logprobs }) =>
        lossOf(pass, { logprobs, entropies: detached(logprobs.neg()) }),
    });
  }
}

/** The same adapters in memory as a server's. */
export function nearTrainee(base: Model, options: UpdateOptions = {}): SurprisedTrainee {
  const model = base.copy();
  addLora(model, { ...lora, alpha: 32 });
  return new SurprisedTrainee(model, updateSettings(options));
}

/** How far weights are apart, beside how far they moved: norms of differences. */
export function apart(
  from: ReadonlyMap<string, Float32Array>,
  a: ReadonlyMap<string, Float32Array>,
  b: ReadonlyMap<string, Float32Array>,
): { relative: number; moved: number } {
  let [difference, way] = [0, 0];
  for (const [name, start] of from) {
    start.forEach((value, i) => {
      difference += (a.get(name)![i]! - b.get(name)![i]!) ** 2;
      way += (b.get(name)![i]! - value) ** 2;
    });
  }
  return { relative: Math.sqrt(difference / way), moved: Math.sqrt(way) };
}

/** The adapters of a model in memory. */
export const adaptersOf = (model: Model): Map<string, Float32Array> =>
  new Map([...model.trainable].map(([name, w]) => [name, Float32Array.from(w.dataSync())]));
