"""Names of months and numbers in words, for `numbers`."""

from __future__ import annotations

_MONTH_NAMES = {
    "en": "january february march april may june july august september october november december",
    "en-short": "jan feb mar apr - jun jul aug sep oct nov dec",
    "en-sept": "- - - - - - - - sept - - -",
    "de": "januar februar märz april mai juni juli august september oktober november dezember",
    "de-at": "jänner feber - - - - - - - - - -",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre"
    " diciembre",
    "es-var": "- - - - - - - - setiembre - - -",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro"
    " dezembro",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre"
    " dicembre",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
    "ca": "gener febrer març abril maig juny juliol agost setembre octubre novembre desembre",
    "ro": "ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie"
    " decembrie",
    "ru": "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "ru-nom": "январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь",
    "ru-in": "январе феврале марте апреле мае июне июле августе сентябре октябре ноябре декабре",
    "uk": "січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня",
    "uk-nom": "січень лютий березень квітень травень червень липень серпень вересень жовтень"
    " листопад грудень",
    "pl": "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października"
    " listopada grudnia",
    "pl-nom": "styczeń luty marzec kwiecień maj czerwiec lipiec sierpień wrzesień październik"
    " listopad grudzień",
    "cs": "ledna února března dubna května června července srpna září října listopadu prosince",
    "cs-nom": "leden únor březen duben květen červen červenec srpen září říjen listopad prosinec",
    "sv": "januari februari mars april maj juni juli augusti september oktober november december",
    "da": "januar februar marts april maj juni juli august september oktober november december",
    "no": "januar februar mars april mai juni juli august september oktober november desember",
    "fi": "tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta"
    " syyskuuta lokakuuta marraskuuta joulukuuta",
    "tr": "ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık",
    "hu": "január február március április május június július augusztus szeptember október november"
    " december",
    "id": "januari februari maret april mei juni juli agustus september oktober november desember",
    "el": "ιανουαρίου φεβρουαρίου μαρτίου απριλίου μαΐου ιουνίου ιουλίου αυγούστου σεπτεμβρίου"
    " οκτωβρίου νοεμβρίου δεκεμβρίου",
    "ar": "يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر",
    "he": "בינואר בפברואר במרץ באפריל במאי ביוני ביולי באוגוסט בספטמבר באוקטובר בנובמבר בדצמבר",
    "fa": "ژانویه فوریه مارس آوریل مه ژوئن ژوئیه اوت سپتامبر اکتبر نوامبر دسامبر",
    "hi": "जनवरी फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर",
    "hi-var": "- फरवरी - - - - - - सितम्बर अक्तूबर नवम्बर दिसम्बर",
}

MONTHS: dict[str, int] = {
    name: number
    for names in _MONTH_NAMES.values()
    for number, name in enumerate(names.split(), start=1)
    if name != "-"
}
"""Month of each name, lower-case."""

