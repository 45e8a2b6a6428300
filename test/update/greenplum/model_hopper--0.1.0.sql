\echo Use "CREATE EXTENSION model_hopper" to load this file. \quit

COMMENT ON SCHEMA hopper IS
    'deep-learning model selection inside the database: models hop, data does not';
CREATE SEQUENCE hopper.journal_run_seq;
COMMENT ON SEQUENCE hopper.journal_run_seq IS 'numbers of runs in the journal';

CREATE TABLE hopper.journal_runs (
    run bigint PRIMARY KEY,
    output oid NOT NULL,
    output_name text NOT NULL,
    role oid NOT NULL,
    started timestamp with time zone NOT NULL,
    workers integer NOT NULL,
    threads_per_model integer NOT NULL,
    partitions integer NOT NULL,
    validation_partitions integer NOT NULL,
    level integer NOT NULL,
    seconds double precision NOT NULL,
    seconds_reading double precision NOT NULL,
    seconds_hop double precision NOT NULL,
    seconds_busy double precision NOT NULL,
    idle_share double precision NOT NULL,
    hop_share double precision NOT NULL);
COMMENT ON TABLE hopper.journal_runs IS
    'training runs that finished; read it through run_timeline() and explain_fit()';

CREATE TABLE hopper.journal_visits (
    run bigint,
    visit integer,
    iteration integer NOT NULL,
    mst_key integer NOT NULL,
    segment integer NOT NULL,
    worker integer NOT NULL,
    kind integer NOT NULL,
    split integer NOT NULL,
    first_partition integer NOT NULL,
    n_partitions integer NOT NULL,
    n_visits integer NOT NULL,
    started double precision NOT NULL,
    seconds_read double precision NOT NULL,
    seconds_wait double precision NOT NULL,
    seconds_hop double precision NOT NULL,
    seconds_train double precision NOT NULL,
    seconds_evaluate double precision NOT NULL,
    bytes_written bigint NOT NULL,
    PRIMARY KEY (run, visit));
COMMENT ON TABLE hopper.journal_visits IS
    'where the time of each visit of each model went; read it through run_timeline()';
CREATE FUNCTION hopper.build_info() RETURNS TABLE (
    name text,
    value text)
    AS 'MODULE_PATHNAME', 'hopper_sql_build_info' LANGUAGE C STABLE;
COMMENT ON FUNCTION hopper.build_info() IS
    'libtorch and what it was built with, instruction set, threads, CUDA; loads libtorch';
CREATE FUNCTION hopper.check_configs(
    model_selection_table text,
    source_table text DEFAULT NULL)
RETURNS TABLE (
    mst_key integer,
    severity text,
    sqlstate text,
    message text,
    detail text,
    hint text)
    AS 'MODULE_PATHNAME', 'hopper_sql_check_configs' LANGUAGE C STABLE;
COMMENT ON FUNCTION hopper.check_configs(text, text) IS
    'every problem of every configuration, a row each, with a packed table also whether models and data fit; no rows: all is well';
CREATE FUNCTION hopper.delete_model(keras_model_arch_table text, model_id integer) RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_delete_model' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.delete_model(text, integer) IS
    'deletes one architecture; drops the table with its last one';
CREATE FUNCTION hopper.describe_model(keras_model_arch_table text, model_id integer)
RETURNS TABLE (
    "position" integer,
    layer text,
    class_name text,
    output_shape text,
    parameters bigint,
    trainable bigint,
    flops bigint,
    inputs text)
    AS 'MODULE_PATHNAME', 'hopper_sql_describe_model' LANGUAGE C STABLE;
COMMENT ON FUNCTION hopper.describe_model(text, integer) IS
    'the layers of a stored architecture with shapes, parameters and operations an example, then a row with the totals';

CREATE FUNCTION hopper.describe_model(model_arch text)
RETURNS TABLE (
    "position" integer,
    layer text,
    class_name text,
    output_shape text,
    parameters bigint,
    trainable bigint,
    flops bigint,
    inputs text)
    AS 'MODULE_PATHNAME', 'hopper_sql_describe_architecture' LANGUAGE C IMMUTABLE;
