"""How a good engineer trains a workload with PyTorch on this machine: the peers.

usual            one network after the other, DataLoader, default threads, default optimizer
processes        a process a core with one thread each; data resident and channels-last, fused optimizer
compiled         the same with torch.compile of network and loss
stacked          networks of one shape and batch size trained as one (baddbmm for MLPs, vmap else), a
                 process a core
stacked_compiled the same with torch.compile of the stack's loss

Each tuned peer also runs in bf16 ("processes bf16"): autocast, as PyTorch's users do it, with fp32
weights. Processes live and have imported torch before the clock starts; compiling is done before it, too,
and counted apart. A peer's time ends when the networks are trained and evaluated on the validation
data.
"""

import multiprocessing
import os
import time

import torch
from torch.utils.data import DataLoader, TensorDataset

from compare import torch_models
from compare.ours import processor_seconds
from compare.workloads import WORKLOADS

PEERS = ("usual", "processes", "compiled", "stacked", "stacked_compiled")
UNSTACKED = ("f", "j", "k")  # batch normalization keeps statistics, which vmap does not allow
EVALUATION_BATCH = 1000


def autocast(precision):
    return torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bf16")


@torch.inference_mode()
def accuracy(model, x, y, task):
    model.eval()
    right = sum(float(torch_models.correct(model(x[i:i + EVALUATION_BATCH]),
                                         y[i:i + EVALUATION_BATCH], task))
                for i in range(0, len(x), EVALUATION_BATCH))
    model.train()
    return right / len(y)


def usual(workload):
    """Trains all; returns the accuracies."""
    found = []
    for config in workload.configs:
        torch.manual_seed(1)
        model = torch_models.module(workload.architectures[config.architecture], workload.shape)
        x, y = torch_models.tensors(workload, "train", channels_last=False)
        loader = DataLoader(TensorDataset(x, y), batch_size=config.batch, shuffle=True)
        optimizer = torch_models.optimizer(config, model)
        for _ in range(workload.iterations):
            running = 0.0
            for inputs, targets in loader:
                optimizer.zero_grad()
                loss = torch_models.loss_of(model(inputs), targets, workload.task)
                loss.backward()
                optimizer.step()
                running += loss.item()
        found.append(accuracy(model, *torch_models.tensors(workload, "valid", False),
                              workload.task))
    return found


class Worker:
    """One process of the tuned peers: keeps its data and what it has compiled."""

    def __init__(self, name, quick):
        torch.set_num_threads(1)
        self.workload = WORKLOADS[name](quick)
        self.train = torch_models.tensors(self.workload, "train")
        self.valid = torch_models.tensors(self.workload, "valid")
        self.compiled = {}

    def compile_once(self, key, function):
        # Shapes are fixed: the short last batch is compiled for itself.
        if key not in self.compiled:
            self.compiled[key] = torch.compile(function, dynamic=False)
        return self.compiled[key]

    def batches(self, batch):
        x, y = self.train
        for _ in range(self.workload.iterations):
            order = torch.randperm(len(x))
            for i in range(0, len(x), batch):
                rows = order[i:i + batch]
                yield x[rows], y[rows]

    def warm_batches(self, batch):
        """One batch of each size that occurs."""
        x, y = self.train
        for n in {batch, len(x) % batch} - {0}:
            yield x[:n], y[:n]

    def one(self, index, compiled, precision, warm):
        workload = self.workload
        config = workload.configs[index]
        torch.manual_seed(1)
        key = (config.architecture, config.batch, precision)
        fresh = torch_models.module(workload.architectures[config.architecture], workload.shape)
        if compiled:
            # One compiled module per shape, loaded with fresh weights.
            if key not in self.compiled:
                model = torch_models.module(workload.architectures[config.architecture],
                                            workload.shape).to(memory_format=torch.channels_last)
                self.compiled[key] = model, torch.compile(
                    lambda x, y: torch_models.loss_of(model(x), y, workload.task), dynamic=False)
            model, loss_of = self.compiled[key]
            model.load_state_dict(fresh.state_dict())
        else:
            model = fresh.to(memory_format=torch.channels_last)

            def loss_of(x, y):
                return torch_models.loss_of(model(x), y, workload.task)

        optimizer = torch_models.optimizer(config, model, fused=True)
        running = torch.zeros(())
        for x, y in (self.warm_batches if warm else self.batches)(config.batch):
            optimizer.zero_grad(set_to_none=True)
            with autocast(precision):
                loss = loss_of(x, y)
            loss.backward()
            optimizer.step()
            running += loss.detach()
        with autocast(precision):
            return [(index, accuracy(model, *self.valid, workload.task))]

    def stack(self, indexes, compiled, precision, warm):
        workload = self.workload
        configs = [workload.configs[i] for i in indexes]
        torch.manual_seed(1)
        layers = workload.architectures[configs[0].architecture]
        stack = torch_models.Stack(workload, layers, configs)
        loss_of = stack.loss
        if compiled:
            key = ("stack", configs[0].architecture, configs[0].batch, len(configs), precision)
            loss_of = self.compile_once(key, stack.loss)
        running = torch.zeros(())
        for x, y in (self.warm_batches if warm else self.batches)(configs[0].batch):
            running += stack.step(x, y, loss_of, autocast(precision))
        with autocast(precision):
            return list(zip(indexes, stack.accuracy(*self.valid)))


