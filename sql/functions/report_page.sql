-- The words of report(): what was asked for, the winner, the leaderboard, how to do it again; and the page.
CREATE FUNCTION hopper.report_facts(doc json) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
SELECT '<dl>' || string_agg('<dt>' || report_text(name) || '</dt><dd>' || report_text(value) || '</dd>', '' ORDER BY at) || '</dl>'
FROM (VALUES
    (1, 'Description', nullif($1->>'description', '')),
    (2, 'Training data', $1->>'packed_table' || coalesce(', ' || ($1->'summary'->>'training_rows') || ' rows', '')),
    (3, 'Validation data', coalesce($1->>'validation_table' || coalesce(', ' || ($1->'summary'->>'validation_rows') || ' rows', ''),
        'none: what is said below was measured on the rows that were trained on')),
    (4, 'Label', array_to_string(ARRAY(SELECT json_array_elements_text(CASE json_typeof($1->'summary'->'dependent_varname')
            WHEN 'array' THEN $1->'summary'->'dependent_varname' END)), ', ') ||
        coalesce(', ' || ($1->'summary'->'num_classes'->>0) || ' classes', '')),
    (5, 'Features', left(array_to_string(ARRAY(SELECT json_array_elements_text(CASE json_typeof($1->'summary'->'independent_varname')
            WHEN 'array' THEN $1->'summary'->'independent_varname' END)), ', '), 300)),
    (6, 'Search', CASE WHEN $1->'search'->>'method' <> 'grid' THEN ($1->'search'->>'method') || coalesce(', ' || ($1->'search'->>'arguments'), '')
        || coalesce(', by ' || ($1->'search'->>'objective'), '') || coalesce(', ' || ($1->'search'->>'constraints'), '') ELSE 'all configurations of a grid' END),
    (7, 'Space', (SELECT string_agg((d.value->>'parameter') || ' ' || CASE d.value->>'type' WHEN 'choice' THEN d.value->>'choices'
            ELSE '[' || report_number((d.value->>'low')::double precision) || ', ' || report_number((d.value->>'high')::double precision) || ']' || CASE WHEN d.value->>'scale' LIKE '%log%' THEN ' log' ELSE '' END END, '; ')
        FROM json_array_elements($1->'search'->'space') AS d(value) WHERE d.value->>'type' <> 'constant')),
    (8, 'Trials', ($1->>'total') || CASE WHEN ($1->>'failed')::bigint > 0 THEN ', ' || ($1->>'failed') || ' of them failed' ELSE '' END ||
        CASE WHEN ($1->>'every')::bigint > 1 THEN format('; shown are the best 100 and every %s. of the others', $1->>'every') ELSE '' END),
    (9, 'Run', CASE WHEN ($1->>'run') IS NOT NULL THEN ($1->>'run') || ', ' || ($1->>'state') || ', by ' || ($1->>'owner') END),
    (10, 'Begun', left($1->>'started', 19)),
    (11, 'Computed by', $1->'summary'->>'numerics_class')) AS f(at, name, value)
WHERE value <> ''
$$;
COMMENT ON FUNCTION hopper.report_facts(json) IS 'part of report(): what was asked for';

