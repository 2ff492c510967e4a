"""The reward of the published ARPO and AEPO runs: -1 for a broken format, else the F1 of the boxed answer."""

import re
import string
from collections import Counter


def check_format(text: str) -> str | None:
    """What is wrong with a response's format, or None."""
    thinks = text.count("<think>")
    if thinks != text.count("</think>"):
        return "<think> </think> not paired"
    if thinks == 0:
        return "<think> or </think> not found"
    if text.count("<answer>") != 1 or text.count("</answer>") != 1:
        return "<answer> or </answer> not found"
    for tag in ("search", "python"):
        at = text.find(f"<{tag}>")
        while at >= 0:
            result, close = text.find("<result>", at), text.find(f"</{tag}>", at)
            end = text.find("</result>", result) if result >= 0 else -1
            if result < 0 or close < 0 or end < 0:
                return f"{tag}/result tags are incomplete"
            if close > result:
                return f"{tag}/result tags are nested in the wrong order"
            at = text.find(f"<{tag}>", end)
    start, end = text.find("<answer>"), text.find("</answer>")
    if start > end:
        return "<answer> must be before </answer>"
    if "\\boxed{" not in text[start:end] or "}" not in text[start:end]:
        return "answer is missing \\boxed{} format"
    return None


def last_boxed(text: str) -> str | None:
    if "\\boxed " in text:
        return text[text.rfind("\\boxed ") :].split("$")[0]
    start = text.rfind("\\boxed")
    start = start if start >= 0 else text.rfind("\\fbox")
    if start < 0:
        return None
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] == "{") - (text[i] == "}")
        if text[i] == "}" and depth == 0:
            return text[start : i + 1]
    return None


def unboxed(text: str | None) -> str:
    if text is None:
        raise ValueError("there must be a balanced boxed expression")
    if text.startswith("\\boxed "):
        return text[len("\\boxed ") :]
    if not text.startswith("\\boxed{") or not text.endswith("}") or "\\boxed " in text:
        raise ValueError(f"the expression must be \\boxed{{…}}, got {text}")
    return text[len("\\boxed{") : -1]


def normalize(text: str) -> str:
    bare = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())


def token_f1(given: str, truths) -> float:
    best, given = 0.0, normalize(given)
    for truth in [truths] if isinstance(truths, str) else truths:
        wanted = normalize(truth)
        if given != wanted and {given, wanted} & {"yes", "no", "noanswer"}:
            continue
        a, b = given.split(), wanted.split()
        shared = sum((Counter(a) & Counter(b)).values())
        if shared:
            precision, recall = shared / len(a), shared / len(b)
            best = max(best, 2 * precision * recall / (precision + recall))
    return best


def deep_research(response: str, truths, eos_token: str | None = None) -> dict:
    broken = {"score": -1.0, "acc": 0.0, "f1_score": 0.0, "format": 0.0}
    if check_format(response) is not None:
        return broken
    text = response.removesuffix(eos_token) if eos_token else response
    start = text.find("<answer>") + len("<answer>")
    end = text.find("</answer>", start)
    try:
        answer = unboxed(last_boxed(text[start:end])) if end >= 0 else None
    except ValueError:
        answer = None
    if answer is None:
        return broken
    f1 = token_f1(answer, truths)
    both = f1 > 0 and "</search>" in text and "</python>" in text
    score = f1 + 0.1 if both else f1
    return {"score": score, "acc": float(f1 > 0), "f1_score": f1, "format": 1.0}


def compute_score(data_source, solution_str, ground_truth, extra_info=None, **_):
    """What verl calls (`reward.custom_reward_function`)."""
    return deep_research(solution_str or "", ground_truth)
