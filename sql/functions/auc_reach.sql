CREATE FUNCTION hopper.auc_reach(labels text[], chances double precision[]) RETURNS double precision
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    area float8;
    error float8;
    counts float8[];
    low float8 := 0;
    high float8;
    middle float8;
BEGIN
    -- DeLong, DeLong and Clarke-Pearson (1988): the variance of a row's share of the other class that it is told apart from, over the rows of
    -- either class; by ranks as Sun and Xu (2014) have it. Which of the two classes counts as the positive one does not matter.
    WITH ranked AS (
        SELECT r.label, count(*) OVER () - count(*) OVER (PARTITION BY r.label) AS others,
            rank() OVER (ORDER BY r.chance) + (count(*) OVER (PARTITION BY r.chance) - 1) / 2.0::float8
                - rank() OVER (PARTITION BY r.label ORDER BY r.chance) - (count(*) OVER (PARTITION BY r.label, r.chance) - 1) / 2.0::float8 AS before
        FROM unnest(labels, chances) AS r (label, chance))
    SELECT max(c.area), CASE WHEN count(c.variance) = 2 THEN sqrt(sum(c.variance)) ELSE 0 END, array_agg(c.n) INTO area, error, counts
    FROM (SELECT avg(w.before / w.others) AS area, var_samp(w.before / w.others) / count(*) AS variance, count(*)::float8 AS n
          FROM ranked AS w WHERE w.others > 0 GROUP BY w.label) AS c;
    IF array_length(counts, 1) IS DISTINCT FROM 2 THEN
        RETURN NULL;
    END IF;
    -- Near 1 hardly a row differs from the others, and that variance is 0. Newcombe (2006), method 5: the least area of which what was found is no more
    -- than 1.96 deviations away, by the variance of Hanley and McNeil (1982) that such an area would have.
    high := area;
    FOR i IN 1..60 LOOP
        middle := (low + high) / 2;
        IF (area - middle) ^ 2 > 3.8415 * middle * (1 - middle) * (1 + ((counts[1] + counts[2]) / 2 - 1)
            * ((1 - middle) / (2 - middle) + middle / (1 + middle))) / (counts[1] * counts[2]) THEN
            low := middle;
        ELSE
            high := middle;
        END IF;
    END LOOP;
    RETURN least(greatest(1.96 * error, area - low), area);
END $$;
COMMENT ON FUNCTION hopper.auc_reach(text[], double precision[]) IS
    'part of auto_fit(): how far the interval of 95 % of the area under the ROC curve of two classes reaches, to its farther end';
