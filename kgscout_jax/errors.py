"""The one exception that is a message for a person rather than a defect."""

JOINERS = "\u200c\u200d"
"""Invisible, but part of words."""
MAX_MESSAGE = 2000
"""Characters of a message; of a longer one the middle is left out."""
_FILES: dict[str, str] = {}
"""Files of people, by the temporary folders that stand for them."""


class UserError(Exception):
    """Bad input: one line that names the place, what was found, what was expected.

    Entry points print it to stderr as ``error: ...`` and exit with code 2. Anything
    else that escapes is a defect and keeps its traceback. What a message quotes of a
    file or a request can neither end the line nor command the terminal.
    """

    def __init__(self, message: str) -> None:
        for folder, file in _FILES.items():
            message = message.replace(folder, file)
        super().__init__(_one_line(message))


def name_in_messages(folder: str, file: str) -> None:
    """Let messages name a file of somebody instead of a temporary folder."""
    _FILES[folder] = file


def escape(text: str) -> str:
    """The text with escapes for all that a terminal could take for a command."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in JOINERS else c.encode("unicode_escape").decode()
        for c in text
    )


def first_line(error: BaseException) -> str:
    """The first line of an exception's message, 160 characters at most."""
    message = str(error).strip() or type(error).__name__
    return message.splitlines()[0][:160].rstrip(".")


def _one_line(message: str) -> str:
    """The message as one line of at most ``MAX_MESSAGE`` characters."""
    if len(message) > MAX_MESSAGE:  # before the escapes: it may be very long
        message = f"{message[: MAX_MESSAGE // 2]} ... {message[-MAX_MESSAGE // 4 :]}"
    text = escape(message)
    if len(text) > MAX_MESSAGE:
        text = f"{text[: MAX_MESSAGE // 2]} ... {text[-MAX_MESSAGE // 4 :]}"
    return text
