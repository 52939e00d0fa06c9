package config

import (
	"context"
	"maps"
	"slices"
	"strings"

	"docent/internal/account"
)

// An Operation is something that may be done with the content of one bundle.
type Operation string

// The operations that each bundle has a permission for. The last four are the
// transitions of the workflow.
const (
	OpCreate          Operation = "create"
	OpEditOwn         Operation = "edit own"
	OpEditAny         Operation = "edit any"
	OpDelete          Operation = "delete"
	OpViewUnpublished Operation = "view unpublished"
	OpPublish         Operation = "publish"
	OpUnpublish       Operation = "unpublish"
	OpArchive         Operation = "archive"
	OpRestore         Operation = "restore"
)

// operations lists them in the order in which forms do; those from the sixth on
// are for types with a workflow.
var operations = []Operation{
	OpCreate, OpEditOwn, OpEditAny, OpDelete, OpViewUnpublished, OpPublish, OpUnpublish, OpArchive, OpRestore,
}

// nouns end the permissions for the content of an entity type.
var nouns = map[string]string{EntityNode: "content", EntityMedia: "media", EntityTerm: "terms"}

// PermissionFor names the permission to do something with a bundle's content:
// "edit own article content", "create image media", "delete topics terms". It is
// "" for entity types that have no permissions of that kind.
func PermissionFor(op Operation, entity, bundle string) account.Permission {
	noun, ok := nouns[entity]
	if !ok {
		return ""
	}
	return account.Permission(string(op) + " " + bundle + " " + noun)
}

// FormatPermission names the permission to write in a text format.
func FormatPermission(format string) account.Permission {
	return account.Permission("use text format " + format)
}

// A PermissionGroup is the permissions of one subject, as forms list them.
type PermissionGroup struct {
	Kind        string // kind of the object they belong to, "" for the program's own
	Name        string // of the object
	Label       string
	Permissions []account.Permission
}

// PermissionGroups lists every permission of the site: the program's own, then
// those of each content type, vocabulary and text format.
func PermissionGroups(ctx context.Context, s *Store) ([]PermissionGroup, error) {
	current, err := s.load(ctx)
	if err != nil {
		return nil, err
	}
	return current.permissionGroups(), nil
}

func (s *snapshot) permissionGroups() []PermissionGroup {
	groups := []PermissionGroup{{Permissions: account.AllPermissions()}}
	for _, kind := range []string{ContentType{}.Kind(), Vocabulary{}.Kind(), TextFormat{}.Kind()} {
		for _, name := range slices.Sorted(maps.Keys(s.objects[kind])) {
			g := PermissionGroup{Kind: kind, Name: name}
			switch v := s.objects[kind][name].value.(type) {
			case ContentType:
				g.Label, g.Permissions = v.Label, v.permissions(name)
			case Vocabulary:
				g.Label, g.Permissions = v.Label, v.AsType().permissions(name)
			case TextFormat:
				g.Label, g.Permissions = v.Label, []account.Permission{FormatPermission(name)}
			default: // it cannot be read
				continue
			}
			groups = append(groups, g)
		}
	}
	return groups
}

// permissions are those for a type's content; without a workflow there is
// nothing to publish.
func (t ContentType) permissions(name string) []account.Permission {
	ops := operations
	if !t.Workflow {
		ops = ops[:5]
	}
	out := make([]account.Permission, len(ops))
	for i, op := range ops {
		out[i] = PermissionFor(op, t.Entity, name)
	}
	return out
}

func (s *snapshot) isPermission(p account.Permission) bool {
	return slices.ContainsFunc(s.permissionGroups(), func(g PermissionGroup) bool { return slices.Contains(g.Permissions, p) })
}

// ParsePermission undoes [PermissionFor]; op is "" when p is no such permission.
func ParsePermission(p account.Permission) (op Operation, entity, bundle string) {
	words := strings.Split(string(p), " ")
	n := len(words)
	if n < 3 {
		return "", "", ""
	}
	op, bundle = Operation(strings.Join(words[:n-2], " ")), words[n-2]
	for entity, noun := range nouns {
		if noun == words[n-1] && slices.Contains(operations, op) {
			return op, entity, bundle
		}
	}
	return "", "", ""
}
