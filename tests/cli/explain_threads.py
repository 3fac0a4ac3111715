"""`allranks explain` on the facts of public threads: which ranks wait in which operation, who is missing, and whether it is the code.

Each row was typed anew from what a thread shows (numbers, kinds, the wording of its PyTorch); no text of a thread is here. `said` is
what the thread found out. Where it shows the branch, `source` is a program that has it, written for this test, and the answer must
name its line; the stack is what PyTorch of today prints for that call, or py-spy for a rank that the thread places in words. Where
it found nothing out, the answer must name the operation and the ranks, and must not
call it hardware while ranks are unaccounted for.

`known`: the thread says what it was. Of these the answer is right where operation, ranks and branch are (or that it is no branch of the
code); `unnamed` says of the others what is lacking.
"""

import json
import unittest
from dataclasses import dataclass, field

from support import CliTest, main
from verify_support import FIXTURES


def watchdog(rank, turn, kind, numel=None, prefix=True):
    sizes = "" if numel is None else f"NumelIn={numel}, NumelOut={numel}, "
    number = "" if turn is None else f"SeqNum={turn}, "
    front = f"[rank{rank}]:[E ProcessGroupNCCL.cpp:616] " if prefix else "[E ProcessGroupNCCL.cpp:737] "
    return f"{front}[Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL({number}OpType={kind}, {sizes}Timeout(ms)=600000) ran for 600090 milliseconds before timing out.\n"


def status(rank, turn, enqueued, completed, group="PG 0"):
    return f"[rank{rank}]:[E ProcessGroupNCCL.cpp:1537] [{group} Rank {rank}] Timeout at NCCL work: {turn}, last enqueued NCCL work: {enqueued}, last completed NCCL work: {completed}.\n"


def newest(rank, turn, enqueued, completed, group="PG ID 0 PG GUID 0(default_pg)"):
    return f"[rank{rank}]:[E ProcessGroupNCCL.cpp:2268] [{group} Rank {rank}]  failure detected by watchdog at work sequence id: {turn} PG status: last enqueued work: {enqueued}, last completed work: {completed}\n"


def relay(rank, source, turn, group="PG ID 0 PG GUID 0(default_pg)"):
    return (f"[rank{rank}]:[E ProcessGroupNCCL.cpp:1743] [{group} Rank {rank}] Received a dump signal due to a collective timeout from  {source} and we will try "
            f"our best to dump the debug info. Last enqueued NCCL work: {turn}, last completed NCCL work: {turn}.This is most likely\n")


def both(ranks, turn, kind, enqueued, numel=None, line=status, **more):
    return "".join(watchdog(rank, turn, kind, numel) + line(rank, turn, enqueued, turn - 1, **more) for rank in ranks)


def prefixed(prefix, text):
    return "".join(prefix + line + "\n" for line in text.splitlines())


def stack(rank, *frames):
    """What the watchdog prints of a failed collective, innermost first, below the library's own frame."""
    front = f"[rank{rank}]:[E ProcessGroupNCCL.cpp:683] Stack trace of the failed collective: \n"
    return front + "#0 op from /opt/site-packages/torch/distributed/distributed_c10d.py:9\n" + "".join(
        f"#{i + 1} {function} from /job/train.py:{line}\n" for i, (function, line) in enumerate(frames))


def traceback(rank, last, error, where="/job/train.py", line=44):
    return (f"[rank{rank}]: Traceback (most recent call last):\n[rank{rank}]:   File \"{where}\", line {line}, in run\n[rank{rank}]:     {last}\n"
            f"[rank{rank}]: {error}\n")


def pyspy(rank, *frames):
    return f"=== rank {rank} ===\nThread {rank + 7} (active): \"MainThread\"\n" + "".join(f"    {function} ({file}:{line})\n" for function, file, line in frames)