COMMENT ON FUNCTION hopper.describe_model(text) IS
    'the layers of a Keras architecture with shapes, parameters and operations an example, then a row with the totals';

CREATE FUNCTION hopper.describe_model(model_arch json)
RETURNS TABLE (
    "position" integer,
    layer text,
    class_name text,
    output_shape text,
    parameters bigint,
    trainable bigint,
    flops bigint,
    inputs text)
    AS 'MODULE_PATHNAME', 'hopper_sql_describe_architecture' LANGUAGE C IMMUTABLE;
COMMENT ON FUNCTION hopper.describe_model(json) IS
    'the layers of a Keras architecture with shapes, parameters and operations an example, then a row with the totals';
CREATE TYPE hopper.evaluation AS (
    loss double precision,
    metric double precision,
    metrics_type text[],
    loss_type text,
    metrics double precision[]);
COMMENT ON TYPE hopper.evaluation IS
    'loss and metrics of one model on one packed table; metric is the first of metrics';

CREATE FUNCTION hopper.evaluate(
    model_table text,
    test_table text,
    output_table text DEFAULT NULL,
    use_gpus boolean DEFAULT false,
    mst_key integer DEFAULT NULL,
    confusion_table text DEFAULT NULL)
RETURNS hopper.evaluation
    AS 'MODULE_PATHNAME', 'hopper_sql_evaluate' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.evaluate(text, text, text, boolean, integer, text) IS
    'loss and metrics of a trained model on a packed table, which validation_preprocessor makes; confusion_table gets a row a class';
CREATE FUNCTION hopper.explain_fit(
    source_table text DEFAULT NULL,
    model_output_table text DEFAULT NULL,
    model_selection_table text DEFAULT NULL,
    num_iterations integer DEFAULT NULL,
    use_gpus boolean DEFAULT false,
    validation_table text DEFAULT NULL,
    metrics_compute_frequency integer DEFAULT NULL,
    threads integer DEFAULT NULL,
    training_metrics text DEFAULT 'final',
    threads_per_model integer DEFAULT 1,
    "analyze" boolean DEFAULT false,
    "precision" text DEFAULT 'fp32')
RETURNS TABLE (
    item text,
    mst_key integer,
    predicted double precision,
    measured double precision,
    unit text)
    AS 'MODULE_PATHNAME', 'hopper_sql_explain_fit' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.explain_fit(text, text, text, integer, boolean, text, integer, integer,
    text, integer, boolean, text) IS
    'what fit_multiple_model would take, without training; with "analyze", beside what a run took';
CREATE TYPE hopper.fit_result AS (
    model_output_table text,
    best_mst_key integer,
    best_metric text,
    best_value double precision,
    models_trained integer,
    models_failed integer,
    seconds double precision);
COMMENT ON TYPE hopper.fit_result IS
    'what a training run returns: its best configuration, and how many models were trained';

CREATE FUNCTION hopper.fit(
    source_table text,
    model text,
    model_arch_table text,
    model_id integer,
    compile_params text,
    fit_params text,
    num_iterations integer,
    use_gpus boolean DEFAULT false,
    validation_table text DEFAULT NULL,
    metrics_compute_frequency integer DEFAULT NULL,
    warm_start boolean DEFAULT false,
    name text DEFAULT NULL,
    description text DEFAULT NULL,
    seed bigint DEFAULT 0,
    threads integer DEFAULT NULL,
    "precision" text DEFAULT 'fp32',
    training_metrics text DEFAULT 'final',
    threads_per_model integer DEFAULT 1,
    fuse boolean DEFAULT true,
    gpus integer[] DEFAULT NULL)
RETURNS hopper.fit_result
    AS 'MODULE_PATHNAME', 'hopper_sql_fit' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.fit(text, text, text, integer, text, text, integer, boolean, text,
    integer, boolean, text, text, bigint, integer, text, text, integer,
    boolean, integer[]) IS
    'train one model on a packed table; its tables are those of fit_multiple_model, with mst_key 1';
