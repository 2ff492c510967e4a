// Answers questions from the pages' text alone: what pages say is read by one set of patterns, what a
// question asks for by another, and neither knows the templates' tables.

/** What a page may say, by a name for it: the first group that matched is the value. */
const stated: Record<string, RegExp> = {
  founded: /was founded in (\d+)|back to the year (\d+), when|It was in (\d+) that/,
  river: /on the river (\w+)\.|The river (\w+) runs|by the river (\w+)\./,
  population: /has (\d+) inhabitants|Some (\d+) people call|last count (\d+) people/,
  mayor: /The mayor of .*? is (\w+ \w+)\.|(\w+ \w+) has been mayor|elected (\w+ \w+) as/,
  birthplace: /was born in ([A-Z]\w+)\.|comes from ([A-Z]\w+)\.|The birthplace of .*? is (\w+)\./,
  born: /born in the year (\d+)|year of birth of .*? is (\d+)|into the world in (\d+)/,
  trade: /works as a (\w+)\.|is a (\w+) by trade|living as a (\w+)\./,
  teacher:
    /was taught by (\w+ \w+)\.|The teacher of .*? was (\w+ \w+)\.|everything from (\w+ \w+)\./,
  built: /was completed in (\d+)[.,]|ended in (\d+), when/,
  height: /is (\d+) metres high|measures (\d+) metres|rises (\d+) metres/,
  stands: /stands in (\w+)\.|to the town of (\w+)\.|Visitors find .*? in (\w+)\./,
  architect:
    /The architect of .*? was (\w+ \w+)\.|by the architect (\w+ \w+)\.|(\w+ \w+) was the architect/,
  founder:
    /The founder of .*? was (\w+ \w+)\.|by its founder (\w+ \w+)\.|(\w+ \w+) is known as the founder/,
  seat: /its seat in (\w+)\.|The seat of .*? is in (\w+)\./,
  makes:
    /(?:Works|Mill|Press|Foundry|Brewery|Dairy) makes (\w+)\.|for the (\w+) it makes|is above all (\w+)\./,
  workers: /employs (\d+) people|There are (\d+) people whom|a staff of (\d+)/,
  author: /The author of .*? is (\w+ \w+)\.|by the author (\w+ \w+)\.|(\w+ \w+) is the author who/,
  published: /was published in (\d+)|took until (\d+) for|was published is (\d+)/,
  length: /has (\d+) pages|filled (\d+) pages|runs to (\d+) pages/,
  held: /is held in ([A-Z]\w+)\.|(\w+) is where/,
  month: /takes place in (\w+)\.|takes place is (\w+)\.|Each (\w+) the/,
  visitors: /draws (\d+) visitors|Last time (\d+) visitors|About (\d+) visitors/,
};

/** How a question may ask for it. */
const asked: Record<string, RegExp> = {
  founded: /\bfounded\b|founding|come into being|existed|got its start|goes back to/,
  river: /\briver\b|\bwater\b/,
  population: /people live|population|inhabitants|counted in people|residents/,
  mayor: /mayor|runs the town|in charge|town council/,
  birthplace:
    /where .* born\b|[Ww]here was|In which town was|birthplace|come from|comes from|life of .* begin|born in\b(?! *\?)|home town/,
  born: /which year (was|.* was) .*born|year of birth|What year was .* born|From what year|birth certificate|into the world|birth year/,
  trade: /trade|for a living|work as|profession|kind of work|what job|craft/,
  teacher: /taught|teacher|did .* learn|pupil|trained|former master/,
  built: /completed|finished|has stood|have? stood|builders leave|stood|was opened in/,
  height: /metres/,
  stands:
    /\bstands?\b|In which town is the|Which town has|that has the|in which the|To which town must|home (to|of) the [A-Z]\w+ (?:Bridge|Lighthouse|Tower|Museum|Library)|one can visit|one visits/,
  architect: /designed|architect|plans|design\b|shape|drew the|designer/,
  founder:
    /founded [A-Z]\w+ (?:Works|Mill|Press|Foundry|Brewery|Dairy)|founder|started|set up|set .* up|owe its existence|got .* going|into being/,
  seat: /\bseat\b|based in|head office|From what town is|is run\b|is run from|home of the company/,
  makes: /\bmakes?\b|made at|produce|product of|leaves the gates|would I order|sells|goods/,
  workers: /employ|work for|staff|payroll|workforce|workers/,
  author: /wrote|author|By whom|Whose book|pen\b|cover|writer|penned/,
  published: /published|come out|came out|in print|first buy|first edition/,
  length: /pages|page count|thick/,
  held: /held|holds the|for the [A-Z]\w+ (?:Fair|Festival|Regatta|Night)|celebrates/,
  month: /month|time of the year/,
  visitors: /visitors|visit the|crowd|guests/,
};

type Facts = Map<string, string>;

/** Everything the pages state, by title. */
export function readPages(pages: readonly { title: string; text: string }[]): Map<string, Facts> {
  return new Map(
    pages.map(({ title, text }) => {
      const facts: Facts = new Map();
      for (const [name, pattern] of Object.entries(stated)) {
        const value = pattern
          .exec(text)
          ?.slice(1)
          .find((group) => group !== undefined);
        if (value !== undefined) facts.set(name, value);
      }
      return [title, facts];
    }),
  );
}

/** The answers that a question may have: by every way from what it names along what it asks for. */
export function answersOf(
  question: string,
  known: ReadonlyMap<string, Facts>,
  hops: number,
): Set<string> {
  const wanted = Object.keys(asked).filter((name) => asked[name]!.test(question));
  const named = [...known.keys()].filter((title) => question.includes(title));
  // The longest names first: "Ember Museum" is not the town of Ember.
  const starts = named.filter(
    (name) => !named.some((other) => other !== name && other.includes(name)),
  );
  const found = new Set<string>();
  const go = (title: string, left: number) => {
    const facts = known.get(title);
    if (!facts) return;
    for (const name of wanted) {
      const value = facts.get(name);
      if (value === undefined) continue;
      if (left === 1) found.add(value);
      else go(value, left - 1);
    }
  };
  for (const start of starts) go(start, hops);
  return found;
}
