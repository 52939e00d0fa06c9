package importer

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"docent/internal/content"
)

// originPrefix starts the names of what comes from files, unless [Options.Origin]
// says otherwise.
const originPrefix = "import:"

// arrange decides what belongs to which entity and who has which address.
// languages holds the default first. The order of pages afterwards is that of
// their keys.
func arrange(pages []*page, languages []string) {
	rank := func(p *page) int { return slices.Index(languages, p.lang) }
	// Those who come first have the first choice: the default language, and
	// "_index" before "index" before "README".
	slices.SortFunc(pages, func(a, b *page) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(path.Dir(a.bare), path.Dir(b.bare)),
			cmp.Compare(indexRank(a), indexRank(b)), cmp.Compare(a.name, b.name))
	})
	assignKeys(pages)
	assignPaths(pages)
	slices.SortStableFunc(pages, func(a, b *page) int { return cmp.Compare(a.key, b.key) })
	for at := 0; at < len(pages); {
		end := at + 1
		for end < len(pages) && pages[end].key == pages[at].key {
			end++
		}
		unite(pages[at:end])
		at = end
	}
	for _, p := range pages {
		p.seal()
	}
}

func indexRank(p *page) int {
	i := slices.Index([]string{"_index", "index", "readme"}, strings.ToLower(path.Base(p.bare)))
	if i < 0 {
		return 3
	}
	return i
}

// assignKeys names the entity of every page: the same place in two languages is
// one entity.
func assignKeys(pages []*page) {
	taken := map[string]string{}
	for _, p := range pages {
		p.key = p.prefix + p.bare
		id := p.lang + " " + p.key
		if other, ok := taken[id]; ok {
			p.notes = append(p.notes, note{0, fmt.Sprintf("%s is the same page: kept as another one", other)})
			p.key = p.prefix + p.name
		}
		taken[p.lang+" "+p.key] = p.name
	}
}

// assignPaths settles who has which address, former ones too, and what lies below
// what.
func assignPaths(pages []*page) {
	owner := map[string]*page{}
	all := map[string]bool{}
	for _, p := range pages {
		first, taken := owner[p.lang+p.path]
		if taken {
			base := strings.TrimSuffix(p.path, "/")
			if p.index {
				base += "/" + strings.Trim(content.CleanPath(path.Base(p.bare)), "/")
			}
			for n := 2; taken; n++ {
				if p.path = base + "/"; n > 2 || !p.index {
					p.path = fmt.Sprintf("%s-%d/", base, n)
				}
				_, taken = owner[p.lang+p.path]
			}
			p.notes = append(p.notes, note{0, fmt.Sprintf("%s has the same address: %s is taken", first.name, p.path)})
		}
		owner[p.lang+p.path] = p
		all[p.path] = true
	}
	parents := map[string]bool{}
	for _, p := range pages {
		for _, above := range content.Parents(p.path) {
			if all[above] || above == "/" {
				p.parent = above
				parents[above] = true
				break
			}
		}
	}
	for _, p := range pages {
		p.children = parents[p.path]
		kept := p.aliases[:0]
		for _, alias := range p.aliases {
			other, taken := owner[p.lang+alias]
			if taken && other != p {
				p.notes = append(p.notes, note{0, fmt.Sprintf("the alias %s is the address of %s", alias, other.name)})
				continue
			}
			if !taken {
				owner[p.lang+alias] = p
				kept = append(kept, alias)
			}
		}
		p.aliases = kept
	}
}

// unite gives the languages of one entity what they share. The first of them, in
// the default language if there is such, decides about access.
func unite(group []*page) {
	lead := group[0]
	for _, p := range group[1:] {
		if p.hasRoles && !slices.Equal(p.roles, lead.roles) {
			p.notes = append(p.notes, note{0, fmt.Sprintf("view_roles differ from those of %s, which count", lead.name)})
			if !lead.hasRoles { // a lock on any door is a lock
				lead.roles, lead.hasRoles = p.roles, true
			}
		}
		lead.out = lead.out || p.out
	}
	for _, p := range group {
		p.roles, p.out, p.bundle = lead.roles, lead.out, lead.bundle
	}
}
