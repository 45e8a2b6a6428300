CREATE FUNCTION hopper.auc_error(labels text[], chances double precision[]) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
-- DeLong, DeLong and Clarke-Pearson (1988): the variance of a row's share of the other class that it is told apart from, over the rows of
-- either class; by ranks as Sun and Xu (2014) have it. Which of the two classes counts as the positive one does not matter.
WITH ranked AS (
    SELECT r.label, count(*) OVER () - count(*) OVER (PARTITION BY r.label) AS others,
        rank() OVER (ORDER BY r.chance) + (count(*) OVER (PARTITION BY r.chance) - 1) / 2.0::float8
            - rank() OVER (PARTITION BY r.label ORDER BY r.chance) - (count(*) OVER (PARTITION BY r.label, r.chance) - 1) / 2.0::float8 AS before
    FROM unnest($1, $2) AS r (label, chance))
SELECT CASE WHEN count(c.variance) = 2 THEN sqrt(sum(c.variance)) END
FROM (SELECT var_samp(w.before / w.others) / count(*) AS variance FROM ranked AS w WHERE w.others > 0 GROUP BY w.label) AS c
$$;
COMMENT ON FUNCTION hopper.auc_error(text[], double precision[]) IS
    'part of auto_fit(): the standard error of the area under the ROC curve of two classes';
