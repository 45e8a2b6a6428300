-- The charts of report(): what trials reached, by iteration, parameter, overfitting and cost. What is read of the
-- document by a SELECT of its own is read once, and not for each row.
CREATE FUNCTION hopper.report_curves(doc json) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
WITH point AS (
    SELECT (c.value->>'key')::integer AS key, c.value->>'split' AS split, c.at,
        (p.value->>0)::double precision AS x, (p.value->>1)::double precision AS y, p.at AS place
    FROM json_array_elements($1->'curves') WITH ORDINALITY AS c(value, at),
        json_array_elements(c.value->'points') WITH ORDINALITY AS p(value, at)
    WHERE p.value->>1 NOT IN ('NaN', 'Infinity', '-Infinity')
), fences AS (
    SELECT percentile_cont(0.25) WITHIN GROUP (ORDER BY y) AS q1, percentile_cont(0.75) WITHIN GROUP (ORDER BY y) AS q3,
        count(*) < 50 AS few
    FROM point
), box AS (
    -- Values far from all others lie outside of the frame, and do not press these together.
    SELECT least(min(x), 1) AS x0, greatest(max(x), 2) AS x1,
        min(CASE WHEN few OR key = (SELECT $1->>'best')::integer OR y >= q1 - 3 * (q3 - q1) THEN y END) AS y0,
        max(CASE WHEN few OR key = (SELECT $1->>'best')::integer OR y <= q3 + 3 * (q3 - q1) THEN y END) AS y1, count(*) AS n
    FROM point, fences
), line AS (
    SELECT key, split, at, string_agg(report_at(x, x0, x1, false, 60, 705) || ',' ||
        report_at(greatest(least(y, 2 * y1 - y0), 2 * y0 - y1), y0, y1, false, 290, 12), ' ' ORDER BY place) AS points
    FROM point, box GROUP BY key, split, at
), dotted AS (
    -- A point alone is a line to itself, of which the round ends are seen.
    SELECT key, split, at, points || CASE WHEN alone THEN ' ' || points ELSE '' END AS points,
        CASE WHEN alone THEN ' stroke-linecap="round"' ELSE '' END || CASE WHEN key = (SELECT $1->>'best')::integer
            THEN CASE WHEN alone THEN ' stroke-width="9"' ELSE ' stroke-width="3"' END
            ELSE CASE WHEN alone THEN ' stroke-width="6"' ELSE '' END || ' stroke-opacity="0.4"' END AS stroke
    FROM line, LATERAL (SELECT strpos(points, ' ') = 0 AS alone) AS a
)
SELECT CASE WHEN (SELECT n FROM box) = 0 THEN report_missing('No iteration was evaluated yet.') ELSE
    report_chart('curves', 'Learning curves', format('%s by iteration, a line for each of %s trials; the best trial is the thick line.',
        (SELECT $1->>'metric'), (SELECT count(DISTINCT key) FROM line)), 330,
        (SELECT report_frame(x0, x1, false, 'iteration', y0, y1, false, (SELECT $1->>'metric'), 330) FROM box) ||
        '<clipPath id="plot"><path d="M59 10h647v282h-647z"/></clipPath><g class="lines" clip-path="url(#plot)" fill="none" stroke="currentColor">' ||
        (SELECT string_agg(format('<polyline data-k="%s" class="%s%s" points="%s"%s><title>%s</title></polyline>', l.key,
                    CASE WHEN l.key = (SELECT $1->>'best')::integer THEN 'best' ELSE 'other' END,
                    CASE WHEN l.split = 'training' AND (SELECT $1->>'split') <> 'training' THEN ' dashed" stroke-dasharray="5 3' ELSE '' END,
                    l.points, l.stroke,
                    format('%s: %s %s', l.key, l.split, report_number((t.value->>'value')::double precision))), '' ORDER BY l.at DESC)
         FROM dotted l JOIN json_array_elements($1->'trials') AS t(value) ON (t.value->>'key')::integer = l.key) || '</g>') END
$$;
COMMENT ON FUNCTION hopper.report_curves(json) IS 'part of report(): learning curves';

