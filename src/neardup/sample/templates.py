"""Pages that a program filled in: the hard negatives.

Two pages of such a site share most of their words and are about different things, so a reader who
takes one for the other has lost an item. `sentences` of a family are what every page of a site says
(a site draws its own once); `titles` and `items` are what a page says about its own item.
"""

# ruff: noqa: E501 (a frame is one line, however long)

from __future__ import annotations

from neardup.sample.grammar import Draw, Teller, Topic, kept_slots, topic
from neardup.sample.page import Block, Page, Site
from neardup.sample.wording import WORDING

__all__ = ["FAMILIES", "template_page", "template_site"]

_PRODUCT = topic(
    "en",
    "product",
    site="{shop} Mail Order",
    titles="""
        {MODEL} {THING}, {COLOUR}
    """,
    items="""
        Article: {MODEL} {THING}
        Order number: {10000..99999}
        Colour: {COLOUR}
        Weight: {0.2..9.9} kg
        Price: {9..490}.{minute} euros
    """,
    sentences="""
        Orders placed before {10..16}:{minute} leave our warehouse on the same working day.
        You may return any article within {14..90} days, unused and in its original packing, free of charge.
        All electrical goods carry a guarantee of {2..5} years, which covers material and workmanship but not wear.
        Delivery to islands takes {2..6} working days longer and is charged at {4..19} euros per parcel.
        Spare parts can be ordered by telephone from Monday to Friday between {7..9}:{minute} and {16..19}:{minute}.
        Our shop in {street} has most articles in stock; please ask for the order number at the counter.
        Customers who bought this article also looked at our range of {range}.
        Worn-out batteries and old appliances are taken back at no cost and recycled by {recycler}.
        Prices include value added tax; shipping within the country costs {3..8} euros.
        Gift wrapping is available for {2..6} euros and can be chosen on the next page.
        Subscribe to our newsletter and receive a voucher worth {5..20} euros for your next order.
    """,
    slots={
        "shop": "Kettle and Bolt | Harrow Lane | Blue Anvil | Four Corners | Tinder and Twine",
        "model": "Corvane 300 | Tilby Duo | Orrin X2 | Hask Compact | Melder 9 | Pavo Light | Brindle Pro | Quillon S | Wexa 45",
        "thing": "cordless drill | electric kettle | bicycle lamp | garden shears | bread maker | desk fan | label printer | "
        "camping stove | tool box | watering can | step ladder | wall clock",
        "colour": "slate grey | signal red | cream | bottle green | matt black | pale blue | ochre",
        "street": "Tannery Row | Millbrook Lane | the old corn exchange | Station Road",
        "range": "garden tools and garden furniture | lamps and lanterns | kitchen scales | work clothes | bicycle parts",
        "recycler": "a local workshop | our haulier | a certified partner | the municipal depot",
    },
)

_WEATHER = topic(
    "en",
    "weather",
    site="{net} Weather Watch",
    titles="""
        Weather at {STATION}
    """,
    items="""
        Station: {STATION}, {2..980} m above sea level
        Now: {SKY}, {1..31} degrees
        Wind: {2..48} km/h from the {bearing}
        Pressure: {981..1037} hPa, humidity {31..99} per cent
        Tonight {0..14} degrees, tomorrow {SKY2} and up to {12..33} degrees
    """,
    sentences="""
        Readings are taken every {5..30} minutes by an automatic station and are shown here without correction.
        The forecast is worked out twice a day, at {4..7}:{minute} and again at {15..18}:{minute}, from {model}.
        Wind is measured {2..10} metres above the ground and averaged over ten minutes.
        Rainfall gauges are heated in winter, so snow is reported as the amount of water it contains.
        When a station fails, the last value is kept for {1..6} hours and then shown as missing.
        Storm warnings are issued by {office} and take precedence over everything on this page.
        Temperatures are given in degrees Celsius and rounded to the nearest whole degree.
        Observers are volunteers; if you would like to look after a station, write to {office}.
        Farmers and sailors should not rely on this page alone for decisions about safety.
        Older readings are kept in the archive and may be copied freely for teaching and research.
    """,
    slots={
        "net": "Estuary | Highland | Lakeside | Two Rivers",
        "station": "Gannet Rock | Harsey Island | Lower Marsh | Pennywell | Crofters' Green | Widow's Shoal | Millbrook | "
        "Lantern Point | Saint Orla | Tannery Hill | Saltmere | Orrin Pass",
        "sky": "clear | overcast | light rain | sunny spells | patchy fog | showers | drizzle | hazy sunshine",
        "sky2": "bright | cloudy | wet | thundery | misty | dry",
        "bearing": "north | north-east | east | south-east | south | south-west | west | north-west",
        "model": "a regional model with a grid of two kilometres | three models whose results are averaged | "
        "a coarse model and a statistical correction",
        "office": "the coastal office | the county observatory | the flood service",
    },
)

