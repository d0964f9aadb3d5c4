package chart

// A Picture is a drawn chart: shapes in the order in which they are painted, in units
// of which 96 are an inch.
type Picture struct {
	Width, Height float64
	Title         string // what it shows, for those who cannot see it
	Shapes        []Shape
}

// A Color is red, green and blue.
type Color struct{ R, G, B uint8 }

// A Shape is one of StraightLine, Polyline, Polygon, Circle and Label.
type Shape interface{ shape() }

// A Spot is a place in a picture, from its upper left corner.
type Spot struct{ X, Y float64 }

type (
	// A StraightLine joins two spots.
	StraightLine struct {
		From, To Spot
		Width    float64
		Color    Color
	}
	// A Polyline joins spots.
	Polyline struct {
		Spots []Spot
		Width float64
		Color Color
	}
	// A Polygon is a filled area. Note is what a person reads who points at it.
	Polygon struct {
		Spots   []Spot
		Fill    Color
		Opacity float64
		Note    string
	}
	// A Circle is a filled dot.
	Circle struct {
		Center  Spot
		Radius  float64
		Fill    Color
		Opacity float64
		Note    string
	}
	// A Label is a line of text on its baseline.
	Label struct {
		At     Spot
		Text   string
		Size   float64
		Bold   bool
		Color  Color
		Anchor Anchor
		Turned float64 // in degrees around At, clockwise
	}
)

// Anchor is the part of a text that stands at its spot.
type Anchor int

// The anchors.
const (
	Start Anchor = iota
	Middle
	End
)

func (StraightLine) shape() {}
func (Polyline) shape()     {}
func (Polygon) shape()      {}
func (Circle) shape()       {}
func (Label) shape()        {}

// The colours: a palette that people with colour blindness can tell apart too.
var (
	ink     = Color{0x22, 0x2b, 0x36}
	faded   = Color{0x5b, 0x66, 0x73}
	grid    = Color{0xe3, 0xe7, 0xec}
	axis    = Color{0x8a, 0x94, 0xa0}
	paper   = Color{0xff, 0xff, 0xff}
	palette = []Color{
		{0x2f, 0x6f, 0xb5},
		{0xe6, 0x8a, 0x17},
		{0x2a, 0x9d, 0x75},
		{0xc8, 0x4b, 0x4b},
		{0x7b, 0x5a, 0xa6},
		{0x6d, 0xb3, 0xe0},
		{0x8c, 0x6d, 0x46},
		{0xd9, 0x7b, 0xb0},
		{0x6b, 0x74, 0x80},
		{0xb5, 0xa4, 0x2a},
	}
)

func (p *Picture) add(shapes ...Shape) { p.Shapes = append(p.Shapes, shapes...) }

func (p *Picture) rect(x, y, w, h float64, fill Color, note string) {
	p.add(Polygon{Spots: []Spot{{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}}, Fill: fill, Opacity: 1, Note: note})
}

func (p *Picture) text(x, y float64, text string, size float64, color Color, anchor Anchor) {
	p.add(Label{At: Spot{x, y}, Text: text, Size: size, Color: color, Anchor: anchor})
}
