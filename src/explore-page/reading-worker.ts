// Reads dropped files and makes the views of them, beside the page: a large file stops nothing there.
import { importRollouts } from "../import/import-rollouts.js";
import type { ImportedRollouts } from "../import/imported-rollouts.js";
import type { Scored } from "../reward/scored.js";
import { showImported } from "../view/imported/imported-view.js";
import { defaultScores } from "./default-scores.js";
import { explained } from "./explained.js";
import { inTheirWords, putGivenFiles } from "./given-files.js";
import type { Answered, Asked, GivenFile } from "./messages.js";

const whoseScores =
  "<p>The file carries no scores: those shown are ARPO's reward, worked out here from the right answers.</p>";

let open: { imported: ImportedRollouts; scores: Map<number, Scored> } | undefined;
const answer = (message: Answered) => postMessage(message);

async function opened(files: readonly GivenFile[], id: number): Promise<string> {
  open = undefined;
  const { rollouts, tokenizer } = await putGivenFiles(files);
  const read = tokenizer && (await import("../model/tokenizer/hf-tokenizer.js")).HfTokenizer;
  const imported = await importRollouts(rollouts, {
    ...(read ? { tokenizer: await read.load(tokenizer) } : {}),
    onProgress: ({ bytes, of, rows }) => answer({ id, progress: bytes / of, rows }),
  });
  open = { imported, scores: await defaultScores(imported) };
  const view = showImported(imported, { id: "page", scores: open.scores }).html();
  return open.scores.size > 0 ? whoseScores + view : view;
}

function explainedOf(prompt: number): string {
  if (!open) throw new TypeError("Cannot explain the objective: a file must be open, got none");
  const { imported, scores } = open;
  return explained(imported, prompt, imported.scoredOf(prompt) ?? scores.get(prompt));
}

addEventListener("message", ({ data }: MessageEvent<Asked>) => {
  const { id } = data;
  Promise.resolve(data)
    .then((asked) => (asked.kind === "open" ? opened(asked.files, id) : explainedOf(asked.prompt)))
    .then(
      (html) => answer({ id, html: inTheirWords(html) }),
      (error: unknown) =>
        answer({ id, error: inTheirWords(error instanceof Error ? error.message : String(error)) }),
    );
});
// Whoever asks before this would not be heard.
postMessage("ready");
