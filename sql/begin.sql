\echo Use "CREATE EXTENSION model_hopper" to load this file. \quit

COMMENT ON SCHEMA hopper IS
    'deep-learning model selection inside the database: models hop, data does not';
