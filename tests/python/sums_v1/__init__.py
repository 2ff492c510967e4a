"""A taskset of sums for `vf-eval`, in tests/python/verifiers.slow.test.ts."""
import verifiers.v1 as vf


class SumData(vf.TaskData):
    answer: str


class SumTask(vf.Task[SumData]):
    @vf.reward(weight=1.0)
    async def reward(self, trace: vf.Trace) -> float:
        return float(self.data.answer in (trace.last_reply or ""))


class SumsConfig(vf.TasksetConfig):
    pass


class SumsTaskset(vf.Taskset[SumTask, SumsConfig]):
    def load(self) -> list[SumTask]:
        return [
            SumTask(SumData(idx=i, prompt=f"What is {i} + {i + 5}?", answer=str(2 * i + 5)), self.config.task)
            for i in range(3)
        ]


__all__ = ["SumsTaskset"]
