CREATE FUNCTION hopper.grant_model(model_table text, role text, privilege text DEFAULT 'predict')
RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_grant_model' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.grant_model(text, text, text) IS
    'lets a role use a table of models and its companions

Task: 8.6 models
model_table: table of models that training writes; its companions are _info, _summary and _state
role: name of the role; public is everybody
privilege: ''predict'': predict, evaluate, look at the leaderboard; ''train'': also go on training with warm_start
Example:
SELECT hopper.grant_model(model_table := ''models'', role := ''public'');';

CREATE FUNCTION hopper.revoke_model(model_table text, role text, privilege text DEFAULT 'predict')
RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_revoke_model' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION hopper.revoke_model(text, text, text) IS
    'takes back what grant_model() gave

Task: 8.7 models
model_table: table of models that training writes; its companions are _info, _summary and _state
role: name of the role; public is everybody
privilege: ''predict'': everything; ''train'': leave prediction, evaluation and the leaderboard
Example:
SELECT hopper.revoke_model(model_table := ''models'', role := ''public'');';
