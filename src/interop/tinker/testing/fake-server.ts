import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Model } from "../../../model/transformer/transformer.js";
import { saveAdapter } from "../../../model/lora/save-adapter.js";
import type { Tokenizer } from "../../../model/tokenizer/tokenizer.js";
import { ModelPolicy } from "../../../policy/policy-from-model.js";
import { Random } from "../../../base/random/random.js";
import { FakeModel, type Snapshot, type WireAdam, type WireDatum } from "./fake-model.js";
import { tarOf } from "./tar.js";

/** What goes wrong with a request, if anything. */
export type Fault =
  /** Refused before anything is done. */
  | { status: number; headers?: Record<string, string>; detail?: string }
  /** The connection breaks, before the request is done or after. */
  | "broken before"
  | "broken after";

export interface FakeServerOptions {
  base: Model;
  tokenizer: Tokenizer;
  /** How SkyRL's JAX backend is (`mean`), or Thinking Machines' service. */
  reduction: "sum" | "mean";
  /** Whether asked-for alternatives are given. Default: by a service, not by SkyRL. */
  topk?: boolean;
  /** Asked for every request; `count` is the number of requests to that path before. */
  fault?: (path: string, count: number) => Fault | undefined;
  /** How often work is said to be still under way before it is told. */
  tryAgain?: (path: string) => number;
}

interface Work {
  result: Promise<unknown>;
  left: number;
}

type Body = Record<string, unknown>;

/** A refusal with a status, as the server's framework sends it. */
class Refusal extends Error {
  constructor(
    readonly status: number,
    detail: string,
  ) {
    super(detail);
  }
}

/** A server of Tinker's API on the lab's own engine, which can also be made to fail. */
export class FakeServer {
  readonly #options: FakeServerOptions;
  readonly #models = new Map<string, FakeModel>();
  readonly #samplers = new Map<string, ModelPolicy>();
  readonly #saved = new Map<string, Snapshot>();
  readonly #archives = new Map<string, Buffer>();
  readonly #work = new Map<string, Work>();
  readonly #counts = new Map<string, number>();
  /** Work is done one piece after the other, in the order it came. */
  #queue: Promise<unknown> = Promise.resolve();
  #session: string | undefined;
  #sessions = 0;
  #next = 0;
  /** Every request: its path and what was sent. */
  readonly asked: { path: string; body: Body; headers: IncomingMessage["headers"] }[] = [];
  url = "";

  constructor(options: FakeServerOptions) {
    this.#options = options;
  }

