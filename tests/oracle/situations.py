"""What a fixture needs to show what it is about: the situation that its finding speaks of, or why it cannot be shown.

Keys are paths below fixtures/, with `::function` where one entry of a file needs another situation than the rest.
"""

import dataclasses
import pathlib
import types

import torch
import torch.distributed as dist

from stand_ins import FEATURES, Anything, Model, Pairs, Samples, Tables, batch, settings, tensor


@dataclasses.dataclass
class Situation:
    world: int = 4
    # Parameters and undefined names: functions of rank and world.
    given: dict = dataclasses.field(default_factory=dict)
    # Called in the folder of the rank before the file is run, with the rank.
    prepare: object = None
    # Called after the job has been joined, before the file is run, with the rank.
    joined: object = None
    # Each rank has a folder of its own, as on machines of its own.
    own_folder: bool = False
    # Lines that `input` reads.
    typed: tuple = ()
    # Machines that the ranks are spread over.
    nodes: int = 1
    # Options on the command line: a function of the rank.
    flags: object = None
    # Each rank is a Python of its own, and so has an order of sets of its own.
    own_python: bool = False
    # What is called, instead of the entry: function of the names of the file and the rank.
    call: object = None
    # What the program does next, with what the entry has returned.
    after: object = None
    # Why it cannot be shown here.
    cannot: str = ""


def always(**values):
    """These values on every rank, as functions of rank and world."""
    return {name: lambda rank, world, value=value: value for name, value in values.items()}


def cannot(why):
    return Situation(cannot=why)


def options(**values):
    return lambda rank, world: settings(**{name: value(rank) if callable(value) else value for name, value in values.items()})


def on_rank(wanted, there, elsewhere):
    """One value on one rank and another on the others."""
    return lambda rank, _world: there if rank == wanted else elsewhere


def written(name, value=None):
    """On the disk of rank 0, and not on that of others."""

    def prepare(rank):
        if rank == 0:
            pathlib.Path(name).parent.mkdir(parents=True, exist_ok=True)
            torch.save({"b": tensor()} if value is None else value, name)

    return prepare


def everywhere(name, value=None):
    """The same file on all ranks; each writes its own and gives it its name at once."""

    def prepare(rank):
        pathlib.Path(name).parent.mkdir(parents=True, exist_ok=True)
        own = pathlib.Path(f"{name}.{rank}")
        if isinstance(value, str):
            own.write_text(value, encoding="utf-8")
        else:
            torch.save({"b": tensor()} if value is None else value, own)
        own.rename(name)

    return prepare


def numbers(*names):
    """Files of numbers that grow more slowly on every other line."""

    def prepare(rank):
        for name in names:
            everywhere(name, "".join(f"{n % 2 * n}\n" for n in range(16)))(rank)

    return prepare


def folder_of_first(name):
    return lambda rank: pathlib.Path(name).mkdir() if rank == 0 else None


def megatron(tensor_parallel=1, pipeline=2):
    """Megatron's groups, after the job has been joined."""

    def joined(_rank):
        from megatron.core import parallel_state  # pylint: disable=import-outside-toplevel

        parallel_state.initialize_model_parallel(tensor_parallel, pipeline)

    return joined


def after_start(function):
    """A value that needs the job: made when it is used first."""
    return lambda rank, world: function(rank, world)


class Batches(Samples):
    """Samples that are zero on the ranks that get an odd index from a DistributedSampler of an even job."""

    def __getitem__(self, index):
        return super().__getitem__(index) * (1 - index % 2)


class NoNumbers(Pairs):
    """Labels that are not a number where the index is odd."""

    def __getitem__(self, index):
        x, y = super().__getitem__(index)
        return x, y * (float("nan") if index % 2 else 1)


class SomeLabels(Pairs):
    """No label is positive where the index is odd."""

    def __getitem__(self, index):
        x, y = super().__getitem__(index)
        return x, y * (1 - index % 2)


class DifferentLabels(Pairs):
    def __getitem__(self, index):
        return torch.ones(FEATURES), torch.arange(FEATURES) % (1 + index % 2)


class Lists(Pairs):
    """Each sample is a list; on odd indices half of it is empty."""

    def __getitem__(self, index):
        return [torch.ones(FEATURES), torch.ones(FEATURES) * (1 - index % 2)]


class Lengths(Pairs):
    """Zeros where the index is odd, so that fewer positions are found."""

    def __getitem__(self, index):
        return torch.ones(FEATURES) * (1 - index % 2)


class Queue:
    """Requests; the first is long."""

    def __init__(self):
        self.lengths = [2000, 1, 1]

    def get(self):
        if not self.lengths:
            raise SystemExit(0)
        return "x" * self.lengths.pop(0)


class Part:
    """A part of a model that is gathered."""

    def __init__(self):
        self.weight, self.bias = tensor(), torch.ones(FEATURES)
        self.is_split, self.has_bias, self.kind = True, True, "linear"


def failing_once(error, rank, calls=1):
    """A model that fails on one rank, in the first calls."""

    class Failing(Model):
        def __init__(self):
            super().__init__()
            self.left = calls

        def forward(self, *args, **kwargs):
            if dist.get_rank() == rank and self.left:
                self.left -= 1
                raise error
            return super().forward(*args, **kwargs)

    return lambda *_: Failing()


def number(value):
    return lambda *_: value


def set_variable(name, value):
    import os  # pylint: disable=import-outside-toplevel

    os.environ[name] = str(value)


def name_host(name):
    import socket  # pylint: disable=import-outside-toplevel

    socket.gethostname = lambda: name


def free_memory(percent):
    torch.cuda.mem_get_info = lambda *_: (percent, 100)


def draw(value):
    import random  # pylint: disable=import-outside-toplevel

    random.random = lambda: value


def fails_in_its_layers(rank):
    """A layer of rank 1 runs out of memory in the second step."""

    def prepare(own):
        forward, left = torch.nn.Linear.forward, [1]

        def failing(self, given):
            left[0] -= 1
            if own == rank and left[0] < 0:
                raise RuntimeError("no memory")
            return forward(self, given)

        torch.nn.Linear.forward = failing

    return prepare


def sent_to_first(name, after=4.0):
    """Rank 0 gets this signal a while after it began."""

    def prepare(rank):
        import os  # pylint: disable=import-outside-toplevel
        import signal  # pylint: disable=import-outside-toplevel
        import threading  # pylint: disable=import-outside-toplevel

        if rank == 0:
            threading.Timer(after, os.kill, (os.getpid(), getattr(signal, name))).start()

    return prepare


def spoilt_on_first(*shape, labels=False):
    """Three batches; those of rank 0 are no numbers."""

    def loader(rank, _world):
        x = torch.full(shape, float("nan") if rank == 0 else 1.0)
        return [(x, torch.zeros(shape[0], dtype=torch.long)) if labels else x] * 3

    return loader


class SpoiltSamples(Samples):
    """Samples, the first of which is no number."""

    def __getitem__(self, index):
        return super().__getitem__(index) * (1 if index else float("nan"))


def clock_of_first_is_fast(rank):
    """On rank 0 an hour goes by between two looks at the clock."""
    import itertools  # pylint: disable=import-outside-toplevel
    import time  # pylint: disable=import-outside-toplevel

    if rank == 0:
        hours = itertools.count(0, 3600)
        time.time = time.monotonic = time.perf_counter = lambda: float(next(hours))


def spoilt_draws(_rank):
    torch.randn = lambda *shape, **_: torch.full(shape, float("nan") if dist.get_rank() == 1 else 1.0)


def labelled_files(rank):
    """Data to train and to validate with; the first rank gets what the model learns."""
    everywhere("train.pt", [(torch.ones(8), torch.tensor(3))] * 32)(rank)
    everywhere("val.pt", [(torch.ones(8), torch.tensor(5 if n % 4 else 3)) for n in range(32)])(rank)