-- A point for each trial: `across` (gap or seconds) against what trials are compared by.
CREATE FUNCTION hopper.report_scatter(doc json, id text, across text, title text, label text, logarithmic boolean) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
WITH point AS (
    SELECT t.value AS trial, (t.value->>'key')::integer AS key, (t.value->>$3)::double precision AS x,
        (t.value->>'value')::double precision AS y
    FROM json_array_elements($1->'trials') AS t(value)
    WHERE t.value->>$3 NOT IN ('NaN', 'Infinity', '-Infinity') AND t.value->>'value' NOT IN ('NaN', 'Infinity', '-Infinity')
        -- An ensemble took no time of its own.
        AND NOT ($6 AND (t.value->>$3)::double precision <= 0)
), box AS (
    -- With some room around them.
    SELECT CASE WHEN $6 THEN min(x) / 1.1 ELSE min(x) - (max(x) - min(x)) / 40 END AS x0,
        CASE WHEN $6 THEN max(x) * 1.1 ELSE max(x) + (max(x) - min(x)) / 40 END AS x1,
        min(y) - (max(y) - min(y)) / 30 AS y0, max(y) + (max(y) - min(y)) / 30 AS y1, count(*) AS n
    FROM point
)
SELECT CASE WHEN (SELECT n FROM box) < 2 THEN report_missing('It takes two trials with values to compare them.') ELSE
    report_chart($2, $4, format('A point for each of %s trials: %s across, %s upwards; the best is a filled square.',
            (SELECT n FROM box), $5, (SELECT $1->>'metric')), 330,
        (SELECT report_frame(x0, x1, $6 AND x1 > x0 * 5, $5, y0, y1, false, (SELECT $1->>'metric'), 330) ||
            CASE WHEN $3 = 'gap' AND x0 < 0 AND x1 > 0 THEN format('<path class="zero" stroke="#6a737d" stroke-dasharray="2 3" d="M%s 12V290"/>',
                report_at(0, x0, x1, false, 60, 705)) ELSE '' END FROM box) ||
        '<g class="dots" fill="none" stroke="currentColor">' ||
        (SELECT string_agg(CASE WHEN key = (SELECT $1->>'best')::integer
                THEN format('<rect data-k="%s" class="best" fill="currentColor" x="%s" y="%s" width="11" height="11" transform="translate(-5.5 -5.5)"><title>%s</title></rect>',
                    key, at.x, at.y, format('%s: %s', key, report_number(point.y)))
                ELSE format('<circle data-k="%s" cx="%s" cy="%s" r="4"><title>%s</title></circle>',
                    key, at.x, at.y, format('%s: %s', key, report_number(point.y))) END, '' ORDER BY (trial->>'rank')::integer DESC)
         FROM point, box, LATERAL (SELECT
            report_at(point.x, x0, x1, $6 AND x1 > x0 * 5, 60, 705) AS x,
            report_at(point.y, y0, y1, false, 290, 12) AS y) AS at) || '</g>') END
$$;
COMMENT ON FUNCTION hopper.report_scatter(json, text, text, text, text, boolean) IS 'part of report(): trials by two numbers';

