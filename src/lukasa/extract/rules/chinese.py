"""Chinese (both scripts): clauses, what speaks for and against keeping one, and the subject written out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from lukasa.extract.rules.base import Language, Piece
from lukasa.text.scripts_zh import simplified

KIN: Final = (
    r"(?:老婆|老公|妻子|丈夫|太太|先生|爱人|愛人|对象|對象|女友|男友|女朋友|男朋友|未婚妻|未婚夫|前任|前妻|前夫|爸妈|爸媽|父母|爸爸|妈妈|媽媽|老爸|老妈|老媽|我爸|我妈|我媽|"
    r"父亲|父親|母亲|母親|爷爷|爺爺|奶奶|外公|外婆|姥姥|姥爷|公公|婆婆|岳父|岳母|丈母娘|哥哥|姐姐|弟弟|妹妹|大哥|大姐|我哥|我姐|我弟|我妹|表[哥弟姐妹]|堂[哥弟姐妹]|"
    r"儿子|兒子|女儿|女兒|闺女|閨女|孩子|小孩|娃|宝宝|寶寶|双胞胎|雙胞胎|侄[子女]|外甥女?|孙[子女]|叔叔|舅舅|姑姑|阿姨|伯父|室友|舍友|同事|同学|同學|朋友|闺蜜|閨蜜|哥们|"
    r"邻居|鄰居|领导|領導|老板|老闆|上司|经理|經理|主管|导师|導師|老师|老師|师傅|師傅|客户|客戶|房东|房東|教练|教練|猫|貓|狗|狗子|主子|柯基|金毛|布偶|鹦鹉|仓鼠)"
)
_HAN: Final = re.compile("[\u3400-\u9fff]")
_ME: Final = r"(?:我|咱|俺|本人)"

# --- clauses

_COMMA: Final = re.compile(
    r"[，,、]?\s*(?:[，,；;]|——|～|~|\s{1,}(?=[我咱])|(?<=[\u4e00-\u9fff])\s+(?=[\u4e00-\u9fff]))\s*"
)
_NEW_SUBJECT: Final = re.compile(
    rf"(?:(?:另外|还有|還有|对了|對了|以及|而且|不过|不過|但是?|然后|然後|其实|其實|所以|因为|因為|最近|现在|現在|目前|平时|平時|以前|之前|除了)?)*(?:{_ME}|我们|我們|{KIN}|老家|家住|住在|属|屬|今年|公司|房子|工作|帮我|幫我|请|請|能不能|可以|怎么|怎麼|有没有|有什么|求)"
)


_SHORT: Final = 6  # characters: what stands before a comma and is no longer belongs to what follows


def split(sentence: str) -> Sequence[Piece]:
    """The clauses of a sentence: cut at commas where what follows has a subject or a theme of its own."""
    plain = simplified(sentence)
    spans: list[Piece] = []
    start = 0
    for match in _COMMA.finditer(plain):
        if match.start() <= start:
            continue
        firm = "；" in match.group() or ";" in match.group() or _ORDINAL.match(plain, match.end())
        short = len(_HAN.findall(plain[start : match.start()])) <= _SHORT
        if firm or (not short and _NEW_SUBJECT.match(plain, match.end())):
            spans.append((start, match.start(), ""))
            start = match.end()
    spans.append((start, len(sentence), ""))
    return spans


_ORDINAL: Final = re.compile(r"第[一二三四五六七八九]")


# --- against keeping

_QUESTION = re.compile(
    r"[?？][\W_]*$|(?:吗|嗎|呢|么|嘛|吧？)[\W_]*$|(?:怎么|怎麼|如何|为什么|為什麼|为啥|為啥|咋|什么|什麼|啥|哪|多少|几(?=个|点|天|块)|谁|誰|是不是|能不能|可不可以|会不会|會不會|有没有|有沒有|要不要|行不行|好不好|来着|來著)(?!都|也|的话|時候|时候)",
)
_REQUEST = re.compile(
    r"^\W*(?:(?:那|好|行|嗯|请问|請問|麻烦|麻煩|你好|您好|哈喽|嗨|在吗|那个|然后|再|先|快|可以|能)\W*)*(?:帮|幫|请(?!记|以后)|請(?!記|以後)|给我|給我|教我|告诉我|告訴我|推荐|推薦|求(?!婚)|解释|解釋|翻译|翻譯|写|寫|列|查|找|算|介绍|介紹|说说|說說|讲讲|講講|分析|总结|總結|润色|潤色|修改|改一下|改成|改写|生成|做个|做一个|来个|來個|来一|看看|看一下|看下|讲个|挑|选|選|订|訂|提醒我|咱们玩|我想(?:问|問|了解|知道|请教|請教|咨询)|想(?:问|問|了解|知道|请教|請教|咨询)|我需要你|麻烦你|继续|繼續)"
)
_SMALL_TALK = re.compile(
    r"^[\W_]*(?:(?:早上好|中午好|下午好|晚上好|早安|晚安|早|你好|您好|哈喽|哈囉|嗨|嗨嗨|在吗|在嗎|在么|谢谢你?|謝謝你?|谢啦|谢了|多谢|多謝|感谢|感謝|辛苦了?|好的?|好嘞|好滴|好哒|好吧|行|行吧|嗯+|哦+|噢|喔|哈+|呵呵|嘿+|嘻+|ok|okay|收到|明白了?|知道了|懂了|了解|没事|沒事|没啥事|没问题|沒問題|不客气|不客氣|不用了?|不了|拜拜?|再见|再見|回头聊|回聊|恭喜|牛|牛啊|厉害|厲害|太棒了|棒|赞|讚|可以|对|對|是的?|没错|沒錯|真的|加油|哇|唉|哎|呀|啊|啦|了|呢|吧|哈喽|thx|thanks|lol|听你的|聽你的|就这样|就這樣|就这么定|同意|挺好|不错|不錯|有道理|原来如此|原來如此|辛苦|么么哒)[\W_]*+)++$",
    re.IGNORECASE,
)
_HYPOTHETICAL = re.compile(
    r"(?:如果|假如|假设|假設|要是|万一|萬一|倘若|比如说?|例如|想象|想像|梦见|夢見|梦到|夢到|就好了|多好|我要是|我若|恨不得)"
)
_OPINION = re.compile(
    r"(?:好看|难看|難看|丑|醜|好丑|一般般|无聊|無聊|离谱|離譜|无语|無語|绝了|絕了|笑死|好烦|好煩|烦死|真烦|好气|气死|好吃|难吃|真香|太贵|太遠|太远|太早|太晚|太难|太好|太棒|有意思|没意思|沒意思|感觉(?:不|挺|还|很|像)|感覺(?:不|挺|還|很|像)|觉得(?:还|挺|不|很|太|这|那)|覺得(?:還|挺|不|很|太|這|那)|好像|听说|聽說|据说|據說|似乎)"
)
_PASSING = re.compile(
    r"(?:好累|累死|累了|累瘫|困了|好困|困死|饿了|餓了|好饿|饿死|无所谓|渴了|好热|好冷|热死|冷死|哑了|喊哑|说哑|摸鱼|摸魚|摸会儿鱼|刚到|剛到|刚醒|剛醒|刚起|在忙|忙死|好忙|崩溃|崩潰|头大|頭大|发呆|發呆|无聊|好难|好難|不知道|不懂|不明白|不太明白|看不懂|没看懂|忘了|想不起来|试试|試試|试一下|試一下|我看看|我想想|考虑一下|考慮一下|再说|再說|等等|等下|马上|馬上|睡了|下班了|开会了|吃饭去|出门了|(?:在|正)路上|堵车|下雨了|值了|有个问题|有個問題|有一个问题|报错|報錯|出错|连不上|打不开|不好使|咋回事|卡住|不工作|没反应)"
)
_SECRET = re.compile(r"\[redacted:")

# --- for keeping


_ELIDED: Final = re.compile(
    r"^[\W_]*(?:(?:现在|現在|目前|平时|平時|以前|最近|也|还|還|只|不|从不|從不|已经|已經|刚|剛|一直|本来|每天|每周\S{0,3}|其他的?|\d{4}年\S{1,14}?[日月周）晚上早]+|\d{1,2}月\d{1,2}[号日])*)(?:喜欢|喜歡|讨厌|討厭|爱吃|爱喝|不吃|不喝|属|屬|老家|住在|家住|来自|來自|在[\u4e00-\u9fff]{2,8}(?:工作|上班|读|做|住)|养了|養了|有|买了|買了|提|跑完|跑了|搬|戒|打算|准备|準備|计划|要去|去了|去不了|换|換|报了|考|学|做|用|对[\u4e00-\u9fff]{1,8}过敏|今年|出差|想|吃|喝|改|跑|开始|開始|订|定|拿|刚)"
)
INSTRUCTION: Final = re.compile(
    r"(?:以后|以後|今后|今後|从现在(?:开始|起)|從現在(?:開始|起)|往后|往後|下次|接下来都|每次).{0,20}(?:回答|回复|回覆|说|說|叫我|称呼|稱呼|用|给|給|别|別|不要|先|都|写|寫|翻|推荐)|"
    r"(?:回答|回复|回覆|答案|输出|輸出|内容|語氣|语气|解释|代码|代碼|例子|翻译).{0,12}(?:简短|簡短|简洁|簡潔|详细|詳細|控制在|不要|别|別|用|只|必须|必須|分点|分點|列表|表格|中文|英文|繁體|繁体|简体|口语|正式|先给|先說|先说|直接|不超过|以内|以內)|"
    r"(?:叫我|称呼我|稱呼我|喊我).{1,8}|(?:别|別|不要|请勿|不许)(?:用|加|给我|給我|再|老|您|跟我说|叫我|推荐|推薦|道歉|废话|客套).{0,20}"
)
_SIGNALS: Final[Mapping[str, tuple[float, re.Pattern[str]]]] = {
    "first person": (1.0, re.compile(rf"{_ME}(?!们|們)|我们|我們|咱们|咱們")),
    "habit": (
        1.2,
        re.compile(
            r"每天|每日|每周|每週|每月|每年|每次|每晚|每早|天天|一直|从来|從來|从不|從不|从小|從小|平时|平時|平常|习惯|習慣|总是|總是|一般(?!般)|通常|经常|經常|常年|固定|只(?:吃|喝|用|穿|买|買|看|听|聽|坐|住|要|在|做)|多年|年了|好几年|好幾年|统一|統一|老(?:是|爱)|必须|必須"
        ),
    ),
    "like": (
        1.8,
        re.compile(
            r"喜欢|喜歡|最爱|最愛|爱吃|愛吃|爱喝|爱看|爱玩|爱听|愛喝|愛看|愛玩|愛聽|热爱|熱愛|迷上|沉迷|上瘾|上癮|偏好|钟爱|鍾愛|讨厌|討厭|受不了|不爱|不愛|不吃|不喝|不喜|不碰|碰不了|吃不了|喝不了|忌口|反感|怕(?:高|水|黑|狗|猫|貓|辣|冷|热|熱|蛇|虫)|恐高|晕车|暈車|晕船|路痴|社恐|洁癖|吃素|素食|茹素|清真|戒"
        ),
    ),
    "identity": (
        2.0,
        re.compile(
            r"[一二三四五六七八九十]{1,3}岁|鞋码|尺码|腰围|胸围|今年[一二三四五六七八九十]{2,3}|今年\d|我叫|名叫|我姓|姓[\u4e00-\u9fff](?![\u4e00-\u9fff]{0,2}的)|名字是|英文名|网名|昵称|我是(?!说|說|不|想|在|要|指|觉|怕|来|來|问|問|用|第一|从|在|觉得|真|这|那|个|個)|属[鼠牛虎兔龙蛇马羊猴鸡狗猪]|屬[鼠牛虎兔龍蛇馬羊猴雞狗豬]|今年\d+|\d{1,2}岁|\d{1,2}歲|\d\d后|[八九零]零后|生日|出生|生于|老家|籍贯|籍貫|来自|來自|[^\W\d]{2,4}人(?:，|,|$)|血型|[白水金狮摩射双巨天处座][羊瓶牛子蟹女秤蝎手鱼羯]座|身高|体重|體重|学历|學歷|毕业|畢業|母校|学校|學校|大[一二三四]|研[一二三]|高[一二三]|初[一二三]"
        ),
    ),
    "place": (
        1.4,
        re.compile(
            r"搬进|从[\u4e00-\u9fff]{2,4}(?:坐|来|过来|搬|飞|出发)|住在|家住|住(?:的|进)|定居|搬到|搬去|搬家|搬来|搬來|搬回|租(?:的|了|住|房)|买房|買房|房子|在[\u4e00-\u9fff]{2,6}(?:工作|上班|读书|讀書|上学|上學|生活|做|当|當|念|住|待了|开|開|长大)"
        ),
    ),
    "work": (
        1.6,
        re.compile(
            r"夜班|早班|值班|升(?:了|任|为|职|[A-Za-z])|打工|前台|当[\u4e00-\u9fff]{1,6}(?:师|员|工)|徒弟|工作|上班|公司|换工作|換工作|跳槽|辞职|辭職|离职|離職|入职|入職|退休|升职|升職|转行|轉行|创业|創業|开店|開店|开了|做(?:会计|会計|设计|設計|销售|銷售|运营|運營|开发|開發|程序|产品|產品|建筑|老师|老師|医生|護士|护士|律师|生意|外贸|电商)|当(?:老师|医生|护士|律师|兵)|职业|職業|岗位|崗位|同事|领导|領導|上司|团队|團隊|部门|部門|项目|項目|我们组|汇报|匯報|考研|考公|实习|實習|读博|讀博|专业|專業|论文|論文|医院|事务所|工作室"
        ),
    ),
    "health": (
        1.8,
        re.compile(
            r"血糖|血压|血脂|碰不得|忌[\u4e00-\u9fff]|过敏|過敏|不耐受|糖尿病|高血压|高血壓|低血糖|哮喘|近视|近視|色盲|色弱|抑郁|焦虑症|失眠|胃(?:病|炎|不好)|痛风|痛風|颈椎|頸椎|腰椎|半月板|膝盖|膝蓋|骨折|手术|手術|住院|确诊|確診|吃药|吃藥|服药|服藥|在吃|用药|怀孕|懷孕|孕期|预产期|預產期|体检|體檢|旧伤|有伤|毫克|mg|乳糖|麸质|左撇子|减肥|減肥"
        ),
    ),
    "others": (1.3, re.compile(rf"{KIN}")),
    "own": (
        1.4,
        re.compile(
            r"养了|養了|养着|家里有|家裡有|买了|買了|刚买|剛買|提了?车|提的车|提車|入手|有一(?:只|隻|台|辆|輛|套|个|個|条|條)|有[两兩三四五]|开的(?:是|车)|開的|换了(?:个|台|部|辆|新)|車牌|车牌|手机号|手機號|电话|電話|邮箱|郵箱|地址"
        ),
    ),
    "change": (
        1.4,
        re.compile(
            r"[铺装换订买]好了|停了|翻篇|涨到|降到|辞[了啦]|学[\u4e00-\u9fff]{2}(?!习|校|生|历|位|期)|查出|换(?:成|到|了|去)|換(?:成|到|了|去)|改(?:成|为|到|用|喝|吃|在)|不再|戒了|戒掉|戒(?:烟|酒|糖)|分手|离婚|離婚|结婚|結婚|订婚|訂婚|领证|領證|求婚|恋爱|戀愛|脱单|脫單|开始(?:学|吃|喝|用|练|做|跑|健)|開始(?:學|吃|喝|用|練|做|跑|健)|学(?:会|了|着|大|小|钢|吉|游|画|书|舞)|報了|报了|报名|報名|考过|考過|考上|拿到|拿了|通过了|通過了|跑完|跑了|得了|获得|生了|出生|去世|转到|轉到|转去|调到|調到"
        ),
    ),
    "plan": (
        1.2,
        re.compile(
            r"想(?:转|换|学|考|当|搬|买)|上课|报到|打算|计划|計劃|准备|準備|要去|想去|想学|想學|想带|想帶|定在|定了|订了|訂了|预约|預約|约了|約了|约在|出发|出發|交房|目标|目標|考试|考試|面试|面試|婚礼|婚禮|家长会|家長會|纪念日|紀念日|出差|旅行|旅游|旅遊|机票|機票|报到|開學|开学|上牌|截止|比赛|比賽|那就|我开车|我來|我带|我帶|我负责|我負責|去不了|来不了|參加|参加|集合"
        ),
    ),
    "decision": (
        2.0,
        re.compile(
            r"规矩|[\u4e00-\u9fff]{1,4}行，|要[\u4e00-\u9fff]{1,4}的$|不要[\u4e00-\u9fff]{1,3}，|那就[\u4e00-\u9fff]{2,}|就(?:去|住|订|訂|选|選|定)[\u4e00-\u9fff]|[\u4e00-\u9fff]{2,4}不要(?!紧|緊)|决定|決定"
        ),
    ),
    "leaves out i": (0.8, _ELIDED),
    "remember": (
        2.0,
        re.compile(
            r"记一下|記一下|记住|記住|记得|記得|备注|備註|帮我记|幫我記|跟你说一声|跟你說一聲|提醒(?:一下|你)|顺便说|順便說"
        ),
    ),
    "tools": (
        1.4,
        re.compile(
            r"内网|vpn|后台|测试环境|生产环境|用(?:的是)?[A-Za-z][\w.+-]*|用[\u4e00-\u9fff]{1,6}(?:写|寫|做|管|记|記|画|畫|开发|開發)|(?:部署|跑)在|[华华東东南北西]{1,2}[一二三1-3]区|技术栈|技術棧|approve|deadline|review"
        ),
    ),
    "name": (0.5, re.compile(r"[A-Z][a-z]+|[「“《][^」”》]{1,12}[」”》]|叫[\u4e00-\u9fff]{1,4}")),
    "figure": (0.4, re.compile(r"\d|[一二三四五六七八九十两]{1,3}(?:个|次|杯|公里|块|元|点|年|天|小时|分)")),
    "date": (
        0.6,
        re.compile(
            r"昨天|前天|明天|后天|後天|今晚|上周|上週|下周|下週|上个月|上個月|下个月|下個月|去年|明年|周[一二三四五六日末]|週[一二三四五六日末]|星期|礼拜|月.{0,3}[号日號]|\d+号"
        ),
    ),
    "favourite": (1.5, re.compile(r"最(?:喜欢|喜歡|爱|愛|讨厌|討厭|怕|常|擅长|擅長)")),
    "vague": (-1.0, re.compile(r"^(?:这|那|這)(?:个|個|些|样|種|种)(?!周|週|年|月|家)|这bug|这个bug")),
    "code": (-1.2, re.compile(r"报错|報錯|函数|函數|变量|變量|数组|代码|代碼|接口|bug|公式|方程|算法")),
}

# --- the subject written out

_LEAD: Final = re.compile(
    r"^(?:[\W_]*(?:你好|您好|哈喽|哈囉|嗨|早|早上好|对了|對了|另外|还有|還有|以及|而且|不过|不過|但是|但|然后|然後|其实|其實|所以|因为|因為|顺便说一下|顺便说|順便說|跟你说一声|跟你說一聲|跟你说|说一下|说真的|老实说|话说|話說|btw|BTW|啊|哦|噢|嗯|诶|欸|哎|唉|哈哈+|嘿嘿|呃|那个|就是|一口气说完哈?|跟你念叨几件事啊?|说几件事|第[一二三四五六七八九]|规矩改改|先说|补充一下|補充一下|更新一下|好的?|行|可以|记一下|記一下|记住|記住|帮我记一下|备注|備註|(?:没有|不是|是的?|对|對)(?=[\s，,。!！])|是(?=我))(?:[\s，,。!！:：、~～…]+|$|(?=我|咱|以后)))+"
)
_TAIL: Final = re.compile(
    r"(?:[\s，,、]*(?:哈哈+|嘿嘿|呵呵|哈|啦|呀|哦|噢|喔|呢|嘛|吧|lol|记一下|記一下|记住哦?|記住哦?|谢谢|謝謝|[\U0001F000-\U0001FAFF\u2600-\u27BF\uFE0F\u200d]|[~～!！。.…，,]))+$"
)


def strip(clause: str) -> str:
    """The clause without fillers before and behind, and without trailing marks."""
    body = _LEAD.sub("", clause, count=1)
    return _TAIL.sub("", body).strip(" \t\n，,；;：:-—~～。")


_QUOTED: Final = re.compile(r"[“「\"『][^”」\"』]{2,}[”」\"』]")
_SELF: Final = re.compile(r"(?:我|咱|俺|本人)(?!们|們)(?:自己)?")
_WE: Final = re.compile(r"(?:我|咱)(?:们|們)")


def explicit(clause: str, label: str) -> str:
    """The clause about *label*; quotations stay as they are."""
    made: list[str] = []
    at = 0
    for quote in _QUOTED.finditer(clause):
        made += [_third(clause[at : quote.start()], label), quote.group()]
        at = quote.end()
    text = "".join([*made, _third(clause[at:], label)]).strip()
    if label not in text and _ELIDED.match(text):
        text = f"{label}{text}"
    return text if text.endswith(("。", "！", "？", ".", "”", "」")) else f"{text}。"


def _third(text: str, label: str) -> str:
    return _SELF.sub(label, _WE.sub(f"{label}这边", text))


ROLE_PLAY: Final = re.compile(
    r"接着.{0,6}(?:写|编)|往下写|续写|角色扮演|扮演|假装|假裝|cosplay|你是一[个名位](?!很|好|AI|ai)|你现在是|你現在是|咱们玩(?:个|個)?游戏|我们玩(?:个|個)?游戏|(?:写|寫|编|編|讲|講|续写)(?!的|了|过)(?:一|个|個|篇|首|段|我)?.{0,8}(?:故事|小说|小說|诗|詩|剧本|劇本|歌词|歌詞|童话|文案)|想象(?:一下)?我是|想像(?:一下)?我是|假设我是|假如我是"
)
ROLE_PLAY_ENDS: Final = re.compile(
    r"不玩了|结束(?:角色|扮演|游戏)|出戏|回到现实|言归正传|說正經的|说正经的|说正事|說正事"
)
_GUSHING: Final = re.compile(r"感动|太好了|真好|爱死|幸福|贴心|体贴")
SARCASM: Final = re.compile(
    r"可真是|天才呢|真行啊|呵呵|🙃|🙄|可太[“\"「]|真是[“\"「]|好[“\"「]开心[”\"」]|谢谢您嘞|我谢谢|笑死|可真行|太[“\"「].{1,6}[”\"」]"
)
_CORRECTION: Final = re.compile(
    r"记岔了|弄岔了|搞岔了|记混了|看岔了|看错了|看錯了|说错了|說錯了|记错了|記錯了|打错了|打錯了|写错了|寫錯了|搞错了|弄错了|更正|纠正|糾正|应该是|應該是|^\W*(?:(?:啊|哦|诶|欸|呃|哎|等等|等下|等一下)\W*)?(?:不对|不對|不是)[，, ]|等下.{0,10}是|不好意思.{0,8}是"
)
_DEPENDENT: Final = re.compile(
    r"^\W*(?:(?:而且|不过|但是?|还|也|所以)\W*)*(?:它|他|她|这只|那只|它们|他们|她们|两个都|都是|那个|这个)(?!妈|媽|爸)"
)
_PASTE_HEADER: Final = re.compile(
    r"(?:改|润色|潤色|翻译|翻譯|总结|總結|概括|缩写|縮寫|扩写|分析|解释|解釋|看看|看一下|看下|检查|檢查|校对|校對|回复|回覆|写的|寫的|这段|這段|这篇|這篇|押不押韵|通不通顺|怎么样|如何|这封|這封|以下|下面|如下|原文|邮件|郵件|简历|簡歷|文章|日志|代码|代碼|报错|報錯|歌词|歌詞|评论|通知|公告|摘要)[^\n]{0,30}[:：]\s*$"
)
_PASTE_NOUN: Final = re.compile(
    "(?:这|那|我的|下面的?)(?:段|篇|封|份|个)?(?:话|文字|文章|邮件|简历|信|代码|日志|作文|报告|摘要|通知|歌词|自传|文案)"
)
_RECALLED_HEADER: Final = re.compile(
    r"(?:你|上回|上次|之前).{0,6}(?:存|记|记得|保存)(?:的|下)[^\n]{0,10}[:：]?\s*$|(?:相关|相關|已知|已存|历史|歷史|检索到的|用户的?)(?:的)?(?:记忆|記憶|信息|资料|資料|事实|事實)[^\n]{0,10}[:：]?\s*$"
)
_AGAINST: Final = {
    "secret": _SECRET,
    "question": _QUESTION,
    "hypothetical": _HYPOTHETICAL,
    "request": _REQUEST,
    "passing": _PASSING,
    "opinion": _OPINION,
    "instruction": INSTRUCTION,
    "correction": _CORRECTION,
    "dependent": _DEPENDENT,
}
_IN_TURN: Final = {
    "role-play": ROLE_PLAY,
    "role-play ends": ROLE_PLAY_ENDS,
    "sarcasm": SARCASM,
    "gushing": _GUSHING,
}
_NOT_WORDS: Final = re.compile(r"^[\W_]+")
_ALL: Final = {**{name: pattern for name, (_, pattern) in _SIGNALS.items()}, **_AGAINST}


def features(clause: str) -> frozenset[str]:
    """The names of the patterns that speak for or against the clause."""
    body = simplified(_NOT_WORDS.sub("", clause))
    if not body or _SMALL_TALK.match(body):
        return frozenset({"small talk"})
    return frozenset(name for name, pattern in _ALL.items() if pattern.search(body))


def turn_features(turn: str) -> frozenset[str]:
    """What is so of a whole turn: that it is played, or not meant."""
    plain = simplified(turn)
    return frozenset(name for name, pattern in _IN_TURN.items() if pattern.search(plain))


CHINESE: Final = Language(
    code="zh",
    label="用户",
    agent_label="助手",
    least=3,
    needed=1.8,
    weights={
        "passing": -2.5,
        "opinion": -2.5,
        **{name: weight for name, (weight, _) in _SIGNALS.items()},
        "instruction": 2.5,
    },
    features=features,
    turn_features=turn_features,
    paste_header=_PASTE_HEADER,
    paste_noun=_PASTE_NOUN,
    recalled_header=_RECALLED_HEADER,
    size=lambda clause: len(_HAN.findall(clause)),
    split=split,
    strip=strip,
    explicit=explicit,
)
