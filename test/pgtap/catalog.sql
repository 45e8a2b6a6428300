-- What the extension leaves in the catalog: everything explained, callable by name, closed to others.
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION model_hopper;

BEGIN;
SELECT plan(24);

SELECT has_schema('hopper');
SELECT has_extension('model_hopper');
SELECT isnt(obj_description('hopper'::regnamespace, 'pg_namespace'), NULL, 'the schema has a comment');
SELECT is_empty(
    $$ VALUES ('load_model'), ('training_preprocessor'), ('validation_preprocessor'), ('generate_model_configs'),
              ('load_model_selection_table'), ('fit'), ('fit_multiple_model'), ('evaluate'), ('predict'),
              ('predict_byom'), ('predict_row'), ('leaderboard'), ('explain_fit'), ('automl')
       EXCEPT SELECT proname FROM pg_proc WHERE pronamespace = 'hopper'::regnamespace $$,
    'what training and prediction take is there');

SELECT is_empty(
    $$ SELECT p.oid::regprocedure FROM pg_proc p
       WHERE p.pronamespace = 'hopper'::regnamespace AND obj_description(p.oid, 'pg_proc') IS NULL $$,
    'every function has a comment');
SELECT is_empty(
    $$ SELECT c.oid::regclass, c.relkind FROM pg_class c
       WHERE c.relnamespace = 'hopper'::regnamespace AND c.relkind NOT IN ('i', 'I', 't', 'c')
         AND obj_description(c.oid, 'pg_class') IS NULL $$,
    'every table, view and sequence has a comment');
SELECT is_empty(
    $$ SELECT t.oid::regtype FROM pg_type t
       WHERE t.typnamespace = 'hopper'::regnamespace
         AND (t.typtype IN ('d', 'e', 'r')
              OR (t.typtype = 'c' AND EXISTS (SELECT FROM pg_class c WHERE c.oid = t.typrelid AND c.relkind = 'c')))
         AND obj_description(t.oid, 'pg_type') IS NULL $$,
    'every type has a comment');
SELECT is_empty(
    $$ SELECT p.oid::regprocedure FROM pg_proc p
       WHERE p.pronamespace = 'hopper'::regnamespace AND p.pronargs > 0
         AND (p.proargnames IS NULL OR '' = ANY (p.proargnames[1:p.pronargs])) $$,
    'every argument has a name');
SELECT is_empty(
    $$ SELECT p.oid::regprocedure FROM pg_proc p
       WHERE p.pronamespace = 'hopper'::regnamespace AND p.proname NOT IN (SELECT function FROM hopper.help())
         AND NOT EXISTS (SELECT FROM pg_type t WHERE p.oid IN (t.typinput, t.typoutput))
         AND NOT EXISTS (SELECT FROM pg_cast c WHERE c.castfunc = p.oid)
         AND obj_description(p.oid, 'pg_proc') NOT LIKE 'part of %' $$,
    'help() lists every function');
SELECT is_empty(
    $$ SELECT p.proname, argument FROM pg_proc p, unnest(p.proargnames[1:p.pronargs]) AS argument
       WHERE p.pronamespace = 'hopper'::regnamespace
         AND NOT EXISTS (SELECT FROM pg_proc same
                         WHERE same.pronamespace = p.pronamespace AND same.proname = p.proname
                           AND strpos(obj_description(same.oid, 'pg_proc'), E'\n' || argument || ': ') > 0)
         AND NOT EXISTS (SELECT FROM pg_type t WHERE p.oid IN (t.typinput, t.typoutput))
         AND NOT EXISTS (SELECT FROM pg_cast c WHERE c.castfunc = p.oid)
         AND obj_description(p.oid, 'pg_proc') NOT LIKE 'part of %' $$,
    'a comment says what each argument means');
SELECT is_empty(
    $$ SELECT function FROM hopper.help()
       WHERE NOT EXISTS (SELECT FROM hopper.help(function) AS line
                         WHERE line LIKE '%SELECT %hopper.' || function || '(%' OR line LIKE '%CALL hopper.' || function || '(%') $$,
    'help(function) shows an example of each');
SELECT is_empty(
    $$ SELECT function, line FROM (
           SELECT f.function, h.line, lead(h.line) OVER (PARTITION BY f.function ORDER BY h.at) AS behind
           FROM hopper.help() f, LATERAL hopper.help(f.function) WITH ORDINALITY AS h(line, at)) lines
       WHERE line ~ '^  [a-z]' AND coalesce(behind, '') !~ '^      [^ ]' $$,
    'help(function) says behind each argument what it means');
