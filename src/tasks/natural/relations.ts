import type { Kind } from "./names.js";
import type { Wording } from "./wording.js";

/** Something a page says of what it is about. */
interface Relation {
  kind: Kind;
  /** What the value is: a number, a word, or something with a page of its own. */
  value: "year" | "count" | "word" | Kind;
  /** Sentences of a page. */
  says: readonly string[];
  /** Questions that stand by themselves. */
  direct: Wording;
  /** The same as a part of a longer question. */
  clause: Wording;
  /** Words for the value, where it has a page: what leads from one page to the next. */
  phrase?: Wording;
  /** What an expert calls it. */
  name: string;
  /** What an expert searches for besides the subject. */
  query: string;
}

const w = (seen: readonly string[], held: readonly string[]): Wording => ({ seen, held });

/** Everything that pages say. {x} is the subject, {v} the value. */
export const relations = {
  founded: {
    ...{ kind: "town", value: "year", name: "founding year", query: "founded" },
    says: [
      "{x} was founded in {v}.",
      "The town goes back to the year {v}, when {x} was founded.",
      "It was in {v} that {x} was founded.",
    ],
    direct: w(
      ["When was {x} founded?", "In which year was {x} founded?", "Which year saw the founding of {x}?"],
      ["What year did {x} come into being?", "Since what year has {x} existed?"],
    ),
    clause: w(
      ["when {x} was founded", "the year in which {x} was founded"],
      ["what year {x} got its start", "the date of the founding of {x}"],
    ),
  },
  river: {
    ...{ kind: "town", value: "word", name: "river", query: "river" },
    says: [
      "{x} lies on the river {v}.",
      "The river {v} runs through the middle of {x}.",
      "Boats reach {x} by the river {v}.",
    ],
    direct: w(
      ["Which river is {x} on?", "What is the name of the river that runs through {x}?", "On which river does {x} lie?"],
      ["If I take a boat to {x}, which river am I on?", "What river flows past {x}?"],
    ),
    clause: w(
      ["which river {x} lies on", "the name of the river at {x}"],
      ["what river one crosses in {x}", "which water flows through {x}"],
    ),
  },
  population: {
    ...{ kind: "town", value: "count", name: "population", query: "inhabitants" },
    says: [
      "{x} has {v} inhabitants.",
      "Some {v} people call {x} their home.",
      "At the last count {v} people lived in {x}.",
    ],
    direct: w(
      ["How many people live in {x}?", "What is the population of {x}?", "How many inhabitants does {x} have?"],
      ["How large is {x}, counted in people?", "What number of residents does {x} have?"],
    ),
    clause: w(
      ["how many people live in {x}", "the number of inhabitants of {x}"],
      ["how big the population of {x} is", "how many residents {x} counts"],
    ),
  },
  mayor: {
    ...{ kind: "town", value: "person", name: "mayor", query: "mayor" },
    says: [
      "The mayor of {x} is {v}.",
      "{v} has been mayor of {x} for some years.",
      "The people of {x} elected {v} as their mayor.",
    ],
    direct: w(
      ["Who is the mayor of {x}?", "Who governs {x} as its mayor?", "What is the name of the mayor of {x}?"],
      ["Who runs the town of {x}?", "Who sits in the mayor's chair in {x}?"],
    ),
    clause: w(
      ["who the mayor of {x} is", "the name of the mayor of {x}"],
      ["who is in charge of {x}", "who won the vote for mayor in {x}"],
    ),
    phrase: w(["the mayor of {x}", "the person who is mayor of {x}"], ["whoever is mayor in {x}", "the head of the town council of {x}"]),
  },
  birthplace: {
    ...{ kind: "person", value: "town", name: "birthplace", query: "born" },
    says: [
      "{x} was born in {v}.",
      "{x} comes from {v}.",
      "The birthplace of {x} is {v}.",
    ],
    direct: w(
      ["Where was {x} born?", "In which town was {x} born?", "What is the birthplace of {x}?"],
      ["Which town does {x} come from?", "In what place did the life of {x} begin?"],
    ),
    clause: w(
      ["where {x} was born", "the birthplace of {x}"],
      ["which town {x} comes from", "the town that {x} was born in"],
    ),
    phrase: w(["the town where {x} was born", "the birthplace of {x}"], ["the town that {x} comes from", "the home town of {x}"]),
  },
  born: {
    ...{ kind: "person", value: "year", name: "year of birth", query: "born year" },
    says: [
      "{x} was born in the year {v}.",
      "The year of birth of {x} is {v}.",
      "{x} came into the world in {v}.",
    ],
    direct: w(
      ["In which year was {x} born?", "What is the year of birth of {x}?", "What year was {x} born in?"],
      ["From what year is {x}?", "Which year stands on the birth certificate of {x}?"],
    ),
    clause: w(
      ["in which year {x} was born", "the year of birth of {x}"],
      ["what year {x} came into the world", "the birth year of {x}"],
    ),
  },
  trade: {
    ...{ kind: "person", value: "word", name: "trade", query: "works as" },
    says: [
      "{x} works as a {v}.",
      "{x} is a {v} by trade.",
      "{x} earns a living as a {v}.",
    ],
    direct: w(
      ["What is the trade of {x}?", "What does {x} do for a living?", "What does {x} work as?"],
      ["Which profession does {x} have?", "What kind of work does {x} do?"],
    ),
    clause: w(
      ["what {x} does for a living", "the trade of {x}"],
      ["what job {x} has", "which craft {x} practises"],
    ),
  },
  teacher: {
    ...{ kind: "person", value: "person", name: "teacher", query: "taught by" },
    says: [
      "{x} was taught by {v}.",
      "The teacher of {x} was {v}.",
      "{x} learned everything from {v}.",
    ],
    direct: w(
      ["Who taught {x}?", "Who was the teacher of {x}?", "From whom did {x} learn?"],
      ["Whose pupil was {x}?", "Who trained {x}?"],
    ),
    clause: w(
      ["who taught {x}", "the name of the teacher of {x}"],
      ["whose pupil {x} was", "who trained {x}"],
    ),
    phrase: w(["the teacher of {x}", "the person who taught {x}"], ["the one who trained {x}", "the former master of {x}"]),
  },
  built: {
    ...{ kind: "landmark", value: "year", name: "year of completion", query: "completed" },
    says: [
      "{x} was completed in {v}.",
      "Work on {x} ended in {v}, when it was completed.",
      "Since it was completed in {v}, {x} has been repaired twice.",
    ],
    direct: w(
      ["When was the {x} completed?", "In which year was the {x} completed?", "What year was the {x} finished?"],
      ["Since what year has the {x} stood?", "In what year did the builders leave the {x}?"],
    ),
    clause: w(
      ["when the {x} was completed", "the year in which the {x} was finished"],
      ["how old the {x} is, by the year it was finished", "what year the {x} was opened in"],
    ),
  },
  height: {
    ...{ kind: "landmark", value: "count", name: "height in metres", query: "metres high" },
    says: [
      "{x} is {v} metres high.",
      "At its highest point {x} measures {v} metres.",
      "{x} rises {v} metres above the ground.",
    ],
    direct: w(
      ["How high is the {x}, in metres?", "How many metres high is the {x}?", "What is the height of the {x} in metres?"],
      ["How far up does the {x} reach, in metres?", "How tall does the {x} stand, counted in metres?"],
    ),
    clause: w(
      ["how many metres high the {x} is", "the height of the {x} in metres"],
      ["how tall the {x} is in metres", "to how many metres the {x} rises"],
    ),
  },
  stands: {
    ...{ kind: "landmark", value: "town", name: "town", query: "stands in" },
    says: [
      "{x} stands in {v}.",
      "{x} belongs to the town of {v}.",
      "Visitors find {x} in {v}.",
    ],
    direct: w(
      ["Where does the {x} stand?", "In which town is the {x}?", "Which town has the {x}?"],
      ["To which town must I travel to see the {x}?", "What town is home to the {x}?"],
    ),
    clause: w(
      ["where the {x} stands", "the town in which the {x} is"],
      ["which town is home to the {x}", "where one can visit the {x}"],
    ),
    phrase: w(["the town where the {x} stands", "the town that has the {x}"], ["the home of the {x}", "the town one visits for the {x}"]),
  },
  architect: {
    ...{ kind: "landmark", value: "person", name: "architect", query: "architect" },
    says: [
      "The architect of {x} was {v}.",
      "{x} was designed by the architect {v}.",
      "{v} was the architect who drew the plans of {x}.",
    ],
    direct: w(
      ["Who designed the {x}?", "Who was the architect of the {x}?", "Who drew the plans of the {x}?"],
      ["Whose design is the {x}?", "Who came up with the shape of the {x}?"],
    ),
    clause: w(
      ["who designed the {x}", "the name of the architect of the {x}"],
      ["whose plans the {x} was built to", "who is behind the design of the {x}"],
    ),
    phrase: w(["the architect of the {x}", "the person who designed the {x}"], ["the one who drew the {x}", "the designer of the {x}"]),
  },
  founder: {
    ...{ kind: "company", value: "person", name: "founder", query: "founder" },
    says: [
      "The founder of {x} was {v}.",
      "{x} was started by its founder {v}.",
      "{v} is known as the founder of {x}.",
    ],
    direct: w(
      ["Who founded {x}?", "Who was the founder of {x}?", "Who started the company {x}?"],
      ["Who set up {x}?", "To whom does {x} owe its existence?"],
    ),
    clause: w(
      ["who founded {x}", "the name of the founder of {x}"],
      ["who set {x} up", "who got {x} going"],
    ),
    phrase: w(["the founder of {x}", "the person who started {x}"], ["whoever set up {x}", "the one who brought {x} into being"]),
  },
  seat: {
    ...{ kind: "company", value: "town", name: "seat", query: "seat" },
    says: [
      "{x} has its seat in {v}.",
      "The seat of {x} is in {v}.",
      "{x} is run from its seat in {v}.",
    ],
    direct: w(
      ["Where does {x} have its seat?", "In which town is the seat of {x}?", "Which town is {x} based in?"],
      ["Where are the head offices of {x}?", "From what town is {x} run?"],
    ),
    clause: w(
      ["where {x} has its seat", "the town that {x} is based in"],
      ["where the head office of {x} is", "from where {x} is run"],
    ),
    phrase: w(["the town where {x} has its seat", "the town that {x} is based in"], ["the town {x} is run from", "the home of the company {x}"]),
  },
  makes: {
    ...{ kind: "company", value: "word", name: "product", query: "makes" },
    says: [
      "{x} makes {v}.",
      "{x} is known for the {v} it makes.",
      "What {x} makes is above all {v}.",
    ],
    direct: w(
      ["What does {x} make?", "What is made at {x}?", "What does the company {x} produce?"],
      ["What leaves the gates of {x}?", "What would I order from {x}?"],
    ),
    clause: w(
      ["what {x} makes", "the product of {x}"],
      ["what {x} sells", "which goods come from {x}"],
    ),
  },
  workers: {
    ...{ kind: "company", value: "count", name: "number of workers", query: "employs" },
    says: [
      "{x} employs {v} people.",
      "There are {v} people whom {x} employs.",
      "Today {x} employs a staff of {v}.",
    ],
    direct: w(
      ["How many people work for {x}?", "How many people does {x} employ?", "How large is the staff of {x}?"],
      ["How many workers are on the payroll of {x}?", "What is the size of the workforce of {x}?"],
    ),
    clause: w(
      ["how many people {x} employs", "the number of people who work for {x}"],
      ["how many workers {x} pays", "how big the workforce of {x} is"],
    ),
  },
  author: {
    ...{ kind: "book", value: "person", name: "author", query: "author" },
    says: [
      "The author of {x} is {v}.",
      "{x} is a book by the author {v}.",
      "{v} is the author who wrote {x}.",
    ],
    direct: w(
      ['Who wrote "{x}"?', 'Who is the author of "{x}"?', 'By whom is the book "{x}"?'],
      ['Whose book is "{x}"?', 'From whose pen is "{x}"?'],
    ),
    clause: w(
      ['who wrote "{x}"', 'the name of the author of "{x}"'],
      ['whose name is on the cover of "{x}"', 'from whose pen "{x}" is'],
    ),
    phrase: w(['the author of "{x}"', 'the person who wrote "{x}"'], ['the writer of "{x}"', 'whoever penned "{x}"']),
  },
  published: {
    ...{ kind: "book", value: "year", name: "year of publication", query: "published" },
    says: [
      "{x} was published in {v}.",
      "It took until {v} for {x} to be published.",
      "The year in which {x} was published is {v}.",
    ],
    direct: w(
      ['When was "{x}" published?', 'In which year was "{x}" published?', 'What year did "{x}" come out?'],
      ['Since what year has "{x}" been in print?', 'In what year could one first buy "{x}"?'],
    ),
    clause: w(
      ['when "{x}" was published', 'the year in which "{x}" came out'],
      ['what year "{x}" was first in print', 'the year of the first edition of "{x}"'],
    ),
  },
  length: {
    ...{ kind: "book", value: "count", name: "number of pages", query: "pages" },
    says: [
      "{x} has {v} pages.",
      "The first edition of {x} filled {v} pages.",
      "In print {x} runs to {v} pages.",
    ],
    direct: w(
      ['How many pages does "{x}" have?', 'How many pages long is "{x}"?', 'How long is "{x}", in pages?'],
      ['How many pages must I read to finish "{x}"?', 'What is the page count of "{x}"?'],
    ),
    clause: w(
      ['how many pages "{x}" has', 'the number of pages of "{x}"'],
      ['how thick "{x}" is, in pages', 'the page count of "{x}"'],
    ),
  },
  held: {
    ...{ kind: "festival", value: "town", name: "town", query: "held in" },
    says: [
      "The {x} is held in {v}.",
      "Every year the {x} is held in {v}.",
      "{v} is where the {x} is held.",
    ],
    direct: w(
      ["Where is the {x} held?", "In which town is the {x} held?", "Which town holds the {x}?"],
      ["Where must I go for the {x}?", "What town celebrates the {x}?"],
    ),
    clause: w(
      ["where the {x} is held", "the town that holds the {x}"],
      ["which town celebrates the {x}", "where one goes for the {x}"],
    ),
    phrase: w(["the town where the {x} is held", "the town that holds the {x}"], ["the town that celebrates the {x}", "the place one goes to for the {x}"]),
  },
  month: {
    ...{ kind: "festival", value: "word", name: "month", query: "takes place month" },
    says: [
      "The {x} takes place in {v}.",
      "The month in which the {x} takes place is {v}.",
      "Each {v} the {x} takes place.",
    ],
    direct: w(
      ["In which month is the {x}?", "In what month does the {x} take place?", "Which month is the {x} in?"],
      ["What time of the year is the {x}, by month?", "Which month should I keep free for the {x}?"],
    ),
    clause: w(
      ["in which month the {x} takes place", "the month of the {x}"],
      ["what month to keep free for the {x}", "in what month people go to the {x}"],
    ),
  },
  visitors: {
    ...{ kind: "festival", value: "count", name: "number of visitors", query: "visitors" },
    says: [
      "The {x} draws {v} visitors.",
      "Last time {v} visitors came to the {x}.",
      "About {v} visitors are counted at the {x}.",
    ],
    direct: w(
      ["How many visitors does the {x} have?", "How many visitors come to the {x}?", "How many people visit the {x}?"],
      ["How large is the crowd at the {x}?", "What number of guests does the {x} attract?"],
    ),
    clause: w(
      ["how many visitors the {x} has", "the number of visitors of the {x}"],
      ["how big the crowd at the {x} is", "how many guests the {x} attracts"],
    ),
  },
} as const satisfies Record<string, Relation>;

export type RelationName = keyof typeof relations;

/** The relations that pages of a kind state. */
export const relationsOf = (kind: Kind): RelationName[] =>
  (Object.keys(relations) as RelationName[]).filter((name) => relations[name].kind === kind);

/** What is known of a relation, whichever it is. */
export const relation = (name: RelationName): Relation => relations[name];
