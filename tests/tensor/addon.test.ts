import assert from "node:assert/strict";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { findAddon } from "../../src/tensor/engine/native-engine.js";

const addon = findAddon();

test(
  "the addon stays when the worker that loaded it first ends",
  { skip: !addon && "no addon here" },
  async () => {
    const work = `
    const { workerData, parentPort } = require("node:worker_threads");
    const addon = require(workerData);
    addon.set_threads(4);
    const sums = new Float32Array(1024);
    addon.column_sum(new Float32Array(1 << 20).fill(1), sums, 1024, 1024);
    parentPort.postMessage(sums[1023]);`;
    // The pool's threads sleep in the addon's code between the workers, and are woken there by the next.
    for (let turn = 0; turn < 3; turn++) {
      const worker = new Worker(work, { eval: true, workerData: addon });
      const sum = new Promise((done, failed) => worker.once("message", done).once("error", failed));
      const ended = new Promise((done) => worker.once("exit", done));
      assert.equal(await sum, 1024);
      assert.equal(await ended, 0);
    }
  },
);
