"""Arrays, data frames and images as tables, through COPY in binary."""

import datetime
import decimal
import os
import pathlib
import time
import uuid

import numpy as np
import pandas
import pytest
from PIL import Image

import model_hopper._copy
from conftest import ask

DICE = np.random.default_rng(1)


def test_every_type_of_numpy(each):
    n = 5
    data = {}
    for code in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"):
        limits = np.iinfo(code)
        data[code] = np.array([limits.min, 0, 1, 7, min(limits.max, 2**63 - 1)], code)
    for code in ("f2", "f4", "f8"):
        data[code] = np.array([-1.5, 0, np.inf, np.nan, np.finfo(code).max], code)
    data["b1"] = np.array([True, False, True, True, False])
    data["text"] = np.array(["", "a", 'quote " and , comma', "Grüße", "\n\\N"])
    data["time"] = np.array(["2000-01-01", "1999-12-31T23:59:59.999999", "2024-02-29T12:00", "NaT", "1970-01-01"],
                            "datetime64[us]")
    data["bytes"] = [b"", b"\x00\xff", None, b"abc", b"\\x"]
    data["matrix"] = DICE.normal(size=(n, 2, 3)).astype("f4")
    data["whole"] = np.arange(n * 4, dtype="i8").reshape(n, 4)
    data["flags"] = DICE.integers(0, 2, (n, 3)).astype(bool)
    data["image"] = DICE.integers(0, 256, (n, 4, 4, 3)).astype("u1")
    written = each.write_table("types", data)
    assert written.rows == n
    assert written.types == {
        "id": "bigint", "i1": "smallint", "u1": "smallint", "i2": "smallint", "u2": "integer", "i4": "integer",
        "u4": "bigint", "i8": "bigint", "u8": "bigint", "f2": "real", "f4": "real", "f8": "double precision",
        "b1": "boolean", "text": "text", "time": "timestamp", "bytes": "bytea", "matrix": "real[]",
        "whole": "bigint[]", "flags": "boolean[]", "image": "bytea"}
    assert written.shapes == {"matrix": (2, 3), "whole": (4,), "flags": (3,), "image": (4, 4, 3)}
    rows = ask("SELECT * FROM types ORDER BY id")
    names = list(written.types)
    back = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    assert back["id"] == list(range(n))
    for code in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "b1"):
        assert back[code] == data[code].tolist(), code
    for code in ("f2", "f4", "f8"):
        np.testing.assert_array_equal(np.array(back[code], code), data[code])
    assert back["text"] == data["text"].tolist()
    assert back["time"] == data["time"].tolist()
    assert back["bytes"] == data["bytes"]
    for name in ("matrix", "whole", "flags"):
        np.testing.assert_array_equal(np.array(back[name], data[name].dtype), data[name])
    assert back["image"] == [image.tobytes() for image in data["image"]]


