-- functions: abs, avgornull, count, datediff, floor, intdiv, lengthutf8, lowerutf8, match, maxornull, minornull, nullif, parsedatetime64besteffort, parsedatetime64besteffortornull, quantileexactinclusiveornull, rank, round, row_number, sign, stddevsamp, sum, sumornull, todate, todatetime, todayofmonth, todayofweek, tofloat64, tofloat64ornull, tohour, toint64, toisoweek, tomonday, tomonth, tonullable, toquarter, tostartofhour, tostartofmonth, tostartofquarter, tostartofyear, tostring, toyear, trimboth, upperutf8
-- cast_and_aggregate --
SELECT sumOrNull(toFloat64OrNull(trimBoth(orders.status))) AS sum_status, maxOrNull(CASE WHEN match(orders.status, '^([0-9]{4}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?)?$') THEN parseDateTime64BestEffortOrNull(orders.status, 6) END) AS max_status
FROM orders
-- cast_bool --
SELECT orders.id AS id, CASE WHEN orders.paid THEN 'true' WHEN NOT orders.paid THEN 'false' END AS t, toInt64(orders.paid) AS n
FROM orders
-- cast_date --
SELECT CASE WHEN match(orders.status, '^([0-9]{4}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?)?$') THEN parseDateTime64BestEffortOrNull(orders.status, 6) END AS status
FROM orders
-- cast_day_text --
SELECT orders.id AS id, toString(orders.paid_at) AS t
FROM orders
-- cast_in_filter --
SELECT orders.id AS id
FROM orders
WHERE toFloat64OrNull(trimBoth(orders.status)) > 1
-- cast_number --
SELECT toFloat64OrNull(trimBoth(orders.status)) AS status
FROM orders
-- cast_text --
SELECT toString(orders.amount) AS amount
FROM orders
-- cast_time_text --
SELECT orders.id AS id, toString(orders.sold_at) AS t
FROM orders
-- combine_except --
SELECT customer_id
FROM (SELECT orders.customer_id AS customer_id FROM orders EXCEPT DISTINCT SELECT customers.id AS id FROM customers) AS combined
ORDER BY customer_id
-- combine_intersect --
SELECT customer_id
FROM (SELECT orders.customer_id AS customer_id FROM orders INTERSECT DISTINCT SELECT customers.id AS id FROM customers) AS combined
ORDER BY customer_id
-- combine_mixed --
SELECT customer_id
FROM (SELECT orders.customer_id AS customer_id FROM orders UNION DISTINCT SELECT customers.id AS id FROM customers INTERSECT DISTINCT SELECT reviews.stars AS stars FROM reviews) AS combined
ORDER BY customer_id
-- combine_text --
SELECT name
FROM (SELECT customers.name AS name FROM customers UNION DISTINCT SELECT orders.status AS status FROM orders) AS combined
ORDER BY name DESC
-- combine_union --
SELECT customer_id
FROM (SELECT orders.customer_id AS customer_id FROM orders UNION DISTINCT SELECT customers.id AS id FROM customers) AS combined
ORDER BY customer_id
-- combine_union_all --
SELECT customer_id
FROM (SELECT orders.customer_id AS customer_id FROM orders UNION ALL SELECT customers.id AS id FROM customers) AS combined
ORDER BY customer_id
-- date_diff_hour --
SELECT orders.id AS id, dateDiff('day', toDate(orders.sold_at), toDate(toDateTime(orders.paid_at))) * 24 + toHour(toDateTime(orders.paid_at)) - toHour(orders.sold_at) AS n
FROM orders
-- date_diff_in_arithmetic --
SELECT orders.id AS id, ((toYear(toDateTime(orders.paid_at)) - toYear(orders.sold_at)) * 12 + toMonth(toDateTime(orders.paid_at)) - toMonth(orders.sold_at)) * 30 AS days
FROM orders
-- date_diff_literal --
SELECT orders.id AS id, dateDiff('day', toDate(parseDateTime64BestEffort('2024-01-31', 6)), toDate(orders.sold_at)) AS n
FROM orders
-- date_diff_month --
SELECT orders.id AS id, (toYear(toDateTime(orders.paid_at)) - toYear(orders.sold_at)) * 12 + toMonth(toDateTime(orders.paid_at)) - toMonth(orders.sold_at) AS n
FROM orders
-- date_diff_quarter --
SELECT orders.id AS id, (toYear(toDateTime(orders.paid_at)) - toYear(orders.sold_at)) * 4 + toQuarter(toDateTime(orders.paid_at)) - toQuarter(orders.sold_at) AS n
FROM orders
-- date_diff_week --
SELECT orders.id AS id, intDiv(dateDiff('day', toDate(orders.sold_at), toDate(toDateTime(orders.paid_at))), 7) AS n
FROM orders
-- date_diff_year --
SELECT orders.id AS id, toYear(toDateTime(orders.paid_at)) - toYear(orders.sold_at) AS n
FROM orders
-- date_filter_day_period --
SELECT orders.id AS id
FROM orders
WHERE orders.paid_at >= '2024-01-01' AND orders.paid_at < '2024-04-01'
-- date_filter_list --
SELECT orders.id AS id
FROM orders
WHERE orders.paid_at IN ('2024-03-01', '2024-09-16')
-- date_filter_text_period --
SELECT orders.id AS id
FROM orders
WHERE CASE WHEN match(orders.status, '^([0-9]{4}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?)?$') THEN parseDateTime64BestEffortOrNull(orders.status, 6) END >= '2024-01-01 00:00:00' AND CASE WHEN match(orders.status, '^([0-9]{4}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?)?$') THEN parseDateTime64BestEffortOrNull(orders.status, 6) END < '2025-01-01 00:00:00'
-- date_filters --
SELECT orders.id AS id
FROM orders
WHERE orders.sold_at BETWEEN '2024-01-31 00:00:00' AND '2024-09-15 10:30:00' AND orders.paid_at <> '2024-03-01' AND orders.paid_at <= '2024-09-15'
-- distinct --
SELECT DISTINCT orders.status AS status
FROM orders
-- distinct_ordered --
SELECT DISTINCT orders.status AS status, orders.paid AS paid
FROM orders
ORDER BY orders.status, orders.paid DESC
-- distinct_ordered_alias --
SELECT DISTINCT orders.status AS state
FROM orders
ORDER BY state DESC
-- filter_any_all_not --
SELECT orders.id AS id
FROM orders
WHERE (orders.status = 'new' OR (orders.amount > 10 AND NOT (orders.status = 'old')))
-- filter_bool --
SELECT orders.id AS id
FROM orders
WHERE orders.paid = TRUE
-- filter_contains_backslash --
SELECT customers.id AS id
FROM customers
WHERE lowerUTF8(customers.name) LIKE lowerUTF8('%\\\\%')
-- filter_contains_wildcard --
SELECT orders.id AS id
FROM orders
WHERE lowerUTF8(orders.status) LIKE lowerUTF8('%50\\%\\_%')
-- filter_like_backslash --
SELECT customers.id AS id
FROM customers
WHERE customers.name LIKE '%\\\\%'
-- filter_like_case --
SELECT customers.id AS id
FROM customers
WHERE customers.name LIKE '_nn' AND customers.name NOT LIKE 'A%'
-- filter_not_contains --
SELECT customers.id AS id
FROM customers
WHERE lowerUTF8(customers.name) NOT LIKE lowerUTF8('%AN%')
-- filter_number_with_text --
SELECT orders.id AS id
FROM orders
WHERE orders.amount > 7.5
-- filter_quoted_name --
SELECT `order lines`.`unit price` AS `unit price`, `order lines`.`select` AS `select`
FROM `order lines`
WHERE `order lines`.`we"ird` = 'it''s'
-- filter_text_any_case --
SELECT customers.id AS id
FROM customers
WHERE (lowerUTF8(customers.name) = lowerUTF8('ann') OR lowerUTF8(customers.name) LIKE lowerUTF8('BACK%') OR lowerUTF8(customers.name) LIKE lowerUTF8('%B'))
-- filter_text_case --
SELECT customers.id AS id
FROM customers
WHERE (customers.name = 'Ann' OR customers.name IN ('ANN', 'Bob', 'back\\slash'))
-- filter_text_order --
SELECT customers.id AS id
FROM customers
WHERE customers.name BETWEEN 'B' AND 'c'
-- filter_text_with_number --
SELECT orders.id AS id
FROM orders
WHERE orders.status = '7'
-- from_plan --
SELECT avgOrNull(inner_rows.n) AS avg_n
FROM (SELECT orders.customer_id AS customer_id, count(*) AS n FROM orders GROUP BY orders.customer_id) AS inner_rows
-- from_plan_text --
SELECT inner_rows.status AS status, inner_rows.n AS n
FROM (SELECT orders.status AS status, count(*) AS n FROM orders GROUP BY orders.status) AS inner_rows
WHERE inner_rows.status = 'new'
ORDER BY inner_rows.status
-- function_abs --
SELECT abs(orders.amount) AS abs_amount
FROM orders
-- function_avg --
SELECT avgOrNull(orders.amount) AS avg_amount
FROM orders
-- function_avg_whole --
SELECT avgOrNull(reviews.stars) AS avg_stars
FROM reviews
-- function_count --
SELECT count(*) AS count, count(orders.status) AS count_status
FROM orders
-- function_count_distinct --
SELECT count(DISTINCT orders.amount) AS count_distinct_amount
FROM orders
-- function_length --
SELECT lengthUTF8(orders.status) AS length_status
FROM orders
-- function_lower --
SELECT lowerUTF8(orders.status) AS lower_status
FROM orders
-- function_max --
SELECT maxOrNull(orders.amount) AS max_amount
FROM orders
-- function_median --
SELECT quantileExactInclusiveOrNull(orders.amount) AS median_amount
FROM orders
-- function_median_by_group --
SELECT orders.customer_id AS customer_id, quantileExactInclusiveOrNull(orders.cost) AS m
FROM orders
GROUP BY orders.customer_id
ORDER BY m
-- function_median_of_dates --
refused: select[0].function: ClickHouse has no median of date; leave it out, or ask for the rows and work it out from them
-- function_min --
SELECT minOrNull(orders.amount) AS min_amount
FROM orders
-- function_of_bool --
SELECT sumOrNull(toInt64(orders.paid)) AS sum_paid, minOrNull(orders.paid) AS min_paid, maxOrNull(orders.paid) AS max_paid, count(orders.paid) AS count_paid
FROM orders
-- function_of_dates --
SELECT minOrNull(orders.sold_at) AS min_sold_at, maxOrNull(orders.paid_at) AS max_paid_at
FROM orders
-- function_of_nothing --
SELECT sumOrNull(orders.amount) AS sum_amount, avgOrNull(orders.amount) AS a, minOrNull(orders.cost) AS b, CASE WHEN count(orders.cost) > 1 THEN stddevSamp(orders.cost) END AS c, count(*) AS n
FROM orders
WHERE orders.id > 100000
-- function_of_one --
SELECT CASE WHEN count(orders.cost) > 1 THEN stddevSamp(orders.cost) END AS stddev_cost, avgOrNull(orders.id) AS avg_id
FROM orders
WHERE orders.id = 1
-- function_of_text --
SELECT minOrNull(orders.status) AS min_status, maxOrNull(orders.status) AS max_status, count(DISTINCT orders.status) AS count_distinct_status
FROM orders
-- function_percent --
SELECT orders.status AS status, 100.0 * toFloat64(sumOrNull(orders.amount)) / nullif(toFloat64(sum(sumOrNull(orders.amount)) OVER ()), 0) AS percent_amount
FROM orders
GROUP BY orders.status
-- function_round --
SELECT round(orders.amount, 2) AS round_amount
FROM orders
-- function_round_of_aggregate --
SELECT orders.customer_id AS customer_id, sign(avgOrNull(orders.amount)) * floor(abs(avgOrNull(orders.amount)) * 100 + 0.5) / 100 AS a
FROM orders
GROUP BY orders.customer_id
-- function_round_of_float --
SELECT orders.id AS id, sign(orders.cost) * floor(abs(orders.cost) * 100 + 0.5) / 100 AS round_cost, (sign(orders.cost) * floor(abs(orders.cost) * 100 + 0.5) / 100) * 2 AS twice
FROM orders
-- function_share --
SELECT orders.status AS status, toFloat64(sumOrNull(orders.amount)) / nullif(toFloat64(sum(sumOrNull(orders.amount)) OVER ()), 0) AS share_amount
FROM orders
GROUP BY orders.status
-- function_share_of_rows --
SELECT orders.status AS status, toFloat64(count(*)) / nullif(toFloat64(sum(count(*)) OVER ()), 0) AS share
FROM orders
GROUP BY orders.status
-- function_stddev --
SELECT CASE WHEN count(orders.amount) > 1 THEN stddevSamp(orders.amount) END AS stddev_amount
FROM orders
-- function_sum --
SELECT sumOrNull(orders.amount) AS sum_amount
FROM orders
-- function_upper --
SELECT upperUTF8(orders.status) AS upper_status
FROM orders
-- group_having --
SELECT orders.status AS status, sumOrNull(orders.amount) AS total
FROM orders
GROUP BY orders.status
HAVING count(*) > 3 AND sumOrNull(orders.amount) > 100
ORDER BY total DESC
-- group_having_text --
SELECT customers.name AS name, count(*) AS count
FROM customers
GROUP BY customers.name
HAVING lowerUTF8(customers.name) LIKE lowerUTF8('%É%') AND customers.name < 'é'
-- group_null --
SELECT orders.status AS status, sumOrNull(orders.amount) AS total, avgOrNull(orders.amount) AS mean
FROM orders
GROUP BY orders.status
ORDER BY total, orders.status
-- group_text --
SELECT customers.name AS name, count(*) AS count
FROM customers
GROUP BY customers.name
ORDER BY customers.name
-- join_by_relation --
SELECT customers.name AS name, sumOrNull(orders.amount) AS sum_amount
FROM orders
JOIN customers ON orders.customer_id = customers.id
GROUP BY customers.name
-- join_left_nulls --
SELECT customers.id AS id, orders.status AS status, orders.id AS orders_id
FROM customers
LEFT JOIN (SELECT toNullable(orders.id) AS id, toNullable(orders.customer_id) AS customer_id, toNullable(orders.amount) AS amount, toNullable(orders.status) AS status FROM orders) AS orders ON customers.id = orders.customer_id
ORDER BY customers.id, orders.amount, orders.id
-- join_left_on --
SELECT customers.name AS name, count(orders.id) AS count_id
FROM customers
LEFT JOIN (SELECT toNullable(orders.id) AS id, toNullable(orders.customer_id) AS customer_id FROM orders) AS orders ON customers.id = orders.customer_id
GROUP BY customers.name
-- join_self --
SELECT a.name AS name, b.name AS b_name
FROM customers AS a
JOIN customers AS b ON a.referred_by = b.id
-- join_text_keys --
SELECT a.id AS id, b.id AS other
FROM customers AS a
JOIN customers AS b ON a.city = b.city
WHERE a.id < b.id
ORDER BY a.id, other
-- join_text_with_number_key --
SELECT reviews.stars AS stars, customers.name AS name
FROM reviews
JOIN customers ON reviews.customer = toString(customers.id)
-- join_three --
SELECT customers.city AS city, count(DISTINCT orders.id) AS count_distinct_id
FROM `order lines`
JOIN orders ON `order lines`.order_id = orders.id
JOIN customers ON orders.customer_id = customers.id
GROUP BY customers.city
-- limit_all --
SELECT orders.id AS id
FROM orders
-- limit_default --
SELECT orders.id AS id
FROM orders
-- limit_offset --
SELECT orders.id AS id
FROM orders
ORDER BY orders.amount DESC
LIMIT 1 OFFSET 1
-- limit_some --
SELECT orders.id AS id
FROM orders
LIMIT 5
-- literal --
SELECT 'it''s' AS note, orders.amount * 1.19 AS gross
FROM orders
-- literal_hostile --
SELECT 'a''b"c\\d`e
f%g_h; -- /* $x $y ? é 	' AS l, TRUE AS yes, 1e3 AS n
FROM reviews
-- math_add --
SELECT orders.amount + orders.cost AS x
FROM orders
-- math_date_diff --
SELECT dateDiff('day', toDate(orders.sold_at), toDate(toDateTime(orders.paid_at))) AS value
FROM orders
-- math_divide --
SELECT toFloat64(orders.amount) / nullif(orders.cost, 0) AS x
FROM orders
-- math_divide_by_zero --
SELECT orders.id AS id, toFloat64(orders.id) / nullif(orders.id - 2, 0) AS x
FROM orders
-- math_divide_whole --
SELECT toFloat64(reviews.stars) / nullif(3, 0) AS third
FROM reviews
-- math_inside_function --
SELECT sumOrNull(orders.amount * orders.cost) AS value
FROM orders
-- math_multiply --
SELECT orders.amount * orders.cost AS x
FROM orders
-- math_nested_aggregate --
SELECT toFloat64((sumOrNull(orders.amount) - sumOrNull(orders.cost))) / nullif(sumOrNull(orders.amount), 0) AS margin
FROM orders
-- math_subtract --
SELECT orders.amount - orders.cost AS x
FROM orders
-- metric --
SELECT sumOrNull(CASE WHEN orders.status = 'paid' THEN orders.amount - orders.cost END) AS net_revenue
FROM orders
-- metric_by_group --
SELECT customers.city AS city, toFloat64((100 * count(CASE WHEN o.paid = TRUE AND o.amount > 10 THEN 1 END))) / nullif(count(CASE WHEN o.amount > 10 THEN 1 END), 0) AS paid_share
FROM orders AS o
JOIN customers ON o.customer_id = customers.id
GROUP BY customers.city
HAVING sumOrNull(CASE WHEN o.status = 'paid' THEN o.amount - o.cost END) > 5
ORDER BY sumOrNull(CASE WHEN o.status = 'paid' THEN o.amount - o.cost END) DESC, customers.city
-- nested_average --
SELECT orders.id AS id
FROM orders
WHERE orders.amount > (SELECT avgOrNull(orders.amount) AS avg_amount FROM orders)
-- nested_first --
SELECT orders.id AS id
FROM orders
WHERE orders.status = (SELECT orders.status AS status FROM orders GROUP BY orders.status ORDER BY count(*) DESC LIMIT 1)
-- nested_in --
SELECT customers.name AS name
FROM customers
WHERE customers.id IN (SELECT orders.customer_id AS customer_id FROM orders WHERE orders.amount > 100)
-- nested_in_key_of_another_type --
SELECT customers.name AS name
FROM customers
WHERE toString(customers.id) IN (SELECT reviews.customer AS customer FROM reviews)
-- nested_in_limited --
SELECT orders.id AS id
FROM orders
WHERE orders.customer_id IN (SELECT customers.id AS id FROM customers ORDER BY customers.id LIMIT 2)
-- nested_in_number_by_text --
SELECT reviews.stars AS stars
FROM reviews
WHERE reviews.customer IN (SELECT toString(customers.id) AS id FROM customers)
-- nested_not_in --
SELECT customers.name AS name
FROM customers
WHERE customers.id NOT IN (SELECT orders.customer_id AS customer_id FROM orders WHERE orders.customer_id IS NOT NULL)
-- operator_between --
SELECT orders.id AS id
FROM orders
WHERE orders.id BETWEEN 1 AND 2
-- operator_contains --
SELECT orders.id AS id
FROM orders
WHERE lowerUTF8(orders.status) LIKE lowerUTF8('%50\\%\\_off!''%')
-- operator_ends_with --
SELECT orders.id AS id
FROM orders
WHERE lowerUTF8(orders.status) LIKE lowerUTF8('%50\\%\\_off!''')
-- operator_eq --
SELECT orders.id AS id
FROM orders
WHERE orders.id = 1
-- operator_equals_any_case --
SELECT orders.id AS id
FROM orders
WHERE lowerUTF8(orders.status) = lowerUTF8('50%_off!''')
-- operator_ge --
SELECT orders.id AS id
FROM orders
WHERE orders.id >= 1
-- operator_gt --
SELECT orders.id AS id
FROM orders
WHERE orders.id > 1
-- operator_in --
SELECT orders.id AS id
FROM orders
WHERE orders.id IN (1, 2)
-- operator_in_period_2024 --
SELECT orders.id AS id
FROM orders
WHERE orders.sold_at >= '2024-01-01 00:00:00' AND orders.sold_at < '2025-01-01 00:00:00'
-- operator_in_period_2024-09 --
SELECT orders.id AS id
FROM orders
WHERE orders.sold_at >= '2024-09-01 00:00:00' AND orders.sold_at < '2024-10-01 00:00:00'
-- operator_in_period_2024-09-15 --
SELECT orders.id AS id
FROM orders
WHERE orders.sold_at >= '2024-09-15 00:00:00' AND orders.sold_at < '2024-09-16 00:00:00'
-- operator_in_period_2024-Q3 --
SELECT orders.id AS id
FROM orders
WHERE orders.sold_at >= '2024-07-01 00:00:00' AND orders.sold_at < '2024-10-01 00:00:00'
-- operator_in_period_2024-W37 --
SELECT orders.id AS id
FROM orders
WHERE orders.sold_at >= '2024-09-09 00:00:00' AND orders.sold_at < '2024-09-16 00:00:00'
-- operator_is_not_null --
SELECT orders.id AS id
FROM orders
WHERE orders.status IS NOT NULL
-- operator_is_null --
SELECT orders.id AS id
FROM orders
WHERE orders.status IS NULL
-- operator_le --
SELECT orders.id AS id
FROM orders
WHERE orders.id <= 1
-- operator_like --
SELECT orders.id AS id
FROM orders
WHERE orders.status LIKE '50%_off!'''
-- operator_lt --
SELECT orders.id AS id
FROM orders
WHERE orders.id < 1
-- operator_ne --
SELECT orders.id AS id
FROM orders
WHERE orders.id <> 1
-- operator_not_between --
SELECT orders.id AS id
FROM orders
WHERE orders.id NOT BETWEEN 1 AND 2
-- operator_not_contains --
SELECT orders.id AS id
FROM orders
WHERE lowerUTF8(orders.status) NOT LIKE lowerUTF8('%50\\%\\_off!''%')
-- operator_not_in --
SELECT orders.id AS id
FROM orders
WHERE orders.id NOT IN (1, 2)
-- operator_not_like --
SELECT orders.id AS id
FROM orders
WHERE orders.status NOT LIKE '50%_off!'''
-- operator_other_column --
SELECT orders.id AS id
FROM orders
WHERE orders.amount > orders.cost
-- operator_starts_with --
SELECT orders.id AS id
FROM orders
WHERE lowerUTF8(orders.status) LIKE lowerUTF8('50\\%\\_off!''%')
-- order_aggregate --
SELECT orders.status AS status, count(*) AS count
FROM orders
GROUP BY orders.status
ORDER BY count(*) DESC, orders.status
-- order_default --
SELECT orders.id AS id, orders.amount AS amount
FROM orders
ORDER BY orders.amount, orders.id
-- order_descending --
SELECT orders.id AS id, orders.amount AS amount
FROM orders
ORDER BY orders.amount DESC, orders.id DESC
-- order_nulls --
SELECT orders.id AS id
FROM orders
ORDER BY orders.amount DESC NULLS LAST, orders.id NULLS FIRST
-- order_nulls_first --
SELECT orders.id AS id, orders.amount AS amount
FROM orders
ORDER BY orders.amount NULLS FIRST, orders.status DESC NULLS FIRST, orders.id
-- order_text --
SELECT orders.status AS status, orders.id AS id
FROM orders
ORDER BY orders.status, orders.id
-- order_text_alias --
SELECT orders.status AS state, orders.id AS id
FROM orders
ORDER BY state DESC, orders.id
-- order_text_function --
SELECT upperUTF8(customers.name) AS u, lowerUTF8(customers.name) AS lower_name
FROM customers
ORDER BY u
-- part_day --
SELECT toDayOfMonth(orders.sold_at) AS day_sold_at
FROM orders
-- part_hour --
SELECT toHour(orders.sold_at) AS hour_sold_at
FROM orders
-- part_hour_of_day --
SELECT orders.id AS id, toHour(toDateTime(orders.paid_at)) AS hour_paid_at
FROM orders
-- part_in_arithmetic --
SELECT orders.id AS id, toDayOfWeek(orders.sold_at) * 10 AS x
FROM orders
-- part_month --
SELECT toMonth(orders.sold_at) AS month_sold_at
FROM orders
-- part_of_text --
SELECT orders.id AS id, toMonth(CASE WHEN match(orders.status, '^([0-9]{4}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?)?$') THEN parseDateTime64BestEffortOrNull(orders.status, 6) END) AS month_status
FROM orders
-- part_quarter --
SELECT toQuarter(orders.sold_at) AS quarter_sold_at
FROM orders
-- part_week --
SELECT toISOWeek(orders.sold_at) AS week_sold_at
FROM orders
-- part_week_of_day --
SELECT orders.id AS id, toISOWeek(toDateTime(orders.paid_at)) AS week_paid_at
FROM orders
-- part_weekday --
SELECT toDayOfWeek(orders.sold_at) AS weekday_sold_at
FROM orders
-- part_weekday_of_day --
SELECT orders.id AS id, toDayOfWeek(toDateTime(orders.paid_at)) AS weekday_paid_at
FROM orders
-- part_year --
SELECT toYear(orders.sold_at) AS year_sold_at
FROM orders
-- part_year_of_day --
SELECT orders.id AS id, toYear(toDateTime(orders.paid_at)) AS year_paid_at
FROM orders
-- replace --
SELECT CASE WHEN orders.status IN ('settled', 'it''s done') THEN 'paid' ELSE orders.status END AS state, count(*) AS count
FROM orders
GROUP BY CASE WHEN orders.status IN ('settled', 'it''s done') THEN 'paid' ELSE orders.status END
ORDER BY state
-- select_columns --
SELECT orders.id AS id, orders.amount AS total
FROM orders
-- top_per_group --
SELECT status, id, amount
FROM (SELECT orders.status AS status, orders.id AS id, orders.amount AS amount, row_number() OVER (PARTITION BY orders.status ORDER BY orders.amount DESC) AS rank_in_group FROM orders) AS ranked
WHERE rank_in_group <= 3
ORDER BY status, rank_in_group
-- top_per_group_ties_aggregate --
SELECT city, name, total
FROM (SELECT customers.city AS city, customers.name AS name, sumOrNull(orders.amount) AS total, rank() OVER (PARTITION BY customers.city ORDER BY sumOrNull(orders.amount) DESC) AS rank_in_group FROM orders JOIN customers ON orders.customer_id = customers.id GROUP BY customers.city, customers.name) AS ranked
WHERE rank_in_group <= 1
ORDER BY city, rank_in_group
-- top_with_nulls --
SELECT customer_id, id, amount
FROM (SELECT orders.customer_id AS customer_id, orders.id AS id, orders.amount AS amount, row_number() OVER (PARTITION BY orders.customer_id ORDER BY orders.amount, orders.status DESC, orders.id) AS rank_in_group FROM orders) AS ranked
WHERE rank_in_group <= 2
ORDER BY customer_id, id
-- truncate_day --
SELECT toDate(orders.sold_at) AS period, count(*) AS count
FROM orders
GROUP BY toDate(orders.sold_at)
ORDER BY period
-- truncate_hour --
SELECT toStartOfHour(orders.sold_at) AS period, count(*) AS count
FROM orders
GROUP BY toStartOfHour(orders.sold_at)
ORDER BY period
-- truncate_month --
SELECT toStartOfMonth(orders.sold_at) AS period, count(*) AS count
FROM orders
GROUP BY toStartOfMonth(orders.sold_at)
ORDER BY period
-- truncate_month_of_day --
SELECT toStartOfMonth(toDateTime(orders.paid_at)) AS period, sumOrNull(orders.amount) AS sum_amount
FROM orders
GROUP BY toStartOfMonth(toDateTime(orders.paid_at))
ORDER BY period DESC
-- truncate_quarter --
SELECT toStartOfQuarter(orders.sold_at) AS period, count(*) AS count
FROM orders
GROUP BY toStartOfQuarter(orders.sold_at)
ORDER BY period
-- truncate_week --
SELECT toMonday(orders.sold_at) AS period, count(*) AS count
FROM orders
GROUP BY toMonday(orders.sold_at)
ORDER BY period
-- truncate_week_filtered --
SELECT orders.id AS id
FROM orders
WHERE toMonday(orders.sold_at) = '2024-09-09'
-- truncate_year --
SELECT toStartOfYear(orders.sold_at) AS period, count(*) AS count
FROM orders
GROUP BY toStartOfYear(orders.sold_at)
ORDER BY period
-- where_of_aggregate --
SELECT count(CASE WHEN orders.status = 'new' THEN 1 END) AS new, count(*) AS all_orders
FROM orders
-- where_of_every_aggregate --
SELECT orders.customer_id AS customer_id, sumOrNull(CASE WHEN orders.paid = TRUE THEN orders.amount END) AS s, avgOrNull(CASE WHEN lowerUTF8(orders.status) LIKE lowerUTF8('%NEW%') THEN orders.cost END) AS a, count(DISTINCT CASE WHEN orders.amount > 10 THEN orders.status END) AS d, toFloat64(sumOrNull(CASE WHEN orders.amount > 10 THEN orders.amount END)) / nullif(toFloat64(sum(sumOrNull(orders.amount)) OVER ()), 0) AS part
FROM orders
GROUP BY orders.customer_id
-- where_of_median --
SELECT quantileExactInclusiveOrNull(CASE WHEN orders.amount > 10 THEN orders.cost END) AS median_cost
FROM orders
-- whole_day_begin --
SELECT orders.id AS id
FROM orders
WHERE orders.sold_at >= '2024-01-31 00:00:00' AND orders.sold_at < '2024-09-15 00:00:00'
ORDER BY orders.id
-- whole_day_between --
SELECT orders.id AS id
FROM orders
WHERE orders.sold_at >= '2024-01-01 00:00:00' AND orders.sold_at < '2024-02-01 00:00:00'
ORDER BY orders.id
-- whole_day_eq --
SELECT orders.id AS id
FROM orders
WHERE orders.sold_at >= '2024-01-31 00:00:00' AND orders.sold_at < '2024-02-01 00:00:00'
ORDER BY orders.id
-- whole_day_having --
SELECT orders.status AS status, maxOrNull(orders.sold_at) AS `last`
FROM orders
GROUP BY orders.status
HAVING maxOrNull(orders.sold_at) < '2024-02-01 00:00:00'
ORDER BY orders.status
-- whole_day_in --
SELECT orders.id AS id
FROM orders
WHERE (orders.sold_at >= '2024-01-31 00:00:00' AND orders.sold_at < '2024-02-01 00:00:00' OR orders.sold_at = '2024-02-29 12:30:00' OR orders.sold_at >= '2024-09-15 00:00:00' AND orders.sold_at < '2024-09-16 00:00:00')
ORDER BY orders.id
-- whole_day_ne --
SELECT orders.id AS id
FROM orders
WHERE (orders.sold_at < '2024-01-31 00:00:00' OR orders.sold_at >= '2024-02-01 00:00:00')
ORDER BY orders.id
-- whole_day_not --
SELECT orders.id AS id
FROM orders
WHERE NOT (orders.sold_at >= '2024-01-31 00:00:00' AND orders.sold_at < '2024-02-01 00:00:00')
ORDER BY orders.id
-- whole_day_not_between --
SELECT orders.id AS id
FROM orders
WHERE (orders.sold_at < '2024-01-01 00:00:00' OR orders.sold_at >= '2024-02-01 00:00:00')
ORDER BY orders.id
-- whole_day_not_in --
SELECT orders.id AS id
FROM orders
WHERE (orders.sold_at < '2024-01-31 00:00:00' OR orders.sold_at >= '2024-02-01 00:00:00') AND (orders.sold_at < '2024-09-15 00:00:00' OR orders.sold_at >= '2024-09-16 00:00:00')
ORDER BY orders.id
-- whole_day_order --
SELECT orders.id AS id
FROM orders
WHERE (orders.sold_at < '2024-02-01 00:00:00' OR orders.sold_at >= '2024-03-01 00:00:00')
ORDER BY orders.id
-- whole_day_other --
SELECT orders.id AS id
FROM orders
WHERE toDate(orders.sold_at) <= orders.paid_at
ORDER BY orders.id
-- whole_day_truncated --
SELECT orders.id AS id
FROM orders
WHERE toStartOfMonth(orders.sold_at) = '2024-01-01'
ORDER BY orders.id
