// Package demo holds the demo site: Markdown pages and images of an imaginary
// garden, loaded into an empty database at first start.
package demo

import (
	"embed"
	"io/fs"
)

//go:embed all:content
var content embed.FS

// Files returns the root of the demo site's content.
//
// The root holds site.yaml, which describes the site as a whole, and one
// Markdown file with YAML front matter for each page. A folder is a section
// and its _index.md is the section's own page; images lie in folders called
// images. The folders es and ar hold translations, each under the file path of
// its English original. Links between pages are site paths ("/visit/prices/");
// image addresses are relative to the folder of the page.
func Files() fs.FS {
	root, err := fs.Sub(content, "content")
	if err != nil {
		panic(err) // only for an invalid path, and this one is constant
	}
	return root
}
