"""German, French, Russian and Greek.

Slot values are whole phrases in the case that their frames ask for (the suffix of the slot name says
which: `_n` nominative, `_a` accusative, `_d` dative, `_g` genitive, `_p` prepositional).
"""

# ruff: noqa: E501 (a frame is one line, however long)

from __future__ import annotations

from neardup.sample.grammar import topic

__all__ = ["TOPICS"]

_DAYS_DE = "Montag | Dienstag | Mittwoch | Donnerstag | Freitag | Samstag | Sonntag"
_MONTHS_DE = "Januar | Februar | März | April | Mai | Juni | Juli | August | September | Oktober | November | Dezember"

_DE_HARBOUR = topic(
    "de",
    "hafen",
    site="Hafenamt Süderkoog",
    titles="""
        Hafenmeldung {11..389}: {arbeit_n} {ort_d}
        Sperrung {ort_d} ab {tag}
        Bekanntmachung für Seefahrer {11..389}: {gefahr_n}
    """,
    sentences="""
        Ab {tag}, dem {1..28}. {monat}, ist die Durchfahrt {ort_d} wegen {arbeit_g} gesperrt.
        {fahrzeuge} müssen einen Abstand von {50..400} Metern einhalten, solange {bedingung}.
        {person_n} meldet {gefahr_a} etwa {2..19} Kabellängen {richtung} von {marke_d}.
        Die geringste Tiefe {ort_d} betrug am {tag} nur {2..9} Meter {20..90}, {zusatz}.
        {dienst_n} steht zwischen {5..11}:{minute} und {12..21}:{minute} Uhr nicht zur Verfügung.
        Bei Wind aus {richtung2} ab Stärke {5..9} gilt: {regel}.
        {person_n} bittet {fahrzeuge}, sich vor {manoever} auf Kanal {8..74} zu melden.
        Auf {marke_d} brennt bis {monat} ein {farbe} Licht mit {2..15} Sekunden Wiederkehr.
        Taucher arbeiten {ort_d} von {5..11}:{minute} Uhr an; {regel}.
        Das Liegegeld für {fahrzeuge} steigt auf {6..58} Euro, {dienst_n} ist inbegriffen.
        Nach dem Unfall im {monat} hat {person_n} angeordnet: {regel}.
        Wer {gefahr_a} sichtet, verständigt {person_a} und wartet, bis {bedingung}.
        Die Vermessung zeigt, dass sich die Rinne um {10..80} Meter nach {richtung2} verlagert hat, {zusatz}.
        {fahrzeuge} finden während {arbeit_g} Ersatzplätze {ort_d}.
        Fischereigerät bleibt höchstens {2..48} Stunden {ort_d} liegen, danach lässt {person_n} es abholen.
        Solange {bedingung}, ist {manoever_n} nur mit Schlepper erlaubt.
        Der Bagger trifft voraussichtlich am {tag} ein und arbeitet {2..19} Tage vor {marke_d}, {zusatz}.
    """,
    slots={
        "arbeit_n": "Rammarbeiten | Baggerarbeiten | Kranwartung | Regatta | Kabelverlegung | Betonsanierung",
        "arbeit_g": "der Rammarbeiten | der laufenden Baggerung | einer Kranwartung | der Herbstregatta | "
        "einer Kabelverlegung | der Betonsanierung | des Leiterntauschs | einer Sprengung",
        "ort_d": "am Nordkai | an der Kohlenpier | im Binnenbecken | an Steg C | am Alten Fischmarkt | "
        "an der Fährrampe | vor der Schleuse | am Holzhafen | an der Zollmauer | im Trockendock",
        "fahrzeuge": "Kutter | Gastyachten | Lotsenversetzboote | kleine Motorboote | Plattbodenschiffe | Inselfähren | "
        "Schleppverbände | Ruderboote | Vermessungsboote",
        "person_n": "der Hafenmeister | die Lotsenbrüderschaft | das Wasserbauamt | der Schleusenwärter | "
        "die Revierzentrale | der diensthabende Ingenieur",
        "person_a": "den Hafenmeister | die Revierzentrale | das Wasserbauamt | den Schleusenwärter | die Wasserwacht",
        "gefahr_n": "treibender Container | loser Ponton | Treibholz | unbeleuchtete Schute | Ölfilm",
        "gefahr_a": "einen treibenden Container | einen losen Ponton | größere Mengen Treibholz | "
        "eine unbeleuchtete Schute | ein zerrissenes Schleppnetz | einen Ölfilm | einen entwurzelten Baum",
        "marke_d": "der Ansteuerungstonne | Bake Süd | dem Molenkopf | der Glockentonne | dem Leuchtfeuer Oster | "
        "der Wracktonne | Priggenreihe 4",
        "richtung": "nördlich | nordöstlich | östlich | südlich | südwestlich | westlich",
        "richtung2": "Nord | Nordost | Ost | Südost | Süd | Südwest | West | Nordwest",
        "bedingung": "die Flut läuft | Niedrigwasser herrscht | das rote Signal steht | dichter Nebel liegt | "
        "die Brücke geschlossen ist | der Schlepper arbeitet | die Strömung kentert",
        "zusatz": "nach Angaben der Lotsen | wie schon im Frühjahr | anders als im Vorjahr | wie bereits gemeldet | "
        "entgegen der Vorhersage | zum dritten Mal in diesem Jahr",
        "dienst_n": "das Tankschiff | die Fäkalienabsaugung | der Landstrom | das Wassertaxi | der Slipkran | "
        "die Eismaschine | die Altölannahme",
        "manoever": "dem Einlaufen | dem Drehen | dem Bunkern | dem Ankern | dem Verholen | der Schleusung",
        "manoever_n": "das Einlaufen | das Drehen | das Bunkern | das Ankern | das Verholen",
        "regel": "Leinen sind zu verdoppeln | Sog und Wellenschlag sind zu vermeiden | offene Boote bleiben im Hafen | "
        "Hörbereitschaft auf Kanal 16 ist Pflicht | höchstens drei Boote liegen nebeneinander | "
        "Schwimmwesten sind anzulegen",
        "farbe": "rotes | grünes | weißes | gelbes | blaues",
        "tag": _DAYS_DE,
        "monat": _MONTHS_DE,
    },
)

