import type { LiveTree, TreeReply, TreeRequest } from "../../payload.js";
import { element } from "../../../page/element.js";
import { askKernel, type Channel } from "../../../page/ask-kernel.js";
import { resultOf } from "../tree/chip-words.js";
import type { PageTree } from "../tree/unpack-tree.js";

/** What a button asks for. */
type Asked = Omit<TreeRequest, "tree" | "node">;

/** What the user can do to the node that is selected. */
interface Actions {
  box: HTMLElement;
  /** The node that is selected, and how many of its tokens are kept; -1 for no token. */
  at: (node: number, token: number) => void;
}

/** Fork, resample and edit, for the node that is selected; without a kernel the code that does it. */
export function makeActions(
  tree: PageTree,
  live: LiveTree | undefined,
  shown: (reply: Exclude<TreeReply, { error: string }>, channel: Channel<TreeReply>) => void,
): Actions {
  const summary = element("summary", {});
  const content = element("div", {});
  const box = element("details", { class: "ax-actions" }, summary, content);
  const told = element("output", { class: "ax-note", "aria-live": "polite" });
  const count = element("input", {
    ...{ type: "number", class: "ax-count", min: "1", max: "64", value: "4", "data-count": "" },
  });
  const at = element("input", { type: "number", class: "ax-count", min: "0", value: "0" });
  const result = element("textarea", { rows: "3", "aria-label": "Tool result" });
  let channel: Channel<TreeReply> | undefined;
  let node = 0;
  let busy = false;
  const buttons: HTMLButtonElement[] = [];
  const wait = (waiting: boolean) => {
    busy = waiting;
    for (const button of buttons) button.disabled = waiting;
  };
  const codeOf = ({ at: cutAt, result: said, trajectories: n, resample: again }: Asked) => {
    const options = [
      ...(cutAt === undefined ? [] : [`at: ${cutAt}`]),
      ...(said === undefined ? [] : [`result: ${JSON.stringify(said)}`]),
      ...(again ? ["seed: 2"] : []),
      ...(n === undefined ? [] : [`n: ${n}`]),
    ];
    return `await tree.fork(${node}, { ${options.join(", ")} })`;
  };
  const needsKernel = (request: Asked) =>
    told.replaceChildren(
      "This page cannot ask a kernel: the lab's can (npx arpo-lab lab). In a cell: ",
      element("code", {}, codeOf(request)),
    );
  function ask(request: Asked): void {
    if (busy || !live) return;
    const message: TreeRequest = { tree: live.key, node, ...request };
    const heard =
      channel !== undefined ||
      askKernel<TreeReply>(box, live.target, (opened) => {
        channel = opened;
        opened.onMessage = (reply) => {
          wait(false);
          told.textContent = reply.error ?? "";
          if (reply.error === undefined) shown(reply, opened);
        };
        opened.onClose = () => {
          wait(false);
          channel = undefined;
          told.textContent =
            "The kernel has stopped, or no longer knows the tree: run the cell again.";
        };
      });
    if (!heard) return needsKernel(request);
    wait(true);
    told.textContent = "The policy writes …";
    channel?.send(message);
  }
  const button = (action: string, label: string, title: string, request: () => Asked) => {
    const how = { type: "button", class: "ax-button", title, "data-action": action } as const;
    const made = element("button", how, label);
    made.onclick = () => ask(request());
    buttons.push(made);
    return made;
  };
  const trajectories = () => Math.max(1, Math.round(Number(count.value)) || 1);
  const cut = () => {
    const { length } = tree.nodes[node]!;
    const place = Math.max(0, Math.min(length, Math.round(Number(at.value)) || 0));
    return place === length ? {} : { at: place };
  };
  const forked = (): Asked => ({ ...cut(), trajectories: trajectories() });
  const forkTitle = "continue from this token with new trajectories";
  const fork = button("fork", "Fork here", forkTitle, forked);
  const againTitle = "write on from here once more, with another seed";
  const again = (): Asked => ({ ...cut(), trajectories: 1, resample: true });
  const resample = button("resample", "Resample", againTitle, again);
  const editTitle = "new trajectories go on as if the tool had said this";
  const edited = (): Asked => ({ result: result.value, trajectories: trajectories() });
  const edit = button("edit", "Continue with this result", editTitle, edited);
  const whole = element("span", {}, "");
  const many = element("label", {}, "trajectories ", count);
  const row = (...parts: (Node | string)[]) => element("div", { class: "ax-row" }, ...parts);

  function lay(kind: "model" | "tool"): void {
    if (!live) {
      needsKernel(kind === "tool" ? { result: "…", trajectories: 4 } : forked());
      content.replaceChildren(told);
      return;
    }
    content.replaceChildren(
      ...(kind === "tool"
        ? [result, row(many, edit, resample)]
        : [row(element("label", {}, "after ", at, whole), many, fork, resample)]),
      told,
    );
  }
  return {
    box,
    at: (id, token) => {
      const isNew = id !== node;
      node = id;
      const { kind, length } = tree.nodes[id]!;
      if (kind === "end") return;
      summary.textContent =
        kind === "tool" ? "What if the tool had answered otherwise?" : "Continue from here";
      if (isNew || content.childElementCount === 0) {
        told.textContent = "";
        if (kind === "tool") result.value = resultOf(tree, tree.nodes[id]!);
      }
      at.max = String(length);
      whole.textContent = ` of ${length} tokens`;
      // A call is answered anew from its end; where a trajectory ended there is only what came before.
      const goesOn = tree.nodes.some((other) => other.parent === id && other.kind === "tool");
      at.value = String(kind === "tool" || (goesOn && token < 0) ? length : Math.max(0, token));
      lay(kind);
    },
  };
}
