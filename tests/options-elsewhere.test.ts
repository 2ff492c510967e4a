import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fetchModel } from "../src/interop/convert/fetch/fetch-model.js";
import { checkMachine } from "../src/doctor/check-machine.js";
import { checkCluster } from "../src/interop/job/check-cluster.js";
import { estimate } from "../src/doctor/estimate/estimate.js";
import { engine } from "../src/interop/engine.js";
import { Cluster, cluster } from "../src/interop/job/cluster.js";
import { TinkerClient } from "../src/interop/tinker/client/tinker-client.js";
import { exportVerl } from "../src/interop/verl/export-verl.js";
import {
  clearOutput,
  comms,
  display,
  emptyNotebook,
  pageOf,
  progress,
  prompt,
  registerStage,
  widget,
} from "../kernel/index.js";
import { executeNotebook, KernelClient, LabServer, ownKernel } from "../kernel/experimental.js";
import { HfTokenizer, Model } from "../src/api/model.js";
import { Policy } from "../src/api/policy.js";
import { DataFrame } from "../src/interop/frame/danfo.js";
import { readCSV, readJSON, toJSON } from "../src/interop/frame/files.js";
import { trainBpe } from "../src/model/tokenizer/train-bpe.js";
import { refuseWrongOptions } from "./wrong-options.js";

const sizes = { vocabSize: 270, hiddenSize: 8, intermediateSize: 16, layers: 1, heads: 2 };
const tokenizer = new HfTokenizer(trainBpe(["low lower lowest"], { vocabSize: 270 }));
const local = Policy.fromModel(Model.init(sizes, 1), tokenizer);
const folder = mkdtempSync(join(tmpdir(), "arpo-options-"));
process.once("exit", () => {
  rmSync(folder, { recursive: true });
});
writeFileSync(join(folder, "a.csv"), "a\n1\n");
writeFileSync(join(folder, "a.json"), '[{"a":1}]');
// Nothing listens there: what is refused is refused before anybody is asked.
const nowhere = new Cluster("http://127.0.0.1:9", {});

refuseWrongOptions({
  fetchModel: [(o) => fetchModel("smollm2", o)],
  checkMachine: [(o) => checkMachine(o)],
  checkCluster: [(o) => checkCluster("http://127.0.0.1:9", o)],
  estimate: [(o) => estimate({ config: {}, policy: local, train: [] } as never, o)],
  cluster: [(o) => cluster("http://127.0.0.1:9", o)],
  "cluster.submit": [(o) => nowhere.submit({}, o)],
  "cluster.sweep": [(o) => nowhere.sweep({}, o)],
  "engine.tinker": [(o) => engine.tinker("http://127.0.0.1:9", o), { tokenizer }],
  "TinkerClient.connect": [(o) => TinkerClient.connect("http://127.0.0.1:9", o)],
  exportVerl: [(o) => exportVerl({}, "none", o)],
  readCSV: [(o) => readCSV(join(folder, "a.csv"), o)],
  readJSON: [(o) => readJSON(join(folder, "a.json"), o)],
  toJSON: [(o) => toJSON(new DataFrame([{ a: 1 }]), o)],
  display: [(o) => display("a", o)],
  clearOutput: [(o) => clearOutput(o)],
  prompt: [(o) => prompt("a", o)],
  "prompt.sync": [(o) => prompt.sync("a", o)],
  progress: [(o) => progress([], o)],
  "progress.bar": [(o) => progress.bar(o)],
  "comms.open": [
    (o) => {
      try {
        comms.open("a", {}, o);
      } catch (error) {
        // Options that are taken go on to a front end, and there is none.
        if (!/a front end must be there/.test(String(error))) throw error;
      }
    },
  ],
  widget: [(o) => widget(o), { esm: "" }],
  registerStage: [(o) => registerStage(o), { name: "a", doc: "", options: {}, template: "" }],
  pageOf: [(o) => pageOf(emptyNotebook().notebook, o), { title: "a" }],
  executeNotebook: [
    (o) => executeNotebook(emptyNotebook().notebook, o),
    { kernel: ownKernel(), cwd: "." },
  ],
  "KernelClient.start": [
    async (o) => (await KernelClient.start(ownKernel(), o)).kill(),
    { cwd: "." },
  ],
  "LabServer.start": [async (o) => (await LabServer.start(o)).stop(), { folder }],
});
