"""Units of measure: which kind of quantity each is, and its size in that kind's base unit."""

from __future__ import annotations

from decimal import Decimal

# dimension, size in the base unit, and the ways it is written (lower-case; symbols as they are).
_TABLE = (
    ("length", "0.000000001", "nm nanometre nanometres nanometer nanometers nanometern нм"),
    ("length", "0.000001", "µm μm micrometre micrometres micrometer micrometers mikrometer"),
    ("length", "0.001", "mm millimetre millimetres millimeter millimeters millimetern milímetro"
     " milímetros millimètre millimètres millimetri мм миллиметров 毫米"),
    ("length", "0.01", "cm centimetre centimetres centimeter centimeters zentimeter zentimetern"
     " centímetro centímetros centimètre centimètres centimetri см сантиметров 厘米"),
    ("length", "1", "m metre metres meter meters metern metro metros mètre mètres metri м метр"
     " метра метров metrů metra metrów metri 米 公尺 メートル 미터 متر मीटर"),
    ("length", "1000", "km kilometre kilometres kilometer kilometers kilometern kilómetro"
     " kilómetros quilômetro quilômetros quilómetro quilómetros kilomètre kilomètres chilometro"
     " chilometri км километр километра километров kilometrů kilometrów kilometre 公里 千米"
     " キロ キロメートル 킬로미터 كيلومتر كم किलोमीटर"),
    ("length", "1609.344", "mi mile miles meile meilen milla millas milha milhas miglio miglia mijl"
     " миля мили миль mil 英里 マイル 마일 ميل मील"),
    ("length", "1852", "nmi seemeile seemeilen 海里"),
    ("length", "0.9144", "yd yard yards"),
    ("length", "0.3048", "ft foot feet fuß pie pies pied pieds piedi voet 英尺 フィート"),
    ("length", "0.0254", "inch inches zoll pulgada pulgadas pouce pouces pollici 英寸"),
    ("mass", "0.000001", "µg μg microgram micrograms mikrogramm"),
    ("mass", "0.001", "mg milligram milligrams milligramm miligramo miligramos milligrammes мг"
     " 毫克"),
    ("mass", "1", "g gram grams gramm gramo gramos grama gramas gramme grammes grammi грамм граммов"
     " 克 グラム 그램"),
    ("mass", "1000", "kg kilo kilos kilogram kilograms kilogramm kilogramo kilogramos quilograma"
     " quilogramas quilos kilogramme kilogrammes chilogrammi кг килограмм килограмма килограммов"
     " kilogramů kilogramów 公斤 千克 キログラム 킬로그램 كيلوغرام किलोग्राम"),
    ("mass", "1000000", "t ton tons tonne tonnes tonnen tonelada toneladas tonnellate т тонна тонны"
     " тонн tun ton 吨 噸 トン 톤 طن टन"),
    ("mass", "453.59237", "lb lbs pound pounds pfund libra libras livre livres 磅 ポンド"),
    ("mass", "28.349523125", "oz ounce ounces unze unzen onza onzas 盎司"),
    ("time", "0.001", "ms millisecond milliseconds millisekunden milisegundos 毫秒"),
    ("time", "1", "s sec secs second seconds sekunde sekunden segundo segundos seconde secondes"
     " secondi seconden секунда секунды секунд 秒 초 ثانية सेकंड"),
    ("time", "60", "min mins minute minutes minuten minuto minutos minuti минута минуты минут"
     " 分钟 分鐘 分間 분 دقيقة मिनट"),
    ("time", "3600", "h hr hrs hour hours stunde stunden hora horas heure heures ora ore uur час"
     " часа часов 小时 小時 時間 시간 ساعة घंटे saat"),
    ("time", "86400", "day days tag tage tagen día días dia dias jour jours giorno giorni dag dagen"
     " день дня дней dní dni gün 天 日間 يوم أيام दिन"),
    ("time", "604800", "week weeks woche wochen semana semanas semaine semaines settimana settimane"
     " weken неделя недели недель 周 週間"),
    ("time", "2629800", "month months monat monate monaten mes meses mês mois mese mesi maand"
     " maanden месяц месяца месяцев 个月 個月 か月 ヶ月"),
    ("time", "31557600", "year years yr yrs jahr jahre jahren año años ano anos an ans année années"
     " anno anni jaar jaren год года лет rok let lat yıl 年间 年間 سنة عام वर्ष साल"),
    ("time", "315576000", "decade decades jahrzehnt jahrzehnte década décadas décennies decenni"),
    ("time", "3155760000", "century centuries jahrhunderte siglos siècles secoli"),
    ("share", "0.01", "% percent prozent percentage porcentaje pourcent процент процента процентов"
     " procent procenta percento ％ パーセント"),
    ("share", "0.001", "‰ permille promille"),
    ("money:usd", "1", "$ us$ usd dollar dollars dólar dólares dollari доллар доллара долларов"
     " 美元 ドル 달러 دولار डॉलर"),
    ("money:eur", "1", "€ eur euro euros евро 欧元 ユーロ 유로 يورو यूरो"),
    ("money:gbp", "1", "£ gbp 英镑"),
    ("money:jpy", "1", "¥ yen 日元 円 엔"),
    ("money:dem", "1", "dm mark"),
    ("temperature:c", "1", "°c ℃ celsius"),
    ("temperature:f", "1", "°f ℉ fahrenheit"),
    ("temperature:k", "1", "k kelvin"),
    ("speed", "1", "m/s"),
    ("speed", "0.2777777778", "km/h kph kmh км/ч"),
    ("speed", "0.44704", "mph mi/h"),
    ("speed", "0.5144444444", "kn kt knot knots knoten nudos nœuds"),
    ("area", "1", "m² m2 sqm"),
    ("area", "1000000", "km² km2 quadratkilometer quadratkilometern км² 平方公里 平方千米"),
    ("area", "2589988.110336", "mi² mi2 quadratmeile quadratmeilen 平方英里"),
    ("area", "10000", "ha hectare hectares hektar hectárea hectáreas ettari гектаров 公顷"),
    ("area", "4046.8564224", "acre acres acrés"),
    ("volume", "0.001", "ml millilitre millilitres milliliter milliliters mililitros мл 毫升"),
    ("volume", "1", "l litre litres liter liters litern litro litros litri литр литра литров 升"),
    ("volume", "1000", "m³ m3"),
    ("volume", "3.785411784", "gal gallon gallons galones"),
    ("power", "1", "w watt watts vatios"),
    ("power", "1000", "kw kilowatt kilowatts kilovatios"),
    ("power", "1000000", "mw megawatt megawatts megavatios"),
    ("power", "1000000000", "gw gigawatt gigawatts"),
    ("power", "745.7", "hp horsepower"),
    ("energy", "1", "j joule joules"),
    ("energy", "3600000", "kwh kilowattstunden"),
    ("voltage", "0.001", "mv"),
    ("voltage", "1", "v volt volts voltios"),
    ("voltage", "1000", "kv kilovolt kilovolts"),
    ("current", "0.001", "ma"),
    ("current", "1", "amp amps ampere amperes"),
    ("pressure", "1", "pa pascal"),
    ("pressure", "1000", "kpa"),
    ("pressure", "100000", "bar"),
    ("pressure", "6894.757", "psi"),
    ("frequency", "1", "hz hertz"),
    ("frequency", "1000", "khz"),
    ("frequency", "1000000", "mhz"),
    ("frequency", "1000000000", "ghz"),
    ("data", "1", "byte bytes"),
    ("data", "1000", "kb kib kilobyte kilobytes"),
    ("data", "1000000", "mb mib megabyte megabytes"),
    ("data", "1000000000", "gb gib gigabyte gigabytes"),
    ("data", "1000000000000", "tb tib terabyte terabytes"),
)  # fmt: skip

UNITS: dict[str, tuple[str, Decimal]] = {}
for _dimension, _size, _names in _TABLE:
    for _name in _names.split():
        UNITS.setdefault(_name, (_dimension, Decimal(_size)))

BEFORE = ("US$", "$", "€", "£", "¥")
"""Signs that are written before the number."""
