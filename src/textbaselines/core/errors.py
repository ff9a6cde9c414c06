"""The error a user can act on: what, where, the value found, the value expected, what to do."""

from collections.abc import Sequence
from types import TracebackType

SHOWN = 50
"""How many mistakes one message lists."""


class UserError(Exception):
    """A mistake in the user's files, config or machine, told without a traceback.

    Parameters
    ----------
    what : str
        What went wrong, in one sentence.
    where : str, optional
        File and line, document id or config key.
    found, expected : object, optional
        The value seen and the value (or values) wanted.
    fix : str, optional
        What to do about it.
    """

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        found: object = None,
        expected: object = None,
        fix: str | None = None,
    ) -> None:
        parts = [what]
        for name, value in (("where", where), ("found", found), ("expected", expected)):
            if value is not None:
                parts.append(f"  {name + ':':<10}{value}")
        if fix is not None:
            parts.append(f"  {'to do:':<10}{fix}")
        super().__init__("\n".join(parts))
        self.what, self.where = what, where
        self.found, self.expected, self.fix = found, expected, fix

    def within(self, place: str) -> "UserError":
        """Return the same error, its place named within a wider one."""
        where = f"{place}, {self.where}" if self.where else place
        return UserError(
            self.what, where=where, found=self.found, expected=self.expected, fix=self.fix
        )

    @property
    def each(self) -> "tuple[UserError, ...]":
        """The mistakes that this error holds: itself, where it is a single one."""
        return (self,)


class UserErrors(UserError):
    """Several mistakes in one message, numbered; each is a :class:`UserError` by itself."""

    def __init__(self, errors: "Sequence[UserError]") -> None:
        numbered = [
            f"{number}. " + str(error).replace("\n", "\n   ")
            for number, error in enumerate(errors[:SHOWN], start=1)
        ]
        if len(errors) > SHOWN:
            numbered.append(f"... and {len(errors) - SHOWN} more")
        super().__init__(f"{len(errors)} mistakes\n\n" + "\n\n".join(numbered) + "\n")
        self._each = tuple(errors)

    @property
    def each(self) -> tuple[UserError, ...]:
        """The mistakes, in order."""
        return self._each

    def within(self, place: str) -> UserError:
        """Return the same errors, their places named within a wider one."""
        return UserErrors([error.within(place) for error in self._each])


class Mistakes:
    """Collects the errors of checks that do not depend on each other, to raise them as one.

    ``with mistakes:`` around each check keeps its :class:`UserError` and goes on after the block;
    :meth:`stop` raises all that were kept.
    """

    def __init__(self) -> None:
        self.errors: list[UserError] = []

    def __enter__(self) -> None:
        """Start a check."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        """Keep the error of a check, where it is a user's mistake."""
        if not isinstance(error, UserError):
            return False
        self.add(error)
        return True

    def add(self, error: UserError) -> None:
        """Keep an error; the same message is kept once."""
        known = {str(one) for one in self.errors}
        for one in error.each:
            if str(one) not in known:
                self.errors.append(one)
                known.add(str(one))

    def stop(self) -> None:
        """Raise what was kept: one error as it is, several as one message; nothing without any."""
        if len(self.errors) == 1:
            raise self.errors[0]
        if self.errors:
            raise UserErrors(self.errors)