-- With Wilson's interval of 95 % where the metric is a share of validation rows.
CREATE FUNCTION hopper.report_winner(doc json) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
WITH best AS (
    SELECT t.value AS trial, (t.value->>'value')::double precision AS p, ($1->'summary'->>'validation_rows')::double precision AS n
    FROM json_array_elements($1->'trials') AS t(value) WHERE t.value->>'key' = (SELECT $1->>'best')
), next AS (
    SELECT (t.value->>'value')::double precision AS value FROM json_array_elements($1->'trials') AS t(value)
    WHERE (t.value->>'rank')::bigint > 1 AND (t.value->>'value') IS NOT NULL ORDER BY (t.value->>'rank')::bigint LIMIT 1
), wilson AS (
    SELECT (p + 3.8415 / (2 * n)) / (1 + 3.8415 / n) AS middle,
        1.96 * sqrt(p * (1 - p) / n + 3.8415 / (4 * n * n)) / (1 + 3.8415 / n) AS half
    FROM best WHERE (SELECT $1->>'split') = 'validation' AND (SELECT $1->>'metric') ~ ' (accuracy|binary_accuracy|categorical_accuracy|sparse_categorical_accuracy)$'
        AND n > 0 AND p BETWEEN 0 AND 1
)
SELECT coalesce((SELECT '<p class="winner"><b>Configuration ' || report_text(report_trial_words((SELECT json_build_object('names', $1->'names')), trial)) || CASE trial->>'status' WHEN 'ensemble' THEN ', an ensemble' ELSE '' END || '</b></p><ul>' ||
    '<li>' || report_text((SELECT $1->>'metric')) || ' <b>' || report_number(p) || '</b>' ||
    coalesce((SELECT format('; with 95 %% confidence between %s and %s on as many other rows', report_number(middle - half), report_number(middle + half)) FROM wilson), '') || '</li>' ||
    coalesce('<li>' || (SELECT CASE WHEN value = p THEN 'as good as the second' ELSE report_number(abs(p - value)) || ' from the second' END FROM next) || '</li>', '') ||
    CASE WHEN (SELECT $1->>'split') = 'validation' AND (trial->>'gap') IS NOT NULL THEN '<li>' || CASE WHEN (trial->>'gap')::double precision = 0 THEN 'as good' ELSE report_number(abs((trial->>'gap')::double precision)) END ||
        CASE WHEN (trial->>'gap')::double precision = 0 THEN ' on the training data' WHEN (trial->>'gap')::double precision > 0 THEN ' better on the training data (overfitting)' ELSE ' worse on the training data' END || '</li>' ELSE '' END ||
    '<li>' || report_text(coalesce((trial->>'iterations') || CASE trial->>'iterations' WHEN '1' THEN ' iteration' ELSE ' iterations' END, '')) || coalesce(', ' || report_number((trial->>'seconds')::double precision) || ' s of computing', '') ||
    coalesce(', ' || report_text(trial->>'parameters') || ' parameters', '') || '</li></ul>' FROM best),
    report_missing('No trial has a value to compare it by yet.'))
$$;
COMMENT ON FUNCTION hopper.report_winner(json) IS 'part of report(): the best trial, and by how much';

CREATE FUNCTION hopper.report_leaderboard(doc json) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
WITH shown AS (
    SELECT n.value AS name, n.at FROM json_array_elements_text($1->'names') WITH ORDINALITY AS n(value, at) WHERE n.at <= 8
), line AS (
    SELECT (t.value->>'rank')::bigint AS rank, format('<tr data-k="%s"%s><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td>%s</tr>',
        t.value->>'key', CASE WHEN t.value->>'key' = (SELECT $1->>'best') THEN ' class="best"' ELSE '' END, t.value->>'rank', t.value->>'key',
        report_number((t.value->>'value')::double precision), report_number((t.value->>'training')::double precision),
        report_number((t.value->>'seconds')::double precision), t.value->>'iterations',
        report_text((t.value->>'status') || coalesce(': ' || (t.value->>'error'), '')),
        coalesce((SELECT string_agg('<td>' || report_text(left(coalesce(t.value->'given'->>s.name, '-'), 30)) || '</td>', '' ORDER BY s.at) FROM shown s), '')) AS html
    FROM json_array_elements($1->'trials') AS t(value)
), heading AS (
    SELECT '<table><thead><tr><th>rank</th><th>mst_key</th><th>' || report_text((SELECT $1->>'metric')) || '</th><th>training</th><th>seconds</th><th>iterations</th><th>status</th>' ||
        coalesce((SELECT string_agg('<th>' || report_text(left(name, 30)) || '</th>', '' ORDER BY at) FROM shown), '') || '</tr></thead><tbody>' AS html
)
SELECT '<div class="table">' || html || coalesce((SELECT string_agg(html, '' ORDER BY rank) FROM line WHERE rank <= 20), '') || '</tbody></table></div>' ||
    coalesce((SELECT '<details><summary>' || count(*) || ' more</summary><div class="table">' || (SELECT html FROM heading) || string_agg(html, '' ORDER BY rank) ||
        '</tbody></table></div></details>' FROM line WHERE rank > 20 AND rank <= 100 HAVING count(*) > 0), '')
FROM heading
$$;
COMMENT ON FUNCTION hopper.report_leaderboard(json) IS 'part of report(): trials in their order, as a table';

