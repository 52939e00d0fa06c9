package content

import (
	"bytes"
	"encoding/binary"
)

// webpSize reads the size of a WebP image, and whether it is one.
func webpSize(b []byte) (width, height int, ok bool) {
	if len(b) < 30 || string(b[:4]) != "RIFF" || string(b[8:12]) != "WEBP" {
		return 0, 0, false
	}
	switch string(b[12:16]) {
	case "VP8X":
		return 1 + uint24(b[24:]), 1 + uint24(b[27:]), true
	case "VP8 ":
		if b[23] != 0x9d || b[24] != 0x01 || b[25] != 0x2a {
			return 0, 0, false
		}
		return int(binary.LittleEndian.Uint16(b[26:])) & 0x3fff, int(binary.LittleEndian.Uint16(b[28:])) & 0x3fff, true
	case "VP8L":
		if b[20] != 0x2f {
			return 0, 0, false
		}
		bits := binary.LittleEndian.Uint32(b[21:])
		return 1 + int(bits&0x3fff), 1 + int(bits>>14&0x3fff), true
	}
	return 0, 0, false
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

// stripMetadata removes what an image says besides its picture: places, cameras,
// names, comments. How the picture is to be turned is kept.
func stripMetadata(mime string, b []byte) ([]byte, error) {
	switch mime {
	case "image/jpeg":
		return stripJPEG(b)
	case "image/png":
		return stripPNG(b)
	case "image/webp":
		return stripWebP(b)
	}
	return stripGIF(b)
}

func stripJPEG(b []byte) ([]byte, error) {
	out := append(make([]byte, 0, len(b)), b[:2]...)
	for i := 2; ; {
		if i+4 > len(b) || b[i] != 0xff {
			return nil, ErrImage
		}
		marker := b[i+1]
		if marker == 0xff { // padding
			i++
			continue
		}
		if marker == 0xda { // the picture itself: to the end
			return append(out, b[i:]...), nil
		}
		size := int(binary.BigEndian.Uint16(b[i+2:]))
		if size < 2 || i+2+size > len(b) {
			return nil, ErrImage
		}
		segment := b[i : i+2+size]
		i += 2 + size
		switch {
		case marker == 0xe1:
			if turn := exifOrientation(segment[4:]); turn > 1 && turn < 9 {
				out = append(out, orientationSegment(turn)...)
			}
		case marker == 0xfe, marker > 0xe2 && marker <= 0xef && marker != 0xee: // all but JFIF, colours, Adobe's colour transform
		default:
			out = append(out, segment...)
		}
	}
}

// exifOrientation reads how an EXIF segment says the picture is to be turned, 0
// when it does not.
func exifOrientation(b []byte) int {
	tiff, ok := bytes.CutPrefix(b, []byte("Exif\x00\x00"))
	if !ok || len(tiff) < 8 {
		return 0
	}
	var order binary.ByteOrder = binary.BigEndian
	if tiff[0] == 'I' {
		order = binary.LittleEndian
	}
	at := int64(order.Uint32(tiff[4:]))
	if at < 8 || at+2 > int64(len(tiff)) {
		return 0
	}
	entries := int64(order.Uint16(tiff[at:]))
	for n := range entries {
		e := at + 2 + n*12
		if e+12 > int64(len(tiff)) {
			return 0
		}
		if order.Uint16(tiff[e:]) == 0x0112 {
			return int(order.Uint16(tiff[e+8:]))
		}
	}
	return 0
}

// orientationSegment is an EXIF segment that says nothing but how to turn.
func orientationSegment(turn int) []byte {
	return []byte{
		0xff, 0xe1, 0, 34, 'E', 'x', 'i', 'f', 0, 0, 'M', 'M', 0, 42, 0, 0, 0, 8,
		0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, byte(turn), 0, 0, 0, 0, 0, 0,
	}
}

func stripPNG(b []byte) ([]byte, error) {
	out := append(make([]byte, 0, len(b)), b[:8]...)
	for i := 8; i+12 <= len(b); {
		size := int64(binary.BigEndian.Uint32(b[i:]))
		if size > int64(len(b)-i-12) {
			return nil, ErrImage
		}
		chunk := b[i : i+12+int(size)]
		i += len(chunk)
		switch kind := string(chunk[4:8]); kind {
		case "tEXt", "zTXt", "iTXt", "eXIf", "tIME":
		default:
			out = append(out, chunk...)
			if kind == "IEND" {
				return out, nil
			}
		}
	}
	return nil, ErrImage
}

func stripWebP(b []byte) ([]byte, error) {
	out := append(make([]byte, 0, len(b)), b[:12]...)
	for i := 12; i+8 <= len(b); {
		size := int64(binary.LittleEndian.Uint32(b[i+4:]))
		size += size & 1
		if size > int64(len(b)-i-8) {
			size = int64(len(b) - i - 8)
		}
		chunk := bytes.Clone(b[i : i+8+int(size)])
		i += len(chunk)
		switch string(chunk[:4]) {
		case "EXIF", "XMP ":
			continue
		case "VP8X":
			if len(chunk) > 8 {
				chunk[8] &^= 0x0c // no EXIF, no XMP
			}
		}
		out = append(out, chunk...)
	}
	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-8))
	return out, nil
}

// stripGIF drops comments and what applications add, except how often to repeat.
func stripGIF(b []byte) ([]byte, error) {
	i := 13
	if len(b) < i {
		return nil, ErrImage
	}
	if b[10]&0x80 != 0 { // a table of colours for all frames
		i += 3 << (b[10]&7 + 1)
	}
	if i > len(b) {
		return nil, ErrImage
	}
	out := append(make([]byte, 0, len(b)), b[:i]...)
	for i < len(b) {
		start, keep := i, true
		switch b[i] {
		case 0x3b:
			return append(out, 0x3b), nil
		case 0x21:
			if i+2 > len(b) {
				return nil, ErrImage
			}
			keep = b[i+1] == 0xf9 || b[i+1] == 0xff && bytes.HasPrefix(b[i+2:], []byte("\x0bNETSCAPE2.0"))
			i += 2
		case 0x2c:
			if i+11 > len(b) {
				return nil, ErrImage
			}
			size := 10
			if b[i+9]&0x80 != 0 {
				size += 3 << (b[i+9]&7 + 1)
			}
			i += size + 1
		default:
			return nil, ErrImage
		}
		for { // sub-blocks, up to an empty one
			if i >= len(b) {
				return nil, ErrImage
			}
			n := int(b[i])
			if i += n + 1; n == 0 {
				break
			}
		}
		if keep && i <= len(b) {
			out = append(out, b[start:i]...)
		}
	}
	return nil, ErrImage
}
