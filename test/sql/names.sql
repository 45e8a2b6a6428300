-- Names: quoted, qualified, whatever the search_path; and whose rights count.
\set mlp '{"class_name": "Sequential", "keras_version": "2.4.0", "backend": "tensorflow", "config": {"name": "mlp", "layers": [{"class_name": "Dense", "config": {"name": "dense_1", "batch_input_shape": [null, 4], "units": 3, "activation": "softmax"}}]}}'
\set compile '{''loss'': [''categorical_crossentropy''], ''optimizer_params_list'': [{''optimizer'': [''SGD''], ''lr'': [0.1]}]}'
CREATE SCHEMA "Odd ""Schema";
SELECT hopper.load_model('"Odd ""Schema"."My Models; DROP TABLE x"', :'mlp');
SELECT relname FROM pg_class WHERE relnamespace = '"Odd ""Schema"'::regnamespace AND relkind = 'r';
SELECT hopper.generate_model_configs('"Odd ""Schema"."My Models; DROP TABLE x"', '"Odd ""Schema"."the.configs"',
    ARRAY[1], :'compile', '{''batch_size'': [8]}');
SELECT * FROM "Odd ""Schema"."the.configs_summary";
SELECT * FROM hopper.check_configs('"Odd ""Schema"."the.configs"');
SELECT layer FROM hopper.describe_model('"Odd ""Schema"."My Models; DROP TABLE x"', 1);
SELECT hopper.describe_model('"Odd ""Schema"."My Models"', 1);
SELECT hopper.delete_model('"Odd ""Schema"."My Models; DROP TABLE x"', 1);

-- An apostrophe in a name ends no literal: the comment tells the name
CREATE TABLE "Odd ""Schema".precious (a integer);
SELECT hopper.load_model('"Odd ""Schema"."o''brien"', :'mlp');
SELECT hopper.generate_model_configs('"Odd ""Schema"."o''brien"',
    '"Odd ""Schema"."c''; DROP TABLE ""Odd """"Schema"".precious; --"', ARRAY[1], :'compile', '{''batch_size'': [8]}');
SELECT hopper.load_model_selection_table('"Odd ""Schema"."o''brien"', '"Odd ""Schema"."o''configs"', ARRAY[1],
    ARRAY['loss=''categorical_crossentropy'', optimizer=''SGD(lr=0.1)'''], ARRAY['batch_size=8']);
SELECT relname, obj_description(oid, 'pg_class') FROM pg_class
    WHERE relnamespace = '"Odd ""Schema"'::regnamespace AND relkind = 'r' ORDER BY 1;

-- Unquoted names are folded, quoted ones are not
SET search_path = "Odd ""Schema";
SELECT hopper.load_model('Upper', :'mlp');
SELECT hopper.load_model('"Upper"', :'mlp');
SELECT hopper.load_model(' upper ', :'mlp');
SELECT relname FROM pg_class WHERE relname ILIKE 'upper' ORDER BY 1;
-- A name whose companion would be cut off
SELECT hopper.generate_model_configs('upper', 'a23456789_123456789_123456789_123456789_123456789_123456789_',
    ARRAY[1], :'compile', NULL);
\echo :LAST_ERROR_SQLSTATE

-- Temporary tables
SELECT hopper.load_model('pg_temp.passing', :'mlp');
SELECT hopper.generate_model_configs('passing', 'pg_temp.passing_configs', ARRAY[1], :'compile', NULL);
SELECT model_arch_table FROM passing_configs_summary;
SELECT * FROM hopper.check_configs('passing_configs');

-- The selection table remembers where the architectures are
SELECT hopper.generate_model_configs('upper', 'chosen', ARRAY[1, 2], :'compile', NULL);
SET search_path = pg_catalog;
SELECT model_arch_table FROM "Odd ""Schema".chosen_summary;
SELECT * FROM hopper.check_configs('"Odd ""Schema".chosen');
-- No schema to create in
SET search_path = no_such_schema;
SELECT hopper.load_model('homeless', :'mlp');
SET search_path = '';
SELECT hopper.load_model('homeless', :'mlp');
\echo :LAST_ERROR_SQLSTATE

-- A search_path with traps: operators, functions and types of the same names
CREATE SCHEMA trap;
SET search_path = trap, pg_catalog;
CREATE FUNCTION trap.equal(integer, integer) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trapped'; END $$;
CREATE OPERATOR trap.= (LEFTARG = integer, RIGHTARG = integer, FUNCTION = trap.equal);
CREATE FUNCTION trap.setval(regclass, integer) RETURNS integer LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trapped'; END $$;
CREATE FUNCTION trap.pg_get_serial_sequence(text, text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trapped'; END $$;
CREATE DOMAIN trap.int4 AS pg_catalog.text CHECK (false);
CREATE DOMAIN trap.json AS pg_catalog.text CHECK (false);
CREATE DOMAIN trap.text AS pg_catalog.varchar CHECK (false);
SELECT hopper.load_model('models', :'mlp');
SELECT hopper.generate_model_configs('models', 'configs', ARRAY[1], :'compile', NULL);
SELECT count(*) FROM hopper.check_configs('configs');
SELECT layer FROM hopper.describe_model('models', 1);
SELECT hopper.describe_model('modes', 1);
SELECT hopper.delete_model('models', 1);
RESET search_path;
-- since 17 a name that is printed with quotes
DROP DOMAIN trap.json;
DROP SCHEMA trap CASCADE;

-- Everybody may call the functions, with their own rights
CREATE ROLE regress_hopper_guest;
GRANT USAGE ON SCHEMA "Odd ""Schema" TO regress_hopper_guest;
CREATE SCHEMA regress_hopper_home AUTHORIZATION regress_hopper_guest;
SET ROLE regress_hopper_guest;
SELECT hopper.version() IS NOT NULL AS version;
SELECT hopper.load_model('regress_hopper_home.models', :'mlp');
SELECT hopper.load_model('"Odd ""Schema".theirs', :'mlp');
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.load_model('"Odd ""Schema".upper', :'mlp');
\echo :LAST_ERROR_SQLSTATE
SELECT hopper.describe_model('"Odd ""Schema".upper', 1);
SELECT hopper.delete_model('"Odd ""Schema".upper', 1);
SELECT hopper.check_configs('"Odd ""Schema".chosen');
SELECT hopper.generate_model_configs('"Odd ""Schema".upper', 'regress_hopper_home.configs', ARRAY[1], :'compile', NULL);
-- The schema of the extension is closed
CREATE TABLE hopper.mine (a integer);
RESET ROLE;
-- A role that may delete models but does not own the table leaves it in place, even empty
GRANT SELECT, DELETE ON "Odd ""Schema"."Upper" TO regress_hopper_guest;
SET ROLE regress_hopper_guest;
SELECT hopper.delete_model('"Odd ""Schema"."Upper"', 1);
SELECT count(*) FROM "Odd ""Schema"."Upper";
RESET ROLE;
DROP OWNED BY regress_hopper_guest CASCADE;
DROP ROLE regress_hopper_guest;
DROP SCHEMA "Odd ""Schema" CASCADE;
