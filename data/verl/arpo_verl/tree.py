"""ARPO's tree for one prompt, round by round, without verl: what generates and what draws is given to it."""

import math
from dataclasses import dataclass, field


@dataclass
class Settings:
    n: int
    initial_rollouts: int
    beam_size: int
    branch_probability: float
    entropy_weight: float
    response_length: int
    call_limit: int
    rule: str = "arpo-code"


# What each round of branching in a row takes from AEPO's score.
PENALTY = 0.05


@dataclass
class Row:
    kind: str
    created: int
    parent: int | None = None
    ids: list = field(default_factory=list)
    mask: list = field(default_factory=list)
    logprobs: list = field(default_factory=list)
    prefix: int = 0
    calls: int = 0
    baseline: float | None = None
    entropy: float = 0.0
    turns: int = 1
    origin: int = -1  # the node it starts after, and its last one
    leaf: int = -1
    end: str | None = None


@dataclass
class Segment:
    """What a row wrote in one go. `tops`: per position the log-probabilities that were reported."""

    ids: list
    logprobs: list
    tops: list
    finish: str  # stop, end or length
    stop: str | None = None


def pooled_entropy(tops, vocab_size: int) -> float:
    """-sum p ln p over all that was reported for the first 20 positions, over ln V."""
    values = [value for position in tops[:20] for value in position if value > -math.inf]
    return -sum(math.exp(value) * value for value in values) / math.log(vocab_size)


def surprisal(logprobs, vocab_size: int) -> float:
    """-sum ln p(token) over the first 20: the same sum in expectation over all tokens, from sampled ones alone."""
    return -sum(logprobs[:20]) / math.log(vocab_size)


def call_content(text: str, tag: str) -> str:
    """The input of the call that a text ends with; empty where a tag is missing."""
    end = text.rfind(f"</{tag}>")
    start = text.rfind(f"<{tag}>", 0, max(end, 0))
    return text[start + len(tag) + 2 : end].strip() if end >= 0 and start >= 0 else ""


