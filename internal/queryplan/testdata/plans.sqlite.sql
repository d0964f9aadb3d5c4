-- functions: abs, avg, count, date, datetime, floor, julianday, length, lower, max, min, nullif, rank, round, row_number, sign, strftime, substr, sum, upper
-- cast_and_aggregate --
SELECT sum(CASE WHEN status = CAST(status AS REAL) THEN CAST(status AS REAL) END) AS sum_status, max(CASE WHEN date(status) = substr(status, 1, 10) THEN datetime(status) END) AS max_status
FROM orders
-- cast_bool --
SELECT id, CASE WHEN paid THEN 'true' WHEN NOT paid THEN 'false' END AS t, CASE WHEN paid = CAST(paid AS REAL) THEN CAST(paid AS REAL) END AS n
FROM orders
-- cast_date --
SELECT CASE WHEN date(status) = substr(status, 1, 10) THEN datetime(status) END AS status
FROM orders
-- cast_day_text --
SELECT id, CAST(paid_at AS TEXT) AS t
FROM orders
-- cast_in_filter --
SELECT id
FROM orders
WHERE CASE WHEN status = CAST(status AS REAL) THEN CAST(status AS REAL) END > 1
-- cast_number --
SELECT CASE WHEN status = CAST(status AS REAL) THEN CAST(status AS REAL) END AS status
FROM orders
-- cast_text --
SELECT CAST(amount AS TEXT) AS amount
FROM orders
-- cast_time_text --
SELECT id, CAST(sold_at AS TEXT) AS t
FROM orders
-- combine_except --
SELECT customer_id
FROM orders
EXCEPT
SELECT id FROM customers
ORDER BY customer_id NULLS LAST
-- combine_intersect --
SELECT customer_id
FROM orders
INTERSECT
SELECT id FROM customers
ORDER BY customer_id NULLS LAST
-- combine_mixed --
refused: combine[1].operation: SQLite has no order among different set operations; use one kind in a plan
-- combine_text --
SELECT name
FROM customers
UNION
SELECT status FROM orders
ORDER BY name DESC
-- combine_union --
SELECT customer_id
FROM orders
UNION
SELECT id FROM customers
ORDER BY customer_id NULLS LAST
-- combine_union_all --
SELECT customer_id
FROM orders
UNION ALL
SELECT id FROM customers
ORDER BY customer_id NULLS LAST
-- date_diff_hour --
SELECT id, CAST(julianday(date(paid_at)) - julianday(date(sold_at)) AS INTEGER) * 24 + CAST(strftime('%H', paid_at) AS INTEGER) - CAST(strftime('%H', sold_at) AS INTEGER) AS n
FROM orders
-- date_diff_in_arithmetic --
SELECT id, ((CAST(strftime('%Y', paid_at) AS INTEGER) - CAST(strftime('%Y', sold_at) AS INTEGER)) * 12 + CAST(strftime('%m', paid_at) AS INTEGER) - CAST(strftime('%m', sold_at) AS INTEGER)) * 30 AS days
FROM orders
-- date_diff_literal --
SELECT id, CAST(julianday(date(sold_at)) - julianday(date('2024-01-31')) AS INTEGER) AS n
FROM orders
-- date_diff_month --
SELECT id, (CAST(strftime('%Y', paid_at) AS INTEGER) - CAST(strftime('%Y', sold_at) AS INTEGER)) * 12 + CAST(strftime('%m', paid_at) AS INTEGER) - CAST(strftime('%m', sold_at) AS INTEGER) AS n
FROM orders
-- date_diff_quarter --
SELECT id, (CAST(strftime('%Y', paid_at) AS INTEGER) - CAST(strftime('%Y', sold_at) AS INTEGER)) * 4 + ((CAST(strftime('%m', paid_at) AS INTEGER) + 2) / 3) - ((CAST(strftime('%m', sold_at) AS INTEGER) + 2) / 3) AS n
FROM orders
-- date_diff_week --
SELECT id, CAST(julianday(date(paid_at)) - julianday(date(sold_at)) AS INTEGER) / 7 AS n
FROM orders
-- date_diff_year --
SELECT id, CAST(strftime('%Y', paid_at) AS INTEGER) - CAST(strftime('%Y', sold_at) AS INTEGER) AS n
FROM orders
-- date_filter_day_period --
SELECT id
FROM orders
WHERE paid_at >= '2024-01-01' AND paid_at < '2024-04-01'
-- date_filter_list --
SELECT id
FROM orders
WHERE paid_at IN ('2024-03-01', '2024-09-16')
-- date_filter_text_period --
SELECT id
FROM orders
WHERE CASE WHEN date(status) = substr(status, 1, 10) THEN datetime(status) END >= '2024-01-01' AND CASE WHEN date(status) = substr(status, 1, 10) THEN datetime(status) END < '2025-01-01'
-- date_filters --
SELECT id
FROM orders
WHERE sold_at BETWEEN '2024-01-31' AND '2024-09-15 10:30:00' AND paid_at <> '2024-03-01' AND paid_at <= '2024-09-15'
-- distinct --
SELECT DISTINCT status
FROM orders
-- distinct_ordered --
SELECT DISTINCT status, paid
FROM orders
ORDER BY status NULLS LAST, paid DESC
-- distinct_ordered_alias --
SELECT DISTINCT status AS state
FROM orders
ORDER BY state DESC
-- filter_any_all_not --
SELECT id
FROM orders
WHERE (status = 'new' OR (amount > 10 AND NOT (status = 'old')))
-- filter_bool --
SELECT id
FROM orders
WHERE paid = 1
-- filter_contains_backslash --
SELECT id
FROM customers
WHERE name LIKE '%\%' ESCAPE '!'
-- filter_contains_wildcard --
SELECT id
FROM orders
WHERE status LIKE '%50!%!_%' ESCAPE '!'
-- filter_like_backslash --
SELECT id
FROM customers
WHERE name GLOB '*\*'
-- filter_like_case --
SELECT id
FROM customers
WHERE name GLOB '?nn' AND NOT (name GLOB 'A*')
-- filter_not_contains --
SELECT id
FROM customers
WHERE name NOT LIKE '%AN%' ESCAPE '!'
-- filter_number_with_text --
SELECT id
FROM orders
WHERE amount > 7.5
-- filter_quoted_name --
SELECT "unit price", "select"
FROM "order lines"
WHERE "we""ird" = 'it''s'
-- filter_text_any_case --
SELECT id
FROM customers
WHERE (lower(name) = lower('ann') OR name LIKE 'BACK%' ESCAPE '!' OR name LIKE '%B' ESCAPE '!')
-- filter_text_case --
SELECT id
FROM customers
WHERE (name = 'Ann' OR name IN ('ANN', 'Bob', 'back\slash'))
-- filter_text_order --
SELECT id
FROM customers
WHERE name BETWEEN 'B' AND 'c'
-- filter_text_with_number --
SELECT id
FROM orders
WHERE status = '7'
-- from_plan --
SELECT avg(n) AS avg_n
FROM (SELECT customer_id, count(*) AS n FROM orders GROUP BY customer_id) AS inner_rows
-- from_plan_text --
SELECT status, n
FROM (SELECT status, count(*) AS n FROM orders GROUP BY status) AS inner_rows
WHERE status = 'new'
ORDER BY status NULLS LAST
-- function_abs --
SELECT abs(amount) AS abs_amount
FROM orders
-- function_avg --
SELECT avg(amount) AS avg_amount
FROM orders
-- function_avg_whole --
SELECT avg(stars) AS avg_stars
FROM reviews
-- function_count --
SELECT count(*) AS count, count(status) AS count_status
FROM orders
-- function_count_distinct --
SELECT count(DISTINCT amount) AS count_distinct_amount
FROM orders
-- function_length --
SELECT length(status) AS length_status
FROM orders
-- function_lower --
SELECT lower(status) AS lower_status
FROM orders
-- function_max --
SELECT max(amount) AS max_amount
FROM orders
-- function_median --
refused: select[0].function: SQLite has no median; leave it out, or ask for the rows and work it out from them
-- function_median_by_group --
refused: select[1].function: SQLite has no median; leave it out, or ask for the rows and work it out from them
-- function_median_of_dates --
refused: select[0].function: SQLite has no median of date; leave it out, or ask for the rows and work it out from them
-- function_min --
SELECT min(amount) AS min_amount
FROM orders
-- function_of_bool --
SELECT sum(CAST(paid AS INTEGER)) AS sum_paid, min(paid) AS min_paid, max(paid) AS max_paid, count(paid) AS count_paid
FROM orders
-- function_of_dates --
SELECT min(sold_at) AS min_sold_at, max(paid_at) AS max_paid_at
FROM orders
-- function_of_nothing --
refused: select[3].function: SQLite has no stddev; leave it out, or ask for the rows and work it out from them
-- function_of_one --
refused: select[0].function: SQLite has no stddev; leave it out, or ask for the rows and work it out from them
-- function_of_text --
SELECT min(status) AS min_status, max(status) AS max_status, count(DISTINCT status) AS count_distinct_status
FROM orders
-- function_percent --
SELECT status, 100.0 * sum(amount) / nullif(sum(sum(amount)) OVER (), 0) AS percent_amount
FROM orders
GROUP BY status
-- function_round --
SELECT round(amount, 2) AS round_amount
FROM orders
-- function_round_of_aggregate --
SELECT customer_id, sign(avg(amount)) * floor(abs(avg(amount)) * 100 + 0.5) / 100 AS a
FROM orders
GROUP BY customer_id
-- function_round_of_float --
SELECT id, sign(cost) * floor(abs(cost) * 100 + 0.5) / 100 AS round_cost, (sign(cost) * floor(abs(cost) * 100 + 0.5) / 100) * 2 AS twice
FROM orders
-- function_share --
SELECT status, 1.0 * sum(amount) / nullif(sum(sum(amount)) OVER (), 0) AS share_amount
FROM orders
GROUP BY status
-- function_share_of_rows --
SELECT status, 1.0 * count(*) / nullif(sum(count(*)) OVER (), 0) AS share
FROM orders
GROUP BY status
-- function_stddev --
refused: select[0].function: SQLite has no stddev; leave it out, or ask for the rows and work it out from them
-- function_sum --
SELECT sum(amount) AS sum_amount
FROM orders
-- function_upper --
SELECT upper(status) AS upper_status
FROM orders
-- group_having --
SELECT status, sum(amount) AS total
FROM orders
GROUP BY status
HAVING count(*) > 3 AND sum(amount) > 100
ORDER BY total DESC
-- group_having_text --
refused: having[0].value: SQLite has no contains for letters outside of ASCII, whose case it does not know; use like
-- group_null --
SELECT status, sum(amount) AS total, avg(amount) AS mean
FROM orders
GROUP BY status
ORDER BY total NULLS LAST, status NULLS LAST
-- group_text --
SELECT name, count(*) AS count
FROM customers
GROUP BY name
ORDER BY name NULLS LAST
-- join_by_relation --
SELECT customers.name, sum(orders.amount) AS sum_amount
FROM orders
JOIN customers ON orders.customer_id = customers.id
GROUP BY customers.name
-- join_left_nulls --
SELECT customers.id, orders.status, orders.id AS orders_id
FROM customers
LEFT JOIN orders ON customers.id = orders.customer_id
ORDER BY customers.id NULLS LAST, orders.amount NULLS LAST, orders.id NULLS LAST
-- join_left_on --
SELECT customers.name, count(orders.id) AS count_id
FROM customers
LEFT JOIN orders ON customers.id = orders.customer_id
GROUP BY customers.name
-- join_self --
SELECT a.name, b.name AS b_name
FROM customers AS a
JOIN customers AS b ON a.referred_by = b.id
-- join_text_keys --
SELECT a.id, b.id AS other
FROM customers AS a
JOIN customers AS b ON a.city = b.city
WHERE a.id < b.id
ORDER BY a.id NULLS LAST, other NULLS LAST
-- join_text_with_number_key --
SELECT reviews.stars, customers.name
FROM reviews
JOIN customers ON reviews.customer = CAST(customers.id AS TEXT)
-- join_three --
SELECT customers.city, count(DISTINCT orders.id) AS count_distinct_id
FROM "order lines"
JOIN orders ON "order lines".order_id = orders.id
JOIN customers ON orders.customer_id = customers.id
GROUP BY customers.city
-- limit_all --
SELECT id
FROM orders
-- limit_default --
SELECT id
FROM orders
-- limit_offset --
SELECT id
FROM orders
ORDER BY amount DESC
LIMIT 1 OFFSET 1
-- limit_some --
SELECT id
FROM orders
LIMIT 5
-- literal --
SELECT 'it''s' AS note, amount * 1.19 AS gross
FROM orders
-- literal_hostile --
SELECT 'a''b"c\d`e
f%g_h; -- /* $x $y ? é 	' AS l, 1 AS yes, 1e3 AS n
FROM reviews
-- math_add --
SELECT amount + cost AS x
FROM orders
-- math_date_diff --
SELECT CAST(julianday(date(paid_at)) - julianday(date(sold_at)) AS INTEGER) AS value
FROM orders
-- math_divide --
SELECT 1.0 * amount / nullif(cost, 0) AS x
FROM orders
-- math_divide_by_zero --
SELECT id, 1.0 * id / nullif(id - 2, 0) AS x
FROM orders
-- math_divide_whole --
SELECT 1.0 * stars / nullif(3, 0) AS third
FROM reviews
-- math_inside_function --
SELECT sum(amount * cost) AS value
FROM orders
-- math_multiply --
SELECT amount * cost AS x
FROM orders
-- math_nested_aggregate --
SELECT 1.0 * (sum(amount) - sum(cost)) / nullif(sum(amount), 0) AS margin
FROM orders
-- math_subtract --
SELECT amount - cost AS x
FROM orders
-- metric --
SELECT sum(amount - cost) FILTER (WHERE status = 'paid') AS net_revenue
FROM orders
-- metric_by_group --
SELECT customers.city, 1.0 * (100 * count(*) FILTER (WHERE o.paid = 1 AND o.amount > 10)) / nullif(count(*) FILTER (WHERE o.amount > 10), 0) AS paid_share
FROM orders AS o
JOIN customers ON o.customer_id = customers.id
GROUP BY customers.city
HAVING sum(o.amount - o.cost) FILTER (WHERE o.status = 'paid') > 5
ORDER BY sum(o.amount - o.cost) FILTER (WHERE o.status = 'paid') DESC, customers.city NULLS LAST
-- nested_average --
SELECT id
FROM orders
WHERE amount > (SELECT avg(amount) AS avg_amount FROM orders)
-- nested_first --
SELECT id
FROM orders
WHERE status = (SELECT status FROM orders GROUP BY status ORDER BY count(*) DESC LIMIT 1)
-- nested_in --
SELECT name
FROM customers
WHERE id IN (SELECT customer_id FROM orders WHERE amount > 100)
-- nested_in_key_of_another_type --
SELECT name
FROM customers
WHERE CAST(id AS TEXT) IN (SELECT customer FROM reviews)
-- nested_in_limited --
SELECT id
FROM orders
WHERE customer_id IN (SELECT id FROM customers ORDER BY id NULLS LAST LIMIT 2)
-- nested_in_number_by_text --
SELECT stars
FROM reviews
WHERE customer IN (SELECT CAST(id AS TEXT) AS id FROM customers)
-- nested_not_in --
SELECT name
FROM customers
WHERE id NOT IN (SELECT customer_id FROM orders WHERE customer_id IS NOT NULL)
-- operator_between --
SELECT id
FROM orders
WHERE id BETWEEN 1 AND 2
-- operator_contains --
SELECT id
FROM orders
WHERE status LIKE '%50!%!_off!!''%' ESCAPE '!'
-- operator_ends_with --
SELECT id
FROM orders
WHERE status LIKE '%50!%!_off!!''' ESCAPE '!'
-- operator_eq --
SELECT id
FROM orders
WHERE id = 1
-- operator_equals_any_case --
SELECT id
FROM orders
WHERE lower(status) = lower('50%_off!''')
-- operator_ge --
SELECT id
FROM orders
WHERE id >= 1
-- operator_gt --
SELECT id
FROM orders
WHERE id > 1
-- operator_in --
SELECT id
FROM orders
WHERE id IN (1, 2)
-- operator_in_period_2024 --
SELECT id
FROM orders
WHERE sold_at >= '2024-01-01' AND sold_at < '2025-01-01'
-- operator_in_period_2024-09 --
SELECT id
FROM orders
WHERE sold_at >= '2024-09-01' AND sold_at < '2024-10-01'
-- operator_in_period_2024-09-15 --
SELECT id
FROM orders
WHERE sold_at >= '2024-09-15' AND sold_at < '2024-09-16'
-- operator_in_period_2024-Q3 --
SELECT id
FROM orders
WHERE sold_at >= '2024-07-01' AND sold_at < '2024-10-01'
-- operator_in_period_2024-W37 --
SELECT id
FROM orders
WHERE sold_at >= '2024-09-09' AND sold_at < '2024-09-16'
-- operator_is_not_null --
SELECT id
FROM orders
WHERE status IS NOT NULL
-- operator_is_null --
SELECT id
FROM orders
WHERE status IS NULL
-- operator_le --
SELECT id
FROM orders
WHERE id <= 1
-- operator_like --
SELECT id
FROM orders
WHERE status GLOB '50*?off!'''
-- operator_lt --
SELECT id
FROM orders
WHERE id < 1
-- operator_ne --
SELECT id
FROM orders
WHERE id <> 1
-- operator_not_between --
SELECT id
FROM orders
WHERE id NOT BETWEEN 1 AND 2
-- operator_not_contains --
SELECT id
FROM orders
WHERE status NOT LIKE '%50!%!_off!!''%' ESCAPE '!'
-- operator_not_in --
SELECT id
FROM orders
WHERE id NOT IN (1, 2)
-- operator_not_like --
SELECT id
FROM orders
WHERE NOT (status GLOB '50*?off!''')
-- operator_other_column --
SELECT id
FROM orders
WHERE amount > cost
-- operator_starts_with --
SELECT id
FROM orders
WHERE status LIKE '50!%!_off!!''%' ESCAPE '!'
-- order_aggregate --
SELECT status, count(*) AS count
FROM orders
GROUP BY status
ORDER BY count(*) DESC, status NULLS LAST
-- order_default --
SELECT id, amount
FROM orders
ORDER BY amount NULLS LAST, id NULLS LAST
-- order_descending --
SELECT id, amount
FROM orders
ORDER BY amount DESC, id DESC
-- order_nulls --
SELECT id
FROM orders
ORDER BY amount DESC NULLS LAST, id NULLS FIRST
-- order_nulls_first --
SELECT id, amount
FROM orders
ORDER BY amount NULLS FIRST, status DESC NULLS FIRST, id NULLS LAST
-- order_text --
SELECT status, id
FROM orders
ORDER BY status NULLS LAST, id NULLS LAST
-- order_text_alias --
SELECT status AS state, id
FROM orders
ORDER BY state DESC, id NULLS LAST
-- order_text_function --
SELECT upper(name) AS u, lower(name) AS lower_name
FROM customers
ORDER BY u NULLS LAST
-- part_day --
SELECT CAST(strftime('%d', sold_at) AS INTEGER) AS day_sold_at
FROM orders
-- part_hour --
SELECT CAST(strftime('%H', sold_at) AS INTEGER) AS hour_sold_at
FROM orders
-- part_hour_of_day --
SELECT id, CAST(strftime('%H', paid_at) AS INTEGER) AS hour_paid_at
FROM orders
-- part_in_arithmetic --
SELECT id, CAST(strftime('%u', sold_at) AS INTEGER) * 10 AS x
FROM orders
-- part_month --
SELECT CAST(strftime('%m', sold_at) AS INTEGER) AS month_sold_at
FROM orders
-- part_of_text --
SELECT id, CAST(strftime('%m', CASE WHEN date(status) = substr(status, 1, 10) THEN datetime(status) END) AS INTEGER) AS month_status
FROM orders
-- part_quarter --
SELECT ((CAST(strftime('%m', sold_at) AS INTEGER) + 2) / 3) AS quarter_sold_at
FROM orders
-- part_week --
SELECT CAST(strftime('%V', sold_at) AS INTEGER) AS week_sold_at
FROM orders
-- part_week_of_day --
SELECT id, CAST(strftime('%V', paid_at) AS INTEGER) AS week_paid_at
FROM orders
-- part_weekday --
SELECT CAST(strftime('%u', sold_at) AS INTEGER) AS weekday_sold_at
FROM orders
-- part_weekday_of_day --
SELECT id, CAST(strftime('%u', paid_at) AS INTEGER) AS weekday_paid_at
FROM orders
-- part_year --
SELECT CAST(strftime('%Y', sold_at) AS INTEGER) AS year_sold_at
FROM orders
-- part_year_of_day --
SELECT id, CAST(strftime('%Y', paid_at) AS INTEGER) AS year_paid_at
FROM orders
-- replace --
SELECT CASE WHEN status IN ('settled', 'it''s done') THEN 'paid' ELSE status END AS state, count(*) AS count
FROM orders
GROUP BY CASE WHEN status IN ('settled', 'it''s done') THEN 'paid' ELSE status END
ORDER BY state NULLS LAST
-- select_columns --
SELECT id, amount AS total
FROM orders
-- top_per_group --
SELECT status, id, amount
FROM (SELECT status, id, amount, row_number() OVER (PARTITION BY status ORDER BY amount DESC) AS rank_in_group FROM orders) AS ranked
WHERE rank_in_group <= 3
ORDER BY status NULLS LAST, rank_in_group
-- top_per_group_ties_aggregate --
SELECT city, name, total
FROM (SELECT customers.city, customers.name, sum(orders.amount) AS total, rank() OVER (PARTITION BY customers.city ORDER BY sum(orders.amount) DESC) AS rank_in_group FROM orders JOIN customers ON orders.customer_id = customers.id GROUP BY customers.city, customers.name) AS ranked
WHERE rank_in_group <= 1
ORDER BY city NULLS LAST, rank_in_group
-- top_with_nulls --
SELECT customer_id, id, amount
FROM (SELECT customer_id, id, amount, row_number() OVER (PARTITION BY customer_id ORDER BY amount NULLS LAST, status DESC, id NULLS LAST) AS rank_in_group FROM orders) AS ranked
WHERE rank_in_group <= 2
ORDER BY customer_id NULLS LAST, id NULLS LAST
-- truncate_day --
SELECT date(sold_at) AS period, count(*) AS count
FROM orders
GROUP BY date(sold_at)
ORDER BY period NULLS LAST
-- truncate_hour --
SELECT strftime('%Y-%m-%d %H:00:00', sold_at) AS period, count(*) AS count
FROM orders
GROUP BY strftime('%Y-%m-%d %H:00:00', sold_at)
ORDER BY period NULLS LAST
-- truncate_month --
SELECT strftime('%Y-%m-01', sold_at) AS period, count(*) AS count
FROM orders
GROUP BY strftime('%Y-%m-01', sold_at)
ORDER BY period NULLS LAST
-- truncate_month_of_day --
SELECT strftime('%Y-%m-01', paid_at) AS period, sum(amount) AS sum_amount
FROM orders
GROUP BY strftime('%Y-%m-01', paid_at)
ORDER BY period DESC
-- truncate_quarter --
SELECT strftime('%Y-', sold_at) || substr('00' || (((CAST(strftime('%m', sold_at) AS INTEGER) + 2) / 3) * 3 - 2), -2) || '-01' AS period, count(*) AS count
FROM orders
GROUP BY strftime('%Y-', sold_at) || substr('00' || (((CAST(strftime('%m', sold_at) AS INTEGER) + 2) / 3) * 3 - 2), -2) || '-01'
ORDER BY period NULLS LAST
-- truncate_week --
SELECT strftime('%Y-%m-%d', sold_at, 'weekday 0', '-6 days') AS period, count(*) AS count
FROM orders
GROUP BY strftime('%Y-%m-%d', sold_at, 'weekday 0', '-6 days')
ORDER BY period NULLS LAST
-- truncate_week_filtered --
SELECT id
FROM orders
WHERE strftime('%Y-%m-%d', sold_at, 'weekday 0', '-6 days') = '2024-09-09'
-- truncate_year --
SELECT strftime('%Y-01-01', sold_at) AS period, count(*) AS count
FROM orders
GROUP BY strftime('%Y-01-01', sold_at)
ORDER BY period NULLS LAST
-- where_of_aggregate --
SELECT count(*) FILTER (WHERE status = 'new') AS new, count(*) AS all_orders
FROM orders
-- where_of_every_aggregate --
SELECT customer_id, sum(amount) FILTER (WHERE paid = 1) AS s, avg(cost) FILTER (WHERE status LIKE '%NEW%' ESCAPE '!') AS a, count(DISTINCT status) FILTER (WHERE amount > 10) AS d, 1.0 * sum(amount) FILTER (WHERE amount > 10) / nullif(sum(sum(amount)) OVER (), 0) AS part
FROM orders
GROUP BY customer_id
-- where_of_median --
refused: select[0].function: SQLite has no median; leave it out, or ask for the rows and work it out from them
-- whole_day_begin --
SELECT id
FROM orders
WHERE sold_at >= '2024-01-31' AND sold_at < '2024-09-15'
ORDER BY id NULLS LAST
-- whole_day_between --
SELECT id
FROM orders
WHERE sold_at >= '2024-01-01' AND sold_at < '2024-02-01'
ORDER BY id NULLS LAST
-- whole_day_eq --
SELECT id
FROM orders
WHERE sold_at >= '2024-01-31' AND sold_at < '2024-02-01'
ORDER BY id NULLS LAST
-- whole_day_having --
SELECT status, max(sold_at) AS last
FROM orders
GROUP BY status
HAVING max(sold_at) < '2024-02-01'
ORDER BY status NULLS LAST
-- whole_day_in --
SELECT id
FROM orders
WHERE (sold_at >= '2024-01-31' AND sold_at < '2024-02-01' OR sold_at = '2024-02-29 12:30:00' OR sold_at >= '2024-09-15' AND sold_at < '2024-09-16')
ORDER BY id NULLS LAST
-- whole_day_ne --
SELECT id
FROM orders
WHERE (sold_at < '2024-01-31' OR sold_at >= '2024-02-01')
ORDER BY id NULLS LAST
-- whole_day_not --
SELECT id
FROM orders
WHERE NOT (sold_at >= '2024-01-31' AND sold_at < '2024-02-01')
ORDER BY id NULLS LAST
-- whole_day_not_between --
SELECT id
FROM orders
WHERE (sold_at < '2024-01-01' OR sold_at >= '2024-02-01')
ORDER BY id NULLS LAST
-- whole_day_not_in --
SELECT id
FROM orders
WHERE (sold_at < '2024-01-31' OR sold_at >= '2024-02-01') AND (sold_at < '2024-09-15' OR sold_at >= '2024-09-16')
ORDER BY id NULLS LAST
-- whole_day_order --
SELECT id
FROM orders
WHERE (sold_at < '2024-02-01' OR sold_at >= '2024-03-01')
ORDER BY id NULLS LAST
-- whole_day_other --
SELECT id
FROM orders
WHERE date(sold_at) <= paid_at
ORDER BY id NULLS LAST
-- whole_day_truncated --
SELECT id
FROM orders
WHERE strftime('%Y-%m-01', sold_at) = '2024-01-01'
ORDER BY id NULLS LAST