CREATE FUNCTION hopper.fit_multiple_model(
    source_table text,
    model_output_table text,
    model_selection_table text,
    num_iterations integer,
    use_gpus boolean DEFAULT false,
    validation_table text DEFAULT NULL,
    metrics_compute_frequency integer DEFAULT NULL,
    warm_start boolean DEFAULT false,
    name text DEFAULT NULL,
    description text DEFAULT NULL,
    use_caching boolean DEFAULT false,
    seed bigint DEFAULT 0,
    threads integer DEFAULT NULL,
    "precision" text DEFAULT 'fp32',
    training_metrics text DEFAULT 'final',
    threads_per_model integer DEFAULT 1,
    fuse boolean DEFAULT true,
    gpus integer[] DEFAULT NULL)
RETURNS hopper.fit_result
    AS 'MODULE_PATHNAME', 'hopper_sql_fit_multiple_model' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.fit_multiple_model(text, text, text, integer, boolean, text, integer,
    boolean, text, text, boolean, bigint, integer, text, text, integer,
    boolean, integer[]) IS
    'train all configurations of a model selection table together on a packed table';
CREATE FUNCTION hopper.generate_model_configs(
    model_arch_table text,
    model_selection_table text,
    model_id_list integer[],
    compile_params_grid text,
    fit_params_grid text,
    search_type text DEFAULT 'grid',
    num_configs integer DEFAULT NULL,
    random_state integer DEFAULT NULL) RETURNS integer
    AS 'MODULE_PATHNAME', 'hopper_sql_generate_model_configs' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.generate_model_configs(text, text, integer[], text, text, text, integer, integer) IS
    'adds configurations by grid or random search to a selection table, which is made on first use; returns the number added';
CREATE FUNCTION hopper.gpu_configuration() RETURNS TABLE (
    hostname text,
    gpu_descr text,
    gpu_index integer,
    memory_mb bigint,
    capability text)
    AS 'MODULE_PATHNAME', 'hopper_sql_gpu_configuration' LANGUAGE C STABLE;
COMMENT ON FUNCTION hopper.gpu_configuration() IS
    'the GPUs of the server''s machine, a row each; no rows where there is none; loads libtorch';
CREATE FUNCTION hopper.layers() RETURNS TABLE (
    class_name text,
    weights text,
    description text)
    AS 'MODULE_PATHNAME', 'hopper_sql_layers' LANGUAGE C STABLE;
COMMENT ON FUNCTION hopper.layers() IS
    'the Keras layers that can be trained, and the weights of each';
CREATE FUNCTION hopper.metric_ascends(metric text) RETURNS boolean
    AS 'MODULE_PATHNAME', 'hopper_sql_metric_ascends' LANGUAGE C IMMUTABLE STRICT;
COMMENT ON FUNCTION hopper.metric_ascends(text) IS
    'whether larger values of this metric are better (accuracies), or smaller ones (losses, errors)';

CREATE FUNCTION hopper.sparkline("values" double precision[], width integer DEFAULT 30) RETURNS text
    AS 'MODULE_PATHNAME', 'hopper_sql_sparkline' LANGUAGE C STABLE;
COMMENT ON FUNCTION hopper.sparkline(double precision[], integer) IS
    'a curve drawn in one line of at most width characters';

CREATE FUNCTION hopper.leaderboard(model_output_table text, k integer DEFAULT NULL)
RETURNS TABLE (
    rank integer,
    mst_key integer,
    model_id integer,
    status text,
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
    curve text)
    AS 'MODULE_PATHNAME', 'hopper_sql_leaderboard' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.leaderboard(text, integer) IS
    'the models of a run, best first: metrics, overfitting, cost, parameters and the curve of the metric';

CREATE FUNCTION hopper.learning_curves(model_output_table text)
RETURNS TABLE (
    mst_key integer,
    iteration integer,
    split text,
    metric text,
    value double precision,
    seconds double precision)
    AS 'MODULE_PATHNAME', 'hopper_sql_learning_curves' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.learning_curves(text) IS
    'loss and metrics of every model, iteration and split, a row a value';
-- An architecture given as text gets our messages where it is no JSON; one of type json has passed
-- the server's parser already.
CREATE FUNCTION hopper.load_model(
    keras_model_arch_table text,
    model_arch text,
    model_weights bytea DEFAULT NULL,
    name text DEFAULT NULL,
    description text DEFAULT NULL) RETURNS integer
    AS 'MODULE_PATHNAME', 'hopper_sql_load_model' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.load_model(text, text, bytea, text, text) IS
    'checks a Keras architecture (model.to_json()) and weights (float32 of model.get_weights(), concatenated) and adds them to a table, which is made on first use; returns model_id';

