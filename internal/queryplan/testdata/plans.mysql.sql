-- functions: abs, avg, char_length, concat, count, date, date_format, datediff, dayofmonth, floor, hour, lower, makedate, max, min, month, nullif, quarter, rank, regexp_instr, round, row_number, sign, stddev_samp, subdate, sum, truncate, upper, week, weekday, year
-- cast_and_aggregate --
SELECT sum(CASE WHEN regexp_instr(CAST(status AS CHAR) COLLATE utf8mb4_bin, '^ *[-+]?([0-9]{1,200}([.][0-9]{0,200})?|[.][0-9]{1,200})([eE][-+]?[0-9]{1,2})? *$') > 0 THEN CAST(CAST(status AS CHAR) COLLATE utf8mb4_bin AS DOUBLE) END) AS sum_status, max(CASE WHEN regexp_instr(CAST(status AS CHAR) COLLATE utf8mb4_bin, '^([0-9]{4}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?)?$') > 0 THEN CAST(CAST(status AS CHAR) COLLATE utf8mb4_bin AS DATETIME(6)) END) AS max_status
FROM orders
-- cast_bool --
SELECT id, CASE WHEN paid THEN 'true' WHEN NOT paid THEN 'false' END AS t, paid + 0 AS n
FROM orders
-- cast_date --
SELECT CASE WHEN regexp_instr(CAST(status AS CHAR) COLLATE utf8mb4_bin, '^([0-9]{4}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?)?$') > 0 THEN CAST(CAST(status AS CHAR) COLLATE utf8mb4_bin AS DATETIME(6)) END AS status
FROM orders
-- cast_day_text --
SELECT id, CAST(paid_at AS CHAR) COLLATE utf8mb4_bin AS t
FROM orders
-- cast_in_filter --
SELECT id
FROM orders
WHERE CASE WHEN regexp_instr(CAST(status AS CHAR) COLLATE utf8mb4_bin, '^ *[-+]?([0-9]{1,200}([.][0-9]{0,200})?|[.][0-9]{1,200})([eE][-+]?[0-9]{1,2})? *$') > 0 THEN CAST(CAST(status AS CHAR) COLLATE utf8mb4_bin AS DOUBLE) END > 1
-- cast_number --
SELECT CASE WHEN regexp_instr(CAST(status AS CHAR) COLLATE utf8mb4_bin, '^ *[-+]?([0-9]{1,200}([.][0-9]{0,200})?|[.][0-9]{1,200})([eE][-+]?[0-9]{1,2})? *$') > 0 THEN CAST(CAST(status AS CHAR) COLLATE utf8mb4_bin AS DOUBLE) END AS status
FROM orders
-- cast_text --
SELECT CAST(amount AS CHAR) COLLATE utf8mb4_bin AS amount
FROM orders
-- cast_time_text --
SELECT id, CAST(sold_at AS CHAR) COLLATE utf8mb4_bin AS t
FROM orders
-- combine_except --
SELECT customer_id
FROM orders
EXCEPT
SELECT id FROM customers
ORDER BY customer_id IS NULL, customer_id
-- combine_intersect --
SELECT customer_id
FROM orders
INTERSECT
SELECT id FROM customers
ORDER BY customer_id IS NULL, customer_id
-- combine_mixed --
SELECT customer_id
FROM orders
UNION
SELECT id FROM customers
INTERSECT
SELECT stars FROM reviews
ORDER BY customer_id IS NULL, customer_id
-- combine_text --
SELECT CAST(name AS CHAR) COLLATE utf8mb4_bin AS name
FROM customers
UNION
SELECT CAST(status AS CHAR) COLLATE utf8mb4_bin AS status FROM orders
ORDER BY name DESC
-- combine_union --
SELECT customer_id
FROM orders
UNION
SELECT id FROM customers
ORDER BY customer_id IS NULL, customer_id
-- combine_union_all --
SELECT customer_id
FROM orders
UNION ALL
SELECT id FROM customers
ORDER BY customer_id IS NULL, customer_id
-- date_diff_hour --
SELECT id, datediff(paid_at, sold_at) * 24 + hour(paid_at) - hour(sold_at) AS n
FROM orders
-- date_diff_in_arithmetic --
SELECT id, ((year(paid_at) - year(sold_at)) * 12 + month(paid_at) - month(sold_at)) * 30 AS days
FROM orders
-- date_diff_literal --
SELECT id, datediff(sold_at, CAST('2024-01-31' AS DATETIME(6))) AS n
FROM orders
-- date_diff_month --
SELECT id, (year(paid_at) - year(sold_at)) * 12 + month(paid_at) - month(sold_at) AS n
FROM orders
-- date_diff_quarter --
SELECT id, (year(paid_at) - year(sold_at)) * 4 + quarter(paid_at) - quarter(sold_at) AS n
FROM orders
-- date_diff_week --
SELECT id, CAST(truncate(datediff(paid_at, sold_at) / 7, 0) AS SIGNED) AS n
FROM orders
-- date_diff_year --
SELECT id, year(paid_at) - year(sold_at) AS n
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
WHERE CASE WHEN regexp_instr(CAST(status AS CHAR) COLLATE utf8mb4_bin, '^([0-9]{4}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?)?$') > 0 THEN CAST(CAST(status AS CHAR) COLLATE utf8mb4_bin AS DATETIME(6)) END >= '2024-01-01' AND CASE WHEN regexp_instr(CAST(status AS CHAR) COLLATE utf8mb4_bin, '^([0-9]{4}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?)?$') > 0 THEN CAST(CAST(status AS CHAR) COLLATE utf8mb4_bin AS DATETIME(6)) END < '2025-01-01'
-- date_filters --
SELECT id
FROM orders
WHERE sold_at BETWEEN '2024-01-31' AND '2024-09-15 10:30:00' AND paid_at <> '2024-03-01' AND paid_at <= '2024-09-15'
-- distinct --
SELECT DISTINCT CAST(status AS CHAR) COLLATE utf8mb4_bin AS status
FROM orders
-- distinct_ordered --
SELECT DISTINCT CAST(status AS CHAR) COLLATE utf8mb4_bin AS status, paid
FROM orders
ORDER BY CAST(status AS CHAR) COLLATE utf8mb4_bin IS NULL, CAST(status AS CHAR) COLLATE utf8mb4_bin, paid DESC
-- distinct_ordered_alias --
SELECT DISTINCT CAST(status AS CHAR) COLLATE utf8mb4_bin AS state
FROM orders
ORDER BY CAST(status AS CHAR) COLLATE utf8mb4_bin DESC
-- filter_any_all_not --
SELECT id
FROM orders
WHERE ((status = 'new' AND CAST(status AS CHAR) COLLATE utf8mb4_bin = 'new') OR (amount > 10 AND NOT ((status = 'old' AND CAST(status AS CHAR) COLLATE utf8mb4_bin = 'old'))))
-- filter_bool --
SELECT id
FROM orders
WHERE paid = TRUE
-- filter_contains_backslash --
SELECT id
FROM customers
WHERE lower(CAST(name AS CHAR) COLLATE utf8mb4_bin) LIKE lower('%\\%') ESCAPE '!'
-- filter_contains_wildcard --
SELECT id
FROM orders
WHERE lower(CAST(status AS CHAR) COLLATE utf8mb4_bin) LIKE lower('%50!%!_%') ESCAPE '!'
-- filter_like_backslash --
SELECT id
FROM customers
WHERE CAST(name AS CHAR) COLLATE utf8mb4_bin LIKE '%\\%' ESCAPE '!'
-- filter_like_case --
SELECT id
FROM customers
WHERE CAST(name AS CHAR) COLLATE utf8mb4_bin LIKE '_nn' ESCAPE '!' AND CAST(name AS CHAR) COLLATE utf8mb4_bin NOT LIKE 'A%' ESCAPE '!'
-- filter_not_contains --
SELECT id
FROM customers
WHERE lower(CAST(name AS CHAR) COLLATE utf8mb4_bin) NOT LIKE lower('%AN%') ESCAPE '!'
-- filter_number_with_text --
SELECT id
FROM orders
WHERE amount > 7.5
-- filter_quoted_name --
SELECT `unit price`, CAST(`select` AS CHAR) COLLATE utf8mb4_bin AS `select`
FROM `order lines`
WHERE (`we"ird` = 'it''s' AND CAST(`we"ird` AS CHAR) COLLATE utf8mb4_bin = 'it''s')
-- filter_text_any_case --
SELECT id
FROM customers
WHERE (lower(CAST(name AS CHAR) COLLATE utf8mb4_bin) = lower('ann') OR lower(CAST(name AS CHAR) COLLATE utf8mb4_bin) LIKE lower('BACK%') ESCAPE '!' OR lower(CAST(name AS CHAR) COLLATE utf8mb4_bin) LIKE lower('%B') ESCAPE '!')
-- filter_text_case --
SELECT id
FROM customers
WHERE ((name = 'Ann' AND CAST(name AS CHAR) COLLATE utf8mb4_bin = 'Ann') OR (name IN ('ANN', 'Bob', 'back\\slash') AND CAST(name AS CHAR) COLLATE utf8mb4_bin IN ('ANN', 'Bob', 'back\\slash')))
-- filter_text_order --
SELECT id
FROM customers
WHERE CAST(name AS CHAR) COLLATE utf8mb4_bin BETWEEN 'B' AND 'c'
-- filter_text_with_number --
SELECT id
FROM orders
WHERE (status = '7' AND CAST(status AS CHAR) COLLATE utf8mb4_bin = '7')
-- from_plan --
SELECT avg(CAST(n AS DOUBLE)) AS avg_n
FROM (SELECT customer_id, count(*) AS n FROM orders GROUP BY customer_id) AS inner_rows
-- from_plan_text --
SELECT CAST(status AS CHAR) COLLATE utf8mb4_bin AS status, n
FROM (SELECT CAST(status AS CHAR) COLLATE utf8mb4_bin AS status, count(*) AS n FROM orders GROUP BY CAST(status AS CHAR) COLLATE utf8mb4_bin) AS inner_rows
WHERE (status = 'new' AND CAST(status AS CHAR) COLLATE utf8mb4_bin = 'new')
ORDER BY CAST(status AS CHAR) COLLATE utf8mb4_bin IS NULL, CAST(status AS CHAR) COLLATE utf8mb4_bin
-- function_abs --
SELECT abs(amount) AS abs_amount
FROM orders
-- function_avg --
SELECT avg(CAST(amount AS DOUBLE)) AS avg_amount
FROM orders
-- function_avg_whole --
SELECT avg(CAST(stars AS DOUBLE)) AS avg_stars
FROM reviews
-- function_count --
SELECT count(*) AS count, count(CAST(status AS CHAR) COLLATE utf8mb4_bin) AS count_status
FROM orders
-- function_count_distinct --
SELECT count(DISTINCT amount) AS count_distinct_amount
FROM orders
-- function_length --
SELECT char_length(CAST(status AS CHAR) COLLATE utf8mb4_bin) AS length_status
FROM orders
-- function_lower --
SELECT lower(CAST(status AS CHAR) COLLATE utf8mb4_bin) AS lower_status
FROM orders
-- function_max --
SELECT max(amount) AS max_amount
FROM orders
-- function_median --
refused: select[0].function: MySQL has no median; leave it out, or ask for the rows and work it out from them
-- function_median_by_group --
refused: select[1].function: MySQL has no median; leave it out, or ask for the rows and work it out from them; order_by[0].function: MySQL has no median; leave it out, or ask for the rows and work it out from them
-- function_median_of_dates --
refused: select[0].function: MySQL has no median of date; leave it out, or ask for the rows and work it out from them
-- function_min --
SELECT min(amount) AS min_amount
FROM orders
-- function_of_bool --
SELECT sum(paid + 0) AS sum_paid, min(paid) AS min_paid, max(paid) AS max_paid, count(paid) AS count_paid
FROM orders
-- function_of_dates --
SELECT min(sold_at) AS min_sold_at, max(paid_at) AS max_paid_at
FROM orders
-- function_of_nothing --
SELECT sum(amount) AS sum_amount, avg(CAST(amount AS DOUBLE)) AS a, min(cost) AS b, stddev_samp(CAST(cost AS DOUBLE)) AS c, count(*) AS n
FROM orders
WHERE id > 100000
-- function_of_one --
SELECT stddev_samp(CAST(cost AS DOUBLE)) AS stddev_cost, avg(CAST(id AS DOUBLE)) AS avg_id
FROM orders
WHERE id = 1
-- function_of_text --
SELECT min(CAST(status AS CHAR) COLLATE utf8mb4_bin) AS min_status, max(CAST(status AS CHAR) COLLATE utf8mb4_bin) AS max_status, count(DISTINCT CAST(status AS CHAR) COLLATE utf8mb4_bin) AS count_distinct_status
FROM orders
-- function_percent --
SELECT CAST(status AS CHAR) COLLATE utf8mb4_bin AS status, 100.0 * CAST(sum(amount) AS DOUBLE) / nullif(sum(sum(amount)) OVER (), 0) AS percent_amount
FROM orders
GROUP BY CAST(status AS CHAR) COLLATE utf8mb4_bin
-- function_round --
SELECT round(amount, 2) AS round_amount
FROM orders
-- function_round_of_aggregate --
SELECT customer_id, sign(avg(CAST(amount AS DOUBLE))) * floor(abs(avg(CAST(amount AS DOUBLE))) * 100 + 0.5) / 100 AS a
FROM orders
GROUP BY customer_id
-- function_round_of_float --
SELECT id, sign(cost) * floor(abs(cost) * 100 + 0.5) / 100 AS round_cost, (sign(cost) * floor(abs(cost) * 100 + 0.5) / 100) * 2 AS twice
FROM orders
-- function_share --
SELECT CAST(status AS CHAR) COLLATE utf8mb4_bin AS status, CAST(sum(amount) AS DOUBLE) / nullif(sum(sum(amount)) OVER (), 0) AS share_amount
FROM orders
GROUP BY CAST(status AS CHAR) COLLATE utf8mb4_bin
-- function_share_of_rows --
SELECT CAST(status AS CHAR) COLLATE utf8mb4_bin AS status, CAST(count(*) AS DOUBLE) / nullif(sum(count(*)) OVER (), 0) AS share
FROM orders
GROUP BY CAST(status AS CHAR) COLLATE utf8mb4_bin
-- function_stddev --
SELECT stddev_samp(CAST(amount AS DOUBLE)) AS stddev_amount
FROM orders
-- function_sum --
SELECT sum(amount) AS sum_amount
FROM orders
-- function_upper --
SELECT upper(CAST(status AS CHAR) COLLATE utf8mb4_bin) AS upper_status
FROM orders
-- group_having --
SELECT CAST(status AS CHAR) COLLATE utf8mb4_bin AS status, sum(amount) AS total
FROM orders
GROUP BY CAST(status AS CHAR) COLLATE utf8mb4_bin
HAVING count(*) > 3 AND sum(amount) > 100
ORDER BY sum(amount) DESC
-- group_having_text --
SELECT CAST(name AS CHAR) COLLATE utf8mb4_bin AS name, count(*) AS count
FROM customers
GROUP BY CAST(name AS CHAR) COLLATE utf8mb4_bin
HAVING lower(CAST(name AS CHAR) COLLATE utf8mb4_bin) LIKE lower('%É%') ESCAPE '!' AND CAST(name AS CHAR) COLLATE utf8mb4_bin < 'é'
-- group_null --
SELECT CAST(status AS CHAR) COLLATE utf8mb4_bin AS status, sum(amount) AS total, avg(CAST(amount AS DOUBLE)) AS mean
FROM orders
GROUP BY CAST(status AS CHAR) COLLATE utf8mb4_bin
ORDER BY sum(amount) IS NULL, sum(amount), CAST(status AS CHAR) COLLATE utf8mb4_bin IS NULL, CAST(status AS CHAR) COLLATE utf8mb4_bin
-- group_text --
SELECT CAST(name AS CHAR) COLLATE utf8mb4_bin AS name, count(*) AS count
FROM customers
GROUP BY CAST(name AS CHAR) COLLATE utf8mb4_bin
ORDER BY CAST(name AS CHAR) COLLATE utf8mb4_bin IS NULL, CAST(name AS CHAR) COLLATE utf8mb4_bin
-- join_by_relation --
SELECT CAST(customers.name AS CHAR) COLLATE utf8mb4_bin AS name, sum(orders.amount) AS sum_amount
FROM orders
JOIN customers ON orders.customer_id = customers.id
GROUP BY CAST(customers.name AS CHAR) COLLATE utf8mb4_bin
-- join_left_nulls --
SELECT customers.id, CAST(orders.status AS CHAR) COLLATE utf8mb4_bin AS status, orders.id AS orders_id
FROM customers
LEFT JOIN orders ON customers.id = orders.customer_id
ORDER BY customers.id IS NULL, customers.id, orders.amount IS NULL, orders.amount, orders.id IS NULL, orders.id
-- join_left_on --
SELECT CAST(customers.name AS CHAR) COLLATE utf8mb4_bin AS name, count(orders.id) AS count_id
FROM customers
LEFT JOIN orders ON customers.id = orders.customer_id
GROUP BY CAST(customers.name AS CHAR) COLLATE utf8mb4_bin
-- join_self --
SELECT CAST(a.name AS CHAR) COLLATE utf8mb4_bin AS name, CAST(b.name AS CHAR) COLLATE utf8mb4_bin AS b_name
FROM customers AS a
JOIN customers AS b ON a.referred_by = b.id
-- join_text_keys --
SELECT a.id, b.id AS other
FROM customers AS a
JOIN customers AS b ON CAST(a.city AS CHAR) COLLATE utf8mb4_bin = CAST(b.city AS CHAR) COLLATE utf8mb4_bin
WHERE a.id < b.id
ORDER BY a.id IS NULL, a.id, b.id IS NULL, b.id
-- join_text_with_number_key --
SELECT reviews.stars, CAST(customers.name AS CHAR) COLLATE utf8mb4_bin AS name
FROM reviews
JOIN customers ON CAST(reviews.customer AS CHAR) COLLATE utf8mb4_bin = CAST(customers.id AS CHAR) COLLATE utf8mb4_bin
-- join_three --
SELECT CAST(customers.city AS CHAR) COLLATE utf8mb4_bin AS city, count(DISTINCT orders.id) AS count_distinct_id
FROM `order lines`
JOIN orders ON `order lines`.order_id = orders.id
JOIN customers ON orders.customer_id = customers.id
GROUP BY CAST(customers.city AS CHAR) COLLATE utf8mb4_bin
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
SELECT 'a''b"c\\d`e
f%g_h; -- /* $x $y ? é 	' AS l, TRUE AS yes, 1e3 AS n
FROM reviews
-- math_add --
SELECT amount + cost AS x
FROM orders
-- math_date_diff --
SELECT datediff(paid_at, sold_at) AS value
FROM orders
-- math_divide --
SELECT CAST(amount AS DOUBLE) / nullif(cost, 0) AS x
FROM orders
-- math_divide_by_zero --
SELECT id, CAST(id AS DOUBLE) / nullif(id - 2, 0) AS x
FROM orders
-- math_divide_whole --
SELECT CAST(stars AS DOUBLE) / nullif(3, 0) AS third
FROM reviews
-- math_inside_function --
SELECT sum(amount * cost) AS value
FROM orders
-- math_multiply --
SELECT amount * cost AS x
FROM orders
-- math_nested_aggregate --
SELECT CAST((sum(amount) - sum(cost)) AS DOUBLE) / nullif(sum(amount), 0) AS margin
FROM orders
-- math_subtract --
SELECT amount - cost AS x
FROM orders
-- metric --
SELECT sum(CASE WHEN (status = 'paid' AND CAST(status AS CHAR) COLLATE utf8mb4_bin = 'paid') THEN amount - cost END) AS net_revenue
FROM orders
-- metric_by_group --
SELECT CAST(customers.city AS CHAR) COLLATE utf8mb4_bin AS city, CAST((100 * count(CASE WHEN o.paid = TRUE AND o.amount > 10 THEN 1 END)) AS DOUBLE) / nullif(count(CASE WHEN o.amount > 10 THEN 1 END), 0) AS paid_share
FROM orders AS o
JOIN customers ON o.customer_id = customers.id
GROUP BY CAST(customers.city AS CHAR) COLLATE utf8mb4_bin
HAVING sum(CASE WHEN (o.status = 'paid' AND CAST(o.status AS CHAR) COLLATE utf8mb4_bin = 'paid') THEN o.amount - o.cost END) > 5
ORDER BY sum(CASE WHEN (o.status = 'paid' AND CAST(o.status AS CHAR) COLLATE utf8mb4_bin = 'paid') THEN o.amount - o.cost END) DESC, CAST(customers.city AS CHAR) COLLATE utf8mb4_bin IS NULL, CAST(customers.city AS CHAR) COLLATE utf8mb4_bin
-- nested_average --
SELECT id
FROM orders
WHERE amount > (SELECT avg(CAST(amount AS DOUBLE)) AS avg_amount FROM orders)
-- nested_first --
SELECT id
FROM orders
WHERE CAST(status AS CHAR) COLLATE utf8mb4_bin = (SELECT CAST(status AS CHAR) COLLATE utf8mb4_bin AS status FROM orders GROUP BY CAST(status AS CHAR) COLLATE utf8mb4_bin ORDER BY count(*) DESC LIMIT 1)
-- nested_in --
SELECT CAST(name AS CHAR) COLLATE utf8mb4_bin AS name
FROM customers
WHERE id IN (SELECT customer_id FROM orders WHERE amount > 100)
-- nested_in_key_of_another_type --
SELECT CAST(name AS CHAR) COLLATE utf8mb4_bin AS name
FROM customers
WHERE CAST(id AS CHAR) COLLATE utf8mb4_bin IN (SELECT CAST(customer AS CHAR) COLLATE utf8mb4_bin AS customer FROM reviews)
-- nested_in_limited --
SELECT id
FROM orders
WHERE customer_id IN (SELECT id FROM (SELECT id FROM customers ORDER BY id IS NULL, id LIMIT 2) AS first_rows)
-- nested_in_number_by_text --
SELECT stars
FROM reviews
WHERE CAST(customer AS CHAR) COLLATE utf8mb4_bin IN (SELECT CAST(id AS CHAR) COLLATE utf8mb4_bin AS id FROM customers)
-- nested_not_in --
SELECT CAST(name AS CHAR) COLLATE utf8mb4_bin AS name
FROM customers
WHERE id NOT IN (SELECT customer_id FROM orders WHERE customer_id IS NOT NULL)
-- operator_between --
SELECT id
FROM orders
WHERE id BETWEEN 1 AND 2
-- operator_contains --
SELECT id
FROM orders
WHERE lower(CAST(status AS CHAR) COLLATE utf8mb4_bin) LIKE lower('%50!%!_off!!''%') ESCAPE '!'
-- operator_ends_with --
SELECT id
FROM orders
WHERE lower(CAST(status AS CHAR) COLLATE utf8mb4_bin) LIKE lower('%50!%!_off!!''') ESCAPE '!'
-- operator_eq --
SELECT id
FROM orders
WHERE id = 1
-- operator_equals_any_case --
SELECT id
FROM orders
WHERE lower(CAST(status AS CHAR) COLLATE utf8mb4_bin) = lower('50%_off!''')
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
WHERE CAST(status AS CHAR) COLLATE utf8mb4_bin IS NOT NULL
-- operator_is_null --
SELECT id
FROM orders
WHERE CAST(status AS CHAR) COLLATE utf8mb4_bin IS NULL
-- operator_le --
SELECT id
FROM orders
WHERE id <= 1
-- operator_like --
SELECT id
FROM orders
WHERE CAST(status AS CHAR) COLLATE utf8mb4_bin LIKE '50%_off!!''' ESCAPE '!'
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
WHERE lower(CAST(status AS CHAR) COLLATE utf8mb4_bin) NOT LIKE lower('%50!%!_off!!''%') ESCAPE '!'
-- operator_not_in --
SELECT id
FROM orders
WHERE id NOT IN (1, 2)
-- operator_not_like --
SELECT id
FROM orders
WHERE CAST(status AS CHAR) COLLATE utf8mb4_bin NOT LIKE '50%_off!!''' ESCAPE '!'
-- operator_other_column --
SELECT id
FROM orders
WHERE amount > cost
-- operator_starts_with --
SELECT id
FROM orders
WHERE lower(CAST(status AS CHAR) COLLATE utf8mb4_bin) LIKE lower('50!%!_off!!''%') ESCAPE '!'
-- order_aggregate --
SELECT CAST(status AS CHAR) COLLATE utf8mb4_bin AS status, count(*) AS count
FROM orders
GROUP BY CAST(status AS CHAR) COLLATE utf8mb4_bin
ORDER BY count(*) DESC, CAST(status AS CHAR) COLLATE utf8mb4_bin IS NULL, CAST(status AS CHAR) COLLATE utf8mb4_bin
-- order_default --
SELECT id, amount
FROM orders
ORDER BY amount IS NULL, amount, id IS NULL, id
-- order_descending --
SELECT id, amount
FROM orders
ORDER BY amount DESC, id DESC
-- order_nulls --
SELECT id
FROM orders
ORDER BY amount DESC, id
-- order_nulls_first --
SELECT id, amount
FROM orders
ORDER BY amount, CAST(status AS CHAR) COLLATE utf8mb4_bin IS NULL DESC, CAST(status AS CHAR) COLLATE utf8mb4_bin DESC, id IS NULL, id
-- order_text --
SELECT CAST(status AS CHAR) COLLATE utf8mb4_bin AS status, id
FROM orders
ORDER BY CAST(status AS CHAR) COLLATE utf8mb4_bin IS NULL, CAST(status AS CHAR) COLLATE utf8mb4_bin, id IS NULL, id
-- order_text_alias --
SELECT CAST(status AS CHAR) COLLATE utf8mb4_bin AS state, id
FROM orders
ORDER BY CAST(status AS CHAR) COLLATE utf8mb4_bin DESC, id IS NULL, id
-- order_text_function --
SELECT upper(CAST(name AS CHAR) COLLATE utf8mb4_bin) AS u, lower(CAST(name AS CHAR) COLLATE utf8mb4_bin) AS lower_name
FROM customers
ORDER BY upper(CAST(name AS CHAR) COLLATE utf8mb4_bin) IS NULL, upper(CAST(name AS CHAR) COLLATE utf8mb4_bin)
-- part_day --
SELECT dayofmonth(sold_at) AS day_sold_at
FROM orders
-- part_hour --
SELECT hour(sold_at) AS hour_sold_at
FROM orders
-- part_hour_of_day --
SELECT id, hour(paid_at) AS hour_paid_at
FROM orders
-- part_in_arithmetic --
SELECT id, (weekday(sold_at) + 1) * 10 AS x
FROM orders
-- part_month --
SELECT month(sold_at) AS month_sold_at
FROM orders
-- part_of_text --
SELECT id, month(CASE WHEN regexp_instr(CAST(status AS CHAR) COLLATE utf8mb4_bin, '^([0-9]{4}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?)?$') > 0 THEN CAST(CAST(status AS CHAR) COLLATE utf8mb4_bin AS DATETIME(6)) END) AS month_status
FROM orders
-- part_quarter --
SELECT quarter(sold_at) AS quarter_sold_at
FROM orders
-- part_week --
SELECT week(sold_at, 3) AS week_sold_at
FROM orders
-- part_week_of_day --
SELECT id, week(paid_at, 3) AS week_paid_at
FROM orders
-- part_weekday --
SELECT weekday(sold_at) + 1 AS weekday_sold_at
FROM orders
-- part_weekday_of_day --
SELECT id, weekday(paid_at) + 1 AS weekday_paid_at
FROM orders
-- part_year --
SELECT year(sold_at) AS year_sold_at
FROM orders
-- part_year_of_day --
SELECT id, year(paid_at) AS year_paid_at
FROM orders
-- replace --
SELECT CASE WHEN CAST(status AS CHAR) COLLATE utf8mb4_bin IN ('settled', 'it''s done') THEN 'paid' ELSE CAST(status AS CHAR) COLLATE utf8mb4_bin END AS state, count(*) AS count
FROM orders
GROUP BY CASE WHEN CAST(status AS CHAR) COLLATE utf8mb4_bin IN ('settled', 'it''s done') THEN 'paid' ELSE CAST(status AS CHAR) COLLATE utf8mb4_bin END
ORDER BY CASE WHEN CAST(status AS CHAR) COLLATE utf8mb4_bin IN ('settled', 'it''s done') THEN 'paid' ELSE CAST(status AS CHAR) COLLATE utf8mb4_bin END IS NULL, CASE WHEN CAST(status AS CHAR) COLLATE utf8mb4_bin IN ('settled', 'it''s done') THEN 'paid' ELSE CAST(status AS CHAR) COLLATE utf8mb4_bin END
-- select_columns --
SELECT id, amount AS total
FROM orders
-- top_per_group --
SELECT status, id, amount
FROM (SELECT CAST(status AS CHAR) COLLATE utf8mb4_bin AS status, id, amount, row_number() OVER (PARTITION BY CAST(status AS CHAR) COLLATE utf8mb4_bin ORDER BY amount DESC) AS rank_in_group FROM orders) AS ranked
WHERE rank_in_group <= 3
ORDER BY status IS NULL, status, rank_in_group
-- top_per_group_ties_aggregate --
SELECT city, name, total
FROM (SELECT CAST(customers.city AS CHAR) COLLATE utf8mb4_bin AS city, CAST(customers.name AS CHAR) COLLATE utf8mb4_bin AS name, sum(orders.amount) AS total, rank() OVER (PARTITION BY CAST(customers.city AS CHAR) COLLATE utf8mb4_bin ORDER BY sum(orders.amount) DESC) AS rank_in_group FROM orders JOIN customers ON orders.customer_id = customers.id GROUP BY CAST(customers.city AS CHAR) COLLATE utf8mb4_bin, CAST(customers.name AS CHAR) COLLATE utf8mb4_bin) AS ranked
WHERE rank_in_group <= 1
ORDER BY city IS NULL, city, rank_in_group
-- top_with_nulls --
SELECT customer_id, id, amount
FROM (SELECT customer_id, id, amount, row_number() OVER (PARTITION BY customer_id ORDER BY amount IS NULL, amount, CAST(status AS CHAR) COLLATE utf8mb4_bin DESC, id IS NULL, id) AS rank_in_group FROM orders) AS ranked
WHERE rank_in_group <= 2
ORDER BY customer_id IS NULL, customer_id, id IS NULL, id
-- truncate_day --
SELECT CAST(date(sold_at) AS DATETIME) AS `period`, count(*) AS count
FROM orders
GROUP BY CAST(date(sold_at) AS DATETIME)
ORDER BY CAST(date(sold_at) AS DATETIME) IS NULL, CAST(date(sold_at) AS DATETIME)
-- truncate_hour --
SELECT CAST(date_format(sold_at, '%Y-%m-%d %H:00:00') AS DATETIME) AS `period`, count(*) AS count
FROM orders
GROUP BY CAST(date_format(sold_at, '%Y-%m-%d %H:00:00') AS DATETIME)
ORDER BY CAST(date_format(sold_at, '%Y-%m-%d %H:00:00') AS DATETIME) IS NULL, CAST(date_format(sold_at, '%Y-%m-%d %H:00:00') AS DATETIME)
-- truncate_month --
SELECT CAST(subdate(date(sold_at), dayofmonth(sold_at) - 1) AS DATETIME) AS `period`, count(*) AS count
FROM orders
GROUP BY CAST(subdate(date(sold_at), dayofmonth(sold_at) - 1) AS DATETIME)
ORDER BY CAST(subdate(date(sold_at), dayofmonth(sold_at) - 1) AS DATETIME) IS NULL, CAST(subdate(date(sold_at), dayofmonth(sold_at) - 1) AS DATETIME)
-- truncate_month_of_day --
SELECT CAST(subdate(date(paid_at), dayofmonth(paid_at) - 1) AS DATETIME) AS `period`, sum(amount) AS sum_amount
FROM orders
GROUP BY CAST(subdate(date(paid_at), dayofmonth(paid_at) - 1) AS DATETIME)
ORDER BY CAST(subdate(date(paid_at), dayofmonth(paid_at) - 1) AS DATETIME) DESC
-- truncate_quarter --
SELECT CAST(concat(year(sold_at), '-', quarter(sold_at) * 3 - 2, '-01') AS DATETIME) AS `period`, count(*) AS count
FROM orders
GROUP BY CAST(concat(year(sold_at), '-', quarter(sold_at) * 3 - 2, '-01') AS DATETIME)
ORDER BY CAST(concat(year(sold_at), '-', quarter(sold_at) * 3 - 2, '-01') AS DATETIME) IS NULL, CAST(concat(year(sold_at), '-', quarter(sold_at) * 3 - 2, '-01') AS DATETIME)
-- truncate_week --
SELECT CAST(subdate(date(sold_at), weekday(sold_at)) AS DATETIME) AS `period`, count(*) AS count
FROM orders
GROUP BY CAST(subdate(date(sold_at), weekday(sold_at)) AS DATETIME)
ORDER BY CAST(subdate(date(sold_at), weekday(sold_at)) AS DATETIME) IS NULL, CAST(subdate(date(sold_at), weekday(sold_at)) AS DATETIME)
-- truncate_week_filtered --
SELECT id
FROM orders
WHERE CAST(subdate(date(sold_at), weekday(sold_at)) AS DATETIME) = '2024-09-09'
-- truncate_year --
SELECT CAST(makedate(year(sold_at), 1) AS DATETIME) AS `period`, count(*) AS count
FROM orders
GROUP BY CAST(makedate(year(sold_at), 1) AS DATETIME)
ORDER BY CAST(makedate(year(sold_at), 1) AS DATETIME) IS NULL, CAST(makedate(year(sold_at), 1) AS DATETIME)
-- where_of_aggregate --
SELECT count(CASE WHEN (status = 'new' AND CAST(status AS CHAR) COLLATE utf8mb4_bin = 'new') THEN 1 END) AS new, count(*) AS all_orders
FROM orders
-- where_of_every_aggregate --
SELECT customer_id, sum(CASE WHEN paid = TRUE THEN amount END) AS s, avg(CAST(CASE WHEN lower(CAST(status AS CHAR) COLLATE utf8mb4_bin) LIKE lower('%NEW%') ESCAPE '!' THEN cost END AS DOUBLE)) AS a, count(DISTINCT CASE WHEN amount > 10 THEN CAST(status AS CHAR) COLLATE utf8mb4_bin END) AS d, CAST(sum(CASE WHEN amount > 10 THEN amount END) AS DOUBLE) / nullif(sum(sum(amount)) OVER (), 0) AS part
FROM orders
GROUP BY customer_id
-- where_of_median --
refused: select[0].function: MySQL has no median; leave it out, or ask for the rows and work it out from them
-- whole_day_begin --
SELECT id
FROM orders
WHERE sold_at >= '2024-01-31' AND sold_at < '2024-09-15'
ORDER BY id IS NULL, id
-- whole_day_between --
SELECT id
FROM orders
WHERE sold_at >= '2024-01-01' AND sold_at < '2024-02-01'
ORDER BY id IS NULL, id
-- whole_day_eq --
SELECT id
FROM orders
WHERE sold_at >= '2024-01-31' AND sold_at < '2024-02-01'
ORDER BY id IS NULL, id
-- whole_day_having --
SELECT CAST(status AS CHAR) COLLATE utf8mb4_bin AS status, max(sold_at) AS last
FROM orders
GROUP BY CAST(status AS CHAR) COLLATE utf8mb4_bin
HAVING max(sold_at) < '2024-02-01'
ORDER BY CAST(status AS CHAR) COLLATE utf8mb4_bin IS NULL, CAST(status AS CHAR) COLLATE utf8mb4_bin
-- whole_day_in --
SELECT id
FROM orders
WHERE (sold_at >= '2024-01-31' AND sold_at < '2024-02-01' OR sold_at = '2024-02-29 12:30:00' OR sold_at >= '2024-09-15' AND sold_at < '2024-09-16')
ORDER BY id IS NULL, id
-- whole_day_ne --
SELECT id
FROM orders
WHERE (sold_at < '2024-01-31' OR sold_at >= '2024-02-01')
ORDER BY id IS NULL, id
-- whole_day_not --
SELECT id
FROM orders
WHERE NOT (sold_at >= '2024-01-31' AND sold_at < '2024-02-01')
ORDER BY id IS NULL, id
-- whole_day_not_between --
SELECT id
FROM orders
WHERE (sold_at < '2024-01-01' OR sold_at >= '2024-02-01')
ORDER BY id IS NULL, id
-- whole_day_not_in --
SELECT id
FROM orders
WHERE (sold_at < '2024-01-31' OR sold_at >= '2024-02-01') AND (sold_at < '2024-09-15' OR sold_at >= '2024-09-16')
ORDER BY id IS NULL, id
-- whole_day_order --
SELECT id
FROM orders
WHERE (sold_at < '2024-02-01' OR sold_at >= '2024-03-01')
ORDER BY id IS NULL, id
-- whole_day_other --
SELECT id
FROM orders
WHERE CAST(date(sold_at) AS DATETIME) <= paid_at
ORDER BY id IS NULL, id
-- whole_day_truncated --
SELECT id
FROM orders
WHERE (CAST(subdate(date(sold_at), dayofmonth(sold_at) - 1) AS DATETIME)) = '2024-01-01'
ORDER BY id IS NULL, id
