"""Common first words of passwords that have to be changed regularly: seasons, months, weekdays,
greetings, the words for password and secret, and keyboard rows, in the languages of the pages.

The lists are case-folded and without spaces; words with accents also match without them.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Final

_KEYBOARD_ROWS: Final = """
qwerty qwertyuiop qwertz qwertzuiop azerty azertyuiop asdf asdfgh asdfghjkl qsdfgh qsdfghjklm
zxcvbn zxcvbnm yxcvbn yxcvbnm wxcvbn qwer qwert asdfjkl qazwsx qazwsxedc qweasd qweasdzxc
poiuyt poiuytrewq lkjhgf lkjhgfdsa mnbvcxz 1qaz2wsx zaqwsx zaqxsw abc abcd abcde abcdef abcdefg
abcdefgh abcdefghij йцукен фывапр ضصثقفغ شسيبلا
"""

_LANGUAGES: Final = {
    "en": """
spring summer autumn fall winter
january february march april may june july august september october november december
jan feb mar apr jun jul aug sep sept oct nov dec
monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun
hello hi hey welcome goodmorning goodday goodbye bye thanks thankyou please letmein iloveyou
password passwords passphrase pass passwd pwd passcode secret secrets topsecret mysecret
mypassword newpassword login signin access changeme default temp temporary test testing guest user
admin administrator root master company office work home birthday christmas holiday vacation
""",
    "de": """
frühling fruehling frühjahr fruehjahr sommer herbst winter
januar jänner jaenner februar märz maerz april mai juni juli august september oktober november
dezember
montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag
hallo servus moin willkommen gutentag gutenmorgen gutenabend tschüss tschuess danke bitte
passwort kennwort passwörter passwoerter losung losungswort geheim geheimnis geheimwort streng
meinpasswort neuespasswort zugang anmelden anmeldung start gast benutzer verwalter chef firma büro
buero arbeit zuhause geburtstag weihnachten ostern urlaub ferien ichliebedich schatz liebling
""",
    "fr": """
printemps été ete automne hiver
janvier février fevrier mars avril mai juin juillet août aout septembre octobre novembre décembre
decembre
lundi mardi mercredi jeudi vendredi samedi dimanche
bonjour bonsoir salut bienvenue coucou aurevoir merci
motdepasse mdp passe secret secrets confidentiel monmotdepasse nouveau connexion accès acces
ouvretoi invité invite utilisateur administrateur entreprise bureau travail maison anniversaire
noël noel pâques paques vacances jetaime amour chéri cheri soleil doudou loulou
""",
    "it": """
primavera estate autunno inverno
gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
lunedì lunedi martedì martedi mercoledì mercoledi giovedì giovedi venerdì venerdi sabato domenica
ciao salve benvenuto benvenuti benvenuta buongiorno buonasera arrivederci grazie prego
password parolachiave parola chiave segreto segreta segretissimo miapassword nuovapassword accesso
accedi entra ospite utente amministratore azienda ufficio lavoro casa compleanno natale pasqua
vacanze tiamo amore tesoro
""",
    "es": """
primavera verano otoño otono invierno
enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre
lunes martes miércoles miercoles jueves viernes sábado sabado domingo
hola bienvenido bienvenidos bienvenida buenosdias buenastardes buenasnoches adiós adios gracias
contraseña contrasena clave palabraclave secreto secreta supersecreto micontraseña micontrasena
miclave nueva acceso entrar abretesesamo invitado usuario administrador empresa oficina trabajo
casa cumpleaños cumpleanos navidad vacaciones teamo tequiero amor cariño carino
""",
    "pt-BR": """
primavera verão verao outono inverno
janeiro fevereiro março marco abril maio junho julho agosto setembro outubro novembro dezembro
segunda segundafeira terça terca terçafeira tercafeira quarta quartafeira quinta quintafeira sexta
sextafeira sábado sabado domingo
olá ola oi bemvindo bemvindos bemvinda bomdia boatarde boanoite tchau obrigado obrigada
senha senhas minhasenha novasenha palavrapasse segredo secreto secreta supersecreta acesso entrar
mudar123 convidado usuário usuario administrador empresa escritório escritorio trabalho casa
aniversário aniversario natal páscoa pascoa férias ferias teamo amor querida querido saudade
""",
    "nl": """
lente voorjaar zomer herfst najaar winter
januari februari maart april mei juni juli augustus september oktober november december
maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
hallo hoi welkom goedemorgen goedemiddag goedendag goedenavond doei totziens dankjewel bedankt
wachtwoord wachtwoorden wachtzin geheim geheimpje mijnwachtwoord nieuwwachtwoord toegang inloggen
aanmelden gast gebruiker beheerder bedrijf kantoor werk thuis verjaardag kerst kerstmis pasen
vakantie ikhouvanjou ikhouvanje liefje schatje
""",
    "pl": """
