-- Draws four of the new digits, with the three most probable readings beside each.
\pset tuples_only on
\pset format unaligned
SELECT CASE y WHEN 1 THEN E'\n' ELSE '' END
       || (SELECT string_agg(repeat(substr(' .:-=+*#%@', 1 + pixels[y][x] * 9 / 16, 1), 2), ''
                             ORDER BY x)
           FROM generate_series(1, 8) AS x)
       || CASE WHEN y = 2 THEN format('     digit %s, a %s', digit.id, label)
               WHEN prob IS NULL THEN ''
               ELSE format('     %s  %s %%', class_value, round(100 * prob::numeric, 2))
          END
FROM (SELECT * FROM digits_new ORDER BY id LIMIT 4) AS digit
     CROSS JOIN generate_series(1, 8) AS y
     LEFT JOIN predicted ON predicted.id = digit.id AND predicted.rank = y - 3
ORDER BY digit.id, y;
\pset format aligned
\pset tuples_only off
