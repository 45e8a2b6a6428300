CREATE FUNCTION hopper.leakage_suspects(packed_table text)
RETURNS TABLE (
    feature text,
    share double precision,
    guess double precision)
    AS 'MODULE_PATHNAME', 'hopper_sql_leakage_suspects' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.leakage_suspects(text) IS
    'columns of a packed table that alone tell the label, as one does that was filled in when the label was known: a model that learns from it is of no use for rows where it is not known yet

Half of up to 20,000 rows say what a value of a column means, or a number''s place in the order of all; the other half is predicted by that. A column is listed where it leaves less than a hundredth of the errors that the most frequent class makes, or of the variance of the order of numbers. Column share is what it tells of the other half: the rows, or that variance; guess is what the most frequent class tells, or a constant. Arrays and texts of several words are not looked at.

Task: 1.6 pack
packed_table: packed table whose columns have treatments
Example:
SELECT hopper.training_preprocessor(source_table := ''points'', output_table := ''points_looked_at'', dependent_varname := ''y'',
    independent_varname := ''a, b'', treatments := ''{}'');
SELECT * FROM hopper.leakage_suspects(packed_table := ''points_looked_at'');';