GATHERED = (("all_gather_coalesced", "torch/distributed/distributed_c10d.py", 9), ("gather", "accelerate/job.py", 30))
MISMATCH = "RuntimeError: Detected mismatch between collectives on ranks. "


def printed(rank, kind, number, shape="", comma=True):
    more = f", TensorShape={shape}, TensorDtypes=Long, TensorDeviceTypes=TensorOptions(dtype=float (default))" if shape else ""
    return f"Rank {rank} is running collective: CollectiveFingerPrint(SequenceNumber={number}{', ' if comma else ''}OpType={kind}{more})"


@dataclass
class Thread:
    name: str
    said: str
    text: str
    kind: str
    waiting: list
    missing: list = field(default_factory=list)
    no_record: list = field(default_factory=list)
    cause: str = "absent"
    in_code: bool | None = None
    words: str = ""
    source: str = ""            # train.py
    parting: int | None = None  # its line
    known: bool = False
    unnamed: str = ""           # what the thread says and the answer does not


ONE_BATCH_LESS = """import torch
import torch.distributed as dist


def mean(value):
    tensor = torch.tensor([value]).cuda()
    dist.all_reduce(tensor)
    return tensor.item() / dist.get_world_size()


def train(step, paths):
    for path in paths[dist.get_rank()::dist.get_world_size()]:
        loss = step(path)
        print(mean(loss))
    evaluate(step)


def evaluate(step):
    dist.barrier()
    step(None)
"""

CHECKPOINT_ON_ONE_RANK = """import lightning as L


def run_training(trainer, model, data, path):
    trainer.fit(model, data)
    if trainer.is_global_zero:
        trainer.save_checkpoint(path)
    trainer.strategy.barrier("finalize")


def main(model, data):
    trainer = L.Trainer(strategy="ddp", devices=4)
    run_training(trainer, model, data, "last.ckpt")
"""

BROADCAST_ON_ONE_RANK = """import torch
import torch.distributed as dist


def main():
    dist.init_process_group("nccl")
    if dist.get_rank() == 0:
        dist.broadcast(torch.ones(3).cuda(), 0)
    print("done", dist.get_rank())


main()
"""

KEYS_OF_EACH_RANK = """import lightning as L


class Model(L.LightningModule):
    def run(self, batch):
        losses = {}
        for name in batch["names"]:
            losses[name] = self.model(batch[name])
        for key, value in losses.items():
            self.log(key, value, sync_dist=True)
        self.trainer.strategy.broadcast(batch)
"""

STATE_ON_ONE_RANK = """from accelerate import Accelerator


def train(accelerator, model, optimizer, loader, config):
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for step, batch in enumerate(loader):
        loss = model(**batch).loss
        accelerator.backward(loss)
        optimizer.step()
        if step % config["save_every"] == 0:
            accelerator.wait_for_everyone()
            if accelerator.is_main_process:
                accelerator.save_state(config["folder"])


def main(model, optimizer, loader, config):
    train(Accelerator(), model, optimizer, loader, config)
"""

BARRIER_ON_ONE_RANK = """from accelerate import Accelerator


def train(accelerator, unet, loader, epochs, every):
    for epoch in range(epochs):
        for batch in loader:
            loss = unet(batch)
            accelerator.backward(loss)
        accelerator.wait_for_everyone()
        if accelerator.is_main_process:
            if epoch % every == 0:
                accelerator.wait_for_everyone()
                validate(accelerator.unwrap_model(unet))


def validate(unet):
    unet.eval()


def main(unet, loader):
    train(Accelerator(), unet, loader, 10, 2)
"""

BARRIER_IN_LOAD = """import torch.distributed as dist


def load(path, local_rank):
    if local_rank not in (-1, 0):
        dist.barrier()
    features = open(path).read()
    if local_rank == 0:
        dist.barrier()
    return features


def main(train, evaluate, path, local_rank):
    train(load(path, local_rank))
    if local_rank in (-1, 0):
        evaluate(load(path + ".dev", local_rank))
"""

