import { makeLoop } from "../../../src/view/loop/page/start-loop.js";
import type { LoopPayload } from "../../../src/view/loop/payload.js";
import { palettes } from "../../../common/picture/palette.js";

const the = (id: string): HTMLElement => document.getElementById(id)!;
const colours = { light: palettes.auto, dark: palettes.dark };

/** What `landing/explorer.js` leaves: it is fetched when somebody wants to explore the tree. */
declare global {
  var explorer: { openTree: typeof import("./open-tree.js").openTree } | undefined;
}

/** All of the explorer in the place of the loop. */
async function explore(payload: LoopPayload): Promise<void> {
  if (!globalThis.explorer) {
    const script = document.createElement("script");
    script.src = "landing/explorer.js";
    document.head.append(script);
    await new Promise((done, failed) => {
      script.onload = done;
      script.onerror = failed;
    });
  }
  const tree = the("tree");
  the("loop").hidden = true;
  if (tree.hidden) {
    tree.hidden = false;
    globalThis.explorer!.openTree(tree, payload.tree, colours);
  }
  the("demo").scrollIntoView({ block: "start" });
  tree.querySelector<HTMLElement>(".ax-scroll")!.focus({ preventScroll: true });
}

function copyCommand(button: HTMLButtonElement): void {
  const said = button.querySelector("small")!;
  button.onclick = () => {
    void navigator.clipboard.writeText(button.dataset["copy"]!).then(
      () => (said.textContent = "copied"),
      () => (said.textContent = "select and copy it"),
    );
    getSelection()?.selectAllChildren(button.querySelector("code")!);
  };
}

/** Once the page has nothing to do: the lab then opens isolated at once, without a second load. */
function registerServiceWorker(): void {
  if (!("serviceWorker" in navigator)) return;
  const register = (): void =>
    void navigator.serviceWorker.register("service-worker.js").catch(() => undefined); // the lab says so itself
  const { requestIdleCallback: idle = (then: () => void) => setTimeout(then, 500) } =
    globalThis as { requestIdleCallback?: (then: () => void) => void };
  addEventListener("load", () => idle(register));
}

function start(): void {
  const payload = JSON.parse(the("loop-data").textContent ?? "") as LoopPayload;
  const isPhone = innerWidth < 821;
  const height = isPhone ? 338 : Math.max(330, Math.min(430, innerHeight - 470));
  makeLoop(the("loop"), payload, colours, height);
  document.querySelector<HTMLButtonElement>("[data-play]")!.onclick = ({ currentTarget }) => {
    (currentTarget as HTMLButtonElement).hidden = true;
    void explore(payload);
  };
  document.querySelectorAll<HTMLButtonElement>("[data-copy]").forEach(copyCommand);
  document.body.dataset["ready"] = "";
  performance.mark("interactive");
}

registerServiceWorker();
start();
