package query

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
)

// A workbook is an Excel file that is open for reading.
type workbook struct {
	zip     *zip.ReadCloser
	sheets  []bookSheet
	formats []cellFormat // by the style of a cell
	shared  []string     // texts that cells name by number
	from04  bool         // days are counted from 1904
}

type bookSheet struct {
	name   string
	part   string // its file in the workbook
	hidden bool
}

// Bounds of a workbook: what is unpacked of a sheet, of the parts that describe the
// workbook, and of the texts that cells share; one such text; the sheets.
const (
	maxPart      = 4 << 30
	maxSmallPart = 64 << 20
	maxShared    = 512 << 20
	maxText      = 1 << 20 // Excel itself stops at 32,767 characters
	maxSheets    = 1_000
)

// maxColumns is what a sheet can have.
const maxColumns = 16_384

func openWorkbook(file string) (*workbook, error) {
	z, err := zip.OpenReader(file)
	if err != nil {
		return nil, errors.New("it is no workbook: it is not packed as one")
	}
	w := &workbook{zip: z}
	if err := errors.Join(w.readSheets(), w.readStyles(), w.readShared()); err != nil {
		z.Close()
		return nil, err
	}
	return w, nil
}

func (w *workbook) Close() error { return w.zip.Close() }

// part opens a part of the workbook; nil means that there is none.
func (w *workbook) part(name string) (io.ReadCloser, error) {
	for _, f := range w.zip.File {
		if strings.EqualFold(strings.TrimPrefix(f.Name, "/"), name) {
			r, err := f.Open()
			if err != nil {
				return nil, fmt.Errorf("opening %s in the workbook: %w", name, err)
			}
			return struct {
				io.Reader
				io.Closer
			}{io.LimitReader(r, maxPart), r}, nil
		}
	}
	return nil, nil
}

// decodePart reads a small part into a value.
func (w *workbook) decodePart(name string, to any) error {
	r, err := w.part(name)
	if err != nil || r == nil {
		return err
	}
	defer r.Close()
	if err := xml.NewDecoder(io.LimitReader(r, maxSmallPart)).Decode(to); err != nil {
		return fmt.Errorf("reading %s in the workbook: %w", name, err)
	}
	return nil
}

type xmlRelations struct {
	List []struct {
		ID     string `xml:"Id,attr"`
		Type   string `xml:"Type,attr"`
		Target string `xml:"Target,attr"`
	} `xml:"Relationship"`
}

func (w *workbook) readSheets() error {
	var root xmlRelations
	if err := w.decodePart("_rels/.rels", &root); err != nil {
		return err
	}
	main := "xl/workbook.xml"
	for _, r := range root.List {
		if strings.HasSuffix(r.Type, "/officeDocument") {
			main = strings.TrimPrefix(r.Target, "/")
		}
	}
	var book struct {
		Properties struct {
			From04 string `xml:"date1904,attr"`
		} `xml:"workbookPr"`
		Sheets []struct {
			Name  string `xml:"name,attr"`
			State string `xml:"state,attr"`
			ID    string `xml:"http://schemas.openxmlformats.org/officeDocument/2006/relationships id,attr"`
			Other string `xml:"http://purl.oclc.org/ooxml/officeDocument/relationships id,attr"`
		} `xml:"sheets>sheet"`
	}
	if err := w.decodePart(main, &book); err != nil {
		return err
	}
	var links xmlRelations
	if err := w.decodePart(path.Join(path.Dir(main), "_rels", path.Base(main)+".rels"), &links); err != nil {
		return err
	}
	w.from04 = book.Properties.From04 == "1" || strings.EqualFold(book.Properties.From04, "true")
	if len(book.Sheets) > maxSheets {
		return fmt.Errorf("the workbook has %d sheets; %d can be read", len(book.Sheets), maxSheets)
	}
	parts := map[string]string{} // of worksheets, by the id of their relationship
	for _, l := range links.List {
		if !strings.HasSuffix(l.Type, "/worksheet") {
			continue
		}
		parts[l.ID] = strings.TrimPrefix(l.Target, "/")
		if !strings.HasPrefix(l.Target, "/") {
			parts[l.ID] = path.Join(path.Dir(main), l.Target)
		}
	}
	used := map[string]bool{}
	for _, s := range book.Sheets {
		part := cmp.Or(parts[s.ID], parts[s.Other])
		if part == "" {
			continue // a chart
		}
		if used[part] {
			return fmt.Errorf("two sheets of the workbook are the same part %q", part)
		}
		used[part] = true
		w.sheets = append(w.sheets, bookSheet{name: s.Name, part: part, hidden: s.State != "" && s.State != "visible"})
	}
	if len(w.sheets) == 0 {
		return errors.New("the workbook has no sheets")
	}
	return nil
}

