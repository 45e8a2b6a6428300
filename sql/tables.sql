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