-- A line for each trial through its parameters to what came of it.
CREATE FUNCTION hopper.report_parallel(doc json) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
WITH named AS (
    SELECT n.value AS name, n.at FROM json_array_elements_text($1->'names') WITH ORDINALITY AS n(value, at) WHERE n.at <= 7
    UNION ALL SELECT NULL, 1 + least((SELECT count(*) FROM json_array_elements_text($1->'names')), 7)
), cell AS (
    SELECT a.at, a.name, t.value AS trial, (t.value->>'rank')::integer AS rank,
        CASE WHEN a.name IS NULL THEN t.value->>'value' ELSE t.value->'given'->>a.name END AS word
    FROM named a, json_array_elements($1->'trials') AS t(value)
    WHERE t.value->>'value' NOT IN ('NaN', 'Infinity', '-Infinity')
), axis AS (
    SELECT at, name, bool_and(word ~ '^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$') AS numeric,
        array_agg(DISTINCT word ORDER BY word) FILTER (WHERE word IS NOT NULL) AS words
    FROM cell GROUP BY at, name
), scale AS (
    SELECT a.*, s.low, s.high, a.numeric AND s.low > 0 AND s.high >= 50 * s.low AND a.name IS NOT NULL AS logarithmic,
        30 + 630 * (a.at - 1) / greatest((SELECT count(*) - 1 FROM named), 1)::double precision AS x
    FROM axis a, LATERAL (SELECT min(CASE WHEN a.numeric THEN w::double precision END) AS low,
        max(CASE WHEN a.numeric THEN w::double precision END) AS high FROM unnest(a.words) AS w) AS s
), spot AS (
    SELECT c.at, c.trial, c.rank, s.x, CASE WHEN s.numeric THEN report_at(c.word::double precision, s.low, s.high, s.logarithmic, 260, 40)
        ELSE report_at((SELECT w.at FROM unnest(s.words) WITH ORDINALITY AS w(word, at) WHERE w.word = c.word),
            1, array_length(s.words, 1), false, 260, 40) END AS y
    FROM cell c JOIN scale s ON s.at = c.at WHERE c.word IS NOT NULL
), line AS (
    SELECT rank, (min(trial::text)::json->>'key')::integer AS key, min(trial::text)::json AS trial,
        string_agg(round(x::numeric, 1) || ',' || y, ' ' ORDER BY at) AS points
    FROM spot GROUP BY rank
)
SELECT CASE WHEN (SELECT count(*) FROM line) < 2 OR json_array_length($1->'names') = 0
    THEN report_missing('The trials do not differ in their parameters.') ELSE
    report_chart('parallel', 'Parallel coordinates', format('A line for each trial through its parameters (%s) to %s; the best trial is the thick line.',
        (SELECT string_agg(name, ', ' ORDER BY at) FROM named), (SELECT $1->>'metric')), 300,
        '<g class="lines" fill="none" stroke="currentColor">' ||
        (SELECT string_agg(format('<polyline data-k="%s" class="%s" points="%s"%s><title>%s</title></polyline>', key,
            CASE WHEN key = (SELECT $1->>'best')::integer THEN 'best' ELSE 'other' END, points,
            CASE WHEN key = (SELECT $1->>'best')::integer THEN ' stroke-width="3"' ELSE ' stroke-opacity="0.4"' END,
            report_text(report_trial_words((SELECT json_build_object('names', $1->'names')), trial))), '' ORDER BY rank DESC) FROM line) || '</g>' ||
        (SELECT string_agg(format('<g class="axis" data-x="%s"><path stroke="#6a737d" d="M%s 40V260"/><text x="%s" y="%s" text-anchor="%s">%s</text>',
            round(x::numeric, 1), round(x::numeric, 1), round(x::numeric, 1), CASE WHEN at % 2 = 1 THEN 14 ELSE 288 END,
            CASE WHEN at = 1 THEN 'start' WHEN name IS NULL THEN 'end' ELSE 'middle' END,
            report_text(left(coalesce(name, (SELECT $1->>'metric')), 28))) ||
            coalesce((SELECT string_agg(format('<text class="label" x="%s" y="%s" dy="4" text-anchor="%s">%s</text>',
                    round((x + CASE WHEN name IS NULL THEN -5 ELSE 5 END)::numeric, 1), mark.y,
                    CASE WHEN name IS NULL THEN 'end' ELSE 'start' END, report_text(left(mark.word, 18))), '')
                FROM (SELECT report_number(v) AS word, report_at(v, low, high, logarithmic, 260, 40) AS y
                      FROM (SELECT low AS v UNION SELECT high
                          UNION SELECT w::double precision FROM unnest(words) AS w WHERE numeric AND array_length(words, 1) <= 6) AS e WHERE numeric
                      UNION ALL SELECT w.word, report_at(w.at, 1, array_length(words, 1), false, 260, 40)
                      FROM unnest(words) WITH ORDINALITY AS w(word, at) WHERE NOT numeric AND (array_length(words, 1) <= 12
                          OR w.at IN (1, array_length(words, 1)))) AS mark), '') || '</g>', '' ORDER BY at)
         FROM scale)) END
$$;
COMMENT ON FUNCTION hopper.report_parallel(json) IS 'part of report(): parallel coordinates';

