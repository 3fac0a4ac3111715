"""Matches what the ranks of a job issue, as NCCL and Gloo do, and says how the job ends.

The n-th operation of one rank on a group meets the n-th of every other member, and all of them go on when the last one has
come. Two that meet and are not the same (kind, root, reduction, size) are a mismatch, and so is a rank that waits when nobody
is left who could come. Messages between two ranks are taken in the order in which they were sent; whether a sender waits for
the receiver is up to the backend, so a match is told.

Ranks are lists of steps here. They may grow while a match is under way: see record.py.
"""

import enum
from collections import deque
from dataclasses import dataclass, field


class Fate(enum.Enum):
    """What becomes of a job."""

    AGREE = "agree"
    MISMATCH = "mismatch"
    # A rank raised what nobody caught, so that the launcher ends all ranks: nothing is left to agree upon.
    FAILED = "failed"
    # Up to the backend or the version of the library: a send that may wait, a rank that is no member or does not exist.
    UNDEFINED = "undefined"
    # The program cannot run on so many ranks.
    IMPOSSIBLE = "impossible"
    ENDLESS = "endless"


@dataclass
class Ending:
    fate: Fate
    detail: str = ""
    # Lines of the operations that do not match, or that ranks are left waiting in.
    lines: frozenset = frozenset()


@dataclass(eq=False)
class Group:
    ranks: tuple

    def size(self):
        return len(self.ranks)


@dataclass(eq=False)
class Call:
    """One rank's part of an operation: what has to be the same on all, and what it gives and gets."""

    kind: str
    group: Group = None
    root: int = None
    reduction: str = None
    size: object = None
    gives: object = None
    # From what every member gave, by rank, to what every member gets.
    combine: object = None
    peer: int = None
    blocks: bool = True
    # The rank, where its program stands, and whether the program has waited if the call does not block.
    rank: object = None
    line: int = 0
    waited: bool = True
    done: bool = False
    result: object = None

    def signature(self):
        return (self.kind, self.root, self.reduction, self.size)

    def __str__(self):
        words = [self.kind] + [f"{name} {value}" for name, value in (("root", self.root), ("op", self.reduction)) if value is not None]
        return f"{' '.join(words)} (line {self.line})"


@dataclass(eq=False)
class Wait:
    call: Call


@dataclass(eq=False)
class Track:
    """A rank's steps, how far it has come, and what stands behind the last of them."""

    steps: list = field(default_factory=list)
    place: int = 0
    issued: set = field(default_factory=set)
    # How many operations the rank has issued on each group.
    turns: dict = field(default_factory=dict)
    # None: the rank is through. A Fate: it went no further for that reason.
    stop: Fate = None
    reason: str = ""

    def is_through(self):
        return self.place == len(self.steps)


class Match:
    """`eager`: a send is over before its message is received."""

    def __init__(self, tracks, eager=True):
        self.tracks, self.eager = tracks, eager
        self.ending = None
        self._meetings = {}
        self._mail = {}

    def advance(self):
        """Takes every rank as far as it gets."""
        moved = True
        while moved and self.ending is None:
            moved = False
            for number, track in enumerate(self.tracks):
                while self.ending is None and not track.is_through() and self._step(number, track):
                    moved = True

    def at_rest(self):
        """The Ending of a job in which nobody can go on, and nobody has steps to add."""
        stopped = [track for track in self.tracks if track.is_through() and track.stop is not None]
        if stopped:
            return Ending(stopped[0].stop, stopped[0].reason)
        waiting = [(number, self._awaited(track)) for number, track in enumerate(self.tracks) if not track.is_through()]
        if waiting:
            return Ending(Fate.MISMATCH, "; ".join(f"rank {number} waits in {call}" for number, call in waiting), _lines(c for _, c in waiting))
        lost = [call for calls in self._mail.values() for call in calls]
        if lost:
            return Ending(Fate.MISMATCH, f"nobody answers {lost[0]}", _lines(lost))
        return Ending(Fate.AGREE)

    def _awaited(self, track):
        step = track.steps[track.place]
        return step.call if isinstance(step, Wait) else step

    def _step(self, number, track):
        """Whether the rank has done its next step."""
        step = track.steps[track.place]
        if isinstance(step, Call) and step not in track.issued:
            track.issued.add(step)
            (self._meet if step.peer is None else self._post)(number, track, step)
        blocks = step.blocks if isinstance(step, Call) else True
        if self.ending or (blocks and not self._awaited(track).done):
            return False
        track.place += 1
        return True

    def _meet(self, number, track, call):
        turn = track.turns[call.group] = track.turns.get(call.group, 0) + 1
        meeting = self._meetings.setdefault((call.group, turn), {})
        other, first = next(iter(meeting.items()), (None, None))
        if first and first.signature() != call.signature():
            # Groups of different ranks in one turn get one name: those of one rank work, others meet in the store by chance.
            fate = Fate.UNDEFINED if first.kind == call.kind == "new_group" else Fate.MISMATCH
            self.ending = Ending(fate, f"rank {other} issues {first}, rank {number} {call}", _lines((first, call)))
            return
        meeting[number] = call
        if len(meeting) == len(call.group.ranks):
            del self._meetings[call.group, turn]
            given = {member: meeting[member].gives for member in call.group.ranks}
            for member, result in (call.combine(given, call) if call.combine else dict.fromkeys(given)).items():
                _finish(meeting[member], result)

    def _post(self, number, track, call):
        sends = call.kind == "send"
        queue = self._mail.setdefault((number, call.peer) if sends else (call.peer, number), deque())
        if queue and queue[0].kind != call.kind:
            other = queue.popleft()
            send, receive = (call, other) if sends else (other, call)
            _finish(send, None)
            _finish(receive, send.gives)
            return
        queue.append(call)
        if sends and call.blocks and self.eager:
            call.done = True


def _finish(call, result):
    call.done, call.result = True, result


def _lines(calls):
    return frozenset(call.line for call in calls)
