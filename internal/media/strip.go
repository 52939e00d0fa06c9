package media

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

// strip keeps what an image needs to be shown, and nothing after its end.
func strip(mime string, b []byte) ([]byte, error) {
	switch mime {
	case JPEG:
		return stripJPEG(b)
	case PNG:
		return stripPNG(b)
	case WebP:
		return stripWebP(b)
	}
	return stripGIF(b)
}

// Parts of JPEG files.
const (
	markEnd     = 0xd9
	markScan    = 0xda
	markJFIF    = 0xe0
	markEXIF    = 0xe1
	markICC     = 0xe2
	markAdobe   = 0xee
	markComment = 0xfe
)

// segments hands the parts of a JPEG to yield: a marker with what belongs to it,
// for a scan also the picture that follows. It reports whether the end was found.
func segments(b []byte, yield func(marker byte, whole []byte)) bool {
	for i := 2; i+2 <= len(b); {
		if b[i] != 0xff {
			return false
		}
		marker := b[i+1]
		if marker == 0xff { // padding
			i++
			continue
		}
		if marker == markEnd {
			return true
		}
		if marker == 0x01 || marker >= 0xd0 && marker <= 0xd7 { // stand alone
			i += 2
			continue
		}
		if i+4 > len(b) {
			return false
		}
		end := i + 2 + int(binary.BigEndian.Uint16(b[i+2:]))
		if end < i+4 || end > len(b) {
			return false
		}
		if marker == markScan {
			for end < len(b)-1 && (b[end] != 0xff || b[end+1] == 0 || b[end+1] >= 0xd0 && b[end+1] <= 0xd7) {
				end++
			}
			if end >= len(b)-1 {
				return false
			}
		}
		yield(marker, b[i:end])
		i = end
	}
	return false
}

func stripJPEG(b []byte) ([]byte, error) {
	out := append(make([]byte, 0, len(b)), b[:2]...)
	ended := segments(b, func(marker byte, whole []byte) {
		body := whole[4:]
		switch {
		case marker == markJFIF:
			if bytes.HasPrefix(body, []byte("JFIF\x00")) && len(body) >= 14 { // without its small preview
				out = append(append(append(out, 0xff, markJFIF, 0, 16), body[:12]...), 0, 0)
			}
		case marker == markICC:
			if bytes.HasPrefix(body, []byte(iccHeader)) { // others hold further pictures
				out = append(out, whole...)
			}
		case marker == markComment, marker >= markEXIF && marker <= 0xef && marker != markAdobe:
		default:
			out = append(out, whole...)
		}
	})
	if !ended {
		return nil, ErrDamaged
	}
	return append(out, 0xff, markEnd), nil
}

// orientation tells how an image says that it is to be turned; 1 is upright.
func orientation(mime string, b []byte) int {
	turn := 1
	read := func(exif []byte) {
		if n := exifOrientation(exif); n >= 1 && n <= 8 {
			turn = n
		}
	}
	switch mime {
	case JPEG:
		segments(b, func(marker byte, whole []byte) {
			if marker == markEXIF && bytes.HasPrefix(whole[4:], []byte("Exif\x00\x00")) {
				read(whole[10:])
			}
		})
	case PNG:
		pngChunks(b, func(kind string, whole []byte) {
			if kind == "eXIf" {
				read(whole[8 : len(whole)-4])
			}
		})
	case WebP:
		webpChunks(b, func(kind string, whole []byte) {
			if kind == "EXIF" {
				read(bytes.TrimPrefix(whole[8:], []byte("Exif\x00\x00")))
			}
		})
	}
	return turn
}

