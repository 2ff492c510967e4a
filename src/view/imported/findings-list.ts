import { escapeHtml as escape } from "../../../common/picture/escape.js";
import { findingsOf, lookedThrough } from "../../formats/findings-of.js";
import type { ImportedRollouts } from "../../formats/imported-rollouts.js";
import type { Finding, FindingPlace } from "../../reward/findings/definition.js";
import type { RolloutTree } from "../../rollout/rollout-tree.js";

/** Links of one finding. */
const mostLinks = 24;

/** A token of a trajectory as a token of a segment. */
function inTree(tree: RolloutTree, { row, tokens }: FindingPlace): [node: number, token: number] {
  const path = tree.path(tree.trajectories[row]!.leaf);
  const at = tokens?.[0]?.[0];
  let before = 0;
  for (const node of path) {
    const { length } = node.tokens;
    if (at !== undefined && at < before + length) return [node.id, at - before];
    before += length;
  }
  return [path.at(-1)?.id ?? -1, -1];
}

/** The tokens of one prompt's tree that findings are about: a node, its first token and the one after the last. */
export function marksOf(
  imported: ImportedRollouts,
  prompt: number,
): (readonly [node: number, from: number, to: number])[] {
  const tree = imported.tree(prompt) as unknown as RolloutTree;
  const marks = new Map<string, readonly [number, number, number]>();
  for (const { where } of findingsOf(imported).findings) {
    for (const { tree: of, row, tokens = [] } of where) {
      if (of !== prompt) continue;
      let before = 0;
      for (const { id, tokens: own } of tree.path(tree.trajectories[row]!.leaf)) {
        for (const [from, to] of tokens) {
          const [a, b] = [Math.max(0, from - before), Math.min(own.length, to - before)];
          // Trajectories that share a segment share its marks.
          if (a < b) marks.set(`${id} ${a} ${b}`, [id, a, b]);
        }
        before += own.length;
      }
    }
  }
  return [...marks.values()];
}

/** What was found, each with links to the trajectories that show it. */
export function findingsList(
  imported: ImportedRollouts,
  address: ((prompt: number) => string) | undefined,
  isOnPage: (prompt: number) => boolean,
): string {
  const found = findingsOf(imported);
  const link = (place: FindingPlace) => {
    const { tree: prompt, row } = place;
    const words = `prompt ${prompt + 1}, trajectory ${row}`;
    const [node, token] = inTree(imported.tree(prompt) as unknown as RolloutTree, place);
    const state = `t=${row}&node=${node}${token < 0 ? "" : `&token=${token}`}`;
    if (!isOnPage(prompt) && address) {
      return `<a href="${escape(`${address(prompt)}#${state}`)}">${words}</a>`;
    }
    return `<a href="#prompt=${prompt}&amp;${escape(state)}" data-place="${prompt} ${row} ${node} ${token}">${words}</a>`;
  };
  const listed = found.findings.map(({ title, message, where }: Finding) => {
    const more = where.length - mostLinks;
    const links = where.slice(0, mostLinks).map(link);
    const count = where.length === 1 ? "1 trajectory" : `${where.length} trajectories`;
    const rest = more > 0 ? `, and ${more} more` : "";
    return `<details class="arpo-finding"><summary><b>${escape(title)}</b> <span>${count}</span></summary><p>${escape(message)}</p><p>${links.join(", ")}${rest}</p></details>`;
  });
  const none = listed.length === 0 ? `<p class="arpo-muted">Nothing was found.</p>` : "";
  return `<h3>Findings</h3><p class="arpo-muted">In ${escape(lookedThrough(found))}.</p>${none}${listed.join("")}`;
}
