// A tree of the page as a link or a small file, and from there a tree again.
import { brokenLink, valueInLink } from "../../../src/base/text/link-text.js";
import { isRecord } from "../../../common/options/is-record.js";
import type { LinkAsked } from "../../../src/view/explorer/page/controls/export.js";
import { findingAddress, findingName } from "../../../src/view/page/address.js";
import type { GivenFile } from "./messages.js";
import type { Reader } from "./reader.js";

const rule = { what: "finding", most: 1 << 22 };

/** The finding in the page's address; undefined where there is none. */
export async function linkedFinding(hash: string): Promise<GivenFile | undefined> {
  const letters = new URLSearchParams(hash.slice(1)).get(findingName);
  if (letters === null) return undefined;
  const value = await valueInLink(letters, rule);
  if (!isRecord(value) || value["finding"] !== 1) throw brokenLink(rule.what);
  let text: string;
  try {
    text = JSON.stringify(value);
  } catch {
    throw brokenLink(rule.what); // nested without end
  }
  return { name: "finding.json", bytes: new TextEncoder().encode(text) };
}

/** Takes a finding out of the address, where something else is shown. */
export function forgetLink(): void {
  if (new URLSearchParams(location.hash.slice(1)).has(findingName))
    history.replaceState(null, "", location.pathname + location.search);
}

function save(text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = "finding.json";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 5000);
}

async function give(reader: Reader, prompt: number, { place, copy, say }: LinkAsked) {
  const letters = await reader.ask({ kind: "letters", prompt });
  const address = findingAddress(location.href.replace(/#.*$/s, ""), letters, place);
  if (letters !== "") {
    history.replaceState(null, "", address);
    return copy(address);
  }
  save(await reader.ask({ kind: "finding", prompt }));
  say("Too large for a link: saved finding.json, which this page opens");
}

/** Answers the explorers of the page that ask for a link to what they show. */
export function giveLinks(views: HTMLElement, reader: () => Reader): void {
  views.addEventListener("arpo-lab:link", (event) => {
    const { detail } = event as CustomEvent<LinkAsked>;
    const box = (event.target as HTMLElement).closest<HTMLElement>("details[data-prompt]");
    if (!box) return;
    event.preventDefault();
    give(reader(), Number(box.dataset["prompt"]), detail).catch((fault: unknown) =>
      detail.say(fault instanceof Error ? fault.message : String(fault)),
    );
  });
}
