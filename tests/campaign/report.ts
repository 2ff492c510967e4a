import { type Verdict, verdicts } from "./attempt.js";
import type { Result } from "./order.js";

/** What a campaign found, as Markdown; whether every promise was kept. */
export function reportOf(
  of: { campaign: string; seed: number; count: number },
  results: readonly Result[],
): { text: string; isWhole: boolean } {
  const count = (some: readonly Result[], verdict: Verdict) =>
    some.filter((result) => result.verdict === verdict).length;
  const areas = [...new Set(results.map(({ area }) => area))];
  const row = (name: string, some: readonly Result[]) =>
    `| ${[name, some.length, ...verdicts.map((verdict) => count(some, verdict))].join(" | ")} |`;
  const bad = results.filter(({ verdict }) => verdict !== "kept" && verdict !== "skipped");
  const lines = [
    `## ${of.campaign}, seed ${of.seed}: ${results.length} of ${of.count} attempts, ${bad.length} promises broken`,
    "",
    `| area | attempts | ${verdicts.join(" | ")} |`,
    `| --- |${" --: |".repeat(verdicts.length + 1)}`,
    ...areas.map((area) =>
      row(
        area,
        results.filter((result) => result.area === area),
      ),
    ),
    row("all", results),
    ...bad.flatMap(({ index, area, name, promise, verdict, happened }) => [
      "",
      `- ${index}, ${area}: ${name}. Promised: ${promise}. Found: ${verdict}: ${happened.split("\n")[0]}`,
    ]),
  ];
  return { text: lines.join("\n"), isWhole: bad.length === 0 };
}
