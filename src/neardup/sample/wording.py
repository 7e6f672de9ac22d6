"""What a site prints around its pages, in every language of the sample.

`WORDING[language]` has the navigation, the footer and the lines that the changes add: the mirror
notice, the session number, the time stamp and the visitor counter.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["RIGHT_TO_LEFT", "UNSPACED", "WORDING", "Wording"]

RIGHT_TO_LEFT = frozenset({"ar", "he"})

#: Languages whose sentences follow one another without a space.
UNSPACED = frozenset({"zh", "ja"})


@dataclass(frozen=True)
class Wording:
    """The fixed phrases of a site; `{host}`, `{id}`, `{date}`, `{time}` and `{count}` are filled in."""

    navigation: tuple[str, ...]
    footer: str
    mirror: str
    session: str
    stamp: str
    counter: str


def _wording(navigation: str, footer: str, mirror: str, session: str, stamp: str, counter: str) -> Wording:
    return Wording(tuple(navigation.split(" / ")), footer, mirror, session, stamp, counter)


WORDING = {
    "en": _wording(
        "Home / Latest / Archive / About us / Contact",
        "© {host}. All rights reserved.",
        "You are reading a mirror at {host}.",
        "Your session: {id}. Log out",
        "Page printed on {date} at {time}.",
        "You are visitor number {count}.",
    ),
    "de": _wording(
        "Startseite / Aktuelles / Archiv / Über uns / Kontakt",
        "© {host}. Alle Rechte vorbehalten.",
        "Sie lesen einen Spiegel auf {host}.",
        "Ihre Sitzung: {id}. Abmelden",
        "Seite gedruckt am {date} um {time} Uhr.",
        "Sie sind Besucher Nummer {count}.",
    ),
    "fr": _wording(
        "Accueil / Actualités / Archives / Qui sommes-nous / Contact",
        "© {host}. Tous droits réservés.",
        "Vous lisez une copie hébergée par {host}.",
        "Votre session : {id}. Se déconnecter",
        "Page imprimée le {date} à {time}.",
        "Vous êtes le visiteur n° {count}.",
    ),
    "ru": _wording(
        "Главная / Новости / Архив / О нас / Контакты",
        "© {host}. Все права защищены.",
        "Вы читаете зеркало на {host}.",
        "Ваш сеанс: {id}. Выйти",
        "Страница напечатана {date} в {time}.",
        "Вы посетитель номер {count}.",
    ),
    "el": _wording(
        "Αρχική / Νέα / Αρχείο / Σχετικά / Επικοινωνία",
        "© {host}. Με την επιφύλαξη παντός δικαιώματος.",
        "Διαβάζετε αντίγραφο στο {host}.",
        "Η σύνδεσή σας: {id}. Έξοδος",
        "Εκτυπώθηκε στις {date}, ώρα {time}.",
        "Είστε ο επισκέπτης αριθμός {count}.",
    ),
    "ar": _wording(
        "الرئيسية / الأخبار / الأرشيف / من نحن / اتصل بنا",
        "© {host}. جميع الحقوق محفوظة.",
        "أنت تقرأ نسخة مستضافة على {host}.",
        "رقم الجلسة: {id}. تسجيل الخروج",
        "طُبعت الصفحة في {date} الساعة {time}.",
        "أنت الزائر رقم {count}.",
    ),
    "he": _wording(
        "דף הבית / חדש באתר / ארכיון / אודות / צור קשר",
        "© {host}. כל הזכויות שמורות.",
        "העמוד הזה הוא עותק באתר {host}.",
        "מספר ההתחברות: {id}. יציאה",
        "הודפס בתאריך {date} בשעה {time}.",
        "המבקר מספר {count} באתר.",
    ),
    "hi": _wording(
        "मुखपृष्ठ / ताज़ा / पुराने अंक / हमारे बारे में / संपर्क",
        "© {host}। सर्वाधिकार सुरक्षित।",
        "आप {host} पर रखी प्रति पढ़ रहे हैं।",
        "आपका सत्र: {id}। लॉग आउट",
        "यह पृष्ठ {date} को {time} बजे छापा गया।",
        "आप आगंतुक संख्या {count} हैं।",
    ),
    "zh": _wording(
        "首页 / 最新 / 存档 / 关于我们 / 联系",
        "© {host}　版权所有",
        "您正在阅读{host}上的镜像。",
        "会话编号：{id}　退出",
        "本页打印于{date} {time}。",
        "您是第{count}位访客。",
    ),
    "ja": _wording(
        "ホーム / 新着 / 過去の記事 / 概要 / お問い合わせ",
        "© {host}　無断転載を禁じます",
        "これは{host}にあるミラーです。",
        "セッション：{id}　ログアウト",
        "印刷日時：{date} {time}",
        "あなたは{count}人目の訪問者です。",
    ),
    "ko": _wording(
        "처음으로 / 새 소식 / 지난 글 / 소개 / 연락처",
        "© {host}. 모든 권리 보유.",
        "{host}에 있는 미러를 보고 계십니다.",
        "접속 번호: {id}. 로그아웃",
        "{date} {time}에 인쇄한 쪽입니다.",
        "{count}번째 방문자입니다.",
    ),
    "th": _wording(
        "หน้าแรก / ล่าสุด / คลังข่าว / เกี่ยวกับเรา / ติดต่อ",
        "© {host} สงวนลิขสิทธิ์",
        "คุณกำลังอ่านสำเนาที่ {host}",
        "รหัสการเข้าใช้: {id} ออกจากระบบ",
        "พิมพ์เมื่อ {date} เวลา {time} น.",
        "คุณคือผู้เข้าชมคนที่ {count}",
    ),
    "my": _wording(
        "ပင်မစာမျက်နှာ / သတင်းသစ် / မှတ်တမ်း / ကျွန်ုပ်တို့အကြောင်း / ဆက်သွယ်ရန်",
        "© {host} မူပိုင်ခွင့်ရှိသည်။",
        "{host} ရှိ မိတ္တူကို ဖတ်နေပါသည်။",
        "အသုံးပြုမှုအမှတ်: {id} ထွက်ရန်",
        "{date} ရက် {time} နာရီတွင် ပုံနှိပ်သည်။",
        "သင်သည် ဧည့်သည်အမှတ် {count} ဖြစ်သည်။",
    ),
}
