import {
  consoleLogger,
  LlmJudge,
  mlflowLogger,
  readBenchmark,
  taskFromRow,
  train,
  wandbLogger,
} from "../src/api/run.js";
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { type Call, type Functions, refusal, refuseWrongOptions } from "./wrong-options.js";
import {
  advantages,
  Critic,
  filterGroups,
  fineTune,
  judgeReward,
  Learner,
  losses,
  score,
  tokenUpdate,
  TrainingBatch,
  update,
  UpdateReport,
} from "../src/api/learn.js";
import {
  addLora,
  HfTokenizer,
  loadModel,
  Model,
  saveAdapter,
  saveModel,
  tf,
} from "../src/api/model.js";
import { Policy, RemotePolicy } from "../src/api/policy.js";
import { saveRandomModel } from "../src/model/files/save-model.js";
import { LocalPolicy } from "../src/policy/local-policy.js";
import { dynamicBudget, rollout, segmentEntropy } from "../src/api/rollout.js";
import {
  demonstrations,
  evaluate,
  loadConfig,
  readTasks,
  saveTrees,
  tasks,
  trainOn,
} from "../src/api/index.js";
import {
  brightData,
  calculator,
  deepSearchTool,
  environments,
  fileTool,
  httpEnvironment,
  jsonEndpoint,
  loadTools,
  mcpTools,
  offlineSearch,
  pythonTool,
  SearchCache,
  searchTool,
  searxng,
  systemPython,
  ToolSet,
} from "../src/api/tools.js";
import {
  advantageHeat,
  board,
  branchingView,
  branchTimeline,
  clipComparison,
  compareRuns,
  creditView,
  entropyProfile,
  entropyTree,
  explain,
  explore,
  reportPage,
  saveFigure,
  tokenView,
  toolUse,
  toPng,
  toRows,
} from "../src/api/view.js";
import { creditOf } from "../src/learn/advantages.js";
import { demonstrate } from "../src/tasks/tasks/demonstrate.js";
import { actorLoss } from "../src/learn/losses/losses.js";
import { saveGguf } from "../src/model/export/save-gguf.js";
import { evaluateOutputs } from "../src/eval/evaluate-outputs.js";
import { infer } from "../src/eval/infer/infer.js";
import { evaluateEnvironment } from "../src/eval/environment/evaluate-environment.js";
import { Endpoints } from "../src/base/http/endpoints.js";
import { PolicyServer } from "../src/interop/serve/policy-server.js";
import { remoteSummarizer } from "../src/tools/pages/remote-summarizer.js";
import { checkConfig } from "../src/doctor/check-config.js";
import { compareCheckpoints } from "../src/interop/convert/compare-checkpoints.js";
import { convertCheckpoint } from "../src/interop/convert/convert-checkpoint.js";
import { recordedRise } from "../src/measure/entropy/entropy-rise.js";
import { readRollouts } from "../src/formats/read-rollouts.js";
import { importRollouts } from "../src/formats/import-rollouts.js";
import { fillIn } from "../src/formats/fill-in.js";
import { encodeConversation } from "../src/learn/sft/encode.js";
import { worldDemonstrations } from "../src/run/tiny/world-demonstrations.js";
import { learningRateFactor } from "../src/learn/update/schedule.js";
import { DataFrame } from "../src/interop/frame/danfo.js";
import { toCSV } from "../src/interop/frame/files.js";
import { AdamW } from "../src/tensor/adamw.js";
import { trainBpe } from "../src/model/tokenizer/train-bpe.js";
import { Random } from "../src/base/random/random.js";
import { randomTextPolicy } from "../src/rollout/testing/random-text-policy.js";

const policy = randomTextPolicy();
const task = { prompt: "6*7?", groundTruth: "42" };
const tree = await rollout(policy, task, { n: 4, seed: 1 });
const scored = await score(tree, ({ length }) => length % 2);
const batch = advantages(scored);
const sizes = { vocabSize: 128, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 };
const model = Model.init(sizes, 1);
const critic = new Critic(Model.init({ ...sizes, head: "value" }, 1));
const learner = new Learner(model);
const tokenizer = new HfTokenizer(trainBpe(["low lower lowest"], { vocabSize: 270 }));
const local = Policy.fromModel(Model.init({ ...sizes, vocabSize: 270 }, 1), tokenizer);
const session = local.session();
const sequence = session.open([1, 2]);
const random = Random.from(1);