class Tree:
    def __init__(self, settings: Settings, decode, vocab_size: int, eos_id: int):
        self.settings, self.decode, self.vocab_size, self.eos_id = settings, decode, vocab_size, eos_id
        self.consecutive = 0  # rounds in a row that added rows
        self.rows: list[Row] = []
        self.active: list[int] = []
        self.nodes: list[dict] = []  # every stretch once, for the record
        self.round = 0
        self._add([self._row(Row("initial", 0)) for _ in range(min(settings.initial_rollouts, settings.n))])

    @property
    def room(self) -> int:
        """Tokens that the row with the most room may still write; all of a round share it."""
        return max(1, *(self.settings.response_length - len(self.rows[r].ids) for r in self.active), 1)

    def measure(self, segment: Segment) -> float:
        tops, size = segment.tops, self.vocab_size
        return pooled_entropy(tops, size) if tops else surprisal(segment.logprobs, size)

    def receive(self, number: int, segment: Segment):
        """Takes a segment. Gives ("call", tag, input), ("keep",) or ("end", why)."""
        row = self.rows[number]
        self._node(row, number, "model", segment.ids, logprobs=segment.logprobs, finish=segment.finish,
                   **({} if segment.stop is None else {"stop": segment.stop}))
        row.ids += segment.ids
        row.mask += [1] * len(segment.ids)
        row.logprobs += segment.logprobs
        row.entropy = self.measure(segment)
        self.nodes[row.leaf]["entropy"] = row.entropy
        if row.baseline is None:
            row.baseline = row.entropy
        fate = self._fate(row, segment)
        if fate[0] == "end":
            row.end = fate[1]
            if row.end == "call-limit":
                self._node(row, number, "end", [self.eos_id])
        return fate

    def _fate(self, row: Row, segment: Segment):
        limit = self.settings.response_length
        if segment.finish == "stop" and segment.stop is not None:
            if row.calls >= self.settings.call_limit:
                row.ids.append(self.eos_id)
                row.mask.append(1)
                row.logprobs.append(0.0)
                return ("end", "call-limit")
            row.calls += 1
            tag = segment.stop[2:-1]
            given = call_content(self.decode(row.ids), tag)
            return ("call", tag, given) if given else ("end", "bad-call")
        if segment.finish == "length" and len(row.ids) < limit:
            return ("keep",)
        return ("end", "length" if segment.finish == "length" else "answer")

    def answer(self, number: int, ids: list, call: dict | None = None) -> None:
        """A tool's answer; the model did not write it. `call` is what the record says of it."""
        row = self.rows[number]
        self._node(row, number, "tool", ids, tool=call)
        row.ids += ids
        row.mask += [0] * len(ids)
        row.logprobs += [0.0] * len(ids)
        row.turns += 2

    def survive(self, kept: list) -> list:
        """The rows that go on, of those that were not ended."""
        for number in kept:
            if len(self.rows[number].ids) >= self.settings.response_length:
                self.rows[number].end = "length"
        return [number for number in kept if self.rows[number].end is None]

    def branch(self, kept: list, draw) -> list:
        """The round's branches; draw(row, round, attempt) gives u.

        ARPO: s = clamp(u - w delta, 0, 1), branch unless s > p. AEPO: s = clamp((u + w delta) f, 0, 1) with
        f = max(0, 1 - 0.05 c), branch unless s < p."""
        s, born = self.settings, []
        for number in kept:
            row = self.rows[number]
            attempts = min(s.beam_size - 1, s.n - len(self.rows))
            for attempt in range(attempts):
                u = draw(number, self.round, attempt)
                tried = dict(row=number, round=self.round, attempt=attempt, u=u, entropy=row.entropy,
                             baseline=row.baseline, consecutive=self.consecutive, remaining=s.n - len(self.rows))
                self.nodes[row.leaf].setdefault("branch", []).append(tried)
                if not self._branches(u, row.entropy - row.baseline):
                    continue
                tried["child"] = len(self.rows)
                child = Row("branch", self.round + 1, number, list(row.ids), list(row.mask), list(row.logprobs))
                child.prefix, child.calls, child.turns = len(row.ids), row.calls, row.turns
                child.origin = child.leaf = row.leaf
                born.append(self._row(child))
        return born

    def _branches(self, u: float, delta: float) -> bool:
        s = self.settings
        clamp = lambda x: min(1.0, max(0.0, x))
        if s.rule == "aepo-code":
            factor = max(0.0, 1 - PENALTY * self.consecutive)
            return not clamp((u + s.entropy_weight * delta) * factor) < s.branch_probability
        return not clamp(u - s.entropy_weight * delta) > s.branch_probability

    def refill(self) -> list:
        """A fresh row, where none went on and the budget is not spent."""
        return [self._row(Row("refill", self.round + 1))] if len(self.rows) < self.settings.n else []

    def next_round(self, active: list) -> None:
        # A round that added nothing counts neither way.
        if any(row.created > self.round for row in self.rows):
            self.consecutive += 1
        self.round += 1
        self.active = active

    def record(self) -> dict:
        """The tree as it is written down: every stretch once, and what every row is made of."""
        rows = [dict(row=i, kind=r.kind, round=r.created, parent=-1 if r.parent is None else r.parent,
                     origin=r.origin, leaf=r.leaf, end=r.end, calls=r.calls) for i, r in enumerate(self.rows)]
        return dict(nodes=self.nodes, rows=rows, cuts=[self._cut(row) for row in self.rows])

    def _cut(self, row: Row) -> str | None:
        """What is left of the node that the response length goes through, where it cuts the row."""
        over, node = len(row.ids) - self.settings.response_length, row.leaf
        if over <= 0:
            return None
        while over >= len(self.nodes[node]["tokens"]):
            over -= len(self.nodes[node]["tokens"])
            node = self.nodes[node]["parent"]
        return self.decode(self.nodes[node]["tokens"][:-over]) if over else ""

    def _node(self, row: Row, number: int, kind: str, ids: list, **said) -> None:
        text = self.decode(ids)
        node = dict(parent=row.leaf, kind=kind, row=number, round=self.round, tokens=list(ids), text=text, **said)
        row.leaf = len(self.nodes)
        self.nodes.append(node)

    def _add(self, numbers: list) -> None:
        self.active += numbers

    def _row(self, row: Row) -> int:
        self.rows.append(row)
        return len(self.rows) - 1