_DE_RECIPE = topic(
    "de",
    "rezept",
    site="Die Kupferkelle",
    titles="""
        {GERICHT} nach Art {koch_g}
        {GERICHT} mit {kraut}
        {GERICHT} in {25..95} Minuten
    """,
    sentences="""
        Dieses Rezept stammt aus der Küche {koch_g}; seit {zeit} kochen wir es {oft}.
        Zuerst {fett} in {topf_d} erhitzen, bis {zeichen}.
        {gemuese} und {gemuese} zugeben und {3..14} Minuten dünsten, {deckel}.
        Mit {gewuerz}, {gewuerz} und etwas Salz abschmecken.
        {100..900} Milliliter {fluessig} angießen und {10..70} Minuten köcheln lassen, {deckel}.
        Wer keine Lust auf {gemuese} hat, nimmt stattdessen {gemuese}.
        {kraut} fein hacken und {schritt} unterheben, damit {ziel}.
        Den Ofen auf {150..235} Grad vorheizen und {fett} bereitstellen.
        Erst wenn {zeichen}, kommt {gewuerz} dazu.
        Vor {schritt_d} sollte alles {5..55} Minuten ruhen, damit {ziel}.
        Dazu passen {beilage} und ein Löffel {fluessig}.
        Reste halten sich {2..6} Tage und schmecken mit {beilage} fast noch besser.
        Eine Leserin schrieb uns: „{meinung}.“
        Für {4..14} Personen {gemuese} verdoppeln, aber nicht {gewuerz}.
        {gemuese} in Stücke von {1..4} Zentimetern schneiden, damit {ziel}.
        Kinder mögen es lieber mit {beilage} als mit {kraut}.
        Zum Schluss {kraut} darüberstreuen und in {topf_d} servieren, {deckel}.
    """,
    items="""
        {100..900} g {gemuese}
        {1..5} EL {fett}
        {1..4} TL {gewuerz}
        {100..750} ml {fluessig}
        ein Bund {kraut}
        {beilage} zum Servieren
    """,
    slots={
        "gericht": "Linseneintopf | Graupenauflauf | Lauchkuchen | Fischsuppe | Bohnentopf | Kartoffelgratin | "
        "Pilzknödel | Pflaumenkuchen | Zwiebelbrot | Kürbisgulasch",
        "koch_g": "meiner Tante | einer alten Fährköchin | unseres Nachbarn | der Dorfbäckerin | meines Großvaters | "
        "der Schulküche | einer Marktfrau",
        "zeit": "dem letzten Winter | vielen Jahren | unserer Hochzeit | dem Umzug aufs Land | jenem Herbst",
        "oft": "fast jeden Monat | zu jedem Geburtstag | immer wieder gern | an den meisten Freitagen | viel zu selten",
        "fett": "gesalzene Butter | kalt gepresstes Rapsöl | etwas Gänseschmalz | Butterschmalz | Walnussöl | gutes Olivenöl",
        "topf_d": "einer schweren Pfanne | dem gusseisernen Topf | einer Tonform | einem breiten Bräter | "
        "einem kleinen Stieltopf",
        "zeichen": "die Ränder bräunen | es nach Nüssen duftet | die Zwiebeln glasig sind | kleine Blasen aufsteigen | "
        "der Schaum sich setzt | die Soße am Löffel haftet",
        "gemuese": "Pastinaken | junge Möhren | Knollensellerie | festkochende Kartoffeln | rote Linsen | weiße Bohnen | "
        "Lauchringe | Wiesenchampignons | Perlgraupen | Kürbiswürfel | säuerliche Äpfel",
        "gewuerz": "Kümmel | Räucherpaprika | Pfeffer | Koriandersaat | Muskat | Lorbeer | Wacholder | Senf",
        "kraut": "Petersilie | Schnittlauch | Liebstöckel | Estragon | Dill | Kerbel | Majoran | Sauerampfer",
        "fluessig": "Gemüsebrühe | Apfelwein | Buttermilch | Sauerrahm | Bier | Vollmilch | Weißwein",
        "deckel": "halb zugedeckt | mit Deckel | ohne Deckel | unter gelegentlichem Rühren | bei kleiner Hitze | "
        "auf mittlerer Flamme",
        "schritt": "beim zweiten Kneten | ganz vorsichtig | nach dem Abgießen | in drei Portionen | kurz vor dem Anrichten",
        "schritt_d": "dem zweiten Kneten | dem Anbraten | dem Abgießen | dem Einkochen | dem Backen",
        "ziel": "nichts anhängt | sich die Aromen verbinden | alles gleichmäßig gart | die Füllung saftig bleibt | "
        "keine Klümpchen entstehen | die Farbe erhalten bleibt",
        "beilage": "Roggenbrot | Gewürzgurken | Blattsalat | Langkornreis | Butternudeln | Apfelkompott | Brotbrösel",
        "meinung": "Niemand hat den Unterschied bemerkt | Der Topf war um acht Uhr leer | "
        "Mein Mann wollte dreimal Nachschlag | Mit einer Prise Zucker ist es perfekt",
    },
)