const set = tasks.calc({ train: 1, test: 0 });
const ones = tf.ones([1, 1]);
const lossInput = { logprobs: ones, oldLogprobs: ones, advantages: ones, mask: ones };
const benchmark = { benchmark: { name: "none" }, items: [], path: "", sha256: "" } as never;
const urls = { urls: ["http://localhost:1/v1"] };
const folder = mkdtempSync(join(tmpdir(), "arpo-options-"));
process.once("exit", () => {
  rmSync(folder, { recursive: true });
});
const logged = { folder, project: "p", run: "r", config: {} };
const provider = offlineSearch({ pages: [{ title: "a", text: "b" }] });

const functions: Functions = {
  rollout: [(o) => rollout(policy, task, o)],
  "tree.fork": [(o) => tree.fork(1, o)],
  "tree.replay": [(o) => tree.replay(o)],
  "session.generate": [(o) => session.generate(sequence, o), { maxTokens: 1, random }],
  segmentEntropy: [(o) => segmentEntropy(tree.nodes[1]! as never, 128, o)],
  advantages: [(o) => advantages(scored, o)],
  creditOf: [(o) => creditOf(scored, o)],
  update: [(o) => update({ model }, batch, o)],
  Learner: [(o) => new Learner(model, o)],
  "learner.update": [(o) => learner.update(batch, o)],
  Critic: [(o) => new Critic(critic.model, o)],
  "critic.update": [(o) => critic.update(batch, o)],
  learningRateFactor: [(o) => learningRateFactor(o, 1), { style: "constant" }],
  toRows: [(o) => toRows(tree, o)],
  score: [(o) => score(tree, ({ length }) => length, o)],
  // More prompts than tasks: what takes an option ends there, before it trains.
  trainOn: [(o) => trainOn(local, tasks.calc({ train: 2, test: 0 }), o), { prompts: 3 }],
  fineTune: [(o) => fineTune(local, [], o)],
  evaluate: [(o) => evaluate(local, [task], o)],
  "policy.generate": [(o) => local.generate("low", o), { maxTokens: 1 }],
  "policy.logProbs": [(o) => local.logProbs([{ prompt: [1], tokens: [2] }], o)],
  "Policy.load": [(o) => Policy.load("data/models/none", o)],
  "Policy.fromModel": [(o) => Policy.fromModel(local.model, tokenizer, o)],
  "tasks.calc": [(o) => tasks.calc(o), { train: 1, test: 1 }],
  "tasks.lookup": [(o) => tasks.lookup(o), { train: 1, test: 1 }],
  "tasks.mixed": [(o) => tasks.mixed(o), { train: 1, test: 1 }],
  "tasks.multihop": [(o) => tasks.multihop(o), { train: 1, test: 1 }],
  "environments.maze": [(o) => environments.maze(o), { train: 1, test: 1 }],
  "environments.shop": [(o) => environments.shop(o), { train: 1, test: 1 }],
  ToolSet: [(o) => new ToolSet([], o)],
  calculator: [(o) => calculator(o)],
  fileTool: [(o) => fileTool(o), { folder: "." }],
  entropyTree: [(o) => entropyTree(tree, o)],
  branchTimeline: [(o) => branchTimeline(tree, o)],
  toolUse: [(o) => toolUse([tree], o)],
  advantageHeat: [(o) => advantageHeat(batch, o)],
  explore: [(o) => explore(tree, o)],
  board: [(o) => board({ a: [[{ step: 1 }]] }, o)],
  explain: [(o) => explain(batch, o)],
  branchingView: [(o) => branchingView(tree, o)],
  creditView: [(o) => creditView(scored, o)],
  tokenView: [(o) => tokenView(new UpdateReport({}, new TrainingBatch([], "grpo"), {}, 0), o)],
  clipComparison: [(o) => clipComparison(new TrainingBatch([], "grpo"), o)],
  entropyProfile: [(o) => entropyProfile(tree, o)],
  toPng: [(o) => toPng({ data: [], layout: {} }, o)],
  saveFigure: [(o) => saveFigure("none.png", { data: [], layout: {} }, o)],
  reportPage: [(o) => reportPage({ benchmarks: [], samples: [], settings: {} } as never, o)],
  pythonTool: [(o) => pythonTool(o)],
  systemPython: [(o) => systemPython(o)],
  searchTool: [(o) => searchTool(o), { provider }],
  offlineSearch: [(o) => offlineSearch(o)],
  searxng: [(o) => searxng(o), { url: "http://x" }],
  brightData: [(o) => brightData(o)],
  jsonEndpoint: [(o) => jsonEndpoint(o), { url: "http://x" }],
  SearchCache: [(o) => new SearchCache(o)],
  "searchCache.text": [(o) => new SearchCache().text("query", o)],
  deepSearchTool: [(o) => deepSearchTool(o), { provider }],
  mcpTools: [(o) => mcpTools({ command: "no-such-program" }, o)],
  loadTools: [(o) => loadTools({}, o)],
  httpEnvironment: [(o) => httpEnvironment("http://x", o), { tools: {} }],
  loadModel: [(o) => loadModel("none", o)],
  saveModel: [(o) => saveModel(model, "none", o)],
  saveRandomModel: [(o) => saveRandomModel(model.config, 1, "none", o)],
  saveAdapter: [(o) => saveAdapter(model, "none", o)],
  addLora: [(o) => addLora(model, o), { rank: 1, alpha: 1 }],
  saveGguf: [(o) => saveGguf(model, tokenizer, "none", o)],
  "tokenizer.decode": [(o) => tokenizer.decode([1], o)],
  "tokenizer.chat": [(o) => tokenizer.chat([], o)],
  saveTrees: [(o) => saveTrees("none.jsonl", [], o)],
  dynamicBudget: [(o) => dynamicBudget(4, 1, [], o)],
  taskFromRow: [(o) => taskFromRow({ prompt: "a" }, 0, o)],
  readTasks: [(o) => readTasks("none", o)],
  demonstrations: [(o) => demonstrations([], o)],
  demonstrate: [(o) => demonstrate(set.train[0]!, set.expert, String, o), { random }],
  ...Object.fromEntries(
    Object.entries(losses).map(([name, loss]): [string, readonly [Call]] => [
      `losses.${name}`,
      [(o) => loss(lossInput, o)],
    ]),
  ),
  actorLoss: [(o) => actorLoss(lossInput, o)],
  tokenUpdate: [(o) => tokenUpdate(1, 1, o)],
  filterGroups: [(o) => filterGroups({ groups: [], metric: [] }, o)],
  judgeReward: [(o) => judgeReward({ judge: () => Promise.resolve([]) }, o)],
  "evaluate of a benchmark": [(o) => evaluate(local, benchmark, o)],
  infer: [(o) => infer(local, [benchmark], o)],
  evaluateEnvironment: [
    (o) => evaluateEnvironment(local, environments.maze({ size: 2 }) as never, o),
  ],
  evaluateOutputs: [(o) => evaluateOutputs(import.meta.dirname, o)],
  readBenchmark: [(o) => readBenchmark({ name: "none" } as never, o)],
  LlmJudge: [(o) => new LlmJudge(o), { ...urls, model: "m" }],
  remoteSummarizer: [(o) => remoteSummarizer(o), { ...urls, model: "m" }],
  Endpoints: [(o) => new Endpoints(o), urls],
  RemotePolicy: [(o) => new RemotePolicy(o), { ...urls, model: "m", tokenizer, contextLength: 9 }],
  "Policy.remote": [(o) => Policy.remote(urls.urls, o), { tokenizer }],
  PolicyServer: [(o) => PolicyServer.start(local, o)],
  wandbLogger: [(o) => wandbLogger(o), logged],
  mlflowLogger: [(o) => mlflowLogger(o), logged],
  consoleLogger: [(o) => consoleLogger(o)],
  loadConfig: [(o) => loadConfig(o)],
  train: [(o) => train({ config: {} } as never, o), { folder: "none" }],
  "toolSet.call": [(o) => new ToolSet([calculator()]).call("calc", "1", o)],
  "toolSet.run": [(o) => new ToolSet().run(calculator(), "1", o)],
  trainBpe: [(o) => trainBpe([], o), { vocabSize: 260 }],
  LocalPolicy: [(o) => new LocalPolicy(o), { name: "n", tokenizer, decoder: {} }],
  checkConfig: [(o) => checkConfig(o)],
  compareCheckpoints: [(o) => compareCheckpoints("none", "none", o)],
  convertCheckpoint: [(o) => convertCheckpoint("none", "none", o)],
  recordedRise: [(o) => recordedRise(tree, o)],
  readRollouts: [(o) => readRollouts([], o)],
  importRollouts: [(o) => importRollouts("none", o)],
  fillIn: [(o) => fillIn([tree], local, o)],
  encodeConversation: [(o) => encodeConversation({ turns: [] }, tokenizer, o)],
  worldDemonstrations: [(o) => worldDemonstrations(o), { counts: {}, seed: 1 }],
  AdamW: [(o) => new AdamW(new Map(), o), { learningRate: 1e-3 }],
  "adamw.step": [(o) => new AdamW(new Map(), { learningRate: 1 }).step({}, o)],
  "model.forward": [(o) => model.forward(model.batch([[1, 2]]), o)],
  "model.logProbs": [(o) => model.logProbs(model.batch([[1, 2]]), tf.tensor2d([[2, 3]]), o)],
  "model.values": [(o) => critic.model.values(critic.model.batch([[1, 2]]), o)],
  toCSV: [(o) => toCSV(new DataFrame([{ a: 1 }]), o)],
  compareRuns: [(o) => compareRuns({ a: [[{ step: 1, "critic/score/mean": 1 }]] }, o)],
};

