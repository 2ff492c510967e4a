import { mkdir, rm, writeFile } from "#platform/files";
import { basename, dirname, join } from "#platform/path";
import { findingOf } from "../../../src/formats/write/finding.js";
import { importRollouts } from "../../../src/formats/import-rollouts.js";
import { readableNames } from "../../../src/formats/read/file-kinds.js";
import type { ImportedRollouts } from "../../../src/formats/imported-rollouts.js";
import { advantages } from "../../../src/learn/advantages.js";
import type { TrainingBatch } from "../../../src/learn/batch.js";
import { deepResearch } from "../../../src/reward/rewards/deep-research.js";
import { score } from "../../../src/reward/score-trees.js";
import type { Scored } from "../../../src/reward/scored.js";
import { RolloutTree } from "../../../src/rollout/rollout-tree.js";
import { explain } from "../../../src/view/explain/explain.js";
import { showImported } from "../../../src/view/imported/imported-view.js";
import type { Answered, Asked, GivenFile } from "./messages.js";

/** Scores of prompts whose file has a right answer and no scores, as ARPO's reward gives them. */
async function defaultScores(imported: ImportedRollouts): Promise<Map<number, Scored>> {
  const scored = new Map<number, Scored>();
  for (const { index } of imported.prompts) {
    // A file's own trees stand for themselves; trajectories of others have the file's scores, or none were
    // given.
    if (imported.parts.prompts[index]!.tree === undefined || imported.scoredOf(index)) continue;
    const tree = imported.tree(index);
    if (tree.task.groundTruth === undefined) continue;
    scored.set(index, await score(tree, deepResearch));
  }
  return scored;
}

/** The advantages of one prompt's trajectories: the file's, or GRPO's from the scores. */
function batchOf(imported: ImportedRollouts, prompt: number, scored: Scored | undefined) {
  const own = imported.batchOf(prompt);
  if (own) return own;
  if (scored) return advantages(scored);
  throw new RangeError(
    "Cannot explain the objective: the file must carry scores, advantages or the right answer, got none of them",
  );
}

const hasLogprobs = ({ trajectories: rows }: TrainingBatch) =>
  rows.every(({ trajectory }) =>
    trajectory.logprobs.every((value, t) => !trajectory.lossMask[t] || Number.isFinite(value)),
  );

/** The explainer of one prompt's tokens, as HTML. */
function explained(imported: ImportedRollouts, prompt: number, scored: Scored | undefined): string {
  const batch = batchOf(imported, prompt, scored);
  if (!hasLogprobs(batch)) {
    throw new RangeError(
      "Cannot explain the objective: the file must carry the log-probability of every token the model wrote, got text alone. " +
        "`arpo-lab view FILE --policy MODEL` fills them in, on your machine.",
    );
  }
  const { tokenizer } = imported.tree(prompt);
  return explain(batch, tokenizer ? { tokenizer } : {}).html();
}

const folder = "/dropped";
const tokenizerFiles = ["tokenizer.json", "tokenizer_config.json", "chat_template.jinja"];

/** Where files that were dropped stand in the tab's own files. */
interface GivenPaths {
  /** A file, or a folder of several. */
  rollouts: string;
  /** The folder of a tokenizer, where one was dropped beside them. */
  tokenizer: string | undefined;
}

const isTokenizer = ({ name }: GivenFile) => tokenizerFiles.includes(basename(name));

