package handlers

// styleWords are the texts of the style guide's samples in one language.
type styleWords struct {
	label       string   // of a Question block
	short, long string   // questions
	suggestions []string // questions too
	brief       string   // an answer of one paragraph that cites source 1
	text        string   // an answer with everything that answers can hold
	reasons     []string
	day         string
	sources     []styleSource
}

type styleSource struct {
	title, where, passage string
	lang                  string // where it is not that of the page
}

// wordsIn are the words in a language of the interface, English for others.
func wordsIn(lang string) styleWords {
	switch lang {
	case "es":
		return spanishWords
	case "ar":
		return arabicWords
	}
	return englishWords
}

var englishWords = styleWords{
	label: "Ask the garden",
	short: "When does the greenhouse open in winter?",
	long:  "We come with twenty pupils and two guests from Kyoto. When is the greenhouse open in February, what does it cost us, and how do we get the dates into our calendar?",
	suggestions: []string{
		"Do groups have to book?", "Is there a path without steps?", "Where can a coach stop?", "What grows in February?",
	},
	brief: "From November to February the greenhouse opens at ten and closes at **half past three**, every day but Monday. [1]",
	text: "The greenhouse opens at ten from November to February, every day but Monday. [1] " +
		"**For a school the best day is Thursday**, when it is kept for groups until noon. [2]\n\n" +
		"# Days and prices\n\n" +
		"| Day | Opens | Pupils | What is on |\n| --- | ---: | ---: | --- |\n" +
		"| Thursday 4 February | 10:00 | 2.00 | Kept for groups until 12:00 |\n| Friday 5 February | 10:00 | 2.50 | Seed sorting |\n| Saturday 6 February | 10:00 | 3.00 | Tour at 14:00 |\n\n" +
		"Frost can keep the doors shut for an hour; the board at the gate is right on the day. [1] Please tell us: [2]\n\n" +
		"- how many pupils and adults come,\n- whether anyone needs the **path without steps**,\n- the language that you would like:\n  - English,\n  - Japanese.\n\n" +
		"## Into your calendar\n\n" +
		"1. Choose to add a calendar *by address*.\n2. Paste `https://garden.example/days.ics` and save.\n3. It is made anew every night. [3]\n\n" +
		"The same days can be read by programs:\n\n" +
		"```sh\n# The next days that are kept for groups\ncurl \"https://garden.example/days.json?for=groups&from=2027-02-01\" \\\n  --header \"Accept-Language: ja\"\n```\n\n" +
		"## For your guests\n\n" +
		"The leaflet in Japanese begins: [4]\n\n" +
		"> 温室は十一月から二月まで、月曜日を除く毎日、午前十時に開きます。通路の外には入らないでください。案内は一日一回、午後二時からです。\n\n" +
		"The sign at the door says it in Arabic too:\n\n" +
		"> تفتح الدفيئة أبوابها الساعة 10:00 كل يوم ما عدا الاثنين.\n\n" +
		"---\n\n" +
		"Averyveryverylongwordwithoutanyplacetobreakitwhichcomesfromafilename_2027_02_01_final_final_v2.pdf stays within its column.",
	reasons: []string{"It is not correct", "It does not answer my question", "A source does not say this", "It is out of date", "It is hard to read", "Something else"},
	day:     "28 April 2027",
	sources: []styleSource{
		{title: "Opening hours", where: "Visit", passage: "From November to February the greenhouse is open from 10:00 to 15:30, Tuesday to Sunday."},
		{title: "Groups and schools", where: "Learn / Groups", passage: "On Thursdays the greenhouse is kept for groups until noon."},
		{title: "Calendar and open data", where: "About / Open data", passage: "Subscribe to our days by address. The calendar is made anew every night."},
		{title: "温室のご案内", where: "Visit / Leaflets (PDF, page 1)", passage: "温室は十一月から二月まで、月曜日を除く毎日、午前十時に開きます。", lang: "ja"},
	},
}

var spanishWords = styleWords{
	label: "Pregunte al jardín",
	short: "¿Cuándo abre el invernadero en invierno?",
	long:  "Venimos con veinte alumnos y dos invitados de Kioto. ¿Cuándo abre el invernadero en febrero, cuánto nos cuesta y cómo pasamos las fechas a nuestro calendario?",
	suggestions: []string{
		"¿Los grupos deben reservar?", "¿Hay un camino sin escalones?", "¿Dónde puede parar un autocar?", "¿Qué crece en febrero?",
	},
	brief: "De noviembre a febrero el invernadero abre a las diez y cierra a las **tres y media**, todos los días menos el lunes. [1]",
	text: "De noviembre a febrero el invernadero abre a las diez, todos los días menos el lunes. [1] " +
		"**Para un colegio el mejor día es el jueves**, reservado a los grupos hasta mediodía. [2]\n\n" +
		"# Días y precios\n\n" +
		"| Día | Abre | Alumnos | Qué hay |\n| --- | ---: | ---: | --- |\n" +
		"| Jueves 4 de febrero | 10:00 | 2,00 | Reservado a grupos hasta las 12:00 |\n| Viernes 5 de febrero | 10:00 | 2,50 | Selección de semillas |\n\n" +
		"Díganos, por favor: [2]\n\n" +
		"- cuántos alumnos y adultos vienen,\n- si alguien necesita el **camino sin escalones**.\n\n" +
		"## En su calendario\n\n" +
		"1. Elija añadir un calendario *por dirección*.\n2. Pegue `https://garden.example/days.ics`.\n3. Se rehace cada noche. [3]\n\n" +
		"```sh\ncurl \"https://garden.example/days.json?for=groups&from=2027-02-01\"\n```\n\n" +
		"> El folleto en japonés espera en la entrada. [4]",
	reasons: []string{"No es correcto", "No responde a mi pregunta", "Una fuente no dice eso", "Está anticuado", "Cuesta leerlo", "Otra cosa"},
	day:     "28 de abril de 2027",
	sources: []styleSource{
		{title: "Horario", where: "Visita", passage: "De noviembre a febrero el invernadero abre de 10:00 a 15:30, de martes a domingo."},
		{title: "Grupos y colegios", where: "Aprender / Grupos", passage: "Los jueves el invernadero se reserva a los grupos hasta mediodía."},
		{title: "Calendario y datos abiertos", where: "Acerca de / Datos abiertos", passage: "Suscríbase por dirección. El calendario se rehace cada noche."},
		{title: "温室のご案内", where: "Visita / Folletos (PDF, página 1)", passage: "温室は十一月から二月まで、月曜日を除く毎日、午前十時に開きます。", lang: "ja"},
	},
}

