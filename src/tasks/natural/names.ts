import type { Random } from "../../base/random/random.js";

const words = (text: string): string[] => text.trim().split(/\s+/);

const townStarts =
  words(`Harrow Alder Brack Cold Dun Elm Fal Gold Hazel Iron Kings Lang Marl North Oak Pen
  Quarry Raven Silver Thorn Winter Amber`);
const townEnds = words("mere ford wick bury holm stead dale haven gate combe");
const firstNames =
  words(`Maren Olo Tilda Bram Edda Joss Kaya Lorne Mira Nils Orla Pim Rosa Sven Tove Ulla
  Veit Wanda Yara Zeno Anselm Birte Cosmo Dora Emil Fenna Gero Hedda Ivo Jutta`);
const lastNames =
  words(`Brant Oldt Marwick Fenner Tallis Corven Drews Hallam Ilver Jansen Kestrel Lunt
  Morrow Nesbit Ostler Pell Quist Rudge Sallow Tamsin Usher Varley Wexler Yarrow Zander Ashby Bellis
  Crane Denby Eskil Farrow Grice Hobday Ingram Jarrold`);
const rivers = words(`Tarrow Bryn Olen Merse Ashwater Kell Dove Lirr Wend Sable Arle Tamble`);
const colours =
  words(`Lantern Heron Copper Falcon Willow Granite Velvet Beacon Juniper Cobalt Saffron
  Marble Otter Tallow Bramble Ember Walrus Pepper Linden Anchor Thistle Comet Badger Cedar Mulberry`);
const nouns =
  words(`Clock River Orchard Winter Ladder Harbour Mirror Candle Salt Garden Letter Storm
  Island Window Needle Bell Feather Stone Kettle Moth`);

/** The kinds of things that pages are about. */
export const kinds = ["town", "person", "landmark", "company", "book", "festival"] as const;
export type Kind = (typeof kinds)[number];

/** How many of each the country has. */
const sizes: Record<Kind, number> = {
  town: 60,
  person: 90,
  landmark: 50,
  company: 40,
  book: 50,
  festival: 40,
};

export const landmarkTypes = ["bridge", "lighthouse", "tower", "museum", "library"] as const;
const companyTypes = words("Works Mill Press Foundry Brewery Dairy");
const festivalTypes = words("Fair Festival Regatta Night");

const pairs = (
  a: readonly string[],
  b: readonly string[],
  join: (x: string, y: string) => string,
) => a.flatMap((x) => b.map((y) => join(x, y)));

/** Every name there could be of a kind. */
const all: Record<Kind, readonly string[]> = {
  town: pairs(townStarts, townEnds, (a, b) => a + b),
  person: pairs(firstNames, lastNames, (a, b) => `${a} ${b}`),
  landmark: pairs(colours, landmarkTypes, (a, b) => `${a} ${b[0]!.toUpperCase()}${b.slice(1)}`),
  company: pairs(lastNames, companyTypes, (a, b) => `${a} ${b}`),
  book: pairs(nouns, nouns, (a, b) => `The ${a} and the ${b}`).filter(
    (title) => !/The (\w+) and the \1$/.test(title),
  ),
  festival: pairs(colours, festivalTypes, (a, b) => `${a} ${b}`),
};

/** Names of everything in a country, and its rivers. */
export function drawNames(random: Random): Record<Kind, string[]> & { rivers: string[] } {
  const some = (kind: Kind) => random.split(kind).shuffle(all[kind]).slice(0, sizes[kind]);
  return {
    ...{ town: some("town"), person: some("person"), landmark: some("landmark") },
    ...{ company: some("company"), book: some("book"), festival: some("festival") },
    rivers,
  };
}