CREATE FUNCTION hopper.load_model(
    keras_model_arch_table text,
    model_arch json,
    model_weights bytea DEFAULT NULL,
    name text DEFAULT NULL,
    description text DEFAULT NULL) RETURNS integer
    AS 'MODULE_PATHNAME', 'hopper_sql_load_model' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.load_model(text, json, bytea, text, text) IS
    'checks a Keras architecture (model.to_json()) and weights (float32 of model.get_weights(), concatenated) and adds them to a table, which is made on first use; returns model_id';
CREATE FUNCTION hopper.load_model_selection_table(
    model_arch_table text,
    model_selection_table text,
    model_id_list integer[],
    compile_params_list text[],
    fit_params_list text[]) RETURNS integer
    AS 'MODULE_PATHNAME', 'hopper_sql_load_model_selection_table' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.load_model_selection_table(text, text, integer[], text[], text[]) IS
    'makes a table of configurations to train, every combination of three lists; returns their number';
CREATE FUNCTION hopper.predict(
    model_table text,
    test_table text,
    id_col text,
    independent_varname text,
    output_table text,
    pred_type text DEFAULT 'prob',
    use_gpus boolean DEFAULT false,
    mst_key integer DEFAULT NULL)
RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_predict' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.predict(text, text, text, text, text, text, boolean, integer) IS
    'predict the rows of an unpacked table: all classes (prob) or the most probable one (response)';

CREATE FUNCTION hopper.predict(
    model_table text,
    test_table text,
    id_col text,
    independent_varname text,
    output_table text,
    pred_type integer,
    use_gpus boolean DEFAULT false,
    mst_key integer DEFAULT NULL)
RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_top' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.predict(text, text, text, text, text, integer, boolean, integer) IS
    'predict the rows of an unpacked table: the pred_type most probable classes';

CREATE FUNCTION hopper.predict(
    model_table text,
    test_table text,
    id_col text,
    independent_varname text,
    output_table text,
    pred_type double precision,
    use_gpus boolean DEFAULT false,
    mst_key integer DEFAULT NULL)
RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_threshold' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.predict(text, text, text, text, text, double precision, boolean, integer) IS
    'predict the rows of an unpacked table: the classes that are more probable than pred_type';
CREATE FUNCTION hopper.predict_byom(
    model_arch_table text,
    model_id integer,
    test_table text,
    id_col text,
    independent_varname text,
    output_table text,
    pred_type text DEFAULT 'prob',
    use_gpus boolean DEFAULT false,
    class_values text[] DEFAULT NULL,
    normalizing_const double precision DEFAULT 1.0)
RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_byom' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.predict_byom(text, integer, text, text, text, text, text, boolean,
    text[], double precision) IS
    'predict with the weights of an architecture table: all classes (prob) or the most probable one (response)';

CREATE FUNCTION hopper.predict_byom(
    model_arch_table text,
    model_id integer,
    test_table text,
    id_col text,
    independent_varname text,
    output_table text,
    pred_type integer,
    use_gpus boolean DEFAULT false,
    class_values text[] DEFAULT NULL,
    normalizing_const double precision DEFAULT 1.0)
RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_byom_top' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.predict_byom(text, integer, text, text, text, text, integer, boolean,
    text[], double precision) IS
    'predict with the weights of an architecture table: the pred_type most probable classes';

CREATE FUNCTION hopper.predict_byom(
    model_arch_table text,
    model_id integer,
    test_table text,
    id_col text,
    independent_varname text,
    output_table text,
    pred_type double precision,
    use_gpus boolean DEFAULT false,
    class_values text[] DEFAULT NULL,
    normalizing_const double precision DEFAULT 1.0)
RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_byom_threshold' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.predict_byom(text, integer, text, text, text, text, double precision, boolean,
    text[], double precision) IS
    'predict with the weights of an architecture table: the classes that are more probable than pred_type';
