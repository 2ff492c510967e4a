import { readable } from "../../../src/formats/read/file-kinds.js";
import { startBoard } from "../../../src/view/board/page/start-board.js";
import { addAgain, policyAmong, scriptFiles, unpackFiles } from "./again.js";
import { forgetLink, giveLinks, linkedFinding } from "./findings.js";
import { startExplain } from "../../../src/view/explain/page/start-explain.js";
import { startExplorer } from "../../../src/view/explorer/page/start-explorer.js";
import { startImported } from "../../../src/view/imported/page/start-imported.js";
import { element } from "../../../src/view/page/element.js";
import type { PageColours } from "../../../src/view/page/page-colours.js";
import { palettes } from "../../../common/picture/palette.js";
import type { GivenFile } from "./messages.js";
import { Reader } from "./reader.js";

const bytesOf = async (file: File, name: string): Promise<GivenFile> => ({
  name,
  bytes: new Uint8Array(await file.arrayBuffer()),
});

async function inFolder(folder: FileSystemDirectoryEntry): Promise<GivenFile[]> {
  const reader = folder.createReader();
  const entries: FileSystemEntry[] = [];
  // A reader gives some at a time, and none at the end.
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) break;
    entries.push(...some);
  }
  const lists = await Promise.all(entries.filter(({ name }) => !name.startsWith(".")).map(inEntry));
  return lists.flat();
}

