-- The secret under which the coordinator seals what it sends to the segments: in the one catalog
-- that all nodes have and only its owner can read.
CREATE FOREIGN DATA WRAPPER hopper_segments;
COMMENT ON FOREIGN DATA WRAPPER hopper_segments IS
    'internal: no data are read through it';

CREATE SERVER hopper_segments FOREIGN DATA WRAPPER hopper_segments;
COMMENT ON SERVER hopper_segments IS
    'internal: its user mapping holds the secret that seals what goes to the segments';

CREATE USER MAPPING FOR PUBLIC SERVER hopper_segments;

CREATE FUNCTION hopper.segment_new_secret() RETURNS void
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_new_secret' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION hopper.segment_new_secret() IS
    'internal: another secret for what goes to the segments';
REVOKE ALL ON FUNCTION hopper.segment_new_secret() FROM PUBLIC;

CREATE FUNCTION hopper.segment_keep_secret() RETURNS SETOF integer
    AS 'MODULE_PATHNAME', 'hopper_sql_segment_keep_secret' LANGUAGE C VOLATILE
    EXECUTE ON ALL SEGMENTS;
COMMENT ON FUNCTION hopper.segment_keep_secret() IS
    'internal: the secret goes with the extension';
REVOKE ALL ON FUNCTION hopper.segment_keep_secret() FROM PUBLIC;

SELECT hopper.segment_new_secret();
