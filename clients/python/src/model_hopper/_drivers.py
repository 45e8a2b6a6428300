"""One face for the connections of psycopg2, psycopg 3 and SQLAlchemy.

A session runs a statement so that notices are heard while it runs, and so that the stop button of a
notebook (KeyboardInterrupt) cancels it in the server.
"""

from __future__ import annotations

import re
import selectors
import threading
from contextlib import contextmanager
from typing import Any, Callable, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple


class Notice(NamedTuple):
    """What the server says besides results."""

    severity: str
    message: str
    detail: Optional[str] = None
    hint: Optional[str] = None

    def __str__(self) -> str:
        text = f"{self.severity}:  {self.message}"
        if self.detail:
            text += f"\nDETAIL:  {self.detail}"
        if self.hint:
            text += f"\nHINT:  {self.hint}"
        return text


NoticeHandler = Callable[[Notice], None]


class Result(NamedTuple):
    """Names of columns and rows; both empty for a statement without rows."""

    columns: List[str]
    rows: List[Tuple[Any, ...]]


_PIECE = 1 << 17  # bytes for one write of COPY

# libpq's states of a transaction; both drivers have its numbers.
_IDLE = 0


class Session:
    """A connection of some driver."""

    def __init__(self, connection: Any, alchemy: Any = None, owned: bool = False) -> None:
        self.connection = connection
        self._alchemy = alchemy  # SQLAlchemy's connection around it, where there is one
        self.owned = owned  # made for us, and ours to close

    @property
    def autocommit(self) -> bool:
        """Whether the driver commits each statement."""
        return bool(self.connection.autocommit)

    @property
    def open(self) -> bool:
        """Whether a transaction is open that a caller has begun."""
        if self.connection.info.transaction_status != _IDLE:
            return True
        return not self.autocommit and self._alchemy is not None and bool(self._alchemy.in_transaction())

    @property
    def closed(self) -> bool:
        """Whether the connection is of no more use."""
        return bool(self.connection.closed)

    def commit(self) -> None:
        """Commits what this session has begun."""
        self.connection.commit()

    def rollback(self) -> None:
        """Rolls back what this session has begun."""
        self.connection.rollback()

    def close(self) -> None:
        """Closes the connection, or hands it back to SQLAlchemy's pool."""
        if self._alchemy is not None:
            self._alchemy.close()
        else:
            self.connection.close()

    def execute(self, statement: str, parameters: Optional[Sequence[Any]] = None,
                on_notice: Optional[NoticeHandler] = None) -> Result:
        """Runs a statement; raises the driver's errors, and KeyboardInterrupt once it is cancelled."""
        raise NotImplementedError

    def copy_in(self, statement: str, chunks: Iterable[bytes]) -> None:
        """Runs COPY ... FROM STDIN with these bytes."""
        raise NotImplementedError


class Psycopg3Session(Session):
    """psycopg 3: cancels on KeyboardInterrupt and hands out notices as they come."""

    @contextmanager
    def _listening(self, on_notice: Optional[NoticeHandler]) -> Iterator[None]:
        if on_notice is None:
            yield
            return

        def handler(diagnostic: Any) -> None:
            assert on_notice is not None
            on_notice(Notice(diagnostic.severity_nonlocalized or diagnostic.severity or "NOTICE",
                             diagnostic.message_primary or "", diagnostic.message_detail,
                             diagnostic.message_hint))

        self.connection.add_notice_handler(handler)
        try:
            yield
        finally:
            self.connection.remove_notice_handler(handler)

    def execute(self, statement: str, parameters: Optional[Sequence[Any]] = None,
                on_notice: Optional[NoticeHandler] = None) -> Result:
        from psycopg.rows import tuple_row

        with self._listening(on_notice), self.connection.cursor(row_factory=tuple_row) as cursor:
            # Left to itself psycopg prepares what has run five times, which fails once a table was made anew.
            cursor.execute(statement, parameters, prepare=False)
            if cursor.description is None:
                return Result([], [])
            return Result([column.name for column in cursor.description], cursor.fetchall())

    def copy_in(self, statement: str, chunks: Iterable[bytes]) -> None:
        connection = self.connection.pgconn
        with selectors.DefaultSelector() as selector, self.connection.cursor() as cursor:
            selector.register(self.connection.fileno(), selectors.EVENT_WRITE)
            with cursor.copy(statement) as copy:
                for chunk in chunks:
                    view = memoryview(chunk)
                    for place in range(0, len(view), _PIECE):
                        copy.write(view[place:place + _PIECE])
                        # What is not sent yet libpq moves to and fro, the more of it the longer.
                        while connection.flush():
                            selector.select(0.1)


_NOTICE = re.compile(r"\A(?P<severity>\w+):  (?P<message>.*?)(?:\nDETAIL:  (?P<detail>.*?))?"
                     r"(?:\nHINT:  (?P<hint>.*?))?(?:\n(?:QUERY|CONTEXT|LOCATION):  .*)?\n?\Z", re.DOTALL)


def parse_notice(text: str) -> Notice:
    """A notice from the text that libpq makes of it."""
    match = _NOTICE.match(text)
    if match is None:
        return Notice("NOTICE", text.strip())
    return Notice(**match.groupdict())


class _Notices:
    """In the place of a connection's list of notices: tells of each one, and keeps it there too."""

    def __init__(self, kept: Any, on_notice: NoticeHandler) -> None:
        self._kept = kept
        self._on_notice = on_notice

    def append(self, text: str) -> None:
        self._kept.append(text)
        if isinstance(self._kept, list):
            del self._kept[:-50]  # as psycopg2 does
        self._on_notice(parse_notice(text))


