package config

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"

	"docent/db"
	"docent/internal/account"
)

//go:embed prompt.txt
var defaultPrompt string

// DefaultAgent returns the settings that a new agent starts with.
func DefaultAgent() Agent {
	return Agent{
		Label:           "Site answers",
		Enabled:         true,
		Prompt:          strings.TrimSpace(defaultPrompt),
		Index:           SiteName,
		MinScore:        0.3,
		MaxResults:      5,
		ViewMode:        "teaser",
		SourceTools:     []string{"content_list"},
		TopicDrift:      true,
		Rounds:          4,
		QuestionLimit:   2000,
		ConversationTTL: 3600,
		Feedback:        true,
		Suggest:         SuggestHeadings,
		Share:           true,
		ShareDays:       30,
	}
}

// DefaultAnswerSettings returns what holds for the answers of a new site.
func DefaultAnswerSettings() AnswerSettings {
	return AnswerSettings{RetentionDays: 30, MaskPersonal: true, PerMinute: 20}
}

// shipped is what a new site starts with, in an order in which references are
// to what came before.
func shipped() []Named[Object] {
	visitor := []account.Permission{account.AccessContent, account.UseAnswers}
	objects := []Named[Object]{}
	for _, f := range ShippedFormats() {
		objects = append(objects, Named[Object]{f.Name, f.Value})
	}
	for _, t := range ShippedTypes() {
		objects = append(objects, Named[Object]{t.Name, t.Value})
	}
	for _, v := range ShippedVocabularies() {
		objects = append(objects, Named[Object]{v.Name, v.Value})
	}
	objects = append(objects, []Named[Object]{
		{account.RoleAnonymous, Role{Label: "Anonymous visitor", Permissions: visitor}},
		{account.RoleAuthenticated, Role{Label: "Signed-in account", Permissions: visitor}},
		{account.RoleEditor, Role{Label: "Editor", Permissions: []account.Permission{
			account.AccessAdministration, account.EditContent, account.ViewUnpublished,
			FormatPermission(FormatPlain), FormatPermission(FormatMarkdown), FormatPermission(FormatRestrictedHTML),
		}}},
		{account.RoleAdministrator, Role{Label: "Administrator", Permissions: account.AllPermissions()}},
		{"en", Language{Label: "English"}},
		{SiteName, Settings{SiteName: "Docent", DefaultLanguage: "en", TimeZone: "UTC"}},
		{SiteName, Index{Label: "Everything public"}},
		{SiteName, DefaultAgent()},
		{SiteName, DefaultAnswerSettings()},
	}...)
	for _, p := range ShippedPlacements() {
		objects = append(objects, Named[Object]{p.Name, p.Value})
	}
	return objects
}

// install stores shipped objects that the database never had. Processes that
// start together take turns.
func install(ctx context.Context, d *db.DB) error {
	return d.InTx(ctx, func(tx *db.DB) error {
		if err := lockObjects(ctx, tx); err != nil {
			return err
		}
		for _, o := range shipped() {
			kind := o.Value.Kind()
			if known, err := wasEverStored(ctx, tx, kind, o.Name); err != nil || known {
				if err != nil {
					return err
				}
				continue
			}
			data, err := json.Marshal(o.Value)
			if err != nil {
				return err
			}
			if err := upsertObject(ctx, tx, kind, o.Name, string(data)); err != nil {
				return err
			}
			if err := recordChange(ctx, tx, kind, o.Name, "", string(data), ""); err != nil {
				return err
			}
		}
		return nil
	})
}
