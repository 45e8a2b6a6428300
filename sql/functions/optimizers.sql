CREATE FUNCTION hopper.optimizers() RETURNS TABLE (
    name text,
    arguments text)
    AS 'MODULE_PATHNAME', 'hopper_sql_list' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION hopper.optimizers() IS
    'the optimizers of compile_params: their own arguments with what they are unless they are given

All of them also take decay, weight_decay, clipnorm, clipvalue, global_clipnorm, use_ema, ema_momentum and
ema_overwrite_frequency.

Task: 3.6 configurations
Example:
SELECT name, arguments FROM hopper.optimizers();';