_MOIS = "janvier | février | mars | avril | mai | juin | juillet | août | septembre | octobre | novembre | décembre"

_FR_MUSEUM = topic(
    "fr",
    "musee",
    site="Musée des Métiers et des Marées",
    titles="""
        {OBJET}, salle {2..31}
        L'objet du mois : {OBJET}
        « {expo} », à partir du {2..28} {mois}
    """,
    sentences="""
        {OBJET} est entré dans les collections en {1871..1989} grâce à {donateur}.
        Fabriqué vers {1580..1890} {lieu}, il est attribué à {artisan}.
        Les visiteurs remarquent rarement {detail} ; {expert} a su l'expliquer.
        {salle}, {3..40} pièces entourent {objet}.
        {expert} l'a comparé avec {objet} et y a trouvé {trouvaille}.
        Nettoyé en {1951..2019}, l'ensemble a révélé {trouvaille} et {detail}.
        Nul ne sait pourquoi {artisan} n'a jamais achevé {detail}.
        Lors de la crue de {1902..1968}, {donateur} a mis {objet} à l'abri {lieu}.
        « {citation} », peut-on lire sur l'étiquette laissée par {donateur}.
        L'exposition « {expo} » réunit {4..60} prêts venus {origine} et {origine}.
        Les visites guidées partent à {9..17} h {minute} {salle} et durent {25..90} minutes.
        Des {12..400} pièces réunies par {donateur}, il n'en reste que {2..9} {lieu}.
        Une copie en {matiere} peut être touchée ; l'original est conservé {salle}.
        Avec ses {8..240} centimètres, il égale presque {objet}, mais {remarque}.
        Après {evenement}, {artisan} s'est installé {lieu} et a travaillé {matiere2}.
        L'inventaire de {1790..1910} le mentionne entre {objet} et {objet}, {remarque}.
        Chaque {2..28} {mois}, les conservateurs ouvrent les réserves et montrent {objet}.
        Une lettre trouvée {lieu} en {1921..1999} évoque {detail}, peu avant {evenement}.
    """,
    slots={
        "objet": "le fanal du passeur | un peigne en os | le cadran du maître horloger | un patin d'enfant | "
        "le carnet du tisserand | un cruchon en grès | le trébuchet d'apothicaire | un coffre de marin peint | "
        "le banc du verrier | un bourdon de pèlerin",
        "salle": "dans la corderie | dans la grande galerie | à l'ancienne chaufferie | dans la salle des cartes | "
        "au pied de la tour est | dans la voilerie",
        "donateur": "un charpentier de marine | la veuve d'un brasseur | une institutrice à la retraite | "
        "la guilde des tonneliers | un éclusier anonyme | une famille d'horlogers | un photographe ambulant",
        "lieu": "dans la haute vallée | près d'un moulin | sur l'île de Harsey | dans un village du col | "
        "aux anciennes salines | dans un couvent des collines | dans les ports du nord",
        "origine": "de la haute vallée | des salines | de l'île voisine | d'un couvent | des ports du nord | de collections privées",
        "artisan": "un compagnon ferblantier | un graveur oublié | un tourneur aveugle | le fils d'un relieur | "
        "un marin du quai | un mécanicien autodidacte",
        "detail": "la minuscule charnière | une rangée d'étoiles poinçonnées | la poignée gauche usée | "
        "une inscription à l'envers | un second tiroir caché | l'éclat d'émail bleu | le poinçon sous le rebord",
        "expert": "notre restauratrice textile | un métallurgiste de passage | le responsable des collections | "
        "une étudiante en archéologie | l'ancien gardien | un historien amateur",
        "trouvaille": "des traces de minium | une signature cachée | une réparation tardive | de la suie de bougie | "
        "un calcul au crayon | une couche de peinture plus ancienne | l'empreinte d'une pièce",
        "citation": "Ne pas prêter aux marins | Acheté cher, revendu plus cher encore | À ma sœur, pour sa patience | "
        "Garder au sec et se taire | Elle n'a jamais donné l'heure juste",
        "expo": "Poids et merveilles | Les mains à l'œuvre | Ce que le fleuve apporta | Neuf hivers | Petites réparations | "
        "La ville sur pilotis",
        "matiere": "poirier | chêne | laiton | étain coulé | toile cirée | ardoise",
        "matiere2": "le laiton | l'étain | le poirier | l'os | la toile cirée",
        "remarque": "bien plus lourd | sans autre précision | au prix de trente sous | d'une main hésitante | "
        "ce qui surprend encore | à la dernière page",
        "evenement": "le grand incendie | l'ouverture du canal | la dissolution de la guilde | l'arrivée du chemin de fer | "
        "l'ensablement du port | l'année sans récolte",
        "mois": _MOIS,
    },
)

