"""Training digits in bf16: as good as fp32, and a NOTICE where it is emulated."""

import pytest

from digits import ADAM, create_database, dense, drop_database, layer, query, select, sequential, value

DATABASE = "hopper_precision"
# Wide enough for products of rounded operands on all processors.
WIDE = sequential(layer("Flatten", "flatten"), dense("hidden", 96, "relu"), dense("output", 10, "softmax"))
CONFIGS = [(key + 1, 2 + key % 2, "loss='categorical_crossentropy', optimizer='Adam(lr=0.005)',"
            " metrics=['accuracy']", f"batch_size=32, seed={key // 2 + 1}") for key in range(8)]


@pytest.fixture(scope="module")
def database():
    connection = create_database(DATABASE)
    assert value(connection, "SELECT hopper.load_model('architectures', %s)", WIDE) == 3
    select(connection, "configs", CONFIGS)
    yield connection
    connection.close()
    drop_database(DATABASE)


def accuracies(connection, precision):
    query(connection, f"SELECT hopper.fit_multiple_model('packed', '{precision}', 'configs', 10,"
          f" validation_table => 'packed_validation', dtype => '{precision}')")
    return [row[0] for row in query(connection, "SELECT validation_metrics_final"
                                    f" FROM {precision}_info ORDER BY mst_key")]


def test_digits_are_learned_as_well_as_in_fp32(database):
    fp32, bf16 = accuracies(database, "fp32"), accuracies(database, "bf16")
    assert min(bf16) > 0.9
    # A validation example is a quarter of a point; eight models, two precisions.
    assert abs(sum(fp32) - sum(bf16)) / len(fp32) < 0.01
    weights = query(database, "SELECT f.model_weights = b.model_weights FROM fp32 f"
                    " JOIN bf16 b USING (mst_key) WHERE f.mst_key % 2 = 0")
    assert weights == [(False,)] * (len(CONFIGS) // 2)
    assert value(database, 'SELECT dtype FROM bf16_summary') == "bf16"


def test_a_notice_says_where_bf16_is_slower(database):
    del database.notices[:]
    query(database, "SELECT hopper.fit('packed', 'noticed', 'architectures', 1, %s, NULL, 1,"
          " dtype => 'bf16')", ADAM)
    emulated = [line for line in database.notices if "is slower than" in line]
    numerics = value(database, "SELECT numerics_class FROM noticed_summary")
    if "bf16 emulated" in numerics:
        assert len(emulated) == 1
        assert 'NOTICE:  dtype "bf16" is slower than "fp32" here' in emulated[0]
    elif emulated:  # the processor has the instructions, and is slower with them
        assert "A product took 1." in emulated[0] or "A product took 2." in emulated[0]