async function inEntry(entry: FileSystemEntry): Promise<GivenFile[]> {
  if (entry.isDirectory) return inFolder(entry as FileSystemDirectoryEntry);
  // A policy may lie beside the rollouts.
  if (!readable.test(entry.name) && !entry.name.endsWith(".safetensors")) return [];
  const file = await new Promise<File>((resolve, reject) =>
    (entry as FileSystemFileEntry).file(resolve, reject),
  );
  return [await bytesOf(file, entry.fullPath.replace(/^\//, ""))];
}

/** Files that were chosen. */
const chosenFiles = (files: FileList): Promise<GivenFile[]> =>
  Promise.all(Array.from(files, (file) => bytesOf(file, file.webkitRelativePath || file.name)));

/** Files that were dropped, and those in folders that were. Asked for before anything is awaited. */
async function droppedFiles(data: DataTransfer): Promise<GivenFile[]> {
  const entries = Array.from(data.items, (item) => item.webkitGetAsEntry());
  const folders = entries.filter((entry) => entry?.isDirectory === true);
  if (folders.length === 0) return chosenFiles(data.files);
  const lists = await Promise.all(entries.map((entry) => (entry ? inEntry(entry) : [])));
  return lists.flat();
}

/** Text that was pasted, as a file: lines of JSON where its first line is one, otherwise one value. */
function pastedFile(text: string): GivenFile {
  let ending = "json";
  try {
    JSON.parse(text.trim().split("\n")[0]!);
    ending = "jsonl";
  } catch {
    // The value goes over several lines.
  }
  return { name: `pasted.${ending}`, bytes: new TextEncoder().encode(text) };
}

/** Examples by name; their files lie in a script of their own, fetched when one is asked for. */
const examples = {
  "arpo-lab": "ARPO's trees, of this lab",
  verl: "verl",
  verifiers: "verifiers",
  trl: "TRL",
} as const;

/** The name of an example. */
type ExampleName = keyof typeof examples;

/** What that script exports: files as base64. */
type ExampleScript = Record<ExampleName, { name: string; base64: string }[]>;

const examplesOf = (): { name: ExampleName; title: string }[] =>
  (Object.entries(examples) as [ExampleName, string][]).map(([name, title]) => ({ name, title }));

async function exampleFiles(name: ExampleName): Promise<GivenFile[]> {
  return unpackFiles(((await scriptFiles("examples.js")) as ExampleScript)[name]);
}

/**
 * From here on the page opens no connection, not even to its own host: a policy is added to the page's, and
 * workers that start later have it too. It cannot be taken back.
 */
function letNothingOut(): void {
  const policy = document.createElement("meta");
  policy.httpEquiv = "Content-Security-Policy";
  policy.content = "connect-src 'none'";
  document.head.append(policy);
}

/** The file that `?url=` of an address names, which must be of the same host; undefined without one. */
async function fileOfAddress(address: {
  href: string;
  search: string;
}): Promise<GivenFile | undefined> {
  const given = new URLSearchParams(address.search).get("url");
  if (given === null) return undefined;
  const { href, origin, pathname } = new URL(given, address.href);
  if (origin !== new URL(address.href).origin) {
    throw new RangeError(
      `Cannot open ${href}: url must be an address of this page's own host, got ${origin}. Save the file and drop it here.`,
    );
  }
  const answer = await fetch(href);
  if (!answer.ok) {
    throw new RangeError(`Cannot open ${href}: it must be there, got status ${answer.status}`);
  }
  const name = decodeURIComponent(pathname.split("/").at(-1)!);
  return { name: name || "rollouts.jsonl", bytes: new Uint8Array(await answer.arrayBuffer()) };
}

const colours: PageColours = { light: palettes.auto, dark: palettes.dark };
const programs: Record<string, (id: string, colours: PageColours) => void> = {
  "arpo-board": startBoard,
  "arpo-explain": startExplain,
  "arpo-explorer": startExplorer,
  "arpo-imported": startImported,
};

/**
 * Puts views into an element and brings them to life. The programs that they carry as text are not run, the
 * page's policy forbids it: it has the same ones.
 */
function showViews(place: HTMLElement, html: string): void {
  place.innerHTML = html;
  for (const view of place.querySelectorAll<HTMLElement>(":scope > .arpo-view")) {
    for (const name of view.classList) programs[name]?.(view.id, colours);
  }
}

function the<T extends HTMLElement>(id: string, kind: new () => T): T {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new Error(`Cannot start the page: it must have an element ${id}, got none`);
}

const [status, error] = [the("status", HTMLElement), the("error", HTMLElement)];
const [shown, views] = [the("shown", HTMLElement), the("views", HTMLElement)];
const words = (fault: unknown) => (fault instanceof Error ? fault.message : String(fault));

let reader: Reader;
let policy: GivenFile[] = [];
let turn = 0;

/** A worker; the same program stands in one piece beside it, for browsers whose workers may import nothing. */
function beginWorker(): Reader {
  const alone = new URL("reading-alone.js", import.meta.url).href;
  return new Reader(
    new URL("reading-worker.js", import.meta.url),
    async () => ((await import(alone)) as { program: string }).program,
  );
}

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
async function show(
  title: string,
  asked: () => GivenFile[] | Promise<GivenFile[]>,
  isLinked = false,
): Promise<void> {
  const mine = ++turn;
  if (!isLinked) forgetLink();
  error.textContent = "";
  status.textContent = `Reading ${title}…`;
  try {
    const given = policyAmong(await asked());
    if (given.policy.length > 0) policy = given.policy;
    if (given.policy.length > 0 && given.others.length === 0) {
      status.textContent = "The policy's files are here: Run again uses them.";
      return;
    }
    const html = await reader.ask({ kind: "open", files: given.others }, ({ progress, rows }) => {
      if (mine === turn)
        status.textContent = `Reading ${title}: ${Math.floor(100 * progress)}%, ${rows} trajectories`;
    });
    if (mine !== turn) return;
    shown.hidden = false;
    the("shown-title", HTMLElement).textContent = title;
    showViews(views, html);
    const boxes = [...views.querySelectorAll<HTMLDetailsElement>("details[data-prompt]")];
    boxes.forEach(addExplainer);
    for (const box of boxes) {
      if (!("own" in box.dataset)) continue;
      const parts = { reader: () => reader, begin: beginWorker, given: () => policy };
      addAgain(box, { ...parts, show: showViews });
    }
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

/** Opens the finding that stands in the page's address, where one does. */
async function openLink(): Promise<void> {
  const found = await linkedFinding(location.hash).catch((fault: unknown) => {
    error.textContent = words(fault);
    return undefined;
  });
  if (found) await show("The finding in the link", () => [found], true);
}

/** A file that the page's address names is fetched first; after that nothing can be. */
async function start(): Promise<void> {
  const given = await fileOfAddress(location).catch((fault: unknown) => {
    error.textContent = words(fault);
    return undefined;
  });
  letNothingOut();
  reader = beginWorker();
  takeFiles();
  takeText();
  the("examples", HTMLElement).append(
    ...examplesOf().map(({ name, title }) => {
      const button = element("button", { type: "button" }, title);
      button.onclick = () => void show(title, () => exampleFiles(name));
      return button;
    }),
  );
  giveLinks(views, () => reader);
  addEventListener("hashchange", () => void openLink());
  document.body.dataset["ready"] = "";
  if (given) await show(given.name, () => [given]);
  else await openLink();
}

await start();