refuseWrongOptions(functions);

test("the options that a review found silently accepted are refused by name", async () => {
  const found: [Call, object, RegExp][] = [
    [(o) => new Critic(critic.model, o), { miniBatchSize: 0 }, /miniBatchSize must be an integer/],
    [
      (o) => new Critic(critic.model, o),
      { miniBatchSize: 0.5 },
      /miniBatchSize must be an integer/,
    ],
    [
      (o) => advantages(scored, o),
      { attribution: "hrd" },
      /attribution must .*did you mean "hard"\?/,
    ],
    [(o) => advantages(scored, o), { gamma: NaN }, /gamma must be a number from 0 to 1, got NaN/],
    [(o) => advantages(scored, o), { estimator: "gpro" }, /estimator .*did you mean "grpo"\?/],
    [
      (o) => rollout(policy, task, o),
      { entropy: { normalizer: "lnvocab" } },
      /entropy.normalizer .*did you mean "ln-vocab"\?/,
    ],
    [
      (o) => rollout(policy, task, o),
      { entropy: { measure: "poold" } },
      /entropy.measure .*did you mean "pooled"\?/,
    ],
    [
      (o) => rollout(policy, task, o),
      { dynamicRollouts: { formula: "papr" } },
      /formula .*did you mean "paper"\?/,
    ],
    [
      (o) => rollout(policy, task, o),
      { branchProbability: 7 },
      /branchProbability must be a number from 0 to 1, got 7/,
    ],
    [
      (o) => rollout(policy, task, o),
      { brnchProbability: 0.5 },
      /got brnchProbability; did you mean branchProbability\?/,
    ],
    [
      (o) => learningRateFactor(o, 1),
      { style: "cosin", totalSteps: 9 },
      /style .*did you mean "cosine"\?/,
    ],
    [(o) => toRows(tree, o), { by: "nod" }, /by must be one of .*did you mean "node"\?/],
    [
      (o) => toRows(tree, o),
      { by: "metric" },
      /by must be one of trajectory, node, token, got "metric"/,
    ],
    [(o) => toRows(scored, o), { by: "token" }, /by must be left out/],
  ];
  for (const [call, options, message] of found) {
    assert.match((await refusal(call, options)) ?? "taken", message);
  }
});
