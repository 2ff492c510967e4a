import type { ToolAnswer, ToolContext } from "./definition.js";

/** What is asked of the person in the lab's page. */
interface Act {
  kind: "run" | "interrupt";
  notebook: string;
  code?: string;
}

/** What each state of an act means, in words for the agent. */
const meanings: Record<string, string> = {
  waiting:
    "The person has not answered yet. Call this tool again with the same arguments to wait further; the question stays for two minutes.",
  running:
    "Allowed, and still running. Call this tool again with the same arguments to wait further, or read_cells later.",
  refused: "The person refused. Nothing was done. Do not ask the same again; ask them what to do.",
  unanswered: "The person did not answer within two minutes. Nothing was done.",
  lost: "It was allowed, and the page did not say how it ended. read_cells shows the notebook.",
};

/** Asks the person, by way of the lab, and waits for what came of it. */
export async function act(context: ToolContext, asked: Act): Promise<ToolAnswer> {
  const { session, agent } = context;
  const { state, ...result } = await context.lab.post("acts", { ...asked, session, agent });
  if (state === "done") {
    const failed = result["status"] !== "ok";
    return {
      note: failed ? "Allowed. It ended with an error." : "Allowed, and done.",
      data: result,
      failed,
    };
  }
  const note = meanings[String(state)] ?? `The lab said: ${String(state)}`;
  return { note, failed: state !== "waiting" && state !== "running" };
}