FORWARD_ON_ONE_RANK = """import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def run(model, loader, val_loader, rank, epochs):
    model = DistributedDataParallel(model.cuda(), device_ids=[rank])
    for epoch in range(epochs):
        for images, labels in loader:
            model(images).sum().backward()
        if dist.get_rank() == 0:
            for images, labels in val_loader:
                model(images)
        dist.barrier()
"""

CHECKPOINT_OF_AN_ENGINE = """import deepspeed
import torch
import torch.distributed as dist


def train(engine, loader, folder, epochs):
    master = dist.get_rank() == 0
    for epoch in range(epochs):
        for batch in loader:
            engine.backward(engine(batch))
            engine.step()
        if master and folder is not None:
            save(engine, folder)
        dist.all_reduce(memory())


def save(engine, folder):
    engine.save_checkpoint(folder)


def memory():
    return torch.tensor([torch.cuda.memory_allocated()]).cuda()


def main(model, config, loader):
    engine, *_ = deepspeed.initialize(model=model, config=config)
    train(engine, loader, "out", 10)
"""

STATE_OF_AN_ENGINE = """from accelerate import Accelerator


def main(model, optimizer, loader, folder):
    accelerator = Accelerator()
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for step, batch in enumerate(loader):
        accelerator.backward(model(batch))
        if accelerator.is_main_process:
            if step % 100 == 0:
                accelerator.save_state(folder)
"""

SLOW_ON_ONE_RANK = """import torch
import torch.distributed as dist


def teardown(grams, path):
    if dist.get_rank() == 0:
        for name, gram in grams.items():
            torch.save(torch.linalg.eigh(gram), path + name)


def run(grams, path, total):
    teardown(grams, path)
    dist.all_reduce(total)
"""

UNEVEN_SAMPLES = """import torch.distributed as dist


def train(model, loader, optimizer):
    for batch in loader:
        loss = model(batch)
        dist.all_to_all_single(loss, loss)
        optimizer.step()


def main(model, samples, optimizer):
    train(model, samples[dist.get_rank()::dist.get_world_size()], optimizer)
"""

DDP = (("broadcast", "torch/distributed/distributed_c10d.py", 9), ("forward", "torch/nn/parallel/distributed.py", 1643))
C10D = "torch/distributed/distributed_c10d.py"

SIZE_ON_ONE_RANK = """import os

import torch
import torch.distributed as dist


def run_worker(rank, world_size):
    dist.init_process_group("nccl", rank=rank, world_size=world_size)
    numel = 104857600
    if rank == 0:
        numel *= 2
    tensor = torch.ones(numel).cuda()
    dist.all_reduce(tensor)
    torch.cuda.synchronize()


if __name__ == "__main__":
    run_worker(int(os.getenv("RANK", -1)), int(os.getenv("WORLD_SIZE", 8)))
"""

