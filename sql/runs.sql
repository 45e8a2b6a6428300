-- Runs as rows. They are written by the extension's functions alone, and shown by the views of
-- sql/views.sql.
CREATE TABLE hopper.all_runs (
    run bigint PRIMARY KEY,
    role regrole NOT NULL,
    function text NOT NULL,
    statement text,
    search_path text,
    settings text,
    tables text,
    selection text,
    model_table text NOT NULL,
    packed_table text,
    validation_table text,
    data text,
    continues text,
    closing text,
    name text,
    description text,
    created timestamp with time zone NOT NULL,
    queued timestamp with time zone, -- for a worker of the server that has started then,
    queued_in oid,                   -- in this database; NULL where it got no connection
    started timestamp with time zone,
    ended timestamp with time zone,
    opening bigint,                  -- by whom it was opened last, who may go on with it; NULL: a worker is to open it
    outcome text,
    error text,
    error_code text,
    trials integer,
    failed integer,
    iterations bigint,
    best_trial integer,
    best_metric text,
    best_value double precision,
    search text,
    checkpoints integer NOT NULL DEFAULT 0,
    seconds_checkpoints double precision NOT NULL DEFAULT 0,
    last_checkpoint timestamp with time zone);
COMMENT ON TABLE hopper.all_runs IS 'runs of all roles; read them in hopper.runs';

CREATE TABLE hopper.all_trials (
    run bigint,
    trial integer,
    model_id integer,
    compile_params text,
    fit_params text,
    architecture text NOT NULL,
    status text NOT NULL,
    iterations integer NOT NULL,
    seconds double precision,
    digest text,
    error text,
    parameters text,
    value double precision,
    latest text,
    began double precision,
    elapsed double precision,
    earlier integer NOT NULL DEFAULT 0,
    id bigint NOT NULL UNIQUE,
    uuid text NOT NULL UNIQUE,
    PRIMARY KEY (run, trial));
COMMENT ON TABLE hopper.all_trials IS 'trials of all runs; read them in hopper.trials';

CREATE TABLE hopper.all_trial_metrics (
    run bigint NOT NULL,
    trial integer NOT NULL,
    iteration integer NOT NULL,
    split text NOT NULL,
    metric text NOT NULL,
    value double precision NOT NULL,
    seconds double precision);
CREATE INDEX all_trial_metrics_run_trial ON hopper.all_trial_metrics (run, trial);
COMMENT ON TABLE hopper.all_trial_metrics IS
    'what trials of all runs have reached; read it in hopper.trial_metrics';

CREATE TABLE hopper.all_run_events (
    run bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    event text NOT NULL,
    trial integer,
    role regrole NOT NULL,
    detail text);
CREATE INDEX all_run_events_run ON hopper.all_run_events (run);
COMMENT ON TABLE hopper.all_run_events IS
    'what happened to all runs; read it in hopper.run_events';

CREATE TABLE hopper.all_search_results (
    run bigint,
    number integer,
    batch integer NOT NULL,
    trial integer,
    iterations integer,
    objectives double precision[],
    last_objectives double precision[],
    error text,
    elapsed double precision NOT NULL,
    steering text,
    wished timestamp with time zone,
    PRIMARY KEY (run, number));
COMMENT ON TABLE hopper.all_search_results IS
    'what searches of all runs were told, in this order: a search is restored by telling it again';

CREATE TABLE hopper.all_run_grants (
    run bigint,
    role regrole,
    steers boolean NOT NULL,
    PRIMARY KEY (run, role));
COMMENT ON TABLE hopper.all_run_grants IS
    'who sees a run, or steers it, beside its own role; 0 is everybody';

-- Without a key their rows could not be deleted where a publication has all tables.
ALTER TABLE hopper.all_trial_metrics REPLICA IDENTITY FULL;
ALTER TABLE hopper.all_run_events REPLICA IDENTITY FULL;

-- Each checkpoint writes its row of these anew: in the same page, as long as there is room.
ALTER TABLE hopper.all_runs SET (fillfactor = 50);
ALTER TABLE hopper.all_trials SET (fillfactor = 50);

-- Dumps carry runs, with their roles' names, and the number of the next one: not those of roles that are gone, whose
-- numbers may be others' elsewhere.
SELECT pg_catalog.pg_extension_config_dump('hopper.journal_run_seq', '');
SELECT pg_catalog.pg_extension_config_dump('hopper.all_runs',
    'WHERE EXISTS (SELECT 1 FROM pg_catalog.pg_roles r WHERE r.oid = role)');
SELECT pg_catalog.pg_extension_config_dump('hopper.all_trials', '');
SELECT pg_catalog.pg_extension_config_dump('hopper.all_trial_metrics', '');
SELECT pg_catalog.pg_extension_config_dump('hopper.all_run_events', '');
SELECT pg_catalog.pg_extension_config_dump('hopper.all_run_grants',
    'WHERE role::oid = 0 OR EXISTS (SELECT 1 FROM pg_catalog.pg_roles r WHERE r.oid = role)');
SELECT pg_catalog.pg_extension_config_dump('hopper.all_search_results', '');