_FR_RECIPE = topic(
    "fr",
    "recette",
    site="La Louche de cuivre",
    titles="""
        {PLAT} {maniere}
        {PLAT} en {25..95} minutes
        Notre {2..60}e recette : {PLAT} {maniere}
    """,
    sentences="""
        C'est {cuisinier} qui m'a appris cette recette {quand}, et depuis je la prépare {souvent}.
        Faites chauffer {gras} dans {recipient} jusqu'à ce que {signe}.
        Ajoutez {legume} et {legume}, puis remuez {3..14} minutes {feu}.
        Assaisonnez avec {epice}, {epice} et une pincée de gros sel.
        Versez {10..90} centilitres de {liquide} et laissez mijoter {10..70} minutes, {feu}.
        À défaut de trouver {legume}, prenez {legume} : {avis}.
        Pendant ce temps, ciselez {herbe} et réservez dans {recipient}.
        Préchauffez le four à {150..235} degrés, puis {geste}.
        Ne négligez pas ce détail : {geste}, sans quoi {risque}.
        Laissez reposer {5..55} minutes sous un linge, afin que {but}.
        Servez bien chaud avec {garniture} et un filet de {liquide}.
        Les restes se gardent {2..6} jours ; avec {garniture}, {avis}.
        Une lectrice nous écrit : « {avis}, même avec {epice}. »
        Pour {4..14} convives, ajoutez encore {legume}, mais pas {epice}.
        Coupez {legume} en morceaux de {1..4} centimètres, afin que {but}.
        Dès que {signe}, retirez du feu, puis {geste}.
        Chez nous, {cuisinier} ajoute {herbe} {quand}.
    """,
    items="""
        {legume} ({100..900} g)
        {gras}, pour la cuisson
        {epice}, selon le goût
        {10..75} cl de {liquide}
        {herbe}, à volonté
        {garniture} pour servir
    """,
    slots={
        "plat": "Potée de lentilles | Tourte à l'orge | Tarte aux poireaux | Soupe de poisson | Ragoût de haricots | "
        "Gratin de pommes de terre | Boulettes aux champignons | Gâteau aux prunes | Curry de potiron",
        "maniere": "à l'ancienne | façon marinière | du dimanche | des vendanges | au coin du feu | à ma façon",
        "cuisinier": "ma tante | le boulanger d'à côté | une vieille cantinière | notre voisin | mon grand-père | "
        "la dame du marché",
        "quand": "à la fin de l'automne | un hiver de neige | au temps des pommes | un soir de pluie | aux premiers froids | "
        "la veille des moissons",
        "souvent": "presque chaque mois | à tous les anniversaires | les jours de grand vent | bien trop rarement | "
        "dès qu'un invité s'annonce",
        "gras": "du beurre demi-sel | un peu d'huile de noix | une noix de saindoux | deux cuillerées d'huile d'olive | "
        "du beurre clarifié",
        "recipient": "une cocotte en fonte | une grande sauteuse | un plat en terre | une petite casserole | un saladier de verre",
        "signe": "les bords brunissent | l'oignon commence à fondre | de petites bulles remontent | "
        "la mousse retombe | la sauce nappe la cuillère | le parfum se dégage",
        "legume": "des panais | quelques jeunes carottes | du céleri-rave | des lentilles corail | des haricots blancs | "
        "deux poireaux émincés | des rosés des prés | de l'orge perlé | un morceau de potiron | des pommes acides",
        "epice": "du carvi | du paprika fumé | du poivre noir | un peu de muscade | une feuille de laurier | "
        "des baies de genièvre | des graines de moutarde",
        "herbe": "du persil plat | de la ciboulette | un brin d'estragon | de l'aneth frais | de la marjolaine | de l'oseille",
        "liquide": "bouillon de légumes | cidre brut | lait ribot | bière blonde | vin blanc sec | jus de tomate",
        "feu": "à feu doux | à couvert | à découvert | sur feu vif | en remuant de temps en temps | à petits frémissements",
        "geste": "beurrez soigneusement le moule | pétrissez une seconde fois | écumez le bouillon | "
        "égouttez les légumes secs | faites réduire la sauce | farinez le plan de travail",
        "risque": "tout attache | la pâte retombe | la farce se dessèche | des grumeaux se forment | la couleur se perd",
        "but": "les saveurs se mêlent | la cuisson soit égale | la garniture reste moelleuse | rien n'attache | la pâte lève",
        "garniture": "du pain de seigle | des cornichons | une salade verte | du riz blanc | des nouilles au beurre | "
        "des pommes au four",
        "avis": "c'est encore meilleur | personne n'a vu la différence | la marmite était vide à huit heures | "
        "le goût y gagne | mes enfants en redemandent",
    },
)

_RU_DAYS = "понедельника | вторника | среды | четверга | пятницы | субботы | воскресенья"
_RU_MONTHS = "января | февраля | марта | апреля | мая | июня | июля | августа | сентября | октября | ноября | декабря"