CREATE FUNCTION hopper.predict_row(model_table text, mst_key integer, features anyarray)
RETURNS TABLE (class_value text, prob double precision, value double precision)
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_row' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.predict_row(text, integer, anyarray) IS
    'predict one row, given as an array of numbers: its classes, the most probable first, or the value of a regression';

CREATE FUNCTION hopper.predict_row(model_table text, mst_key integer, features bytea)
RETURNS TABLE (class_value text, prob double precision, value double precision)
    AS 'MODULE_PATHNAME', 'hopper_sql_predict_row' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.predict_row(text, integer, bytea) IS
    'predict one row, given as an image: its classes, the most probable first, or the value of a regression';
CREATE FUNCTION hopper.run_timeline(model_output_table text)
RETURNS TABLE (
    run integer,
    iteration integer,
    segment integer,
    worker integer,
    mst_key integer,
    kind text,
    split text,
    partitions integer[],
    visits integer,
    started timestamp with time zone,
    seconds_read double precision,
    seconds_wait double precision,
    seconds_hop double precision,
    seconds_train double precision,
    seconds_evaluate double precision,
    bytes_written bigint)
    AS 'MODULE_PATHNAME', 'hopper_sql_run_timeline' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.run_timeline(text) IS
    'the visits of a run''s models in the order of time: where each was, and what its seconds went to';
CREATE FUNCTION hopper.training_preprocessor(
    source_table text,
    output_table text,
    dependent_varname text,
    independent_varname text,
    buffer_size int DEFAULT NULL,
    normalizing_const real DEFAULT 1.0,
    num_classes int[] DEFAULT NULL,
    distribution_rules text DEFAULT NULL,
    partitions int DEFAULT NULL,
    seed bigint DEFAULT 0,
    validation_fraction float8 DEFAULT NULL,
    fold_column text DEFAULT NULL,
    image_shape int[] DEFAULT NULL,
    starts int[] DEFAULT NULL
) RETURNS bigint
LANGUAGE C VOLATILE
AS 'MODULE_PATHNAME', 'hopper_sql_training_preprocessor';

COMMENT ON FUNCTION hopper.training_preprocessor(
    text, text, text, text, int, real, int[], text, int, bigint, float8, text, int[], int[]) IS
'packs a table or view for training into <output_table> and <output_table>_summary, on request also a part of its rows into <output_table>_validation; returns the number of rows';
CREATE FUNCTION hopper.validation_preprocessor(
    source_table text,
    output_table text,
    dependent_varname text,
    independent_varname text,
    training_preprocessor_table text,
    buffer_size int DEFAULT NULL,
    distribution_rules text DEFAULT NULL
) RETURNS bigint
LANGUAGE C VOLATILE
AS 'MODULE_PATHNAME', 'hopper_sql_validation_preprocessor';

COMMENT ON FUNCTION hopper.validation_preprocessor(text, text, text, text, text, int, text) IS
'packs a table or view for validation with the classes, constant, types and shapes of a packed training table; returns the number of rows';
CREATE FUNCTION hopper.version() RETURNS text
    AS 'MODULE_PATHNAME', 'hopper_sql_version' LANGUAGE C STABLE;
COMMENT ON FUNCTION hopper.version() IS
    'version of the extension in this database and of its library; does not load libtorch';
-- Evaluation on the segments: what evaluate() calls there; not for users.
CREATE FUNCTION hopper.segment_evaluation_row(internal, bytea, integer, integer, integer, integer,
    bytea, bytea, bytea) RETURNS internal
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_evaluation_row' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.segment_evaluation_row(internal, bytea, integer, integer, integer,
    integer, bytea, bytea, bytea) IS
    'internal: takes one buffer of packed data into an evaluation';

