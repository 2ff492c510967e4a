// Texts that take tokenizers apart: runs of every kind of white space, digits of many scripts, marks that
// combine, halves of surrogates' neighbours, contractions, code, special tokens and pieces of them.
import { Random } from "../src/base/random/random.js";

const spaces = [
  " ",
  "  ",
  "   ",
  "\n",
  "\n\n",
  "\r\n",
  "\t",
  "\u00a0",
  "\u2003",
  "\u3000",
  "\u0085",
  "\ufeff",
  "\u200b",
  "\u000b",
  "\u1680",
];
const words = [
  ...[
    "the",
    "The",
    "THE",
    "don't",
    "DON'T",
    "we'LL",
    "it's",
    "I'M",
    "they've",
    "'s",
    "''",
    "o'clock",
    "naïve",
  ],
  ...[
    "Straße",
    "ſ's",
    "İstanbul",
    "ﬁne",
    "e\u0301",
    "e\u0301\u0323",
    "Å",
    "Привет",
    "мир",
    "日本語",
    "東京都",
    "中文",
    "한국어",
  ],
  ...[
    "العربية",
    "שָׁלוֹם",
    "हिन्दी",
    "ไทย",
    "தமிழ்",
    "👍",
    "👍🏽",
    "👨‍👩‍👧‍👦",
    "🇫🇷",
    "𝒳",
    "𠜎",
    "\u{1F9D1}\u200D\u{1F4BB}",
  ],
];
const numbers = [
  "0",
  "7",
  "42",
  "123",
  "1234",
  "12345678901234567890",
  "3.14",
  "1e-5",
  "1,000,000",
  "٣٤٥",
  "१२३",
  "Ⅻ",
  "½",
  "x²",
  "①②",
  "２０２４",
];
const signs = [
  "!",
  "?!",
  "...",
  "…",
  "—",
  "--",
  "->",
  "=>",
  "==",
  "!=",
  "<=",
  "$",
  "€5",
  "#",
  "@",
  "&&",
  "||",
  "\\n",
  "\\",
  "/",
  "//",
  "```",
  "`",
  "~",
  "^",
  "_",
  "__init__",
  "(",
  ")",
  "[]",
  "{}",
  "<",
  ">",
  "<|",
  "|>",
  "<|im_",
  "<|im_start|",
  "‽",
  "«»",
  "„“",
  "¿",
  "§",
  "\u0000",
  "\u001c",
  "\u007f",
];
const code = [
  "def f(x):\n    return x + 1\n",
  "for (let i = 0; i < 10; i++) {",
  "a\n\n\n  b",
  "\t\tif x:\r\n",
  "https://example.org/a?b=c&d=%20",
  '{"k": [1, 2]}',
  "SELECT * FROM t;",
  "$\\frac{a}{b}$",
];

/** The same texts for the same seed; `specials` are sprinkled in. */
export function awkwardTexts(count: number, seed: number, specials: readonly string[]): string[] {
  const random = Random.from(seed).split("awkward texts");
  const of = (list: readonly string[]) => list[Math.floor(random.uniform() * list.length)]!;
  const anything = () => {
    const point = Math.floor(random.uniform() * (random.uniform() < 0.8 ? 0x3000 : 0x20000));
    return point >= 0xd800 && point < 0xe000 ? "�" : String.fromCodePoint(point);
  };
  const kinds = [
    ...[() => of(words), () => of(words), () => of(spaces), () => of(spaces), () => of(numbers)],
    ...[
      () => of(signs),
      () => of(code),
      () => of(specials),
      anything,
      () => anything() + anything(),
    ],
  ];
  const texts = [
    ...words,
    ...numbers,
    ...signs,
    ...code,
    ...spaces,
    ...specials,
    " a",
    "a ",
    "  a  ",
  ];
  while (texts.length < count) {
    const parts = 1 + Math.floor(random.uniform() ** 2 * 40);
    const between = random.uniform() < 0.5 ? " " : "";
    const text = Array.from({ length: parts }, () =>
      kinds[Math.floor(random.uniform() * kinds.length)]!(),
    );
    texts.push(text.join(between));
  }
  return texts.slice(0, count);
}