_CARD = topic(
    "en",
    "card",
    site="{library} Library Catalogue",
    titles="""
        {WORK} / {AUTHOR}
    """,
    items="""
        Title: {WORK}
        Author: {AUTHOR}
        Published: {town}, {1871..2019}
        Extent: {48..612} pages, {17..34} cm
        Shelf mark: {2..99} {letter} {1000..9999}
        Subjects: {subject}; {subject}
    """,
    sentences="""
        This card was transcribed from the printed catalogue and has not been compared with the book.
        Readers with a library card may borrow up to {3..20} volumes for {2..6} weeks.
        Books from the closed stacks are brought to the reading room within {20..90} minutes.
        Volumes printed before {1800..1900} may be read in the reading room only, on the cushions provided.
        Reservations are free and lapse after {3..10} days; you will be told by post or by telephone.
        The reading room is open from Tuesday to Saturday between {8..10}:{minute} and {17..21}:{minute}.
        If you find a mistake in this description, please tell the desk on floor {1..5}.
        Copies for private study can be ordered at {10..60} pence a page.
        Shelf marks in brackets refer to the old building and are no longer in use.
        The catalogue is put together by {team} and grows by about {100..900} cards a month.
    """,
    slots={
        "library": "Saltmere | Old Mill | Guildhall | Orrin Valley",
        "work": "The Weights of Water | A Short Grammar of Knots | Letters to a Lockkeeper | On the Keeping of Bees in Towns | "
        "Nine Winters | The Tinsmith's Almanac | Maps for the Blind | Songs of the Rope Walk | What the Tide Left | "
        "Lectures on Slate | The Second Ferry | A Dictionary of Small Repairs",
        "author": "Wren, Ada | Marrow, Tobias | Holm, Ingrid | Brook, Silas | Tansley, Odile | Quill, Jasper | Fenwright, Una | "
        "Aldous, Piet",
        "town": "Saltmere | Pennywell | Harsey | Orrin",
        "letter": "A | B | C | F | K | M | P",
        "subject": "canals | weaving | knots | tides | beekeeping | folk songs | clocks | hydrology | letters | slate",
        "team": "volunteers | two librarians and a retired printer | students of the evening school",
    },
)

_JOB = topic(
    "en",
    "job",
    site="{employer} Careers",
    titles="""
        {ROLE} ({hours})
    """,
    items="""
        Position: {ROLE}
        Department: {department}
        Pay: grade {3..14}, from {1900..4800} euros a month
        Start: {1..28} {month}
        Apply by {1..28} {month2}, quoting {100..999}-{10..99}
    """,
    sentences="""
        We are one of the larger employers in the region, with {120..950} colleagues at {2..9} sites.
        You bring a finished apprenticeship or comparable experience, and you like working in a small team.
        We offer {27..34} days of leave, flexible hours and a contribution to your season ticket.
        People with disabilities are expressly invited to apply and are preferred when equally qualified.
        New colleagues are looked after by {mentor} during the first {2..8} months.
        Training is paid for, and we help with the search for a flat or a place in a kindergarten.
        The post is limited to {2..4} years at first; a permanent contract is intended.
        Please send a letter, a curriculum vitae and copies of your certificates as a single file.
        Costs of travel to the interview are refunded on presentation of the ticket.
        Your data are used for this application only and deleted after {3..9} months.
        Our canteen cooks every day from {11..12}:{minute}, with produce from {farm}.
    """,
    slots={
        "employer": "Saltmere Port | Orrin Valley Hospital | Pennywell Council | Harsey Ferries",
        "role": "Crane operator | Payroll clerk | Network technician | Ward nurse | Gardener | Bus mechanic | Archivist | "
        "Laboratory assistant | Cook | Surveyor | Night porter | Translator",
        "hours": "full time | part time | 30 hours | job share possible",
        "department": "Technical Services | Finance | Estates | Central Purchasing | Public Relations | Operations",
        "month": "January | April | June | August | October",
        "month2": "February | March | May | July | November",
        "mentor": "an experienced mentor | two mentors from other departments | the head of training",
        "farm": "farms nearby | our own kitchen garden | the weekly market",
    },
)

