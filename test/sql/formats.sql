-- Models as files of other tools; what the files compute: test/python/formats_test.py
\set ON_ERROR_STOP 0
\set arch '{"class_name": "Sequential", "config": {"name": "small", "layers": [{"class_name": "Dense", "config": {"name": "d", "units": 1, "activation": "relu", "batch_input_shape": [null, 2]}}]}}'
\set open '{"class_name": "Sequential", "config": {"layers": [{"class_name": "Dense", "config": {"name": "d", "units": 1}}]}}'
-- kernel 1, 2 and bias 3
\set weights '\\x0000803f0000004000004040'
SELECT hopper.to_pytorch(:'open'::json, input_shape := ARRAY[2]);
-- version of the format, opset, weights as they are
SELECT substr(f, 1, 2) = '\x0808' AS format, position('\x42040a001011'::bytea IN f) > 0 AS opset,
       position(substr(:'weights'::bytea, 1, 8) IN f) > 0 AS kernel,
       position('model_arch'::bytea IN f) > 0 AS architecture, length(f) < 900 AS short
FROM (SELECT hopper.to_onnx(:'arch'::json, :'weights'::bytea) AS f) s;
SELECT hopper.to_onnx(:'open'::json, :'weights'::bytea, ARRAY[2]) IS NOT NULL AS given_shape;
SELECT hopper.to_onnx(NULL::json, '') IS NULL AS nothing, hopper.to_pytorch(NULL::json) IS NULL AS neither;
SELECT hopper.to_onnx(:'open'::json, :'weights'::bytea);
SELECT hopper.to_pytorch(:'open'::json);
SELECT hopper.to_onnx(:'arch'::json, '\x00000000'::bytea);
SELECT hopper.to_onnx(:'arch'::json, '\x0000c07f0000004000004040'::bytea);
SELECT hopper.to_onnx(:'arch'::json, '\x000080'::bytea);
SELECT hopper.to_onnx('pg_class');
SELECT hopper.to_onnx(NULL);
SELECT hopper.to_pytorch('no_such_table', 1);