CREATE FUNCTION hopper.segment_evaluation_end(internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_evaluation_end' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.segment_evaluation_end(internal) IS
    'internal: the sums of the partitions of one segment';

CREATE AGGREGATE hopper.segment_evaluation(description bytea, key integer, partition_id integer,
    buffer_id integer, n integer, x bytea, y bytea, checksum bytea) (
    SFUNC = hopper.segment_evaluation_row, STYPE = internal,
    FINALFUNC = hopper.segment_evaluation_end);
COMMENT ON AGGREGATE hopper.segment_evaluation(bytea, integer, integer, integer, integer, bytea,
    bytea, bytea) IS
    'internal: evaluates one segment''s partitions of packed data';

CREATE FUNCTION hopper.segment_evaluation_total(description bytea, sums bytea)
    RETURNS TABLE (event bytea, confusion bytea)
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_evaluation_total' LANGUAGE C VOLATILE
    EXECUTE ON ALL SEGMENTS;
COMMENT ON FUNCTION hopper.segment_evaluation_total(bytea, bytea) IS
    'internal: loss and metrics from the sums of all segments';
-- What the coordinator's statements call on the segments; not for users.
CREATE TYPE hopper.segment_row AS (
    mst_key integer,
    next_key integer,
    part integer,
    n_parts integer,
    done boolean,
    missing boolean,
    report bytea,
    result bytea,
    body bytea);
COMMENT ON TYPE hopper.segment_row IS
    'one part of a model that leaves a segment';

CREATE FUNCTION hopper.segment_load(internal, bigint, bytea, integer, integer, integer, integer,
    integer, bytea, bytea, bytea) RETURNS internal
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_load' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.segment_load(internal, bigint, bytea, integer, integer, integer, integer,
    integer, bytea, bytea, bytea) IS
    'internal: takes one buffer of packed data into the memory of a segment';

CREATE FUNCTION hopper.segment_load_end(internal) RETURNS text
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_load_end' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.segment_load_end(internal) IS
    'internal: the numerics class of a segment that has its data';

CREATE AGGREGATE hopper.segment_data(run bigint, description bytea, key integer, split integer,
    partition_id integer, buffer_id integer, n integer, x bytea, y bytea, checksum bytea) (
    SFUNC = hopper.segment_load, STYPE = internal, FINALFUNC = hopper.segment_load_end);
COMMENT ON AGGREGATE hopper.segment_data(bigint, bytea, integer, integer, integer, integer, integer,
    bytea, bytea, bytea) IS
    'internal: packed data of one segment into its memory';

CREATE FUNCTION hopper.segment_collect(internal, bigint, integer, boolean, boolean, integer,
    integer, integer, bytea) RETURNS internal
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_collect' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.segment_collect(internal, bigint, integer, boolean, boolean, integer,
    integer, integer, bytea) IS
    'internal: takes one part of a model in';

CREATE FUNCTION hopper.segment_train(internal) RETURNS integer
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_train' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.segment_train(internal) IS
    'internal: trains the models that were collected';

CREATE AGGREGATE hopper.segment_visit(run bigint, iteration integer, fresh boolean, finish boolean,
    mst_key integer, part integer, n_parts integer, body bytea) (
    SFUNC = hopper.segment_collect, STYPE = internal, FINALFUNC = hopper.segment_train);
COMMENT ON AGGREGATE hopper.segment_visit(bigint, integer, boolean, boolean, integer, integer,
    integer, bytea) IS
    'internal: the models that visit a segment, trained';

CREATE FUNCTION hopper.segment_emit(trained integer, key integer) RETURNS SETOF hopper.segment_row
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_emit' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.segment_emit(integer, integer) IS
    'internal: the parts of the models that leave a segment';

CREATE FUNCTION hopper.segment_release(run bigint) RETURNS integer
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_release' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.segment_release(bigint) IS
    'internal: gives up the memory of a run on a segment';

CREATE FUNCTION hopper.segment_gpus() RETURNS TABLE (
    hostname text,
    gpu_descr text,
    gpu_index integer,
    memory_mb bigint,
    capability text)
    AS 'MODULE_PATHNAME', 'hopper_sql_gpu_configuration' LANGUAGE C VOLATILE
    EXECUTE ON ALL SEGMENTS;
COMMENT ON FUNCTION hopper.segment_gpus() IS
    'internal: the GPUs that each segment sees';

CREATE OR REPLACE FUNCTION hopper.gpu_configuration() RETURNS TABLE (
    hostname text,
    gpu_descr text,
    gpu_index integer,
    memory_mb bigint,
    capability text)
    AS 'SELECT DISTINCT * FROM hopper.segment_gpus() ORDER BY hostname, gpu_index'
    LANGUAGE sql VOLATILE;
