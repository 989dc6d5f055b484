"""Training and tagging on a real cluster of processes: the same bits as without, workers and
clients killed, one clear line for what is wrong."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from patience import LONG, standing, until
from test_cluster import bits, sentences, write_conll

import seqpa
from seqpa.cluster import DaskSequenceTagger, Files
from seqpa.cluster.executors import Inline, OnDask, connected, uninterrupted
from seqpa.cluster.run import ClusterRun
from seqpa.config import Config, load_config
from seqpa.errors import SeqpaError

dask = pytest.importorskip("dask", reason="Dask is not installed")
distributed = pytest.importorskip("distributed", reason="Dask is not installed")

PARAMETERS: dict[str, Any] = {
    "features": ["word[0]", "tags[-1]|word[0]"],
    "epochs": 3,
    "shards": 3,
    "random_state": 1,
}


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two worker processes; their nannies start them again when they are killed."""
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": LONG}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def text() -> tuple[list[list[str]], list[list[str]]]:
    return sentences(np.random.default_rng(11), 120)


def cost_behind(gate: str, gold: list[str], predicted: list[str]) -> float:
    """A cost that waits until there is a file, so that a worker is killed within a round."""
    until(Path(gate).exists)
    return float(sum(a != b for a, b in zip(gold, predicted, strict=True)))


def test_lists_files_and_bags_give_what_one_process_gives(
    client: Any, text: Any, tmp_path: Path
) -> None:
    X, y = text
    here = DaskSequenceTagger(Inline(), **PARAMETERS).fit(X, y)
    there = DaskSequenceTagger(client, **PARAMETERS)
    told: list[str] = []
    assert [epoch.number for epoch in there.training(X, y, told=told.append)] == [1, 2, 3]
    assert bits(there) == bits(here)
    assert sum("MB moved" in line and "efficiency" in line for line in told) == 3
    assert all(0 < cost.efficiency <= 1 and cost.received > 0 for cost in there.rounds_)
    bag = pytest.importorskip("dask.bag")
    pairs = bag.from_sequence(list(zip(X, y, strict=True)), npartitions=3)
    of_bag = DaskSequenceTagger(client, **PARAMETERS).fit(pairs)
    assert bits(of_bag) == bits(here)
    predicted = of_bag.predict(bag.from_sequence(X, npartitions=2)).compute()
    assert list(predicted) == here.predict(X)
    path = write_conll(tmp_path / "a.conll", X, y)
    assert bits(DaskSequenceTagger(client, **PARAMETERS).fit(Files(path))) == bits(here)


def test_a_worker_killed_twice_changes_nothing_and_is_told(
    client: Any, text: Any, tmp_path: Path
) -> None:
    X, y = text
    gate = tmp_path / "gate"
    gate.touch()
    parameters = PARAMETERS | {"cost": partial(cost_behind, str(gate))}
    here = DaskSequenceTagger(Inline(), **parameters).fit(X, y)
    told: list[str] = []
    there = DaskSequenceTagger(client, **parameters)
    killed: list[str] = []
    begun = []

    def at_work() -> list[str]:
        """The workers that have a task of the round, but for those that were killed."""
        return sorted(
            address
            for address, keys in client.processing().items()
            if address not in killed and any(str(key).startswith("epoch-") for key in keys)
        )

    def kill_in_the_round(done: int, of: int) -> None:
        """At the beginning of the rounds 2 and 3; a nanny brings the worker's successor."""
        if done == 0:
            begun.append(of)
            if len(begun) > 1:
                address = until(at_work)[0]
                os.kill(client.run(os.getpid, workers=[address])[address], signal.SIGKILL)
                killed.append(address)
                gate.touch()

    for _ in there.training(X, y, progress=kill_in_the_round, told=told.append):
        gate.unlink()  # the tasks of the next round wait
    gate.touch()
    assert len(set(killed)) == 2
    assert bits(there) == bits(here)
    # Each of them is told once. (On a busy machine a successor may be lost too, while it starts.)
    lost = [
        f"the worker {address} was lost: its tasks are done again by others" for address in killed
    ]
    assert [told.count(line) for line in lost] == [1, 1]
    client.wait_for_workers(2, timeout=LONG)


