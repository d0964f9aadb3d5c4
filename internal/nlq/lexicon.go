package nlq

import "strings"

// The lexicon is general English: it knows no table, column or value of any data.

// synonyms are groups of words that name the same thing in tables.
var synonyms = indexWords(`
name title label
phone telephone mobile cell
salary wage pay income earning earn compensation
price cost fee charge expense rate
revenue sale turnover
city town
country nation
state province
zip postal postcode zipcode
company firm business corporation enterprise
employee staff worker personnel
customer client buyer shopper
teacher instructor professor lecturer
student pupil
author writer
film movie
picture photo image
type kind category form
location place site venue
weight weigh heavy
length long
area size
population people person inhabitant resident populous populated
description detail summary explanation
gender sex
email mail
score rating grade mark
rating star
rank ranking position
duration runtime
maker manufacturer producer
leader head chief president
car vehicle automobile
quantity amount
date day when
year when
identifier id
code abbreviation
supplier vendor
product item article
boss manager supervisor
dept department
dest destination
src source
org organisation organization
qty quantity
addr address
desc description
num number no
yr year
lang language
gov government govt
emp employee
cust customer
prod product
acct account
mgr manager
nr number
cnt count
amt amount
pct percent percentage
nationality citizenship
remark comment note
birthday birthdate
hometown birthplace
spouse husband wife partner
street road
founded established found establish creation formed independence independent
opened open opening launch
begin start commence
end finish close
departure depart source origin leave
arrival arrive destination land
enrol enroll enrolment enrollment register registration sign
purchase buy bought
order purchase
visit attend
result outcome
lastname surname
firstname forename
role job position occupation profession
shop store
airplane plane aircraft
doctor physician
hospital clinic
bill invoice
goods product
worth value
bike bicycle
flat apartment
complaint claim
stock inventory
rep representative
booking reservation
tenant renter
money amount
`)

func indexWords(text string) map[string]map[string]bool {
	m := map[string]map[string]bool{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		for _, a := range words {
			for _, b := range words {
				if a != b {
					if m[a] == nil {
						m[a] = map[string]bool{}
					}
					m[a][b] = true
				}
			}
		}
	}
	return m
}

func wordSet(text string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(text) {
		m[w] = true
	}
	return m
}

// fillers carry no meaning of their own in a question to a table.
var fillers = wordSet(`a an the of to is are was were be been being do does did have has had having there their theirs it its they them these those
	this that which who whom whose what where when how for in on at by with from into onto and or as i we you our us me my he she his her him
	please can could would will shall should may might must let find show list give return get tell display provide select retrieve fetch
	compute calculate report print output all any some every each both also only just so then than but while during about
	along together corresponding correspond corresponds corresponding respectively given following currently current recorded record
	exist exists existing listed list stored different distinct unique various possible many much number numbers count counts information
	info data value values result results answer question whether if such same one ones other others own owns owned use uses used using
	contain contains containing include includes including belong belongs belonging involve involved associate associated related come comes
	go goes went gone get gets got take takes took make makes made up out off over under s ever yet still already now here not no none never
	without between more less most least else really actually kind sort want like need know see say look order sorted within among amongst
	across throughout total totals overall entire whole set per thing things someone somebody anyone people person everyone
	first last top bottom high low highest lowest`)

// numberWords are small numbers as words.
var numberWords = map[string]float64{
	"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
	"nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fifteen": 15, "twenty": 20, "thirty": 30, "fifty": 50, "hundred": 100,
	"thousand": 1000, "million": 1e6, "single": 1, "once": 1, "twice": 2,
}

// weakNames are parts of a column's name that people leave out.
var weakNames = wordSet(`amount name id code no num number of the in is has was total million millions thousand percent pct usd eur date description text value data details detail key type status yn flag`)

// weakTables are parts of a table's name that people leave out.
var weakTables = wordSet(`data list info information detail details table tbl record records ref reference dim fact master main all available other history log`)

// demonyms lead from an adjective or another name to the place as data spell it.
var demonyms = indexPairs(`european=europe asian=asia african=africa american=america,usa,united states,us british=uk,united kingdom,britain
	english=england french=france german=germany italian=italy spanish=spain dutch=netherlands belgian=belgium swiss=switzerland
	austrian=austria polish=poland russian=russia japanese=japan chinese=china korean=korea indian=india brazilian=brazil mexican=mexico
	canadian=canada australian=australia swedish=sweden norwegian=norway danish=denmark finnish=finland greek=greece turkish=turkey
	irish=ireland scottish=scotland welsh=wales portuguese=portugal czech=czech republic hungarian=hungary romanian=romania bulgarian=bulgaria
	ukrainian=ukraine egyptian=egypt nigerian=nigeria kenyan=kenya israeli=israel iranian=iran iraqi=iraq thai=thailand vietnamese=vietnam
	indonesian=indonesia malaysian=malaysia filipino=philippines argentinian=argentina argentine=argentina chilean=chile peruvian=peru
	colombian=colombia cuban=cuba icelandic=iceland croatian=croatia serbian=serbia slovak=slovakia
	us=usa,united states,america usa=united states,us,america states=usa uk=united kingdom,great britain britain=uk,united kingdom
	holland=netherlands`)

func indexPairs(text string) map[string][]string {
	m := map[string][]string{}
	key := ""
	for _, w := range strings.Fields(text) {
		if k, v, ok := strings.Cut(w, "="); ok {
			key = k
			m[key] = strings.Split(v, ",")
			continue
		}
		last := &m[key][len(m[key])-1]
		parts := strings.Split(w, ",")
		*last += " " + parts[0]
		m[key] = append(m[key], parts[1:]...)
	}
	return m
}