COMMENT ON FUNCTION hopper.gpu_configuration() IS
    'the GPUs of all hosts with segments, a row each; no rows where there is none; loads libtorch';

-- They read tables, which only the coordinator's own process may do: also where they are joined
-- with a table.
ALTER FUNCTION hopper.check_configs(text, text) EXECUTE ON INITPLAN;
ALTER FUNCTION hopper.describe_model(text, integer) EXECUTE ON INITPLAN;
ALTER FUNCTION hopper.leaderboard(text, integer) EXECUTE ON INITPLAN;
ALTER FUNCTION hopper.learning_curves(text) EXECUTE ON INITPLAN;
ALTER FUNCTION hopper.run_timeline(text) EXECUTE ON INITPLAN;
ALTER FUNCTION hopper.explain_fit(text, text, text, integer, boolean, text, integer, integer, text,
    integer, boolean, text) EXECUTE ON INITPLAN;
-- Packing on the segments: what training_preprocessor() and validation_preprocessor() call there;
-- not for users.
CREATE TYPE hopper.packed_buffer AS (
    partition_id integer,
    buffer_id integer,
    n integer,
    x bytea,
    y bytea,
    x_shape integer[],
    y_shape integer[],
    checksum bytea);
COMMENT ON TYPE hopper.packed_buffer IS
    'one buffer of a packed table';

CREATE FUNCTION hopper.segment_encode(rows anytable, job bytea) RETURNS TABLE (
    key bytea,
    stratum integer,
    body bytea)
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_encode' LANGUAGE C STABLE;
COMMENT ON FUNCTION hopper.segment_encode(anytable, bytea) IS
    'internal: rows of the source as packed bytes with their rank keys';

CREATE FUNCTION hopper.segment_slot(plan bytea, key bytea, stratum integer, segment integer,
    place tid) RETURNS bigint
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_slot' LANGUAGE C IMMUTABLE STRICT;
COMMENT ON FUNCTION hopper.segment_slot(bytea, bytea, integer, integer, tid) IS
    'internal: distribution key and buffer of a row; null where it goes to another table';

CREATE FUNCTION hopper.segment_slot_key(slot bigint) RETURNS integer
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_slot_key' LANGUAGE C IMMUTABLE STRICT;
COMMENT ON FUNCTION hopper.segment_slot_key(bigint) IS
    'internal: the distribution key in a slot';

CREATE FUNCTION hopper.segment_slot_buffer(slot bigint) RETURNS integer
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_slot_buffer' LANGUAGE C IMMUTABLE STRICT;
COMMENT ON FUNCTION hopper.segment_slot_buffer(bigint) IS
    'internal: the buffer in a slot';

CREATE FUNCTION hopper.segment_buffer_row(internal, bytea, integer, bigint, bytea)
    RETURNS internal
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_buffer_row' LANGUAGE C STABLE;
COMMENT ON FUNCTION hopper.segment_buffer_row(internal, bytea, integer, bigint, bytea) IS
    'internal: takes a row into a buffer';

CREATE FUNCTION hopper.segment_buffer_end(internal) RETURNS hopper.packed_buffer
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_buffer_end' LANGUAGE C STABLE;
COMMENT ON FUNCTION hopper.segment_buffer_end(internal) IS
    'internal: a buffer that is full';

CREATE AGGREGATE hopper.segment_buffer(plan bytea, buffer integer, rank bigint, body bytea) (
    SFUNC = hopper.segment_buffer_row, STYPE = internal,
    FINALFUNC = hopper.segment_buffer_end);
COMMENT ON AGGREGATE hopper.segment_buffer(bytea, integer, bigint, bytea) IS
    'internal: rows in rank order become a buffer';
-- Prediction on the segments: what predict() and predict_byom() call there; not for users.
CREATE FUNCTION hopper.segment_predict(rows anytable, description bytea) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_predict' LANGUAGE C STABLE;
COMMENT ON FUNCTION hopper.segment_predict(anytable, bytea) IS
    'internal: predictions for rows where they lie';
-- Functions run with their caller's rights on the caller's tables; every role may call them.
GRANT USAGE ON SCHEMA hopper TO PUBLIC;
