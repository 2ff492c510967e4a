import type { Random } from "../../base/random/random.js";
import { relation, type RelationName } from "./relations.js";
import { asSentence, type Share, Speaker, type Wording } from "./wording.js";

const direct: Wording = {
  seen: [
    "{q}",
    "{q} Look it up, please.",
    "Quick question: {q}",
    "I keep wondering: {q}",
    "{q} I could not find it.",
  ],
  held: [
    "For a quiz tonight: {q}",
    "My aunt asks me this: {q}",
    "{q} Somebody must have written it down.",
  ],
};
const indirect: Wording = {
  seen: [
    "Can you find out {c}?",
    "I would like to know {c}.",
    "Please tell me {c}.",
    "Do you know {c}?",
    "I am writing a travel guide and need {c}.",
  ],
  held: [
    "Nobody here remembers {c}; can you help?",
    "We had a bet about {c}.",
    "Before I leave tomorrow I should learn {c}.",
  ],
};

/** A question in words, and which wordings it is made of. */
interface Worded {
  text: string;
  wordings: readonly string[];
}

/** Asks for one thing of a subject: `subject` says what stands for its name. */
export function ask(
  of: RelationName,
  subject: (speaker: Speaker) => string,
  { share, random }: { share: Share; random: Random },
): Worded {
  const speaker = new Speaker(share, random);
  const x = subject(speaker);
  const asked = relation(of);
  const whole = random.uniform() < 0.5;
  const core = speaker.say(whole ? asked.direct : asked.clause, { x });
  const text = whole ? speaker.say(direct, { q: core }) : speaker.say(indirect, { c: core });
  return { text: plain(asSentence(text)), wordings: speaker.used };
}

/** Descriptions stand where names do: they bring their own article and are no titles to be quoted. */
const plain = (text: string): string =>
  text
    .replace(/"([a-z][^"]*)"/g, (_, inner: string) => inner)
    .replace(/\bthe (the|what)\b/g, (_, word: string) => word);
