import { type Theme, themeFrom } from "./theme.js";
import { designTokens, entropyRamps, rulesOfPage } from "../../../common/picture/palette.js";

/** The colours of a picture that no style sheet reaches. */
export function figureTheme(name: "light" | "dark" = "light"): Theme {
  const colours: Record<string, string> = { ...designTokens[name] };
  entropyRamps[name].forEach((colour, i) => (colours[`h${i}`] = colour));
  return themeFrom((token) => colours[token]!);
}

const named = ({ heat, ...plain }: Theme): [string, string][] => [
  ...Object.entries(plain),
  ...heat.map((colour, step): [string, string] => [`heat-${step}`, colour]),
];
const light = new Map(named(figureTheme("light")));
const variable = (name: string) => `var(--picture-${name},${light.get(name)!})`;

/** The colours of a picture within a page: those that `pageColours` gives, and the light ones without it. */
export const pageTheme: Theme = {
  ...(Object.fromEntries(
    [...light.keys()].map((name) => [name, variable(name)]),
  ) as unknown as Theme),
  heat: figureTheme("light").heat.map((_, step) => variable(`heat-${step}`)),
};

/** The rules that give pictures below a selector the colours of the page. */
export const pageColours = (selector: string): string =>
  rulesOfPage(selector, (theme) =>
    named(figureTheme(theme))
      .map(([key, colour]) => `--picture-${key}:${colour}`)
      .join(";"),
  );
