package i18n

import (
	"maps"
	"slices"
)

// names are the languages' names in themselves, for language switchers. Content
// may be in any of them; the interface falls back to Default without a catalogue.
var names = map[string]string{
	"af": "Afrikaans", "am": "አማርኛ", "ar": "العربية", "az": "Azərbaycanca", "be": "Беларуская", "bg": "Български",
	"bn": "বাংলা", "bs": "Bosanski", "ca": "Català", "cs": "Čeština", "cy": "Cymraeg", "da": "Dansk", "de": "Deutsch",
	"el": "Ελληνικά", "en": "English", "en-gb": "British English", "en-us": "American English", "eo": "Esperanto",
	"es": "Español", "es-mx": "Español de México", "et": "Eesti", "eu": "Euskara", "fa": "فارسی", "fi": "Suomi",
	"fr": "Français", "fr-ca": "Français canadien", "fy": "Frysk", "ga": "Gaeilge", "gd": "Gàidhlig", "gl": "Galego",
	"gu": "ગુજરાતી", "ha": "Hausa", "he": "עברית", "hi": "हिन्दी", "hr": "Hrvatski", "hu": "Magyar", "hy": "Հայերեն",
	"id": "Bahasa Indonesia", "ig": "Igbo", "is": "Íslenska", "it": "Italiano", "ja": "日本語", "ka": "ქართული",
	"kk": "Қазақша", "km": "ខ្មែរ", "kn": "ಕನ್ನಡ", "ko": "한국어", "ku": "Kurdî", "lb": "Lëtzebuergesch", "lo": "ລາວ",
	"lt": "Lietuvių", "lv": "Latviešu", "mi": "Māori", "mk": "Македонски", "ml": "മലയാളം", "mn": "Монгол", "mr": "मराठी",
	"ms": "Bahasa Melayu", "mt": "Malti", "my": "မြန်မာ", "nb": "Norsk bokmål", "ne": "नेपाली", "nl": "Nederlands",
	"nn": "Norsk nynorsk", "pa": "ਪੰਜਾਬੀ", "pl": "Polski", "ps": "پښتو", "pt": "Português", "pt-br": "Português do Brasil",
	"ro": "Română", "ru": "Русский", "sk": "Slovenčina", "sl": "Slovenščina", "so": "Soomaali", "sq": "Shqip",
	"sr": "Српски", "sv": "Svenska", "sw": "Kiswahili", "ta": "தமிழ்", "te": "తెలుగు", "th": "ไทย", "ti": "ትግርኛ",
	"tl": "Tagalog", "tr": "Türkçe", "uk": "Українська", "ur": "اردو", "uz": "Oʻzbekcha", "vi": "Tiếng Việt",
	"xh": "IsiXhosa", "yi": "ייִדיש", "yo": "Yorùbá", "zh": "中文", "zh-hans": "简体中文", "zh-hant": "繁體中文", "zu": "IsiZulu",
}

// Known returns the codes of the languages whose names are known, sorted.
func Known() []string { return slices.Sorted(maps.Keys(names)) }