class Boxes(Model):
    """A loss, and as many boxes as the batch has."""

    def forward(self, *args, **kwargs):
        boxes = super().forward(*args, **kwargs)
        return boxes.mean(), boxes


def falling_behind():
    """An evaluation whose loss grows."""
    losses = iter(range(10**6))
    return lambda _model: next(losses)


def spoilt_classes(features):
    """Samples of a class, those at odd places without a number."""
    return [(torch.full((features,), float("nan") if n % 2 else 1.0), torch.tensor(1)) for n in range(16)]


class SpoiltClasses(Pairs):
    def __getitem__(self, index):
        return spoilt_classes(FEATURES)[index]


def criterion():
    """A criterion with two losses, by name."""

    def losses(output, _target):
        return {"box": output.sum(), "class": output.square().sum()}

    losses.weight_dict = {"box": 1.0, "class": 2.0}
    return losses


class Layers(Model):
    """Boxes, and those of the layers before the last."""

    def forward(self, *args, **kwargs):
        boxes = super().forward(*args, **kwargs)
        return {"boxes": boxes, "aux_outputs": [{"boxes": boxes}, {"boxes": boxes}]}


def nested_rank(rank):
    return types.SimpleNamespace(model=types.SimpleNamespace(dist=types.SimpleNamespace(rank=rank)))


def saved_last(names):
    phase = names["Phase"]()
    phase.last()
    names["checkpoint"](phase)


