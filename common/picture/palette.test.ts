import assert from "node:assert/strict";
import { test } from "node:test";
import { usualColours } from "./traces.js";
import { designTokens, entropyRamps, palettes } from "./palette.js";

type Three = readonly [number, number, number];

// What each kind of eye makes of linear RGB, when the receptor is missing: Machado, Oliveira and
// Fernandes (2009), severity 1.
const eyes: Record<string, readonly Three[]> = {
  usual: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

const dot = (a: Three, b: Three) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const each = (three: Three, f: (x: number) => number): Three => [
  f(three[0]),
  f(three[1]),
  f(three[2]),
];

function linear(hex: string): Three {
  const value = parseInt(hex.slice(1), 16);
  return each([value >> 16, (value >> 8) & 255, value & 255], (byte) => {
    const x = byte / 255;
    return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
  });
}

function lab(rgb: Three): Three {
  const root = (t: number) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const x = root(dot([0.4124, 0.3576, 0.1805], rgb) / 0.9505);
  const y = root(dot([0.2126, 0.7152, 0.0722], rgb));
  const z = root(dot([0.0193, 0.1192, 0.9505], rgb) / 1.089);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

function seen(hex: string, eye: string): Three {
  const [r, g, b] = eyes[eye]!;
  const rgb = linear(hex);
  return lab(each([dot(r!, rgb), dot(g!, rgb), dot(b!, rgb)], (x) => Math.min(1, Math.max(0, x))));
}

/** CIE76: Euclid's distance in Lab; about 2.3 can just be distinguished. */
const apart = (a: Three, b: Three) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);

const contrast = (a: string, b: string) => {
  const [x, y] = [a, b].map((hex) => dot([0.2126, 0.7152, 0.0722], linear(hex)) + 0.05);
  return Math.max(x! / y!, y! / x!);
};

for (const [theme, { series, sequential, diverging, paper }] of Object.entries(palettes)) {
  for (const eye of Object.keys(eyes)) {
    test(`palettes["${theme}"] keeps series apart for ${eye} sight`, () => {
      series.forEach((one, i) => {
        for (const other of series.slice(i + 1)) {
          const distance = apart(seen(one, eye), seen(other, eye));
          assert.ok(distance >= 11, `${one} and ${other} are ${distance.toFixed(1)} apart`);
        }
      });
    });

    test(`palettes["${theme}"] has ramps that read in order for ${eye} sight`, () => {
      const light = sequential.map((hex) => seen(hex, eye)[0]);
      const sign = Math.sign(light.at(-1)! - light[0]!);
      light.slice(1).forEach((value, i) => assert.ok(sign * (value - light[i]!) > 4));
      // The ends of a diverging ramp differ in more than lightness: rust and teal.
      const [negative, positive] = [seen(diverging[0]!, eye), seen(diverging.at(-1)!, eye)];
      assert.ok(apart(negative, positive) > 40);
    });
  }

  test(`text is read on every colour of the ramps of palettes["${theme}"]`, () => {
    const ink = theme === "dark" ? palettes.dark.ink! : palettes.light.ink!;
    for (const hex of [...sequential, ...diverging]) {
      assert.ok(contrast(hex, ink) >= 4.5, `${ink} on ${hex}: ${contrast(hex, ink).toFixed(2)}`);
    }
  });

  test(`palettes["${theme}"] stands out from the page`, () => {
    const pages = paper === undefined ? ["#ffffff", "#17191c"] : [paper];
    for (const hex of series) {
      for (const page of pages) assert.ok(contrast(hex, page) >= 2.2, `${hex} on ${page}`);
    }
  });
}

test("figures that name no colours have those of palettes.auto", () => {
  assert.deepEqual(usualColours, palettes.auto.series);
});

/** Lightness and two colours in which equal distances look equal: OKLab. */
function oklab(hex: string): Three {
  const rgb = linear(hex);
  const cone = [
    dot([0.4122214708, 0.5363325363, 0.0514459929], rgb),
    dot([0.2119034982, 0.6806995451, 0.1073969566], rgb),
    dot([0.0883024619, 0.2817188376, 0.6299787005], rgb),
  ].map(Math.cbrt) as unknown as Three;
  return [
    dot([0.2104542553, 0.793617785, -0.0040720468], cone),
    dot([1.9779984951, -2.428592205, 0.4505937099], cone),
    dot([0.0259040371, 0.7827717662, -0.808675766], cone),
  ];
}

for (const theme of ["light", "dark"] as const) {
  const tokens = designTokens[theme];
  const ramp = entropyRamps[theme];

  test(`the ${theme} ramp of entropy has even steps, and reads in order for every kind of sight`, () => {
    const colours = ramp.map(oklab);
    const steps = colours.slice(1).map((colour, i) => apart(colour, colours[i]!));
    for (const step of steps) assert.ok(step > 0.05 && step < 0.1, `a step of ${step.toFixed(3)}`);
    const sign = theme === "light" ? -1 : 1;
    const lightness = colours.map(([l]) => l);
    lightness.slice(1).forEach((l, i) => {
      const change = sign * (l - lightness[i]!);
      assert.ok(change > 0.03 && change < 0.09, `lightness changes by ${change.toFixed(3)}`);
    });
    for (const eye of Object.keys(eyes)) {
      const seenLightness = ramp.map((hex) => seen(hex, eye)[0]);
      seenLightness.slice(1).forEach((l, i) => assert.ok(sign * (l - seenLightness[i]!) > 1, eye));
    }
    // From half of the ramp on, a bar is as clear on its track as graphics must be.
    for (const hex of ramp.slice(4))
      assert.ok(contrast(hex, tokens.track) >= 3, `${hex} on its track`);
  });

  test(`texts and marks of the ${theme} theme are clear on their grounds`, () => {
    const texts: [string, keyof typeof tokens, keyof typeof tokens][] = [
      ["text", "ink", "paper"],
      ["text on a surface", "ink-2", "surface"],
      ["text on a card", "ink-2", "surface-2"],
      ["faint text", "ink-3", "paper"],
      ["what is chosen", "accent", "accent-soft"],
      ["links", "accent", "paper"],
      ["what is pressed", "accent-ink", "accent"],
      ["right", "right", "right-soft"],
      ["right beside a lane", "right", "paper"],
      ["wrong", "wrong", "wrong-soft"],
      ["wrong beside a lane", "wrong", "paper"],
      ["a chip", "tool", "tool-soft"],
    ];
    for (const [what, ink, ground] of texts) {
      const ratio = contrast(tokens[ink], tokens[ground]);
      assert.ok(ratio >= 4.5, `${what}: ${ratio.toFixed(2)}`);
    }
    for (const ground of ["paper", "surface"] as const) {
      assert.ok(contrast(tokens["line-strong"], tokens[ground]) >= 3, `links on the ${ground}`);
    }
  });
}