/** Puts dropped files where they can be read, in the place of those of before. */
async function putGivenFiles(files: readonly GivenFile[]): Promise<GivenPaths> {
  await rm(folder, { recursive: true, force: true });
  const put = async ({ name, bytes }: GivenFile, below: string) => {
    // A name is a path of its own: nothing in it leads out of the folder.
    const path = join(folder, below, join("/", name));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, bytes);
    return path;
  };
  const own = files.filter(isTokenizer);
  const rollouts = files.filter((file) => !isTokenizer(file));
  if (rollouts.length === 0) {
    const got = own.length > 0 ? "a tokenizer alone" : "none";
    throw new RangeError(
      `Cannot import rollouts: there must be a ${readableNames} file, got ${got}`,
    );
  }
  for (const file of own) await put({ ...file, name: basename(file.name) }, "tokenizer");
  const config = own.some(({ name }) => basename(name) === "tokenizer_config.json");
  if (own.length > 0 && !config) {
    await put(
      { name: "tokenizer_config.json", bytes: new TextEncoder().encode("{}") },
      "tokenizer",
    );
  }
  const paths: string[] = [];
  for (const file of rollouts) paths.push(await put(file, "files"));
  return {
    rollouts: paths.length === 1 ? paths[0]! : join(folder, "files"),
    tokenizer: own.length > 0 ? join(folder, "tokenizer") : undefined,
  };
}

/** A message about dropped files as their reader knows them: without the place they were put. */
const inTheirWords = (text: string) =>
  text.replaceAll(`${folder}/files/`, "").replaceAll(`${folder}/files`, "the files");

// Reads dropped files and makes the views of them, beside the page: a large file stops nothing there.

const whoseScores =
  "<p>The file carries no scores: those shown are ARPO's reward, worked out here from the right answers.</p>";

let open: { imported: ImportedRollouts; scores: Map<number, Scored> } | undefined;
const answer = (message: Answered) => postMessage(message);

async function opened(files: readonly GivenFile[], id: number): Promise<string> {
  open = undefined;
  const { rollouts, tokenizer } = await putGivenFiles(files);
  const read =
    tokenizer && (await import("../../../src/model/tokenizer/hf-tokenizer.js")).HfTokenizer;
  const imported = await importRollouts(rollouts, {
    ...(read ? { tokenizer: await read.load(tokenizer) } : {}),
    onProgress: ({ bytes, of, rows }) => answer({ id, progress: bytes / of, rows }),
  });
  const [fault] = imported.broken;
  if (imported.rows === 0 && fault !== undefined) {
    throw new SyntaxError(`Cannot read ${fault.file}, line ${fault.line}: ${fault.reason}`);
  }
  open = { imported, scores: await defaultScores(imported) };
  const view = showImported(imported, { id: "page", scores: open.scores }).html();
  return open.scores.size > 0 ? whoseScores + view : view;
}

function nowOpen(action: string) {
  if (open) return open;
  throw new TypeError(`Cannot ${action}: a file must be open, got none`);
}

function explainedOf(prompt: number): string {
  const { imported, scores } = nowOpen("explain the objective");
  return explained(imported, prompt, imported.scoredOf(prompt) ?? scores.get(prompt));
}

/** A prompt's tree as its file has it, with what is known of its scores and its words. */
async function sent(prompt: number) {
  const { imported, scores } = nowOpen("make a link");
  const tree = imported.tree(prompt) as unknown as RolloutTree;
  const { index } = imported.parts.prompts[prompt]?.tree ?? tree;
  const { tokenizer } = tree;
  const whole = new RolloutTree({ ...tree, index }, tokenizer && { tokenizer });
  return findingOf(whole, { scored: imported.scoredOf(prompt) ?? scores.get(prompt) });
}

async function answerTo(asked: Asked): Promise<string> {
  if (asked.kind === "open") return opened(asked.files, asked.id);
  if (asked.kind === "explain") return explainedOf(asked.prompt);
  if (asked.kind === "again") {
    const { againHtml } = await import("./again-work.js");
    return againHtml(asked.finding, asked.policy, asked.own);
  }
  const { text, letters = "" } = await sent(asked.prompt);
  return asked.kind === "letters" ? letters : text;
}

addEventListener("message", ({ data }: MessageEvent<Asked>) => {
  const { id } = data;
  answerTo(data).then(
    (text) => answer({ id, answer: inTheirWords(text) }),
    (error: unknown) =>
      answer({ id, error: inTheirWords(error instanceof Error ? error.message : String(error)) }),
  );
});
// Whoever asks before this would not be heard.
postMessage("ready");
