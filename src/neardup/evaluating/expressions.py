"""What pages say about themselves and not about their subject: URLs, time stamps, counters, ids, in many languages.

    EXPRESSIONS   (kind, pattern): what Henzinger's section 3.1 lists as differences that do not matter
    spans         where a text has such expressions

    URL              with a scheme, www., a path or a query; or a host name alone
    message id       <id@host>, or an id after "message id", "request id", "ray id" …
    session id       an id after "session"; a UUID; twelve or more hexadecimal digits of both sorts
    server name      a name with a digit or dot after "server", "host", "served by" …; web03, node-17
    execution time   a fraction with a unit of time (0.123 seconds); a number near "generated", "took" …; "23 queries"
    visitor count    a number near "visitors", "hits", "views" …
    time stamp       dates and times of day, with or without names of months and days; "3 minutes ago"; © 2024

A token belongs to the first of these kinds, in the order of EXPRESSIONS, that has it. The words come from English,
German, French, Spanish, Italian, Portuguese, Dutch, Polish, Czech, Russian, Ukrainian, Greek, Turkish, Arabic, Hebrew,
Persian, Hindi, Thai, Burmese, Chinese, Japanese and Korean. In other languages, what is written in numbers and signs is
found (2024-05-17, 14:03, example.org), and what needs a word is not. What is found need not be about the page: a result
of 9.58 seconds is an execution time here.

Documents are untrusted: every repetition in a pattern is bounded, and patterns are used on short pieces of text only.
"""

import re
from collections.abc import Iterator
from typing import Final

URL: Final = "URL"
MESSAGE, SESSION, SERVER = "message id", "session id", "server name"
EXECUTION, VISITORS, TIME = "execution time", "visitor count", "time stamp"

KINDS = (URL, TIME, EXECUTION, VISITORS, MESSAGE, SESSION, SERVER)
"""In the order of Henzinger's tables 3 and 6, then her section 3.1."""

_IN_URL = r"[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]"
_IN_NAME = r"0-9A-Za-z\u00c0-\u06ff"
"""Letters of names of hosts; those of scripts without spaces may stand right before and after one."""
_LABEL = rf"[{_IN_NAME}](?:[{_IN_NAME}_-]{{0,61}}[{_IN_NAME}])?"
_VALUE = r"(?=[\w.+=@/-]{0,120}\d)[0-9A-Za-z][\w.+=@/-]{2,120}"
_NUMBER = r"\d(?:[\d.,'’\u00a0\u202f]{0,14}\d)?"


_APART = rf"(?<![{_IN_NAME}_])"
"""Not within a word; letters of scripts without spaces may precede."""


def _any(words: str) -> str:
    """One of these; \\w… stands for an ending of up to twelve letters."""
    return "|".join(words.replace("\\w…", "\\w{0,12}").split())


def _word(words: str) -> str:
    """One of these, at the beginning of a word."""
    return rf"{_APART}(?:{_any(words)})"


