import { checkOpenEnv } from "../../../src/environments/open-env/check.js";
import { say } from "../terminal/say.js";

export interface EnvCheckOptions {
  call: string[];
  tokenEnv?: string;
  json?: boolean;
}

/** Says what an OpenEnv server can do. */
export async function runEnvCheck(url: string, options: EnvCheckOptions): Promise<void> {
  const calls = options.call.map((text) => {
    const at = text.indexOf("=");
    if (at > 0) return { tag: text.slice(0, at), input: text.slice(at + 1) };
    throw new RangeError(`Cannot check: --call must be TOOL=INPUT, got ${text}`);
  });
  const { tokenEnv } = options;
  const found = await checkOpenEnv(url, calls, tokenEnv === undefined ? {} : { tokenEnv });
  if (options.json) {
    say(JSON.stringify(found, null, 2));
    return;
  }
  for (const [tag, about] of Object.entries(found.tools)) say(`tool      <${tag}> ${about}`);
  say(`reset     ${found.reset.slice(0, 500)}`);
  for (const { tag, input, text, ok, reward } of found.calls) {
    const earned = reward === undefined ? "" : ` (earns ${reward})`;
    say(
      `call      <${tag}>${input}</${tag}> ${ok ? "" : "failed: "}${text.slice(0, 500)}${earned}`,
    );
  }
  say(`sessions  ${found.sessions} at once${found.done ? "; these calls end the episode" : ""}`);
  say(
    `seed      ${found.seeded ? "another seed begins differently" : "makes no difference seen here"}`,
  );
  const branches =
    found.branches === undefined
      ? "unknown: no call was tried, and resets are alike; give --call TOOL=INPUT"
      : found.branches
        ? "yes: the same seed answers alike"
        : `no: the same seed answers differently: ${found.difference}`;
  say(`branches  ${branches}`);
}
