"""AEPO's look ahead, without verl: how many rows of a tree start fresh."""

import math


def budget(n: int, root: float, steps: list) -> dict:
    """Many rows start fresh where the question is uncertain, few where the tools' answers are."""
    mean = sum(steps) / len(steps) if steps else root
    sigmoid = 1 / (1 + math.exp(-0.5 * (root - mean)))
    share = n * sigmoid
    return dict(rootEntropy=root, stepEntropies=steps, meanEntropy=mean, sigmoid=sigmoid, share=share,
                initialRollouts=min(n, max(1, math.trunc(share) + 1)))


async def monitor(tree, n: int, root_tokens: int, before: int, context: int, generate, call) -> dict:
    """A short answer and one whole trajectory, both thrown away, decide.

    `tree` has one row, the trajectory; generate(name, ids, room) gives a segment, call(tag, input) the ids of a
    tool's answer. `before` tokens of the prompt and the row's own fit into `context`."""
    root = tree.measure(await generate("root", [], root_tokens))
    row, steps = tree.rows[0], []
    while True:
        fate = tree.receive(0, await generate("probe", row.ids, tree.room))
        steps.append(row.entropy)
        if fate[0] == "call":
            block = await call(*fate[1:])
            # The reference cuts what it has read and goes on; the text is thrown away in any case.
            if before + len(row.ids) + len(block) > context:
                if context - len(block) - 100 < before:
                    break
                del row.ids[context - len(block) - 100 - before :]
            tree.answer(0, block)
        elif fate[0] != "keep":
            break
    return budget(n, root, steps)