_MONTHS = _any("""
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
    januar jänner februar märz mai juni juli oktober dezember okt dez mrz
    janvier février mars avril juin juillet août septembre octobre novembre décembre janv févr avr juil déc
    enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre ene
    gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre giu ott
    janeiro fevereiro março maio junho julho setembro outubro novembro dezembro fev
    januari februari maart mei augustus
    stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia
    ledna února března dubna května června července srpna září října listopadu prosince
    января февраля марта апреля мая июня июля августа сентября октября ноября декабря янв фев апр авг сен окт ноя дек
    січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня
    ιανουαρίου φεβρουαρίου μαρτίου απριλίου μαΐου ιουνίου ιουλίου αυγούστου σεπτεμβρίου οκτωβρίου νοεμβρίου δεκεμβρίου
    ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık
    يناير فبراير مارس أبريل ابريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر
    ינואר פברואר מרץ אפריל מאי יוני יולי אוגוסט ספטמבר אוקטובר נובמבר דצמבר
    ژانویه فوریه آوریل ژوئن ژوئیه اوت سپتامبر اکتبر نوامبر دسامبر
    فروردین اردیبهشت خرداد مرداد شهریور آبان آذر بهمن اسفند
    जनवरी फरवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर
    มกราคม กุมภาพันธ์ มีนาคม เมษายน พฤษภาคม มิถุนายน กรกฎาคม สิงหาคม กันยายน ตุลาคม พฤศจิกายน ธันวาคม
    ဇန်နဝါရီ ဖေဖော်ဝါရီ မတ် ဧပြီ မေ ဇွန် ဇူလိုင် ဩဂုတ် စက်တင်ဘာ အောက်တိုဘာ နိုဝင်ဘာ ဒီဇင်ဘာ
""")
_DAYS = _any("""
    monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
    montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag
    lundi mardi mercredi jeudi vendredi samedi dimanche
    lunes martes miércoles jueves viernes sábado domingo
    lunedì martedì mercoledì giovedì venerdì sabato domenica
    segunda-feira terça-feira quarta-feira quinta-feira sexta-feira
    maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
    poniedziałek wtorek środa czwartek piątek sobota niedziela
    понедельник вторник среда четверг пятница суббота воскресенье пн вт ср чт пт сб вс
    pazartesi salı çarşamba perşembe cuma cumartesi pazar
    الاثنين الثلاثاء الأربعاء الخميس الجمعة السبت الأحد
""")
_UNITS = _any(
    "milliseconds? msecs? ms µs seconds? secs? sekunden? millisekunden? secondes? segundos? secondi secondo "
    "sekund\\w… seconden секунд\\w… сек мс saniye δευτερόλεπτ\\w… ثانية ثوان שניות ثانیه सेकंड วินาที စက္ကန့် "
    "毫秒 秒 ミリ秒 밀리초 초 s"
)
_MADE = _word(
    "generated generation executed execution rendered rendering loaded loading load took processed processing built "
    "elapsed runtime generiert erzeugt erstellt geladen ausgeführt laufzeit ladezeit généré\\w… exécut\\w… chargé\\w… "
    "generad\\w… ejecu\\w… cargad\\w… generat\\w… esegu\\w… caricat\\w… gerad\\w… execu\\w… carregad\\w… gegenereerd "
    "wygenerowan\\w… vygenerován\\w… сгенерирован\\w… создан\\w… выполнен\\w… загружен\\w… згенерован\\w… "
    "δημιουργήθηκε oluşturul\\w… yüklen\\w… تحميل إنشاء נוצר נטען "
    "生成 执行 執行 用时 耗时 加载 処理時間 表示 생성 실행 로딩"
)
_QUERIES = _any("queries query abfragen requêtes consultas zapytań запрос\\w… sorgu 次查询 查询 クエリ 쿼리")
_READERS = _word(
    "visitors? visits? hits? views? pageviews? viewed readers? downloads? counter besucher\\w… besuche "
    "zugriffe\\w… aufrufe\\w… visiteurs? visites? vues? lectures visitantes? visitas? vistas visitatori visitatore "
    "visualizzazioni acessos visualizações bezoekers? weergaven odwiedzin\\w… wyświetle\\w… odsłon\\w… návštěv\\w… "
    "посетител\\w… просмотр\\w… посещени\\w… відвідувач\\w… перегляд\\w… επισκέπτ\\w… επισκέψεις προβολές "
    "ziyaretçi\\w… görüntülen\\w… الزوار الزائر زائر\\w… زيارة زيارات مشاهدة مشاهدات המבקר מבקרים צפיות "
    "بازدید\\w… आगंतुक\\w… दर्शक\\w… ผู้เข้าชม\\w… ဧည့်သည်\\w… "
    "访客 訪客 访问 訪問 浏览 瀏覽 点击 點擊 閲覧 アクセス カウンター 방문자\\w… 조회\\w…"
)
_SESSIONS = _word(
    "sessions? sid phpsessid jsessionid sitzung\\w… sesión sessão sessione sessie sesj\\w… relac\\w… сеанс\\w… "
    "сесси\\w… сесія σύνδεσ\\w… συνεδρία\\w… oturum\\w… الجلسة جلسة ההתחברות התחברות نشست सत्र "
    "การเข้าใช้ เซสชัน အသုံးပြုမှု\\w… 会话 會話 セッション 접속 세션"
)
_MESSAGES = _word(
    "message msg mail request trace event incident error reference ref ticket ray case transaction nachrichten? "
    "anfrage vorgangs? mensaje solicitud mensagem messaggio richiesta requête bericht wiadomoś\\w… "
    "сообщени\\w… запрос\\w… повідомлення mesaj istek رسالة الرسالة הודעה संदेश ข้อความ "
    "消息 邮件 郵件 请求 メッセージ リクエスト 메시지 요청"
)
_ID = r"(?:id|ids|no|nr|num|number|nummer|code|key|token|kennung|номер|№|رقم|מספר|संख्या|编号|編號|番号|번호|＃|\#)"
_SERVERS = _word(
    "server servers host hostname node backend machine instance pod serveur hôte servidor servitore serwer сервер\\w… "
    "узел вузол διακομιστής sunucu خادم الخادم שרת سرور सर्वर เซิร์ฟเวอร์ 服务器 伺服器 主机 サーバー? ホスト 서버"
)
_AGO = "|".join((
    r"\d{1,4}\s?(?:second|minute|min|hour|day|week|month|year)s?\s{1,4}ago",
    r"vor\s{1,4}\d{1,4}\s{1,4}(?:sekunde|minute|stunde|tag|woche|monat|jahr)\w{0,3}",
    r"(?:il\s{1,4}y\s{1,4}a|hace|há)\s{1,4}\d{1,4}\s{1,4}\w{2,9}",
    r"\d{1,4}\s{1,4}\w{2,9}\s{1,4}(?:fa|geleden|temu|назад|тому|önce|پیش|पहले)",
    r"(?:قبل|منذ|לפני)\s{1,4}\d{1,4}\s{1,4}\w{2,9}",
    r"\d{1,4}\s?(?:秒|分钟|分鐘|分|小时|小時|時間|天|日|周|週間?|个月|個月|ヶ月|年|초|분|시간|일|주|개월|년)\s?(?:前|전)",
))  # fmt: skip
_DATES = "|".join((
    r"(?<![\d.])\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?![\d.]\d|\d)",
    r"(?<![\d.])(?:0?[1-9]|[12]\d|3[01])[-/.]\s?(?:0?[1-9]|[12]\d|3[01])[-/.]\s?\d{4}(?!\d)",
    r"(?<![\d.])(?:[0-3]?\d[-/][0-3]?\d[-/]|[0-3]\d\.[01]\d\.)\d{2}(?![\d.]\d|\d)",
    r"\d{8}T\d{4,6}Z?",
    rf"\d{{1,2}}(?:st|nd|rd|th|er|\.|º|ª|°)?\s?(?:de\s|of\s|d[’'])?(?:{_MONTHS})\b\.?(?:,?\s?(?:de\s|del\s)?\d{{4}}\b)?",
    rf"\b(?:{_MONTHS})\b\.?\s?\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s?\d{{4}}\b)?",
    rf"\b(?:{_MONTHS})\b\.?,?\s(?:de\s)?\d{{4}}\b",
    r"(?:\d{2,4}\s?年\s?)?\d{1,2}\s?月(?:\s?\d{1,2}\s?[日号號])?",
    r"(?:\d{4}\s?년\s?)?\d{1,2}\s?월(?:\s?\d{1,2}\s?일)?",
    r"(?:©|\(c\)|copyright)\s{0,2}(?:\d{4}\s?[-–—]\s?)?\d{4}\b",
))  # fmt: skip
_ZONE = (
    r"(?:\s?(?:utc|gmt|bst|ce[s]?t|e[sd]t|c[sd]t|m[sd]t|p[sd]t|jst|kst|ist|msk|uhr|h|น\.|z)\b|\s?[+-]\d{2}:?\d{2}\b)"
)
_CLOCK = "|".join((
    rf"T?\b\d{{1,2}}:\d{{2}}(?::\d{{2}}(?:[.,]\d{{1,9}})?)?(?:\s?[ap]\.?m\b\.?)?{_ZONE}{{0,2}}",
    rf"T\d{{1,2}}:\d{{2}}(?::\d{{2}}(?:[.,]\d{{1,9}})?)?{_ZONE}?",
    r"\b\d{1,2}\s?[ap]\.?m\b\.?",
    r"\b\d{1,2}[h.]\d{2}(?:\s?(?:uhr|h)\b|(?<=\dh\d\d))",
    r"(?:上午|下午|午前|午後|晚上|오전|오후)?\s?\d{1,2}\s?[時时点點시](?:\s?\d{1,2}\s?[分분])?(?:\s?\d{1,2}\s?[秒초])?",
    rf"\b(?:{_DAYS})\b\.?,?(?=\s{{0,2}}\d|\s{{1,2}}(?:{_MONTHS})\b)",
    r"(?:星期|礼拜|週|周)[一二三四五六日天]|[月火水木金土日]曜日?|[월화수목금토일]요일",
))  # fmt: skip