THREADS = [
    Thread("pytorch/pytorch#141069", "one rank has a batch less and is in the next stage",
           "".join(both((rank,), 19, "ALLREDUCE", 19, 1) + stack(rank, ("mean", 7), ("train", 14)) for rank in (1, 2, 3)), "all_reduce", [1, 2, 3], no_record=[0],
           in_code=True, source=ONE_BATCH_LESS, parting=12, known=True),
    Thread("alan-turing-institute/autocast#386", "a checkpoint, which ends in a barrier, on rank 0 alone",
           both((0,), 77, "ALLREDUCE", 77, 1) + stack(0, ("run_training", 8), ("main", 13)), "all_reduce", [0], in_code=True, words="No other rank is heard of",
           source=CHECKPOINT_ON_ONE_RANK, parting=6, known=True),
    Thread("pytorch/pytorch#88000", "a broadcast on rank 0 alone, the first operation of the group", both((0,), 1, "BROADCAST", 1, 3) + stack(0, ("main", 8)),
           "broadcast", [0], in_code=True, source=BROADCAST_ON_ONE_RANK, parting=7, known=True),
    Thread("pytorch/pytorch#97191", "rank 0 hands over twice as much",
           "".join(watchdog(rank, 1, "ALLREDUCE", 104857600 * (2 if rank == 0 else 1)) + stack(rank, ("run_worker", 13), ("<module>", 18)) for rank in range(8)),
           "all_reduce", list(range(8)), cause="mismatch", in_code=True, words="They are computed under train.py:10, `rank == 0`", source=SIZE_ON_ONE_RANK, parting=10, known=True),
    Thread("pytorch/pytorch#122850", "rank 1 is kept from its operation", watchdog(0, 2, "ALLREDUCE", 12) + status(0, 2, 2, 1) + relay(1, "rank 0", 1, "PG 0"),
           "all_reduce", [0], [1], known=True, unnamed="what keeps rank 1: the log names no line"),
    Thread("pytorch/pytorch#153779", "not found out; rank 0 is two operations ahead",
           watchdog(2, 532339, "BROADCAST", 5164000) + watchdog(1, 532339, "BROADCAST", 5164000) + watchdog(0, 532341, "_ALLGATHER_BASE", 513) +
           newest(2, 532339, 532340, 532338) + newest(1, 532339, 532340, 532338) + newest(0, 532341, 532342, 532340),
           "broadcast", [1, 2], cause="all_arrived", words="Rank 0 is through with that turn"),
    Thread("bghira/SimpleTuner#2712", "ranks are in different calls", MISMATCH + printed(1, "ALLGATHER", 101, "[1]") + ", but " + printed(7, "REDUCE", 0, comma=False) +
           ".Collectives differ\n", "all_gather", [1, 7], cause="mismatch", in_code=True),
    Thread("Lightning-AI/pytorch-lightning#19106", "other keys are logged on each rank",
           traceback(1, "self.trainer.strategy.broadcast(batch)", MISMATCH + printed(1, "BROADCAST", 21, "[1]") + ", but " + printed(0, "BARRIER", 21, comma=False), line=11) +
           traceback(0, "self.log(key, value, sync_dist=True)", MISMATCH + printed(0, "BARRIER", 21, comma=False) + ", but " + printed(1, "BROADCAST", 21, "[1]"), line=10),
           "broadcast", [0, 1], cause="mismatch", in_code=True, source=KEYS_OF_EACH_RANK, parting=9, known=True),
    Thread("pytorch/pytorch#148976", "the same call, counted differently", MISMATCH + printed(1, "BARRIER", 1, comma=False) + ", but " + printed(2, "BARRIER", 0, comma=False) +
           ".\n", "barrier", [1, 2], cause="mismatch", in_code=True, words="different numbers of operations"),
    Thread("NVIDIA/nccl#849", "the ranks of the second node do not come", "RuntimeError: [Rank 0]: Ranks 4, 5, 6, 7 failed to pass monitoredBarrier in 2000000 ms\n",
           "barrier", [0], [4, 5, 6, 7]),
    Thread("NVIDIA/nccl#1434", "the network: an RDMA error", both(range(4), 9, "ALLREDUCE", 9, 8) +
           "host:522:622 [2] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 10.0.0.3<60403> with error 4, opcode 32601\n",
           "all_reduce", [0, 1, 2, 3], cause="all_arrived", in_code=False, words="Got completion from peer", known=True),
    Thread("NVIDIA/nccl#1814", "the network: retries of InfiniBand are used up", both(range(8), 44, "_REDUCE_SCATTER_BASE", 45, 8, newest) +
           "[rank6]: host:986:1338 [6] NCCL WARN NET/IB : Got completion from peer 10.0.0.4<55921> with status=12 opcode=1 len=0 vendor err 129\n",
           "reduce_scatter", list(range(8)), cause="all_arrived", in_code=False, words="Got completion from peer", known=True),
    Thread("NVIDIA/open-gpu-kernel-modules#1355", "NVLink: Xid 145", both(range(2), 310, "ALLREDUCE", 312, 8, newest) + "kernel: NVRM: Xid (PCI:0000:66:00): 145, RLW\n",
           "all_reduce", [0, 1], cause="all_arrived", in_code=False, words="Xid", known=True),
    Thread("NVIDIA/open-gpu-kernel-modules#1150", "a device: Xid 149, and 45 behind it", both(range(4), 8, "ALLREDUCE", 8, 8, newest) +
           "kernel: NVRM: Xid (PCI:0000:dc:00): 45, pid=7, name=python3, Ch 1 caused by previous Xid 149\n", "all_reduce", [0, 1, 2, 3], cause="all_arrived", in_code=False,
           words="Xid", known=True),
    Thread("rwth-i6/returnn#1484", "three of four workers raise, the last waits for them",
           traceback(0, "step()", "RuntimeError: CUDA error: an illegal memory access") + traceback(2, "step()", "RuntimeError: CUDA error: an illegal memory access") +
           traceback(3, "step()", "RuntimeError: CUDA error: an illegal memory access") +
           "[rank1]: Traceback (most recent call last):\n[rank1]:   File \"/job/engine.py\", line 12, in has_data\n[rank1]:     dist.all_reduce(x)\n"
           "[rank1]:   File \"/opt/site-packages/torch/distributed/distributed_c10d.py\", line 2050, in all_reduce\n[rank1]:     work.wait()\n"
           "[rank1]: RuntimeError: [unbound_buffer.cc:81] Timed out waiting 1800000ms for send operation to complete\n",
           "all_reduce", [1], [0, 2, 3], cause="ended", in_code=True, known=True),
    Thread("huggingface/accelerate#3104", "seven ranks gather, one is in forward", "".join(pyspy(rank, *GATHERED) for rank in range(7)) +
           pyspy(7, ("forward", "model.py", 88), ("<module>", "train.py", 9)), "all_gather", list(range(7)), [7]),
    Thread("hiyouga/LlamaFactory#6269", "nothing but that all eight wait", both(range(8), 7753, "_REDUCE_SCATTER_BASE", 7755, 8), "reduce_scatter", list(range(8)),
           cause="all_arrived", in_code=False),
    Thread("XPixelGroup/BasicSR#737", "nothing but that all wait", both(range(4), 808, "ALLREDUCE", 811, 9801523, newest), "all_reduce", [0, 1, 2, 3], cause="all_arrived",
           in_code=False),
    Thread("OFA-Sys/OFA#271", "not found out; rank 0 and 4 are not in the log", "".join(watchdog(rank, 469508, "ALLREDUCE", prefix=False) for rank in (1, 2, 3, 5, 6, 7)),
           "all_reduce", [1, 2, 3, 5, 6, 7], no_record=[0, 4]),
    Thread("thangvubk/SoftGroup#83", "in validation; a PyTorch that prints no number", watchdog(1, None, "ALLREDUCE", prefix=False), "all_reduce", [1], no_record=[0]),
    Thread("huggingface/open-r1#620", "rank 0 is elsewhere (it generates)", "".join(watchdog(rank, 4, "BROADCAST", 112) for rank in range(1, 7)), "broadcast", [1, 2, 3, 4, 5, 6],
           no_record=[0]),
    Thread("mila-iqia/milabench#269", "the log of the second node", prefixed("run.node4 [stderr] ", both((11, 12, 14, 15), 2070, "REDUCE", 2070, 1, group="PG 0 (default_pg)")),
           "reduce", [11, 12, 14, 15], no_record=[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13]),
    Thread("NVIDIA/nccl#1730", "not found out; one rank of 256 has logged", both((118,), 2398459, "ALLREDUCE", 2398578, 8652160, newest), "all_reduce", [118],
           no_record=list(range(118))),
    Thread("vllm-project/vllm#6042", "not found out; one worker of Ray has logged", prefixed("\x1b[36m(RayWorkerWrapper pid=4009)\x1b[0m ",
           both((1,), 158046, "GATHER", 158046, 2867200, group="PG 1")), "gather", [1], words="No other rank is heard of"),
    Thread("om-ai-lab/VLM-R1#257", "the watchdog itself stands still", "[rank6]:[E ProcessGroupNCCL.cpp:1743] [PG ID 0 PG GUID 0(default_pg) Rank 6] ProcessGroupNCCL's watchdog got stuck "
           "for 480 seconds without making progress in monitoring enqueued collectives.\n", "", [], cause="none", words="a call of CUDA or NCCL does not return"),
    Thread("huggingface/accelerate#2000", "the state is saved by the main process alone; the next forward of the others waits for it",
           watchdog(2, 18364, "ALLGATHER", prefix=False) + stack(2, ("train", 7), ("main", 17)), "all_gather", [2], no_record=[0, 1], in_code=True,
           words="In the same function rank 0 issues more than the others: AR102 at train.py:13", source=STATE_ON_ONE_RANK, parting=12, known=True),
    Thread("huggingface/accelerate#3861", "a barrier under is_main_process, before the validation",
           "".join(watchdog(rank, 22, "BROADCAST", 687) + newest(rank, 22, 22, 21) + stack(rank, ("train", 7), ("main", 21)) for rank in (1, 2)), "broadcast", [1, 2],
           no_record=[0], in_code=True, words="In the same function rank 0 issues more than the others: AR101 at train.py:12", source=BARRIER_ON_ONE_RANK, parting=10, known=True),
    Thread("huggingface/transformers#1081", "rank 0 evaluates alone, and loading ends in a barrier for it",
           pyspy(0, ("barrier", C10D, 9), ("load", "train.py", 9), ("main", "train.py", 16)), "barrier", [0], in_code=True, source=BARRIER_IN_LOAD, parting=15, known=True),
    Thread("pytorch/pytorch#54059", "rank 0 validates alone, with the wrapped model, which broadcasts; the others wait in the barrier",
           pyspy(0, *DDP, ("run", "train.py", 12)) + "".join(pyspy(rank, ("barrier", C10D, 9), ("run", "train.py", 13)) for rank in range(1, 8)),
           "broadcast", list(range(8)), cause="mismatch", in_code=True, source=FORWARD_ON_ONE_RANK, parting=10, known=True),
    Thread("allenai/allennlp#4693", "the master alone saves, which ends in a barrier; the others go on to the next reduction",
           pyspy(0, ("barrier", C10D, 9), ("save", "train.py", 18), ("train", "train.py", 13), ("main", "train.py", 27)) +
           "".join(pyspy(rank, ("all_reduce", C10D, 9), ("train", "train.py", 14), ("main", "train.py", 27)) for rank in (1, 2, 3)), "barrier", [0, 1, 2, 3],
           cause="mismatch", in_code=True, source=CHECKPOINT_OF_AN_ENGINE, parting=12, known=True),
    Thread("bghira/SimpleTuner#262", "the main process alone saves, and DeepSpeed's state needs all",
           pyspy(0, ("barrier", C10D, 9), ("save_state", "accelerate/accelerator.py", 3), ("main", "train.py", 11)), "barrier", [0], in_code=True, source=STATE_OF_AN_ENGINE,
           parting=9, known=True),
    Thread("EleutherAI/bergson#444", "rank 0 factors and writes while the others wait, longer than the timeout",
           pyspy(0, ("teardown", "train.py", 8), ("run", "train.py", 12)) + "".join(pyspy(rank, ("all_reduce", C10D, 9), ("run", "train.py", 13)) for rank in (1, 2, 3)),
           "all_reduce", [1, 2, 3], [0], in_code=True, source=SLOW_ON_ONE_RANK, parting=6, known=True),
    Thread("meta-pytorch/torchrec#189", "ranks have different numbers of batches, as their counters show",
           watchdog(4, 4190, "ALLTOALL_BASE", prefix=False) + stack(4, ("train", 7), ("main", 12)) + watchdog(1, 4188, "ALLTOALL_BASE", prefix=False) +
           stack(1, ("train", 7), ("main", 12)), "all_to_all", [1, 4], [], no_record=[0, 2, 3], in_code=True, source=UNEVEN_SAMPLES, parting=5, known=True),
    Thread("pytorch/pytorch#87995", "rank 0 is stuck in its data loader, 31 wait for it",
           pyspy(0, ("wait", "threading.py", 302), ("get", "queue.py", 170), ("__next__", "fairseq/data/iterators.py", 648), ("train", "fairseq_cli/train.py", 274)) +
           "".join(pyspy(rank, ("all_reduce", C10D, 9), ("train_step", "fairseq/trainer.py", 820), ("train", "fairseq_cli/train.py", 279)) for rank in range(1, 32)),
           "all_reduce", list(range(1, 32)), [0], words="it stands at fairseq/data/iterators.py:648", known=True),
    Thread("modelscope/ms-swift#9443", "a batch without pictures leaves out the part of the model that sees",
           MISMATCH + printed(1, "ALLREDUCE", 3104, "[195812480]") + ", but " + printed(0, "ALLREDUCE", 3104, "[51123456]") + ".Collectives differ\n", "all_reduce", [0, 1],
           cause="mismatch", in_code=True, words="different sizes", known=True, unnamed="the branch of the model's forward on which the gradients depend"),
]


