#!/usr/bin/env python3
"""Writes keras_words.json: ids that keras.layers.TextVectorization gives texts, and StringLookup and
IntegerLookup and Hashing values, for src/schema.

  pip install tensorflow-cpu==2.21.0 keras==3.15.1
  test/baseline/generate_keras_words.py

Of each case the texts that the layer was adapted to, how often each of their words comes (as the
survey of a table counts them, here by Keras' own preprocessing), other texts, and their ids.
"""
import collections
import json
import os
import pathlib
import random

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent

HOSTILE = [
    "", " ", "\t\n\v\f\r", "!\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~'", "don't STOP", "Don't  stop.",
    "naïve ÜBER Straße STRASSE", "ПРИВЕТ привет", "İstanbul ISTANBUL ıstanbul", "ΣΊΣΥΦΟΣ σίσυφος",
    "日本 語", "a\u00a0b", "a\u2003b\u3000c", "a\u2028b\u0085c", "«guillemets» “quotes” it’s – dash…",
    "¿Qué? ¡hola!", "tab\tand\vvertical\fform\rreturn\nline", "\x01\x02 bell\x07 \x1c\x1d\x1e\x1f x",
    "\x7f del", "e\u0301 é", "\ufeffbom", "emoji 😀 👩\u200d👩\u200d👧", "[UNK] unk", "0 00 1.5 1,5 -3",
    "a" * 300, "w " * 90, " lead and trail ", "-- --", "A-B a_b a.b AB", "x\u0000y".replace("\u0000", "")]


def case(name, train, given, length, vocabulary=None, **arguments):
    layer = keras.layers.TextVectorization(max_tokens=vocabulary, output_sequence_length=length,
                                           **arguments)
    layer.adapt(train)
    words = layer._preprocess(train)
    words = words.flat_values if layer._split is not None else words
    counts = collections.Counter(word.decode() for word in words.numpy() if word)
    ids = layer(given).numpy().tolist()
    return {"name": name, "train": train, "length": length, "vocabulary": vocabulary or 100000,
            "words": sorted(counts.items()), "vocabulary_found": layer.get_vocabulary()[2:],
            "given": given, "ids": ids, **arguments}


def looked_up(treatment, layer, family, given):
    """A layer with a vocabulary of its own as a treatment with its options."""
    ids = layer(given).numpy().reshape(len(given), -1).tolist()
    return {"treatment": treatment, "family": family, "given": [str(v) for v in given], "ids": ids}


def lookup_cases():
    plans = ["basic", "Gold", "", "ünder wear", "a.b"]
    texts = ["basic gold", "Gold", "", "never", "BASIC", "ünder wear", "a.b", "ab", " basic "]
    numbers = [7, -3, 0, 1000000007]
    words = ["basic", "gold", "wear", "Gold", "a.b", "BASIC"]
    cases = [
        looked_up({"treatment": "index", "values": plans},
                  keras.layers.StringLookup(vocabulary=plans), "text", texts),
        looked_up({"treatment": "index", "values": numbers},
                  keras.layers.IntegerLookup(vocabulary=numbers), "integer", [7, 0, 5, -3, 1000000007, -7]),
        looked_up({"treatment": "words", "standardize": "none", "split": "none", "length": 1,
                   "values": ["basic", "Gold", "ünder wear", "a.b", " basic "]},
                  keras.layers.StringLookup(vocabulary=["basic", "Gold", "ünder wear", "a.b", " basic "],
                                            mask_token=""), "text", texts)]
    more = texts + ["x" * n for n in range(1, 200, 7)] + ["ünder " * n for n in range(1, 12)]
    integers = [7, 0, 5, -3, 1000000007, -7, 12345678901]
    cases += [
        looked_up({"treatment": "index", "values": plans[:2], "mask": ""},
                  keras.layers.StringLookup(vocabulary=plans[:2], mask_token=""), "text", texts),
        looked_up({"treatment": "index", "values": plans[:2], "unknown": 3},
                  keras.layers.StringLookup(vocabulary=plans[:2], num_oov_indices=3), "text", more),
        looked_up({"treatment": "index", "values": plans[:2], "unknown": 7, "mask": "never"},
                  keras.layers.StringLookup(vocabulary=plans[:2], num_oov_indices=7, mask_token="never"),
                  "text", more),
        looked_up({"treatment": "index", "values": numbers, "unknown": 0},
                  keras.layers.IntegerLookup(vocabulary=numbers, num_oov_indices=0), "integer", numbers),
        looked_up({"treatment": "index", "values": numbers, "unknown": 5, "mask": 5},
                  keras.layers.IntegerLookup(vocabulary=numbers, num_oov_indices=5, mask_token=5),
                  "integer", integers),
        looked_up({"treatment": "hash", "bins": 1000}, keras.layers.Hashing(1000), "text", more),
        looked_up({"treatment": "hash", "bins": 16000000}, keras.layers.Hashing(16000000), "text", more),
        looked_up({"treatment": "hash", "bins": 1}, keras.layers.Hashing(1), "text", texts),
        looked_up({"treatment": "hash", "bins": 9, "mask": "Gold"},
                  keras.layers.Hashing(9, mask_value="Gold"), "text", more),
        looked_up({"treatment": "hash", "bins": 1000, "salt": [133, 137]},
                  keras.layers.Hashing(1000, salt=[133, 137]), "text", more),
        looked_up({"treatment": "hash", "bins": 1000, "salt": [7, 7]},
                  keras.layers.Hashing(1000, salt=7), "integer", integers),
        looked_up({"treatment": "hash", "bins": 50, "mask": 7},
                  keras.layers.Hashing(50, mask_value=7), "integer", integers),
        looked_up({"treatment": "word_counts", "values": words},
                  keras.layers.TextVectorization(output_mode="count", vocabulary=words), "text",
                  texts + ["gold, gold: never wear never"])]
    for standardize in ("lower_and_strip_punctuation", "lower", "strip_punctuation", None):
        cases.append(looked_up(
            {"treatment": "words", "length": 3, "values": words, "standardize": standardize or "none"},
            keras.layers.TextVectorization(standardize=standardize, output_sequence_length=3,
                                           vocabulary=words), "text", texts))
    return cases


def main():
    chance = random.Random(29)
    words = ["the", "The", "of", "price!", "Größe", "ЦЕНА", "цена", "it's", "x-ray", "42", "naïve", "«a»"]
    prose = [" ".join(chance.choice(words) for _ in range(chance.randrange(0, 30)))
             for _ in range(60)]
    cases = [
        case("prose", prose, prose[:20] + ["never seen words the"], 12),
        case("a small vocabulary, ties", ["b a c", "c d", "e f"], ["a b c d e f", "f"], 4, 6),
        case("hostile", HOSTILE, HOSTILE + ["A\u00a0B", "UNK é"], 9),
        case("a hostile small vocabulary", HOSTILE, HOSTILE, 40, 12),
    ]
    (HERE / "keras_words.json").write_text(json.dumps({"cases": cases, "lookups": lookup_cases()}) + "\n")


if __name__ == "__main__":
    main()