def test_the_successor_of_a_worker_may_take_its_time() -> None:
    """Dask gives up workers on this machine that are not back in 15 seconds; here, at once."""
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1 ms"}),
        connected("local:1") as client,
    ):
        (pid,) = client.run(os.getpid).values()
        os.kill(pid, signal.SIGKILL)
        assert client.submit(os.getpid, pure=False).result(timeout=LONG) != pid


def test_no_worker_is_lost_by_the_cache_of_the_client(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client's heartbeat writes a word without workers into it, at any moment."""
    told: list[str] = []
    monkeypatch.setattr(client, "scheduler_info", lambda **_: {"workers": {}})
    executor = OnDask(client, told.append)
    assert executor.workers() == 2
    executor.check()
    assert executor.results([executor.submit(abs, -n) for n in (1, 2)]) == [1, 2]
    assert told == []


class Answers:
    """A client whose scheduler answers, one after another, with these workers: address, folder."""

    status = "running"

    def __init__(self, *answers: dict[str, str]) -> None:
        self.scheduler = self
        self.address = "tcp://scheduler"
        self.answers = list(answers)

    def identity(self, n_workers: int) -> dict[str, Any]:
        found = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return {"workers": {a: {"local_directory": f, "nthreads": 1} for a, f in found.items()}}

    def sync(self, function: Any, **arguments: Any) -> Any:
        return function(**arguments)


class Ended:
    """A task that has ended."""

    key = "task"
    status = "finished"

    def done(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        ([{"a": "1", "b": "2"}, {"b": "2"}, {"b": "2", "c": "3"}], ["a"]),
        # An answer that came late shows the lost one again.
        ([{"a": "1"}, {"b": "2"}, {"a": "1", "b": "2"}, {"b": "2"}], ["a"]),
        # One that shows nobody, by whatever mistake, makes both lost, and only once.
        ([{"a": "1", "b": "2"}, {}, {"a": "1", "b": "2"}, {"b": "2"}, {"a": "1"}], ["a", "b"]),
        # A successor at the same address, between two answers.
        ([{"a": "1"}, {"a": "2"}, {"a": "2"}, {"a": "3"}], ["a", "a"]),
        ([{"a": "1", "b": "2"}, {"a": "3", "b": "4"}, {"b": "4"}], ["a", "b", "a"]),
    ],
)
def test_each_lost_worker_is_told_once(answers: list[dict[str, str]], told: list[str]) -> None:
    lines: list[str] = []
    executor = OnDask(Answers(*answers), lines.append)
    for _ in range(len(answers) + 2):
        executor.first([Ended()])
    assert [line.split()[2] for line in lines] == told


def test_what_is_wrong_names_the_worker(
    client: Any, text: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SeqpaError, match=r"none.conll: .* \(on the worker tcp://"):
        DaskSequenceTagger(client, **PARAMETERS).fit(Files(tmp_path / "none.conll"))
    executor = OnDask(client)
    with pytest.raises(SeqpaError, match=r"the worker tcp://\S+ may use .* MB, and a shard needs"):
        executor.check_memory(10**15, "a shard")
    monkeypatch.setattr("seqpa.__version__", "99.0")
    with pytest.raises(SeqpaError, match=r"the worker tcp://\S+ has seqpa .*, and the client has"):
        DaskSequenceTagger(client, **PARAMETERS).fit(*text)


