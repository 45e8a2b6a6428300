-- What a role sees of runs: its own, and those of roles whose rights it has. Whether a run is running
-- is stored nowhere: its driver holds a lock (src/pg/run/lease.h has the numbers). Its worker,
-- which is started again until it gets a connection, is of one server and one database: a standby that was promoted and
-- a copy of a database have none. A standby sees no locks of its primary.
CREATE VIEW hopper.seen_runs AS
SELECT r.run, r.started, r.outcome
FROM hopper.all_runs r
WHERE pg_catalog.pg_has_role(r.role, 'USAGE')
    OR EXISTS (SELECT 1 FROM hopper.all_run_grants g WHERE g.run = r.run
               AND CASE WHEN g.role = 0 THEN true ELSE pg_catalog.pg_has_role(g.role, 'USAGE') END);
COMMENT ON VIEW hopper.seen_runs IS 'runs that a role sees: for the other views';

CREATE VIEW hopper.runs WITH (security_barrier) AS
SELECT r.run,
       CASE WHEN r.outcome IS NOT NULL THEN r.outcome
            WHEN l.pid IS NOT NULL THEN 'running'
            WHEN (SELECT e.event FROM hopper.all_run_events e WHERE e.run = r.run
                  AND e.event IN ('submitted', 'resumed', 'pause', 'cancel')
                  ORDER BY e.at DESC LIMIT 1) = 'pause' THEN 'paused'
            WHEN pg_catalog.pg_is_in_recovery() THEN 'unknown'
            WHEN r.queued = pg_catalog.pg_postmaster_start_time()
                 AND r.queued_in = (SELECT d.oid FROM pg_catalog.pg_database d
                                    WHERE d.datname = pg_catalog.current_database())
                 THEN 'waiting'
            WHEN r.started IS NULL AND r.queued IS NULL THEN 'created'
            ELSE 'interrupted' END AS state,
       pg_catalog.pg_get_userbyid(r.role) AS owner,
       r.function, r.model_table, r.packed_table, r.validation_table, r.name, r.description,
       r.trials, r.failed, r.iterations, r.best_trial, r.best_metric, r.best_value,
       r.created, r.started, r.ended,
       CASE WHEN r.ended IS NOT NULL
            THEN EXTRACT(epoch FROM r.ended - r.started)::double precision END AS seconds,
       r.error, r.error_code, r.checkpoints, r.last_checkpoint, r.seconds_checkpoints,
       l.pid, r.tables, r.statement, r.search, r.data
FROM hopper.all_runs r
LEFT JOIN pg_catalog.pg_locks l
    ON l.locktype = 'advisory' AND l.granted AND l.classid::bigint = 1213156434 AND l.objsubid = 5
    AND l.objid::bigint = r.run
    AND l.database = (SELECT d.oid FROM pg_catalog.pg_database d
                      WHERE d.datname = pg_catalog.current_database())
WHERE r.run IN (SELECT s.run FROM hopper.seen_runs s);
COMMENT ON VIEW hopper.runs IS 'training runs: what, whose, how far and how good';

CREATE VIEW hopper.trials WITH (security_barrier) AS
SELECT t.run, t.trial, t.model_id, t.compile_params, t.fit_params,
       CASE WHEN r.outcome IN ('failed', 'cancelled') AND t.status IN ('waiting', 'training')
            THEN 'interrupted' ELSE t.status END AS status,
       t.iterations, t.seconds, t.digest, t.error, t.parameters, t.value, t.latest,
       r.started + t.began * interval '1 second' AS started,
       r.started + t.elapsed * interval '1 second' AS at, t.id, t.uuid
FROM hopper.all_trials t JOIN hopper.seen_runs r ON r.run = t.run;
COMMENT ON VIEW hopper.trials IS
    'trials of runs, as of their last checkpoints; trial is the mst_key of its model';

CREATE VIEW hopper.trial_metrics WITH (security_barrier) AS
SELECT m.run, m.trial, m.iteration, m.split, m.metric, m.value,
       r.started + m.seconds * interval '1 second' AS at
FROM hopper.all_trial_metrics m JOIN hopper.seen_runs r ON r.run = m.run;
COMMENT ON VIEW hopper.trial_metrics IS
    'losses and metrics of trials, a row for each iteration that was evaluated';

CREATE VIEW hopper.run_events WITH (security_barrier) AS
SELECT e.run, e.at, e.event, e.trial, pg_catalog.pg_get_userbyid(e.role) AS role, e.detail
FROM hopper.all_run_events e JOIN hopper.seen_runs r ON r.run = e.run;
COMMENT ON VIEW hopper.run_events IS 'what happened to runs, and who wished it';

CREATE VIEW hopper.progress WITH (security_barrier) AS
SELECT p.run, p.pid, pg_catalog.pg_get_userbyid(p.role) AS owner, r.model_table,
       p.packed_table::pg_catalog.regclass AS packed_table, p.iterations, p.iterations_total,
       pg_catalog.round((100 * p.work)::numeric, 1) AS percent,
       p.trials, p.trials_training, p.trials_failed, p.best_trial, p.best_value,
       EXTRACT(epoch FROM pg_catalog.clock_timestamp() - p.started)::double precision AS seconds,
       CASE WHEN p.work > 0
            THEN EXTRACT(epoch FROM pg_catalog.clock_timestamp() - p.started)::double precision
                 * (1 / p.work - 1) END AS seconds_left,
       p.threads, p.memory
FROM hopper.progress_slots() p LEFT JOIN hopper.all_runs r ON r.run = p.run;
COMMENT ON VIEW hopper.progress IS
    'what trains now, in any session of this database: SELECT * FROM hopper.progress \watch 1';
