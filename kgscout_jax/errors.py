"""The one exception that is a message for a person rather than a defect."""


class UserError(Exception):
    """Bad input: one line that names the place, what was found, what was expected.

    Entry points print it to stderr as ``error: ...`` and exit with code 2. Anything
    else that escapes is a defect and keeps its traceback.
    """
