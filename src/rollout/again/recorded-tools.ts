import { ToolSet, type ToolOutcome } from "../../tools/tool-set.js";
import type { Tool } from "../../tools/tool.js";
import type { RolloutTree } from "../rollout-tree.js";

/** A call that a tree does not hold. */
export class UnrecordedCall extends Error {
  override name = "UnrecordedCall";
}

/** Tools that answer each call of a tree as it was answered when the tree grew. Nothing is run. */
export class RecordedTools extends ToolSet {
  readonly #answers = new Map<string, ToolOutcome>();

  constructor({ config, nodes }: Pick<RolloutTree, "config" | "nodes">) {
    const tags = new Set([...config.tools, ...nodes.flatMap(({ tool }) => tool?.tag ?? [])]);
    const execute: Tool["execute"] = () => ({ text: "", ok: false });
    super(
      [...tags].map((tag) => ({ name: tag, tag, description: "", execute })),
      { callLimit: config.callLimit },
    );
    for (const { tool } of nodes) {
      if (!tool) continue;
      const key = `${tool.tag} ${tool.input}`;
      if (!this.#answers.has(key)) this.#answers.set(key, { ...tool, ms: 0 });
    }
  }

  override run({ tag }: Tool, input: string): Promise<ToolOutcome> {
    const found = this.#answers.get(`${tag} ${input}`);
    if (found) return Promise.resolve(found);
    const said = `${tag}: ${input.trim().slice(0, 80)}`;
    return Promise.reject(
      new UnrecordedCall(
        `Cannot answer a call: it must be one that the tree holds, got ${JSON.stringify(said)}`,
      ),
    );
  }
}