def test_a_data_frame(one):
    frame = pandas.DataFrame({
        "age": pandas.array([31, None, 52], "Int64"), "fee": [9.5, np.nan, 12.0], "member": [True, None, False],
        "plan": pandas.Categorical(["basic", None, "pro"]), "Country": ["de", "fr", None],
        "price": [decimal.Decimal("1.25"), None, decimal.Decimal("3")], "mixed": [decimal.Decimal("1.25"), 1, None],
        "since": [datetime.date(2024, 1, 2), None, datetime.date(1999, 12, 31)],
        "seen": pandas.to_datetime(["2024-01-02 03:04+02:00", None, "2024-06-01 00:00+02:00"], utc=True),
        "empty": [None, None, None], "vector": [np.ones(2, "f4"), np.zeros(2, "f4"), None],
        "list": [[1, 2], [3, 4], [5, 6]]}, index=[10, 20, 30])
    written = one.write_table("frame", frame)
    assert written.types == {
        "id": "bigint", "age": "bigint", "fee": "double precision", "member": "boolean", "plan": "text",
        "Country": "text", "price": "numeric", "mixed": "double precision", "since": "date",
        "seen": "timestamp with time zone",
        "empty": "text", "vector": "real[]", "list": "bigint[]"}
    back = one.read_table("frame")
    assert list(back.id) == [10, 20, 30]
    assert ask('SELECT age, fee, member, plan, "Country", price, since, seen AT TIME ZONE \'UTC\', empty, vector, list'
               " FROM frame ORDER BY id") == [
        (31, 9.5, True, "basic", "de", decimal.Decimal("1.25"), datetime.date(2024, 1, 2), datetime.datetime(2024, 1, 2, 1, 4), None,
         [1, 1], [1, 2]),
        (None, None, None, None, "fr", None, None, None, None, [0, 0], [3, 4]),
        (52, 12.0, False, "pro", None, 3, datetime.date(1999, 12, 31),
         datetime.datetime(2024, 5, 31, 22, 0), None, None, [5, 6])]
    assert ask("SELECT count(*) FROM pg_index WHERE indrelid = 'frame'::regclass AND indisprimary") == [(1,)]
    one.write_table("frame", frame.assign(id=1), replace=True)
    one.write_table("frame", frame, id_column=None, replace=True)
    assert "id" not in one.read_table("frame")


def test_tables_of_polars_and_pyarrow(one):
    """Where they are installed. Whole numbers stay such beside missing ones: as labels they are classes."""
    polars, _ = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    noon = datetime.datetime(2024, 1, 1, 12)
    table = polars.DataFrame({"whole": [1, None, 3], "text": ["a", None, "c"], "day": [noon.date(), None, noon.date()], "at": [noon] * 3,
                              "yes": [True, None, False], "steps": [[1.0, 2.0], [3.0], None]})
    table = table.with_columns(there=polars.col("at").dt.replace_time_zone("Europe/Berlin"))
    for name, data in (("of_polars", table), ("of_pyarrow", table.to_arrow())):
        assert one.write_table(name, data).types == {
            "id": "bigint", "whole": "bigint", "text": "text", "day": "date", "at": "timestamp", "yes": "boolean",
            "steps": "double precision[]", "there": "timestamp with time zone"}
        assert ask(f"SELECT whole, text, day, at, yes, steps, there = '2024-01-01 11:00+00' FROM {name} ORDER BY id") == [
            (1, "a", noon.date(), noon, True, [1, 2], True), (None, None, None, noon, None, [3], True),
            (3, "c", noon.date(), noon, False, None, True)]


def test_numbers_and_days_to_the_last_digit(one):
    numbers = [decimal.Decimal(text) for text in (
        "0", "0.00", "-0.5", "1E+10", "1234567890.0987654321", "-99999999999999999999.9999", "0.00001", "10000", "1e-30")]
    days = [datetime.date.min, datetime.date.max, datetime.date(2000, 1, 1), datetime.date(1969, 12, 31), None] + [
        datetime.date(2024, 2, 29)] * 4
    written = one.write_table("exact", {"number": numbers, "day": days})
    assert written.types == {"id": "bigint", "number": "numeric", "day": "date"}
    back = ask("SELECT number, day FROM exact ORDER BY id")
    assert [format(number, "f") for number, _ in back] == [format(number, "f") for number in numbers]
    assert [day for _, day in back] == days
    infinite = one.write_table("exact", {"number": [numbers[0], decimal.Decimal("inf")]}, replace=True)
    assert infinite.types["number"] == "double precision"


