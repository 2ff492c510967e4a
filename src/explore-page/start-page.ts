import { element } from "../view/page/element.js";
import { chosenFiles, droppedFiles, pastedFile } from "./dropped.js";
import { exampleFiles, examplesOf } from "./examples.js";
import { letNothingOut } from "./let-nothing-out.js";
import type { GivenFile } from "./messages.js";
import { Reader } from "./reader.js";
import { fileOfAddress } from "./file-of-address.js";
import { showViews } from "./show-views.js";

function the<T extends HTMLElement>(id: string, kind: new () => T): T {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new Error(`Cannot start the page: it must have an element ${id}, got none`);
}

const [status, error] = [the("status", HTMLElement), the("error", HTMLElement)];
const [shown, views] = [the("shown", HTMLElement), the("views", HTMLElement)];
const words = (fault: unknown) => (fault instanceof Error ? fault.message : String(fault));

let reader: Reader;
let turn = 0;

/** Adds to a prompt's box what opens its explainer. */
function addExplainer(box: HTMLElement): void {
  const place = element("div", {});
  const own = element("details", { class: "explained" });
  own.append(element("summary", {}, "What an objective makes of its tokens"), place);
  own.addEventListener("toggle", (event) => {
    event.stopPropagation();
    if (!own.open || place.hasChildNodes()) return;
    place.replaceChildren(element("p", { role: "status" }, "Working it out…"));
    reader.ask({ kind: "explain", prompt: Number(box.dataset["prompt"]) }).then(
      (html) => showViews(place, html),
      (fault: unknown) => place.replaceChildren(element("p", { class: "quiet" }, words(fault))),
    );
  });
  box.append(own);
}

/** Reads files and shows what is in them; of several askings the last one counts. */
async function show(title: string, asked: () => GivenFile[] | Promise<GivenFile[]>): Promise<void> {
  const mine = ++turn;
  error.textContent = "";
  status.textContent = `Reading ${title}…`;
  try {
    const html = await reader.ask({ kind: "open", files: await asked() }, ({ progress, rows }) => {
      if (mine === turn)
        status.textContent = `Reading ${title}: ${Math.floor(100 * progress)}%, ${rows} rows`;
    });
    if (mine !== turn) return;
    shown.hidden = false;
    the("shown-title", HTMLElement).textContent = title;
    showViews(views, html);
    const boxes = [...views.querySelectorAll<HTMLDetailsElement>("details[data-prompt]")];
    boxes.forEach(addExplainer);
    if (boxes[0]) boxes[0].open = true;
    status.textContent = `${title} is shown below.`;
    shown.focus({ preventScroll: true });
    shown.scrollIntoView({ block: "start" });
  } catch (fault) {
    if (mine !== turn) return;
    status.textContent = "";
    error.textContent = words(fault);
  }
}

const titleOf = (files: FileList) =>
  files.length === 1 ? files[0]!.name : `${files.length} files`;

function takeFiles(): void {
  const choose = the("choose", HTMLInputElement);
  choose.addEventListener("change", () => {
    const { files } = choose;
    if (!files || files.length === 0) return;
    const read = chosenFiles(files);
    void show(titleOf(files), () => read);
    choose.value = ""; // the same file can be chosen again, after it changed
  });
  const drop = the("drop", HTMLElement);
  const over = (is: boolean) => drop.classList.toggle("over", is);
  // Anywhere on the page: a file that misses would otherwise be opened in the page's place.
  addEventListener("dragover", (event) => {
    event.preventDefault();
    over(true);
  });
  addEventListener("dragleave", (event) => over(event.relatedTarget !== null));
  addEventListener("drop", (event) => {
    event.preventDefault();
    over(false);
    const { dataTransfer } = event;
    if (!dataTransfer) return;
    const text = dataTransfer.getData("text/plain");
    if (dataTransfer.files.length === 0 && text.trim() !== "") {
      void show("pasted text", () => [pastedFile(text)]);
      return;
    }
    const read = droppedFiles(dataTransfer);
    void show(titleOf(dataTransfer.files), () => read);
  });
}

function takeText(): void {
  const pasted = the("pasted", HTMLTextAreaElement);
  the("read-pasted", HTMLButtonElement).onclick = () =>
    void show("pasted text", () => [pastedFile(pasted.value)]);
  addEventListener("paste", (event) => {
    if (event.target instanceof HTMLTextAreaElement || event.target instanceof HTMLInputElement)
      return;
    const { clipboardData } = event;
    if (!clipboardData) return;
    if (clipboardData.files.length > 0) {
      const read = chosenFiles(clipboardData.files);
      void show(titleOf(clipboardData.files), () => read);
    } else {
      const text = clipboardData.getData("text/plain");
      if (text.trim() !== "") void show("pasted text", () => [pastedFile(text)]);
    }
  });
}

/** A file that the page's address names is fetched first; after that nothing can be. */
async function start(): Promise<void> {
  const given = await fileOfAddress(location).catch((fault: unknown) => {
    error.textContent = words(fault);
    return undefined;
  });
  letNothingOut();
  const alone = new URL("reading-alone.js", import.meta.url).href;
  reader = new Reader(
    new URL("reading-worker.js", import.meta.url),
    async () => ((await import(alone)) as { program: string }).program,
  );
  takeFiles();
  takeText();
  the("examples", HTMLElement).append(
    ...examplesOf().map(({ name, title }) => {
      const button = element("button", { type: "button" }, title);
      button.onclick = () => void show(title, () => exampleFiles(name));
      return button;
    }),
  );
  document.body.dataset["ready"] = "";
  if (given) await show(given.name, () => [given]);
}

await start();