// exifOrientation reads the orientation in EXIF data, 0 when there is none.
func exifOrientation(tiff []byte) int {
	if len(tiff) < 8 {
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

// pngChunks hands the chunks of a PNG to yield, up to its end, and reports whether
// that was found.
func pngChunks(b []byte, yield func(kind string, whole []byte)) bool {
	for i := 8; i+12 <= len(b); {
		size := int64(binary.BigEndian.Uint32(b[i:]))
		if size > int64(len(b)-i-12) {
			return false
		}
		chunk := b[i : i+12+int(size)]
		i += len(chunk)
		kind := string(chunk[4:8])
		yield(kind, chunk)
		if kind == "IEND" {
			return true
		}
	}
	return false
}

func stripPNG(b []byte) ([]byte, error) {
	out := append(make([]byte, 0, len(b)), b[:8]...)
	ended := pngChunks(b, func(kind string, whole []byte) {
		switch kind {
		case "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "cICP", "sBIT", "pHYs", "bKGD", "acTL", "fcTL", "fdAT":
			out = append(out, whole...)
		}
	})
	if !ended {
		return nil, ErrDamaged
	}
	return out, nil
}

// webpChunks hands the chunks of a WebP image to yield, and reports whether all
// that it says to hold was there.
func webpChunks(b []byte, yield func(kind string, whole []byte)) bool {
	end := int64(binary.LittleEndian.Uint32(b[4:])) + 8
	if end > int64(len(b)) {
		return false
	}
	b = b[:end]
	for i := int64(12); i < end; {
		if i+8 > end {
			return false
		}
		size := int64(binary.LittleEndian.Uint32(b[i+4:]))
		next := i + 8 + size + size&1
		if i+8+size > end {
			return false
		}
		yield(string(b[i:i+4]), b[i:min(next, end)])
		i = next
	}
	return true
}

// checkWebP makes sure that the picture in a WebP image is no larger than the
// image says, and stands still: others cannot be shown smaller.
func checkWebP(b []byte, i Info) (err error) {
	webpChunks(b, func(kind string, whole []byte) {
		switch kind {
		case "ANIM", "ANMF":
			err = ErrAnimated
		case "VP8 ", "VP8L":
			start := append([]byte("RIFF\x00\x00\x00\x00WEBP"), whole[:min(len(whole), 32)]...)
			if w, h, ok := webpSize(append(start, make([]byte, 32)...)); !ok || w > i.Width || h > i.Height {
				err = ErrDamaged
			}
		}
	})
	return err
}

func stripWebP(b []byte) ([]byte, error) {
	out := append(make([]byte, 0, len(b)), b[:12]...)
	complete := webpChunks(b, func(kind string, whole []byte) {
		switch kind {
		case "VP8X":
			whole = bytes.Clone(whole)
			if len(whole) > 8 {
				whole[8] &^= 0x0c // no EXIF, no XMP
			}
		case "VP8 ", "VP8L", "ALPH", "ICCP":
		default:
			return
		}
		if out = append(out, whole...); len(whole)%2 == 1 {
			out = append(out, 0)
		}
	})
	if !complete {
		return nil, ErrDamaged
	}
	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-8))
	return out, nil
}

// stripGIF drops comments and what applications add, except how often to repeat.
func stripGIF(b []byte) ([]byte, error) {
	i := 13
	if len(b) < i {
		return nil, ErrDamaged
	}
	if b[10]&0x80 != 0 { // a table of colours for all frames
		i += 3 << (b[10]&7 + 1)
	}
	if i > len(b) {
		return nil, ErrDamaged
	}
	out := append(make([]byte, 0, len(b)), b[:i]...)
	for i < len(b) {
		start, keep := i, true
		switch b[i] {
		case 0x3b:
			return append(out, 0x3b), nil
		case 0x21:
			if i+2 > len(b) {
				return nil, ErrDamaged
			}
			keep = b[i+1] == 0xf9 || b[i+1] == 0xff && bytes.HasPrefix(b[i+2:], []byte("\x0bNETSCAPE2.0"))
			i += 2
		case 0x2c:
			if i+11 > len(b) {
				return nil, ErrDamaged
			}
			size := 10
			if b[i+9]&0x80 != 0 {
				size += 3 << (b[i+9]&7 + 1)
			}
			i += size + 1
		default:
			return nil, ErrDamaged
		}
		for { // sub-blocks, up to an empty one
			if i >= len(b) {
				return nil, ErrDamaged
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
	return nil, ErrDamaged
}
