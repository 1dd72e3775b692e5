from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lukasa.text.language import detect


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("I moved to Berlin last year and like it here", "en"),
        ("Ana loves hiking mountains", "en"),
        ("I LIVE IN BERLIN WITH TWO CATS", "en"),
        ("Me gustan las bicicletas rojas de montaña", "es"),
        ("Ich wohne seit drei Jahren in Hamburg", "de"),
        ("J'habite à Lyon depuis trois ans", "fr"),
        ("Preferisco il caffè senza zucchero la mattina", "it"),
        ("Eu moro em Lisboa com a minha irmã", "pt"),
        ("Мне нравится зелёный чай", "ru"),
        ("我住在北京，喜欢写代码", "zh"),
        ("東京に住んでいます", "ja"),
        ("나는 서울에 살아요", "ko"),
        ("ฉันชอบกินข้าวผัด", "th"),
        ("Μένω στην Αθήνα", "el"),
        ("我用Python写代码", "zh"),
    ],
)
def test_the_language_is_found(text: str, code: str):
    assert detect(text) == code


@pytest.mark.parametrize("text", ["", "   ", "My dog Rex", "Berlin", "12345", "a b", "👍👍👍", "λ"])
def test_too_little_text_has_no_language(text: str):
    assert detect(text) is None


def test_one_foreign_word_does_not_change_the_language():
    assert detect("I would love to visit 東京 with my sister in the spring") == "en"


def test_line_ends_do_not_matter():
    assert detect("Ich wohne\nseit drei\nJahren in Hamburg") == "de"


def test_threads_agree():
    texts = ["Ich wohne seit drei Jahren in Hamburg", "Me gustan las bicicletas rojas"] * 50
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(detect, texts)) == ["de", "es"] * 50


@given(st.text(st.characters(codec=None)))
def test_any_text_has_a_language_or_none(text: str):
    code = detect(text)
    assert code is None or 2 <= len(code) <= 3
