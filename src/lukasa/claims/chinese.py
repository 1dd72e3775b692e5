"""Chinese claims, of both scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from lukasa.claims.base import AGENT, USER, Claim
from lukasa.text.scripts_zh import simplified

_HAN = "\u3400-\u9fff"
_V = rf"(?P<v>[{_HAN}A-Za-z0-9·.+-]{{1,16}}?)(?=$|[，,。；;！、（(]|了|的|和|跟|这边|工作|上班|生活|读|做|当|住|开|现在|目前|，)"
_ADV = r"(?:换工作了[，,]?|现在|現在|目前|已经|已經|刚刚?|剛剛?|最近|也|还|還|都|一直|其实|平时|平時|每天|这边|本人|如今|\d{4}年\S{1,12}?[日月周）晚上]|从[\u3400-\u9fff]{2,6}|從[\u3400-\u9fff]{2,6})*"
_KIN: Final = (
    r"老婆|老公|妻子|丈夫|爱人|对象|對象|女友|男友|女朋友|男朋友|未婚妻|未婚夫|爸爸|妈妈|媽媽|哥哥|姐姐|弟弟|妹妹|表哥|表姐|表弟|表妹|堂哥|堂姐|堂弟|堂妹|儿子|兒子|女儿|女兒|闺女|孩子|"
    r"室友|同事|同学|朋友|闺蜜|领导|領導|老板|上司|经理|主管|导师|老师|客户|房东|教练|猫|貓|狗|外婆|外公|奶奶|爷爷|父亲|母亲|爸|妈|媽"
)
_ONE_OF: Final = frozenset(
    "老婆 老公 妻子 丈夫 对象 對象 女友 男友 女朋友 男朋友 未婚妻 未婚夫 领导 領導 老板 上司 主管 导师 房东".split()
)
_SAME: Final = {
    "女朋友": "女友",
    "男朋友": "男友",
    "領導": "领导",
    "對象": "对象",
    "妻子": "老婆",
    "丈夫": "老公",
    "女兒": "女儿",
    "兒子": "儿子",
}


def _p(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"^{_ADV}(?:{pattern})")


_OF_SUBJECT: Final = (
    ("home", _p(rf"(?:住在|家住|定居在?|搬到|搬去|搬来|搬來|搬回|住){_V}"), True),
    ("home", re.compile(rf"(?:如今|现在|目前)[^，]{{0,6}}住在{_V}"), True),
    ("home", re.compile(rf"(?:搬到|搬去|搬来|搬來|搬回|定居在?){_V}"), True),
    ("employer", _p(rf"在{_V}(?:工作|上班|任职|任職|打工|当|做|报到)"), True),
    (
        "employer",
        re.compile(
            r"(?:去了|去|进了)(?P<v>[\u3400-\u9fff]{2,10}?(?:教育|公司|科技|集团|医院|学校|大学|银行|书店|传媒|局|院|所|店|厂)|[\u3400-\u9fff]{2,10}?(?=报到|上班))"
        ),
        True,
    ),
    (
        "employer",
        re.compile(
            rf"(?:换工作了?[，, ]?(?:去了|到了|进了)|換工作了?[，, ]?(?:去了|到了)|跳槽(?:到|去)了?|入职了?|入職了?|加入了?){_V}"
        ),
        True,
    ),
    ("employer", re.compile(r"(?:从(?P<v>\S{2,12}?)离职|辞职|辭職|离职了|離職了|辞[了啦])"), False),
    (
        "job",
        _p(
            r"(?:是(?:一[名个位])?|做|当|當|从事)(?P<v>(?:[\u3400-\u9fff]{0,6})(?:师|師|员|員|医生|醫生|护士|護士|教授|学生|學生|设计|設計|会计|會計|销售|銷售|运营|開發|开发|编辑|編輯|记者|律师|律師|经理|工人|司机|厨师|程序|产品|老板))"
        ),
        True,
    ),
    (
        "job",
        re.compile(
            r"(?:职位是|刚升(?:了|任|为)?|升任|升为)\s?(?P<v>[A-Za-z][A-Za-z ]+|[\u3400-\u9fff]{2,8})"
        ),
        True,
    ),
    ("age", _p(r"(?:今年)?(?P<v>\d{1,3})(?:岁|歲)"), True),
    ("relationship", re.compile(r"(?P<v>单身|單身|结婚|結婚|已婚|离婚|離婚|订婚|訂婚|分手)"), True),
    ("hometown", _p(rf"(?:老家(?:在|是)?|来自|來自|籍贯(?:是)?){_V}"), True),
    ("name", _p(r"(?:叫|名叫|名字是|的名字是)(?P<v>[\u3400-\u9fff·]{2,6}|[A-Z][a-z]+)(?=$|[，,。])"), True),
    ("diet", re.compile(r"吃(?P<v>[\u3400-\u9fff]{1,3}素)"), True),
    (
        "school",
        re.compile(
            r"(?:在|转到|转去|转学到|考上了?)(?P<v>[\u3400-\u9fff]{2,8}?(?:幼儿园|小学|中学|高中|大学|学校))"
        ),
        True,
    ),
    ("diet", re.compile(r"(?P<v>吃素|素食|纯素|清真)"), True),
    ("height", re.compile(r"身高(?:是)?(?P<v>\d{3}(?:\.\d)?)"), True),
    ("weight", re.compile(r"体重(?:是)?(?P<v>\d{2,3}(?:\.\d)?)"), True),
)
_TOWARD: Final = (
    (
        False,
        re.compile(
            rf"(?P<v>[{_HAN}]{{1,4}}?)(?:我|用户)?(?:卸了|删了|退了|注销了|一口都嫌|喝不惯|吃腻了|喝腻了)"
        ),
    ),
    (True, _p(rf"常(?:刷|看|玩|逛|听){_V}")),
    (
        False,
        re.compile(
            rf"(?:^|，)(?P<v>(?!把|我|用户)[{_HAN}]{{1,4}}?)(?:停了|断了|戒了|不喝了|不吃了|不抽了|不玩了)"
        ),
    ),
    (
        False,
        _p(r"(?:没有?|無|沒有?)(?P<v>[\u3400-\u9fff]{0,6}(?:病|症|炎|血压|血压高|高血压|糖尿病|过敏|哮喘))"),
    ),
    (True, re.compile(rf"(?P<v>[{_HAN}]{{1,4}}?)(?:我|用户)?(?:是)?吃的")),
    (True, _p(r"有(?P<v>[\u3400-\u9fff]{0,6}(?:病|症|炎|高血压|糖尿病|哮喘))")),
    (False, re.compile(rf"把(?P<v>[{_HAN}]{{1,6}}?)(?:给)?(?:戒|扔|退|停)了?")),
    (
        False,
        _p(
            rf"(?:不再|再也不|已经不|戒(?:了|掉了?)?|讨厌|討厭|不喜欢|不喜歡|受不了|不吃|不喝|不碰|不爱(?:吃|喝)?|不愛(?:吃|喝)?|放弃了?|忌口)(?:喝|吃|玩|打|练|学|看|抽)?{_V}"
        ),
    ),
    (False, re.compile(rf"对(?P<v>[{_HAN}A-Za-z]{{1,8}}?)过敏|對(?P<w>[{_HAN}]{{1,8}}?)過敏")),
    (
        True,
        _p(
            rf"(?:很|最|特别|非常|超)?(?:喜欢|喜歡|爱|愛|热爱|迷上了?|爱上了?|开始(?:喜欢)?|只)(?:吃|喝|打|玩|看|听|練|练)?{_V}"
        ),
    ),
    (
        True,
        re.compile(
            rf"(?:每天|每周|经常|常)[^，。]{{0,8}}?(?:喝|吃|抽|打|玩|跑|练|看|游)[一二两三四五六七八九十半\d]*(?:杯|次|根|包|小时|个|公里)?(?P<v>[{_HAN}]{{1,6}}?)(?=$|[，。])"
        ),
    ),
)
_PARTED: Final = re.compile(
    r"(?:跟|和|与)(?P<v>[\u3400-\u9fffA-Za-z]{1,6}?)(?:分了|分手|散了)|(?P<w>)(?:分手了|单身了)"
)
_FAVOURITE: Final = re.compile(
    rf"最(?:喜欢|喜歡|爱|愛)的?(?P<k>[{_HAN}]{{1,5}}?)(?:是|就是|变成了?|換成){_V}"
)
_OWNED: Final = re.compile(
    rf"^的?(?:新)?(?P<k>手机号码?|手機號碼?|电话|電話|邮箱|郵箱|地址|生日|血型|车牌|微信|名字|英文名|网名|昵称|工资|{_KIN})(?:的名字)?(?:改成|换成|是|叫|名叫|：|为|姓)了?{_V}"
)
_SCHEDULE: Final = re.compile(
    r"^(?P<k>[\u3400-\u9fffA-Za-z]{2,12}?)(?:是|在|定在|改到|改成|改在|挪到|提前到|推迟到|安排在|固定在|约在|时间是)+(?P<v>(?:每?周[一二三四五六日末]|\d{4}年\d{1,2}月\d{1,2}日).{0,24})"
)
_SUBJECT: Final = re.compile(
    rf"^(?:(?P<user>用户|用戶|我|咱|使用者)(?:这边|们)?(?:的)?(?P<kin>{_KIN})?(?P<name>(?<=[弟妹哥姐友儿女子公婆事学板导蜜妻夫狗猫])[{_HAN}]{{2,3}}(?=[对對在喜爱不每下是会有也今去最])|[A-Z][a-z]+)?|(?P<agent>助手))"
)


def read(text: str, speaker: str | None) -> Iterator[Claim]:
    """The claims of a Chinese sentence, clause by clause."""
    body = simplified(text.strip().rstrip("。.！!"))
    speaker = None if speaker is None else simplified(speaker)
    subject = (speaker or "").lower() or None
    for clause in re.split(r"[，,；;]", body):
        found, rest, owned = _subject(clause, speaker)
        subject = found or subject
        yield from _claims(subject or "", rest, owned)


def _subject(clause: str, speaker: str | None) -> tuple[str | None, str, str | None]:
    me = speaker.lower() if speaker else USER
    if speaker and clause.startswith(speaker):
        return me, clause[len(speaker) :], clause[len(speaker) :]
    match = _SUBJECT.match(clause)
    if match is None:
        named = re.match(
            rf"^(?P<n>[{_HAN}]{{2,3}}|[A-Z][a-z]+)(?=在[{_HAN}]{{2,10}}(?:上班|工作|上|读|念|打工)|转到|转去|吃|住|爱|有一|养了|喜欢|住在|对|不吃|是)",
            clause,
        )
        if named and named["n"] not in ("现在", "目前", "老家", "公司", "以后", "平时", "房子"):
            return named["n"].lower(), clause[named.end() :], None
        return None, clause, clause
    rest = clause[match.end() :]
    if match["agent"]:
        return AGENT, rest, None
    if match["kin"]:
        who = match["name"].lower() if match["name"] else f"{me}'s {match['kin']}"
        return who, rest, f"{match['kin']}{rest}"
    return me, rest, rest


def _claims(subject: str, rest: str, owned: str | None) -> Iterator[Claim]:
    if owned and (match := _OWNED.match(owned)):
        key = _SAME.get(match["k"], match["k"])
        kin = re.fullmatch(_KIN, match["k"]) is not None
        yield Claim(
            USER if kin else subject or USER, key, match["v"].lower(), single=not kin or match["k"] in _ONE_OF
        )
        return
    if match := _PARTED.search(rest):
        yield Claim(USER, "relationship", "分手")
        for kin in ("男友", "女友", "对象"):
            yield Claim(USER, kin, (match["v"] or match["w"] or "").lower(), holds=False)
    if match := _FAVOURITE.search(rest):
        yield Claim(subject or USER, f"最喜欢:{match['k']}", match["v"].lower())
        return
    if match := _SCHEDULE.match(rest.removeprefix("的")):
        yield Claim(USER, f"schedule:{match['k']}", match["v"])
    if subject:
        for attribute, pattern, holds in _OF_SUBJECT:
            if match := pattern.search(rest):
                yield Claim(subject, attribute, (match.groupdict().get("v") or "").lower(), holds=holds)
        for holds, pattern in _TOWARD:
            if match := pattern.search(rest):
                given = match.groupdict()
                yield Claim(
                    subject,
                    "toward",
                    (given.get("v") or given.get("w") or "").lower(),
                    holds=holds,
                    single=False,
                )
                break
    yield from _instructions(rest)


_ANSWERS: Final = (
    (
        "reply:length",
        re.compile(
            r"(?P<v>越?详细|越?詳細|简短|簡短|简洁|簡潔|精简|\d+字(?:以内|以內|左右)?|不限字数|[一二两三四五几]句话|长一点|短一点)"
        ),
    ),
    ("reply:language", re.compile(r"(?:用|使用)(?P<v>中文|英文|简体中文|繁体中文|繁體中文|粤语|日语|英语)")),
    ("reply:form", re.compile(r"(?:用)?(?P<v>(?:[别不]要?再?)?(?:列表|表格|分点|段落|要点|条列))")),
    ("reply:date", re.compile(r"(?P<v>西元|公元|民国|阳历|农历)")),
    ("reply:code", re.compile(r"(?:示例|例子|代码|程式碼)[^，。]{0,6}用(?P<v>[A-Za-z+#]+)")),
    ("reply:emoji", re.compile(r"(?P<v>(?:不要|别|別|少|多)(?:用|加|发)?(?:表情|emoji))")),
    (
        "reply:call",
        re.compile(
            r"(?:被?叫|称呼|被?称|喊)(?:我|用户)?为?(?:做|作)?(?P<v>[\u3400-\u9fffA-Za-z]{1,6}?)(?=$|就|吧|，)"
        ),
    ),
)
_STANDING: Final = re.compile(
    r"代码|示例|称|日期|希望|回答|回复|回覆|以后|以後|今后|答案|说话|叫|称呼|表情|emoji|字"
)


def _instructions(body: str) -> Iterator[Claim]:
    if _STANDING.search(body) is None:
        return
    for attribute, pattern in _ANSWERS:
        if match := pattern.search(body):
            value = match["v"].removeprefix("越")
            yield Claim(
                USER,
                attribute,
                "short"
                if re.search(r"简|簡|字|句|短|精", value) and "不限" not in value
                else "long"
                if re.search("详|不限|长", value)
                else value,
            )
