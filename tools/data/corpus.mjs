// Makes data/corpus: an invented country. `facts.json` holds its records, `pages.jsonl` says them in
// sentences, one page per record, for the offline search and the toy tasks made from it.
// Every name is made of syllables; the same run gives the same bytes.
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../../data/corpus/", import.meta.url));
let state = 20261121;
const draw = (below) => {
  // mulberry32
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below);
};
const pick = (list) => list[draw(list.length)];

const used = new Set([
  "bora",
  "lima",
  "roma",
  "nato",
  "sofa",
  "soda",
  "mali",
  "goma",
  "lome",
  "kano",
  "osaka",
  "dakar",
]);
const starts =
  "bar bel bor cal dor el fen gal gor hal il jor kal kel lor mar mel mor nar nol or pel quo ral rin sal sor tal tor ul var vel wen yar zel zor".split(
    " ",
  );
const middles = "a e i o u an en in on am em ad ed ov ar er or al el".split(" ");
const ends = {
  town: ["dun", "mere", "holt", "wick", "stad", "vik", "by", "ford"],
  person: ["a", "o", "en", "is", "un", "ia", "eth", "ock"],
  family: ["strel", "gand", "marn", "vost", "quill", "brand", "threl", "nask"],
  river: ["na", "sha", "lu", "ve"],
  region: ["land", "mark", "ria", "gau"],
  firm: ["ex", "on", "ix", "um"],
  work: ["ade", "ira", "ost", "une"],
};
function name(kind) {
  for (;;) {
    const word = pick(starts) + pick(middles) + pick(ends[kind]);
    if (used.has(word) || /(.)\1\1/.test(word)) continue;
    used.add(word);
    return word[0].toUpperCase() + word.slice(1);
  }
}
const many = (n, make) => Array.from({ length: n }, make);

const products =
  "glass clocks paper salt bells boats lamps ropes bricks honey wool tiles knives soap violins maps".split(
    " ",
  );
const jobs =
  "painter engineer botanist composer cartographer physician poet architect astronomer weaver".split(
    " ",
  );
const months =
  "January February March April May June July August September October November December".split(
    " ",
  );

const regions = many(12, () => ({ kind: "region", name: name("region"), facts: {} }));
const rivers = many(24, () => ({
  kind: "river",
  name: name("river"),
  facts: { length_km: String(40 + draw(900)), region: pick(regions).name },
}));
const towns = many(120, () => ({
  kind: "town",
  name: name("town"),
  facts: {
    region: pick(regions).name,
    river: pick(rivers).name,
    founded: String(1100 + draw(800)),
    population: String(1000 + draw(98000)),
    product: pick(products),
    festival: pick(months),
  },
}));
for (const region of regions) {
  const own = towns.filter((town) => town.facts.region === region.name);
  region.facts = {
    capital: pick(own.length > 0 ? own : towns).name,
    area_km2: String(800 + draw(19000)),
  };
}
const people = many(240, () => ({
  kind: "person",
  name: `${name("person")} ${name("family")}`,
  facts: { birthplace: pick(towns).name, born: String(1700 + draw(280)), profession: pick(jobs) },
}));
for (const person of people) person.facts.teacher = pick(people.filter((p) => p !== person)).name;
const firms = many(80, () => ({
  kind: "firm",
  name: name("firm"),
  facts: {
    founder: pick(people).name,
    seat: pick(towns).name,
    product: pick(products),
    opened: String(1800 + draw(200)),
  },
}));
const works = many(120, () => ({
  kind: "work",
  name: name("work"),
  facts: { author: pick(people).name, year: String(1750 + draw(250)), about: pick(towns).name },
}));
for (const town of towns) town.facts.mayor = pick(people).name;

const sentences = {
  region: (n, f) =>
    `${n} is a region. The capital of ${n} is ${f.capital}. The area of ${n} is ${f.area_km2} square kilometres.`,
  river: (n, f) =>
    `The ${n} is a river in the region of ${f.region}. The length of the ${n} is ${f.length_km} kilometres.`,
  town: (n, f) =>
    `${n} is a town in the region of ${f.region}, on the river ${f.river}. ${n} was founded in ${f.founded}. The population of ${n} is ${f.population}. ${n} is known for its ${f.product}. The festival of ${n} is held in ${f.festival}. The mayor of ${n} is ${f.mayor}.`,
  person: (n, f) =>
    `${n} was a ${f.profession}. ${n} was born in ${f.birthplace} in ${f.born}. The teacher of ${n} was ${f.teacher}.`,
  firm: (n, f) =>
    `${n} is a firm that makes ${f.product}. ${n} was founded by ${f.founder} in ${f.opened}. The seat of ${n} is ${f.seat}.`,
  work: (n, f) =>
    `${n} is a book by ${f.author}. ${n} appeared in ${f.year}. ${n} is about the town of ${f.about}.`,
};
const records = [...regions, ...rivers, ...towns, ...people, ...firms, ...works];
mkdirSync(folder, { recursive: true });
writeFileSync(
  `${folder}facts.json`,
  `[\n${records.map((r) => JSON.stringify(r)).join(",\n")}\n]\n`,
);
const pages = records.map(({ kind, name: title, facts }) => ({
  title,
  url: `https://corpus.invalid/${kind}/${title.toLowerCase().replaceAll(" ", "-")}`,
  text: sentences[kind](title, facts),
}));
writeFileSync(`${folder}pages.jsonl`, `${pages.map((p) => JSON.stringify(p)).join("\n")}\n`);
console.log(`${pages.length} pages`);
