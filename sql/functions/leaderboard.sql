CREATE FUNCTION hopper.metric_ascends(metric text) RETURNS boolean
    AS 'MODULE_PATHNAME', 'hopper_sql_metric_ascends' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hopper.metric_ascends(text) IS
    'whether larger values of this metric are better (accuracies), or smaller ones (losses, errors); NULL of counts

Task: 6.5 compare
metric: name of a metric or loss, as in compile parameters
Example:
SELECT hopper.metric_ascends(''accuracy'');';

CREATE FUNCTION hopper.sparkline(points double precision[], width bigint DEFAULT 30) RETURNS text
    AS 'MODULE_PATHNAME', 'hopper_sql_sparkline' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION hopper.sparkline(double precision[], bigint) IS
    'a curve drawn in one line of at most width characters

Task: 6.4 compare
points: values to draw
width: at most so many characters
Example:
SELECT hopper.sparkline(ARRAY[1, 2, 4, 8, 16]);';

CREATE FUNCTION hopper.leaderboard(
    model_table text,
    n bigint DEFAULT NULL,
    rank_by text DEFAULT NULL)
RETURNS TABLE (
    rank integer,
    mst_key integer,
    model_id integer,
    status text,
    metric text,
    validation_metric double precision,
    training_metric double precision,
    overfit_gap double precision,
    validation_loss double precision,
    training_loss double precision,
    iterations integer,
    seconds double precision,
    parameters bigint,
    compile_params text,
    fit_params text,
    curve text,
    best_value double precision,
    best_iteration integer,
    has_weights boolean)
    AS 'MODULE_PATHNAME', 'hopper_sql_leaderboard' LANGUAGE C VOLATILE PARALLEL UNSAFE /* EXECUTE ON INITPLAN */;
COMMENT ON FUNCTION hopper.leaderboard(text, bigint, text) IS
    'the models of a run, best first by one metric that all of them compute, or as a search has compared them: its values, overfitting, cost, parameters, its curve and whether the weights are there

Task: 6.1 compare
model_table: table of models that training writes; its companions are _info, _summary and _state
n: only the first n; by itself all
rank_by: another metric that all of them compute, or ''loss''; by itself that of the run, or what a search has decided by
Example:
SELECT rank, mst_key, metric, validation_metric, curve FROM hopper.leaderboard(model_table := ''models'');';

CREATE FUNCTION hopper.learning_curves(model_table text)
RETURNS TABLE (
    mst_key integer,
    iteration integer,
    split text,
    metric text,
    value double precision,
    seconds double precision)
    AS 'MODULE_PATHNAME', 'hopper_sql_learning_curves' LANGUAGE C VOLATILE PARALLEL UNSAFE /* EXECUTE ON INITPLAN */;
COMMENT ON FUNCTION hopper.learning_curves(text) IS
    'loss and metrics of every model, iteration and split, a row per value

Task: 6.2 compare
model_table: table of models that training writes; its companions are _info, _summary and _state
Example:
SELECT iteration, split, value FROM hopper.learning_curves(model_table := ''models'')
WHERE mst_key = 1 AND metric = ''accuracy'';';
