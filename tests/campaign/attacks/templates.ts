// Chat templates that never end or grow without end.
import { ChatTemplate } from "../../../src/model/tokenizer/chat-template.js";
import type { Random } from "../../../src/base/random/random.js";
import { type Area, Broken } from "../attempt.js";

const expressions = [
  ...[
    "x",
    "n.t",
    "n.t + n.t",
    "n.t * 100",
    "range(1000000)",
    "range(10) | list",
    "messages",
    "messages[0].content",
  ],
  ...[
    "n.t | upper",
    "n.t | length",
    "[1, 2] + [3]",
    "'a' ~ n.t",
    "n.t | replace('x', 'xx')",
    "messages | tojson",
  ],
  ...[
    "n.t.split('x')",
    "messages[0].__proto__",
    "messages[0].constructor",
    "raise_exception",
    "n['constructor']['constructor']('return 1')()",
  ],
  ...[
    "strftime_now('%Y')",
    "range(0, -1000000000, -1)",
    "n.t[::-1]",
    "(n.t | list) + (n.t | list)",
    "namespace(t=n.t).t",
    "cycler",
    "joiner",
  ],
];
function block(random: Random, depth: number): string {
  const inner = () => (depth === 0 ? "x" : block(random, depth - 1));
  const name = `v${depth}`;
  switch (random.integer(6)) {
    case 0:
      return `{% for ${name} in range(${10 ** random.integer(8)}) %}${inner()}{% endfor %}`;
    case 1:
      return `{% for ${name} in messages %}${inner()}${inner()}{% endfor %}`;
    case 2:
      return `{% set n.t = ${random.choose(expressions)} %}${inner()}`;
    case 3:
      return `{% if ${random.choose(expressions)} %}${inner()}{% else %}${inner()}{% endif %}`;
    case 4:
      return `{% macro m${depth}(a) %}${inner()}{{ m${depth}(a) }}{% endmacro %}{{ m${depth}(1) }}`;
    default:
      return `{{ ${random.choose(expressions)} }}${inner()}`;
  }
}

export const templates: Area = {
  name: "templates",
  share: 6,
  seconds: 30,
  make: (random) => {
    const source = `{% set x = 'x' %}{% set n = namespace(t='xxxxxxxx') %}${block(random, 2 + random.integer(4))}`;
    return {
      name: `a template ${source.slice(0, 300)}`,
      promise: "a text or a refusal, within 10 s and without code of its own",
      run: async () => {
        const began = process.cpuUsage();
        let said: string;
        try {
          said = new ChatTemplate(source).render([{ role: "user", content: "x".repeat(100) }]);
          if (said.length > 20_000_000) throw new Broken("broken", `${said.length} characters`);
        } catch (error) {
          if (error instanceof Broken) throw error;
          said = (error as Error).message;
        }
        const { user } = process.cpuUsage(began);
        if (user > 10e6) throw new Broken("hung", `${user / 1e6} s`);
        if (/native code|\[Function/.test(said)) throw new Broken("broken", said.slice(0, 300));
        return Promise.resolve(said.slice(0, 100));
      },
    };
  },
};
