package demo

import (
	"slices"
	"sort"
	"time"
)

// A sale is an order that was delivered and has sound dates, as returns need it.
type sale struct {
	order   int
	shipped date
	off     int // discount in hundredths of a percent
	lines   []line
}

type line struct {
	good     soldProduct
	quantity int
	price    money
	gone     bool // the product is not in the list any more
}

// The months' share of the year's sales.
var seasons = [12]int{80, 76, 88, 96, 104, 92, 84, 80, 94, 104, 138, 146}

// shopDays weighs every day of the two years: growth, season, weekday, and the five
// days on which the shop was down.
func shopDays() *weightedChoice[date] {
	days := &weightedChoice[date]{}
	down := dateOf(2025, 5, 14)
	for day := firstDay; day <= lastDay; day++ {
		t := day.time()
		weight := seasons[t.Month()-1] * (1000 + int(day-firstDay))
		switch t.Weekday() {
		case time.Sunday:
			weight = weight * 13 / 10
		case time.Friday:
			weight = weight * 9 / 10
		}
		if day < down || day >= down+5 {
			days.add(weight, day)
		}
	}
	return days
}

func (s *shop) makeOrders() {
	s.orders = &table{
		name: "orders", file: "orders.csv", format: "csv",
		about: "One row an order. amount is what the goods cost, total what the customer paid.",
		columns: []column{
			{"order_id", "BIGINT", "Key, rising with order_date."},
			{"customer_id", "BIGINT", "Who ordered. A few are not in customers."},
			{"order_date", "DATE", "Day on which the order was placed. Revenue counts by this day."},
			{"ship_date", "DATE", "Day on which the parcel left; NULL if it did not (yet). A few lie before order_date or in 2052."},
			{"status", "VARCHAR", "pending, shipped, delivered or cancelled; spelling of case varies. Cancelled orders keep their amounts."},
			{"channel", "VARCHAR", "web, app or phone; spelling of case varies."},
			{"payment_method", "VARCHAR", "card, invoice, wallet or transfer."},
			{"coupon", "VARCHAR", "Code of the coupon used; NULL = none."},
			{"amount", moneyKind, "Goods before discount and shipping: the sum of order_items.line_amount."},
			{"discount", moneyKind, "What the coupon took off."},
			{"shipping", moneyKind, "Charge for shipping; free from 75.00 of goods on."},
			{"total", moneyKind, "amount - discount + shipping: what was paid. Negative for corrections."},
		},
	}
	s.items = &table{
		name: "order_items", file: "order_items.parquet", format: "parquet",
		about: "The lines of the orders: one row a product.",
		columns: []column{
			{"order_id", "BIGINT", "The order."},
			{"line_no", "BIGINT", "Number of the line within its order; order_id and line_no are the key."},
			{"product_id", "BIGINT", "What was ordered. A few are not in products any more."},
			{"quantity", "BIGINT", "Pieces. A few are 0."},
			{"unit_price", moneyKind, "Price of a piece on the day of the order, before any coupon."},
			{"line_amount", moneyKind, "quantity times unit_price."},
		},
	}
	d := s.draw("orders")
	days := shopDays()
	placed := make([]date, s.options.scaledRows(18000))
	for i := range placed {
		placed[i] = days.pick(d)
	}
	slices.Sort(placed)
	for i, day := range placed {
		s.makeOrder(d, 500001+i, day)
	}
}

