CREATE FUNCTION hopper.run_timeline(model_table text)
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
    AS 'MODULE_PATHNAME', 'hopper_sql_run_timeline' LANGUAGE C VOLATILE PARALLEL UNSAFE /* EXECUTE ON INITPLAN */;
COMMENT ON FUNCTION hopper.run_timeline(text) IS
    'the visits of a run''s models in the order of time: where each was, and what its seconds went to; of a run of several sessions those of the last one

Task: 6.3 compare
model_table: table of models that training writes; its companions are _info, _summary and _state
Example:
SELECT mst_key, kind, seconds_train FROM hopper.run_timeline(model_table := ''models'');';
