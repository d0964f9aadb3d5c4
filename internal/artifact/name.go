package artifact

import (
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"interlock/internal/fault"
)

var mimeTypes = map[string]string{
	"arrow":   "application/vnd.apache.arrow.stream",
	"csv":     "text/csv; charset=utf-8",
	"html":    "text/html; charset=utf-8",
	"jpg":     "image/jpeg",
	"json":    "application/json",
	"md":      "text/markdown; charset=utf-8",
	"ndjson":  "application/x-ndjson",
	"parquet": "application/vnd.apache.parquet",
	"pdf":     "application/pdf",
	"png":     "image/png",
	"sql":     "text/plain; charset=utf-8",
	"svg":     "image/svg+xml",
	"txt":     "text/plain; charset=utf-8",
	"xlsx":    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}

// mimeType is the MIME type of a type; one that is not listed can only be downloaded.
func mimeType(typ string) string {
	if m, ok := mimeTypes[typ]; ok {
		return m
	}
	return "application/octet-stream"
}

// checkType returns the type in lower case without a dot.
func checkType(typ string) (string, error) {
	t := strings.ToLower(strings.TrimPrefix(typ, "."))
	plain := strings.IndexFunc(t, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }) < 0
	if t == "" || len(t) > 10 || !plain {
		return "", fault.New(fault.InvalidArguments, "%.40q is no type of artifact", typ).Suggest("Give a type such as csv, png or pdf.")
	}
	if t == "jpeg" {
		t = "jpg"
	}
	return t, nil
}

const maxName = 120 // bytes

// reserved names mean devices on Windows, with any ending.
var reserved = map[string]bool{
	"con": true, "prn": true, "aux": true, "nul": true,
	"com1": true, "com2": true, "com3": true, "com4": true, "com5": true, "com6": true, "com7": true, "com8": true, "com9": true,
	"lpt1": true, "lpt2": true, "lpt3": true, "lpt4": true, "lpt5": true, "lpt6": true, "lpt7": true, "lpt8": true, "lpt9": true,
}

// isPath is the beginning of a path: /, ./, ../, ~/ or C:\, with a folder behind.
var isPath = regexp.MustCompile(`^(?:\.{0,2}|~|[A-Za-z]:)[/\\]`)

// withoutFolders is the last part of a path; in other names a slash only joins words, as in
// EUR/USD.
func withoutFolders(name string) string {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == '\\' })
	if len(parts) > 0 && isPath.MatchString(name) {
		return parts[len(parts)-1]
	}
	return strings.Join(parts, "-")
}

// safeName makes a name that every file system and header takes: one part, nothing
// invisible, no device, with the ending of its type.
func safeName(name, typ string) string {
	name = strings.ToValidUTF8(name, "_")
	name = withoutFolders(name)
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
			return -1
		case strings.ContainsRune(`<>:"|?*`, r):
			return '_'
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, name)
	if ext := filepath.Ext(name); strings.EqualFold(ext, "."+typ) || typ == "jpg" && strings.EqualFold(ext, ".jpeg") {
		name = strings.TrimSuffix(name, ext)
	}
	name = strings.Trim(name, " .")
	for len(name) > maxName {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	name = strings.TrimRight(name, " .")
	if name == "" {
		name = "artifact"
	}
	if stem, _, _ := strings.Cut(strings.ToLower(name), "."); reserved[strings.TrimSpace(stem)] {
		name = "_" + name
	}
	return name + "." + typ
}
