"""arpo-lab's streams of draws (Philox4x32-10): the same seed and names give the same draws in both."""

_M = 0xFFFFFFFF


def _philox(words, key):
    x0, x1, x2, x3 = words
    k0, k1 = key
    for _ in range(10):
        a, b = 0xD2511F53 * x0, 0xCD9E8D57 * x2
        x0, x1, x2, x3 = (b >> 32) ^ x1 ^ k0, b & _M, (a >> 32) ^ x3 ^ k1, a & _M
        k0, k1 = (k0 + 0x9E3779B9) & _M, (k1 + 0xBB67AE85) & _M
    return x0, x1, x2, x3


class Stream:
    """A stream is a function of its seed, the names it was split by, and the place in it."""

    def __init__(self, key):
        self.key, self.position = key, 0

    @staticmethod
    def of(seed: int) -> "Stream":
        return Stream((seed & _M, seed >> 32 & _M))

    def split(self, name) -> "Stream":
        text = (name if isinstance(name, str) else f"#{name}").encode()
        key, padded = self.key, text + b"\0" * (-len(text) % 8 or (0 if text else 8))
        for i in range(0, len(padded), 8):
            low, high = (int.from_bytes(padded[j : j + 4], "little") for j in (i, i + 4))
            key = _philox((low, high, len(text), 0x5B117), key)[:2]
        return Stream(key)

    def at(self, position: int) -> float:
        a, b, *_ = _philox((position & _M, position >> 32 & _M, 0, 0), self.key)
        return ((a >> 5) * 0x4000000 + (b >> 6)) / 0x20000000000000

    def uniform(self) -> float:
        self.position += 1
        return self.at(self.position - 1)
