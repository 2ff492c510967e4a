import { program } from "#pages/loop";
import { readFile, stat } from "#platform/files";
import { checkArguments } from "../../../common/options/check-arguments.js";
import { isRecord } from "../../../common/options/is-record.js";
import { writeDurably } from "../../../common/files/durable.js";
import { View } from "../page/view.js";
import { loopPicture } from "./loop-picture.js";
import type { LoopPayload } from "./payload.js";
import { actWords, aboutWords } from "./page/loop-words.js";
import { showLoop } from "./page/shown-loop.js";
import { loopStyle } from "./style.js";

/**
 * How a policy hesitates, branches, is compared and learns, on one question; shows itself.
 */
export class Loop extends View<LoopPayload> {
  protected override readonly page = { name: "loop", style: loopStyle, program };

  override get summary(): string {
    const loop = showLoop(this.payload);
    return [
      `${this.payload.tree.title}. ${aboutWords(loop)}`,
      ...[1, 2, 3, 4].map((act) => actWords(loop, act, this.payload.updates).join("")),
    ].join("\n");
  }

  override picture(): string {
    return loopPicture(this.payload);
  }

  protected override still(): string {
    return this.drawn;
  }

  /** Writes the recording to a file, which `theLoop(path)` shows again. */
  async save(path: string): Promise<void> {
    checkArguments("save the loop", { path }, { path: "path" });
    await writeDurably(path, `${JSON.stringify(this.payload)}\n`);
  }
}

/** A file that is larger is no recording. */
const mostBytes = 64e6;

/** A recording as `save` wrote it; anything else is refused. */
export async function readLoop(path: string): Promise<LoopPayload> {
  const refuse = (got: string): never => {
    throw new TypeError(
      `Cannot show the loop: ${path} must be a recording that loop.save(path) wrote, got ${got}`,
    );
  };
  const file = await stat(path).catch(() => refuse("no such file"));
  if (!file.isFile()) refuse("no regular file");
  if (file.size > mostBytes) refuse(`${file.size} bytes`);
  const text = await readFile(path, "utf8");
  let found: Partial<LoopPayload> | null = null;
  try {
    found = JSON.parse(text) as Partial<LoopPayload> | null;
  } catch {
    refuse("no JSON");
  }
  const { tree, updates, fresh, surprises, entropies, words, tries, note } = found ?? {};
  const isPacked = (one: LoopPayload["words"] | undefined) => typeof one?.data === "string";
  const isWhole =
    isRecord(tree) &&
    Number.isInteger(updates) &&
    fresh?.length === updates! + 1 &&
    [surprises, entropies, words].every(isPacked) &&
    typeof tries === "number" &&
    typeof note === "string";
  if (!isWhole) refuse("other data");
  return found as LoopPayload;
}