func (w *workbook) readStyles() error {
	var styles struct {
		Formats []struct {
			ID   int    `xml:"numFmtId,attr"`
			Code string `xml:"formatCode,attr"`
		} `xml:"numFmts>numFmt"`
		Cells []struct {
			Format int `xml:"numFmtId,attr"`
		} `xml:"cellXfs>xf"`
	}
	if err := w.decodePart("xl/styles.xml", &styles); err != nil {
		return err
	}
	own := map[int]cellFormat{}
	for _, f := range styles.Formats {
		own[f.ID] = parseFormat(f.Code)
	}
	for _, c := range styles.Cells {
		format, ok := own[c.Format]
		if !ok {
			format = builtinFormat(c.Format)
		}
		w.formats = append(w.formats, format)
	}
	return nil
}

// readShared reads the texts that cells share. Marks of pronunciation are no part of them.
func (w *workbook) readShared() error {
	r, err := w.part("xl/sharedStrings.xml")
	if err != nil || r == nil {
		return err
	}
	defer r.Close()
	d := xml.NewDecoder(newTextGuard(r))
	var text strings.Builder
	inText, phonetic := false, 0
	for {
		t, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the texts of the workbook: %w", err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "si":
				text.Reset()
			case "t":
				inText = phonetic == 0
			case "rPh":
				phonetic++
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "si":
				w.shared = append(w.shared, unescapeCell(text.String()))
			case "t":
				inText = false
			case "rPh":
				phonetic--
			}
		case xml.CharData:
			if inText {
				text.Write(t)
			}
		}
	}
}

// A textGuard ends the reading of shared texts that are too many, or of which one is too
// long: the XML reader would hold all of it in memory before anybody sees it.
type textGuard struct {
	from  io.Reader
	total int64
	run   int // bytes since the last mark of XML
}

func newTextGuard(r io.Reader) *textGuard { return &textGuard{from: r} }

func (g *textGuard) Read(p []byte) (int, error) {
	n, err := g.from.Read(p)
	g.total += int64(n)
	if last := bytes.LastIndexByte(p[:n], '<'); last >= 0 {
		g.run = n - last
	} else {
		g.run += n
	}
	if g.total > maxShared || g.run > maxText {
		return 0, fmt.Errorf("the texts of the workbook are too large: at most %d MB in all and %d MB in one can be read", maxShared>>20, maxText>>20)
	}
	return n, err
}

var cellEscape = regexp.MustCompile(`(?:_x[0-9A-Fa-f]{4}_)+`)

// unescapeCell resolves the way in which workbooks write characters that XML does not
// have: _x000D_ is a carriage return, _x005F_ an underscore.
func unescapeCell(s string) string {
	if !strings.Contains(s, "_x") {
		return s
	}
	return cellEscape.ReplaceAllStringFunc(s, func(run string) string {
		var units []uint16
		for i := 0; i < len(run); i += 7 {
			n, err := strconv.ParseUint(run[i+2:i+6], 16, 16)
			if err != nil {
				return run
			}
			units = append(units, uint16(n))
		}
		return string(utf16.Decode(units))
	})
}

// columnIndex reads the letters of a cell's name: A is 0.
func columnIndex(name string) (int, bool) {
	n, i := 0, 0
	for ; i < len(name) && name[i] >= 'A' && name[i] <= 'Z'; i++ {
		if n = n*26 + int(name[i]-'A') + 1; n > maxColumns {
			return 0, false
		}
	}
	return n - 1, i > 0
}
