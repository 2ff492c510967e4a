import assert from "node:assert/strict";
import { test } from "node:test";
import type { CommTraffic } from "../../contract/bridge.js";
import { CommTable } from "../../run/comm-table.js";
import { FakeHost } from "../../../tests/display/fake-host.js";
import { formatValue } from "../format.js";
import { joinBuffers, splitBuffers, widget } from "./widget.js";

type Data = Record<string, unknown>;

/** A page as far as the protocol goes: it keeps models as comms tell it to, and can change them. */
class Page {
  readonly models = new Map<string, Data>();
  readonly log: CommTraffic[] = [];
  readonly comms = new CommTable((traffic) => this.#take(traffic));

  #take(traffic: CommTraffic): void {
    this.log.push(traffic);
    const { event, commId, data, buffers } = traffic;
    if (event === "close") this.models.delete(commId);
    const method = data["method"];
    if (event === "open" || method === "update" || method === "echo_update") {
      const paths = (data["buffer_paths"] ?? []) as (string | number)[][];
      const state = joinBuffers(structuredClone(data["state"] as Data), paths, buffers);
      this.models.set(commId, { ...this.models.get(commId), ...state });
    }
  }

  say(
    commId: string,
    data: Data,
    buffers: Uint8Array[] = [],
    event: CommTraffic["event"] = "message",
    target = "",
  ): Promise<void> {
    return Promise.resolve(
      this.comms.receive({ type: "comm", event, commId, target, data, metadata: {}, buffers }),
    );
  }
}

async function inPage<T>(body: (page: Page) => T | Promise<T>): Promise<T> {
  const page = new Page();
  return await new FakeHost(page.comms).within(() => body(page));
}

test("widget() opens a model that an anywidget page can build", async () => {
  await inPage(async (page) => {
    const w = widget({ esm: "export default {}", css: ".a{}", state: { n: 1 } });
    const [open] = page.log;
    assert.equal(open?.target, "jupyter.widget");
    assert.deepEqual(open.metadata, { version: "2.1.0" });
    const model = page.models.get(w.id)!;
    assert.deepEqual(
      [model["_model_module"], model["_view_name"], model["_esm"], model["_css"], model["n"]],
      ["anywidget", "AnyView", "export default {}", ".a{}", 1],
    );
    const bundle = await formatValue(w);
    assert.deepEqual(bundle?.["application/vnd.jupyter.widget-view+json"], {
      version_major: 2,
      version_minor: 1,
      model_id: w.id,
    });
    assert.equal(bundle["text/plain"], "Widget { n: 1 }");
  });
});

test("Widget state goes both ways, is echoed, and tells who listens", async () => {
  await inPage(async (page) => {
    const w = widget({ esm: "", state: { n: 1, s: "a" } });
    const heard: unknown[] = [];
    const stop = w.onChange((changed) => void heard.push(changed));
    w.set({ n: 2 });
    assert.equal(page.models.get(w.id)?.["n"], 2);
    await page.say(w.id, { method: "update", state: { n: 3, _view_count: 1 }, buffer_paths: [] });
    assert.equal(w.get("n"), 3);
    assert.deepEqual(w.state, { n: 3, s: "a" });
    assert.deepEqual(page.log.at(-1)?.data, {
      method: "echo_update",
      state: { n: 3, _view_count: 1 },
      buffer_paths: [],
    });
    stop();
    await page.say(w.id, { method: "update", state: { n: 4 } });
    assert.deepEqual(heard, [{ n: 3 }]);
  });
});

test("Widget messages and bytes go both ways", async () => {
  await inPage(async (page) => {
    const w = widget({
      esm: "",
      state: { image: new Uint8Array([1, 2]), list: [new Float32Array([1]), 5] },
    });
    assert.deepEqual(page.models.get(w.id)?.["image"], new Uint8Array([1, 2]));
    assert.deepEqual((page.models.get(w.id)?.["list"] as unknown[])[1], 5);
    const heard: unknown[] = [];
    w.onMessage((content, buffers) => void heard.push(content, buffers[0]));
    await page.say(w.id, { method: "custom", content: { click: 1 } }, [new Uint8Array([7])]);
    assert.deepEqual(heard, [{ click: 1 }, new Uint8Array([7])]);
    w.send("pong", [new Uint8Array([8])]);
    assert.deepEqual(page.log.at(-1)?.data, { method: "custom", content: "pong" });
    assert.deepEqual(page.log.at(-1)?.buffers, [new Uint8Array([8])]);
    await page.say(w.id, { method: "update", state: {}, buffer_paths: [["image"]] }, [
      new Uint8Array([9]),
    ]);
    assert.deepEqual(w.get("image"), new Uint8Array([9]));
  });
});

test("a reloaded page gets every model back, one by one or at once", async () => {
  await inPage(async (page) => {
    const a = widget({ esm: "A", state: { n: 1 } });
    const b = widget({ esm: "B", state: { bytes: new Uint8Array([5]) } });
    page.models.clear();
    await page.say(a.id, { method: "request_state" });
    assert.deepEqual(page.models.get(a.id)?.["_esm"], "A");
    await page.say("ctl", {}, [], "open", "jupyter.widget.control");
    await page.say("ctl", { method: "request_states" });
    const { data, buffers } = page.log.at(-1)!;
    const states = data["states"] as Record<string, { model_name: string; state: Data }>;
    assert.deepEqual(Object.keys(states), [a.id, b.id]);
    assert.equal(states[b.id]?.model_name, "AnyModel");
    assert.deepEqual(data["buffer_paths"], [[b.id, "state", "bytes"]]);
    assert.deepEqual(buffers, [new Uint8Array([5])]);
    a.close();
    await page.say("ctl", { method: "request_states" });
    assert.deepEqual(Object.keys(page.log.at(-1)!.data["states"] as object), [b.id]);
  });
});

test("an error in a listener reaches whoever delivered the message", async () => {
  await inPage(async (page) => {
    const w = widget({ esm: "", state: { n: 1 } });
    w.onChange(() => Promise.reject(new Error("in the listener")));
    await assert.rejects(page.say(w.id, { method: "update", state: { n: 2 } }), /in the listener/);
    assert.equal(w.get("n"), 2);
  });
});

test("widget() refuses a state that would break the protocol", () => {
  assert.throws(
    () => widget({ esm: "", state: { _esm: "x" } }),
    /must not be one of the protocol's, got _esm/,
  );
});

test("widget() outside a kernel keeps its state and shows its text", async () => {
  const w = widget({ esm: "", state: { n: 1 } });
  w.set({ n: 2 });
  w.send("nobody hears");
  w.close();
  assert.deepEqual(await formatValue(w), { "text/plain": "Widget { n: 2 }" });
});

test("splitBuffers() and joinBuffers() undo each other and reach no prototype", () => {
  const state = { a: { b: new Uint8Array([1]), c: 1 }, d: [new Uint8Array([2]), null], e: "x" };
  const split = splitBuffers(state);
  assert.deepEqual(split.state, { a: { c: 1 }, d: [null, null], e: "x" });
  assert.deepEqual(split.paths, [
    ["a", "b"],
    ["d", 0],
  ]);
  assert.deepEqual(joinBuffers(split.state, split.paths, split.buffers), state);
  for (const path of [["nowhere", "x"], ["__proto__", "polluted"], ["__proto__"], []]) {
    assert.throws(
      () => joinBuffers({}, [path], [new Uint8Array(1)]),
      /its path must lead into the state/,
    );
  }
});