def test_spans_times_and_uuids(one):
    day, keys = datetime.timedelta(days=1), [uuid.UUID(int=0), uuid.UUID(int=2**128 - 1), None, uuid.UUID(int=2**64)]
    spans = [datetime.timedelta(microseconds=1), -day / 24, None, 4000 * day + day / 3]
    times = [datetime.time(), datetime.time(23, 59, 59, 999999), None, datetime.time(7, 30)]
    of_numpy = np.array([np.timedelta64("NaT" if span is None else span, "us") for span in spans])
    frame = pandas.DataFrame({"span": pandas.to_timedelta(spans), "time": times, "key": keys})
    for data in (frame, frame.astype(object).where(frame.notna(), None), {"span": spans, "time": times, "key": keys},
                 {"span": of_numpy, "time": times, "key": keys}, {"span": list(of_numpy), "time": times, "key": keys}):
        written = one.write_table("moments", data, replace=True)
        assert written.types == {"id": "bigint", "span": "interval", "time": "time", "key": "uuid"}
        assert ask("SELECT span, time, key FROM moments ORDER BY id") == list(zip(spans, times, keys))
    one.write_table("moments", {"span": np.arange(3, dtype="m8[h]"), "key": keys[:2] + keys[3:]}, replace=True)  # without a gap
    assert ask("SELECT span, key FROM moments ORDER BY id") == [(place * day / 24, key) for place, key in enumerate(keys[:2] + keys[3:])]
    with pytest.raises(TypeError, match='column "time" holds values of type time'):
        one.write_table("never", {"time": [datetime.time(tzinfo=datetime.timezone.utc)]})
    with pytest.raises(TypeError, match='column "spans": values of timedelta64'):
        one.write_table("never", {"spans": np.zeros((2, 2), "m8[s]")})


def test_chunks_and_gaps(one, monkeypatch):
    """Rows with fields of all lengths, in many chunks."""
    monkeypatch.setattr(model_hopper._copy, "CHUNK_BYTES", 1000)
    n = 500
    frame = pandas.DataFrame({"a": np.arange(n), "b": [None if i % 3 == 0 else "x" * (i % 7) for i in range(n)],
                              "c": np.arange(n) / 2, "d": pandas.array([None if i % 5 == 0 else i for i in range(n)], "Int32")})
    one.write_table("chunked", frame)
    assert ask("SELECT a, b, c, d FROM chunked ORDER BY id") == [
        (i, None if i % 3 == 0 else "x" * (i % 7), i / 2, None if i % 5 == 0 else i) for i in range(n)]
    one.write_table("fixed", {"x": np.arange(n * 3.0).reshape(n, 3)})
    assert ask("SELECT x FROM fixed ORDER BY id") == [([3.0 * i, 3.0 * i + 1, 3.0 * i + 2],) for i in range(n)]
    one.write_table("none", {"x": np.empty((0, 3))})
    assert ask("SELECT count(*) FROM none") == [(0,)]


def test_what_cannot_be_written(one):
    for data, message in (({"x": np.ones(2, complex)}, "complex"), ({"x": [object()]}, 'column "x".*object'),
                          ({"x": [1, 2], "y": [1]}, '"x" 2, "y" 1'), ({}, "without columns"), (5, "DataFrame"),
                          ({"x": np.array([2**63], "u8")}, "too large"), ({"x": [np.ones(2), np.ones((3, 1))]}, "first axis"),
                          ({"x": [np.ones((2, 2)), np.ones((2, 3))]}, "first axis"), ({"x": [[], [[]]]}, "first axis"),
                          ({"x": [["a"], ["b", "c"]]}, "<U1"), ({"x": [np.array([1], "u8"), np.array([2**63, 1], "u8")]}, "too large"),
                          (pandas.DataFrame([[1, 2]], columns=["a", "a"]), "twice")):
        with pytest.raises((TypeError, ValueError), match=message):
            one.write_table("never", data)
    one.write_table("there", {"x": [1]})
    with pytest.raises(Exception, match="already exists"):
        one.write_table("there", {"x": [1]})
    assert ask("SELECT to_regclass('never') IS NULL") == [(True,)]


