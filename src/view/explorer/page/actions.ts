import type { LiveTree, TreeReply, TreeRequest } from "../payload.js";
import { resultIn } from "../../../text/result-block.js";
import { element } from "../../page/element.js";
import { askKernel, type Channel } from "./channel.js";
import { tokenText } from "./token-text.js";
import type { PageTree } from "./unpack-tree.js";

/** What a button asks for. */
type Asked = Omit<TreeRequest, "tree" | "node">;

/** What the reader can do to the node that is looked at. */
export interface Actions {
  box: HTMLElement;
  node: (id: number) => void;
  token: (at: number) => void;
}

/** Fork, resample and edit, for the node that is selected. */
export function makeActions(
  tree: PageTree,
  live: LiveTree | undefined,
  shown: (reply: Exclude<TreeReply, { error: string }>, channel: Channel) => void,
): Actions {
  const box = element("fieldset", { class: "arpo-bar arpo-actions" });
  const told = element("output", { "aria-live": "polite" });
  const rows = element("input", { type: "number", min: "1", max: "64", value: "4" });
  const at = element("input", { type: "number", min: "0", value: "0" });
  const result = element("textarea", { rows: "3", "aria-label": "the tool's answer" });
  let channel: Channel | undefined;
  let node = 0;
  let busy = false;
  const buttons: HTMLButtonElement[] = [];
  const wait = (waiting: boolean) => {
    busy = waiting;
    for (const button of buttons) button.disabled = waiting;
  };
  const needsKernel = ({ at: cutAt, result: said, trajectories: n, resample: again }: Asked) => {
    const options = [
      ...(cutAt === undefined ? [] : [`at: ${cutAt}`]),
      ...(said === undefined ? [] : [`result: ${JSON.stringify(said)}`]),
      ...(again ? ["seed: 2"] : []),
      `n: ${n}`,
    ];
    const code = `await tree.fork(${node}, { ${options.join(", ")} })`;
    told.replaceChildren(
      "This page cannot ask a kernel: the lab's can (npx arpo-lab lab). In a cell: ",
      element("code", {}, code),
    );
  };
  function ask(request: Asked): void {
    if (busy) return;
    if (!live) return needsKernel(request);
    const message: TreeRequest = { tree: live.key, node, ...request };
    const heard =
      channel !== undefined ||
      askKernel(box, live.target, (opened) => {
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
            "The kernel has gone, or no longer knows the tree: run the cell again.";
        };
      });
    if (!heard) return needsKernel(request);
    wait(true);
    told.textContent = "the policy writes …";
    channel?.send(message);
  }
  const button = (label: string, title: string, press: () => void) => {
    const made = element("button", { title }, label);
    made.onclick = press;
    buttons.push(made);
    return made;
  };
  const count = () => Math.max(1, Math.round(Number(rows.value)) || 1);
  const cut = () => {
    const { length } = tree.nodes[node]!;
    const place = Math.max(0, Math.min(length, Math.round(Number(at.value)) || 0));
    return place === length ? {} : { at: place };
  };
  const fork = button("fork here", "continue from this token with new rows", () =>
    ask({ ...cut(), trajectories: count() }),
  );
  fork.dataset["action"] = "fork";
  const resample = button("resample", "write on from here once more, with another seed", () =>
    ask({ ...cut(), trajectories: 1, resample: true }),
  );
  resample.dataset["action"] = "resample";
  const edit = button(
    "continue with this result",
    "the rows go on as if the tool had said this",
    () => ask({ result: result.value, trajectories: count() }),
  );
  edit.dataset["action"] = "edit";
  const whole = element("span", {}, "");
  return {
    box,
    node: (id) => {
      node = id;
      buttons.forEach((each) => (each.disabled = busy));
      told.textContent = "";
      const { kind, start, length } = tree.nodes[id]!;
      const legend = element("legend", {}, "Try something else");
      if (kind === "end") {
        const words = "An end token was put here by the rules: choose the node before it.";
        box.replaceChildren(legend, words);
        return;
      }
      const many = element("label", {}, "rows ", rows);
      if (kind === "tool") {
        const text = Array.from({ length }, (_, i) => tokenText(tree, tree.tokens[start + i]!));
        result.value = resultIn(text.join("")) ?? text.join("");
        box.replaceChildren(legend, result, many, edit, resample, told);
        at.value = String(length);
        return;
      }
      at.max = String(length);
      whole.textContent = ` of ${length} tokens`;
      // A call is answered anew from its end; where a row ended there is only what came before.
      const goesOn = tree.nodes.some((other) => other.parent === id && other.kind === "tool");
      at.value = String(goesOn ? length : 0);
      box.replaceChildren(
        legend,
        element("label", {}, "after ", at, whole),
        many,
        fork,
        resample,
        told,
      );
    },
    token: (place) => {
      if (tree.nodes[node]!.kind === "model") at.value = String(place);
    },
  };
}
