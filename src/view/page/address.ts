/** What the page's address says of a view: whole numbers by name. */
export type Stated = Readonly<Record<string, number>>;

/** A view's part of the address: only where the page is nothing but this view, or shows one at a time. */
export interface Address {
  /** Whether a link leads back to what is seen. */
  isOwn: boolean;
  /** What the address says, each below a bound; anything else is left out. */
  read: (below: Stated) => Partial<Stated>;
  /** Says what is seen now; numbers below 0 are left out. */
  write: (values: Stated) => void;
}

/** What a text like `t=5&node=2` says, each number below a bound; anything else is left out. */
export function statedIn(text: string, below: Stated): Partial<Stated> {
  const said = new URLSearchParams(text);
  const known = Object.entries(below).flatMap(([name, bound]) => {
    const value = said.get(name) ?? "";
    return /^\d{1,9}$/.test(value) && Number(value) < bound ? [[name, Number(value)]] : [];
  });
  return Object.fromEntries(known) as Partial<Stated>;
}

/** What names a finding in an address. */
export const findingName = "finding";

/** The address of the page that a view stands on. */
export function addressOf(outer: HTMLElement): Address {
  const place = outer.parentElement;
  const isAlone = place === document.body && "alone" in document.body.dataset;
  const isOwn = isAlone || (place !== null && "address" in place.dataset);
  return {
    isOwn,
    read: (below) => statedIn(isOwn ? location.hash.slice(1) : "", below),
    write: (values) => {
      if (!isOwn) return;
      const shown = Object.entries(values).filter(([, value]) => value >= 0);
      // A finding in the address is the page's.
      const finding = new URLSearchParams(location.hash.slice(1)).get(findingName);
      const all = [...(finding === null ? [] : [[findingName, finding]]), ...shown];
      const text = all.map((one) => one.join("=")).join("&");
      history.replaceState(
        null,
        "",
        text === "" ? location.pathname + location.search : `#${text}`,
      );
    },
  };
}

/** A page's address with a finding in it, at a place of its tree; numbers below 0 are left out. */
export function findingAddress(page: string, letters: string, place: Stated): string {
  const seen = Object.entries(place).filter(([, value]) => value >= 0);
  const all = [["prompt", 0], ...seen, [findingName, letters]];
  return `${page}#${all.map((one) => one.join("=")).join("&")}`;
}
