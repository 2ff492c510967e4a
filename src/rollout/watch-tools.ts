import { note } from "#platform/note";
import { isSilent } from "../base/show/tell-terminal.js";
import { printable } from "../base/text/printable.js";
import type { ToolOutcome } from "../tools/tool-set.js";
import type { RolloutEvent } from "./options.js";
import type { TrajectoryEnd } from "./tree/tree-values.js";

/** Where the calls of some rollouts can be made, and how far they may go. */
export interface WatchedTools {
  tags: readonly string[];
  /** Milliseconds that a call may take. */
  timeoutMs: number;
  responseLength: number;
  /** Why nothing may have been called, besides what is seen; undefined where nothing can be. */
  uncalled: string | undefined;
}

/** How long a call takes before a person is told what is waited for. */
const patienceMs = 10_000;
const longestMessage = 200;

/** What is watched: a call, its result, and the end of who calls. */
type WatchedEvent =
  | { type: "trajectory" }
  | { type: "call"; tag: string }
  | { type: "result"; outcome: ToolOutcome }
  | { type: "end"; end: TrajectoryEnd };

interface Failed {
  count: number;
  messages: Map<string, number>;
}

/** The most frequent of some messages, in a line. */
function mostOf(messages: ReadonlyMap<string, number>): string {
  const [[message] = [""]] = [...messages].sort((a, b) => b[1] - a[1]);
  const line = message.replace(/\s+/g, " ").trim();
  return line.length > longestMessage ? `${line.slice(0, longestMessage - 1)}…` : line;
}

let saidUncalled = false;

/**
 * Watches the tool calls of rollouts and of benchmarks' answers by their events, and says what a person should know: what is waited for
 * while they run and, at a terminal that was silent, how far they are; at their end which tools failed, how often and why, or that nothing was called.
 */
export class ToolWatch {
  readonly #failed = new Map<string, Failed>();
  readonly #calls = new Map<string, number>();
  readonly #pending = new Map<string, number[]>();
  readonly #told = new Set<string>();
  readonly #timer: ReturnType<typeof setInterval>;
  /** Since when trajectories run, how many began, where these events are seen, and how many ended. */
  #now = { since: performance.now(), begun: 0, ended: 0 };
  #ended = 0;
  #cut = 0;

  constructor(
    readonly tools: WatchedTools,
    readonly say: (line: string) => void = (line) => note(printable(`arpo-lab: ${line}`)),
    patience: number = patienceMs,
  ) {
    this.#timer = setInterval(() => {
      this.#tellWaits(patience);
      if (isSilent(patience)) this.tellProgress();
    }, patience / 4);
    (this.#timer as { unref?: () => void }).unref?.();
  }

  see(event: WatchedEvent | RolloutEvent): void {
    if (event.type === "call") {
      this.#calls.set(event.tag, (this.#calls.get(event.tag) ?? 0) + 1);
      this.#pending.set(event.tag, [...(this.#pending.get(event.tag) ?? []), performance.now()]);
    } else if (event.type === "result") {
      const { tag, failure, retries } = event.outcome;
      this.#pending.get(tag)?.shift();
      // What was refused before it reached a tool is the model's mistake, and so is asking for nothing.
      const reached = failure?.kind === "timeout" || (failure?.kind === "error" && retries > 0);
      if (failure && reached) this.#count(tag, failure.message);
    } else if (event.type === "trajectory") {
      // After those before, as in the next step of a training run.
      const { begun, ended } = this.#now;
      if (begun > 0 && ended >= begun) this.#now = { since: performance.now(), begun: 0, ended: 0 };
      this.#now.begun++;
    } else if (event.type === "end") {
      this.#ended++;
      this.#now.ended++;
      if (event.end === "length") this.#cut++;
    }
  }

  /** How far it is, for a person who has read nothing for a while. */
  tellProgress(): void {
    const { since, begun, ended } = this.#now;
    if (begun > 0 && ended >= begun) return;
    const of = begun > 0 ? ` of ${begun} that began` : "";
    const seconds = Math.round((performance.now() - since) / 1000);
    this.say(`rolling out for ${seconds} s: trajectories ended: ${ended}${of}`);
  }

  /** What is to be said at the end. */
  findings(): string[] {
    return [...this.#failed].map(([tag, { count, messages }]) => {
      const calls = Math.max(count, this.#calls.get(tag) ?? 0);
      return `the tool <${tag}> failed in ${count} of ${calls} ${calls === 1 ? "call" : "calls"}: ${mostOf(messages)}`;
    });
  }

  /** Stops watching, and says what was found. */
  end(): void {
    clearInterval(this.#timer);
    for (const line of this.findings()) this.say(line);
    const { tags, responseLength, uncalled } = this.tools;
    if (uncalled === undefined || this.#calls.size > 0 || this.#ended === 0 || saidUncalled) return;
    saidUncalled = true;
    const share = Math.round((100 * this.#cut) / this.#ended);
    const why =
      share >= 50 ? `${share}% were cut at ${responseLength} tokens; set responseLength` : uncalled;
    const named =
      tags.length > 0 ? `called a tool (${tags.join(", ")})` : "made a call in its environment";
    this.say(`no trajectory ${named}: ${why}`);
  }

  #count(tag: string, message: string): void {
    const failed = this.#failed.get(tag) ?? { count: 0, messages: new Map<string, number>() };
    failed.count++;
    failed.messages.set(message, (failed.messages.get(message) ?? 0) + 1);
    this.#failed.set(tag, failed);
  }

  #tellWaits(patience: number): void {
    for (const [tag, [since]] of this.#pending) {
      if (since === undefined || this.#told.has(tag)) continue;
      const waited = performance.now() - since;
      if (waited < patience) continue;
      this.#told.add(tag);
      const most = Math.round(this.tools.timeoutMs / 1000);
      this.say(
        `waiting for the tool <${tag}> for ${Math.round(waited / 1000)} s; a call may take ${most} s (new ToolSet(tools, { timeoutMs }))`,
      );
    }
  }
}
