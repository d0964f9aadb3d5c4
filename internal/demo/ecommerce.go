package demo

import "fmt"

// ecommerce is the shop: Fernhill sells things for home and garden.
func ecommerce(o Options) dataset {
	s := &shop{options: o}
	s.makeCategories()
	s.makeProducts()
	s.makeCustomers()
	s.makeOrders()
	s.makeReturns()
	return dataset{
		id:    "ecommerce",
		name:  "Fernhill web shop",
		about: "Customers, products, orders and returns of an online shop for home and garden, 2024 and 2025, in euro.",
		story: "Fernhill sells things for home and garden in seven countries. The tables were exported on 2025-12-31 and cover all orders of 2024 and 2025. " +
			"Sales grow, peak before Christmas, and stop for five days in May 2025, when the shop was down. Prices rose by about 5 % on 2025-01-01.",
		prompts: []string{
			"How much was refunded per month in 2025?",
			"Which 5 customers placed the most orders?",
			"What is the average order total by payment method?",
			"What is the return rate by category?",
			"Which customers ordered in 2024 but not in 2025?",
			"How long does it take from order to shipment, by country?",
		},
		tables: []*table{s.categories, s.products, s.customers, s.orders, s.items, s.returns},
		relations: []relation{
			{"categories.parent_id", "categories.category_id"},
			{"products.category_id", "categories.category_id"},
			{"orders.customer_id", "customers.customer_id"},
			{"order_items.order_id", "orders.order_id"},
			{"order_items.product_id", "products.product_id"},
			{"returns.order_id", "orders.order_id"},
			{"returns.product_id", "products.product_id"},
		},
		glossary: map[string]string{
			"active customer": "A customer with at least one order that was not cancelled in the last 12 months before the day in question.",
			"gross revenue":   "Sum of orders.total over orders that were not cancelled, by order_date.",
			"net revenue":     "Gross revenue less returns.refund_amount of the same period, by return_date.",
			"order value":     "orders.total of one order: what the customer paid.",
			"return rate":     "Items returned divided by items sold, both by quantity, over orders that were not cancelled.",
			"late return":     "A return more than 30 days after orders.ship_date.",
			"margin":          "Unit price less products.cost, times quantity; cost is today's, not that of the day of the order.",
			"repeat customer": "A customer with two or more orders that were not cancelled.",
			"sales":           "Ambiguous: pieces (order_items.quantity) or money (orders.total). Ask which is meant.",
		},
		meaning: ecommerceMeaning,
		flaws:   s.flaws(),
	}
}

// A shop is the dataset while it is made, with what later tables need of earlier ones.
type shop struct {
	options    Options
	categories *table
	products   *table
	customers  *table
	orders     *table
	items      *table
	returns    *table

	goods  []soldProduct
	buyers []buyer // by day of sign-up
	sold   []sale

	count struct {
		twins, countrySpelling, noPhone, oddBirth                int // customers
		noWeight, statusSpelling                                 int // products
		orphans, early, farFuture, corrected, negative, spelling int // orders
		gone, zero                                               int // items
		late, pending, tooMuch, strange                          int // returns
	}
}

func (s *shop) draw(topic string) random { return newRandom(s.options.Seed, "ecommerce/"+topic) }

func (s *shop) flaws() []flaw {
	c := s.count
	return []flaw{
		{c.twins, "customers who are in the list twice: another customer_id, the same mail address in other case, the name spelt differently"},
		{c.countrySpelling, "customers whose country is in capitals or a code (GERMANY, DE) instead of the name"},
		{c.noPhone, "customers without phone number"},
		{c.oddBirth, "customers born in 1900, the default of the form"},
		{c.noWeight, "products without weight"},
		{c.statusSpelling, "products whose status is spelt with capitals"},
		{c.orphans, "orders of customers who are not in the list"},
		{c.early, "orders shipped before they were ordered"},
		{c.farFuture, "orders with a ship_date in 2052, a typing error"},
		{c.corrected, "orders whose amount is not the sum of their items, corrected by hand"},
		{c.negative, "orders with a negative total: corrections booked as orders, without items"},
		{c.spelling, "orders whose status or channel is spelt with capitals"},
		{c.gone, "order items of products that are not in the list any more"},
		{c.zero, "order items with quantity 0"},
		{c.late, "returns later than the 30 days of the policy"},
		{c.pending, "returns without refund_amount, not yet refunded"},
		{c.tooMuch, "returns refunded at ten times the right amount, a slipped decimal point"},
		{c.strange, "returns of orders that are not in the list"},
		{1, "files with another delimiter than the comma (returns.csv: semicolon, with commas and quoted semicolons in the reason)"},
	}
}

// A soldProduct is what orders need of a product.
type soldProduct struct {
	id, category int
	price        money
}

// A range of goods is a leaf of the tree of categories.
type assortment struct {
	name, parent string
	things       []string
	from, to     int // price
	returned     int // of a thousand
}