def test_who_has_no_seqpa_is_named(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that has to be imported there may be sent before that is known."""
    executor = OnDask(client)
    missing = "__import__('seqpa.no_such_room').__version__"
    monkeypatch.setattr("seqpa.cluster.executors._VERSION", missing)
    with pytest.raises(SeqpaError, match=r"the worker tcp://\S+ cannot run .*ModuleNotFoundError"):
        executor.check()
    monkeypatch.undo()

    def on_scheduler(function: Any, text: str) -> None:
        raise ModuleNotFoundError("No module named 'seqpa'")

    monkeypatch.setattr(client, "run_on_scheduler", on_scheduler)
    with pytest.raises(SeqpaError, match=r"the scheduler tcp://\S+ cannot run the tasks of seqpa"):
        executor.check()


def test_a_scheduler_that_is_lost_is_one_error() -> None:
    with (
        distributed.LocalCluster(
            n_workers=1, processes=False, dashboard_address="127.0.0.1:0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster.scheduler_address) as client,
    ):
        executor = OnDask(client, again="begin anew")
        handle = executor.submit(time.sleep, 3.0)
        assert handle.status == "pending"
        cluster.close()
        with pytest.raises(SeqpaError, match=r"the scheduler was lost or .*: begin anew"):
            executor.results([handle])


def test_a_client_that_is_closed_is_told_and_none_is_pickled(client: Any, text: Any) -> None:
    tagger = DaskSequenceTagger(client, **PARAMETERS).fit(*text)
    again = pickle.loads(pickle.dumps(tagger))
    assert again.client is None
    assert again.predict(text[0]) == tagger.predict(text[0])
    with distributed.Client(client.scheduler.address) as own:
        pass
    with pytest.raises(SeqpaError, match="is closed: make a new one"):
        DaskSequenceTagger(own, **PARAMETERS).fit(*text)


def test_a_cluster_without_workers_is_given_up() -> None:
    with (
        distributed.LocalCluster(
            n_workers=0, dashboard_address="127.0.0.1:0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
        pytest.raises(SeqpaError, match="has no worker: start some"),
    ):
        DaskSequenceTagger(client, timeout=0.5).fit([["a"]], [["N"]])


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals")
def test_ctrl_c_waits_until_the_workers_have_begun() -> None:
    told = []
    asks = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))"

    def begin() -> None:  # a process, by a thread: as Dask does it
        done = subprocess.run([sys.executable, "-c", asks], capture_output=True, text=True)
        told.append(done.stdout.strip())

    def interrupted() -> None:
        with uninterrupted():
            os.kill(os.getpid(), signal.SIGINT)
            thread = threading.Thread(target=begin)
            thread.start()
            thread.join()

    usual = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert told == ["True"]
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    assert signal.getsignal(signal.SIGINT) == usual


def test_workers_that_cannot_begin_are_one_error() -> None:
    with pytest.raises(SeqpaError, match=r"local:99999: this machine has \d+ cores?: give it"):
        connected("local:99999").__enter__()
    with (
        dask.config.set(temporary_directory=os.devnull),
        pytest.raises(SeqpaError, match=r"local:1: the workers could not be started \(.*null"),
    ):
        connected("local:1").__enter__()


def train(config: Config, resume: bool) -> int:
    """Train here what may have begun on a cluster; how many rounds there were."""
    run = ClusterRun(config, Inline(), resume=resume)
    assert run.resumed == resume
    rounds = sum(1 for _ in run.epochs())
    run.finish()
    return rounds


def test_a_killed_client_resumes_to_the_same_model(
    tmp_path: Path, text: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = text
    write_conll(tmp_path / "a.conll", X * 10, y * 10)
    config = tmp_path / "c.yaml"
    config.write_text(
        "data: {train: a.conll}\nfeatures: {templates: ['word[0]', 'word[-1]']}\n"
        "learner: {epochs: 60}\ncluster: {shards: 2}\noutput: {model: m.safetensors}\n"
    )
    command = [sys.executable, *standing(50), "train", str(config)]
    environment = os.environ | {"PYTHONPATH": str(Path(seqpa.__file__).parents[1])}
    settings = ["output.model=whole.safetensors"]
    monkeypatch.chdir(tmp_path)
    train(load_config(config, settings), resume=False)
    checkpoint = tmp_path / "m.safetensors.checkpoint"
    run = subprocess.Popen(
        [*command, "--dask", "local:1"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert run.stdout is not None
    for line in run.stdout:
        if line.startswith(b"epoch 3"):
            break
    run.kill()
    run.wait()
    run.stdout.close()
    assert checkpoint.exists()
    assert not (tmp_path / "m.safetensors").exists()
    assert 0 < train(load_config(config), resume=True) < 60
    whole = (tmp_path / "whole.safetensors").read_bytes()
    assert (tmp_path / "m.safetensors").read_bytes() == whole
    assert not checkpoint.exists()
