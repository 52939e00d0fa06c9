package handlers

import (
	"context"
	"html"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"docent/components"
	"docent/internal/content"
)

// ownImage is an image of the site's own in the HTML of a text.
var ownImage = regexp.MustCompile(`<img src="` + content.FilePrefix + `([^"?#]+)"`)

// sizeImages gives the images in texts their sizes, so that nothing moves when
// they arrive, and files to choose from that are no larger than they need to be.
func (h *Handlers) sizeImages(ctx context.Context, fields []components.ShownField) error {
	var paths []string
	each := func(do func(v *components.ShownValue)) {
		for i := range fields {
			for j := range fields[i].Values {
				if v := &fields[i].Values[j]; strings.Contains(v.HTML, "<img ") {
					do(v)
				}
			}
		}
	}
	each(func(v *components.ShownValue) {
		for _, m := range ownImage.FindAllStringSubmatch(v.HTML, -1) {
			paths = append(paths, filePath(m[1]))
		}
	})
	if len(paths) == 0 {
		return nil
	}
	files, err := h.Content.FilesByPath(ctx, paths)
	if err != nil {
		return err
	}
	each(func(v *components.ShownValue) {
		v.HTML = ownImage.ReplaceAllStringFunc(v.HTML, func(tag string) string {
			f, ok := files[filePath(ownImage.FindStringSubmatch(tag)[1])]
			if !ok || !f.IsImage() {
				return tag
			}
			d := f.Derivative("wide")
			return `<img src="` + html.EscapeString(d.URL) + `" srcset="` + html.EscapeString(f.Srcset("wide")) + `" sizes="` + wideSizes +
				`" width="` + strconv.Itoa(d.Width) + `" height="` + strconv.Itoa(d.Height) + `"`
		})
	})
	return nil
}

// filePath undoes how HTML and addresses write a file's path.
func filePath(written string) string {
	path := html.UnescapeString(written)
	if p, err := url.PathUnescape(path); err == nil {
		return p
	}
	return path
}