class Threads(CliTest):
    def test_all(self):
        for thread in THREADS:
            with self.subTest(thread.name, said=thread.said):
                self.write("job.log", thread.text)
                self.write("train.py", thread.source or "\n")
                result = self.run_allranks("explain", "--format", "json", "job.log", "--path-map", "/job=.")
                self.assertEqual(result.code, 0, result.err)
                answer = json.loads(result.out)
                self.assertEqual((answer["cause"], answer["inCode"]), (thread.cause, thread.in_code), answer["summary"])
                self.assertEqual(answer.get("operation", {"kind": ""})["kind"], thread.kind)
                self.assertEqual(sorted(rank for crowd in answer["waiting"] for rank in crowd["ranks"]), thread.waiting)
                self.assertEqual(sorted(rank for crowd in answer["missing"] for rank in crowd["ranks"]), thread.missing)
                self.assertEqual(answer["noRecord"], thread.no_record)
                self.assertEqual(answer["partings"][0]["line"] if answer["partings"] else None, thread.parting, answer["partings"])
                self.assertEqual(any(words in answer["summary"] for words in ("The ranks diverged at train.py", "They are computed under train.py")), thread.parting is not None,
                                 answer["summary"])
                self.assertIn(thread.words, " ".join([answer["summary"], *answer["evidence"], *answer["notes"]]))

    def test_there_are_enough(self):
        self.assertGreaterEqual(len({thread.name for thread in THREADS}), 20)

    def test_most_that_say_what_it_was_are_told(self):
        """What docs/explain.md says of them."""
        known = [thread for thread in THREADS if thread.known]
        told = [thread for thread in known if not thread.unnamed]
        self.assertTrue(all(thread.parting or thread.in_code is not True or thread.cause == "ended" for thread in told))
        page = (FIXTURES.parent / "docs" / "explain.md").read_text(encoding="utf-8")
        self.assertIn(f"{len(THREADS)} public threads", page)
        self.assertIn(f"{len(told)} of the {len(known)} that found out what it was", page)


if __name__ == "__main__":
    unittest.TestCase.maxDiff = None
    main()