_RU_HARBOUR = topic(
    "ru",
    "port",
    site="Управление порта Соляной Мыс",
    titles="""
        Извещение мореплавателям № {11..389}: {работы_n}
        {место_n} закрыт с {1..28} {месяца}
        Обстановка в порту на {1..28} {месяца}: {опасность_n}
    """,
    sentences="""
        С {дня}, {1..28} {месяца}, проход {место_p} закрыт, так как {причина}.
        {суда} должны держаться не ближе {5..40}0 метров от {знака_g}, пока {условие}.
        {лицо} сообщает: {опасность_n} примерно в {2..19} кабельтовых {сторона} от {знака_g}.
        Наименьшая глубина {место_p} составила {5..9} метров, {оговорка}.
        {служба} не работает с {5..11}:{minute} до {12..21}:{minute}, {оговорка}.
        При ветре {5..9} баллов {правило}.
        Перед {манёвром} {суда} вызывают диспетчера на канале {8..74}.
        До {20..28} {месяца} на {знаке_p} горит {цвет} огонь с периодом {5..15} секунд.
        Водолазы работают {место_p} с {5..11}:{minute}, поэтому {правило}.
        Портовый сбор за {сутки} вырос до {12..99}0 рублей, {оговорка}.
        После происшествия {1..28} {месяца} {лицо} требует: {правило}.
        Если замечена {опасность_f}, {лицо} просит отметить место и ждать, пока {условие}.
        Промеры показали, что фарватер сместился на {1..8}0 метров {сторона}, {оговорка}.
        На время работ {суда} могут стоять {место_p}, но не дольше {2..20} часов.
        Земснаряд подойдёт к {знаку_d} до {дня} и останется на {5..19} суток.
        Пока {условие}, проход без лоцмана запрещён, а {правило}.
        {служба} переезжает: теперь её ищите {место_p}, где {лицо} принимает с {6..10}:{minute}.
    """,
    slots={
        "работы_n": "дноуглубление | ремонт кранов | забивка свай | прокладка кабеля | парусная регата | ремонт причала",
        "причина": "идёт забивка свай | начинается дноуглубление | меняют кранцы | прокладывают кабель | "
        "проходит регата | ремонтируют откос | поднимают старый якорь",
        "место_n": "Северный причал | Угольный пирс | Внутренний ковш | Паромный спуск | Лесной терминал",
        "место_p": "у Северного причала | возле Угольного пирса | во внутреннем ковше | у паромного спуска | "
        "перед шлюзом | за таможенной стенкой | у сухого дока | близ рыбного рынка",
        "суда": "траулеры | гостевые яхты | лоцманские катера | маломерные суда | парусные баржи | островные паромы | "
        "буксирные караваны | гребные лодки",
        "лицо": "капитан порта | дежурный лоцман | диспетчерская служба | смотритель шлюза | гидрограф | береговой инженер",
        "опасность_n": "полузатонувший контейнер | плавающие брёвна | неосвещённая баржа | обрывок трала | "
        "масляное пятно | сорванный понтон",
        "опасность_f": "неосвещённая баржа | оборванная сеть | вырванная с корнем сосна | масляная плёнка | потерянная бочка",
        "знака_g": "приёмного буя | южной вехи | головы мола | колокольного буя | маяка Гагачий | затонувшей баржи",
        "знаке_p": "приёмном буе | южной вехе | голове мола | старом маяке | затонувшей барже",
        "знаку_d": "приёмному бую | голове мола | южной вехе | паромному спуску | лесному терминалу",
        "сторона": "к северу | к северо-востоку | к востоку | к югу | к юго-западу | к западу",
        "условие": "идёт прилив | стоит густой туман | мост разведён | работает буксир | горит красный сигнал | "
        "не спадёт волна",
        "оговорка": "как и прошлой осенью | по данным лоцманов | вопреки прогнозу | по сообщению дозора | "
        "как уже объявлялось | впервые за десять лет",
        "служба": "топливная баржа | приёмка льяльных вод | станция питьевой воды | водолазная станция | ледовая станция",
        "манёвром": "входом в шлюз | разворотом | бункеровкой | постановкой на якорь | перешвартовкой",
        "правило": "швартовы следует удвоить | скорость не выше трёх узлов | открытые лодки в море не выходят | "
        "вахта на шестнадцатом канале обязательна | экипажу надеть жилеты | стоять не более чем в три корпуса",
        "цвет": "красный | зелёный | белый | жёлтый",
        "сутки": "сутки | стоянку яхты | одну ночь | неполную неделю",
        "дня": _RU_DAYS,
        "месяца": _RU_MONTHS,
    },
)

