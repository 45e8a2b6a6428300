CREATE FUNCTION hopper.help()
RETURNS TABLE (
    task text,
    function text,
    what text)
    AS 'MODULE_PATHNAME', 'hopper_sql_help' LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.help() IS
    'all functions, in the order in which they are used; with the name of one, its arguments and an example; with another word, the functions and settings that speak of it

Task: 9.1 server
function_name: a function of schema hopper, or a word
Example:
SELECT hopper.help(''fit_multiple_model'');';

CREATE FUNCTION hopper.help(function_name text) RETURNS SETOF text
    AS 'MODULE_PATHNAME', 'hopper_sql_help_function' LANGUAGE C STABLE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.help(text) IS
    'what a function does, its arguments with types, defaults and meaning, and an example; of another word, the functions and settings that speak of it';
