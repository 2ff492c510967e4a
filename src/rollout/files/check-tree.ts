import { isRecord } from "../../../common/options/is-record.js";
/** A tree as it was parsed, before anything is known about it. */
type Parsed = Record<string, unknown>;

const isNumber = (value: unknown): boolean =>
  typeof value === "number" || ["NaN", "Infinity", "-Infinity", "-0"].includes(value as string);

/** A tree with fewer trajectories is filled up to its n with copies of the last one: so many are enough. */
const mostFilled = 1024;

/** Refuses what is no tree: a node or a trajectory with a wrong field, or an index that leads nowhere. */
export function checkTree(data: Parsed, where: string): void {
  const refuse = (field: string, rule: string, got: unknown): never => {
    const shown = JSON.stringify(got) ?? String(got);
    throw new SyntaxError(
      `Cannot read a tree: ${field} must be ${rule}, got ${shown.slice(0, 60)} (${where})`,
    );
  };
  const need = (field: string, rule: string, value: unknown, isRight: boolean): void => {
    if (!isRight) refuse(field, rule, value);
  };
  const integer = (field: string, value: unknown, low: number, high: number): void => {
    const isRight = Number.isInteger(value) && Number(value) >= low && Number(value) <= high;
    need(field, `an integer from ${low} to ${high}`, value, isRight);
  };
  const list = (field: string, value: unknown, isItem: (item: unknown) => boolean): void => {
    if (ArrayBuffer.isView(value)) return;
    need(field, "a list of numbers", value, Array.isArray(value) && value.every(isItem));
  };
  const objects = (field: string, value: unknown): Parsed[] => {
    need(field, "a list of objects", value, Array.isArray(value) && value.every(isRecord));
    return value as Parsed[];
  };

  /** Of every token, the ids it was sampled from. */
  const checkSupport = (field: string, value: unknown, tokens: unknown): void => {
    if (!isRecord(value)) return refuse(field, "an object", value);
    const { offsets, ids, logprobs, given } = value;
    list(`${field}.offsets`, offsets, Number.isInteger);
    list(`${field}.ids`, ids, (id) => Number.isInteger(id) && Number(id) >= 0);
    list(`${field}.logprobs`, logprobs, isNumber);
    const [count, places] = [(tokens as number[]).length, Array.from(offsets as number[])];
    const rises = places.every((place, i) => place >= (i === 0 ? 0 : places[i - 1]!));
    const fits = places.length === count + 1 && places[0] === 0 && rises;
    const { length } = ids as number[];
    if (!fits || places.at(-1) !== length)
      refuse(`${field}.offsets`, `${count + 1} rising places of ${length} ids`, offsets);
    if ((logprobs as number[]).length !== count)
      refuse(`${field}.logprobs`, `${count} numbers`, logprobs);
    if (given === undefined) return;
    list(`${field}.given`, given, (is) => is === 0 || is === 1);
    if ((given as number[]).length !== count)
      refuse(`${field}.given`, `${count} times 0 or 1`, given);
  };

  const { prompt, task, config } = data;
  if (!isRecord(task)) refuse("task", "an object", task);
  if (!isRecord(config)) return refuse("config", "an object", config);
  integer("config.responseLength", config["responseLength"], 0, Number.MAX_SAFE_INTEGER);
  if (!isRecord(prompt)) return refuse("prompt", "an object", prompt);
  need("prompt.text", "text", prompt["text"], typeof prompt["text"] === "string");
  list("prompt.tokens", prompt["tokens"], Number.isInteger);

  const { version } = data;
  if (version !== undefined) integer("version", version, 0, Number.MAX_SAFE_INTEGER);
  list("eosIds", data["eosIds"], Number.isInteger);
  integer("padId", data["padId"], -1, Number.MAX_SAFE_INTEGER);
  if (!isRecord(data["cutTexts"])) refuse("cutTexts", "an object", data["cutTexts"]);

  const nodes = objects("nodes", data["nodes"]);
  const trajectories = objects("trajectories", data["trajectories"]);
  integer("config.n", config["n"], 0, Math.max(mostFilled, trajectories.length));
  for (const [i, node] of nodes.entries()) {
    const at = `nodes[${i}]`;
    const { id, parent, kind, trajectory, text, tokens, logprobs, entropies, top } = node;
    integer(`${at}.id`, id, i, i);
    integer(`${at}.parent`, parent, -1, i - 1);
    // -1: a fork has it from the tree that it left.
    integer(`${at}.trajectory`, trajectory, -1, trajectories.length - 1);
    const isKind = ["model", "tool", "end"].includes(kind as string);
    need(`${at}.kind`, "model, tool or end", kind, isKind);
    need(`${at}.text`, "text", text, typeof text === "string");
    list(`${at}.tokens`, tokens, Number.isInteger);
    list(`${at}.logprobs`, logprobs, isNumber);
    list(`${at}.entropies`, entropies, isNumber);
    if (node["tool"] !== undefined && !isRecord(node["tool"]))
      refuse(`${at}.tool`, "an object", node["tool"]);
    if (node["branch"] !== undefined) objects(`${at}.branch`, node["branch"]);
    if (node["support"] !== undefined) checkSupport(`${at}.support`, node["support"], tokens);
    if (node["versions"] !== undefined) {
      list(`${at}.versions`, node["versions"], (v) => Number.isInteger(v) && Number(v) >= -1);
      const count = (node["versions"] as number[]).length;
      const wanted = (tokens as number[]).length;
      need(`${at}.versions`, `${wanted} numbers`, count, count === wanted);
    }
    if (top === undefined) continue;
    if (!isRecord(top)) return refuse(`${at}.top`, "an object", top);
    integer(`${at}.top.width`, top["width"], 0, Number.MAX_SAFE_INTEGER);
    list(`${at}.top.ids`, top["ids"], Number.isInteger);
    list(`${at}.top.logprobs`, top["logprobs"], isNumber);
  }
  const isTrajectory = (id: unknown) => Number.isInteger(id) && Number(id) in trajectories;
  if (data["selection"] !== undefined) list("selection", data["selection"], isTrajectory);
  for (const [i, { id, from, leaf, parent }] of trajectories.entries()) {
    const at = `trajectories[${i}]`;
    integer(`${at}.id`, id, i, i);
    integer(`${at}.from`, from, -1, nodes.length - 1);
    integer(`${at}.leaf`, leaf, -1, nodes.length - 1);
    integer(`${at}.parent`, parent, -1, trajectories.length - 1);
  }
}