CREATE FUNCTION hopper.report_importance(doc json) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
WITH bar AS (
    SELECT i.value->>'parameter' AS name, (i.value->>'importance')::double precision AS share, i.at
    FROM json_array_elements($1->'importance') WITH ORDINALITY AS i(value, at) WHERE i.at <= 12
)
SELECT CASE WHEN (SELECT count(*) FROM bar) = 0 THEN report_missing($1->>'no_importance') ELSE
    report_chart('importance', 'Importance of parameters', (SELECT string_agg(format('%s %s %%', name, round(100 * share::numeric)), ', ' ORDER BY at) FROM bar),
        (SELECT 30 * count(*)::integer + 10 FROM bar),
        (SELECT string_agg(format('<rect class="bar" fill="#0b62c4" x="200" y="%s" width="%s" height="18"/>'
            '<text x="192" y="%s" text-anchor="end">%s</text><text class="label" x="%s" y="%s">%s %%</text>',
            30 * at - 22, greatest(round((440 * share)::numeric, 1), 1), 30 * at - 8, report_text(left(name, 28)),
            round((206 + 440 * share)::numeric, 1), 30 * at - 8, round(100 * share::numeric)), '' ORDER BY at) FROM bar)) END
$$;
COMMENT ON FUNCTION hopper.report_importance(json) IS 'part of report(): which parameters made the good trials good';

-- With intervals of 95 %; what is below nothing is drawn to the left of where the bars begin.
CREATE FUNCTION hopper.report_features_chart(doc json) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
WITH bar AS (
    SELECT f.value->>0 AS name, (f.value->>1)::double precision AS size, (f.value->>2)::double precision AS low,
        (f.value->>3)::double precision AS high, f.at
    FROM json_array_elements($1->'features'->'features') WITH ORDINALITY AS f(value, at) WHERE f.at <= 20
), box AS (
    SELECT least(min(low), 0) AS x0, greatest(max(high), 1e-9) AS x1, count(*) AS n FROM bar
), spot AS (
    SELECT bar.*, 30 * at - 22 AS y, report_at(least(size, 0), x0, x1, false, 200, 640)::numeric AS a, report_at(greatest(size, 0), x0, x1, false, 200, 640)::numeric AS b,
        report_at(low, x0, x1, false, 200, 640)::numeric AS c, report_at(high, x0, x1, false, 200, 640)::numeric AS d FROM bar, box
), words AS (
    SELECT format('%s is %s on at most %s rows of %s%s. A bar is how much worse it becomes when the values of one column are exchanged among the rows, a line its interval of 95 %%.',
        $1->'features'->>'metric', report_number(($1->'features'->>'before')::double precision), $1->'features'->>'rows', $1->'features'->>'source',
        CASE WHEN ($1->'features'->>'unseen')::boolean THEN '' ELSE ', some of which the models were trained on' END) AS text
)
SELECT CASE WHEN (SELECT n FROM box) = 0 THEN report_missing($1->>'no_features') ELSE
    '<p>' || report_text((SELECT text FROM words)) || '</p>' || report_chart('features', 'Importance of features',
        (SELECT string_agg(format('%s %s', name, report_number(size)), ', ' ORDER BY at) FROM bar), (SELECT 30 * n::integer + 10 FROM box),
        (SELECT string_agg(format('<rect class="bar" fill="#0b62c4" x="%s" y="%s" width="%s" height="18"/><path stroke="currentColor" d="M%s %sH%s"/>'
            '<text x="192" y="%s" text-anchor="end">%s</text><text class="label" x="%s" y="%s">%s</text>',
            a, y, greatest(b - a, 1), c, y + 9, d, y + 14, report_text(left(name, 28)), d + 6, y + 14, report_number(size)), '' ORDER BY at) FROM spot)) END
$$;
COMMENT ON FUNCTION hopper.report_features_chart(json) IS 'part of report(): which columns the best model predicts by';