func (s *shop) makeOrder(d random, id int, day date) {
	who := s.buyerOn(d, day)
	customer := who.id
	if d.perMille(1) {
		customer = 99000 + d.IntN(900)
		s.count.orphans++
	}
	channel := channelOn(d, day)
	method := pick(d, []string{"card", "card", "card", "wallet", "wallet", "invoice", "transfer"})
	if channel == "phone" && d.perMille(20) {
		correction := -d.amountBetween(5, 60)
		s.count.negative++
		s.orders.add(id, customer, day, nil, "delivered", channel, "transfer", nil, correction, money(0), money(0), correction)
		return
	}
	lines := s.basket(d, day, who.business)
	var amount money
	for i, l := range lines {
		product := l.good.id
		if d.perMille(1) {
			product = 900 + d.IntN(9)
			lines[i].gone = true
			s.count.gone++
		}
		s.items.add(id, i+1, product, l.quantity, l.price, l.price*money(l.quantity))
		amount += l.price * money(l.quantity)
	}
	if d.perMille(2) {
		amount += money(pick(d, []int{-1000, -500, 500, 250}))
		s.count.corrected++
	}
	coupon, off := couponOn(d, day)
	discount := amount.share(off)
	shipping := money(490)
	if amount >= 7500 {
		shipping = 0
	}
	status, ship := s.orderStatus(d, day, channel == "phone")
	switch {
	case ship == nil:
	case d.perMille(2):
		ship = day - date(d.intBetween(1, 4))
		s.count.early++
	case d.perMille(1) && d.perMille(400):
		ship = dateOf(2052, ship.(date).time().Month(), ship.(date).time().Day())
		s.count.farFuture++
	case status == "delivered":
		s.sold = append(s.sold, sale{id, ship.(date), off, lines})
	}
	if d.perMille(30) {
		status = changeCase(d, status)
		s.count.spelling++
	} else if d.perMille(25) {
		channel = changeCase(d, channel)
		s.count.spelling++
	}
	s.orders.add(id, customer, day, ship, status, channel, method, coupon, amount, discount, shipping, amount-discount+shipping)
}

// buyerOn picks somebody who had an account on that day. Every seventh customer is a
// regular; old ones come back less.
func (s *shop) buyerOn(d random, day date) buyer {
	n := max(1, sort.Search(len(s.buyers), func(i int) bool { return s.buyers[i].since > day }))
	at := max(d.IntN(n), d.IntN(n))
	if d.perMille(450) {
		at -= at % 7
	}
	return s.buyers[at]
}

func channelOn(d random, day date) string {
	app := 150 + int(day-firstDay)*250/730
	switch n := d.IntN(1000); {
	case n < app:
		return "app"
	case n < app+70:
		return "phone"
	}
	return "web"
}

func (s *shop) basket(d random, day date, business bool) []line {
	month := day.time().Month()
	cold := month >= time.October || month <= time.February
	lines := make([]line, 1+basketSize.pick(d))
	for i := range lines {
		g := pick(d, s.goods)
		for range 2 {
			if name := assortments[g.category]; name.name == "Heating" && !cold || name.parent == "Garden" && cold {
				g = pick(d, s.goods)
			}
		}
		price := g.price
		if day < dateOf(2025, 1, 1) {
			price = g.price.share(9520)
		}
		quantity := 1 + pieces.pick(d)
		if business {
			quantity += d.IntN(5)
		}
		if d.perMille(1) {
			quantity = 0
			s.count.zero++
		}
		lines[i] = line{good: g, quantity: quantity, price: price}
	}
	return lines
}

var (
	basketSize = weightedNumbers(45, 28, 15, 8, 4)
	pieces     = weightedNumbers(70, 18, 6, 4, 1, 1)
)

// couponOn returns the code and what it takes off, in hundredths of a percent.
func couponOn(d random, day date) (any, int) {
	t := day.time()
	switch {
	case d.perMille(70):
		return "WELCOME10", 1000
	case t.Year() == 2024 && (t.Month() == time.March || t.Month() == time.April) && d.perMille(250):
		return "SPRING24", 1500
	case t.Month() == time.November && t.Day() >= 20 && d.perMille(600):
		return "BLACK" + t.Format("06"), 2000
	}
	return nil, 0
}

// orderStatus returns the status of an order on the day of the export, and when it was shipped.
func (s *shop) orderStatus(d random, day date, slow bool) (string, any) {
	ship := day + date(d.intBetween(0, 4))
	if slow {
		ship += date(d.intBetween(1, 3))
	}
	switch {
	case d.perMille(42):
		return "cancelled", nil
	case ship > lastDay-1:
		return "pending", nil
	case ship > lastDay-6:
		return "shipped", ship
	}
	return "delivered", ship
}