_TO_TWELVE = {
    "en": "two three four five six seven eight nine ten eleven twelve",
    "de": "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "fr": "deux trois quatre cinq six sept huit neuf dix onze douze",
    "es": "dos tres cuatro cinco seis siete ocho nueve diez once doce",
    "pt": "dois três quatro cinco seis sete oito nove dez onze doze",
    "it": "due tre quattro cinque sei sette otto nove dieci undici dodici",
    "nl": "twee drie vier vijf zes zeven acht negen tien elf twaalf",
    "ru": "два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать",
    "sv": "två tre fyra fem sex sju åtta nio tio elva tolv",
    "pl": "dwa trzy cztery pięć sześć siedem osiem dziewięć dziesięć jedenaście dwanaście",
}
_ORDINALS = {
    "en": "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth",
    "de": "erste zweite dritte vierte fünfte sechste siebte achte neunte zehnte elfte zwölfte",
    "fr": "premier deuxième troisième quatrième cinquième sixième septième huitième neuvième"
    " dixième",
    "es": "primero segundo tercero cuarto quinto sexto séptimo octavo noveno décimo",
    "it": "primo secondo terzo quarto quinto sesto settimo ottavo nono decimo",
    "pt": "primeiro segundo terceiro quarto quinto sexto sétimo oitavo nono décimo",
    "nl": "eerste tweede derde vierde vijfde zesde zevende achtste negende tiende",
}
_MORE = {
    "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18,
    "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60,
    "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100, "thousand": 1000,
    "million": 10**6, "billion": 10**9, "dozen": 12,
    "dreizehn": 13, "vierzehn": 14, "fünfzehn": 15, "sechzehn": 16, "siebzehn": 17,
    "achtzehn": 18, "neunzehn": 19, "zwanzig": 20, "dreißig": 30, "vierzig": 40, "fünfzig": 50,
    "sechzig": 60, "siebzig": 70, "achtzig": 80, "neunzig": 90, "hundert": 100, "tausend": 1000,
    "treize": 13, "quatorze": 14, "quinze": 15, "seize": 16, "vingt": 20, "trente": 30,
    "quarante": 40, "cinquante": 50, "soixante": 60, "mille": 1000,
    "trece": 13, "catorce": 14, "quince": 15, "veinte": 20, "treinta": 30, "cuarenta": 40,
    "cincuenta": 50, "sesenta": 60, "setenta": 70, "ochenta": 80, "noventa": 90, "cien": 100,
    "vinte": 20, "trinta": 30, "quarenta": 40, "venti": 20, "trenta": 30, "quaranta": 40,
    "cinquanta": 50, "twintig": 20, "dertig": 30, "veertig": 40, "vijftig": 50, "honderd": 100,
    "двадцать": 20, "тридцать": 30, "сорок": 40, "пятьдесят": 50, "сто": 100,
}  # fmt: skip

CARDINALS: dict[str, int] = {
    **{
        name: number
        for names in _TO_TWELVE.values()
        for number, name in enumerate(names.split(), start=2)
    },
    **_MORE,
}
"""Value of each number word, lower-case. One is left out: it is an article in most languages."""

ORDINALS: dict[str, int] = {
    name: number
    for names in _ORDINALS.values()
    for number, name in enumerate(names.split(), start=1)
}
"""Value of each ordinal word, lower-case."""

NUMBERS: dict[str, int] = {**ORDINALS, **CARDINALS}

_AMBIGUOUS = """
two dos due deux zwei elf once sei sex ten neuf mille cent set sept second dozen cinco quince acht
quinto primo million billion hundred thousand
"""
AMBIGUOUS = frozenset(_AMBIGUOUS.split())
"""Number words that are other words as well, in this language or another: an answer that holds one
is not held to have stated a number. Two is among them: people count to two by themselves."""

SCALES: dict[str, int] = {
    "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12,
    "bn": 10**9, "mn": 10**6, "mio": 10**6, "mrd": 10**9,
    "tausend": 1000, "millionen": 10**6, "milliarde": 10**9, "milliarden": 10**9,
    "millions": 10**6, "billions": 10**9, "milliard": 10**9, "milliards": 10**9, "mille": 1000,
    "mil": 1000, "millón": 10**6, "millones": 10**6, "milhão": 10**6, "milhões": 10**6,
    "bilhões": 10**9, "mila": 1000, "milione": 10**6, "milioni": 10**6, "miliardi": 10**9,
    "miljoen": 10**6, "miljard": 10**9, "duizend": 1000, "тысяч": 1000, "тысячи": 1000,
    "миллион": 10**6, "миллиона": 10**6, "миллионов": 10**6, "миллиарда": 10**9,
    "миллиардов": 10**9, "млн": 10**6, "млрд": 10**9, "万": 10**4, "萬": 10**4, "億": 10**8,
    "亿": 10**8, "lakh": 10**5, "crore": 10**7, "लाख": 10**5, "करोड़": 10**7, "만": 10**4,
    "억": 10**8,
}  # fmt: skip
"""Words behind a number that multiply it."""

