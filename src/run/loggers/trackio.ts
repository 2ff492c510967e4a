import { environment } from "#platform/process";
import { join } from "#platform/path";
import { sha256 } from "#platform/sha256";
import { randomUUID } from "#platform/uuid";
import { makeFolder, writeDurably } from "../../../common/files/durable.js";
import { readIfThere } from "../../base/files/read-if-there.js";
import type { LoggedRun } from "./definition.js";
import { defineLogger } from "./definition.js";
import type { LoggedAnswer, Logger } from "./logger.js";

// trackio keeps a project in SQLite, which programs of other libraries cannot safely write beside its own. What it takes
// from others are fragments: JSON lines below TRACKIO_DIR/inbox/WRITER, written once, which its dashboard puts into the
// database within seconds and then removes. A record whose `log_id` it has already is passed over.

/** A validation answer as a trace of the dashboard. */
const traceOf = ({ input, output, score, reason }: LoggedAnswer) => ({
  _type: "trackio.trace",
  messages: [
    { role: "user", content: input },
    { role: "assistant", content: output },
  ],
  metadata: { reward: score, reason },
});

/** The run's id, kept in its folder: a resumed run goes on as the same. */
async function runIdOf(folder: string): Promise<string> {
  const noted = join(folder, "trackio.json");
  const text = await readIfThere(noted);
  if (text) return (JSON.parse(text) as { runId: string }).runId;
  const runId = randomUUID().replaceAll("-", "");
  await writeDurably(noted, `${JSON.stringify({ runId })}\n`);
  return runId;
}

async function trackioLogger(
  { folder, project, run, group, config }: LoggedRun,
  env: Readonly<Record<string, string | undefined>> = environment,
): Promise<Logger> {
  const runId = await runIdOf(folder);
  const inbox = join(env["TRACKIO_DIR"] ?? join(folder, "trackio"), "inbox", runId);
  const shown = { ...config, _Username: null, _Created: new Date().toISOString(), _Group: group ?? null }; // prettier-ignore
  const write = async (step: number, kind: string, metrics: object) => {
    const record = {
      ...{ v: 1, kind: "metric", project, run, run_id: runId, metrics, step },
      ...{ timestamp: new Date().toISOString(), config: shown },
      log_id: sha256(`${runId} ${step} ${kind}`).slice(0, 32),
    };
    // The dashboard removes a folder that it has emptied.
    await makeFolder(inbox);
    const name = `${String(step).padStart(8, "0")}-${kind}.jsonl`;
    await writeDurably(join(inbox, name), `${JSON.stringify(record)}\n`);
  };
  return {
    name: "trackio",
    // JSON knows no NaN; trackio reads it as this text.
    log: (step, metrics) =>
      write(
        step,
        "metrics",
        Object.fromEntries(
          Object.entries(metrics).map(([name, value]) => [
            name,
            Number.isFinite(value) ? value : String(value),
          ]),
        ),
      ),
    answers: (step, rows) => write(step, "answers", { answers: rows.map(traceOf) }),
  };
}

/** A run of trackio's dashboard. */
export const trackioDefinition = defineLogger({
  name: "trackio",
  words: "files for `trackio show`, in TRACKIO_DIR or in trackio of the run's folder",
  open: (run) => trackioLogger(run),
});