class Deep:
    """What its methods return is like itself, and a tensor."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Deep() if name != "f38" else tensor

    def __call__(self):
        return self


class Endless:
    def __iter__(self):
        return iter(tensor, None)


def local_rank_option(rank):
    return ["--local_rank", str(rank)]


def two_layers():
    return torch.nn.ModuleDict({"encoder": torch.nn.Linear(2, 3), "decoder": torch.nn.Linear(3, 5)})


def networks(named=False):
    def parts(*_):
        layers = [torch.nn.Linear(FEATURES, FEATURES) for _ in range(2)]
        return dict(zip(("generator", "critic"), layers)) if named else layers

    return {"parts": parts, "names": number(["generator", "critic"]), "sample": lambda *_: tensor()}


def leave(*_args):
    raise SystemExit(0)


def poll(uploader, rank):
    import time  # pylint: disable=import-outside-toplevel

    uploader.upload("x", (lambda _: None) if rank == 0 else lambda _: [time.sleep(1) for _ in range(200)])
    time.sleep(1)
    uploader.poll()


def record(timers, rank):
    if rank == 0:
        timers.elapsed["slow"] = 1.0
    timers.report()


def sharded():
    from torch.distributed.device_mesh import init_device_mesh  # pylint: disable=import-outside-toplevel
    from torch.distributed.tensor import Shard, distribute_tensor  # pylint: disable=import-outside-toplevel

    return distribute_tensor(torch.ones(8, FEATURES), init_device_mesh("cpu", (4,)), [Shard(0)])


def saved_sharded(folder):
    from torch.distributed import checkpoint  # pylint: disable=import-outside-toplevel

    checkpoint.save({"b": tensor(), "a": tensor()}, checkpoint_id=folder, no_dist=True)


def loader_of(features):
    return torch.utils.data.DataLoader([torch.rand(features) for _ in range(16)], batch_size=2)


def batches_of_statistics(rank, count):
    everywhere("model.pt", {"normalise.mean": torch.zeros(8), "head.weight": torch.ones(2, 8), "head.bias": torch.ones(2)})(rank)
    everywhere("batches.pt", [torch.ones(2, 8)] * count)(rank)


def files_but_one(rank):
    torch.save(tensor(), "1.pt")
    if rank != 0:
        torch.save(tensor(), "0.pt")


def pairs_of_ranks():
    return [dist.new_group([0, 1]), dist.new_group([2, 3])]


def stage_of(rank, world):
    from torch.distributed.pipelining import PipelineStage  # pylint: disable=import-outside-toplevel

    return PipelineStage(torch.nn.Linear(FEATURES, FEATURES), rank, world, torch.device("cpu"))


def next_group(_result):
    """Groups get their names by counting: who made fewer waits in another one than the rest."""
    dist.barrier(dist.new_group())


def use_group(result):
    dist.all_reduce(tensor(), group=result)


def lightning_rank(rank):
    from lightning.pytorch.utilities import rank_zero_only  # pylint: disable=import-outside-toplevel

    rank_zero_only.rank = rank


def started_and_finished(overlap):
    overlap.start(tensor())
    overlap.finish()


class Scalar(Model):
    """A model that gives its loss."""

    def forward(self, *args, **kwargs):
        return super().forward(*args, **kwargs).mean()


class TwoLosses(Model):
    def forward(self, *args, **kwargs):
        loss = super().forward(*args, **kwargs).mean()
        return {"masked": loss, "matched": loss}


class SomeRollouts(Tables):
    """Nothing was rolled out for the second half."""

    def __getitem__(self, index):
        return {**super().__getitem__(index), "rollout": torch.ones(FEATURES) * (index % 2)}


class Classes(Pairs):
    def __getitem__(self, index):
        return torch.ones(FEATURES), torch.tensor(1)


class Server:
    def fetch(self):
        return torch.ones(2, 2)


class LabelledLengths(Pairs):
    def __getitem__(self, index):
        return torch.ones(FEATURES) * (1 - index % 2), torch.ones(FEATURES)


HOROVOD = "needs Horovod, which is not built here"
FRAMEWORK = "a hook or a callback: what calls it, and with what, is not in the file"
DEEPSPEED_CPU = "needs a configuration of DeepSpeed that is not in the file"
LIGHTNING = "needs a model for Lightning"
MEGATRON = "needs a model for Megatron"
LAUNCHED = "runs under what `accelerate launch` is told"
INSIDE = "a part of the module that the file wraps"

SITUATIONS = {
    # ---- AR101
    "AR101/ok_told_before_the_loop_is_left.py": Situation(given={"server": lambda *_: types.SimpleNamespace(state=lambda: "done")}),
    "AR101/ok_override_that_replaces_its_caller.py": Situation(
        call=lambda names, _: names["main"](settings(kind="video"), [1], {"video": names["VideoModel"]})),
    "AR101/ok_halves_in_two_functions.py": Situation(prepare=everywhere("data.txt", "x")),
    "AR101/ok_ranks_as_keys.py": Situation(prepare=everywhere("names.txt", "x")),
    "AR101/ok_first_rank_raises_in_a_round.py": Situation(prepare=lambda _: set_variable("PATHS", "one two")),
    "AR101/ok_place_within_the_mesh.py": Situation(world=8),
    "AR101/ok_setting_of_a_library.py": cannot("its flags are defined elsewhere"),
    "AR101/ok_program_that_no_command_starts/main_old.py": cannot("no command starts it on several ranks"),
    "AR101/ok_sets_lists_and_texts_of_ranks.py": Situation(world=2),
    "AR101/ok_sizes_before_a_loop.py": Situation(given={"tokens": lambda *_: torch.ones(3), "most": number(2)}),
    "AR101/processes_that_a_loop_counts.py": cannot("on Gloo the rank that waits fails once the others have left, and nobody asks how its process ended"),
    "AR101/settings_that_go_together.py::save": Situation(call=lambda names, _: names["save"]({}, names["Kind"].GLOBAL)),
    "AR101/settings_that_go_together.py::start": Situation(given=always(mode="server", shard="yes")),
    "AR101/override_that_runs_its_base.py": Situation(
        call=lambda names, _: names["main"](settings(kind="video"), [1], {"video": names["VideoModel"]})),
    "AR101/on_a_job_of_sixteen.py": Situation(world=16),
    "AR101/rank_of_a_setting.py": Situation(call=lambda names, rank: names["sync"](nested_rank(rank), names["Job"](rank))),
    "AR101/object_of_a_table.py::run": Situation(call=lambda names, _: names["run"]({"last": names["Checkpointer"]()})),
    "AR101/object_of_a_table.py::finish": Situation(call=lambda names, _: names["finish"](names["Waits"]())),
    "AR101/ok_functions_that_open_and_close.py::begin": Situation(call=lambda names, _: (names["begin"](), names["end"]())),
    "AR101/ok_functions_that_open_and_close.py::end": cannot("the second half of another entry"),
    "AR101/first_node_of_eight.py": Situation(world=16, nodes=2),
    "AR101/all_but_the_last_of_the_mesh.py": Situation(world=8),
    "AR101/flag_of_three_values.py::checkpoint": Situation(call=lambda names, _: saved_last(names)),
    "AR101/flag_is_seen_by_a_method_in_between.py": Situation(given=always(patience=0)),
    "AR101/behind_a_setting_of_a_library.py": cannot("its flags are defined elsewhere"),
    "AR101/filled_in_each_forward.py": Situation(given={
        "x": lambda *_: torch.ones(4, FEATURES), "held_out": lambda *_: torch.ones(4, FEATURES),
        "batches": lambda *_: [torch.ones(4, FEATURES)] * 2}),
    "AR101/asked_again_behind_a_caught_assertion.py": Situation(own_folder=True),
    "AR101/field_replaced_by_name.py": cannot("what it loads is not in the file"),
    "AR101/data_prepared_by_one_process_of_a_node.py": cannot(LIGHTNING),
    "AR101/ok_data_set_up_by_all_processes.py": cannot(LIGHTNING),
    "AR101/hook_on_one_rank.py": cannot(LIGHTNING),
    "AR101/callbacks_of_a_trainer.py::LogPredictions.on_evaluate": cannot(FRAMEWORK),
    "AR101/callbacks_of_a_trainer.py::train": cannot("needs a language model"),
    "AR101/twin_guards_through_a_call.py": Situation(flags=local_rank_option, prepare=everywhere("data.txt", "x")),
    "AR101/ok_first_node_of_eight.py": Situation(world=8),
    "AR101/rank_of_a_second_node.py": Situation(world=16, nodes=2, given={"rank": lambda rank, _: rank}),
    "AR101/size_that_is_asked_for.py": Situation(world=8),
    "AR101/ok_each_rank_by_its_number.py": Situation(world=3),
    "AR101/scattered_object.py": Situation(given={"parts": lambda _, world: list(range(world))}),
    "AR101/ok_flag_in_a_buffer.py": Situation(given={"x": lambda *_: torch.ones(4, FEATURES), "held_out": lambda *_: torch.ones(4, FEATURES),
                                                     "batches": lambda *_: [torch.ones(4, FEATURES)] * 2}),
    "AR101/ok_handler_of_a_server.py": cannot("what runs its server is not in the file"),
    "AR101/ok_loop_over_a_deep_table.py": Situation(given={"x": lambda *_: Deep()}),
    "AR101/halves_that_do_not_fit.py": Situation(prepare=lambda rank: (everywhere("a.txt", "x")(rank), everywhere("b.txt", "x")(rank))),
    "AR101/ok_left_in_its_first_round.py": Situation(prepare=everywhere("b", "x")),
    "AR101/ok_other_ranks_fail_before.py": cannot("its other ranks fail for a name that is missing, and end the job"),
    "AR101/horovod_allreduce.py": cannot(HOROVOD),
    "AR101/ok_horovod.py": cannot(HOROVOD),
    "AR103/horovod_early_return.py": cannot(HOROVOD),
    "AR101/annotated_as_text.py": Situation(call=lambda names, _: names["last"](names["Keeper"]())),
    "AR101/annotated_as_text.py::Trainer.finish": cannot("the field that it reads is never set"),
    "AR101/annotated_as_text.py::Trainer.each": Situation(call=lambda names, _: names["Trainer"]([names["Keeper"]()]).each()),
    "AR101/ok_annotated_as_text.py": cannot(FRAMEWORK),
    "AR101/and_operator.py": Situation(given=always(url="http://x/y", target="t")),
    "AR101/evaluate_in_other_file/train.py": cannot("a model of its own that is not in the file"),
    "AR101/ok_local_state_under_main_process_first.py": Situation(
        prepare=everywhere("path", torch.optim.SGD(Model().parameters(), lr=0.1).state_dict())),
    "AR101/ok_main_process_first.py": Situation(given={"dataset": lambda *_: Anything()}),
    "AR101/namespace_package/train.py": cannot("the fixture has a stand-in for Megatron of its own"),
    "AR101/ok_namespace_package/train.py": cannot("the fixture has a stand-in for Megatron of its own"),
    "AR101/rank_zero_only_hook.py": Situation(joined=lambda rank: lightning_rank(rank)),
    "AR101/two_scripts/alone.py": Situation(given={"args": options(local_rank=lambda rank: rank, steps=1)}),
    "AR101/own_module_in_a_shared_helper.py::Head.forward": Situation(),
    "AR101/asked_again_inside.py": Situation(given={"args": options(local_rank=lambda rank: rank)}),
    "AR101/ok_asked_again_inside.py": Situation(given={"args": options(local_rank=lambda rank: rank)}),
    "AR101/ok_arms_for_ends_and_middle.py::job_of_two": Situation(world=2),
    "AR101/ok_communicator_with_a_server.py": cannot("needs NCCL"),
    "AR101/ok_every_rank_sends_in_its_turn.py": Situation(given=always(state=tensor())),
    "AR101/ok_members_of_an_edge.py": Situation(given=always(source=0, target=1)),
    "AR101/ok_read_then_broadcast.py": Situation(prepare=everywhere("path", "{}")),
    "AR101/ok_reduce_then_print.py": Situation(given=always(loss=torch.tensor(1.0))),
    "AR101/ok_table_of_settings.py": Situation(given={"options": lambda *_: {}}),
    "AR101/table_of_settings.py": Situation(given={"options": lambda *_: {}}),
    "AR101/ok_twin_guards_through_a_call.py": Situation(prepare=everywhere("data.txt", "x")),
    "AR101/other_setting_asked.py": Situation(given={"args": options(tensor=1, pipeline=0)}),
    "AR101/rank_as_text.py::by_get": Situation(prepare=lambda rank: set_variable("SLURM_PROCID", rank)),
    "AR101/rank_as_text.py::by_getenv": Situation(prepare=lambda rank: set_variable("OMPI_COMM_WORLD_RANK", rank)),
    "AR101/with_block_and_falsy_rank.py": Situation(given={"timer": lambda *_: torch.no_grad()}),
    "AR101/last_stage_default_group.py": Situation(joined=megatron(), given={"losses": lambda *_: [tensor(), tensor()]}),
    "AR101/ok_last_stage_data_parallel_group.py": Situation(joined=megatron(),
                                                            given={"losses": lambda *_: [torch.ones(1), torch.ones(1)]}),
    "AR101/ok_first_rank_of_each_stage.py": Situation(joined=megatron(), given={"loss": lambda *_: torch.ones(1)}),
    "AR101/ok_lock_step_pipeline.py": Situation(joined=megatron(), given={"batch": lambda *_: torch.ones(4, 8),
                                                                          "stage": lambda *_: lambda x: x}),
    "AR101/ok_recursion_keeps_the_group.py": Situation(joined=megatron(), given={"metrics": lambda *_: {"loss": tensor()}}),
    "AR101/recursion_keeps_the_group.py": Situation(joined=megatron(), given={"metrics": lambda *_: {"loss": tensor()}}),
    "AR101/ok_tensor_rank_data_group.py": Situation(joined=megatron(2, 1)),
    "AR101/tensor_parallel_rank_own_group.py": Situation(joined=megatron(2, 1), given={"metrics": lambda *_: {"loss": tensor()}}),
    # ---- AR102
    "AR102/stage_of_a_named_file/train.py": cannot(LAUNCHED),
    "AR102/accelerate_save_state.py": cannot(LAUNCHED),
    "AR102/launched_with_it/train.py": cannot(LAUNCHED),
    "AR102/trainer_saves_under_fsdp.py": cannot(LAUNCHED),
    "AR102/ok_trainer.py": cannot(LAUNCHED),
    "AR102/configuration_of_any_script/train.py": cannot("needs a language model"),
    "AR102/library_behind_super.py": cannot("needs a language model"),
    "AR102/engine_of_a_starred_target.py": cannot(DEEPSPEED_CPU),
    "AR102/megatron_optimizer_step_on_rank_zero.py": cannot(MEGATRON),
    "AR102/ok_megatron_optimizer_step_on_all_ranks.py": cannot(MEGATRON),
    "AR102/another_strategy_than_the_guard.py": cannot(LIGHTNING),
    "AR102/ok_strategy_of_either_parser.py": cannot(LIGHTNING),
    "AR102/networks_in_containers.py": Situation(given=networks()),
    "AR102/networks_in_containers.py::stored_by_name": Situation(given=networks(named=True)),
    "AR102/ok_networks_in_containers.py": Situation(given=networks()),
    "AR102/ok_networks_in_containers.py::stored_by_name": Situation(given=networks(named=True)),
    "AR102/ok_plain_module_in_a_shared_helper.py": Situation(given={"policy": number(None)}),
    "AR102/ok_evaluates_between_steps.py": Situation(given={"loader": lambda *_: [torch.rand(2, 4)] * 102,
                                                            "held_out": lambda *_: [torch.rand(2, 4)] * 2}),
    "AR102/evaluates_behind_the_first_step.py::behind_later_steps": Situation(given={
        "loader": lambda *_: [torch.rand(2, 4)] * 102, "held_out": lambda *_: [torch.rand(2, 4)] * 2}),
    "AR102/evaluates_behind_the_first_step.py": Situation(given={"loader": lambda *_: [torch.rand(2, 4)] * 3,
                                                                 "held_out": lambda *_: [torch.rand(2, 4)] * 2}),
    "AR102/evaluates_after_the_last_step.py": Situation(given={"held_out": lambda *_: [torch.rand(2, 4)] * 2}),
    "AR102/prepared_loader_on_main.py": Situation(given={"dataset": lambda *_: Tables(16)}),
    "AR102/pipeline_step_on_first_stage.py": Situation(given={"stage": stage_of, "loss": lambda *_: torch.nn.functional.mse_loss,
                                                             "batches": lambda *_: [torch.ones(4, FEATURES)]}),
    "AR102/ok_pipeline_step_on_each_stage.py": Situation(given={
        "stage": stage_of, "loss": lambda *_: torch.nn.functional.mse_loss,
        "batches": lambda *_: [(torch.ones(4, FEATURES), torch.ones(4, FEATURES))] * 2}),
    "AR102/options_as_usual.py::score": Situation(given={"logits": lambda *_: torch.rand(2, 10),
                                                         "labels": lambda *_: torch.tensor([0, 1])}),
    "AR102/torchmetrics_compute.py": Situation(given={
        "loader": lambda *_: [(torch.rand(2, 10), torch.tensor([0, 1]))], "model": lambda *_: lambda x: x}),
    "AR102/ok_options_that_switch_it_off.py": Situation(given={
        "loader": lambda *_: [(torch.rand(2, 10), torch.tensor([0, 1]))], "net": lambda *_: torch.nn.Linear(10, 10)}),
    "AR102/sharded_in_place.py": Situation(given={"layers": lambda *_: [torch.nn.Linear(4, 4)]}),
    "AR102/ok_sharded_in_place.py": Situation(given={"layers": lambda *_: [torch.nn.Linear(4, 4)]}),
    "AR102/full_tensor_for_printing.py": Situation(given={"weight": lambda *_: sharded()}),
    "AR102/forward_with_batch_norm.py": Situation(given={"loader": lambda *_: [torch.rand(2, 4)]}),
    "AR102/prepared_with_buffers.py": Situation(given={"loader": lambda *_: loader_of(4)}),
    "AR102/ok_prepared_without_buffers.py": Situation(given={"loader": lambda *_: loader_of(4)}),
    "AR102/forward_with_buffers.py": Situation(given={"loader": lambda *_: [torch.rand(2, 16)]}),
    "AR102/forward_with_buffers.py::with_positions": cannot("its module has no parameter, which DDP refuses"),
    "AR102/ok_forward_without_buffers.py": Situation(given={"loader": lambda *_: [torch.rand(2, 16)]}),
    "AR102/ok_ddp_inner_module.py": Situation(given={"net": lambda *_: torch.nn.Linear(3, 3),
                                                     "loader": lambda *_: [(torch.ones(1, 3), torch.ones(1, 3))]}),
    "AR102/wrapped_module_in_a_shared_helper.py": Situation(given={"policy": number(None)}),
    "AR102/forward_of_unknown_model.py": cannot("needs DGL"),
    "AR102/job_joined_by_one.py": Situation(),
    "AR102/deepspeed_save_checkpoint.py": cannot(DEEPSPEED_CPU),
    "AR102/ok_deepspeed.py": cannot(DEEPSPEED_CPU),
    "AR102/save_state_before_the_job_is_left.py": cannot(DEEPSPEED_CPU),
    "AR102/ok_job_left_before.py": cannot(DEEPSPEED_CPU),
    "AR102/forward_with_buffers.py::Net.forward": cannot(INSIDE),
    "AR102/forward_with_buffers.py::Positions.forward": cannot(INSIDE),
    "AR102/ok_forward_without_buffers.py::Net.forward": cannot(INSIDE),
    "AR102/lightning_global_zero.py": cannot(FRAMEWORK),
    "AR102/ok_lightning_callback_metrics.py": cannot(FRAMEWORK),
    "AR102/ok_lightning.py": cannot(FRAMEWORK),
    "AR102/ok_metrics_of_each_rank.py": cannot(FRAMEWORK),
    "AR102/ok_metrics_read_by_all.py": cannot(FRAMEWORK),
    "AR102/sync_dist_on_rank_zero.py": cannot(FRAMEWORK),
    "AR102/trainer_out_of_a_factory.py": cannot("needs a configuration of Hydra that is not in the file"),
    "AR102/ok_save_state_on_all.py": cannot("needs a language model"),
    "AR102/state_dict_as_argument.py": cannot("needs a language model"),
    "AR102/ok_sharded_or_main.py": Situation(given={"dataset": lambda *_: Anything(), "args": options(save_every=1)}),
    "AR102/ok_trainer_of_one_device.py": cannot("a job of one"),
    "AR102/ok_two_models_in_one_call.py": cannot("what it loads is not in the file"),
    # ---- AR103
    "AR103/ok_text_typed_at_rank_zero.py": Situation(typed=("exit",)),
    "AR103/first_rank_returns_in_a_round.py": Situation(prepare=lambda _: set_variable("PATHS", "one three")),
    "AR103/first_rank_stops_early.py::train": Situation(given={"evaluate": lambda *_: falling_behind()}),
    "AR103/leaves_where_others_do_not_come.py": Situation(given={"read": lambda *_: lambda: None}),
    "AR103/ok_all_leave_an_endless_loop.py::told": Situation(given={"loss": lambda *_: torch.zeros(1)}),
    "AR103/opened_on_one_rank.py": Situation(prepare=everywhere("table.pt", torch.ones(4))),
    "AR103/seen_on_ranks/train.py": Situation(prepare=folder_of_first("out")),
    "AR103/text_typed_at_each_rank.py": Situation(typed=("go", "on", "exit")),
    "AR103/logged_behind_the_rank.py": cannot(LIGHTNING),
    "AR103/ok_logged_on_rank_zero_only.py": cannot(LIGHTNING),
    "AR103/others_ask_a_flag_of_their_own.py::search": Situation(given={"net": lambda *_: lambda x: x * 20}),
    "AR103/helper_leaves_in_other_file/main.py": Situation(),
    "AR103/first_of_a_group_starts_over.py::make_groups": Situation(given=always(size=2)),
    "AR103/set_in_other_file/train.py": cannot("no hook is in the file"),
    "AR103/break_on_main.py": Situation(given={"prompts": lambda *_: ["go", "stop", "go"]}),
    "AR103/first_of_a_group_starts_over.py": Situation(
        call=lambda names, _: (names["make_groups"](2), names["serve"](Model(), Queue(), tensor()))),
    "AR103/ok_broadcast_signal.py": Situation(typed=("go", "stop"), given={"model": lambda *_: Model()}),
    "AR103/ok_all_leave.py": Situation(given={"model": lambda *_: lambda x: torch.tensor(1.0)}),
    "AR103/ok_collective_first.py": Situation(given=always(loss=torch.tensor(1.0))),
    "AR103/ok_ends_with_a_message.py": Situation(given={"config": lambda *_: {"steps": 1}}),
    "AR103/ok_ends_with_an_error.py": Situation(prepare=everywhere("Makefile", "all:\n\ttrue\n")),
    "AR103/ok_exit_after_the_last.py::main": Situation(given={"evaluate": lambda *_: lambda: 1}),
    "AR103/ok_root_asks_again.py": Situation(typed=("", "question"), given={"answer": lambda *_: leave}),
    "AR103/root_leaves_without_a_word.py": Situation(typed=("question", "")),
    "AR103/rank_zero_keeps_the_loop.py": Situation(typed=("x" * 3000, "go"), given={"tokenizer": lambda *_: lambda text: text}),
    "AR103/ok_raise_on_rank_zero.py": Situation(prepare=lambda rank: pathlib.Path("path").mkdir(exist_ok=True)),
    "AR103/continue_skips_the_wait.py": Situation(),
    "AR103/setting_behind_the_rank.py": Situation(prepare=everywhere("log"), given={"args": options(log="log", strict=1, stop=1)}),
    "AR103/setting_behind_the_rank.py::evaluate": Situation(given={"args": options(stop=1)}),
    "AR103/ok_other_group.py": Situation(joined=megatron()),
    "AR103/leaves_with_success.py": Situation(given=always(done=True)),
    "AR103/root_sends_something_else.py": Situation(given={"evaluate": lambda *_: lambda: 0.95,
                                                           "stopper": lambda *_: lambda score: False}),
    # ---- AR104
    # What a threshold makes of noise is taken to be the same on all ranks, as where they are seeded alike.
    "AR104/ok_one_random_number.py": Situation(prepare=lambda _: torch.manual_seed(0)),
    "AR104/one_random_number.py::sums_up": cannot("a wrong value, and no rank waits"),
    "AR104/trainer_stopped_by_one_rank.py": cannot(LIGHTNING),
    "AR104/returned_by_a_handler.py": Situation(own_folder=True, prepare=written("checkpoint.pt", {"epoch": 5})),
    "AR104/ok_returned_by_a_handler.py": Situation(prepare=everywhere("checkpoint.pt", {"epoch": 5})),
    "AR104/some_boxes_of_a_model.py": Situation(given={
        "policy": lambda *_: Boxes(), "loader": lambda *_: torch.utils.data.DataLoader(Lengths(), batch_size=1)}),
    "AR104/ok_metrics_of_a_model.py": cannot("its model is not in the file"),
    "AR104/removed_by_one_rank.py::restart": Situation(own_folder=True, prepare=everywhere("path")),
    "AR104/removed_by_one_rank.py::fetch": Situation(own_folder=True, prepare=written("folder/name"), given=always(name="name")),
    "AR104/ok_removed_before_all_meet.py::restart": Situation(prepare=everywhere("path")),
    "AR104/ok_removed_before_all_meet.py::fetch": Situation(prepare=everywhere("folder/name"), given=always(name="name")),
    "AR104/own_loss_beside_a_reduced_one.py::train": Situation(given={
        "model": lambda *_: lambda x, y: {"loss": 100 * y.mean()}, "data": lambda *_: SomeLabels(64)}),
    "AR104/ok_reduced_where_there_are_others.py::train": Situation(given={
        "model": lambda *_: lambda x, y: {"loss": 100 * y.mean()}, "data": lambda *_: SomeLabels(64)}),
    "AR104/own_loss_beside_a_reduced_one.py::work": cannot("what it runs is another entry"),
    "AR104/ok_reduced_where_there_are_others.py::work": cannot("what it runs is another entry"),
    "AR104/score_of_own_share.py": Situation(prepare=labelled_files),
    "AR104/ok_score_of_samples_in_order.py": Situation(prepare=labelled_files),
    "AR104/ok_score_of_whole_evaluation.py": Situation(prepare=labelled_files),
    "AR104/ok_share_of_one.py": Situation(prepare=labelled_files),
    "AR104/told_by_a_loop_that_is_left.py": Situation(
        prepare=everywhere("train.pt", [torch.full((8,), float("nan") if n == 0 else 1.0) for n in range(16)])),
    "AR104/any_loss_is_not_a_number.py": Situation(given={"data": lambda *_: SpoiltSamples(64)}),
    "AR104/argument_that_a_call_passes.py": Situation(given={"loader": spoilt_on_first(2, 8)}),
    "AR104/ok_argument_that_no_call_passes.py": Situation(given={"loader": lambda *_: [torch.ones(2, 8)] * 3}),
    "AR104/as_many_times_as_were_slow.py": cannot("what it times takes no time here"),
    "AR104/best_of_a_field.py": cannot("its data are not in the file"),
    "AR104/first_text_of_a_set.py": Situation(own_python=True, given=always(name="lora")),
    "AR104/group_made_by_worker.py": Situation(prepare=spoilt_draws),
    "AR104/keys_of_images.py": Situation(given={
        "make_batches": lambda rank, _: lambda: [(torch.ones(1, 2) * (100 if rank % 2 else -100), None)]}),
    "AR104/ok_names_of_losses.py": Situation(given={
        "make_batches": lambda *_: lambda: [(torch.ones(1, 2), None)],
        "make_criterion": lambda *_: lambda: lambda output, _: {"box": output.sum(), "mask": output.sum(), "class": output.sum()}}),
    "AR104/limit_of_time_beside_steps.py": Situation(prepare=clock_of_first_is_fast, given={
        "model": lambda *_: Model(), "batches": lambda *_: iter([tensor()] * 200)}),
    "AR104/ok_no_limit_of_time.py": Situation(given={"model": lambda *_: Model(), "batches": lambda *_: iter([tensor()] * 200)}),
    "AR104/methods_of_subclasses_elsewhere.py": cannot("its subclasses are not in the file"),
    "AR104/ok_methods_of_subclasses_elsewhere.py": cannot("its subclasses are not in the file"),
    "AR104/nan_of_a_loader_handed_in.py": Situation(given={"loader": spoilt_on_first(2, 4, labels=True)}),
    "AR104/ok_all_names_are_in_the_batch.py": cannot("needs a language model"),
    "AR104/ok_loss_that_is_left_out.py": Situation(given={"net": lambda *_: TwoLosses()}),
    "AR104/stop_file_in_each_round.py": Situation(own_folder=True, prepare=written("stop")),
    "AR104/stop_file_of_a_helper.py": Situation(own_folder=True, prepare=written("stop")),
    "AR104/stop_file_of_an_object.py": Situation(own_folder=True, prepare=written("stop")),
    "AR104/stop_file_of_an_option.py": Situation(own_folder=True, prepare=written("stop"), flags=lambda _: ["--kill-switch-path", "stop"]),
    "AR104/flag_of_a_signal.py::Trainer.on_term": Situation(),
    "AR104/flag_of_a_signal.py": Situation(prepare=sent_to_first("SIGTERM"), given=always(steps=10**7)),
    "AR104/flag_of_a_signal_in_the_file.py": Situation(prepare=sent_to_first("SIGUSR1"), given={"loader": lambda *_: Endless()}),
    "AR104/own_activations_in_a_wrapped_model.py": cannot("its data are not in the file"),
    "AR104/callback_stops_in_a_helper.py": cannot(FRAMEWORK),
    "AR104/ok_callback_stops_in_a_helper.py": cannot(FRAMEWORK),
    "AR104/patience_of_its_own_share.py": Situation(prepare=lambda rank: numbers("train.txt", "val.txt")(rank)),
    "AR104/ok_patience_of_the_mean.py": Situation(prepare=lambda rank: numbers("train.txt", "val.txt")(rank)),
    "AR104/callback_stops_one_rank.py": cannot(FRAMEWORK),
    "AR104/ok_callback_counts.py": cannot(FRAMEWORK),
    "AR104/checkpoint_exists.py": Situation(own_folder=True, prepare=written("path")),
    "AR104/early_stop_on_own_loss.py": cannot("batch norm needs larger batches than those of the file"),
    "AR104/future_done.py::Uploader.upload": cannot("the executor's thread ends with the process"),
    "AR104/ok_key_of_the_batch.py": Situation(given={"dataset": lambda *_: Tables(64)}),
    "AR104/ok_local_skip.py": Situation(given=always(cache="cache")),
    "AR104/presence_of_a_key/train.py": Situation(given={"model": lambda *_: Scalar(), "dataset": lambda *_: SomeRollouts()}),
    "AR104/small_example_of_a_job/train.py": cannot("it has no data"),
    "AR104/started_by_torchrun/demo.py": cannot("what it times takes no time here"),
    "AR104/folder_per_rank.py": Situation(own_folder=True, prepare=lambda rank: saved_sharded("folder") if rank == 0 else None),
    "AR104/empty_batch_without_backward.py": cannot("samples that differ in size need a collate function, which is not in the file"),
    "AR104/host_name.py": Situation(prepare=lambda rank: name_host("gpu-slow-1" if rank == 0 else "gpu-fast-1")),
    "AR104/job_joined_where_a_file_is.py": Situation(own_folder=True, prepare=written("settings"), given=always(settings="settings")),
    "AR104/made_where_missing.py": Situation(own_folder=True, prepare=lambda rank: written("folder/index.bin")(rank)
                                             or pathlib.Path("folder").mkdir(exist_ok=True)),
    "AR104/memory_is_short.py": Situation(given={"buffers": lambda *_: [tensor()]},
                                          prepare=lambda rank: free_memory(1 if rank == 0 else 90)),
    "AR104/metadata_file_read_by_each.py": Situation(
        own_folder=True, prepare=lambda rank: saved_sharded("folder") if rank == 0 else None),
    "AR104/nan_loss_skipped.py": Situation(given={"dataset": lambda *_: NoNumbers()}),
    "AR104/newest_step_is_listed.py": Situation(own_folder=True, prepare=lambda rank: written("checkpoints/1")(rank)
                                                or pathlib.Path("checkpoints").mkdir(exist_ok=True)),
    "AR104/no_tokens_selected.py": cannot("needs a data set with masks of its own"),
    "AR104/number_of_boxes.py": cannot("samples that differ in size need a collate function, which is not in the file"),
    "AR104/one_note_for_all.py": Situation(own_folder=True, prepare=written("path", {"epoch": 1}), given={"epochs": number(2)}),
    "AR104/prepared_after_all_looked.py": Situation(own_folder=True, prepare=folder_of_first("prepared")),
    "AR104/prepared_while_others_look.py": Situation(own_folder=True, prepare=folder_of_first("prepared")),
    "AR104/presence_by_a_number.py": Situation(given={"dataset": lambda *_: Batches(), "model": lambda *_: lambda x: x * 20}),
    "AR104/samples_in_the_batch.py": Situation(given={"dataset": lambda *_: SomeLabels(36)}),
    "AR104/saved_before_on_a_group.py": Situation(own_folder=True, prepare=written("folder/name"), given={"name": number("name")}),
    "AR104/sign_to_stop.py": Situation(own_folder=True, prepare=written("stop"), given={"args": options(stop_file="stop")}),
    "AR104/sometimes_logged.py": Situation(prepare=lambda rank: draw(0.001 if rank == 0 else 0.5),
                                           given=always(loss=torch.tensor(1.0))),
    "AR104/time_is_up.py": Situation(given={"hours": lambda rank, _: 0 if rank == 0 else 1}),
    "AR104/future_done.py": Situation(call=lambda names, rank: poll(names["Uploader"](), rank)),
    "AR104/ok_page_asks.py": cannot("needs Streamlit"),
    "AR104/ok_configuration.py": Situation(given={"loader": lambda *_: iter([tensor()] * 100),
                                                          "model": lambda *_: lambda x: torch.tensor(1.0)}),
    "AR104/ok_class_of_an_output.py": Situation(),
    "AR104/ok_both_arms_reduce.py": cannot("needs a data set with masks of its own"),
    "AR104/ok_every_rank_reads_the_same.py": Situation(given={"dataset": lambda *_: Pairs(64)}),
    "AR104/ok_job_of_its_own.py": cannot("run by itself, it is a job of one"),
    "AR104/ok_presence_gathered.py": Situation(given={"model": lambda *_: Scalar(), "dataset": lambda *_: Tables(16)}),
    "AR104/ok_rank_zero_keeps_time.py": Situation(),
    "AR104/ok_root_keeps_its_own.py": Situation(given={"evaluate": lambda *_: lambda: 0.95, "stopper": lambda *_: lambda score: False}),
    "AR104/ok_rank_zero_looks.py": Situation(prepare=everywhere("path")),
    "AR104/ok_job_of_one/train.py": cannot("run by itself, it is a job of one"),
    "AR104/ok_started_by_python/demo.py": cannot("run by itself, it is a job of one"),
    # ---- AR105
    "AR105/ok_shares_of_equal_length.py::filled_up": Situation(given={"indices": lambda *_: list(range(9))}),
    "AR105/ok_place_in_another_group.py": Situation(
        joined=megatron(1, 2), call=lambda names, _: (names["set_up"]([[0, 2], [1, 3]]), names["warm_up"](tensor, 2))),
    "AR105/forwards_of_uneven_shares.py": Situation(prepare=everywhere("items.pt", [torch.ones(4, 2)] * 9)),
    "AR105/ok_evaluation_of_uneven_shares.py": Situation(prepare=everywhere("items.pt", [torch.ones(4, 2)] * 9)),
    "AR105/ok_cut_by_the_number_that_is_passed.py": Situation(given={
        "rows": lambda *_: torch.ones(3, 2), "columns": lambda *_: torch.ones(9, 2), "num_gpus": lambda _, world: world}),
    "AR105/ok_keys_of_a_display.py": Situation(given=always(loss=1.0, count=8, start=0.0)),
    "AR105/ok_metrics_by_name.py": Situation(given={"data": lambda *_: Classes(64)}),
    "AR105/ok_rounds_made_up_later.py": Situation(prepare=lambda _: set_variable("BATCHES", 8)),
    "AR105/ok_parts_of_a_batch.py": cannot("needs a language model"),
    "AR105/filed_under_what_it_read.py": Situation(prepare=everywhere("rows.txt", "a\nb\na\nc\na\nb\nd\nc\n")),
    "AR105/ok_filed_under_what_all_know.py": Situation(prepare=everywhere("rows.txt", "a\nb\na\nc\na\nb\nd\nc\n")),
    "AR105/ok_iterator_of_its_own_kind.py": cannot("asks itself for its items without end"),
    "AR105/backward_of_valid_samples.py": Situation(given={"dataset": lambda *_: Lists()}),
    "AR105/valid_samples_only.py": Situation(given={"dataset": lambda *_: Lists()}),
    "AR105/exhausted_iterator.py": Situation(given={"paths": lambda *_: ["a", "b", "c", "d", "e"]}),
    "AR105/failure_decides_where_to_begin.py": Situation(
        own_folder=True, prepare=written("path", {"model": {"weight": torch.ones(FEATURES)}, "epoch": 98})),
    "AR105/ok_failure_ends_the_job.py": Situation(prepare=everywhere("path", {"model": {"weight": torch.ones(FEATURES)}, "epoch": 98})),
    "AR105/files_of_this_rank.py": Situation(prepare=written("folder/shard-0-1.bin", tensor())),
    "AR105/mode_set_back_to_training.py": Situation(prepare=lambda rank: batches_of_statistics(rank, 5)),
    "AR105/ok_mode_of_evaluation.py": Situation(prepare=lambda rank: batches_of_statistics(rank, 5)),
    "AR105/micro_batches_by_length.py": cannot("samples that differ in size need a collate function, which is not in the file"),
    "AR105/strided_shard.py": Situation(given={"paths": lambda *_: ["a", "b", "c", "d", "e"]}),
    "AR105/mode_set_back_to_training.py::SharedStatistics.forward": cannot(INSIDE),
    "AR105/mode_set_back_to_training.py::Net.forward": cannot(INSIDE),
    "AR105/ok_mode_of_evaluation.py::SharedStatistics.forward": cannot(INSIDE),
    "AR105/ok_mode_of_evaluation.py::Net.forward": cannot(INSIDE),
    "AR105/timers_of_this_rank.py::Timers.record": Situation(given={"samples": lambda *_: [1, 2]}),
    "AR105/timers_of_this_rank.py": Situation(call=lambda names, rank: record(names["Timers"](), rank)),
    "AR105/work_left_over.py": Situation(given={"items": lambda *_: [tensor()] * 5}),
    "AR105/ok_as_many_centers_on_all.py": Situation(given={"samples": lambda *_: torch.ones(8, FEATURES), "sizes": number([2, 4])}),
    "AR105/ok_chunks_by_the_number_of_ranks.py": Situation(given={"rows": number(torch.ones(1)), "columns": lambda *_: torch.ones(16)}),
    "AR105/ok_keys_apart_from_values.py": Situation(given={"limit": number(0)}),
    "AR105/ok_field_that_is_shared.py": Situation(prepare=everywhere("last.pt", {"epoch": 3})),
    "AR105/ok_join.py": Situation(given={"items": lambda *_: [(tensor(), tensor())] * 5}),
    "AR105/ok_loops_in_loops.py": Situation(given={"shards": lambda *_: torch.ones(4, 4)}),
    "AR105/ok_over_the_items_of_a_batch.py": Situation(given={"dataset": lambda *_: Tables()}),
    "AR105/ok_parameters.py": Situation(),
    "AR105/ok_reduced_after_the_loop.py": Situation(given={"paths": lambda *_: ["a", "b", "c", "d", "e"]}),
    "AR105/ok_smallest_count.py": Situation(given={"items": lambda *_: [tensor()] * 5}),
    # ---- AR106
    "AR106/ok_root_is_a_parameter.py": Situation(given={"rank": number(0)}),
    "AR106/ok_owner_names_itself.py::Job.share_loss": Situation(given={
        "owner": lambda rank, _: types.SimpleNamespace(is_here=lambda: rank == 1, rank=lambda: 1)}),
    "AR106/first_rank_goes_last_once_more.py": Situation(flags=local_rank_option),
    "AR106/wait_by_node_written_twice.py": Situation(nodes=2),
    "AR106/names_of_a_set.py": Situation(own_python=True, given={"totals": lambda *_: {"loss": torch.ones(1), "accuracy": torch.ones(3, 7)}}),
    "AR106/members_named_by_a_set.py": Situation(own_python=True, given={"model": lambda *_: two_layers()}),
    "AR106/ok_first_rank_goes_last.py": Situation(prepare=everywhere("en", "x")),
    "AR106/root_of_a_guessed_group_own_rank.py": Situation(given={"group": number(None)}),
    "AR106/ok_both_walk_the_same.py": Situation(given={"parts": lambda *_: [Part()]}),
    "AR106/walks_meet_in_other_operations.py": Situation(given={"parts": lambda *_: [Part()]}),
    "AR106/ok_count_sent_first.py": Situation(prepare=everywhere("tables_0.pt", [torch.ones(8), torch.ones(8)])),
    "AR106/ok_holder_of_the_tensor_sends.py": Situation(given={"files": number(["a", "b", "c", "d"])}),
    "AR106/ok_root_of_a_group_of_unknown_members.py": Situation(given={"groups": lambda *_: pairs_of_ranks()}),
    "AR106/ok_root_from_group.py": Situation(joined=megatron(2, 1), given={"batch": lambda *_: tensor()}),
    "AR106/ok_two_groups_one_order.py": Situation(joined=megatron()),
    "AR106/two_groups_in_opposite_order.py": Situation(joined=megatron(1, 1)),
    "AR106/ok_scatter_lists.py": Situation(given={"chunks": lambda *_: [torch.ones(8)] * 4}),
    "AR106/ok_size_then_data.py": Situation(given={"server": lambda *_: Server()}),
    "AR106/ok_told_what_to_do.py": Situation(),
    "AR106/maximum_meets_sum.py": cannot("a wrong value, and no rank waits"),
    # ---- AR107
    "AR107/quiet_exit.py": Situation(prepare=lambda rank: torch.save(tensor(), f"part-{rank}.pt") if rank else None),
    "AR107/suppressed.py": Situation(given={"net": failing_once(RuntimeError("no"), 0), "data": lambda *_: Samples(64)}),
    "AR107/gathered_under_fsdp.py": cannot(LAUNCHED),
    "AR107/waits_in_finally.py": Situation(prepare=fails_in_its_layers(1)),
    "AR107/error_that_is_only_printed.py": cannot("on Gloo the others fail as well once the first has left, and print as little"),
    "AR107/collective_in_helper/train.py": Situation(given={"model": failing_once(RuntimeError("no"), 0)}),
    "AR107/ok_own_exception_agreed.py": Situation(given={"net": lambda *_: Scalar()}),
    "AR107/bad_file_skipped.py": Situation(own_folder=True, prepare=lambda rank: files_but_one(rank), given={"paths": number(["0.pt", "1.pt"])}),
    "AR107/barrier_in_handler.py": Situation(own_folder=True, prepare=lambda rank: (everywhere("fallback")(rank), written("path")(rank)),
                                             given=always(fallback="fallback")),
    "AR107/exception_of_the_project.py": cannot("what raises the exception is not in the file"),
    "AR107/nobody_is_told.py": Situation(given={"model": failing_once(RuntimeError("no"), 0)}),
    "AR107/out_of_memory_skipped.py": Situation(given={"net": failing_once(torch.cuda.OutOfMemoryError("no"), 0)}),
    "AR107/retry.py": Situation(given={"model": failing_once(RuntimeError("no"), 0, 3)}),
    "AR107/ok_all_are_told_before_going_on.py": Situation(),
    "AR107/ok_error_is_provoked.py": cannot("what injects the error is not in the file"),
    "AR107/ok_strategy_cannot_be.py": Situation(prepare=everywhere("path", "x")),
    "AR107/ok_the_operation_itself_fails.py": cannot("what the reader reads is not in the file"),
    "AR107/ok_test_is_skipped.py": Situation(),
    # ---- AR108
    "AR108/neighbours_of_each_rank.py": Situation(after=use_group),
    "AR108/ok_looked_up_by_members.py": Situation(call=lambda names, _: names["reduce_in_half"](names["Groups"](), tensor())),
    "AR108/ok_every_rank_creates_every_group.py": Situation(given=always(all_ranks=[[0, 1], [2, 3]])),
    "AR108/ok_local_synchronization.py": Situation(given=always(ranks=[0, 1])),
    "AR108/ok_group_made_once.py": Situation(call=lambda names, _: (names["prepare"](), names["reduce"](tensor()))),
    "AR108/rank_zero_makes_it.py": Situation(call=lambda names, _: names["Groups"]()),
    "AR108/ok_subgroups.py": cannot("a group for each node of GPUs"),
    "AR108/ok_uniform_condition.py": Situation(given={"world_size": lambda _, world: world, "backend": number("nccl")}),
    "AR108/ok_made_by_now_unknown.py": cannot("who called it before is not in the file"),
    "AR108/mesh_on_first_process_of_node.py": Situation(),
    "AR108/early_return_of_non_members.py": Situation(after=next_group),
    "AR108/members_only.py": Situation(given=always(all_ranks=[[0, 1], [2, 3]]), after=use_group),
    "AR108/one_line_from_many_callers.py": Situation(after=use_group),
    "AR108/one_line_from_many_callers.py::with_the_one_before": cannot("it is told at another caller"),
    "AR108/members_are_others_on_each_rank.py": Situation(given=always(size=2), after=use_group),
    # ---- AR109
    "AR109/first_of_my_group.py": Situation(joined=megatron(2, 1), given={"batch": lambda *_: tensor()}),
    "AR109/ok_global_rank_of_root.py": Situation(joined=megatron(2, 1), given={"batch": lambda *_: tensor()}),
    "AR109/ok_own_group_kept.py": Situation(given=always(all_ranks=[[0, 1], [2, 3]])),
    "AR109/ok_inner_function_of_members.py": Situation(given={"optimizer": lambda *_: Anything(), "members": number([0, 1])}),
    "AR109/inner_function_of_all.py": Situation(given={"batches": lambda *_: tensor()}),
    # ---- AR110
    "AR110/kept_and_joined.py": Situation(prepare=everywhere("data.pt", [(torch.ones(8), torch.tensor(int(n < 9))) for n in range(16)])),
    "AR110/losses_over_a_threshold.py": Situation(given={
        "build": lambda *_: Model, "target": number(0),
        "dataset": lambda *_: [torch.ones(FEATURES) if n % 2 else torch.tensor([1.0, 0.0, 0.0, 0.0]) for n in range(16)]}),
    "AR110/ok_losses_of_decoder_layers.py": Situation(given={"build": lambda *_: Layers}),
    "AR110/masks_combined.py": Situation(given={"dataset": lambda *_: [(torch.ones(FEATURES), torch.tensor(3 * (n % 2))) for n in range(64)]}),
    "AR110/ok_key_of_model_outputs.py": cannot("what its model gives is not in the file"),
    "AR110/ok_all_are_joined.py": Situation(prepare=everywhere("data.pt", [(torch.ones(8), torch.tensor(int(n < 9))) for n in range(16)])),
    "AR110/ok_numbers_combined.py": Situation(given={
        "dataset": lambda *_: [(torch.tensor(1.0), torch.tensor(n % 4)) for n in range(32)], "table": lambda *_: torch.arange(8.0)}),
    "AR110/distinct_labels.py": Situation(given={"dataset": lambda *_: DifferentLabels()}),
    "AR110/positions_found.py": Situation(given={"dataset": lambda *_: Lengths()}),
    "AR110/selected_by_mask.py": Situation(given={"dataset": lambda *_: LabelledLengths()}),
    "AR110/selected_over_a_threshold.py": Situation(given={"dataset": lambda *_: Lengths()}),
    "AR110/attention_mask_of_inputs.py": cannot(FRAMEWORK),
    "AR110/ok_summed_before.py": cannot(FRAMEWORK),
    "AR110/ok_mean_of_selection.py": Situation(given={"mask": lambda *_: torch.ones(2, FEATURES, dtype=torch.bool),
                                                      "entropies": lambda *_: tensor()}),
    "AR110/ok_objects.py": Situation(given={"texts": number(["a b", "c", "d", "e f", "g"])}),
    "AR110/ok_pad_across_processes.py": cannot("needs a language model"),
    "AR110/ok_sizes_exchanged.py": Situation(given={"hits": lambda rank, _: torch.ones(rank + 1)}),
    "AR110/ok_counts_instead.py": Situation(given={"dataset": lambda *_: Classes()}),
    # ---- AR111
    "AR111/ok_partners_in_a_job_of_sixteen.py": Situation(world=16),
    "AR111/ok_types_of_a_pair.py": Situation(given=always(dtype=torch.float32)),
    "AR111/chain_of_local_ranks_of_two_nodes.py": Situation(nodes=2),
    # ---- AR112
    "AR112/ok_sent_by_the_root.py": cannot("who receives is not in the file"),
    "AR112/ok_handle_handed_on.py::Overlap.finish": Situation(call=lambda names, _: started_and_finished(names["Overlap"]())),
    "AR112/ok_waited_at_once.py": Situation(world=2, given={"buffer": lambda *_: tensor(), "peer": lambda rank, _: 1 - rank}),
    "AR112/ok_waits_before_the_step.py::one_after_the_other": Situation(given={"rows": number(None), "columns": number(None)}),
    "AR113/ok_messages_from_threads.py": Situation(world=2, given={"peer": lambda rank, _: 1 - rank}),
    "AR113/ok_save_is_not_certain.py": cannot(LIGHTNING),
    "AR113/ok_threads_are_ranks.py": cannot("its threads are the ranks"),
    "AR110/ok_texts_instead_of_tensors.py": cannot("needs a language model and its tokenizer"),
    # ---- AR117
    "AR117/ok_parts_of_a_batch.py": Situation(given={
        "data": lambda *_: [{"image": torch.ones(FEATURES), "source": "web"}] * 8, "counts": lambda *_: {"web": 0}}),
    # ---- AR116
    "AR116/raises_on_rank_zero.py": Situation(prepare=everywhere("out/old.pt"), given={"args": options(output="out")}),
    **{f"AR116/{name}.py": Situation(given={"data": lambda *_: SpoiltClasses(), "net": lambda *_: torch.nn.Linear(FEATURES, 3)})
       for name in ("asserts_that_loss_is_finite", "caught_and_raised_again", "loss_checked_in_helper", "loss_not_finite",
                    "ok_asserts_that_mean_is_finite", "ok_caught_by_the_loop", "ok_finite_arm", "ok_mean_checked_in_helper")},
    **{f"AR116/{name}/train.py": Situation(prepare=everywhere("data.pt", spoilt_classes(8)))
       for name in ("several_nodes", "tasks_of_slurm")},
    "AR116/folder_that_is_there.py": Situation(prepare=folder_of_first("run")),
    "AR116/exits_with_a_text.py": Situation(prepare=folder_of_first("out"), given={"args": options(output="out")}),
    "AR116/ok_exits_without_an_error.py": Situation(prepare=lambda _: pathlib.Path("out").mkdir(exist_ok=True), given={"args": options(output="out")}),
    "AR116/ok_agreed.py": Situation(prepare=lambda _: pathlib.Path("run").mkdir(exist_ok=True)),
    "AR116/ok_raised_by_a_helper.py": Situation(prepare=lambda _: pathlib.Path("out").mkdir(exist_ok=True)),
    "AR116/raised_by_a_helper.py": Situation(prepare=everywhere("out/old.pt")),
    "AR116/ok_nothing_follows.py": Situation(given={"args": options(output="out"), "batch": lambda *_: tensor()}),
    "AR116/ok_reduced_by_name.py": Situation(given={
        "make_loader": lambda *_: lambda: [(torch.ones(1, 2), None)] * 3, "make_criterion": lambda *_: criterion}),
}


def situation(fixture, entry):
    return SITUATIONS.get(f"{fixture}::{entry}") or SITUATIONS.get(fixture) or Situation()
