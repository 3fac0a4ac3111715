"""The situations of docs/runtime-verify.md, "What each says of a mismatch": operations that do not match, as witnesses."""

import json


def op(kind, count=1024, **more):
    return {"op": kind, "comm": "world", "count": count, "at": {"uri": "t.py", "line": 1}, **more}


def world(ranks):
    return [{"id": "world", "ranks": list(range(ranks))}]


def situation(name, *by_rank, comms=None):
    """`by_rank`: what each rank does, one class a rank."""
    size = len(by_rank)
    return {
        "schema": "allranks.witness/1", "finding": name, "world": size, "comms": comms or world(size),
        "classes": [{"id": f"r{rank}", "ranks": [rank]} for rank in range(size)],
        "ops": {f"r{rank}": [{"id": f"r{rank}.{i}", **one} for i, one in enumerate(ops)] for rank, ops in enumerate(by_rank)},
        "expect": {"effect": "deadlock"}, "after": {"fence": True},
    }


AR, BC, AG, RS, RE, BA = (op(kind) for kind in ("all_reduce", "broadcast", "all_gather", "reduce_scatter", "reduce", "barrier"))
BC, RE = {**BC, "root": 0}, {**RE, "root": 0}
TWO = [{"id": "world", "ranks": [0, 1]}, {"id": "g", "ranks": [0, 1]}]
G = {**AR, "comm": "g"}


def later(one):
    return {**one, "sync": False}


def wait(comm="world"):
    return {"op": "wait", "comm": comm, "at": {"uri": "t.py", "line": 2}}


def p2p(kind, peer, **more):
    return op(kind, peer=peer, **more)


SITUATIONS = [
    situation("all_reduce, all_gather", [AR], [AG]),
    situation("all_gather, reduce_scatter", [AG], [RS]),
    situation("all_reduce of 1024, of 512", [AR], [op("all_reduce", 512)]),
    situation("broadcast of 512, of 1024", [{**BC, "count": 512}], [BC]),
    situation("f32, i32; also sum, max", [AR], [{**AR, "dtype": "i32"}]),
    situation("f32, f64", [AR], [{**AR, "dtype": "f64"}]),
    situation("broadcasts of different roots, 3 ranks", [BC], [{**BC, "root": 1}], [{**BC, "root": 1}]),
    situation("reduces to different roots, 3 ranks", [RE], [{**RE, "root": 1}], [{**RE, "root": 1}]),
    situation("[all_reduce, broadcast], swapped", [AR, BC], [BC, AR]),
    situation("all_reduce, one of 3 ranks missing", [AR], [AR], []),
    situation("broadcast, only the root calls", [BC], []),
    situation("broadcast, the last of 3 ranks missing", [BC], [BC], []),
    situation("barrier, all_reduce", [BA], [AR]),
    situation("barrier, all_reduce of 1", [BA], [op("all_reduce", 1)]),
    situation("send then recv on both", [p2p("send", 1), p2p("recv", 1)], [p2p("send", 0), p2p("recv", 0)]),
    situation("isend then irecv on both", [p2p("send", 1, sync=False), p2p("recv", 1, sync=False), wait()],
              [p2p("send", 0, sync=False), p2p("recv", 0, sync=False), wait()]),
    situation("the same, in a batch each", *[[p2p(kind, peer, sync=False, batch=1) for kind in ("send", "recv")] + [wait()] for peer in (1, 0)]),
    situation("isend then all_reduce, all_reduce then recv", [p2p("send", 1, sync=False), AR, wait()], [AR, p2p("recv", 0)]),
    situation("the same, both in PyTorch", *[[{**one, "source": "torch.distributed." + one["op"]} for one in ops] for ops in (
        [p2p("send", 1, sync=False), AR, wait()], [AR, p2p("recv", 0)])]),
    situation("two groups in opposite order", [AR, G], [G, AR], comms=TWO),
    situation("two groups in opposite order, asynchronous", [later(AR), later(G), wait(), wait("g")], [later(G), later(AR), wait(), wait("g")], comms=TWO),
]

WORDS = {"deadlock": "hangs", "corruption": "wrong data", "error": "error", "clean": "goes through"}


def in_pytorch(one):
    """The same as calls of PyTorch, which makes communicators in the first operation on each."""
    ops = {name: [{**each, "source": "torch.distributed." + each["op"]} for each in own] for name, own in one["ops"].items()}
    return {**one, "ops": ops, "communicators": "first_use"}


def report(chosen=SITUATIONS):
    """All of them as one report, which `allranks verify` reads."""
    return json.dumps({"version": 1, "findings": [
        {"code": one["finding"], "message": "", "location": {"path": "t.py", "start": {"line": 1}}, "witness": one} for one in chosen]})


def words(verdict):
    """What a verdict says in the table."""
    return WORDS.get(verdict.get("effect"), "inconclusive")
