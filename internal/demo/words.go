package demo

import "strings"

// A cityNames is a city with names that are usual there.
type cityNames struct {
	city, country string
	people        *naming
}

type naming struct{ first, last []string }

var (
	english = &naming{
		first: []string{"Alice", "Oliver", "Grace", "Henry", "Ruby", "Jack", "Evelyn", "Thomas", "Isla", "George", "Maya", "Samuel", "Nora", "Daniel", "Chloe", "Liam"},
		last:  []string{"Bennett", "Carter", "Doyle", "Fletcher", "Hughes", "Lawson", "Marsh", "O'Brien", "Palmer", "Quinn", "Reid", "Sutton", "Turner", "Whitfield", "Yates", "Barlow"},
	}
	german = &naming{
		first: []string{"Anna", "Lukas", "Jürgen", "Sabine", "Björn", "Käthe", "Felix", "Marlene", "Jonas", "Ute", "Günter", "Lena", "Stefan", "Heike", "Matthias", "Frieda"},
		last:  []string{"Müller", "Schäfer", "Weiß", "Krüger", "Lindner", "Köhler", "Brandt", "Vogt", "Jäger", "Hofmann", "Böttcher", "Seidel", "Schröder", "Engel", "Kühn", "Ziegler"},
	}
	french = &naming{
		first: []string{"Camille", "Hugo", "Élodie", "Mathieu", "Léa", "Antoine", "Zoé", "Julien", "Margaux", "René", "Chloé", "Benoît", "Inès", "Thibault", "Manon", "Gaël"},
		last:  []string{"Lefèvre", "Moreau", "Girard", "Béranger", "Fournier", "Delacroix", "Perrin", "Chevalier", "Rousseau", "Marchand", "Aubry", "Noël", "Gauthier", "Renaud", "Barbier", "Collet"},
	}
	spanish = &naming{
		first: []string{"Lucía", "Javier", "Carmen", "Álvaro", "Inés", "Pablo", "Sofía", "Íñigo", "Marta", "Diego", "Núria", "Andrés", "Elena", "Rubén", "Paula", "Óscar"},
		last:  []string{"García", "Fernández", "Núñez", "Ortega", "Ibáñez", "Castro", "Peña", "Molina", "Vázquez", "Serrano", "Muñoz", "Delgado", "Campos", "Rivas", "Gómez", "Herrero"},
	}
	nordic = &naming{
		first: []string{"Astrid", "Søren", "Ingrid", "Lars", "Freja", "Mikkel", "Signe", "Anders", "Maja", "Bjørn", "Karin", "Nils", "Åsa", "Emil", "Sanna", "Oskar"},
		last:  []string{"Hansen", "Lindqvist", "Jørgensen", "Berg", "Åkesson", "Dahl", "Sørensen", "Nyström", "Holm", "Lund", "Kjær", "Ekström", "Møller", "Vik", "Strand", "Öberg"},
	}
)

var places = []cityNames{
	{"Berlin", "Germany", german},
	{"Hamburg", "Germany", german},
	{"München", "Germany", german},
	{"Köln", "Germany", german},
	{"Leipzig", "Germany", german},
	{"Paris", "France", french},
	{"Lyon", "France", french},
	{"Nantes", "France", french},
	{"Madrid", "Spain", spanish},
	{"Málaga", "Spain", spanish},
	{"Bilbao", "Spain", spanish},
	{"London", "United Kingdom", english},
	{"Leeds", "United Kingdom", english},
	{"Bristol", "United Kingdom", english},
	{"Dublin", "Ireland", english},
	{"Cork", "Ireland", english},
	{"København", "Denmark", nordic},
	{"Aarhus", "Denmark", nordic},
	{"Stockholm", "Sweden", nordic},
	{"Malmö", "Sweden", nordic},
}

// plain is a text without accents, as machines of other countries print it.
var plain = strings.NewReplacer(
	"ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss", "Ä", "Ae", "Ö", "Oe", "Ü", "Ue",
	"é", "e", "è", "e", "ê", "e", "ë", "e", "É", "E", "î", "i", "ï", "i", "à", "a", "ç", "c",
	"á", "a", "í", "i", "ó", "o", "ú", "u", "ñ", "n", "Á", "A", "Í", "I", "Ó", "O",
	"ø", "o", "Ø", "O", "å", "aa", "Å", "Aa", "æ", "ae", "Æ", "Ae",
)

// mailName is a person's name as the front of a mail address.
func mailName(name string) string {
	name = strings.ToLower(plain.Replace(name))
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '.'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '-':
			return r
		}
		return -1
	}, name)
}

// A firm's name is a surname or a thing, a trade and a legal form.
var (
	firmThings = []string{"Alder", "Beacon", "Copper", "Delta", "Ember", "Falcon", "Granite", "Harbour", "Indigo", "Juniper", "Kestrel", "Lantern", "Meridian", "Northgate", "Orchard", "Pioneer", "Quarry", "Redwood", "Summit", "Tamarind", "Umbra", "Viaduct", "Willow", "Zephyr"}
	firmTrades = []string{"Logistics", "Foods", "Textiles", "Hardware", "Medical", "Stationery", "Bikes", "Interiors", "Packaging", "Electronics", "Cosmetics", "Garden", "Tools", "Books", "Toys", "Beverages"}
	firmForms  = map[string][]string{
		"Germany": {"GmbH", "AG", "GmbH & Co. KG"}, "France": {"SARL", "SAS"}, "Spain": {"S.L.", "S.A."},
		"United Kingdom": {"Ltd", "LLP"}, "Ireland": {"Ltd"}, "Denmark": {"ApS", "A/S"}, "Sweden": {"AB"},
	}
)

func firmName(d random, p cityNames) string {
	form := pick(d, firmForms[p.country])
	switch d.IntN(3) {
	case 0:
		return pick(d, p.people.last) + " & " + pick(d, []string{"Partners", "Sons", "Co", "Daughters"}) + " " + form
	case 1:
		return pick(d, p.people.last) + " " + pick(d, firmTrades) + " " + form
	}
	return pick(d, firmThings) + " " + pick(d, firmTrades) + " " + form
}

// changeCase changes the case of a word as careless typing does.
func changeCase(d random, word string) string {
	if d.perMille(500) {
		return strings.ToUpper(word)
	}
	return strings.ToUpper(word[:1]) + word[1:]
}
