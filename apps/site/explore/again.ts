// "Run again": the engine and a policy in a worker, begun when somebody asks.
import { element } from "../../../src/view/page/element.js";
import type { GivenFile } from "./messages.js";
import type { Reader } from "./reader.js";

/** A policy's files by their names: weights, and what stands beside them. */
const ofPolicy =
  /(?:^|\/)(?:(?:generation_)?config\.json|tokenizer(?:_config)?\.json|[^/]*\.safetensors(?:\.index\.json)?)$/;
const isWeights = ({ name }: GivenFile) => /\.safetensors$/.test(name);

/** Given files as a policy's and others; those of a policy count where its weights are among them. */
export function policyAmong(files: readonly GivenFile[]): {
  policy: GivenFile[];
  others: GivenFile[];
} {
  if (!files.some(isWeights)) return { policy: [], others: [...files] };
  const is = ({ name }: GivenFile) => ofPolicy.test(name);
  return { policy: files.filter(is), others: files.filter((file) => !is(file)) };
}

/** Files that lie in a script beside this one, as base64. */
export async function scriptFiles(script: string): Promise<unknown> {
  const address = new URL(script, import.meta.url).href;
  return ((await import(address)) as { files: unknown }).files;
}

export const unpackFiles = (files: readonly { name: string; base64: string }[]): GivenFile[] =>
  files.map(({ name, base64 }) => ({
    name,
    bytes: Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)),
  }));

async function shipped(script: string): Promise<GivenFile[]> {
  return unpackFiles((await scriptFiles(script)) as { name: string; base64: string }[]);
}

/** What running a tree again needs of the page. */
export interface AgainParts {
  reader: () => Reader;
  /** A new worker with the engine. */
  begin: () => Reader;
  /** Files of a policy that were given; none yet. */
  given: () => readonly GivenFile[];
  show: (place: HTMLElement, html: string) => void;
}

async function policyFor(name: string, given: readonly GivenFile[]): Promise<readonly GivenFile[]> {
  if (given.length > 0) return given;
  const own = /^[\w-]{1,40}$/.test(name) ? await shipped(`policy-${name}.js`).catch(() => []) : [];
  if (own.length > 0) return own;
  throw new RangeError(
    `Cannot run it again: its policy must be one that this page has, or given, got ${JSON.stringify(name.slice(0, 80))}. Drop its config.json, model.safetensors and tokenizer.json here first.`,
  );
}

/** Adds to a box with a tree of arpo-lab what runs it again. */
export function addAgain(box: HTMLElement, { reader, begin, given, show }: AgainParts): void {
  const run = element("button", { type: "button", "data-again": "" }, "Run again");
  const stop = element("button", { type: "button" }, "Stop");
  const place = element("div", { role: "status" });
  const why =
    "the same policy, seed and settings, with the results that its tools gave: is it the same tree?";
  stop.hidden = true;
  const work = async () => {
    const engine = begin();
    stop.onclick = () => engine.stop();
    try {
      const finding = await reader().ask({
        kind: "finding",
        prompt: Number(box.dataset["prompt"]),
      });
      const { tree } = JSON.parse(finding) as { tree: { policy?: unknown } };
      const policy = await policyFor(String(tree.policy), given());
      const own = await shipped("engine.js");
      show(place, await engine.ask({ kind: "again", finding, policy, own }));
    } catch (fault) {
      place.replaceChildren(
        element("p", {}, fault instanceof Error ? fault.message : String(fault)),
      );
    } finally {
      engine.stop();
    }
  };
  run.onclick = () => {
    run.disabled = true;
    stop.hidden = false;
    place.replaceChildren(element("p", {}, "The policy writes …"));
    void work().finally(() => {
      run.disabled = false;
      stop.hidden = true;
    });
  };
  box.append(
    element("p", { class: "again" }, run, stop, element("span", { class: "quiet" }, why)),
    place,
  );
}