def test_sequences_of_unequal_length(each):
    """Texts as ids and series of vectors, which are packed with pad_to."""
    texts = [[1, 2], [3], None, [], [4, 5, 6]]
    series = [DICE.integers(-9, 9, (length, 2)).astype("f4") / 4 for length in (3, 1, 2, 2, 4)]
    data = {"texts": texts, "series": series, "codes": [np.arange(n + 1, dtype="u1") for n in range(5)],
            "flags": [[True], [False, True], [True], [True], []], "mixed": [[1], [0.5, 2], None, [3], [4]]}
    written = each.write_table("unequal", data)
    assert written.types == {"id": "bigint", "texts": "bigint[]", "series": "real[]", "codes": "smallint[]",
                             "flags": "boolean[]", "mixed": "double precision[]"}
    assert written.shapes == {} and written.rows == 5
    names = ", ".join(data)
    back = ask(f"SELECT {names} FROM unequal ORDER BY id")
    assert back == [tuple(value.tolist() if hasattr(value, "tolist") else value for value in row)
                    for row in zip(*data.values())]
    each.write_table("unequal", pandas.DataFrame(data), replace=True)
    assert ask(f"SELECT {names} FROM unequal ORDER BY id") == back
    many = {"texts": [texts[i % 2] for i in range(100)], "label": [i % 2 for i in range(100)]}
    assert each.training_preprocessor(many, "texts_packed", "label", "texts", pad_to="longest") == 100
    assert each.sql("SELECT independent_shape FROM texts_packed_summary").iloc[0, 0] == [2]


def test_a_failed_write_leaves_nothing(hopper, monkeypatch):
    for error in (ZeroDivisionError, KeyboardInterrupt):
        def broken(columns):
            yield model_hopper._copy.HEADER
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(model_hopper._copy, "encode", broken)
            with pytest.raises(error):
                hopper.write_table("half", {"x": [1]})
    assert ask("SELECT to_regclass('half') IS NULL") == [(True,)]
    assert hopper.write_table("half", {"x": [1]}).rows == 1


def test_the_packers_read_it(one):
    n = 300
    labels = np.arange(n) % 3
    floats = (DICE.normal(size=(n, 4)) + labels[:, None]).astype("f4")
    one.write_table("floats", {"label": labels, "x": floats})
    assert one.training_preprocessor("floats", "floats_packed", "label", "x") == n
    images = DICE.integers(0, 256, (n, 5, 6, 3)).astype("u1")
    written = one.write_table("images", {"label": labels, "image": images})
    assert one.training_preprocessor("images", "images_packed", "label", "image",
                                     image_shape=written.shapes["image"]) == n
    assert one.sql("SELECT independent_type, independent_shape FROM images_packed_summary").values.tolist() == [
        ["uint8", [5, 6, 3]]]
    assert one.sql("SELECT independent_type, independent_shape FROM floats_packed_summary").values.tolist() == [
        ["float32", [4]]]
    # It is what an ordinary INSERT of the same numbers gives, bit by bit.
    one.sql("CREATE TABLE inserted AS SELECT id, label, ('{' || trim(both '{}' from x::text) || '}')::real[] AS x FROM floats")
    one.training_preprocessor("inserted", "inserted_packed", "label", "x")
    assert one.sql("SELECT (SELECT checksum FROM floats_packed_summary) ="
                   " (SELECT checksum FROM inserted_packed_summary) AS same").same[0]