_SHOP_DE = topic(
    "de",
    "artikel",
    site="Versandhaus {haus}",
    titles="""
        {MODELL} {DING}, {FARBE}
    """,
    items="""
        Artikel: {MODELL} {DING}
        Bestellnummer: {10000..99999}
        Farbe: {FARBE}
        Gewicht: {200..9900} g
        Preis: {9..490},{minute} Euro
    """,
    sentences="""
        Bestellungen vor {10..16}:{minute} Uhr verlassen unser Lager noch am selben Werktag.
        Unbenutzte Artikel nehmen wir innerhalb von {14..90} Tagen in der Originalverpackung kostenlos zurück.
        Auf elektrische Geräte geben wir {2..5} Jahre Garantie auf Material und Verarbeitung.
        Lieferungen auf die Inseln dauern {2..6} Werktage länger und kosten {4..19} Euro je Paket.
        Ersatzteile bestellen Sie telefonisch montags bis freitags ab {7..9}:{minute} Uhr.
        Alte Geräte und leere Batterien nehmen wir unentgeltlich entgegen und führen sie der Verwertung zu.
        Alle Preise verstehen sich einschließlich Mehrwertsteuer, der Versand kostet {3..8} Euro.
        Melden Sie sich für unseren Rundbrief an und sparen Sie {5..20} Euro bei der nächsten Bestellung.
    """,
    slots={
        "haus": "Süderkoog | Nordlicht | Kupferkanne",
        "modell": "Corvane 300 | Tilby Duo | Orrin X2 | Hask Kompakt | Melder 9 | Pavo Leicht",
        "ding": "Akkubohrer | Wasserkocher | Fahrradlampe | Gartenschere | Brotbackautomat | Tischventilator | Gießkanne | "
        "Trittleiter | Wanduhr",
        "farbe": "schiefergrau | signalrot | creme | flaschengrün | mattschwarz | hellblau",
    },
)

_WEATHER_ZH = topic(
    "zh",
    "tianqi",
    site="{wang}气象站",
    titles="""
        {ZHAN}今日天气
    """,
    items="""
        站点：{ZHAN}，海拔{2..980}米
        现在：{tian}，{1..31}度
        风：{feng}风{2..48}公里每小时
        气压：{981..1037}百帕，湿度{31..99}%
        今夜{0..14}度，明天{tian}，最高{15..35}度
    """,
    sentences="""
        观测数据每{5..30}分钟自动更新一次，未经人工订正，仅供参考。
        预报每天清晨和傍晚各计算一次，网格间距为两公里。
        风速在离地十米处测得，取十分钟平均值。
        冬季雨量计会加热，降雪按融化后的水量计算。
        站点出现故障时，最近一次数值保留{2..6}小时，随后显示为缺测。
        大风警报由沿海预报中心发布，内容以警报为准。
        温度单位为摄氏度，四舍五入到整数。
        历史数据可在存档中查阅，教学和研究可自由使用。
    """,
    slots={
        "wang": "河口 | 山湖 | 双江",
        "zhan": "鸥石岛 | 盐田镇 | 磨坊桥 | 灯塔角 | 北山口 | 渔村码头 | 芦苇滩 | 石板坡 | 老渡口",
        "tian": "晴 | 阴 | 小雨 | 多云 | 有雾 | 阵雨",
        "feng": "北 | 东北 | 东 | 东南 | 南 | 西南 | 西",
    },
)

#: A family of template pages and how many sites fill it in at scale 1.
FAMILIES: tuple[tuple[Topic, int], ...] = (
    (_PRODUCT, 5),
    (_WEATHER, 4),
    (_CARD, 4),
    (_JOB, 4),
    (_SHOP_DE, 2),
    (_WEATHER_ZH, 2),
)


def template_site(family: Topic, number: int, *, seed: int) -> tuple[Site, tuple[str, ...]]:
    """The site and the sentences that all its pages share."""
    teller = Teller(family, Draw(seed, "template", family.language, family.name, number))
    wording = WORDING[family.language]
    host = f"{family.name}{number}.example.net"
    site = Site(
        host=host,
        name=teller.say(family.site_name),
        language=family.language,
        navigation=wording.navigation,
        footer=(wording.footer.format(host=host),),
        skin="table" if number % 2 else "article",
    )
    return site, tuple(teller.sentence() for _ in range(len(family.sentences) - (2 * number - 2) % 5))


def template_page(family: Topic, site: Site, shared: tuple[str, ...], draw: Draw, *, item: int) -> Page:
    """The n-th item in the words of its site; neighbours never have the same title."""
    teller = Teller(family, draw, kept=_item_of(family, site, item))
    lines = family.items[:3] if site.skin == "table" else family.items
    facts = Block("facts", tuple(map(teller.say, lines)))
    title = teller.title()
    middle = len(shared) // 2
    text = (Block("paragraph", shared[:middle]), Block("paragraph", shared[middle:]))
    return Page(site=site, title=title, blocks=(facts, *text))


def _item_of(family: Topic, site: Site, item: int) -> dict[str, str]:
    kept = {}
    for slot in kept_slots(family.titles[0]):
        values = Draw(site.name, site.host, slot).shuffled(family.slots[slot.lower()])
        kept[slot] = values[item % len(values)]
    return kept