var arabicWords = styleWords{
	label: "اسأل الحديقة",
	short: "متى تفتح الدفيئة في الشتاء؟",
	long:  "نأتي مع عشرين تلميذًا وضيفين من كيوتو. متى تفتح الدفيئة في فبراير، وكم تكلفنا الزيارة، وكيف نضيف المواعيد إلى تقويمنا؟",
	suggestions: []string{
		"هل تحتاج المجموعات إلى حجز؟", "هل يوجد طريق بلا درج؟", "أين تقف الحافلة؟", "ماذا ينمو في فبراير؟",
	},
	brief: "من نوفمبر إلى فبراير تفتح الدفيئة الساعة العاشرة وتغلق **الثالثة والنصف**، كل يوم ما عدا الاثنين. [1]",
	text: "تفتح الدفيئة الساعة العاشرة من نوفمبر إلى فبراير، كل يوم ما عدا الاثنين. [1] " +
		"**وأنسب يوم للمدارس هو الخميس**، إذ تُخصَّص للمجموعات حتى الظهر. [2]\n\n" +
		"# الأيام والأسعار\n\n" +
		"| اليوم | الفتح | التلاميذ | البرنامج |\n| --- | ---: | ---: | --- |\n" +
		"| الخميس 4 فبراير | 10:00 | 2.00 | للمجموعات حتى 12:00 |\n| الجمعة 5 فبراير | 10:00 | 2.50 | فرز البذور |\n\n" +
		"أخبرونا من فضلكم: [2]\n\n" +
		"- بعدد التلاميذ والكبار،\n- وهل يحتاج أحد إلى **طريق بلا درج**.\n\n" +
		"## في تقويمك\n\n" +
		"1. اختر إضافة تقويم *من عنوان*.\n2. ألصق `https://garden.example/days.ics` ثم احفظ.\n3. يُبنى التقويم من جديد كل ليلة. [3]\n\n" +
		"```sh\ncurl \"https://garden.example/days.json?for=groups&from=2027-02-01\"\n```\n\n" +
		"> تنتظركم نشرة باليابانية عند المدخل. [4]",
	reasons: []string{"غير صحيح", "لا يجيب عن سؤالي", "المصدر لا يقول هذا", "قديم", "تصعب قراءته", "شيء آخر"},
	day:     "28 أبريل 2027",
	sources: []styleSource{
		{title: "مواعيد الزيارة", where: "الزيارة", passage: "من نوفمبر إلى فبراير تفتح الدفيئة من 10:00 إلى 15:30، من الثلاثاء إلى الأحد."},
		{title: "المجموعات والمدارس", where: "التعلّم / المجموعات", passage: "تُخصَّص الدفيئة للمجموعات يوم الخميس حتى الظهر."},
		{title: "التقويم والبيانات المفتوحة", where: "عن الحديقة / البيانات المفتوحة", passage: "اشترك بالعنوان. يُبنى التقويم من جديد كل ليلة."},
		{title: "温室のご案内", where: "الزيارة / النشرات (PDF، الصفحة 1)", passage: "温室は十一月から二月まで、月曜日を除く毎日、午前十時に開きます。", lang: "ja"},
	},
}

// A Japanese question and its answer are shown in every language: lines break
// between any two characters but those that belong together, and one run has no
// place to break at all.
const (
	japaneseQuestion = "二月に二十人の生徒を連れて行きます。温室は何時に開きますか。料金はいくらですか。"
	japaneseText     = "温室は十一月から二月まで、月曜日を除く毎日、午前十時に開きます。[1] **学校には木曜日をお勧めします。** 正午までは団体専用です。[2]\n\n" +
		"## 日程と料金\n\n" +
		"| 曜日 | 開園 | 生徒一人 | 催し |\n| --- | ---: | ---: | --- |\n" +
		"| 二月四日（木曜日） | 10:00 | 2.00 | 正午まで団体専用 |\n| 二月五日（金曜日） | 10:00 | 2.50 | 種の選別作業を見学できます |\n\n" +
		"```sh\n# 団体専用の日を取り出す。この行は長いので、折り返さずに横へ動かして読みます\ncurl \"https://garden.example/days.json?for=groups\" --header \"Accept-Language: ja\"\n```\n\n" +
		"> 通路の外には入らないでください。\n\n" +
		"「ラララララララララララララララララララララララララララララララララララララララララララララララララララララララララララララー」" +
		"と`温室団体予約申込書兼利用料金減免申請書兼同意書二〇二七年二月一日改訂最終版第二稿`の名前は長いままです。[1]"
)
