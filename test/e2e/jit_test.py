"""What the functions ask of their own tables is not compiled, however much the server thinks that it costs."""

import pytest

from digits import ADAM, connect, create_database, drop_database, query, select, value

DATABASE = "hopper_jit"
CALLS = [
    "SELECT count(*) FROM hopper.fit_multiple_model('packed', 'm', 'configs', 1, replace => true)",
    "SELECT hopper.copy_model('m', 'copied', ARRAY[1, 2], replace => true)",
    "SELECT hopper.keep_best('copied', 1)",
    "SELECT hopper.rename_model('copied', 'renamed', replace => true)",
    "SELECT configurations FROM hopper.automl(packed_table => 'packed', model_table => 's',"
    " model_arch_table => 'architectures', model_selection_table => 's_best', model_id_list => ARRAY[1],"
    " compile_params_grid => '{''loss'': [''categorical_crossentropy''],"
    " ''optimizer_params_list'': [{''optimizer'': [''Adam''], ''lr'': [0.001, 0.1, ''log'']}]}',"
    " fit_params_grid => '{''batch_size'': [32]}', automl_method => 'random',"
    " automl_params => 'num_configs=2, num_iterations=1', seed => 1, threads => 2, replace => true)",
    "SELECT count(*) FROM hopper.predict_row('m', 1, (SELECT pixels FROM digits WHERE id = 1))",
]


@pytest.fixture(scope="module")
def session():
    connection = create_database(DATABASE)
    if not value(connection, "SELECT pg_jit_available()"):
        connection.close()
        drop_database(DATABASE)
        pytest.skip("this server has no JIT compiler")
    select(connection, "configs", [(1, 1, ADAM, "batch_size=32"), (2, 1, ADAM, "batch_size=64")])
    connection.close()
    connection = connect(DATABASE)
    query(connection, "LOAD 'auto_explain'")
    for setting in ("auto_explain.log_min_duration = 0", "auto_explain.log_analyze = on",
                    "auto_explain.log_nested_statements = on", "auto_explain.log_level = notice",
                    "jit = on", "jit_above_cost = 0"):
        query(connection, "SET " + setting)
    yield connection
    connection.close()
    drop_database(DATABASE)


def compiled(session, call):
    """The plans that were compiled, and how many there were."""
    del session.notices[:]
    session.notices = []
    query(session, call)
    plans = [line for line in session.notices if "Query Text:" in line]
    return [plan for plan in plans if "JIT:" in plan], len(plans)


def test_others_statements_are_compiled(session):
    plans, _ = compiled(session, "SELECT count(*) FROM digits WHERE label > 3")
    assert len(plans) == 1
    assert value(session, "SHOW jit") == "on"


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.split("hopper.")[1].split("(")[0])
def test_ours_are_not(session, call):
    plans, n = compiled(session, call)
    # that of the call itself, which the user has written
    ours = [plan for plan in plans if call[:60] not in plan.split("Query Text: ")[1]]
    assert n > 1
    assert not ours, f"{len(ours)} of {n} plans: {ours[0]}"
    assert value(session, "SHOW jit") == "on"