def serve(pipe, name, quick):
    worker = Worker(name, quick)
    pipe.send("ready")
    while (job := pipe.recv()) is not None:
        method, arguments = job
        try:
            pipe.send(getattr(worker, method)(*arguments))
        except Exception as error:  # the parent reports it and goes on with the other peers
            pipe.send(error)


class Processes:
    """Worker processes, one a core, that take jobs as they become free."""

    def __init__(self, name, quick):
        context = multiprocessing.get_context("spawn")
        self.pipes = []
        self.processes = []
        for _ in range(os.cpu_count()):
            here, there = context.Pipe()
            process = context.Process(target=serve, args=(there, name, quick), daemon=True)
            process.start()
            self.pipes.append(here)
            self.processes.append(process)
        for pipe in self.pipes:
            pipe.recv()

    def run(self, jobs, each=False):
        """All jobs' results; `each`: every process does every job."""
        found = []
        if each:
            for pipe in self.pipes:
                for job in jobs:
                    pipe.send(job)
            replies = [pipe.recv() for pipe in self.pipes for _ in jobs]
        else:
            jobs = list(jobs)
            busy = {}
            replies = []
            for pipe in self.pipes:
                if jobs:
                    pipe.send(jobs.pop(0))
                    busy[pipe] = True
            while busy:
                for pipe in multiprocessing.connection.wait(list(busy)):
                    replies.append(pipe.recv())
                    if jobs:
                        pipe.send(jobs.pop(0))
                    else:
                        del busy[pipe]
        for reply in replies:
            if isinstance(reply, Exception):
                raise reply
            found += reply
        return found

    def close(self):
        for pipe, process in zip(self.pipes, self.processes):
            pipe.send(None)
            process.join()


def cost(config):
    """Small batches take longest: they are given out first."""
    return config.batch


def jobs_of(workload, peer, warm):
    peer, _, precision = peer.partition(" ")
    precision = precision or "fp32"
    compiled = peer.endswith("compiled")
    if not peer.startswith("stacked"):
        order = sorted(range(len(workload.configs)), key=lambda i: cost(workload.configs[i]))
        return [("one", (i, compiled, precision, warm)) for i in order]
    groups = {}
    for i, config in enumerate(workload.configs):
        groups.setdefault((config.architecture, config.batch, config.optimizer), []).append(i)
    ordered = sorted(groups.items(), key=lambda item: item[0][1])
    return [("stack", (indexes, compiled, precision, warm)) for _, indexes in ordered]


class TunedPeers:
    """Runs the peers other than "usual" on worker processes that live as long as this."""

    def __init__(self, name, quick):
        self.workload = WORKLOADS[name](quick)
        self.processes = Processes(name, quick)
        self.warmed = set()

    def warm(self, peer):
        """Compiles whatever the peer will run; returns the seconds it took."""
        if peer in self.warmed:
            return 0.0
        start = time.perf_counter()
        self.processes.run(jobs_of(self.workload, peer, True), each=True)
        self.warmed.add(peer)
        return time.perf_counter() - start

    def run(self, peer):
        """(seconds, accuracies)"""
        start = time.perf_counter()
        found = dict(self.processes.run(jobs_of(self.workload, peer, False)))
        seconds = time.perf_counter() - start
        return seconds, [found[i] for i in range(len(self.workload.configs))]

    def processor_seconds(self):
        return sum(processor_seconds(process.pid) for process in self.processes.processes)

    def close(self):
        self.processes.close()
