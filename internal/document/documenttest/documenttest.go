// Package documenttest makes PDF and DOCX files for tests and benchmarks.
package documenttest

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"encoding/xml"
	"fmt"
	"strings"
)

// PDF makes a file with a page for each text, in lines as long as a printed page has them. A page
// of no text holds a picture only; a paragraph that begins with "# " is set in larger letters.
func PDF(pages ...string) []byte { return writePDF(pages, "", false) }

// TypesetPDF makes a file as programs of the TeX family do: codes of two bytes, and distances in place of spaces.
func TypesetPDF(pages ...string) []byte { return writePDF(pages, "", true) }

// EncryptedPDF makes a file that only a password opens.
func EncryptedPDF(pages ...string) []byte {
	return writePDF(pages, "/Encrypt << /Filter /Standard /V 1 /R 2 /P -44 /O ("+strings.Repeat("o", 32)+") /U ("+strings.Repeat("u", 32)+") >> /ID [(a) (a)]", false)
}

const lineLength = 90

func writePDF(pages []string, trailer string, typeset bool) []byte {
	var out bytes.Buffer
	var offsets []int
	object := func(format string, args ...any) {
		offsets = append(offsets, out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n", len(offsets))
		fmt.Fprintf(&out, format, args...)
		out.WriteString("\nendobj\n")
	}
	out.WriteString("%PDF-1.4\n")
	var kids []string
	for i := range pages {
		kids = append(kids, fmt.Sprintf("%d 0 R", 5+2*i))
	}
	object("<< /Type /Catalog /Pages 2 0 R >>")
	object("<< /Type /Pages /Count %d /Kids [%s] >>", len(pages), strings.Join(kids, " "))
	if typeset {
		object("<< /Type /Font /Subtype /Type0 /BaseFont /Serif /Encoding /Identity-H /ToUnicode 4 0 R /DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Serif /DW 500 /W [105 [250] 108 108 250] >>] >>")
		object("<< /Length %d >>\nstream\n%s\nendstream", len(toUnicode), toUnicode)
	} else {
		object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding /FirstChar 32 /LastChar 126 /Widths [%s] >>", strings.TrimSpace(strings.Repeat("500 ", 95)))
		object("<< /Producer (documenttest) >>")
	}
	for i, text := range pages {
		object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>", 6+2*i)
		stream := deflate(pageContent(text, typeset))
		object("<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream", len(stream), stream)
	}
	begin := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, o := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&out, "trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, trailer, begin)
	return out.Bytes()
}

// toUnicode says that the codes of a typeset file are those of the characters.
const toUnicode = "begincmap 1 begincodespacerange <0000> <FFFF> endcodespacerange 1 beginbfrange <0000> <00FF> <0000> endbfrange endcmap"

func pageContent(text string, typeset bool) []byte {
	show := showLine
	if typeset {
		show = typesetLine
	}
	if text == "" {
		return []byte("0 0 595 842 re f\n")
	}
	var out bytes.Buffer
	out.WriteString("BT /F1 11 Tf 50 790 Td 13 TL\n")
	for i, paragraph := range strings.Split(text, "\n\n") {
		if i > 0 {
			out.WriteString("0 -14 Td\n")
		}
		paragraph, heading := strings.CutPrefix(paragraph, "# ")
		if heading {
			out.WriteString("/F1 16 Tf\n")
		}
		line := ""
		for _, word := range strings.Fields(paragraph) {
			if len(line)+len(word) > lineLength {
				show(&out, line)
				line = ""
			}
			line = strings.TrimSpace(line + " " + word)
		}
		show(&out, line)
		if heading {
			out.WriteString("/F1 11 Tf\n")
		}
	}
	out.WriteString("ET\n")
	return out.Bytes()
}

func showLine(out *bytes.Buffer, line string) {
	fmt.Fprintf(out, "(%s) Tj T*\n", strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(line))
}

// typesetLine shows words with distances between them, and the letters of a word with kerning.
func typesetLine(out *bytes.Buffer, line string) {
	out.WriteString("[")
	for i, word := range strings.Fields(line) {
		if i > 0 {
			out.WriteString("-333")
		}
		for j, letter := range []byte(word) {
			if j%3 == 2 {
				out.WriteString("30")
			}
			fmt.Fprintf(out, "<%04X>", letter)
		}
	}
	out.WriteString("] TJ T*\n")
}

func deflate(content []byte) []byte {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	_, err := w.Write(content)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err) // writing to memory does not fail
	}
	return out.Bytes()
}

// DOCX makes a file of paragraphs. One that begins with # marks is a heading, whose style has a
// German id as German programs write it; one with tabs is a row of a table.
func DOCX(paragraphs ...string) []byte {
	var body strings.Builder
	for _, p := range paragraphs {
		text := strings.TrimLeft(p, "#")
		switch level := len(p) - len(text); {
		case level > 0:
			fmt.Fprintf(&body, `<w:p><w:pPr><w:pStyle w:val="berschrift%d"/></w:pPr>%s</w:p>`, level, run(strings.TrimSpace(text)))
		case strings.Contains(p, "\t"):
			body.WriteString("<w:tbl><w:tr>")
			for cell := range strings.SplitSeq(p, "\t") {
				body.WriteString("<w:tc><w:p>" + run(cell) + "</w:p></w:tc>")
			}
			body.WriteString("</w:tr></w:tbl>")
		default:
			body.WriteString("<w:p>" + run(p) + "</w:p>")
		}
	}
	const space = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"`
	var styles strings.Builder
	for level := 1; level <= 6; level++ {
		fmt.Fprintf(&styles, `<w:style w:type="paragraph" w:styleId="berschrift%d"><w:name w:val="heading %d"/></w:style>`, level, level)
	}
	return Zip(map[string]string{
		"word/document.xml": `<?xml version="1.0"?><w:document ` + space + `><w:body>` + body.String() + `</w:body></w:document>`,
		"word/styles.xml":   `<?xml version="1.0"?><w:styles ` + space + `>` + styles.String() + `</w:styles>`,
	})
}

func run(text string) string {
	var out bytes.Buffer
	_ = xml.EscapeText(&out, []byte(text)) // writing to memory does not fail
	return "<w:r><w:t>" + out.String() + "</w:t></w:r>"
}

// Zip makes an archive.
func Zip(members map[string]string) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for name, content := range members {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write([]byte(content))
		}
		if err != nil {
			panic(err) // writing to memory does not fail
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}
