CREATE FUNCTION hopper.grant_run(
    run bigint,
    role text,
    privilege text DEFAULT 'watch')
RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_grant_run' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.grant_run(bigint, text, text) IS
    'lets a role watch a run, or steer it

Task: 4.87 train
run: number of a run, as hopper.runs shows it
role: name of the role, whose members see the run, too; public is everybody
privilege: ''watch'': see it in the views of runs and in hopper.progress; ''steer'': also pause, resume and cancel it
Example:
SELECT hopper.grant_run(run := hopper.create_run($$SELECT hopper.fit_multiple_model(''points_packed'', ''shared_models'', ''configs'', 2)$$), role := ''public'');';

CREATE FUNCTION hopper.revoke_run(
    run bigint,
    role text)
RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_revoke_run' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.revoke_run(bigint, text) IS
    'takes back what grant_run() gave

Task: 4.88 train
run: number of a run, as hopper.runs shows it
role: name of the role; public is everybody
Example:
SELECT hopper.revoke_run(run := hopper.create_run($$SELECT hopper.fit_multiple_model(''points_packed'', ''taken_models'', ''configs'', 2)$$), role := ''public'');';
