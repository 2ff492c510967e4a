import { yieldToEventLoop } from "#platform/process";
import type { Decoder, Sampled, StepSampling } from "../model/decoder/decoder.js";
import type { Job } from "./job.js";
import type { CacheSequence } from "./cache-sequence.js";

/**
 * Tokens of one sequence fed in one step; a longer prompt takes several, so that others are not kept
 * waiting.
 */
const MAX_FED = 512;
/** Time between looks at the event loop, so that tools, timers and signals get their turn. */
const YIELD_MS = 4;

/** One line's part in a step. */
interface Feed {
  line: CacheSequence;
  tokens: readonly number[];
  /** Absent when this feed's sample is of no use: a stem, or a prompt not fed to its end. */
  job?: Job;
  /** The mask of ids that may come; absent: every id. */
  allowed?: Uint32Array | undefined;
  uniform: number;
}

/**
 * The step loop: every running generate call of a policy, decoded together.
 *
 * Calls join at the next step and leave when they finish; the loop ends when none is left.
 */
export class Batch {
  readonly #decoder: Decoder;
  readonly #top: number;
  readonly #jobs = new Set<Job>();
  #running = false;

  constructor(decoder: Decoder, top: number) {
    this.#decoder = decoder;
    this.#top = top;
  }

  add(job: Job): void {
    if (job.settled) return;
    this.#jobs.add(job);
    if (this.#running) return;
    this.#running = true;
    // Calls made in the same turn of the event loop start in the same step.
    queueMicrotask(() => void this.#run());
  }

  async #run(): Promise<void> {
    let looked = performance.now();
    while (this.#jobs.size > 0) {
      const before = this.#jobs.size;
      try {
        const feeds = this.#plan();
        if (feeds.length > 0) await this.#step(feeds);
      } catch (error) {
        for (const job of this.#jobs) job.fail(error);
      }
      for (const job of this.#jobs) if (job.settled) this.#jobs.delete(job);
      if (this.#jobs.size < before || performance.now() - looked > YIELD_MS) {
        await yieldToEventLoop();
        looked = performance.now();
      }
    }
    this.#running = false;
  }

  /** What to feed next. */
  #plan(): Feed[] {
    const feeds: Feed[] = [];
    const stems = new Set<CacheSequence>();
    for (const job of this.#jobs) {
      if (job.settled) continue;
      const { sequence } = job;
      const line = sequence.line.next();
      if (line !== sequence.line) {
        if (!stems.has(line)) feeds.push({ line, tokens: part(line.goal, line.fed), uniform: 0 });
        stems.add(line);
        continue;
      }
      // A sequence cut back to what the cache holds has nothing new to feed: its last token, again.
      line.truncate(sequence.tokens.length - 1);
      const tokens = part(sequence.tokens, line.fed);
      const ends = line.fed + tokens.length === sequence.tokens.length;
      if (!ends) {
        feeds.push({ line, tokens, uniform: 0 });
        continue;
      }
      try {
        const allowed = job.allowed();
        feeds.push({ line, tokens, job, allowed, uniform: job.options.random.uniform() });
      } catch (error) {
        job.fail(error); // a constraint of the caller's own
      }
    }
    return feeds;
  }

  async #step(feeds: Feed[]): Promise<void> {
    const sequences = Int32Array.from(feeds, (feed) => feed.line.id);
    const offsets = new Int32Array(feeds.length + 1);
    for (const [i, { tokens }] of feeds.entries()) offsets[i + 1] = offsets[i]! + tokens.length;
    const tokens = new Int32Array(offsets[feeds.length]!);
    for (const [i, feed] of feeds.entries()) tokens.set(feed.tokens, offsets[i]);
    let sampled: Sampled;
    try {
      const answer = this.#decoder.step(sequences, tokens, offsets, this.#sampling(feeds));
      sampled = answer instanceof Promise ? await answer : answer;
    } catch (error) {
      // A sequence is not to fail because of others in its batch: the step changed nothing, so each tries
      // alone.
      if (feeds.length > 1) for (const feed of feeds) await this.#step([feed]);
      else
        for (const job of this.#jobs)
          if (job.sequence.line.next() === feeds[0]!.line) job.fail(error);
      return;
    }
    for (const [i, { line, tokens: fed, job }] of feeds.entries()) {
      line.advance(fed.length);
      if (job && !job.settled) job.take(sampled, i, this.#top);
    }
  }

  /** The masks of a step, each once, and which of them each line has. */
  #masks(feeds: Feed[]): Pick<StepSampling, "allowed" | "allowedAt" | "constrained"> {
    const masks = [...new Set(feeds.map(({ allowed }) => allowed))].filter((mask) => mask);
    if (masks.length === 0) return {};
    const words = Math.ceil(this.#decoder.vocabSize / 32);
    const allowed = new Uint32Array(masks.length * words);
    for (const [i, mask] of masks.entries()) allowed.set(mask!.subarray(0, words), i * words);
    return {
      allowed,
      allowedAt: Int32Array.from(feeds, (feed) => masks.indexOf(feed.allowed)),
      ...(feeds.some(({ job }) => job?.constrained)
        ? { constrained: Int32Array.from(feeds, ({ job }) => (job?.constrained ? 1 : 0)) }
        : {}),
    };
  }

  #sampling(feeds: Feed[]): StepSampling {
    const count = feeds.length;
    const sampling: StepSampling = {
      temperature: new Float32Array(count),
      topK: new Int32Array(count),
      topP: new Float32Array(count).fill(1),
      minP: new Float32Array(count),
      repetitionPenalty: new Float32Array(count).fill(1),
      uniform: new Float64Array(count),
      ...this.#masks(feeds),
      top: this.#top,
    };
    for (let i = 0; i < count; i++) {
      const options = feeds[i]!.job?.options;
      if (!options) continue;
      sampling.temperature[i] = options.temperature ?? 1;
      sampling.topK[i] = Math.max(0, options.topK ?? 0);
      sampling.topP[i] = options.topP ?? 1;
      sampling.minP[i] = options.minP ?? 0;
      sampling.repetitionPenalty[i] = options.repetitionPenalty ?? 1;
      sampling.uniform[i] = feeds[i]!.uniform;
    }
    return sampling;
  }
}

function part(tokens: readonly number[], from: number): readonly number[] {
  return tokens.slice(from, from + MAX_FED);
}