  /** Starts on a free port of this machine, until the test's end. */
  async listen(t: TestContext): Promise<this> {
    const server = createServer((request, response) => void this.#serve(request, response));
    server.listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    t.after(async () => {
      server.closeAllConnections();
      server.close();
      await this.#queue;
      for (const model of this.#models.values()) model.dispose();
      for (const sampler of this.#samplers.values()) sampler.dispose();
    });
    return this;
  }

  /** Requests to a path. */
  count(path: string): number {
    return this.asked.filter((request) => request.path === path).length;
  }

  /** Ends the session as a server does that got no heartbeats: its models are gone. */
  expire(): void {
    this.#session = undefined;
    for (const model of this.#models.values()) model.dispose();
    this.#models.clear();
  }

  /** The adapters of the newest model. */
  async adapters(): Promise<Map<string, Float32Array>> {
    await this.#queue;
    return (await [...this.#models.values()].at(-1)!.snapshot()).adapters;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const chunk of request) text += (chunk as Buffer).toString();
    const path = (request.url ?? "").replace(/^\/api\/v1\//, "");
    const body = JSON.parse(text || "{}") as Body;
    this.asked.push({ path, body, headers: request.headers });
    const count = this.#counts.get(path) ?? 0;
    this.#counts.set(path, count + 1);
    const fault = this.#options.fault?.(path, count);
    const send = (status: number, answer: unknown, headers: Record<string, string> = {}) => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(Buffer.isBuffer(answer) ? answer : JSON.stringify(answer));
    };
    if (fault === "broken before") return void response.destroy();
    if (typeof fault === "object") {
      return send(fault.status, { detail: fault.detail ?? "a fault" }, fault.headers);
    }
    try {
      const answer = await this.#answer(path, body);
      if (fault === "broken after") return void response.destroy();
      if (typeof answer === "string") return send(302, {}, { location: answer });
      send(200, answer);
    } catch (error) {
      const status = error instanceof Refusal ? error.status : 500;
      send(status, { detail: error instanceof Error ? error.message : String(error) });
    }
  }

  async #answer(path: string, body: Body): Promise<unknown> {
    switch (path) {
      case "healthz":
        return { status: "ok" };
      case "get_server_capabilities":
        return {
          supported_models: [
            { model_name: "tiny", max_context_length: this.#options.base.config.contextLength },
          ],
        };
      case "create_session":
        this.#session = `session_${this.#sessions++}`;
        return { type: "create_session", session_id: this.#session };
      case "session_heartbeat":
        if (body["session_id"] === this.#session) return { type: "session_heartbeat" };
        throw new Refusal(404, "Session not found");
      case "create_sampling_session": {
        const id = `sampling_${this.#next++}`;
        this.#samplers.set(id, new ModelPolicy(this.#options.base.copy(), this.#options.tokenizer));
        return { type: "create_sampling_session", sampling_session_id: id };
      }
      case "retrieve_future":
        return this.#retrieve(String(body["request_id"]));
    }
    const [, archive] = /^training_runs\/.*\/checkpoints\/(.+)\/archive$/.exec(path) ?? [];
    if (archive !== undefined) return `${this.url}/api/v1/download/${archive}`;
    if (path.startsWith("download/")) return this.#archives.get(path.slice("download/".length));
    return this.#begin(path, body);
  }

  async #retrieve(id: string): Promise<unknown> {
    const work = this.#work.get(id);
    if (!work) throw new Refusal(404, "Future not found");
    if (work.left-- > 0) return { type: "try_again", request_id: id, queue_state: "active" };
    return work.result;
  }

  /** Puts work into the queue; what it needs is looked at when it is asked for. */
  #begin(path: string, body: Body): unknown {
    const id = String(this.#next++);
    const modelId = path === "create_model" ? `model_${id}` : String(body["model_id"]);
    if (path !== "asample" && path !== "create_model" && !this.#models.has(modelId)) {
      throw new Refusal(400, `Model ${modelId} not loaded (likely stale request)`);
    }
    const result = this.#queue.then(() => this.#do(path, modelId, body));
    this.#queue = result.catch(() => undefined);
    const told = result.catch((error: unknown) => {
      const detail = error instanceof Error ? error.message : String(error);
      if (this.#options.reduction === "mean") throw new Refusal(400, detail);
      return { error: detail, category: "user" };
    });
    told.catch(() => undefined);
    this.#work.set(id, { result: told, left: this.#options.tryAgain?.(path) ?? 0 });
    return { request_id: id, model_id: modelId };
  }

  async #do(path: string, modelId: string, body: Body): Promise<unknown> {
    const { base, reduction, tokenizer } = this.#options;
    if (path === "create_model") {
      const { rank, seed } = body["lora_config"] as { rank: number; seed?: number };
      if (rank > 32) throw new RangeError(`LoRA rank ${rank} must be between 1 and 32`);
      this.#models.set(modelId, new FakeModel(base, rank, seed ?? 0, reduction));
      return { model_id: modelId };
    }
    if (path === "asample") return this.#sample(body);
    const model = this.#models.get(modelId);
    if (!model) throw new Error(`Model ${modelId} not loaded`);
    switch (path) {
      case "forward":
      case "forward_backward":
        return this.#pass(model, body, path === "forward_backward");
      case "optim_step": {
        const adam = body["adam_params"] as WireAdam;
        const norm = await model.step(adam, reduction === "sum");
        return { metrics: { [reduction === "mean" ? "skyrl.ai/grad_norm" : "grad_norm"]: norm } };
      }
      case "save_weights": {
        const to = `tinker://${modelId}/weights/${String(body["path"])}`;
        this.#saved.set(to, await model.snapshot());
        return { path: to, type: path };
      }
      case "load_weights": {
        const from = this.#saved.get(String(body["path"]));
        if (!from) throw new Error(`Checkpoint not found: ${String(body["path"])}`);
        model.restore(from);
        return { type: path };
      }
      case "save_weights_for_sampler": {
        if (body["path"] === undefined) {
          const id = `sampling_${this.#next++}`;
          this.#samplers.set(id, model.sampler(tokenizer));
          return { path: null, sampling_session_id: id, type: path };
        }
        const name = String(body["path"]);
        this.#archives.set(name, await archiveOf(model, reduction));
        return { path: `tinker://${modelId}/${name}`, type: path };
      }
      case "unload_model":
        model.dispose();
        this.#models.delete(modelId);
        return { model_id: modelId, type: path };
    }
    throw new Error(`Unknown request type: ${path}`);
  }

  #pass(model: FakeModel, body: Body, train: boolean): unknown {
    const input = body[train ? "forward_backward_input" : "forward_input"] as {
      data: WireDatum[];
      loss_fn: string;
      loss_fn_config?: Record<string, number>;
    };
    const rows = model.pass(input.data, input.loss_fn, input.loss_fn_config ?? {}, train);
    const list = (data: number[]) => ({ data, dtype: "float32", shape: [data.length] });
    const jax = this.#options.reduction === "mean";
    return {
      loss_fn_output_type: jax ? "scalar" : "TorchLossReturn",
      loss_fn_outputs: rows.map((row) => ({
        logprobs: list(row),
        elementwise_loss: list(row.map((p) => -p)),
      })),
      metrics: jax ? {} : { "loss:sum": 0 },
    };
  }

  async #sample(body: Body): Promise<unknown> {
    const policy = this.#samplers.get(String(body["sampling_session_id"]));
    if (!policy) throw new Error("Sampling session not found");
    const { chunks } = body["prompt"] as { chunks: { tokens: number[] }[] };
    const prompt = chunks.flatMap(({ tokens }) => tokens);
    const params = body["sampling_params"] as {
      max_tokens: number;
      seed: number;
      temperature: number;
      stop?: string[] | number[];
    };
    const promptLogprobs = body["prompt_logprobs"]
      ? (await policy.logProbs([{ prompt: prompt.slice(0, 1), tokens: prompt.slice(1) }]))[0]!
      : undefined;
    const texts = (params.stop ?? []).filter((stop) => typeof stop === "string");
    const session = policy.session();
    const row = session.open(prompt);
    const { topk = this.#options.reduction === "sum" } = this.#options;
    const out = { tokens: [] as number[], logprobs: [] as number[], topk: [] as unknown[] };
    const random = Random.from(params.seed);
    let reason = "length";
    while (out.tokens.length < params.max_tokens) {
      const segment = await session.generate(row, {
        maxTokens: params.max_tokens - out.tokens.length,
        temperature: params.temperature,
        random,
        ...(texts.length > 0 ? { stop: texts } : {}),
      });
      out.tokens.push(...segment.tokens);
      out.logprobs.push(...segment.logprobs);
      const { width, ids, logprobs } = segment.top;
      segment.tokens.forEach((_, t) =>
        out.topk.push(
          Array.from({ length: width }, (_, k) => [ids[t * width + k], logprobs[t * width + k]]),
        ),
      );
      // SkyRL's knows texts or tokens to stop at: with texts it writes beyond an end token.
      const beyond = this.#options.reduction === "mean" && texts.length > 0;
      reason = segment.finish === "length" || segment.finish === "context" ? "length" : "stop";
      if (segment.finish !== "end" || !beyond) break;
      reason = "length";
    }
    session.dispose();
    return {
      sequences: [
        {
          ...{ stop_reason: reason, tokens: out.tokens, logprobs: out.logprobs },
          ...(topk && Number(body["topk_sample_logprobs"] ?? 0) > 0
            ? { topk_logprobs: out.topk }
            : {}),
        },
      ],
      prompt_logprobs: promptLogprobs ? Array.from(promptLogprobs.logprobs) : null,
    };
  }
}

/** What a server packs: PEFT's files, with SkyRL's gap in the settings. */
async function archiveOf(model: FakeModel, reduction: "sum" | "mean"): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "arpo-fake-tinker-"));
  await saveAdapter(model.model, folder);
  const files = new Map<string, Buffer>();
  for (const name of ["adapter_model.safetensors", "adapter_config.json"]) {
    files.set(name, await readFile(join(folder, name)));
  }
  await rm(folder, { recursive: true });
  if (reduction === "mean") {
    const said = JSON.parse(files.get("adapter_config.json")!.toString()) as Body;
    files.set(
      "adapter_config.json",
      Buffer.from(JSON.stringify({ ...said, target_modules: null })),
    );
  }
  return tarOf(files);
}
