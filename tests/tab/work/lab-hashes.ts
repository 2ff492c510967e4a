import {
  advantages,
  Policy,
  Random,
  rollout,
  score,
  tasks,
  ToolSet,
  update,
  world,
} from "../../../src/api/index.js";
import { packagePath } from "#platform/modules";
import { readFile } from "#platform/files";
import { sha256 } from "#platform/sha256";
import { worldPages } from "../../../src/tasks/tasks/world.js";
import { saveModel } from "../../../src/model/files/save-model.js";
import { calculator } from "../../../src/tools/calculator/calculator.js";
import { offlineSearch } from "../../../src/tools/search/offline.js";
import { searchTool } from "../../../src/tools/search/search-tool.js";

/** What came out of the same work, as hashes: equal in two places only where all of it is. */
export interface LabHashes {
  greedy: string;
  texts: string;
  logprobs: string;
  weights: string;
  second: string;
  /** Log-probabilities of the greedy tokens; no hash. */
  known: number[];
  /** How the work went, in milliseconds; no hash. */
  ms: { load: number; greedy: number; rollout: number; updates: number };
}

/** Greedy tokens, a tree of 16 trajectories, its score, two updates, another tree. */
export async function labHashes(folder: string): Promise<LabHashes> {
  const start = performance.now();
  const policy = await Policy.load(packagePath("data/models/tiny"));
  const { tokenizer } = policy;
  const loaded = performance.now();

  const session = policy.session();
  const row = session.open(tokenizer.encode("The capital of"));
  const greedy = await session.generate(row, {
    maxTokens: 64,
    temperature: 0,
    random: Random.from(1),
  });
  session.dispose();
  const written = performance.now();

  const tools = new ToolSet([
    calculator({ tag: "python" }),
    searchTool({ provider: offlineSearch({ pages: worldPages(world) }), maxResults: 3 }),
  ]);
  const task = tasks.multihop({ seed: 2 }).train[5]!;
  const grow = (seed: number) =>
    rollout(policy, task, { preset: "arpo", n: 16, responseLength: 256, seed, tools });
  const tree = await grow(1);
  const grown = performance.now();

  const batch = advantages(await score(tree), { estimator: "grpo" });
  const options = { preset: "aepo" as const, learningRate: 5e-4, epochs: 2 };
  await update(policy, batch, options);
  await update(policy, batch, options);
  const updated = performance.now();
  await saveModel(policy.model, folder);
  const second = await grow(2);
  await tools.dispose();

  const numbers = tree.selected.flatMap(({ logprobs, entropies }) => [...logprobs, ...entropies]);
  const textsOf = (one: typeof tree) => one.selected.map(({ text }) => text);
  return {
    greedy: sha256(JSON.stringify([...greedy.tokens])),
    texts: sha256(JSON.stringify(textsOf(tree))),
    logprobs: sha256(new Uint8Array(Float64Array.from(numbers).buffer)),
    weights: sha256(await readFile(`${folder}/model.safetensors`)),
    second: sha256(JSON.stringify(textsOf(second))),
    known: [...greedy.logprobs],
    ms: {
      load: loaded - start,
      greedy: written - loaded,
      rollout: grown - written,
      updates: updated - grown,
    },
  };
}
