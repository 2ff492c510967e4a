/** The look of a page: light or dark as the reader's system is, fonts that are there already. */
export const style = `
:root{color-scheme:light dark;--back:#fff;--text:#1f2328;--faint:#656d76;--line:#d8dee4;--code:#f6f8fa;
--k:#cf222e;--s:#0a3069;--n:#0550ae;--c:#6e7781;--f:#8250df;--error:#fff0ee;
--ansi-black:#24292f;--ansi-red:#cf222e;--ansi-green:#116329;--ansi-yellow:#7d4e00;--ansi-blue:#0969da;
--ansi-magenta:#8250df;--ansi-cyan:#1b7c83;--ansi-white:#6e7781;--ansi-bright-black:#57606a;
--ansi-bright-red:#a40e26;--ansi-bright-green:#1a7f37;--ansi-bright-yellow:#633c01;
--ansi-bright-blue:#218bff;--ansi-bright-magenta:#a475f9;--ansi-bright-cyan:#3192aa;--ansi-bright-white:#8c959f}
@media (prefers-color-scheme:dark){:root{--back:#0d1117;--text:#e6edf3;--faint:#8d96a0;--line:#30363d;
--code:#161b22;--k:#ff7b72;--s:#a5d6ff;--n:#79c0ff;--c:#8b949e;--f:#d2a8ff;--error:#2d1416;
--ansi-black:#484f58;--ansi-red:#ff7b72;--ansi-green:#3fb950;--ansi-yellow:#d29922;--ansi-blue:#58a6ff;
--ansi-magenta:#bc8cff;--ansi-cyan:#39c5cf;--ansi-white:#b1bac4;--ansi-bright-black:#6e7681;
--ansi-bright-red:#ffa198;--ansi-bright-green:#56d364;--ansi-bright-yellow:#e3b341;
--ansi-bright-blue:#79c0ff;--ansi-bright-magenta:#d2a8ff;--ansi-bright-cyan:#56d4dd;--ansi-bright-white:#fff}}
body{margin:0;background:var(--back);color:var(--text);font:16px/1.55 system-ui,sans-serif}
main{max-width:920px;margin:0 auto;padding:24px 16px 80px}
article{margin:0 0 14px}
pre{margin:0;white-space:pre-wrap;overflow-wrap:anywhere;font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.9em}
.source,.markdown pre{background:var(--code);border:1px solid var(--line);border-radius:6px;padding:8px 12px}
.source{position:relative}
.count{position:absolute;right:100%;margin-right:8px;color:var(--faint);font-size:12px;white-space:nowrap}
@media (max-width:1060px){.count{position:static;margin:0}}
.output{padding:6px 12px;overflow-x:auto}
.output>*+*{margin-top:6px}
.stderr{border-left:3px solid var(--ansi-yellow);padding-left:8px}
.error{background:var(--error);border-left:3px solid var(--ansi-red);padding:8px}
.note,.raw{color:var(--faint)}
.markdown table,.html table{border-collapse:collapse}
.markdown th,.markdown td{border:1px solid var(--line);padding:4px 10px}
.markdown blockquote{margin:0;padding-left:14px;border-left:3px solid var(--line);color:var(--faint)}
.markdown img,.output img{max-width:100%}
a{color:var(--ansi-blue)}
math[display=block]{margin:10px 0;overflow-x:auto}
.k{color:var(--k)}.s{color:var(--s)}.n{color:var(--n)}.c{color:var(--c);font-style:italic}.f{color:var(--f)}
.ansi-bold{font-weight:700}.ansi-dim{opacity:.65}.ansi-italic{font-style:italic}
.ansi-underline{text-decoration:underline}.ansi-strike{text-decoration:line-through}.ansi-inverse{filter:invert(1)}
`;