_RU_MUSEUM = topic(
    "ru",
    "muzej",
    site="Музей ремёсел и приливов",
    titles="""
        {ПРЕДМЕТ}: зал {2..31}
        Предмет месяца: {ПРЕДМЕТ}
        Выставка «{выставка}» открывается {1..28} {месяца}
    """,
    sentences="""
        Предмет «{ПРЕДМЕТ}» хранится у нас с {1871..1989} года: {даритель} {передача}.
        Вещь изготовлена около {1580..1890} года {где}, и {мастер} здесь не случайное имя.
        Посетители редко замечают {деталь}, хотя {знаток} считает иначе.
        {зал} показаны {5..20} предметов, среди них {предмет}.
        {знаток} сравнил его с тем, что известно про {предмет2}, и обнаружил {находка}.
        При чистке в {1951..2019} году увидели {находка} и {деталь}.
        Неизвестно, почему {мастер} не закончил {деталь}.
        Во время паводка {1902..1968} года {даритель} спас {предмет2} {где}.
        «{надпись}» — гласит ярлык, который {даритель} оставил на обороте.
        Выставка «{выставка}» собрала {5..20} вещей, найденных {где} и {где}.
        Экскурсии начинаются в {9..16}:{minute} {зал} и длятся {45..50} минут.
        Из {205..220} вещей, которые собрал {даритель}, уцелели лишь {2..9}.
        Копию можно потрогать, а подлинник лежит под стеклом {зал}.
        При высоте {5..20} сантиметров он ниже, чем {предмет}, зато {сравнение}.
        Когда {событие}, {мастер} переехал и работал {где}.
        Опись {1790..1910} года ставит его между записями «{предмет}» и «{предмет}», {примечание}.
        Каждый год {1..28} {месяца} хранители показывают {предмет2} при свечах.
        В письме, найденном {где}, описывают {деталь} и год, когда {событие}.
    """,
    slots={
        "предмет": "фонарь паромщика | костяной гребень | часы с двумя циферблатами | детский конёк | тетрадь ткача | "
        "глиняный кувшин | аптечные весы | расписной сундук | верстак стеклодува | фляга паломника",
        "предмет2": "фонарь паромщика | костяной гребень | детский конёк | глиняный кувшин | расписной сундук | "
        "верстак стеклодува | старый безмен",
        "даритель": "корабельный плотник | пивовар из слободы | отставной учитель | безымянный смотритель | "
        "бродячий фотограф | старшина бондарей",
        "передача": "принёс его в корзине | завещал его городу | обменял его на дрова | оставил его без записки | "
        "отдал его за долги",
        "где": "в верхней долине | на мельнице у лимана | на соседнем острове | в деревне у перевала | на соляных варницах | "
        "в заброшенном монастыре | в северных портах",
        "мастер": "подмастерье жестянщика | забытый гравёр | слепой токарь | механик-самоучка | ученик канатчика | "
        "старший из трёх братьев",
        "деталь": "крошечную петлю сзади | ряд выбитых звёзд | стёртую левую ручку | надпись в зеркальном виде | "
        "второй, тайный ящик | осколок синей эмали | клеймо под ободком",
        "знаток": "реставратор тканей | приезжий металлург | хранитель фондов | бывший смотритель | историк-любитель",
        "находка": "следы сурика | скрытую подпись | позднюю пайку | свечную копоть | столбик цифр карандашом | "
        "старый слой краски",
        "надпись": "Морякам не давать | Дорого куплено, дороже продано | Сестре за терпение | Беречь от сырости | "
        "Сделано за одну зиму",
        "выставка": "Меры и чудеса | Руки за работой | Что принесла река | Девять зим | Малый ремонт | Город на сваях",
        "зал": "в канатном цехе | в длинной галерее | в старой котельной | в комнате карт | в восточной башне | "
        "в парусной кладовой",
        "сравнение": "гораздо тяжелее | лучше сохранился | весь покрыт резьбой | до сих пор исправен",
        "примечание": "без указания цены | почерком неизвестной руки | на последней странице | что удивляет и сегодня",
        "событие": "случился большой пожар | открыли канал | ушла сельдь | распустили цех | пришла железная дорога | "
        "обмелела гавань",
        "месяца": _RU_MONTHS,
    },
)

