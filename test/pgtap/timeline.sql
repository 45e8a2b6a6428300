-- The journal of runs and the functions that show it: shape and rights.
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION model_hopper;

BEGIN;
SELECT plan(16);

SELECT has_function('hopper', 'run_timeline', ARRAY['text']);
SELECT has_function('hopper', 'explain_fit', ARRAY['text', 'text', 'text', 'bigint', 'boolean', 'text', 'bigint',
    'bigint', 'text', 'bigint', 'boolean', 'text', 'bigint']);
SELECT function_returns('hopper', 'run_timeline', ARRAY['text'], 'setof record');
SELECT is(proargnames[p.pronargs + 1:], ARRAY['run', 'iteration', 'segment', 'worker', 'mst_key', 'kind', 'split',
    'partitions', 'visits', 'started', 'seconds_read', 'seconds_wait', 'seconds_hop', 'seconds_train',
    'seconds_evaluate', 'bytes_written'], 'columns of run_timeline()')
FROM pg_proc p WHERE oid = 'hopper.run_timeline'::regproc;
SELECT is(proargnames[p.pronargs + 1:], ARRAY['item', 'mst_key', 'predicted', 'measured', 'unit'],
    'columns of explain_fit()')
FROM pg_proc p WHERE oid = 'hopper.explain_fit'::regproc;
SELECT col_is_pk('hopper', 'journal_runs', 'run', 'a run has one row');
SELECT col_is_pk('hopper', 'journal_visits', ARRAY['run', 'visit'], 'a visit has one row');
SELECT has_column('hopper', 'journal_visits', 'bytes_written', 'the journal counts written bytes');

CREATE ROLE hopper_pgtap_user;
SELECT table_privs_are('hopper', t, r, ARRAY[]::text[], format('%s has no rights on %s', r, t))
FROM unnest(ARRAY['journal_runs', 'journal_visits']) t, unnest(ARRAY['public', 'hopper_pgtap_user']) r;
SELECT sequence_privs_are('hopper', 'journal_run_seq', 'hopper_pgtap_user', ARRAY[]::text[],
    'nor on its numbers');
SELECT is_empty(
    $$ SELECT attname FROM pg_attribute
       WHERE attrelid IN ('hopper.journal_runs'::regclass, 'hopper.journal_visits'::regclass) AND attacl IS NOT NULL $$,
    'nor on single columns');
SET LOCAL ROLE hopper_pgtap_user;
SELECT ok(has_function_privilege('hopper.run_timeline(text)', 'EXECUTE'), 'everybody may call run_timeline()');
SELECT throws_ok('SELECT * FROM hopper.journal_visits', '42501');
RESET ROLE;

SELECT * FROM finish();
ROLLBACK;
