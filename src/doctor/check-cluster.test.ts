import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeHead } from "../scale/testing/fake-head.js";
import { checkCluster } from "./index.js";

const token = "t".repeat(40);

test("doctor says what a cluster is, and that one without a token is open to all", async (t) => {
  const head = await FakeHead.start(t);
  const open = await checkCluster(head.address);
  assert.deepEqual(
    open.map(({ id, status }) => `${id} ${status}`),
    ["cluster ok", "cluster-token warning", "cluster-nodes ok"],
  );
  assert.match(open[2]!.found, /1 nodes with 4 processors and 0 GPUs/);
  const closed = await FakeHead.start(t, token);
  const [refused] = await checkCluster(closed.address);
  assert.match(refused!.fix!, /RAY_AUTH_TOKEN/);
  process.env.RAY_AUTH_TOKEN = token;
  t.after(() => delete process.env.RAY_AUTH_TOKEN);
  assert.deepEqual(
    (await checkCluster(closed.address)).map(({ status }) => status),
    ["ok", "ok", "ok"],
  );
});
