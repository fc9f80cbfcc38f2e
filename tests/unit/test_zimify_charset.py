"""Short texts in old encodings are read as what they are."""

from __future__ import annotations

import pytest

from infoforge.zimify.charset import guess
from infoforge.zimify.encoding import decode, detect

WESTERN = (
    "La contraseña debe tener ocho caracteres.",
    "Straße",
    "Überprüfen Sie den Schlüssel",
    "Mot de passe oublié",
    "virtù",
    "A configuração não está disponível.",
    "Räksmörgås på en ö i Åland.",
    "Køb og sælg",
    "Kjøp billetter på nettet på lørdag",
    "Coördinatie van de geïnteresseerde reünie.",
    "Käyttäjätunnus ja salasana",
    "La contrasenya és incorrecta, però això funciona.",
    "Þetta er íslenskur texti með ð og þ.",
    "Tamaño del archivo: 10 µm",
)
CENTRAL = (
    "Hasło jest nieprawidłowe, spróbuj później.",
    "źródło",
    "Heslo není správné, zkuste to později.",
    "A jelszó érvénytelen, próbálja újra később.",
    "Parola este greşită",
    "Lozinka nije ispravna, pokušajte ponovo kasnije.",
    "Šťastné dieťa",
)
RUSSIAN = ("Пароль неверный", "Привет", "файл не найден", "Проверьте подключение к серверу.")
JAPANESE = ("パスワードが正しくありません。", "東京都", "設定を変更してください")


@pytest.mark.parametrize(
    ("encoding", "texts"),
    [
        ("cp1252", WESTERN),
        ("iso-8859-1", WESTERN),
        ("iso-8859-15", (*WESTERN[:-1], "L'œuvre coûte 5 €.")),
        ("cp1250", CENTRAL),
        ("iso-8859-2", CENTRAL),
        ("cp1251", RUSSIAN),
        ("koi8-r", RUSSIAN),
        ("cp866", RUSSIAN),
        ("koi8-u", ("Привіт, світе! Їжак іде.",)),
        ("euc-jp", JAPANESE),
        ("shift_jis", JAPANESE),
        ("iso-2022-jp", JAPANESE),
        ("gb18030", ("密码不正确，请重试。", "北京大学的学生")),
        ("big5", ("密碼不正確，請重試。",)),
        ("euc-kr", ("비밀번호가 올바르지 않습니다.", "서울")),
        ("cp1253", ("Καλημέρα κόσμε",)),
        ("iso-8859-9", ("Şifre yanlış, lütfen tekrar deneyin.",)),
        ("cp1256", ("مرحبا بالعالم",)),
        ("cp1255", ("שלום עולם",)),
        ("cp1257", ("ąžuolas ir šaltis",)),
        ("cp850", ("Grüße aus Köln",)),
    ],
)
def test_short_texts(encoding, texts):
    assert [decode(text.encode(encoding)) for text in texts] == list(texts)


def test_the_expected_language_decides_where_nothing_else_does():
    name = "Kůň".encode("cp1250")
    assert name.decode(guess(name, "cs")) == "Kůň"


def test_no_encoding_of_the_macintosh_where_a_simpler_one_fits():
    for text in WESTERN + CENTRAL:
        for encoding in ("cp1252", "cp1250"):
            data = text.encode(encoding, "ignore")
            assert not detect(data).startswith(("mac", "shift_jis_2004", "euc_jis"))


def test_text_of_an_old_macintosh_is_read():
    assert decode("Füße\rund Öfen\r".encode("mac-roman")) == "Füße\rund Öfen\r"
