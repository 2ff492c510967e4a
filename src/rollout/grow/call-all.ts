import type { CallFormat } from "../../tools/calls/call-format.js";
import { resultBlock } from "../../text/result-block.js";
import type { ToolOutcome, ToolSet } from "../../tools/tool-set.js";
import type { CalledTool, CalledTools } from "./classify.js";

/** The environment that some of the tags are of. */
interface Acting {
  tags: readonly string[];
  call(tag: string, input: string, signal?: AbortSignal): Promise<ToolOutcome>;
}

/** What is told of a call that cannot be made: the model reads it as the result. */
function refused({ tag, input }: CalledTool, message: string): ToolOutcome {
  return {
    ...{ tag: tag === "" ? "call" : tag, input, text: `Error: ${message}`, ok: false },
    ...{ failure: { kind: "error", message }, retries: 0, ms: 0 },
  };
}

/** Makes the calls that a segment ends with: tools at the same time, an environment's one after another. */
export async function callAll(
  called: CalledTools,
  tools: ToolSet,
  acting: Acting | undefined,
  signal: AbortSignal | undefined,
): Promise<ToolOutcome[]> {
  const known = [...tools.tags, ...(acting?.tags ?? [])];
  let acted = Promise.resolve();
  const one = (call: CalledTool): Promise<ToolOutcome> => {
    const { tag, input, problem } = call;
    if (problem !== undefined) return Promise.resolve(refused(call, problem));
    if (acting?.tags.includes(tag)) {
      const outcome = acted.then(() => acting.call(tag, input, signal));
      acted = outcome.then(
        () => undefined,
        () => undefined,
      );
      return outcome;
    }
    if (tools.get(tag)) return tools.call(tag, input, { signal });
    return Promise.resolve(
      refused(call, `there is no tool ${tag}; there are ${known.join(", ") || "none"}`),
    );
  };
  return Promise.all((called.all ?? [called]).map(one));
}

/** Results in the words around them: those of the template, or a result block. */
export function answerText(
  format: CallFormat | undefined,
  results: readonly Pick<ToolOutcome, "tag" | "text">[],
): string {
  return format
    ? format.tail(results.map(({ tag, text }) => ({ name: tag, text })))
    : resultBlock(results[0]!.text);
}
