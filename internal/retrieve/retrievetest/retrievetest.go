// Package retrievetest makes tables for tests and benchmarks of the search.
package retrievetest

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"interlock/internal/retrieve"
	"interlock/internal/schema"
)

var (
	areas    = strings.Fields("crm erp hr finance logistics marketing procurement compliance telemetry warehouse billing risk treasury facilities fleet payroll catalogue lab clinic claims energy mining retail telecom hotel port customs forestry brewery broadcasting")
	subjects = strings.Fields("customer order invoice shipment employee contract campaign supplier payment account asset sensor meter vehicle route claim policy patient sample batch recipe tariff subscription ticket device job permit inspection valve turbine pallet container voucher budget forecast project task timesheet machine alarm reading lease tenant booking refund price discount stock transfer audit incident training certificate licence substation barrel vessel crew berth parcel antenna programme")
	facets   = strings.Fields("header line history status detail log snapshot summary mapping archive staging daily monthly change approval attachment note target link group type code queue rule event")
	fields   = strings.Fields("created_at updated_at created_by amount currency quantity unit status kind code description valid_from valid_to region priority owner source_system batch_number reference comment score rank weight volume temperature pressure latitude longitude email phone street postcode country version checksum is_active is_deleted start_date end_date due_date rate tax_rate cost margin duration attempts")
)

// Tables makes n tables as large companies have them, the same for the same seed: no two have one name.
func Tables(n int, seed uint64) []retrieve.TableText {
	random := rand.New(rand.NewPCG(seed, 7))
	pick := func(list []string) string { return list[random.IntN(len(list))] }
	seen := map[string]bool{}
	var out []retrieve.TableText
	for len(out) < n {
		area, subject, facet := pick(areas), pick(subjects), pick(facets)
		name := fmt.Sprintf("%s.%s_%s", area, subject, facet)
		if seen[name] {
			continue
		}
		seen[name] = true
		t := retrieve.TableText{Name: name, Description: fmt.Sprintf("The %s of each %s in %s.", facet, subject, area)}
		t.Columns = append(t.Columns, schema.Column{Name: subject + "_id", Type: schema.Type{Kind: schema.Int}})
		for range 4 + random.IntN(10) {
			field := pick(fields)
			if _, twice := schema.FindColumn(t.Columns, field); !twice {
				t.Columns = append(t.Columns, schema.Column{Name: field, Type: schema.Type{Kind: schema.Text}})
			}
		}
		out = append(out, t)
	}
	return out
}