SELECT throws_ok($$ SELECT hopper.help('fit_multipel_model') $$, '42883',
    'there is no function "fit_multipel_model" in model_hopper', 'help() refuses what it does not know');
SELECT is((SELECT count(*) FROM hopper.help('importance') AS line WHERE line LIKE 'hopper.param_importance: %'), 1::bigint,
    'help() finds a function by a word of its name');
SELECT ok((SELECT count(*) >= 2 FROM hopper.help('NULL') AS line WHERE line ~ '^      (on_null|null_labels): '),
    'help() finds arguments by a word, whatever its case');
SELECT is((SELECT count(*) FROM hopper.help('progress notices') AS line WHERE line LIKE 'hopper.notice_interval: %'), 1::bigint,
    'help() finds settings');
SELECT throws_ok($$ SELECT hopper.help('% _') $$, '42883', 'there is no function "% _" in model_hopper', 'a word is no pattern');
SELECT is_empty(
    $$ SELECT p.oid::regprocedure FROM pg_proc p
       WHERE p.pronamespace = 'hopper'::regnamespace AND p.prosecdef $$,
    'every function runs with its caller''s rights');
SELECT is_empty(
    $$ SELECT p.oid::regprocedure FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
       WHERE p.pronamespace = 'hopper'::regnamespace AND l.lanname NOT IN ('c', 'internal')
         AND NOT coalesce(p.proconfig::text LIKE '%search_path=%', false)
         AND obj_description(p.oid, 'pg_proc') NOT LIKE 'part of report(): %'
         -- They look their caller's names up by the caller's path, and set their own for all else (names_test.py).
         AND p.proname NOT IN ('auto_fit_within', 'auto_fit_end', 'cross_validate_within', 'cross_validate_fold', 'cross_validate_test', 'cross_validate_means',
             'cross_validate_end', 'drop_auto_fit') $$,
    'every function that is not C pins its search_path, but for parts of a page, which is made with a path of its own');
SELECT is_empty(
    $$ SELECT c.oid::regclass, a.privilege_type
       FROM pg_class c, aclexplode(c.relacl) a
       WHERE c.relnamespace = 'hopper'::regnamespace AND a.grantee = 0
         AND a.privilege_type NOT IN ('SELECT', 'USAGE') $$,
    'PUBLIC may write to no table');
SELECT is_empty(
    $$ SELECT a.privilege_type FROM pg_namespace n, aclexplode(n.nspacl) a
       WHERE n.nspname = 'hopper' AND a.grantee = 0 AND a.privilege_type <> 'USAGE' $$,
    'PUBLIC may create nothing in the schema');
SELECT ok(
    (SELECT bool_or(a.privilege_type = 'USAGE') FROM pg_namespace n, aclexplode(n.nspacl) a
     WHERE n.nspname = 'hopper' AND a.grantee = 0),
    'PUBLIC may use the schema');
-- Objects outside the schema would stay unnoticed by the tests above.
SELECT is_empty(
    $$ SELECT pg_describe_object(d.classid, d.objid, d.objsubid)
       FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
       WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND e.extname = 'model_hopper'
         AND NOT (d.classid = 'pg_proc'::regclass
                  AND (SELECT pronamespace FROM pg_proc WHERE oid = d.objid) = 'hopper'::regnamespace)
         AND NOT (d.classid = 'pg_class'::regclass
                  AND (SELECT relnamespace FROM pg_class WHERE oid = d.objid) = 'hopper'::regnamespace)
         AND NOT (d.classid = 'pg_type'::regclass
                  AND (SELECT typnamespace FROM pg_type WHERE oid = d.objid) = 'hopper'::regnamespace)
         AND NOT (d.classid = 'pg_cast'::regclass
                  AND (SELECT typnamespace FROM pg_cast c JOIN pg_type t ON t.oid = c.casttarget
                       WHERE c.oid = d.objid) = 'hopper'::regnamespace)
         AND NOT (d.classid = 'pg_namespace'::regclass AND d.objid = 'hopper'::regnamespace) $$,
    'the extension has nothing outside its schema');

SELECT is_empty(
    $$ SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = 'hopper'::regnamespace AND prosrc LIKE '%md5(%' $$,
    'servers that follow FIPS 140 have no md5()');

SELECT * FROM finish();
ROLLBACK;