_FLAGS = re.IGNORECASE
EXPRESSIONS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (URL, re.compile(
        rf"\b(?:https?|ftp)://(?:{_IN_URL}|[{_IN_NAME}]){{1,400}}|\bwww\d?\.(?:{_IN_URL}|[{_IN_NAME}]){{1,400}}"
        rf"|(?<![{_IN_NAME}_.-]){_LABEL}(?:\.{_LABEL}){{1,8}}(?::\d{{1,5}})?/{_IN_URL}{{0,400}}"
        rf"|(?<!\S)/[\w.~%-]{{1,100}}(?:/[\w.~%-]{{0,100}}){{1,20}}(?:\?{_IN_URL}{{0,200}})?"
        rf"|{_IN_URL}{{0,200}}[?&][\w.-]{{1,40}}={_IN_URL}{{0,200}}", _FLAGS)),
    (MESSAGE, re.compile(
        rf"<[^<>\s@]{{1,120}}@[^<>\s]{{1,120}}>|{_MESSAGES}[\s_.-]{{0,2}}{_ID}(?![^\W\d_])\W{{0,4}}{_VALUE}", _FLAGS)),
    (SESSION, re.compile(
        rf"{_SESSIONS}[\s_-]{{0,2}}{_ID}?\W{{0,4}}{_VALUE}"
        r"|\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b"
        r"|(?<![^\W_])(?=[a-f]{0,40}\d)(?=\d{0,40}[a-f])[0-9a-f]{12,128}(?![^\W_])", _FLAGS)),
    (SERVER, re.compile(
        rf"(?:\b(?:served|hosted|delivered|generated)\s(?:by|from|on)|{_SERVERS}(?:[\s_-]?(?:name|{_ID}))?)"
        r"\W{0,3}(?=[\w-]{0,60}[\d.][\w-])[A-Za-z0-9][\w.-]{0,120}"
        r"|\b(?:www|web|app|srv|server|node|host|cache|proxy|backend|fe|lb|ip)-?\d{1,4}(?:-\d{1,4}){0,4}\b(?!\.\w)",
        _FLAGS)),
    (URL, re.compile(
        rf"(?<![{_IN_NAME}_.-]){_LABEL}(?:\.{_LABEL}){{0,8}}\.[A-Za-z]{{2,24}}(?![{_IN_NAME}_-])(?::\d{{1,5}})?")),
    (EXECUTION, re.compile(
        rf"\d{{1,6}}[.,]\d{{1,9}}\s?(?:{_UNITS})(?![^\W\d_])|\d{{1,6}}\s?(?:{_QUERIES})\b"
        rf"|{_MADE}[^\n\d]{{0,30}}\d{{1,9}}(?:[.,]\d{{1,9}})?\s?(?:{_UNITS})(?![^\W\d_])"
        rf"|{_MADE}(?:[\s-]?(?:time|zeit|temps|tiempo|tempo|время|時間|时间|시간))?\s?[:：=]\s?"
        r"\d{1,9}[.,]\d{1,9}", _FLAGS)),
    (VISITORS, re.compile(
        rf"{_READERS}[^\n\d]{{0,16}}{_NUMBER}|{_NUMBER}\.?[^\n\d.]{{0,14}}{_READERS}", _FLAGS)),
    (TIME, re.compile(f"{_DATES}|{_CLOCK}|{_AGO}", _FLAGS)),
)  # fmt: skip

_LAST = frozenset(
    _any(
        "com net org edu gov mil int info biz name pro museum aero coop jobs mobi travel arpa test example invalid "
        "localhost app dev blog shop site online store tech xyz club top page cloud news live"
    ).split("|")
)
"""Last parts of host names that have more than two letters."""


def spans(text: str) -> Iterator[tuple[int, int, int]]:
    """(place in EXPRESSIONS, start, end) of the expressions in a short text."""
    for place, (kind, pattern) in enumerate(EXPRESSIONS):
        for found in pattern.finditer(text):
            if kind is not URL or _is_url(found[0]):
                yield place, found.start(), found.end()


def _is_url(text: str) -> bool:
    """A sentence's end without a space after it looks like a host name; a host's last part is one of few."""
    if "/" in text or "=" in text or text[:4].lower() == "www.":
        return True
    name = text.partition(":")[0].lower()
    last = name.rpartition(".")[2]
    return len(name) > 4 and (last in _LAST or len(last) == 2)