wiosna lato jesień jesien zima
styczeń styczen luty marzec kwiecień kwiecien maj czerwiec lipiec sierpień sierpien wrzesień
wrzesien październik pazdziernik listopad grudzień grudzien
poniedziałek poniedzialek wtorek środa sroda czwartek piątek piatek sobota niedziela
cześć czesc witaj witamy witam dzieńdobry dziendobry dobrywieczór dobrywieczor dowidzenia
dziękuję dziekuje
hasło haslo mojehasło mojehaslo nowehasło nowehaslo tajne tajny tajemnica sekret dostęp dostep
zaloguj gość gosc użytkownik uzytkownik administrator firma biuro praca dom urodziny
wielkanoc wakacje kochamcię kochamcie kochanie misiek
""",
    "ja": """
春 夏 秋 冬 はる なつ あき ふゆ haru natsu aki fuyu
一月 二月 三月 四月 五月 六月 七月 八月 九月 十月 十一月 十二月
ichigatsu nigatsu sangatsu shigatsu gogatsu rokugatsu shichigatsu hachigatsu kugatsu juugatsu
月曜日 火曜日 水曜日 木曜日 金曜日 土曜日 日曜日 月曜 火曜 水曜 木曜 金曜 土曜 日曜
getsuyoubi kayoubi suiyoubi mokuyoubi kinyoubi doyoubi nichiyoubi
こんにちは こんばんは おはよう おはようございます ようこそ ありがとう さようなら
konnichiwa konbanwa ohayou ohayo youkoso yokoso arigatou arigato sayonara
パスワード ぱすわーど 暗証番号 合言葉 あいことば 秘密 ひみつ 極秘 pasuwaado aikotoba himitsu
ログイン ゲスト ユーザー 管理者 会社 仕事 誕生日 大好き kaisha shigoto tanjoubi daisuki sakura
""",
    "zh-Hans": """
春天 夏天 秋天 冬天 春 夏 秋 冬 chuntian xiatian qiutian dongtian
一月 二月 三月 四月 五月 六月 七月 八月 九月 十月 十一月 十二月
yiyue eryue sanyue siyue wuyue liuyue qiyue bayue jiuyue shiyue
星期一 星期二 星期三 星期四 星期五 星期六 星期天 星期日 周一 周二 周三 周四 周五 周六 周日
xingqiyi xingqier xingqisan xingqisi xingqiwu xingqiliu xingqitian
你好 您好 欢迎 早上好 晚上好 再见 谢谢 nihao ninhao huanying zaoshanghao wanshanghao zaijian xiexie
密码 口令 秘密 机密 我的密码 新密码 mima kouling mimi jimi wodemima xinmima
登录 访客 用户 管理员 公司 工作 生日 新年 我爱你 denglu guanliyuan gongsi shengri woaini
""",
    "ar": """
ربيع الربيع صيف الصيف خريف الخريف شتاء الشتاء rabee sayf kharif shitaa
يناير فبراير مارس أبريل ابريل مايو يونيو يوليو أغسطس اغسطس سبتمبر أكتوبر اكتوبر نوفمبر ديسمبر
محرم صفر رجب شعبان رمضان شوال ramadan
الاثنين الإثنين الثلاثاء الأربعاء الاربعاء الخميس الجمعة السبت الأحد الاحد
مرحبا أهلا اهلا أهلاوسهلا اهلاوسهلا السلامعليكم صباحالخير مساءالخير معالسلامة شكرا
marhaba ahlan ahlanwasahlan salam assalamualaikum sabahalkhair shukran
كلمةالسر كلمةسر كلمةالمرور كلمةمرور سر سري سرية kalimatalsirr sirr sirri
دخول ضيف مستخدم مدير شركة مكتب عمل بيت عيدميلاد عيد عطلة أحبك احبك حبيبي حبيبتي habibi habibti
""",
}


@cache
def common_words() -> frozenset[str]:
    """Returns every word of the lists, with and without accents."""
    words = {word for text in (_KEYBOARD_ROWS, *_LANGUAGES.values()) for word in text.split()}
    folded = {word.casefold() for word in words}
    return frozenset(folded | {without_accents(word) for word in folded})


def without_accents(text: str) -> str:
    """Returns the text without combining marks: `été` becomes `ete`."""
    decomposed = unicodedata.normalize("NFD", text)
    return "".join(each for each in decomposed if not unicodedata.combining(each))
