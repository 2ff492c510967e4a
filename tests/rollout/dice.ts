import type { Environment, EnvironmentStart } from "../../src/environments/environment.js";
import { Random } from "../../src/base/random/random.js";
import { ScriptedPolicy } from "../../src/rollout/testing/scripted-policy.js";

/** How often instances were made and disposed. */
export const counts = { made: 0, disposed: 0, twice: 0, clones: 0 };

/** A purse and dice: every call changes the state, some draw. */
export class Dice implements Environment {
  readonly tools: Record<string, string> = { bet: "Bets on a throw.", count: "Counts the purse." };
  purse = 10;
  throws = 0;
  random = Random.from(0);
  #gone = false;

  constructor() {
    counts.made++;
  }
  reset(_: unknown, { random }: EnvironmentStart): string {
    this.random = random;
    this.purse += random.integer(5);
    return `You have ${this.purse}.`;
  }
  bet(input: string) {
    const stake = Number(input);
    this.throws++;
    const won = this.random.integer(6) >= 3;
    this.purse += won ? stake : -stake;
    return { text: `You ${won ? "win" : "lose"} ${stake}.`, ok: true, reward: won ? 1 : -1 };
  }
  count(): string {
    return `${this.purse} after ${this.throws} throws.`;
  }
  get done() {
    return this.throws >= 6;
  }
  reward() {
    return { score: this.purse, reason: `${this.throws} throws`, parts: { throws: this.throws } };
  }
  dispose() {
    counts.disposed++;
    if (this.#gone) counts.twice++;
    this.#gone = true;
  }
}

export class CloneableDice extends Dice {
  clone(): Dice {
    counts.clones++;
    const copy = new CloneableDice();
    copy.purse = this.purse;
    copy.throws = this.throws;
    copy.random = Random.restore(this.random.state());
    return copy;
  }
}

/** Bets, counts and stops as its trajectory's random stream says. */
export const gambler = () =>
  new ScriptedPolicy(({ options: { random } }) => {
    const u = random.uniform();
    const confidence = 0.3 + 0.7 * random.uniform();
    if (u < 0.6) return { text: `hm<bet>${1 + random.integer(3)}</bet>`, confidence };
    return { text: u < 0.85 ? "how much?<count>all</count>" : "enough\u0001", confidence };
  });