var assortments = []assortment{
	{"Chairs", "Furniture", []string{"Armchair", "Dining Chair", "Rocking Chair", "Bar Stool"}, 59, 349, 120},
	{"Tables", "Furniture", []string{"Coffee Table", "Dining Table", "Side Table", "Desk"}, 79, 599, 110},
	{"Shelves", "Furniture", []string{"Bookcase", "Wall Shelf", "Shoe Rack", "Cabinet"}, 29, 399, 80},
	{"Bedding", "Textiles", []string{"Duvet Cover", "Pillow", "Blanket", "Mattress Topper"}, 19, 149, 95},
	{"Curtains", "Textiles", []string{"Curtain", "Roller Blind", "Curtain Rail"}, 15, 89, 130},
	{"Rugs", "Textiles", []string{"Wool Rug", "Runner", "Doormat"}, 12, 289, 105},
	{"Cookware", "Kitchen", []string{"Frying Pan", "Casserole", "Saucepan", "Baking Tray"}, 14, 159, 40},
	{"Tableware", "Kitchen", []string{"Dinner Plate", "Bowl Set", "Mug", "Cutlery Set"}, 6, 99, 45},
	{"Appliances", "Kitchen", []string{"Kettle", "Toaster", "Coffee Grinder", "Hand Blender"}, 25, 199, 70},
	{"Lighting", "Living", []string{"Floor Lamp", "Pendant Lamp", "Desk Lamp", "String Lights"}, 12, 219, 60},
	{"Decoration", "Living", []string{"Vase", "Mirror", "Candle Set", "Picture Frame"}, 5, 129, 35},
	{"Heating", "Living", []string{"Oil Radiator", "Fan Heater", "Electric Blanket"}, 35, 249, 65},
	{"Garden Tools", "Garden", []string{"Spade", "Pruning Shears", "Rake", "Watering Can"}, 8, 79, 30},
	{"Plants", "Garden", []string{"Lavender", "Olive Tree", "Herb Set", "Fern"}, 4, 69, 20},
	{"Outdoor", "Garden", []string{"Deck Chair", "Parasol", "Fire Bowl", "Hammock"}, 29, 329, 85},
}

func (s *shop) makeCategories() {
	s.categories = &table{
		name: "categories", file: "categories.csv", format: "csv",
		about: "The tree of categories: five departments, each with three categories.",
		columns: []column{
			{"category_id", "BIGINT", "Key. Departments are 1 to 5, categories from 11."},
			{"name", "VARCHAR", "Name of the department or category."},
			{"parent_id", "BIGINT", "The department that a category belongs to; NULL for a department."},
		},
	}
	departments := map[string]int{}
	for _, a := range assortments {
		if departments[a.parent] == 0 {
			departments[a.parent] = len(departments) + 1
			s.categories.add(departments[a.parent], a.parent, nil)
		}
	}
	for i, a := range assortments {
		s.categories.add(firstCategory+i, a.name, departments[a.parent])
	}
}

const firstCategory = 11

func (s *shop) makeProducts() {
	s.products = &table{
		name: "products", file: "products.csv", format: "csv",
		about: "What the shop sells or sold, with today's price.",
		columns: []column{
			{"product_id", "BIGINT", "Key."},
			{"sku", "VARCHAR", "Article number as printed on the box."},
			{"name", "VARCHAR", "Name in the shop. Not unique."},
			{"category_id", "BIGINT", "Category, never a department."},
			{"brand", "VARCHAR", "Brand."},
			{"price", moneyKind, "List price today, with tax. The price at the time of an order is order_items.unit_price."},
			{"cost", moneyKind, "What Fernhill pays for a piece today, without tax."},
			{"weight_g", "BIGINT", "Weight in grams; NULL where nobody weighed it."},
			{"status", "VARCHAR", "active or discontinued; spelling of case varies."},
			{"added_on", "DATE", "Day on which the product came into the shop."},
		},
	}
	d := s.draw("products")
	styles := []string{"Oak", "Linen", "Slate", "Birch", "Copper", "Ivory", "Nordic", "Rustic", "Classic", "Compact", "Large", "Folding"}
	brands := []string{"Fernhill", "Fernhill", "Aldermoor", "Casa Brisa", "Hygge & Co", "Tilling", "Brockmann"}
	for i := range s.options.scaledRows(240) {
		c := i % len(assortments)
		a := assortments[c]
		price := d.amountBetween(a.from, a.to)
		weight := any(d.intBetween(1, 180) * 100)
		if d.perMille(60) {
			weight = nil
			s.count.noWeight++
		}
		status := "active"
		if d.perMille(90) {
			status = "discontinued"
		}
		if d.perMille(25) {
			status = changeCase(d, status)
			s.count.statusSpelling++
		}
		id := 1001 + i
		s.products.add(id, fmt.Sprintf("FH-%02d-%04d", firstCategory+c, id), pick(d, styles)+" "+pick(d, a.things), firstCategory+c, pick(d, brands),
			price, price.share(d.intBetween(3800, 6200)), weight, status, dateOf(2021, 3, 1)+date(d.IntN(1000)))
		s.goods = append(s.goods, soldProduct{id, c, price})
	}
}