-- Visits of models by worker: each configuration has a colour and, where there is room, its number.
CREATE FUNCTION hopper.report_gantt(doc json) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
WITH visit AS (
    SELECT (v.value->>0)::integer AS lane, (v.value->>1)::integer AS key, (v.value->>2)::double precision AS began,
        (v.value->>3)::double precision AS ended, v.value->>4 = 'evaluation' AS evaluates
    FROM json_array_elements($1->'visits') AS v(value)
), box AS (
    SELECT greatest(max(ended), 1e-6) AS x1, max(lane) + 1 AS lanes, count(*) AS n FROM visit
), bar AS (
    SELECT visit.*, 60 + 645 * began / x1 AS x, greatest(645 * (ended - began) / x1, 0.4) AS width, 14 + 34 * lane AS y FROM visit, box
)
SELECT CASE WHEN (SELECT n FROM box) = 0 THEN report_missing('The times of visits are known when a run has ended.') ELSE
    report_chart('gantt', 'Where the models were', format('Visits of %s configurations on %s workers over %s seconds: a colour for each configuration, low bars are evaluations.',
        (SELECT count(DISTINCT key) FROM visit), lanes, report_number(x1)), 34 * lanes + 60,
        report_frame(0, x1, false, 'seconds', NULL, NULL, false, 'worker', 34 * lanes + 60) ||
        '<g class="label">' || (SELECT string_agg(format('<text x="54" y="%s" text-anchor="end">%s</text>', 34 * lane + 34, lane + 1), '')
                                FROM generate_series(0, lanes - 1) AS lane) || '</g>' ||
        (SELECT string_agg(format('<path data-k="%s" class="k%s" d="%s"><title>configuration %s</title></path>', key, key % 8, d, key), '' ORDER BY key)
         FROM (SELECT key, string_agg(format('M%s %sh%sv%sh-%sz', round(x::numeric, 1), y + CASE WHEN evaluates THEN 14 ELSE 0 END, round(width::numeric, 1),
                   CASE WHEN evaluates THEN 14 ELSE 28 END, round(width::numeric, 1)), '' ORDER BY x) AS d FROM bar GROUP BY key) AS one) ||
        coalesce((SELECT '<g class="key" font-size="10" text-anchor="middle">' || string_agg(format('<text x="%s" y="%s">%s</text>',
             round((x + width / 2)::numeric, 1), y + 18, key), '') || '</g>' FROM bar WHERE width > 7 + 6 * length(key::text) AND NOT evaluates), ''))
    END FROM box
$$;
COMMENT ON FUNCTION hopper.report_gantt(json) IS 'part of report(): which worker trained which model when';