def test_data_in_the_place_of_a_table(each):
    n = 300
    labels = np.arange(n) % 3
    frame = pandas.DataFrame({"label": labels, "a": DICE.normal(size=n) + labels, "b": DICE.normal(size=n)},
                             index=np.arange(n) + 1000)
    assert each.training_preprocessor(frame, "frame_packed", "label", ["a", "b"]) == n
    assert each.validation_preprocessor(frame[:50], "frame_validation", "label", ["a", "b"], "frame_packed") == 50
    model_id = each.load_model("frame_arch", {"class_name": "Sequential", "config": {"layers": [
        {"class_name": "Dense", "config": {"units": 3, "activation": "softmax"}}]}})
    each.fit("frame_packed", "frame_model", "frame_arch", model_id,
               "loss='categorical_crossentropy', optimizer='Adam(0.1)', metrics=['accuracy']", {"batch_size": 32}, 5)
    predicted = each.predict("frame_model", frame.drop(columns="label"), independent_varname=["a", "b"],
                               pred_type="response", mst_key=1).set_index("id")
    assert sorted(predicted.index) == list(frame.index)
    assert (predicted.predicted_label == frame.label).mean() > 0.5
    images = {"label": labels, "image": DICE.integers(0, 256, (n, 4, 5)).astype("u1")}
    assert each.training_preprocessor(images, "image_packed", "label", "image") == n
    assert each.sql("SELECT independent_shape FROM image_packed_summary").iloc[0, 0] == [4, 5]
    assert ask("SELECT count(*) FROM pg_class WHERE relname LIKE 'hopper_client_%%'") == [(0,)]
    with pytest.raises(TypeError, match="id_col"):
        each.predict("frame_model", "frame")


