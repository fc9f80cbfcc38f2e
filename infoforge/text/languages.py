"""Language codes: ISO 639-3 as ZIM files carry them, ISO 639-1 as people write them."""

from __future__ import annotations

_PAIRS = """
aa:aar ab:abk ae:ave af:afr ak:aka am:amh an:arg ar:ara as:asm av:ava ay:aym az:aze ba:bak
be:bel bg:bul bi:bis bm:bam bn:ben bo:bod br:bre bs:bos ca:cat ce:che ch:cha co:cos cr:cre
cs:ces cu:chu cv:chv cy:cym da:dan de:deu dv:div dz:dzo ee:ewe el:ell en:eng eo:epo es:spa
et:est eu:eus fa:fas ff:ful fi:fin fj:fij fo:fao fr:fra fy:fry ga:gle gd:gla gl:glg gn:grn
gu:guj gv:glv ha:hau he:heb hi:hin ho:hmo hr:hrv ht:hat hu:hun hy:hye hz:her ia:ina id:ind
ie:ile ig:ibo ii:iii ik:ipk io:ido is:isl it:ita iu:iku ja:jpn jv:jav ka:kat kg:kon ki:kik
kj:kua kk:kaz kl:kal km:khm kn:kan ko:kor kr:kau ks:kas ku:kur kv:kom kw:cor ky:kir la:lat
lb:ltz lg:lug li:lim ln:lin lo:lao lt:lit lu:lub lv:lav mg:mlg mh:mah mi:mri mk:mkd ml:mal
mn:mon mr:mar ms:msa mt:mlt my:mya na:nau nb:nob nd:nde ne:nep ng:ndo nl:nld nn:nno no:nor
nr:nbl nv:nav ny:nya oc:oci oj:oji om:orm or:ori os:oss pa:pan pi:pli pl:pol ps:pus pt:por
qu:que rm:roh rn:run ro:ron ru:rus rw:kin sa:san sc:srd sd:snd se:sme sg:sag sh:hbs si:sin
sk:slk sl:slv sm:smo sn:sna so:som sq:sqi sr:srp ss:ssw st:sot su:sun sv:swe sw:swa ta:tam
te:tel tg:tgk th:tha ti:tir tk:tuk tl:tgl tn:tsn to:ton tr:tur ts:tso tt:tat tw:twi ty:tah
ug:uig uk:ukr ur:urd uz:uzb ve:ven vi:vie vo:vol wa:wln wo:wol xh:xho yi:yid yo:yor za:zha
zh:zho zu:zul
"""
_TO_ALPHA3 = dict(pair.split(":") for pair in _PAIRS.split())
_TO_ALPHA2 = {three: two for two, three in _TO_ALPHA3.items()}
# ISO 639-2/B, which library catalogs use, where it differs; and codes that were withdrawn.
_OLD = {
    "alb": "sq", "arm": "hy", "baq": "eu", "bur": "my", "chi": "zh", "cmn": "zh", "cze": "cs",
    "dut": "nl", "fre": "fr", "geo": "ka", "ger": "de", "gre": "el", "ice": "is", "in": "id",
    "iw": "he", "mac": "mk", "mao": "mi", "may": "ms", "per": "fa", "rum": "ro", "scc": "sr",
    "scr": "hr", "slo": "sk", "tib": "bo", "wel": "cy",
}  # fmt: skip


def alpha2(code: str) -> str:
    """The ISO 639-1 code of a language code where one exists, else the code itself, lower case.

    Args:
        code: ISO 639-1, 639-2 or 639-3, also with a region or script (``pt-BR``), which is cut off.
    """
    base = code.strip().lower().replace("_", "-").split("-")[0]
    return _OLD.get(base) or _TO_ALPHA2.get(base, base)


def alpha3(code: str) -> str:
    """The ISO 639-3 code of a language code, or the code itself when none is known."""
    short = alpha2(code)
    return _TO_ALPHA3.get(short, short)
