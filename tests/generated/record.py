"""What one rank of a job does: its program, run from the start, with every operation written down instead of carried out.

A program rarely looks at what an operation gave it. So a rank runs on past its operations, and only where it reads a result
that is not there yet (`Suspended`) it has to be given up; it is run again, from the start, when the operations up to there
have been matched, and then finds their results where it left them. A program that does the same each time it is run, as
generated ones do, cannot tell. No threads, no scheduler, and a job takes hardly longer than its program once a rank.
"""

import sys

from match import Fate, Group, Match, Track, Wait

# The name under which a program is compiled: its frames are told from ours by it.
PROGRAM = "<program>"


class Suspended(BaseException):
    """The rank reads what other ranks have to give first."""


class Endless(Exception):
    pass


class Undefined(Exception):
    """What happens now differs between versions of the library, or is an error whose end differs."""


class Impossible(Exception):
    """No job of this size can run the program: what it asks for needs another one."""


class Rank:
    # No generated program comes close; what does is one that a deletion of the shrinker left without its end.
    MOST_ROUNDS = 400

    def __init__(self, number):
        self.number = number
        self.track = Track()
        self.suspended = False
        self._next = 0
        self._rounds = 0
        self.groups_made = 0

    def run(self, program):
        """Runs the program from its start, up to its end or to a result that is missing."""
        self.suspended, self._next, self._rounds, self.groups_made = False, 0, 0, 0
        self.track.stop = None
        try:
            program(self)
        except (Suspended, SystemExit):
            pass
        except Endless:
            self._stop(Fate.ENDLESS, "goes round and round")
        except Undefined as error:
            self._stop(Fate.UNDEFINED, str(error))
        except Impossible as error:
            self._stop(Fate.IMPOSSIBLE, str(error))
        except Exception as error:  # pylint: disable=broad-except
            self._stop(Fate.FAILED, f"{type(error).__name__}: {error}")

    def _stop(self, fate, reason):
        self.track.stop, self.track.reason = fate, f"rank {self.number}: {reason}"

    def suspend(self):
        self.suspended = True
        raise Suspended

    def tick(self):
        """Each round of each loop without bounds passes here."""
        if self.suspended:
            raise Suspended
        self._rounds += 1
        if self._rounds > self.MOST_ROUNDS:
            raise Endless

    def issue(self, call):
        """The call as it was written down when the rank came here first."""
        call.rank, call.line = self, _line_of_program()
        call = self._add(call)
        call.waited = call.blocks
        return call

    def wait(self, call):
        call.waited = True
        self._add(Wait(call))

    def _add(self, step):
        # What handlers and `finally` do on the way out of a run that was given up is done when it is run again.
        if self.suspended:
            raise Suspended
        if self._next == len(self.track.steps):
            self.track.steps.append(step)
        self._next += 1
        return self.track.steps[self._next - 1]


class Pending:
    """The numbers that a call gives its rank, or those of one of its parts."""

    def __init__(self, call, part=None):
        if not call.waited:
            raise Undefined("a result is used before anybody waited for it")
        self._call, self._part = call, part

    def values(self):
        if not self._call.done:
            self._call.rank.suspend()
        return self._call.result if self._part is None else self._call.result[self._part]


class Job:
    """`size` ranks on nodes of `per_node`; `eager`: a send is over before its message is received."""

    def __init__(self, size, per_node, eager=True):
        self.size, self.per_node, self.eager = size, per_node, eager
        self.world = Group(tuple(range(size)))
        self.sends_block = False
        self._groups = {}

    def group(self, rank, what, members):
        """The group that a rank makes now, which is that of all other ranks that make theirs in the same turn."""
        rank.groups_made += 1
        return self._groups.setdefault((rank.groups_made, what, members), Group(members))

    def run(self, program):
        """The Ending; `program(rank)` is what a rank does."""
        ranks = [Rank(number) for number in range(self.size)]
        match, runnable = Match([rank.track for rank in ranks], self.eager), ranks
        while runnable and match.ending is None:
            for rank in runnable:
                rank.run(program)
            match.advance()
            runnable = [rank for rank in ranks if rank.suspended and rank.track.is_through()]
        return match.ending or match.at_rest()


def _line_of_program():
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != PROGRAM:
        frame = frame.f_back
    return frame.f_lineno if frame else 0