CREATE FUNCTION hopper.report_statements(doc json) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
SELECT '<pre>' || report_text(concat_ws(E'\n\n',
    -- They are packed already: to be run where they are not.
    '-- ' || regexp_replace(replace($1->>'packing', E'\n', E'\n-- '), ', (?=[a-z_]+ := )', E',\n--     ', 'g'),
    regexp_replace($1->>'statement', ', (?=[a-z_]+ := )', E',\n    ', 'g') || ';',
    CASE WHEN ($1->>'summary') IS NOT NULL THEN format(E'SELECT * FROM hopper.leaderboard(%L);\nSELECT * FROM hopper.learning_curves(%L);', $1->>'title', $1->>'title') END,
    CASE WHEN ($1->>'summary') IS NOT NULL AND (SELECT $1->>'best') IS NOT NULL AND ($1->>'validation_table') IS NOT NULL
        THEN format('SELECT * FROM hopper.evaluate(%L, %L, mst_key := %s);', $1->>'title', $1->>'validation_table', (SELECT $1->>'best')) END,
    format('SELECT hopper.report(%s);', coalesce(quote_literal(CASE WHEN ($1->>'summary') IS NOT NULL THEN $1->>'title' END), $1->>'run')))) || '</pre>'
$$;
COMMENT ON FUNCTION hopper.report_statements(json) IS 'part of report(): how to do all of it again';