_EL_RECIPE = topic(
    "el",
    "syntagi",
    site="Η χάλκινη κουτάλα",
    titles="""
        {ΠΙΆΤΟ} όπως το κάνει {μάγειρας}
        {ΠΙΆΤΟ} σε {25..95} λεπτά
        {ΠΙΆΤΟ} με {μυρωδικό}
    """,
    sentences="""
        Τη συνταγή μού την έμαθε {μάγειρας} {πότε} και από τότε τη φτιάχνω {συχνά}.
        Ζεσταίνουμε {λίπος} σε {σκεύος} μέχρι να {σημάδι}.
        Ρίχνουμε {λαχανικό} και {λαχανικό} και ανακατεύουμε {3..14} λεπτά {φωτιά}.
        Αλατίζουμε και προσθέτουμε {μπαχαρικό} και {μπαχαρικό}.
        Σβήνουμε με {100..900} ml {υγρό} και σιγοβράζουμε {10..70} λεπτά {φωτιά}.
        Αν δεν βρείτε {λαχανικό}, βάλτε {λαχανικό}· {γνώμη}.
        Στο μεταξύ ψιλοκόβουμε {μυρωδικό} και το κρατάμε σε {σκεύος}.
        Προθερμαίνουμε τον φούρνο στους {150..235} βαθμούς και {κίνηση}.
        Μην παραλείψετε το βήμα αυτό: {κίνηση}, αλλιώς {κίνδυνος}.
        Αφήνουμε το φαγητό {5..55} λεπτά σκεπασμένο για να {σκοπός}.
        Σερβίρουμε με {συνοδευτικό} και λίγο {υγρό} από πάνω.
        Ό,τι περισσέψει κρατάει {2..6} μέρες· με {συνοδευτικό} {γνώμη}.
        Μια αναγνώστρια γράφει: «{γνώμη}, ακόμη και με {μπαχαρικό}».
        Για {4..14} άτομα προσθέτουμε ακόμη {λαχανικό} αλλά όχι {μπαχαρικό}.
        Κόβουμε {λαχανικό} σε κομμάτια {1..4} εκατοστών για να {σκοπός}.
        Λίγο πριν {σημάδι}, κατεβάζουμε από τη φωτιά και {κίνηση}.
        Στο σπίτι μας {μάγειρας} βάζει πάντα {μυρωδικό} {πότε}.
    """,
    items="""
        {100..900} γρ. {λαχανικό}
        {2..5} κουταλιές {λίπος}
        {2..4} πρέζες {μπαχαρικό}
        {100..750} ml {υγρό}
        λίγο {μυρωδικό}
        {συνοδευτικό} για το σερβίρισμα
    """,
    slots={
        "πιάτο": "φακές στιφάδο | πρασόπιτα | ψαρόσουπα | φασόλια γίγαντες | πατάτες ογκρατέν | κεφτέδες μανιταριών | "
        "κέικ δαμάσκηνου | κρεμμυδόψωμο | κολοκύθα με κάρι",
        "μάγειρας": "η θεία μου | ο φούρναρης της γειτονιάς | μια παλιά μαγείρισσα | ο γείτονας | ο παππούς | "
        "η κυρία της λαϊκής",
        "πότε": "στα τέλη του φθινοπώρου | με τα πρώτα κρύα | στον τρύγο | ένα βροχερό βράδυ | την εποχή των μήλων | "
        "τις Κυριακές του χειμώνα",
        "συχνά": "σχεδόν κάθε μήνα | σε όλα τα γενέθλια | όποτε έχουμε καλεσμένους | πολύ σπάνια | κάθε Παρασκευή",
        "λίπος": "ελαιόλαδο | φρέσκο βούτυρο | καρυδέλαιο | λιωμένο βούτυρο | σπορέλαιο",
        "σκεύος": "βαριά κατσαρόλα | μαντεμένιο τηγάνι | πήλινο σκεύος | μικρό κατσαρολάκι | γυάλινο μπολ",
        "σημάδι": "ροδίσουν οι άκρες | γυαλίσει το κρεμμύδι | ανεβάσει φουσκάλες | πέσει ο αφρός | δέσει η σάλτσα | "
        "μοσχοβολήσει η κουζίνα",
        "λαχανικό": "τρυφερά καρότα | σελινόριζα | κόκκινες φακές | μουλιασμένα φασόλια | ψιλοκομμένα πράσα | "
        "άγρια μανιτάρια | κριθαράκι | κύβους κολοκύθας | ξινόμηλα | παντζάρια",
        "μπαχαρικό": "κύμινο | καπνιστή πάπρικα | μαύρο πιπέρι | μοσχοκάρυδο | ένα φύλλο δάφνης | σπόρους μάραθου | μπαχάρι",
        "μυρωδικό": "μαϊντανό | φρέσκο άνηθο | δυόσμο | θυμάρι | μαντζουράνα | σχοινόπρασο",
        "υγρό": "ζωμό λαχανικών | λευκό κρασί | ξινόγαλα | χυμό ντομάτας | στραγγιστό γιαούρτι | ξανθή μπίρα",
        "φωτιά": "σε χαμηλή φωτιά | με το καπάκι | χωρίς καπάκι | σε δυνατή φωτιά | ανακατεύοντας πού και πού",
        "κίνηση": "βουτυρώνουμε τη φόρμα | ζυμώνουμε δεύτερη φορά | ξαφρίζουμε τον ζωμό | στραγγίζουμε τα όσπρια | "
        "αλευρώνουμε τον πάγκο",
        "κίνδυνος": "όλα κολλάνε | η ζύμη κάθεται | η γέμιση στεγνώνει | σβολιάζει η κρέμα",
        "σκοπός": "δέσουν οι γεύσεις | ψηθεί ομοιόμορφα | μείνει ζουμερή η γέμιση | φουσκώσει η ζύμη",
        "συνοδευτικό": "μαύρο ψωμί | αγγουράκι τουρσί | πράσινη σαλάτα | λευκό ρύζι | χυλοπίτες | ψητά μήλα",
        "γνώμη": "κανείς δεν κατάλαβε τη διαφορά | η κατσαρόλα άδειασε ως τις οκτώ | τα παιδιά ζήτησαν κι άλλο | "
        "γίνεται ακόμη πιο νόστιμο",
    },
)

