package query

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
)

// fallbackEncoding is what text that is not UTF-8 most likely is.
const fallbackEncoding = "windows-1252"

// markedUTF8 is UTF-8 that begins with a byte order mark.
const markedUTF8 = "utf-8-bom"

// inputs are text files as the engine will read them: UTF-8, under plain names, all
// compressed in the same way or not at all.
type inputs struct {
	files       []string
	compression string
	bytes       int64
}

func (in inputs) list() string {
	quoted := make([]string, len(in.files))
	for i, f := range in.files {
		quoted[i] = quoteText(f)
	}
	return strings.Join(quoted, ", ")
}

// inputs prepares files. They stay where they are if the engine can read them so,
// and are rewritten as plain UTF-8 in the worker's folder otherwise.
func (b *builder) inputs(ctx context.Context, files []string, charset, ext string) (inputs, error) {
	var in inputs
	kinds := make([]textKind, len(files))
	same := true
	for i, f := range files {
		k, err := detectTextKind(f)
		if err != nil {
			return in, fmt.Errorf("looking into %s: %w", filepath.Base(f), err)
		}
		if k.charset == markedUTF8 && ext == ".csv" {
			k.charset = "" // the engine's reader of delimited text knows the mark
		}
		kinds[i] = k
		same = same && k.compression == kinds[0].compression && k.charset == ""
	}
	for i, f := range files {
		k := kinds[i]
		if charset != "" {
			k.charset = charset
		}
		name, err := "", error(nil)
		if same && (k.charset == "" || isUTF8(k.charset)) {
			in.compression = k.compression
			name, err = b.plainPath(ctx, f, ext)
		} else {
			name, err = b.rewrite(ctx, f, k.reader, ext)
		}
		if err != nil {
			return in, fmt.Errorf("reading %s: %w", filepath.Base(f), err)
		}
		in.files = append(in.files, name)
		if info, err := os.Stat(name); err == nil {
			in.bytes += info.Size()
		}
	}
	return in, nil
}

func isUTF8(charset string) bool {
	return strings.EqualFold(charset, "utf-8") || strings.EqualFold(charset, "utf8")
}

// textKind is what the first bytes of a file say about it.
type textKind struct {
	compression string // gzip, zstd or none
	charset     string // "" = as it is
}

func detectTextKind(path string) (textKind, error) {
	var k textKind
	f, err := os.Open(path)
	if err != nil {
		return k, errors.New("it cannot be opened")
	}
	defer f.Close()
	head := make([]byte, 4)
	n, _ := io.ReadFull(f, head)
	switch head = head[:n]; {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		k.compression = "gzip"
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		k.compression = "zstd"
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return k, err
	}
	r, done, err := decompress(f, k.compression)
	if err != nil {
		return k, err
	}
	defer done()
	n, _ = io.ReadFull(r, head[:cap(head)])
	switch head = head[:n]; {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		k.charset = "utf-16"
	case bytes.HasPrefix(head, []byte{0xef, 0xbb, 0xbf}):
		k.charset = markedUTF8
	}
	return k, nil
}

func decompress(r io.Reader, how string) (io.Reader, func(), error) {
	switch how {
	case "gzip":
		z, err := gzip.NewReader(r)
		return z, func() {}, err
	case "zstd":
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20))
		if err != nil {
			return nil, nil, err
		}
		return z, z.Close, nil
	}
	return r, func() {}, nil
}

// reader gives the text of a file of this kind as UTF-8.
func (k textKind) reader(r io.Reader) (io.Reader, func(), error) {
	decoder, err := decoderOf(k.charset)
	if err != nil {
		return nil, nil, err
	}
	plain, done, err := decompress(r, k.compression)
	if err != nil {
		return nil, nil, err
	}
	return decoder.Reader(plain), done, nil
}

// rewrite copies a file into the worker's folder, through a reader if there is one.
func (b *builder) rewrite(ctx context.Context, path string, through func(io.Reader) (io.Reader, func(), error), ext string) (name string, err error) {
	from, err := os.Open(path)
	if err != nil {
		return "", errors.New("it cannot be opened")
	}
	defer from.Close()
	r, done := io.Reader(from), func() {}
	if through != nil {
		if r, done, err = through(from); err != nil {
			return "", err
		}
	}
	defer done()
	name = filepath.Join(b.order.Scratch, fmt.Sprintf("in%d%s", len(b.copies)+1, ext))
	b.copies = append(b.copies, name)
	to, err := os.Create(name)
	if err != nil {
		return "", fmt.Errorf("making a copy: %w", err)
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	out := bufio.NewWriterSize(to, 1<<20)
	if _, err := io.Copy(out, &stopReader{ctx, r}); err != nil {
		return "", err
	}
	return name, out.Flush()
}

// dropCopies removes what rewrite made for a table that is done.
func (b *builder) dropCopies() {
	for _, name := range b.copies {
		_ = os.Remove(name)
	}
	b.copies = nil
}

// decoderOf finds the decoder of a character set. A byte order mark is dropped.
func decoderOf(charset string) (*encoding.Decoder, error) {
	switch strings.ToLower(charset) {
	case "", "utf-8", "utf8", markedUTF8:
		return unicode.UTF8BOM.NewDecoder(), nil
	case "utf-16":
		return unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder(), nil
	}
	e, err := htmlindex.Get(charset)
	if err != nil {
		return nil, fmt.Errorf("there is no encoding called %s", charset)
	}
	return e.NewDecoder(), nil
}

// A stopReader ends when its context does.
type stopReader struct {
	ctx context.Context
	r   io.Reader
}

func (s *stopReader) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(p)
}