CREATE FUNCTION hopper.report_style() RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
SELECT $css$<style>
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--rule:#d0d7de;--page:#fff;--best:#0b62c4;--fill:#f1f5f9}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa4af;--rule:#3a424c;--page:#0d1117;--best:#6cb6ff;--fill:#161d27}}
*{box-sizing:border-box}body{margin:0 auto;max-width:1040px;padding:16px;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
h1{font-size:1.6em;margin:.4em 0;overflow-wrap:anywhere}h2{font-size:1.15em;margin:2em 0 .4em;border-bottom:1px solid var(--rule)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 16px;margin:0}dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
.chart,.table{overflow-x:auto}svg{display:block;width:100%;min-width:560px;max-width:900px;height:auto}
.grid{stroke:var(--rule)}.label{fill:var(--soft)}.lines .best,.dots .best{stroke:var(--best)}.dots .best{fill:var(--best)}.bar{fill:var(--best)}
.missing{color:var(--soft);font-style:italic}table{border-collapse:collapse;font-size:13px;width:100%}th,td{padding:3px 8px;text-align:left;border-bottom:1px solid var(--rule);white-space:nowrap;font-variant-numeric:tabular-nums}
th{color:var(--soft);font-weight:600}tr.best td{font-weight:700}pre{background:var(--fill);padding:12px;overflow-x:auto;font-size:13px}
.k0{fill:#56b4e9}.k1{fill:#e69f00}.k2{fill:#009e73}.k3{fill:#f0e442}.k4{fill:#5a9bd4}.k5{fill:#d55e00}.k6{fill:#cc79a7}.k7{fill:#999}
.axis text{paint-order:stroke;stroke:var(--page);stroke-width:3px;stroke-linejoin:round}.key{fill:#000}.cell+.key{fill:currentColor}.cell{fill:var(--best)}text.key{fill:var(--ink)}g.key text{fill:#000}
path[class^=k]{stroke:var(--page);stroke-width:.5}.on{stroke:#d55e00!important;stroke-width:3;stroke-opacity:1!important}tr.on td{background:var(--fill)}.off{display:none}
.axis{cursor:ns-resize}.brush{fill:var(--best);fill-opacity:.2}
@media print{:root{--ink:#000;--soft:#333;--rule:#aaa;--page:#fff;--best:#000;--fill:#eee}body{max-width:none;padding:0;font-size:11pt}section{break-inside:avoid}h2{break-after:avoid}pre{white-space:pre-wrap}}
</style>$css$::text
$$;
COMMENT ON FUNCTION hopper.report_style() IS 'part of report(): how it looks, on a screen by day and by night, and on paper';

-- Only hover and brushing: all that is drawn is there without it.
CREATE FUNCTION hopper.report_script() RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
SELECT $js$<script>
(function(){"use strict";
var all=document.querySelectorAll("[data-k]"),by={};
all.forEach(function(e){(by[e.dataset.k]=by[e.dataset.k]||[]).push(e)});
function mark(k,on){(by[k]||[]).forEach(function(e){e.classList.toggle("on",on)})}
all.forEach(function(e){e.addEventListener("mouseenter",function(){mark(e.dataset.k,true)});
e.addEventListener("mouseleave",function(){mark(e.dataset.k,false)})});
var title=document.getElementById("parallel-t"),svg=title&&title.parentNode;if(!svg)return;
var ranges={};
function y(e){var p=svg.createSVGPoint();p.x=e.clientX;p.y=e.clientY;return Math.max(40,Math.min(260,p.matrixTransform(svg.getScreenCTM().inverse()).y))}
function apply(){svg.querySelectorAll("polyline").forEach(function(l){var at={};
l.getAttribute("points").split(" ").forEach(function(p){var c=p.split(",");at[parseFloat(c[0])]=parseFloat(c[1])});
var out=Object.keys(ranges).some(function(x){var v=at[x];return v===undefined||v<ranges[x][0]-1||v>ranges[x][1]+1});
l.classList.toggle("off",out);
document.querySelectorAll('tr[data-k="'+l.dataset.k+'"]').forEach(function(r){r.classList.toggle("off",out)})})}
svg.querySelectorAll(".axis").forEach(function(g){var x=parseFloat(g.dataset.x),box=null,from;
var area=document.createElementNS(svg.namespaceURI,"rect");area.setAttribute("x",x-12);area.setAttribute("y",36);area.setAttribute("width",24);
area.setAttribute("height",228);area.setAttribute("fill-opacity",0);g.appendChild(area);
area.addEventListener("pointerdown",function(e){from=y(e);area.setPointerCapture(e.pointerId);if(box)box.remove();
box=document.createElementNS(svg.namespaceURI,"rect");box.setAttribute("class","brush");box.setAttribute("x",x-8);box.setAttribute("width",16);g.insertBefore(box,area)});
area.addEventListener("pointermove",function(e){if(from===undefined)return;var a=Math.min(from,y(e)),b=Math.max(from,y(e));
box.setAttribute("y",a);box.setAttribute("height",b-a);ranges[x]=[a,b];apply()});
area.addEventListener("pointerup",function(e){if(Math.abs(y(e)-from)<3){delete ranges[x];box.remove();box=null;apply()}from=undefined})})
})();
</script>$js$::text
$$;
COMMENT ON FUNCTION hopper.report_script() IS 'part of report(): what moves';

CREATE FUNCTION hopper.report_page(model_table text, run bigint) RETURNS text
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE AS $$
DECLARE
    doc CONSTANT json := report_data(model_table, run);
    title CONSTANT text := report_text(coalesce(nullif(doc->>'name', '') || ' (' || (doc->>'title') || ')', doc->>'title'));
BEGIN
    RETURN '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>' ||
        title || '</title>' || report_style() || '</head><body><main><h1>' || title || '</h1>' ||
        '<section><h2>What was asked for</h2>' || coalesce(report_facts(doc), '') || '</section>' ||
        '<section><h2>The winner</h2>' || report_winner(doc) || '</section>' ||
        '<section><h2>Leaderboard</h2>' || report_leaderboard(doc) || '</section>' ||
        '<section><h2>Learning curves</h2>' || report_curves(doc) || '</section>' ||
        '<section><h2>Parameters</h2>' || report_parallel(doc) || '</section>' ||
        '<section><h2>Importance of parameters</h2>' || report_importance(doc) || '</section>' ||
        '<section><h2>Importance of features</h2>' || report_features_chart(doc) || '</section>' ||
        '<section><h2>Overfitting</h2>' || CASE doc->>'split' WHEN 'validation' THEN
            report_scatter(doc, 'overfitting', 'gap', 'Overfitting', 'how much better on the training data', false)
            ELSE report_missing('Without validation data nobody knows.') END || '</section>' ||
        '<section><h2>Cost</h2>' || report_scatter(doc, 'cost', 'seconds', 'Cost', 'seconds of computing', true) || '</section>' ||
        '<section><h2>Confusion</h2>' || report_confusion(doc) || '</section>' ||
        CASE WHEN doc->'summary'->>'label_kind' = 'value' THEN '<section><h2>Predictions and labels</h2>' || report_truth(doc)
            ELSE '<section><h2>Calibration</h2>' || report_calibration(doc) END || '</section>' ||
        '<section><h2>Visits</h2>' || report_gantt(doc) || '</section>' ||
        '<section><h2>Again</h2>' || report_statements(doc) || '</section>' ||
        '</main>' || report_script() || '</body></html>' || E'\n';
END $$;
COMMENT ON FUNCTION hopper.report_page(text, bigint) IS 'part of report(): all of it';
