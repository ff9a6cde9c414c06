"""The error a user can act on: what, where, the value found, the value expected, what to do."""


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