_EL_NEWS = topic(
    "el",
    "nea",
    site="Τα Νέα της Αλυκής",
    titles="""
        {ΣΧΈΔΙΟ}: διχασμένη η πόλη
        Αναβάλλεται για τον {μήνα} {ΣΧΈΔΙΟ}
        {ομάδα}: «{ρήση}»
    """,
    sentences="""
        {ομάδα} ζητούν από το δημοτικό συμβούλιο να μην προχωρήσει {ΣΧΈΔΙΟ}, {αιτία}.
        {ομιλητής} δήλωσε ότι το έργο {τόπος} θα κοστίσει {12..980} χιλιάδες ευρώ.
        «{ρήση}», είπε {ομιλητής}, που ζει {τόπος} εδώ και {4..52} χρόνια.
        Περίπου {30..900} κάτοικοι υπέγραψαν υπέρ {έργο_g} {τόπος}.
        Η ψηφοφορία έγινε στις {7..11}:{minute} και έληξε {5..14} προς {2..4}, {αιτία}.
        Οι εργασίες αρχίζουν τον {μήνα} και θα κρατήσουν {3..26} εβδομάδες, {αιτία}.
        {ομιλητής} θύμισε όσα έγιναν {τόπος} το {1988..2021}.
        Τα λεωφορεία της γραμμής {2..89} θα περνούν {τόπος} ως τον {μήνα}.
        {ομάδα} ετοιμάζουν {εκδήλωση} {τόπος} στις {9..19}:{minute}.
        Ανεξάρτητη έκθεση {12..190} σελίδων έδειξε ότι {εύρημα}.
        Η αστυνομία κλήθηκε {τόπος} μετά από {συμβάν}, χωρίς τραυματισμούς.
        Τα χρήματα προορίζονταν υπέρ {έργο_g}, όμως {εύρημα}.
        Οι τιμές {τόπος} ανέβηκαν {3..38} τοις εκατό, {αιτία}.
        Με επιστολή τους {ομάδα} μιλούν για «{γνώμη}» {τόπος}.
        Εθελοντές φύτεψαν {40..900} δέντρα {τόπος}, ενώ {εύρημα}.
        {ομιλητής} δεν σχολίασε {συμβάν_a}, υποσχέθηκε όμως {εκδήλωση}.
        Το σχολείο {τόπος} έχασε φέτος {4..60} μαθητές, {αιτία}.
        Για {συμβάν_a} του περασμένου μήνα {ομιλητής} ζήτησε {εκδήλωση}.
    """,
    slots={
        "σχέδιο": "η παράκαμψη | το νέο κολυμβητήριο | το κλείσιμο της βιβλιοθήκης | η επέκταση του λατομείου | "
        "η γραμμή του τραμ | το αιολικό πάρκο",
        "ομάδα": "οι έμποροι | οι γονείς | οι νέοι αγρότες | οι ποδηλάτες | οι συνταξιούχοι δάσκαλοι | οι κολυμβητές | "
        "οι γείτονες του αμαξοστασίου",
        "ομιλητής": "η αντιδήμαρχος | ο γραμματέας του δήμου | η διευθύντρια του σχολείου | ένας μανάβης | ο εφημέριος | "
        "ένας πρώην οδηγός | ο διοικητής της πυροσβεστικής",
        "τόπος": "στην Κάτω Αλυκή | κοντά στη γέφυρα | στο παλιό κεραμοποιείο | στην πλατεία Αγίας Ώρας | στον δρόμο του Μύλου | "
        "πίσω από τη λαχαναγορά | στις Ταμπακαριές | στο λιμανάκι",
        "έργο_g": "μιας πεζογέφυρας | της νέας παιδικής χαράς | του ρολογιού της πόλης | ενός νυχτερινού λεωφορείου | "
        "του εφηβικού θεάτρου | ενός δημοτικού περιβολιού",
        "αιτία": "λόγω θορύβου και σκόνης | ύστερα από μήνες διαφωνιών | παρά τις προειδοποιήσεις | "
        "επειδή λήγει η μίσθωση | προς έκπληξη πολλών | παρά τη βροχή",
        "ρήση": "Δεν μας ρώτησε κανείς | Έχω δει τρία τέτοια σχέδια | Θα το πληρώσουν τα παιδιά μας | "
        "Υπάρχει ακόμη χρόνος | Προτιμώ τα δέντρα",
        "εύρημα": "οι μετρήσεις ήταν παλιές | η στέγη άντεχε ακόμη | τα ποσά είχαν προστεθεί δύο φορές | "
        "το έδαφος είναι μαλακό | η φθηνότερη λύση δεν εξετάστηκε",
        "συμβάν": "σπάσιμο αγωγού | φωτιά σε γκαράζ | διακοπή ρεύματος | κατάρρευση τοίχου | λάθος συναγερμό",
        "συμβάν_a": "τη διακοπή ρεύματος | τη φωτιά στο γκαράζ | το σπάσιμο του αγωγού | την κατάρρευση του τοίχου",
        "γνώμη": "λογαριασμό χωρίς προϋπολογισμό | τολμηρή αλλά βιαστική ιδέα | δώρο στα περιστέρια | "
        "απάντηση χωρίς ερώτηση",
        "εκδήλωση": "δημόσια ακρόαση | πορεία με φανάρια | υπαίθριο γεύμα | σιωπηλή διαμαρτυρία | ανοιχτό εργαστήρι",
        "μήνα": "Ιανουάριο | Φεβρουάριο | Μάρτιο | Απρίλιο | Μάιο | Ιούνιο | Σεπτέμβριο | Οκτώβριο | Νοέμβριο",
    },
)

TOPICS = (_DE_HARBOUR, _DE_RECIPE, _FR_MUSEUM, _FR_RECIPE, _RU_HARBOUR, _RU_MUSEUM, _EL_RECIPE, _EL_NEWS)
