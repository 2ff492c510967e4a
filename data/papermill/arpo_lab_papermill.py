"""papermill for notebooks in TypeScript and JavaScript: teaches it to write parameters in these languages.

As a command, with papermill's own arguments:

    python arpo_lab_papermill.py IN.ipynb OUT.ipynb -p n 4

From Python, `import arpo_lab_papermill` before `papermill.execute_notebook`. papermill finds translators by
what was registered in its process alone (no entry points, no option), hence the import.
"""

import json
import re
import weakref
from contextvars import ContextVar

from papermill.exceptions import PapermillException
from papermill.models import Parameter
from papermill.translators import Translator, papermill_translators

# The parameters cell of the notebook at hand: papermill shows it to `inspect`, and calls `codify` without it.
_inspected = ContextVar("inspected", default=lambda: None)

_declaration = re.compile(
    r"^\s*(?:export\s+)?(?:let|const|var)\s+(?P<name>[\w$]+)\s*(?::\s*(?P<type>[^=]+?)\s*)?"
    r"=\s*(?P<value>.*?)\s*;?\s*(?:(?<=[\s;])//\s*(?P<help>.*?)\s*)?$"
)

# Written as escapes, though a string may hold them: line separators to editors, control characters, and half
# surrogate pairs, which no file in UTF-8 can hold.
_unseen = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def _text(value):
    quoted = json.dumps(value, ensure_ascii=False)
    return _unseen.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)


class TypeScriptTranslator(Translator):
    """Parameters as `arpo-lab run --param` writes them."""

    @classmethod
    def translate(cls, val):
        return cls.translate_list(val) if isinstance(val, tuple) else super().translate(val)

    @classmethod
    def translate_escaped_str(cls, str_val):
        return _text(str(str_val))

    @classmethod
    def translate_none(cls, val):
        return "null"

    @classmethod
    def translate_int(cls, val):
        # A number cannot hold it: better a bigint, which the types tell apart, than another number.
        return f"{val}n" if abs(val) > 2**53 - 1 else f"{val}"

    @classmethod
    def translate_float(cls, val):
        return json.dumps(float(val))  # Infinity and NaN too

    @classmethod
    def translate_list(cls, val):
        return f"[{', '.join(map(cls.translate, val))}]"

    @classmethod
    def translate_dict(cls, val):
        # A literal's "__proto__" would not be a key.
        keys = ((_text(str(key)), value) for key, value in val.items())
        names = ((f"[{key}]" if key == '"__proto__"' else key, value) for key, value in keys)
        return f"{{{', '.join(f'{name}: {cls.translate(value)}' for name, value in names)}}}"

    @classmethod
    def comment(cls, cmt_str):
        return "\n".join(f"// {line}".strip() for line in cmt_str.splitlines())

    @classmethod
    def codify(cls, parameters, comment="Parameters"):
        cell = _inspected.get()()
        _inspected.set(lambda: None)  # the next notebook may have no such cell
        declared = "" if cell is None else cell["source"]
        lines = [cls.comment(comment)]
        for name, value in parameters.items():
            if not (isinstance(name, str) and name.replace("$", "_").isidentifier()):
                raise PapermillException(
                    f"Cannot set parameter: its name must be one that a variable can have, got {name!r}"
                )
            # A `let` keeps its declared type, and is checked by it; all else is declared again.
            is_let = re.search(rf"\blet\s+{re.escape(name)}(?![\w$])", declared)
            lines.append(f"{'' if is_let else 'let '}{name} = {cls.translate(value)};")
        return "\n".join(lines)

    @classmethod
    def inspect(cls, parameters_cell):
        _inspected.set(weakref.ref(parameters_cell))
        found = filter(None, map(_declaration.match, parameters_cell["source"].splitlines()))
        return [Parameter(m["name"], m["type"] or "None", m["value"], m["help"] or "") for m in found]


for _name in ("typescript", "javascript", "arpo-lab", "arpo-lab-js"):
    papermill_translators.register(_name, TypeScriptTranslator)

if __name__ == "__main__":
    from papermill.cli import papermill

    papermill()