_ONES = {
    "de": "ein zwei drei vier fünf sechs sieben acht neun",
    "nl": "een twee drie vier vijf zes zeven acht negen",
    "it": "uno due tre quattro cinque sei sette otto nove",
    "es": "uno dós trés cuatro cinco séis siete ocho nueve",
    "sv": "ett två tre fyra fem sex sju åtta nio",
}
_TENS = {
    "de": "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "nl": "twintig dertig veertig vijftig zestig zeventig tachtig negentig",
    "it": "venti trenta quaranta cinquanta sessanta settanta ottanta novanta",
    "sv": "tjugo trettio fyrtio femtio sextio sjuttio åttio nittio",
}
_COUNTS = {
    # Two to ten, then eleven to nineteen, tens, hundred and thousand as far as they are one word.
    "da": "to tre fire fem seks syv otte ni ti elleve tolv",
    "no": "to tre fire fem seks sju åtte ni ti elleve tolv",
    "fi": "kaksi kolme neljä viisi kuusi seitsemän kahdeksan yhdeksän kymmenen yksitoista"
    " kaksitoista",
    "ro": "doi trei patru cinci șase șapte opt nouă zece unsprezece doisprezece",
    "cs": "dva tři čtyři pět šest sedm osm devět deset jedenáct dvanáct",
    "sk": "dva tri štyri päť šesť sedem osem deväť desať jedenásť dvanásť",
    "hu": "kettő három négy öt hat hét nyolc kilenc tíz tizenegy tizenkettő",
    "tr": "iki üç dört beş altı yedi sekiz dokuz on - -",
    "id": "dua tiga empat lima enam tujuh delapan sembilan sepuluh sebelas -",
    "ca": "dos tres quatre cinc sis set vuit nou deu onze dotze",
    "uk": "два три чотири п'ять шість сім вісім дев'ять десять одинадцять дванадцять",
    "bg": "два три четири пет шест седем осем девет десет единадесет дванадесет",
    "sr": "два три четири пет шест седам осам девет десет једанаест дванаест",
    "el": "δύο τρία τέσσερα πέντε έξι επτά οκτώ εννέα δέκα έντεκα δώδεκα",
    "ar": "اثنان ثلاثة أربعة خمسة ستة سبعة ثمانية تسعة عشرة - -",
    "fa": "دو سه چهار پنج شش هفت هشت نه ده یازده دوازده",
    "he": "שניים שלושה ארבעה חמישה שישה שבעה שמונה תשעה עשרה - -",
    "hi": "दो तीन चार पाँच छह सात आठ नौ दस ग्यारह बारह",
    "vi": "hai ba bốn năm sáu bảy tám chín mười - -",
}


def _spelled_out() -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {
        language: {w: n for n, w in enumerate(words.split(), start=2) if w != "-"}
        for language, words in _COUNTS.items()
    }
    for language, tens in _TENS.items():
        own = found.setdefault(language, {})
        ones = _ONES[language].split()
        for n, ten in enumerate(tens.split(), start=2):
            own[ten] = 10 * n
            for one, word in enumerate(ones, start=1):
                joint = {"de": "und", "nl": "ën" if word.endswith("e") else "en"}.get(language)
                if joint:
                    own[f"{word}{joint}{ten}"] = 10 * n + one
                elif language == "it":
                    stem = ten[:-1] if word[0] in "uo" else ten
                    own[f"{stem}{word.replace('tre', 'tré')}"] = 10 * n + one
                    own[f"{stem}{word}"] = 10 * n + one
                else:
                    own[f"{ten}{word}"] = 10 * n + one
    for language, hundred in (("de", "hundert"), ("nl", "honderd"), ("sv", "hundra")):
        for n, word in enumerate(_ONES[language].split(), start=1):
            found[language][f"{word}{hundred}"] = 100 * n
    found["es"] = {f"veinti{word}": 20 + n for n, word in enumerate(_ONES["es"].split(), start=1)}
    found["es"] |= {"veintidos": 22, "veintitres": 23, "veintiún": 21, "doscientos": 200,
                    "trescientos": 300, "quinientos": 500}  # fmt: skip
    return found


SPELLED: dict[str, dict[str, int]] = _spelled_out()
"""Number words by language that are known only in a text of that language."""