class Psycopg2Session(Session):
    """psycopg2: left to itself it neither stops on KeyboardInterrupt nor tells notices before the end.

    A statement does both where a wait callback is set. That is a setting of the whole process, so it is
    set only until our statement has called it, which is at once: other threads' statements, and COPY,
    which refuses to run under a callback, go on as they are.
    """

    _setting = threading.Lock()

    def __init__(self, connection: Any, alchemy: Any = None, owned: bool = False) -> None:
        super().__init__(connection, alchemy, owned)
        if connection.async_:
            raise TypeError("an asynchronous connection of psycopg2 cannot be used: connect without async_")

    def _wait(self) -> bool:
        """Until the statement has ended; True if it was to be cancelled."""
        from psycopg2 import extensions

        connection, interrupted = self.connection, False
        with selectors.DefaultSelector() as selector:
            key = selector.register(connection.fileno(), selectors.EVENT_READ)
            while True:
                try:
                    state = connection.poll()
                    if state == extensions.POLL_OK:
                        return interrupted
                    events = (selectors.EVENT_READ if state == extensions.POLL_READ
                              else selectors.EVENT_WRITE)
                    if key.events != events:
                        key = selector.modify(connection.fileno(), events)
                    selector.select(0.1)
                except KeyboardInterrupt:
                    interrupted = True
                    connection.cancel()

    @contextmanager
    def _listening(self, on_notice: Optional[NoticeHandler]) -> Iterator[None]:
        if on_notice is None:
            yield
            return
        kept = self.connection.notices
        self.connection.notices = _Notices(kept, on_notice)
        try:
            yield
        finally:
            self.connection.notices = kept

    def execute(self, statement: str, parameters: Optional[Sequence[Any]] = None,
                on_notice: Optional[NoticeHandler] = None) -> Result:
        from psycopg2 import extensions, extras

        interrupted = False
        with self._listening(on_notice), self.connection.cursor(cursor_factory=extensions.cursor) as cursor:
            if not self.autocommit and self.connection.info.transaction_status == _IDLE:
                cursor.execute("SELECT 1")  # begins the transaction: the callback is for our statement alone
            self._setting.acquire()
            before = extensions.get_wait_callback()
            is_set = True

            def put_back() -> None:
                nonlocal is_set
                if is_set:
                    is_set = False
                    extensions.set_wait_callback(before)
                    self._setting.release()

            def wait(connection: Any) -> None:
                nonlocal interrupted
                if connection is not self.connection:  # another thread's, begun at this very moment
                    (before or extras.wait_select)(connection)
                    return
                put_back()
                interrupted = self._wait()

            try:
                extensions.set_wait_callback(wait)
                cursor.execute(statement, parameters)
            except extensions.QueryCanceledError as error:
                if interrupted:
                    raise KeyboardInterrupt(str(error).strip()) from error
                raise
            finally:
                put_back()
            if interrupted:
                raise KeyboardInterrupt
            if cursor.description is None:
                return Result([], [])
            return Result([column.name for column in cursor.description], cursor.fetchall())

    def copy_in(self, statement: str, chunks: Iterable[bytes]) -> None:
        from psycopg2 import extensions

        reader = _Reader(chunks)
        with self.connection.cursor(cursor_factory=extensions.cursor) as cursor, self._setting:
            before = extensions.get_wait_callback()
            extensions.set_wait_callback(None)
            reader.at_start = lambda: extensions.set_wait_callback(before)
            try:
                cursor.copy_expert(statement, reader, size=1 << 20)
            except Exception:
                if reader.error is not None:
                    raise reader.error from None
                raise
            finally:
                reader.started()


class _Reader:
    """A file to read from, of chunks of bytes; keeps what went wrong in making them."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._left = memoryview(b"")
        self.error: Optional[BaseException] = None
        self.at_start: Optional[Callable[[], None]] = None

    def started(self) -> None:
        if self.at_start is not None:
            at_start, self.at_start = self.at_start, None
            at_start()

    def read(self, size: int = -1) -> bytes:
        try:
            self.started()
            while not self._left:
                chunk = next(self._chunks, None)
                if chunk is None:
                    return b""
                self._left = memoryview(chunk)
            if size < 0:
                size = len(self._left)
            piece, self._left = self._left[:size], self._left[size:]
            return bytes(piece)
        except BaseException as error:
            self.error = error
            raise


def _library(thing: Any) -> str:
    for base in type(thing).__mro__:
        library = base.__module__.partition(".")[0]
        if library in ("psycopg", "psycopg2", "sqlalchemy"):
            return library
    return ""


def make_session(connection: Any) -> Session:
    """A session on a connection of psycopg2 or psycopg 3, or on an engine or connection of SQLAlchemy.

    From an engine it takes a connection of its own, which commits each statement.
    """
    library = _library(connection)
    alchemy, owned = None, False
    if library == "sqlalchemy":
        alchemy = connection
        if hasattr(alchemy, "connect"):
            owned = True
            alchemy = alchemy.connect().execution_options(isolation_level="AUTOCOMMIT")
        connection = alchemy.connection.dbapi_connection
        library = _library(connection)
    if library == "psycopg2":
        return Psycopg2Session(connection, alchemy, owned)
    if library == "psycopg" and not hasattr(connection, "__aenter__"):
        return Psycopg3Session(connection, alchemy, owned)
    raise TypeError(f"a connection of {type(connection).__module__} cannot be used: give one of psycopg (3) or"
                    " psycopg2, or an engine or connection of SQLAlchemy that works with one of them")
