import type { MimeBundle } from "../../host/host.js";
import { documentation, type Documentation } from "./documentation.js";
import { withComments } from "./library.js";
import { type api, type BoundFile, uncancelled } from "./typescript.js";
import type { World } from "./world.js";

/** Source shown by `??name`, at most. */
const sourceLines = 60;

interface Findings {
  signature: string;
  docs: Documentation;
  source?: string;
}

/** What is known of the name at a position, or of the call around it. */
export function inspect(
  world: World,
  file: BoundFile,
  position: number,
  detail: 0 | 1,
): MimeBundle | undefined {
  const source = file;
  const found =
    atName(world, source, position, detail) ??
    (position > 0 ? atName(world, source, position - 1, detail) : undefined) ??
    atCall(world, source, position);
  return found && render(found);
}

function atName(
  world: World,
  file: api.SourceFile,
  position: number,
  detail: 0 | 1,
): Findings | undefined {
  const { ts, checker } = world;
  const node = ts.getTouchingPropertyName(file, position);
  if (!ts.isIdentifier(node) && !ts.isPrivateIdentifier(node) && !isKeywordName(node)) {
    return undefined;
  }
  const symbol = checker.getSymbolAtLocation(node) ?? typeSymbol();
  if (symbol === undefined || checker.isUnknownSymbol(symbol)) return undefined;
  const shown = ts.SymbolDisplay.getSymbolDisplayPartsDocumentationAndSymbolKind(
    checker,
    symbol,
    file,
    undefined,
    node,
  );
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const findings: Findings = {
    signature: shown.displayParts.map(({ text }) => text).join(""),
    docs: documentation(ts, target),
  };
  if (detail === 1) findings.source = sourceOf(target);
  return findings;

  function isKeywordName(at: api.Node): boolean {
    return at.kind === ts.SyntaxKind.ThisKeyword || at.kind === ts.SyntaxKind.SuperKeyword;
  }

  function typeSymbol(): api.Symbol | undefined {
    return isKeywordName(node) ? checker.getTypeAtLocation(node).symbol : undefined;
  }
}

function sourceOf(symbol: api.Symbol): string | undefined {
  const declaration = symbol.valueDeclaration ?? symbol.declarations?.[0];
  if (declaration === undefined) return undefined;
  const { fileName } = declaration.getSourceFile();
  const lines = withComments(fileName, declaration.getText()).split("\n");
  const cut = lines.length > sourceLines ? [...lines.slice(0, sourceLines), "…"] : lines;
  return cut.join("\n");
}

/** The function whose arguments the position is among. */
function atCall(world: World, file: api.SourceFile, position: number): Findings | undefined {
  const { ts, program } = world;
  const help = ts.SignatureHelp.getSignatureHelpItems(
    program,
    file,
    position,
    undefined,
    uncancelled,
  );
  if (help === undefined) return undefined;
  const text = (parts: readonly api.SymbolDisplayPart[]): string =>
    parts.map((part) => part.text).join("");
  const lines = help.items.map(
    (item) =>
      text(item.prefixDisplayParts) +
      item.parameters.map((p) => text(p.displayParts)).join(text(item.separatorDisplayParts)) +
      text(item.suffixDisplayParts),
  );
  const chosen = help.items[help.selectedItemIndex] ?? help.items[0];
  const callee = ts.getTouchingPropertyName(file, help.applicableSpan.start - 2);
  const symbol = world.checker.getSymbolAtLocation(callee);
  return {
    signature: lines.join("\n"),
    docs:
      symbol === undefined
        ? { text: text(chosen?.documentation ?? []), tags: [] }
        : documentation(
            ts,
            symbol.flags & ts.SymbolFlags.Alias ? world.checker.getAliasedSymbol(symbol) : symbol,
          ),
  };
}

function render({ signature, docs, source }: Findings): MimeBundle {
  const tags = docs.tags.map(({ name, text }) => `@${name} ${text}`.trimEnd());
  const plain = [signature, docs.text, tags.join("\n"), source ?? ""];
  const markdown = [
    `\`\`\`typescript\n${signature}\n\`\`\``,
    docs.text,
    docs.tags
      .map(({ name, text }) =>
        text.includes("\n") ? `*@${name}*\n\n${text}` : `*@${name}* ${text}`.trimEnd(),
      )
      .join("\n\n"),
    source === undefined ? "" : `\`\`\`typescript\n${source}\n\`\`\``,
  ];
  const join = (parts: string[]): string => parts.filter((part) => part !== "").join("\n\n");
  return { "text/plain": join(plain), "text/markdown": join(markdown) };
}
