-- What the charts of report() share: text that is safe in HTML, numbers, scales and frames. Each part of the
-- page is a function of a JSON document (report_data.sql) that returns HTML; they find each other by the
-- path that report() sets.
CREATE FUNCTION hopper.report_text(value text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
SELECT replace(replace(replace(replace(replace(regexp_replace(coalesce($1, ''), E'[\\x01-\\x08\\x0B-\\x1F\\x7F]', ' ', 'g'),
    '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;'), '''', '&#39;')
$$;
COMMENT ON FUNCTION hopper.report_text(text) IS 'part of report(): a text as HTML, with nothing in it that HTML would take for its own';

CREATE FUNCTION hopper.report_number(value double precision) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
SELECT CASE WHEN $1 IS NULL THEN '-'
    WHEN $1 IN ('NaN', 'Infinity', '-Infinity') THEN $1::text
    WHEN $1 = 0 THEN '0'
    WHEN abs($1) >= 1e7 OR abs($1) < 1e-3 THEN
        regexp_replace(trim(to_char($1, '9.99EEEE')), '\.?0*e', 'e')
    WHEN abs($1) >= 1000 THEN round($1::numeric)::text
    ELSE rtrim(rtrim(round($1::numeric, 3 - floor(log(abs($1)::numeric))::integer)::text, '0'), '.') END
$$;
COMMENT ON FUNCTION hopper.report_number(double precision) IS 'part of report(): a number with four digits that count';

-- As `value` lies between low and high, so the result between a and b; with one decimal.
CREATE FUNCTION hopper.report_at(value double precision, low double precision, high double precision, logarithmic boolean,
    a double precision, b double precision) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
SELECT round((CASE WHEN $2 = $3 THEN ($5 + $6) / 2
    WHEN $4 THEN $5 + ($6 - $5) * ln($1 / $2) / ln($3 / $2)
    ELSE $5 + ($6 - $5) * ($1 - $2) / ($3 - $2) END)::numeric, 1)::text
$$;
COMMENT ON FUNCTION hopper.report_at(double precision, double precision, double precision, boolean, double precision,
    double precision) IS 'part of report(): a place on an axis';

CREATE FUNCTION hopper.report_ticks(low double precision, high double precision, logarithmic boolean, n integer)
RETURNS SETOF double precision
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    step double precision;
    tick double precision;
BEGIN
    IF low IS NULL THEN
        RETURN;
    ELSIF low = high THEN
        RETURN NEXT low;
    ELSIF logarithmic AND high < 1000 * low THEN
        RETURN QUERY SELECT mantissa * power(10::double precision, exponent) AS at
        FROM generate_series(floor(log(low))::integer, ceil(log(high))::integer) AS exponent, (VALUES (1), (2), (5)) AS m(mantissa)
        WHERE mantissa * power(10::double precision, exponent) BETWEEN low * (1 - 1e-9) AND high * (1 + 1e-9) ORDER BY 1;
    ELSIF logarithmic THEN
        step := greatest(1, ceil(log(high / low) / n));
        tick := power(10::double precision, ceil(log(low) - 1e-9));
        WHILE tick <= high * (1 + 1e-9) LOOP
            RETURN NEXT tick;
            tick := tick * power(10::double precision, step);
        END LOOP;
    ELSE
        step := power(10::double precision, floor(log((high - low) / n)));
        step := step * CASE WHEN (high - low) / step / n > 5 THEN 10 WHEN (high - low) / step / n > 2 THEN 5
                            WHEN (high - low) / step / n > 1 THEN 2 ELSE 1 END;
        FOR i IN 0 .. n + 2 LOOP
            tick := (ceil(low / step - 1e-9) + i) * step;
            EXIT WHEN tick > high + step * 1e-6;
            RETURN NEXT tick;
        END LOOP;
    END IF;
END $$;
COMMENT ON FUNCTION hopper.report_ticks(double precision, double precision, boolean, integer) IS 'part of report(): round numbers of an axis';

-- A chart of 720 x height: what stands in it, between frame and end. The plot is 60 to 705, 12 to height - 40.
CREATE FUNCTION hopper.report_chart(id text, title text, description text, height integer, content text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
SELECT format('<div class="chart"><svg viewBox="0 0 720 %s" role="img" aria-labelledby="%s-t %s-d" font-family="sans-serif"'
    ' font-size="12" fill="currentColor"><title id="%s-t">%s</title><desc id="%s-d">%s</desc>%s</svg></div>',
    $4, $1, $1, $1, report_text($2), $1, report_text($3), $5)
$$;
COMMENT ON FUNCTION hopper.report_chart(text, text, text, integer, text) IS 'part of report(): a drawing with what a screen reader says of it';

CREATE FUNCTION hopper.report_frame(x0 double precision, x1 double precision, x_log boolean, x_label text,
    y0 double precision, y1 double precision, y_log boolean, y_label text, height integer) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
SELECT '<g class="grid" stroke="#d0d7de">' ||
    coalesce((SELECT string_agg(format('<path d="M60 %sH705"/>', report_at(t, $5, $6, $7, $9 - 40, 12)), '')
              FROM report_ticks($5, $6, $7, 5) AS t), '') ||
    format('<path d="M60 %sH705"/></g><g class="label">', $9 - 40) ||
    coalesce((SELECT string_agg(format('<text x="54" y="%s" text-anchor="end" dy="4">%s</text>',
                  report_at(t, $5, $6, $7, $9 - 40, 12), report_number(t)), '')
              FROM report_ticks($5, $6, $7, 5) AS t), '') ||
    coalesce((SELECT string_agg(format('<text x="%s" y="%s" text-anchor="middle">%s</text>',
                  report_at(t, $1, $2, $3, 60, 705), $9 - 24, report_number(t)), '')
              FROM report_ticks($1, $2, $3, 8) AS t), '') ||
    format('<text x="705" y="%s" text-anchor="end">%s</text><text x="62" y="10">%s</text></g>',
        $9 - 8, report_text($4), report_text($8))
$$;
COMMENT ON FUNCTION hopper.report_frame(double precision, double precision, boolean, text, double precision, double precision,
    boolean, text, integer) IS 'part of report(): axes with numbers and names';

-- "6: learning_rate 0.01, batch_size 16"
CREATE FUNCTION hopper.report_trial_words(doc json, trial json) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
SELECT ($2->>'key') || coalesce(': ' || (
    SELECT string_agg(n.value || ' ' || left($2->'given'->>n.value, 40), ', ' ORDER BY n.at)
    FROM json_array_elements_text($1->'names') WITH ORDINALITY AS n(value, at)
    WHERE n.at <= 6 AND ($2->'given'->>n.value) IS NOT NULL), '')
$$;
COMMENT ON FUNCTION hopper.report_trial_words(json, json) IS 'part of report(): a trial, and what sets it apart from the others';

CREATE FUNCTION hopper.report_missing(why text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
SELECT '<p class="missing">' || report_text($1) || '</p>'
$$;
COMMENT ON FUNCTION hopper.report_missing(text) IS 'part of report(): why a chart is not there';
