CREATE FUNCTION hopper.ensemble(
    model_table text,
    packed_table text,
    size integer DEFAULT 20,
    mst_keys hopper.integers DEFAULT NULL,
    rank_by text DEFAULT NULL,
    initial integer DEFAULT 5,
    OUT mst_key integer,
    OUT members integer[],
    OUT shares double precision[],
    OUT metric text,
    OUT value double precision,
    OUT best_member integer,
    OUT best_member_value double precision)
    AS 'MODULE_PATHNAME', 'hopper_sql_ensemble' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.ensemble(text, text, integer, hopper.integers, text, integer) IS
    'adds a model to a table of models that averages those which predict best together; returns its number and its members

Task: 7.45 predict
model_table: table of models that training writes; its companions are _info, _summary and _state
packed_table: packed table of rows that the models were not trained on, which decides who is a member
size: steps of the selection, each of which adds the model that helps most, also once more
mst_keys: configurations (model selection tuples) that may be members; by itself all
rank_by: a metric of the models, or loss; by itself what they are ranked by
initial: so many of the best models are members from the start, but at most half of all; 1: the selection begins with the best one alone
Example:
SELECT members, shares, value FROM hopper.ensemble(model_table := ''models'', packed_table := ''points_packed_validation'', size := 10);';
