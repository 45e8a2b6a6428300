-- Weights as .safetensors files
\set ON_ERROR_STOP 0
\set arch '{"class_name": "Sequential", "config": {"layers": [{"class_name": "Dense", "config": {"name": "d", "units": 1, "batch_input_shape": [null, 2]}}]}}'
\set open '{"class_name": "Sequential", "config": {"layers": [{"class_name": "Dense", "config": {"name": "d", "units": 1}}]}}'
-- kernel 1, 2 and bias 3
\set weights '\\x0000803f0000004000004040'
SELECT convert_from(substr(f, 9, length(f) - 20), 'UTF8') LIKE
       '{"__metadata__":{"format":"keras","model_arch":"{%}"},"d/kernel":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},"d/bias":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}}%'
       AS header,
       get_byte(f, 0) + 256 * get_byte(f, 1) + 8 + 12 = length(f) AS length,
       hopper.from_safetensors(:'arch', f) = :'weights' AS back
FROM (SELECT hopper.to_safetensors(:'arch', :'weights') AS f) s;
SELECT hopper.to_safetensors(:'open', :'weights');
SELECT hopper.from_safetensors(:'open', hopper.to_safetensors(:'open', :'weights', ARRAY[2]), ARRAY[2]) = :'weights' AS back;
SELECT hopper.to_safetensors(:'arch', NULL) IS NULL AS nothing, hopper.from_safetensors(NULL, '') IS NULL AS neither;
SELECT hopper.to_safetensors(:'arch', '\x00000000');
SELECT hopper.to_safetensors(:'arch', '\x0000c07f0000004000004040');
SELECT hopper.to_safetensors(:'open', :'weights', ARRAY[0]);
-- what is no file, or damaged
CREATE FUNCTION file(header text, data bytea DEFAULT '\x0000803f0000004000004040') RETURNS bytea
    AS $$ SELECT set_byte(set_byte('\x0000000000000000', 0, length(header) % 256), 1, length(header) / 256)
                 || convert_to(header, 'UTF8') || data $$ LANGUAGE sql IMMUTABLE;
SELECT hopper.from_safetensors(:'arch', '');
SELECT hopper.from_safetensors(:'arch', '\xffffffffffffffff7b7d');
-- a header of 120 MB
SELECT hopper.from_safetensors(:'arch', '\x000e270700000000'::bytea || convert_to('{' || repeat(' ', 119999998) || '}', 'UTF8'));
SELECT hopper.from_safetensors(:'arch', file(repeat('[', 300)));
SELECT hopper.from_safetensors(:'arch', file('[]'));
SELECT hopper.from_safetensors(:'arch', file('{"a": '));
SELECT hopper.from_safetensors(:'arch', file('{}'));
SELECT hopper.from_safetensors(:'arch', file('{"d/kernel": 1, "d/bias": 2}'));
SELECT hopper.from_safetensors(:'arch', file('{"d/kernel": {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]}, "d/bias": {"dtype": "F32", "shape": [1], "data_offsets": [8, 16]}}'));
SELECT hopper.from_safetensors(:'arch', file('{"d/kernel": {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]}, "d/bias": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}}'));
SELECT hopper.from_safetensors(:'arch', file('{"d/kernel": {"dtype": "F32", "shape": [2, 1], "data_offsets": [8, 0]}, "d/bias": {"dtype": "F32", "shape": [1], "data_offsets": [8, 12]}}'));
SELECT hopper.from_safetensors(:'arch', file('{"d/kernel": {"dtype": "F32", "shape": [4294967296, 4294967296], "data_offsets": [0, 8]}}'));
SELECT hopper.from_safetensors(:'arch', file('{"d/kernel": {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]}, "d/bias": {"dtype": "F32", "shape": [1], "data_offsets": [8, 12]}}'));
SELECT hopper.from_safetensors(:'arch', file('{"d/kernel": {"dtype": "I64", "shape": [1], "data_offsets": [0, 8]}, "d/bias": {"dtype": "F32", "shape": [1], "data_offsets": [8, 12]}}'));
SELECT hopper.from_safetensors(:'arch', file('{"d/kernel": {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]}, "bias": {"dtype": "F32", "shape": [1], "data_offsets": [8, 12]}}'));
SELECT hopper.from_safetensors(:'arch', file('{"w": {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]}, "b": {"dtype": "F32", "shape": [1], "data_offsets": [8, 12]}}')) = :'weights' AS by_order;
SELECT hopper.from_safetensors(:'arch', file('{"d/kernel": {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]}, "d/bias": {"dtype": "F32", "shape": [1], "data_offsets": [8, 12]}}', '\x0000c07f0000004000004040'));
DROP FUNCTION file(text, bytea);