def test_a_data_frame_from_one_call_to_predictions(each):
    """What auto_fit() makes of a frame stays, but for the views of it."""
    n = 200
    frame = pandas.DataFrame({"a": DICE.normal(size=n), "plan": ["basic", "pro"] * (n // 2)})
    frame["stays"] = (frame.a > 0) != (frame.plan == "pro")
    for again in (False, True):
        steps = each.auto_fit(frame, "stays", "of_a_frame", seconds=2, replace=again)
        assert list(steps.what) == ["split", "pack", "network", "search", "ensemble", "test", "next"]
    assert each.evaluate("of_a_frame", "of_a_frame_test_packed").metric > 0.5
    predicted = each.predict("of_a_frame", frame, pred_type="response").set_index("id").predicted_stays
    assert (predicted == frame.stays).mean() > 0.8
    explained = each.explain_row("of_a_frame", frame.iloc[0], frame, samples=10)
    assert sorted(explained.feature) == ["a", "plan"]
    assert ask("SELECT count(*) FROM pg_class WHERE relname LIKE 'hopper_client_%%'") == [(0,)]
    for labels in (frame.stays, frame.stays.to_numpy()):  # as scikit-learn has it
        with pytest.raises(TypeError, match='"dependent_varname" names columns of the data, and is none itself'):
            each.auto_fit(frame[["a", "plan"]], labels, "of_a_frame")
    with pytest.raises(TypeError, match="not a value of type DataFrame: write_table"):
        each.submit("auto_fit", frame, "stays", "of_a_frame", replace=True)
    each.drop_model("of_a_frame")
    for table in ("of_a_frame_packed", "of_a_frame_test_packed"):
        each.drop_packed(table)
    each.sql("DROP TABLE of_a_frame_networks, of_a_frame_best, of_a_frame_best_summary, of_a_frame_steps")


def test_whole_labels_may_be_classes(one, monkeypatch):
    """pandas makes floats of a label with gaps: what was to be classes would be numbers without a word."""
    n = 60
    for labels, options, asked in ((np.where(np.arange(n) % 3, np.arange(n) % 2, np.nan), {}, True), (np.arange(n) % 2 + 0.5, {}, False),
                                   (np.arange(n) % 22.0, {}, False), (np.arange(n) % 2 - 1.0, {}, False),
                                   (np.arange(n) % 2.0, {"label_kind": "value"}, False)):
        heard = []
        monkeypatch.setattr(one, "progress", heard.append)
        frame = pandas.DataFrame({"a": np.arange(n) * 1.0, "label": labels})
        one.training_preprocessor(frame, "whole_packed", "label", "a", null_labels="skip", replace=True, **options)
        detail, = (said.detail for said in heard if said.message.startswith("packed "))
        assert detail.startswith("The labels are numbers from ") and ("All are whole: where they are classes" in detail) == asked


def test_columns_that_are_not_needed(one):
    """What cannot be written is in the way only where it is needed."""
    n = 100
    frame = pandas.DataFrame({"label": np.arange(n) % 2, "a": np.arange(n) % 2 + 0.1, "b": np.arange(n) * 1.0,
                              "place": [1j] * n, "notes": [{"x": 1}] * n})
    assert one.training_preprocessor(frame, "odd_packed", "label", ["a", "b"]) == n
    model = one.mlp("odd_arch", "odd_packed", hidden=[2])
    one.fit("odd_packed", "odd_model", "odd_arch", model, "loss='binary_crossentropy', optimizer='SGD(0.1)'",
            "batch_size=16", 1)
    assert len(one.predict("odd_model", frame, pred_type="response")) == n
    with pytest.raises(TypeError, match='column "place" holds values of type complex'):
        one.training_preprocessor(frame, "never", "label", ["a", "place"])
    with pytest.raises(TypeError, match='column "b" holds values of type dict'):
        one.predict("odd_model", frame.assign(b=frame.notes), pred_type="response")
    with pytest.raises(TypeError, match='column "id" holds values of type dict'):
        one.predict("odd_model", frame.assign(id=frame.notes), pred_type="response")
    with pytest.raises(TypeError, match='column "place"'):
        one.training_preprocessor(frame[["place", "notes"]], "never", "label", "a")
    with pytest.raises(ValueError, match='column "many" holds a number that is too large for bigint'):
        one.write_table("never", {"many": [1, 10**20]})
    with pytest.raises(Exception, match='"c"'):
        one.training_preprocessor(frame, "never", "label", ["a", "c"])
    with pytest.raises(TypeError, match='column "place"'):
        one.write_table("never", frame)


def test_a_folder_of_images(one, tmp_path):
    for place, animal in enumerate(["cat", "dog", "cat", "dog", "dog"]):
        (tmp_path / animal).mkdir(exist_ok=True)
        pixels = np.full((6 + place, 8, 3), 40 * place, "u1")
        Image.fromarray(pixels).save(tmp_path / animal / f"{place}.png")
    (tmp_path / "cat" / "notes.txt").write_text("not an image")
    written = one.write_images("animals", tmp_path, size=(4, 5))
    assert written.shapes == {"image": (4, 5, 3)} and written.rows == 5
    assert ask("SELECT path, label, length(image), get_byte(image, 0) FROM animals ORDER BY id") == [
        (os.path.join("cat", "0.png"), "cat", 60, 0), (os.path.join("cat", "2.png"), "cat", 60, 80),
        (os.path.join("dog", "1.png"), "dog", 60, 40), (os.path.join("dog", "3.png"), "dog", 60, 120),
        (os.path.join("dog", "4.png"), "dog", 60, 160)]
    assert one.training_preprocessor("animals", "animals_packed", "label", "image", image_shape=(4, 5, 3)) == 5
    gray = one.write_images("gray", tmp_path / "cat", size=(4, 5), mode="L")
    assert gray.shapes == {"image": (4, 5, 1)} and "label" not in gray.types
    with pytest.raises(ValueError, match="size=.*6 x 8.*8 x 8"):
        one.write_images("sizes", tmp_path / "cat")
    with pytest.raises(ValueError, match="no images"):
        one.write_images("empty", pathlib.Path(tmp_path, "cat", "notes.txt").parent.parent / "no")
    (tmp_path / "cat" / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nthis is none")
    with pytest.raises(ValueError, match="broken.png"):
        one.write_images("broken", tmp_path, size=(4, 4))


def test_speed(one):
    """Far above what INSERTs or COPY of text reach; bytes made, not waited for, so that other work does not count."""
    images = DICE.integers(0, 256, (20000, 32, 32, 3)).astype("u1")
    columns = model_hopper._copy.columns_of({"label": np.arange(20000) % 10, "image": images})
    started = time.thread_time()
    size = sum(map(len, model_hopper._copy.encode(columns)))
    seconds = time.thread_time() - started
    assert size > images.nbytes
    assert seconds < 1, seconds  # 61 MB
