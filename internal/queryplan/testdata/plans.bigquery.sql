-- functions: abs, avg, char_length, count, date_part, datetime_diff, datetime_trunc, div, extract, floor, lower, max, min, mod, nullif, rank, regexp_contains, round, row_number, sign, stddev_samp, sum, trim, upper
-- cast_and_aggregate --
SELECT sum(CASE WHEN regexp_contains(status, '^ *[-+]?([0-9]{1,200}([.][0-9]{0,200})?|[.][0-9]{1,200})([eE][-+]?[0-9]{1,2})? *$') THEN CAST(trim(status) AS FLOAT64) END) AS sum_status, max(CASE WHEN regexp_contains(status, '^([0-9]{4}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?)?$') THEN CAST(status AS DATETIME) END) AS max_status
FROM orders
-- cast_bool --
SELECT id, CAST(paid AS STRING) AS t, CAST(paid AS INT64) AS n
FROM orders
-- cast_date --
SELECT CASE WHEN regexp_contains(status, '^([0-9]{4}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?)?$') THEN CAST(status AS DATETIME) END AS status
FROM orders
-- cast_day_text --
SELECT id, CAST(paid_at AS STRING) AS t
FROM orders
-- cast_in_filter --
SELECT id
FROM orders
WHERE CASE WHEN regexp_contains(status, '^ *[-+]?([0-9]{1,200}([.][0-9]{0,200})?|[.][0-9]{1,200})([eE][-+]?[0-9]{1,2})? *$') THEN CAST(trim(status) AS FLOAT64) END > 1
-- cast_number --
SELECT CASE WHEN regexp_contains(status, '^ *[-+]?([0-9]{1,200}([.][0-9]{0,200})?|[.][0-9]{1,200})([eE][-+]?[0-9]{1,2})? *$') THEN CAST(trim(status) AS FLOAT64) END AS status
FROM orders
-- cast_text --
SELECT CAST(amount AS STRING) AS amount
FROM orders
-- cast_time_text --
SELECT id, CAST(sold_at AS STRING) AS t
FROM orders
-- combine_except --
SELECT customer_id
FROM orders
EXCEPT DISTINCT
SELECT id FROM customers
ORDER BY customer_id NULLS LAST
-- combine_intersect --
SELECT customer_id
FROM orders
INTERSECT DISTINCT
SELECT id FROM customers
ORDER BY customer_id NULLS LAST
-- combine_mixed --
refused: combine[1].operation: BigQuery has no order among different set operations; use one kind in a plan
-- combine_text --
SELECT name
FROM customers
UNION DISTINCT
SELECT status FROM orders
ORDER BY name DESC
-- combine_union --
SELECT customer_id
FROM orders
UNION DISTINCT
SELECT id FROM customers
ORDER BY customer_id NULLS LAST
-- combine_union_all --
SELECT customer_id
FROM orders
UNION ALL
SELECT id FROM customers
ORDER BY customer_id NULLS LAST
-- date_diff_hour --
SELECT id, datetime_diff(CAST(paid_at AS DATETIME), CAST(sold_at AS DATETIME), HOUR) AS n
FROM orders
-- date_diff_in_arithmetic --
SELECT id, datetime_diff(CAST(paid_at AS DATETIME), CAST(sold_at AS DATETIME), MONTH) * 30 AS days
FROM orders
-- date_diff_literal --
SELECT id, datetime_diff(CAST(sold_at AS DATETIME), CAST('2024-01-31' AS DATETIME), DAY) AS n
FROM orders
-- date_diff_month --
SELECT id, datetime_diff(CAST(paid_at AS DATETIME), CAST(sold_at AS DATETIME), MONTH) AS n
FROM orders
-- date_diff_quarter --
SELECT id, datetime_diff(CAST(paid_at AS DATETIME), CAST(sold_at AS DATETIME), QUARTER) AS n
FROM orders
-- date_diff_week --
SELECT id, div(datetime_diff(CAST(paid_at AS DATETIME), CAST(sold_at AS DATETIME), DAY), 7) AS n
FROM orders
-- date_diff_year --
SELECT id, datetime_diff(CAST(paid_at AS DATETIME), CAST(sold_at AS DATETIME), YEAR) AS n
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
WHERE CASE WHEN regexp_contains(status, '^([0-9]{4}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?)?$') THEN CAST(status AS DATETIME) END >= '2024-01-01' AND CASE WHEN regexp_contains(status, '^([0-9]{4}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?)?$') THEN CAST(status AS DATETIME) END < '2025-01-01'
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
WHERE paid = TRUE
-- filter_contains_backslash --
SELECT id
FROM customers
WHERE lower(name) LIKE lower('%\\\\%')
-- filter_contains_wildcard --
SELECT id
FROM orders
WHERE lower(status) LIKE lower('%50\\%\\_%')
-- filter_like_backslash --
SELECT id
FROM customers
WHERE name LIKE '%\\\\%'
-- filter_like_case --
SELECT id
FROM customers
WHERE name LIKE '_nn' AND name NOT LIKE 'A%'
-- filter_not_contains --
SELECT id
FROM customers
WHERE lower(name) NOT LIKE lower('%AN%')
-- filter_number_with_text --
SELECT id
FROM orders
WHERE amount > 7.5
-- filter_quoted_name --
SELECT `unit price`, `select`
FROM `order lines`
WHERE `we"ird` = 'it\'s'
-- filter_text_any_case --
SELECT id
FROM customers
WHERE (lower(name) = lower('ann') OR lower(name) LIKE lower('BACK%') OR lower(name) LIKE lower('%B'))
-- filter_text_case --
SELECT id
FROM customers
WHERE (name = 'Ann' OR name IN ('ANN', 'Bob', 'back\\slash'))
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
SELECT char_length(status) AS length_status
FROM orders
-- function_lower --
SELECT lower(status) AS lower_status
FROM orders
-- function_max --
SELECT max(amount) AS max_amount
FROM orders
-- function_median --
refused: select[0].function: BigQuery has no median; leave it out, or ask for the rows and work it out from them
-- function_median_by_group --
refused: select[1].function: BigQuery has no median; leave it out, or ask for the rows and work it out from them
-- function_median_of_dates --
refused: select[0].function: BigQuery has no median of date; leave it out, or ask for the rows and work it out from them
-- function_min --
SELECT min(amount) AS min_amount
FROM orders
-- function_of_bool --
SELECT sum(CAST(paid AS INT64)) AS sum_paid, min(paid) AS min_paid, max(paid) AS max_paid, count(paid) AS count_paid
FROM orders
-- function_of_dates --
SELECT min(sold_at) AS min_sold_at, max(paid_at) AS max_paid_at
FROM orders
-- function_of_nothing --
SELECT sum(amount) AS sum_amount, avg(amount) AS a, min(cost) AS b, stddev_samp(cost) AS c, count(*) AS n
FROM orders
WHERE id > 100000
-- function_of_one --
SELECT stddev_samp(cost) AS stddev_cost, avg(id) AS avg_id
FROM orders
WHERE id = 1
-- function_of_text --
SELECT min(status) AS min_status, max(status) AS max_status, count(DISTINCT status) AS count_distinct_status
FROM orders
-- function_percent --
SELECT status, 100.0 * CAST(sum(amount) AS FLOAT64) / nullif(sum(sum(amount)) OVER (), 0) AS percent_amount
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
SELECT status, CAST(sum(amount) AS FLOAT64) / nullif(sum(sum(amount)) OVER (), 0) AS share_amount
FROM orders
GROUP BY status
-- function_share_of_rows --
SELECT status, CAST(count(*) AS FLOAT64) / nullif(sum(count(*)) OVER (), 0) AS share
FROM orders
GROUP BY status
-- function_stddev --
SELECT stddev_samp(amount) AS stddev_amount
FROM orders
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
SELECT name, count(*) AS count
FROM customers
GROUP BY name
HAVING lower(name) LIKE lower('%É%') AND name < 'é'
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
JOIN customers ON reviews.customer = CAST(customers.id AS STRING)
-- join_three --
SELECT customers.city, count(DISTINCT orders.id) AS count_distinct_id
FROM `order lines`
JOIN orders ON `order lines`.order_id = orders.id
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
SELECT 'it\'s' AS note, amount * 1.19 AS gross
FROM orders
-- literal_hostile --
SELECT 'a\'b"c\\d\`e\nf%g_h; -- /* $x $y ? é 	' AS l, TRUE AS yes, 1e3 AS n
FROM reviews
-- math_add --
SELECT amount + cost AS x
FROM orders
-- math_date_diff --
SELECT datetime_diff(CAST(paid_at AS DATETIME), CAST(sold_at AS DATETIME), DAY) AS value
FROM orders
-- math_divide --
SELECT CAST(amount AS FLOAT64) / nullif(cost, 0) AS x
FROM orders
-- math_divide_by_zero --
SELECT id, CAST(id AS FLOAT64) / nullif(id - 2, 0) AS x
FROM orders
-- math_divide_whole --
SELECT CAST(stars AS FLOAT64) / nullif(3, 0) AS third
FROM reviews
-- math_inside_function --
SELECT sum(amount * cost) AS value
FROM orders
-- math_multiply --
SELECT amount * cost AS x
FROM orders
-- math_nested_aggregate --
SELECT CAST((sum(amount) - sum(cost)) AS FLOAT64) / nullif(sum(amount), 0) AS margin
FROM orders
-- math_subtract --
SELECT amount - cost AS x
FROM orders
-- metric --
SELECT sum(CASE WHEN status = 'paid' THEN amount - cost END) AS net_revenue
FROM orders
-- metric_by_group --
SELECT customers.city, CAST((100 * count(CASE WHEN o.paid = TRUE AND o.amount > 10 THEN 1 END)) AS FLOAT64) / nullif(count(CASE WHEN o.amount > 10 THEN 1 END), 0) AS paid_share
FROM orders AS o
JOIN customers ON o.customer_id = customers.id
GROUP BY customers.city
HAVING sum(CASE WHEN o.status = 'paid' THEN o.amount - o.cost END) > 5
ORDER BY sum(CASE WHEN o.status = 'paid' THEN o.amount - o.cost END) DESC, customers.city NULLS LAST
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
WHERE CAST(id AS STRING) IN (SELECT customer FROM reviews)
-- nested_in_limited --
SELECT id
FROM orders
WHERE customer_id IN (SELECT id FROM customers ORDER BY id NULLS LAST LIMIT 2)
-- nested_in_number_by_text --
SELECT stars
FROM reviews
WHERE customer IN (SELECT CAST(id AS STRING) AS id FROM customers)
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
WHERE lower(status) LIKE lower('%50\\%\\_off!\'%')
-- operator_ends_with --
SELECT id
FROM orders
WHERE lower(status) LIKE lower('%50\\%\\_off!\'')
-- operator_eq --
SELECT id
FROM orders
WHERE id = 1
-- operator_equals_any_case --
SELECT id
FROM orders
WHERE lower(status) = lower('50%_off!\'')
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
WHERE CAST(sold_at AS DATETIME) >= '2024-01-01' AND CAST(sold_at AS DATETIME) < '2025-01-01'
-- operator_in_period_2024-09 --
SELECT id
FROM orders
WHERE CAST(sold_at AS DATETIME) >= '2024-09-01' AND CAST(sold_at AS DATETIME) < '2024-10-01'
-- operator_in_period_2024-09-15 --
SELECT id
FROM orders
WHERE CAST(sold_at AS DATETIME) >= '2024-09-15' AND CAST(sold_at AS DATETIME) < '2024-09-16'
-- operator_in_period_2024-Q3 --
SELECT id
FROM orders
WHERE CAST(sold_at AS DATETIME) >= '2024-07-01' AND CAST(sold_at AS DATETIME) < '2024-10-01'
-- operator_in_period_2024-W37 --
SELECT id
FROM orders
WHERE CAST(sold_at AS DATETIME) >= '2024-09-09' AND CAST(sold_at AS DATETIME) < '2024-09-16'
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
WHERE status LIKE '50%_off!\''
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
WHERE lower(status) NOT LIKE lower('%50\\%\\_off!\'%')
-- operator_not_in --
SELECT id
FROM orders
WHERE id NOT IN (1, 2)
-- operator_not_like --
SELECT id
FROM orders
WHERE status NOT LIKE '50%_off!\''
-- operator_other_column --
SELECT id
FROM orders
WHERE amount > cost
-- operator_starts_with --
SELECT id
FROM orders
WHERE lower(status) LIKE lower('50\\%\\_off!\'%')
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
SELECT EXTRACT(DAY FROM CAST(sold_at AS DATETIME)) AS day_sold_at
FROM orders
-- part_hour --
SELECT EXTRACT(HOUR FROM CAST(sold_at AS DATETIME)) AS hour_sold_at
FROM orders
-- part_hour_of_day --
SELECT id, EXTRACT(HOUR FROM CAST(paid_at AS DATETIME)) AS hour_paid_at
FROM orders
-- part_in_arithmetic --
SELECT id, (mod(EXTRACT(DAYOFWEEK FROM CAST(sold_at AS DATETIME)) + 5, 7) + 1) * 10 AS x
FROM orders
-- part_month --
SELECT EXTRACT(MONTH FROM CAST(sold_at AS DATETIME)) AS month_sold_at
FROM orders
-- part_of_text --
SELECT id, EXTRACT(MONTH FROM CASE WHEN regexp_contains(status, '^([0-9]{4}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?)?$') THEN CAST(status AS DATETIME) END) AS month_status
FROM orders
-- part_quarter --
SELECT EXTRACT(QUARTER FROM CAST(sold_at AS DATETIME)) AS quarter_sold_at
FROM orders
-- part_week --
SELECT EXTRACT(ISOWEEK FROM CAST(sold_at AS DATETIME)) AS week_sold_at
FROM orders
-- part_week_of_day --
SELECT id, EXTRACT(ISOWEEK FROM CAST(paid_at AS DATETIME)) AS week_paid_at
FROM orders
-- part_weekday --
SELECT mod(EXTRACT(DAYOFWEEK FROM CAST(sold_at AS DATETIME)) + 5, 7) + 1 AS weekday_sold_at
FROM orders
-- part_weekday_of_day --
SELECT id, mod(EXTRACT(DAYOFWEEK FROM CAST(paid_at AS DATETIME)) + 5, 7) + 1 AS weekday_paid_at
FROM orders
-- part_year --
SELECT EXTRACT(YEAR FROM CAST(sold_at AS DATETIME)) AS year_sold_at
FROM orders
-- part_year_of_day --
SELECT id, EXTRACT(YEAR FROM CAST(paid_at AS DATETIME)) AS year_paid_at
FROM orders
-- replace --
SELECT CASE WHEN status IN ('settled', 'it\'s done') THEN 'paid' ELSE status END AS state, count(*) AS count
FROM orders
GROUP BY CASE WHEN status IN ('settled', 'it\'s done') THEN 'paid' ELSE status END
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
FROM (SELECT customer_id, id, amount, row_number() OVER (PARTITION BY customer_id ORDER BY amount IS NULL, amount, status DESC, id IS NULL, id) AS rank_in_group FROM orders) AS ranked
WHERE rank_in_group <= 2
ORDER BY customer_id NULLS LAST, id NULLS LAST
-- truncate_day --
SELECT datetime_trunc(CAST(sold_at AS DATETIME), DAY) AS period, count(*) AS count
FROM orders
GROUP BY datetime_trunc(CAST(sold_at AS DATETIME), DAY)
ORDER BY period NULLS LAST
-- truncate_hour --
SELECT datetime_trunc(CAST(sold_at AS DATETIME), HOUR) AS period, count(*) AS count
FROM orders
GROUP BY datetime_trunc(CAST(sold_at AS DATETIME), HOUR)
ORDER BY period NULLS LAST
-- truncate_month --
SELECT datetime_trunc(CAST(sold_at AS DATETIME), MONTH) AS period, count(*) AS count
FROM orders
GROUP BY datetime_trunc(CAST(sold_at AS DATETIME), MONTH)
ORDER BY period NULLS LAST
-- truncate_month_of_day --
SELECT datetime_trunc(CAST(paid_at AS DATETIME), MONTH) AS period, sum(amount) AS sum_amount
FROM orders
GROUP BY datetime_trunc(CAST(paid_at AS DATETIME), MONTH)
ORDER BY period DESC
-- truncate_quarter --
SELECT datetime_trunc(CAST(sold_at AS DATETIME), QUARTER) AS period, count(*) AS count
FROM orders
GROUP BY datetime_trunc(CAST(sold_at AS DATETIME), QUARTER)
ORDER BY period NULLS LAST
-- truncate_week --
SELECT datetime_trunc(CAST(sold_at AS DATETIME), ISOWEEK) AS period, count(*) AS count
FROM orders
GROUP BY datetime_trunc(CAST(sold_at AS DATETIME), ISOWEEK)
ORDER BY period NULLS LAST
-- truncate_week_filtered --
SELECT id
FROM orders
WHERE datetime_trunc(CAST(sold_at AS DATETIME), ISOWEEK) = '2024-09-09'
-- truncate_year --
SELECT datetime_trunc(CAST(sold_at AS DATETIME), YEAR) AS period, count(*) AS count
FROM orders
GROUP BY datetime_trunc(CAST(sold_at AS DATETIME), YEAR)
ORDER BY period NULLS LAST
-- where_of_aggregate --
SELECT count(CASE WHEN status = 'new' THEN 1 END) AS `new`, count(*) AS all_orders
FROM orders
-- where_of_every_aggregate --
SELECT customer_id, sum(CASE WHEN paid = TRUE THEN amount END) AS s, avg(CASE WHEN lower(status) LIKE lower('%NEW%') THEN cost END) AS a, count(DISTINCT CASE WHEN amount > 10 THEN status END) AS d, CAST(sum(CASE WHEN amount > 10 THEN amount END) AS FLOAT64) / nullif(sum(sum(amount)) OVER (), 0) AS part
FROM orders
GROUP BY customer_id
-- where_of_median --
refused: select[0].function: BigQuery has no median; leave it out, or ask for the rows and work it out from them
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
WHERE datetime_trunc(CAST(sold_at AS DATETIME), DAY) <= paid_at
ORDER BY id NULLS LAST
-- whole_day_truncated --
SELECT id
FROM orders
WHERE datetime_trunc(CAST(sold_at AS DATETIME), MONTH) = '2024-01-01'
ORDER BY id NULLS LAST