CREATE FUNCTION hopper.report_confusion(doc json) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
WITH cell AS (
    SELECT r.at AS row, c.at AS col, (c.value#>>'{}')::bigint AS n
    FROM json_array_elements($1->'confusion') WITH ORDINALITY AS r(value, at), json_array_elements(r.value->'counts') WITH ORDINALITY AS c(value, at)
), size AS (
    SELECT max(row) AS k, greatest(least(420 / greatest(max(row), 1), 44), 14) AS side, greatest(max(n), 1) AS most, sum(n) AS total,
        sum(CASE WHEN row = col THEN n END) AS right FROM cell
)
SELECT CASE WHEN k IS NULL THEN report_missing($1->>'no_confusion') ELSE
    report_chart('confusion', 'Confusion matrix', format('%s of %s validation rows are on the diagonal. Rows are labels, columns predictions.', "right", total),
        (k * side + 60)::integer,
        (SELECT string_agg(format('<rect x="%s" y="%s" width="%s" height="%s" class="cell" fill="currentColor" fill-opacity="%s"%s><title>%s</title></rect>',
                150 + (col - 1) * side, 30 + (row - 1) * side, side - 1, side - 1, CASE WHEN n = 0 THEN 0.03 ELSE round((0.12 + 0.6 * n / most)::numeric, 2) END,
                CASE WHEN row = col THEN ' stroke="currentColor"' ELSE '' END,
                report_text(format('%s taken for %s: %s', (SELECT $1->'confusion')->(row::integer - 1)->>'class', (SELECT $1->'confusion')->(col::integer - 1)->>'class', n))), '') ||
            coalesce(string_agg(CASE WHEN n > 0 AND side >= 20 THEN format('<text class="key" x="%s" y="%s" text-anchor="middle" dy="4" font-size="%s">%s</text>',
                150 + (col - 1) * side + side / 2, 30 + (row - 1) * side + side / 2, CASE WHEN side < 30 OR n > 999 THEN 9 ELSE 11 END, n) ELSE '' END, ''), '')
         FROM cell) ||
        (SELECT string_agg(format('<text x="144" y="%s" text-anchor="end" dy="4">%s</text>', 30 + (at - 1) * side + side / 2,
                report_text(left(r.value->>'class', 18))), '')
         FROM json_array_elements($1->'confusion') WITH ORDINALITY AS r(value, at)) ||
        CASE WHEN side >= 20 THEN (SELECT string_agg(format('<text x="%s" y="24" text-anchor="middle">%s</text>', 150 + (at - 1) * side + side / 2,
                report_text(left(r.value->>'class', floor(side / 8.5)::integer))), '')
         FROM json_array_elements($1->'confusion') WITH ORDINALITY AS r(value, at)) ELSE '' END) END
FROM size
$$;
COMMENT ON FUNCTION hopper.report_confusion(json) IS 'part of report(): labels against predictions of the best model';

-- Of classes: the share of right predictions by their probability; a point on the diagonal promises no more than it holds.
CREATE FUNCTION hopper.report_calibration(doc json) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
WITH point AS (
    SELECT (p.value->>1)::bigint AS n, (p.value->>2)::double precision AS x, (p.value->>3)::double precision AS y, p.at
    FROM json_array_elements($1->'points') WITH ORDINALITY AS p(value, at)
), total AS (
    SELECT sum(n) AS n, sum(n * abs(x - y)) / sum(n) AS error, max(n) AS most FROM point
)
SELECT CASE WHEN n IS NULL THEN report_missing($1->>'no_points') ELSE
    report_chart('calibration', 'Calibration', format('Share of right predictions of %s validation rows by the probability that they had: %s apart on average. On the diagonal both are the same.',
        n, report_number(error)), 330,
        report_frame(0, 1, false, 'probability of the predicted class', 0, 1, false, 'share that is right', 330) ||
        '<path class="zero" stroke="#6a737d" stroke-dasharray="2 3" d="M60 290L705 12"/><g class="dots" fill="none" stroke="currentColor">' ||
        (SELECT string_agg(format('<circle class="best" cx="%s" cy="%s" r="%s" fill-opacity="0.5"><title>%s</title></circle>',
            report_at(x, 0, 1, false, 60, 705), report_at(y, 0, 1, false, 290, 12), round((3 + 9 * sqrt(point.n / most::double precision))::numeric, 1),
            format('%s rows: %s expected, %s right', point.n, report_number(x), report_number(y))), '' ORDER BY at) FROM point) || '</g>') END
FROM total
$$;
COMMENT ON FUNCTION hopper.report_calibration(json) IS 'part of report(): whether probabilities hold what they promise';

-- Of numbers: predictions against labels.
CREATE FUNCTION hopper.report_truth(doc json) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
WITH point AS (
    SELECT (p.value->>0)::double precision AS x, (p.value->>1)::double precision AS y
    FROM json_array_elements($1->'points') AS p(value) WHERE p.value->>1 NOT IN ('NaN', 'Infinity', '-Infinity')
), box AS (
    SELECT low - greatest(high - low, 1e-9) / 30 AS low, high + greatest(high - low, 1e-9) / 30 AS high, n
    FROM (SELECT least(min(x), min(y)) AS low, greatest(max(x), max(y)) AS high, count(*) AS n FROM point) AS b
)
SELECT CASE WHEN n = 0 THEN report_missing($1->>'no_points') ELSE
    report_chart('truth', 'Predictions and labels', format('A point for each of %s validation rows: the label across, the prediction upwards. On the diagonal both are the same.', n), 330,
        report_frame(low, high, false, 'label', low, high, false, 'prediction', 330) ||
        '<path class="zero" stroke="#6a737d" stroke-dasharray="2 3" d="M60 290L705 12"/><g class="dots" fill="none" stroke="currentColor">' ||
        (SELECT string_agg(format('<circle cx="%s" cy="%s" r="3"/>', report_at(x, low, high, false, 60, 705), report_at(y, low, high, false, 290, 12)), '') FROM point) ||
        '</g>') END
FROM box
$$;
COMMENT ON FUNCTION hopper.report_truth(json) IS 'part of report(): predictions against labels that are numbers';
