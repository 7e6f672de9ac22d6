"""English: the largest set of frames, six subjects and the narrative of one long chapter."""

# ruff: noqa: E501 (a frame is one line, however long)

from __future__ import annotations

from neardup.sample.grammar import topic

__all__ = ["CHAPTER", "TOPICS"]

_HARBOUR = topic(
    "en",
    "harbour",
    site="Saltmere Harbour Office",
    titles="""
        Notice to mariners {11..389}: {work} at {BERTH}
        {BERTH} closed from {day}: {work}
        Harbour notice no. {11..389} - {hazard} off {mark}
        {work} near {mark}, {month} {1..28}
        Berth changes for {craft}, week {2..51}
    """,
    sentences="""
        From {day} {1..28} {month}, {BERTH} will be closed to {craft} because of {work}.
        Masters of {craft} are asked to keep at least {50..400} metres clear of {mark} during {work}.
        {person} reports {hazard} roughly {0.2..3.8} nautical miles {bearing} of {mark}.
        The least depth measured along {BERTH} on {day} was {2.1..9.8} metres, {tide}.
        Vessels longer than {12..90} metres should call the harbour office on channel {8..74} before {manoeuvre}.
        A {colour} light, flashing every {2..15} seconds, has been placed on {mark} until {month}.
        {service} will not be available between {5..11}:{minute} and {12..21}:{minute} on {day}.
        Wind of force {5..9} from the {bearing} is expected by {day}, {advice}.
        {person} regrets the delay to {craft} and offers mooring at {berth} for the time being.
        After the incident with {craft} in {month}, {person} has ordered that {rule}.
        Dues for {craft} rise to {3..48} pounds a night; {service} is included.
        Divers will be working under {berth} from {5..11}:{minute}, {advice}.
        {hazard} was seen drifting towards {mark} and has not been recovered.
        Please note that "{rule}" applies to {craft} as well, even {tide}.
        The dredger is expected to reach {berth} on {day} and to leave {1..9} days later for {mark}.
        Fishing gear must not be left on {berth}; {person} will have it taken away after {2..30} hours.
        {manoeuvre} is forbidden inside {mark} {tide}, except for {craft}.
        Anyone who finds {hazard} should mark the position, stay upwind and tell {person} at once.
        The fog signal at {mark} sounds {2..6} blasts every {20..90} seconds and is being tested this {month}.
        For {craft} with a draught over {1.2..5.4} metres, {berth} is the only safe choice {tide}.
        {service} moves to {berth}, where {person} can be found from {6..10}:{minute}.
        The survey by {person} shows that the channel has shifted {10..80} metres {bearing} since {month}.
        If the swell doesn't fall below {0.5..2.5} metres, {manoeuvre} will be put off until {day}.
        Crews of {craft} may use the showers by {berth}; the code is given out by {person}.
    """,
    slots={
        "berth": "the North Quay | Coal Pier | the inner basin | Pontoon C | the Old Fish Steps | Lifeboat Slip | "
        "the west arm | the timber berth | Dolphin 4 | the ferry ramp | Customs Wall | the dry dock entrance",
        "craft": "trawlers | visiting yachts | pilot cutters | small motor boats | sailing barges | "
        "the island ferry | coasters under tow | rowing clubs | survey launches | crab boats | tall ships | "
        "hired dinghies",
        "work": "piling work | dredging of the fairway | repairs to the fenders | crane maintenance | "
        "renewal of the ladders | the laying of a power cable | concrete repairs | the regatta | "
        "removal of an old mooring chain | painting of the leading lights",
        "mark": "Gannet Rock | the Middle Ground buoy | Saint Orla's beacon | the breakwater head | Widow's Shoal | "
        "the bell buoy | Pennywell Spit | the outer roads | the wreck of the collier | Lantern Point | "
        "the church spire transit",
        "hazard": "a half-sunken container | a loose pontoon | floating timber | an unlit barge | a torn fishing net | "
        "a drifting fish cage | a lost anchor buoy | a waterlogged tree trunk | a patch of diesel oil",
        "person": "the duty harbour master | the senior pilot | our berthing officer | the coastguard watch | "
        "the port engineer | the lock keeper | the dockyard foreman | the tide surveyor",
        "bearing": "north | north-east | east | south-east | south | south-west | west | north-west",
        "day": "Monday | Tuesday | Wednesday | Thursday | Friday | Saturday | Sunday",
        "month": "January | February | March | April | May | June | July | August | September | October | "
        "November | December",
        "tide": "at low water springs | two hours either side of high water | during the ebb | when the flood runs hard | "
        "at slack water | at dead low tide | on a neap tide | whenever the gauge shows red",
        "colour": "red | green | white | yellow | quick white | blue",
        "manoeuvre": "entering the lock | turning in the basin | taking on fuel | anchoring | leaving under sail | "
        "shifting berth | passing the narrows | swinging the compass",
        "service": "the fuel barge | the pump-out station | fresh water on the quay | the slipway crane | shore power | "
        "the water taxi | the ice plant | the waste oil tank | the weighbridge",
        "advice": "so doubled mooring lines are advised | and wash must be kept to a minimum | "
        "so open boats should stay in | and a listening watch on channel 16 is required | "
        "so please plan another route | and speed is limited to three knots",
        "rule": "no boat may be left unattended | engines are to be ready at all times | "
        "fenders must be out on both sides | rafting is limited to three abreast | "
        "fuel is not to be carried in cans | every crew member wears a lifejacket | lines are to be doubled by dusk",
    },
)

_RECIPE = topic(
    "en",
    "recipe",
    site="The Copper Ladle",
    titles="""
        {STYLE} {DISH} with {herb}
        {DISH} the way {cook} makes it
        A {adjective} {DISH} for {season}
        {STYLE} {DISH} in {25..95} minutes
    """,
    sentences="""
        {cook} taught me this {DISH} in {season}, and I've cooked it {often} since.
        Start by warming {fat} in {pan} over a {heat} flame until {sign}.
        Add {vegetable} and {vegetable}, then stir for {3..14} minutes, or until {sign}.
        Season with {spice}, {spice} and a pinch of coarse salt.
        Pour in {100..900} millilitres of {liquid} and let it simmer, {lid}, for {10..70} minutes.
        If you can't find {vegetable}, a handful of {vegetable} makes a {adjective} substitute.
        Don't be tempted to skip {step}: it's what keeps the {DISH} {adjective}.
        Meanwhile, chop {herb} and set it aside in {bowl}.
        Heat the oven to {150..235} degrees and grease {pan} with {fat}.
        Fold in {vegetable} by hand, a third at a time, so that {goal}.
        {cook} swears by {spice}, but my family prefers {herb} from the garden.
        Leave everything to rest in {bowl} for {5..55} minutes before {step}.
        Serve it {adjective} and hot, with {side} and a spoonful of {liquid} on top.
        Leftovers keep {2..6} days in {bowl}, and taste even better with {side}.
        A reader from the coast wrote that {liquid} works instead of {liquid}, "{opinion}".
        For {4..14} people, double {vegetable} but not {spice}.
        Taste before {step}; there should be a hint of {spice} and nothing burnt.
        When {sign}, take {pan} off the stove and scatter {herb} over it.
        You can prepare it as far as {step} the evening before, {lid}, so that {goal}.
        The first time I tried this with {fat} it was {adjective}; with {fat} it was far better.
        Cut {vegetable} into pieces of {1..4} centimetres, so that {goal}.
        Children like it with {side}, and {cook} adds {spice} at the table.
    """,
    items="""
        {100..900} g {vegetable}
        {2..5} tablespoons {fat}
        {2..4} teaspoons {spice}
        {100..750} ml {liquid}
        a handful of {herb}
        {side}, to serve
        {2..7} cloves of garlic
    """,
    slots={
        "style": "Slow | Smoky | Country | Two-pot | Sunday | Harvest | Quick | Old-fashioned | Midsummer",
        "dish": "lentil stew | barley pie | leek tart | fish soup | bean casserole | potato gratin | chicken broth | "
        "mushroom pudding | plum cake | onion bread | pumpkin curry | oat cake",
        "adjective": "hearty | bright | gentle | crisp | silky | peppery | golden | comforting | lively | crumbly",
        "cook": "my aunt | the baker next door | an old ferry cook | our neighbour | a friend from the allotments | "
        "my grandfather | the school kitchen | the woman at the market stall",
        "season": "late autumn | early spring | the first frost | a rainy July | apple time | the long evenings | "
        "a hard winter | the week before harvest",
        "often": "at least a dozen times | nearly every month | for every birthday | more often than I'd admit | "
        "whenever guests arrive unannounced | on most Fridays",
        "fat": "salted butter | rapeseed oil | goose fat | cold-pressed olive oil | clarified butter | "
        "walnut oil | bacon dripping",
        "pan": "a heavy pan | the cast-iron pot | a wide skillet | an earthenware dish | a deep tin | "
        "the smallest saucepan | a flat roasting tray",
        "heat": "low | medium | brisk | barely visible | steady | high",
        "sign": "the edges turn brown | it smells of nuts | the onions go glassy | small bubbles rise | "
        "a knife slides in easily | the foam settles | the sauce coats a spoon | the crust sounds hollow",
        "vegetable": "parsnips | young carrots | celery root | waxy potatoes | red lentils | soaked white beans | "
        "chopped leeks | field mushrooms | pearl barley | kale stalks | diced pumpkin | sour apples | "
        "spring onions | cooked beetroot",
        "spice": "caraway | smoked paprika | black pepper | ground coriander | nutmeg | bay | juniper berries | "
        "mustard seed | dried chilli | cinnamon | fennel seed",
        "herb": "flat parsley | chives | lovage | tarragon | young dill | lemon thyme | marjoram | sorrel | mint",
        "liquid": "vegetable stock | dry cider | buttermilk | soured cream | light beer | cold milk | tomato juice | "
        "white wine | strained yoghurt",
        "lid": "half covered | with the lid on | without a lid | under a damp cloth | tightly wrapped | stirring now and then",
        "step": "the second kneading | the slow browning | draining the pulses | the final whisking | reducing the sauce | "
        "salting the water | cooling the pastry | skimming the foam",
        "bowl": "a glass bowl | a covered jar | a shallow plate | the bread bowl | an enamel tin | a cool larder",
        "goal": "nothing sticks | the flavours come together | it cooks evenly | the filling stays moist | "
        "the layers hold | no lumps remain | it keeps its colour",
        "side": "rye bread | pickled cucumbers | a green salad | boiled rice | buttered noodles | baked apples | "
        "roast chestnuts | toasted crumbs",
        "opinion": "nobody noticed the difference | I'd never go back | it needs a pinch of sugar | "
        "the whole pot was gone by eight | my husband asked for thirds | it froze surprisingly well",
    },
)

_MANUAL = topic(
    "en",
    "manual",
    site="Tarn Toolkit Handbook",
    titles="""
        Configuring {component} for {use}
        How to {task} with {command}
        {component}: limits, defaults and known errors
        Upgrading {component} to version {2..9}.{0..14}
        Troubleshooting: {error}
    """,
    sentences="""
        To {task}, run {command} with the option {option} set to {value}.
        By default {component} keeps {8..4096} entries in memory and writes {file} every {5..600} seconds.
        If you see the message "{error}", check that {file} is readable and that {ready}.
        Since version {2..9}.{0..14}, {option} has been {changed} in favour of {option}.
        {component} reads {file} once at start; changes made later take effect only after {action}.
        The value of {option} must lie between {1..16} and {32..2048}, otherwise {component} refuses to start.
        Don't {task} while {condition}, because {consequence}.
        On machines with {2..64} cores, set {option} to {value} and let {component} choose the rest.
        The command {command} prints one line per {unit} and ends with exit code {2..9} when {condition}.
        When {component} is used for {use}, {consequence} unless {option} is given.
        A {unit} is considered stale after {3..90} minutes; {action} removes it.
        Keep a copy of {file} before {action}, since {consequence}.
        You can combine {option} and {option}, but not when {condition}.
        The log in {file} records every {unit}, its size in bytes and the time that {component} needed.
        For {use}, we recommend {value} as a starting point and {2..12} trial runs with {command}.
        {component} doesn't lock {file}; two processes that {task} at the same time will overwrite each other.
        As of release {2..9}.{0..14} the {unit} format carries a checksum, so {command} can detect {error}.
        Memory use grows by about {1..48} megabytes for each {unit} that {component} holds open.
        Before you {task}, make sure that {ready} and that at least {2..50} gigabytes are free.
        Setting {option} to {value} disables {component} altogether, which may help with "{error}".
        The test suite covers {use} on {2..9} platforms; {component} on others is untested.
        Unlike {command}, {command} never touches {file} and is safe to repeat.
    """,
    items="""
        Stop {component} and wait until {ready}.
        Open {file} and look for {option}.
        Change {option} to {value}.
        Run {command} once and compare its output with {file}.
        Repeat for every {unit} that still shows "{error}".
        Finish by {action}.
    """,
    slots={
        "component": "the scheduler | the block cache | the index writer | the import gateway | the session store | "
        "the thumbnail worker | the mail queue | the report builder | the sync daemon | the search front end",
        "task": "rotate the keys | rebuild the catalogue | move the spool folder | import older archives | "
        "shrink the journal | split a large volume | replay failed jobs | export the audit trail | merge two profiles",
        "command": "tarn check | tarn rebuild | tarnctl status | tarn export | tarn-import | tarn vacuum | tarnctl drain | "
        "tarn diff | tarn replay",
        "option": "--max-open | cache.lifetime | --retry-limit | writer.batch_size | --strict | log.level | --follow-links | "
        "queue.depth | --checksum | import.charset | --dry-run | pool.idle",
        "value": "auto | 64 | 'none' | half the available memory | the number of disks | 0.75 | utf-8 | twice the page size | "
        "'warn' | 512",
        "file": "/etc/tarn/main.conf | the journal file | tarn.lock | the volume map | ~/.tarn/profile | spool/index.db | "
        "the crash report | access.log | the manifest",
        "error": "volume not mounted | checksum mismatch | too many open handles | stale lock found | unknown charset | "
        "queue is full | clock skew detected | permission denied | header truncated",
        "ready": "no job is running | the lock has been released | the clock is synchronised | the queue is empty | "
        "the last backup has finished | the share is mounted",
        "condition": "the disk is nearly full | two writers are active | the network share is offline | "
        "a backup is in progress | the clock has been set back | an import is still running",
        "consequence": "open sessions are dropped | the index grows without bound | entries may be written twice | "
        "recovery takes several hours | timestamps fall back to local time | searches return old results | "
        "the journal cannot be replayed",
        "changed": "deprecated | renamed | removed | ignored | turned into a per-user setting | frozen",
        "action": "restarting the service | sending the reload signal | clearing the spool | running a full check | "
        "signing in again | remounting the volume | deleting the lock by hand",
        "unit": "volume | batch | job | message | page | shard | transaction | snapshot",
        "use": "nightly imports | read-only mirrors | very small devices | shared hosting | large image archives | "
        "offline work | continuous backup | multilingual search | audited systems",
    },
)

_MUSEUM = topic(
    "en",
    "museum",
    site="Museum of Trades and Tides",
    titles="""
        {OBJECT} in room {2..31}
        {exhibition}: from {month} in the {hall}
        Object of the month: {OBJECT}
        The story of {OBJECT}
    """,
    sentences="""
        {OBJECT} came to the museum in {1871..1989} as a gift from {donor}.
        It was made around {1580..1890} in {place}, most likely by {maker}.
        Visitors often overlook {detail}, which only {expert} could explain.
        In the {hall}, {3..40} objects are shown next to {object}.
        {expert} compared it with {object} and found {finding}.
        The {material} parts were cleaned in {1951..2019}, when {finding} came to light.
        Nobody knows why {maker} left {detail} unfinished.
        During the flood of {1902..1968}, {object} was carried to the {hall} by {donor}.
        "{quote}", reads the label that {donor} tied to it in {1820..1930}.
        The exhibition "{exhibition}" brings it together with loans from {place} and {place}.
        Guided tours start at {9..16}:{minute} by {object} and take about {25..90} minutes.
        Of the {12..400} pieces once owned by {donor}, only {2..9} have survived in {place}.
        A replica in {material} may be touched; the original lies behind glass in the {hall}.
        Measuring just {8..240} centimetres, it's smaller than {object} but far heavier.
        {expert} dates {detail} to the {season} of {1640..1880}, shortly before {event}.
        After {event}, {maker} moved to {place} and turned to {material}.
        Children can draw {object} in the {hall}, where paper and pencils are laid out.
        The inventory of {1790..1910} lists it between {object} and {object}, at {3..90} shillings.
        Its {material} frame isn't original: {expert} traced it to {place}.
        Every {month}, the curators open the store and show {object} by candlelight.
        Scratches along {detail} suggest that it was used daily until {event}.
        A letter from {donor}, found in {place} in {1921..1999}, mentions {detail} twice.
    """,
    slots={
        "object": "the ferryman's lantern | a whalebone comb | the double-dial clock | a child's ice skate | "
        "the weaver's pattern book | a salt-glazed jug | the brass tide table | a pilgrim's flask | "
        "the apothecary's scales | a painted sea chest | the glassblower's bench | a carved spoon rack",
        "hall": "rope loft | long gallery | old boiler house | map room | east tower | lower courtyard | sail store | "
        "weighing hall",
        "donor": "a ship's carpenter | the widow of a brewer | two retired schoolteachers | the guild of coopers | "
        "an unnamed lockkeeper | a family of clockmakers | the harbour chapel | a travelling photographer",
        "place": "the upper valley | a mill on the estuary | the island of Harsey | a village near the pass | "
        "the salt works | the old capital | a convent in the hills | the northern ports",
        "maker": "a journeyman tinsmith | an engraver whose name is lost | the workshop of a blind turner | "
        "a bookbinder's daughter | three brothers from the quay | a self-taught mechanic | a ropewalk apprentice",
        "detail": "the tiny hinge at the back | a row of punched stars | the worn left handle | an inscription in reverse | "
        "a second, hidden drawer | the patch of blue enamel | the maker's mark under the rim | a repaired crack",
        "expert": "our textile conservator | a visiting metallurgist | the head of collections | a student of dendrochronology | "
        "the former keeper | an amateur historian | the paper restorer",
        "finding": "traces of red lead | a hidden signature | a later repair in pewter | candle soot | a pencilled sum | "
        "an older layer of paint | the imprint of a coin | salt crystals in the joints",
        "material": "pear wood | oak | tin | brass | bone | cast pewter | waxed linen | lacquer | slate",
        "quote": "Not to be lent to sailors | Bought dear and sold dearer | To my sister, for patience | "
        "Keep dry, keep closed, keep quiet | It has never once been right | Made in one winter",
        "exhibition": "Weights and Wonders | Hands at Work | What the River Brought | Nine Winters | Small Repairs | "
        "A Town on Stilts | Measured by the Moon",
        "event": "the great fire | the opening of the canal | the herring failed | the guild was dissolved | "
        "the coming of the railway | the year without harvest | the harbour silted up",
        "month": "January | March | April | June | September | October | November",
        "season": "spring | summer | autumn | winter",
    },
)

_NEWS = topic(
    "en",
    "news",
    site="The Pennywell Gazette",
    titles="""
        {PLAN} divides {PLACE}
        {PLACE}: {group} demand answers over {PLAN}
        Council postpones {PLAN} to {month}
        {group} win prize for {project}
    """,
    sentences="""
        {group} in {PLACE} have called on the council to rethink {PLAN}, {reason}.
        {speaker} told the meeting on {day} that {PLAN} would cost {12..980} thousand pounds.
        "{quote}", said {speaker}, who has lived near {place} for {4..52} years.
        About {30..900} residents signed a petition for {project} at {place}.
        The vote, taken shortly after {7..11}:{minute}, ended {5..14} to {2..4} with {1..3} abstentions.
        Work on {project} is due to begin in {month} and will last {3..26} weeks, {reason}.
        {speaker} pointed to {place}, where a similar scheme failed in {1988..2021}.
        Buses on route {2..89} will be diverted past {place} until {month}.
        {group} plan to hold a {gathering} outside {place} on {day} at {9..19}:{minute}.
        Last {month} the same committee turned down {project}, {reason}.
        An independent report, {12..190} pages long, found that {finding}.
        Police were called to {place} on {day} evening after {incident}; nobody was hurt.
        The money was meant for {project}, but {speaker} says that {finding}.
        Prices near {place} have risen by {3..38} per cent since {PLAN} became known.
        In a letter to this newspaper, {group} describe {PLAN} as "{opinion}".
        Volunteers from {place} have already planted {40..900} trees and mended {incident_place}.
        {speaker} wouldn't comment on {incident}, but promised a {gathering} before {month}.
        For {group}, the matter isn't closed: {finding}.
        Meanwhile {project} has raised {2..95} thousand pounds, more than {group} had hoped.
        The school at {place} lost {4..60} pupils this year, {reason}.
        Opening hours at {place} change on {1..28} {month}, {speaker} announced.
        Whether {PLAN} goes ahead depends on {group} and on a grant of {20..700} thousand pounds.
    """,
    slots={
        "plan": "the bypass | a new swimming hall | the closure of the library | the quarry extension | the parking charge | "
        "the tram line | a tidal power station | the merger of two schools | the wind farm | the market hall roof",
        "place": "Pennywell | Lower Marsh | Saint Orla's Square | the old brickworks | Harsey Bridge | Millbrook Lane | "
        "the corn exchange | Tannery Row | the railway arches | Crofters' Green | the canal basin",
        "group": "allotment holders | shopkeepers | parents | young farmers | cyclists | retired teachers | bell-ringers | "
        "market traders | the swimming club | neighbours of the depot",
        "speaker": "the deputy mayor | a spokeswoman for the builders | the town clerk | the head teacher | "
        "one stallholder | the parish priest | a retired bus driver | the chair of planning | the fire chief",
        "project": "a footbridge | the new playground | the repair of the clock tower | a night bus | a community orchard | "
        "the flood wall | a repair café | the youth theatre | a seed library",
        "reason": "citing noise and dust | after months of argument | despite warnings from engineers | "
        "because the lease runs out | in spite of heavy rain | on the advice of a surveyor | to the surprise of many | "
        "since no contractor could be found",
        "quote": "We were simply never asked | I've seen three such plans come and go | It's our children who will pay | "
        "There is still time to do this properly | You can't park a bus on a promise | I'd rather have the trees",
        "finding": "traffic counts were out of date | the roof was sound after all | the figures had been added twice | "
        "the soil is softer than assumed | fewer people use it than claimed | the cheaper option was never costed",
        "incident": "a burst water main | a spilt load of turnips | a garage fire | an escaped herd of goats | "
        "a power cut | the collapse of a wall | a false alarm",
        "incident_place": "the bandstand | a dry stone wall | forty benches | the towpath | the bus shelter | two stiles",
        "opinion": "an answer to a question nobody put | long overdue | a bill without a budget | brave but hasty | "
        "the least bad idea so far | a gift to the pigeons",
        "gathering": "public hearing | torchlit walk | street picnic | vigil | silent march | workshop",
        "day": "Monday | Tuesday | Wednesday | Thursday | Friday | Saturday | Sunday",
        "month": "January | February | March | April | May | June | July | August | September | October | "
        "November | December",
    },
)

_REVIEW = topic(
    "en",
    "review",
    site="Kettle and Bolt Product Tests",
    titles="""
        Tested: the {MODEL} {THING}
        {MODEL} {THING} after {2..18} months of use
        Is the {MODEL} the best {THING} under {40..400} pounds?
        {THING} group test: {MODEL} against {model}
    """,
    sentences="""
        The {MODEL} arrives in {package} together with {extra} and {extra}.
        At {0.6..9.8} kilograms it's {comparison} than the {model}, and {verdict}.
        We used it for {3..20} weeks in {setting}, where {event}.
        {part} feels {quality}, although {part} could be {wish}.
        In our {trial} test the {MODEL} needed {4..55} minutes, against {6..75} for the {model}.
        Its hum of {31..78} decibels went unnoticed in {setting}, {verdict}.
        The manual doesn't mention {extra}, so {tester} had to guess.
        After {20..400} cycles {part} showed {wear}; the {model} fared worse.
        {tester} liked {part} best of all: "{quote}".
        A spare for {part} costs {3..49} pounds and can be fitted with {tool} in {2..25} minutes.
        In {setting} the {THING} is {quality}, but in {setting} {event}.
        The guarantee runs for {1..10} years and covers {part}, but not {wear}.
        Energy use came to {0.1..4.9} kilowatt-hours in the {trial} test, {verdict}.
        {model} and {model} owners will find the controls {quality} at first.
        It's available in {colour}, {colour} and, for {5..30} pounds more, {colour}.
        We dropped it {2..9} times from {40..150} centimetres; {part} survived, {extra} did not.
        If you mostly work in {setting}, the cheaper {model} is {comparison} and will do.
        Cleaning means removing {part} with {tool}, {verdict}.
        {tester} measured {30..90} degrees at {part} after the {trial} test.
        What we'd change: {part} should be {wish}, and {extra} belongs in the box.
    """,
    slots={
        "model": "Corvane 300 | Tilby Duo | Orrin X2 | Hask Compact | Melder 9 | Pavo Light | Brindle Pro | Quillon S | "
        "Wexa 45 | Lunt Classic",
        "thing": "cordless drill | electric kettle | bicycle lamp | garden shredder | bread maker | wet vacuum cleaner | "
        "camping stove | desk fan | sewing machine | label printer",
        "package": "a plain cardboard box | far too much foam | a neat steel case | recycled paper | a cotton bag",
        "extra": "a charging cradle | two spare filters | a short cable | the cleaning brush | a leather strap | "
        "a measuring cup | the wall bracket | an Allen key | a carrying net",
        "comparison": "lighter | noisier | quieter | clumsier | steadier | slower | better balanced | more thirsty",
        "verdict": "which surprised us | as the maker claims | and that's a fair result | the best value in this group | "
        "not a figure to be proud of | which is about average | hardly worth the premium",
        "setting": "a damp cellar | a small workshop | the office kitchen | a mountain hut | a busy school | a narrow boat | "
        "an allotment shed",
        "event": "the motor stalled twice | nothing ever jammed | dust got into the switch | the battery outlived ours | "
        "the display fogged up | neighbours complained",
        "part": "the lid hinge | the power switch | the rubber foot | the inner drum | the speed dial | the handle | "
        "the water gauge | the locking ring | the battery cover",
        "quality": "solid | cheap but honest | well thought out | slightly loose | pleasantly warm | fiddly | "
        "hard to fault | oddly placed",
        "wish": "larger | easier to grip | made of metal | softer | better sealed | labelled | replaceable",
        "trial": "endurance | cold start | dust | full load | spray water | stop-and-go",
        "wear": "fine cracks | a dull film | slight rust | scuff marks | a broken clip | a bent spring",
        "tester": "our oldest tester | the lab | a carpenter on our panel | one left-handed reader | the night shift",
        "tool": "a coin | a cross-head screwdriver | bare hands | the supplied key | patience and pliers",
        "quote": "It simply gets out of the way | I'd buy it for that alone | You could use it with gloves on | "
        "Why isn't this standard",
        "colour": "slate grey | signal red | cream | bottle green | matt black | pale blue | ochre",
    },
)

TOPICS = (_HARBOUR, _RECIPE, _MANUAL, _MUSEUM, _NEWS, _REVIEW)

CHAPTER = topic(
    "en",
    "chapter",
    site="Open Shelf Texts",
    titles="""
        Chapter {4..29}. {NOUN} and the {weather}
    """,
    sentences="""
        {time}, {who} {did} {noun}, and {who} {did} {noun} {where}.
        {who} {did} {noun} {where}, {manner}.
        "{speech}," said {who} {manner}, and {did} {noun}.
        {time} the {weather} {moved} {where}, and with it went {noun}.
        It was {who} who {did} {noun}; {who} only {did} {noun} {manner}.
        {where}, {manner}, {who} {did} {noun} that {who} had forgotten {where}.
        Had {who} known about {noun}, {who} would never have gone {where} {time}.
        There were {3..60} steps from {noun} to {noun}, and {who} counted them {time}.
        {who} remembered {noun} {where}, and how the {weather} {moved} over it {time}.
        "{speech}?" asked {who}. "{speech}," came the answer {where}.
        Nobody {where} believed that {who} {did} {noun} {manner}.
        {manner}, as though {noun} belonged to {who}, the {weather} {moved} {where}.
        {time} {who} wrote to {who} about {noun}: "{speech}."
        Between {noun} and {noun} lay {5..90} years, and {who} {did} both {manner}.
        What {who} wanted was {noun}; what came {time} was {noun} {where}.
        {who} and {who} {did} {noun} {where} until the {weather} {moved} {where}.
        Not {noun}, not {noun}, but the {weather} {did_to} {who} {time}.
        When {who} {did} {noun} {where}, {who} laughed {manner}.
    """,
    slots={
        "who": "the ferryman | Ilse | old Marrow | the surveyor's boy | Tamsin | my grandmother | the lamplighter | "
        "Captain Brook | the miller's wife | a stranger in a grey coat | Joss | the schoolmaster | Wren | "
        "the younger sister | Anselm | the woman from the salt works | nobody in particular | the postmistress",
        "did": "had hidden | counted | carried off | mended | would not sell | kept silent about | set fire to | "
        "looked for | dreamt of | painted | gave away | buried | could never find | laughed at | measured | "
        "wrapped up | waited beside | broke | borrowed | drew",
        "did_to": "frightened | woke | cured | held back | pleased | betrayed | followed | drove out",
        "noun": "the brass key | a letter without a name | the last of the bread | an empty birdcage | the blue door | "
        "three silver spoons | the harbour bell | a map of the marshes | the broken oar | his father's watch | "
        "a basket of eels | the green ledger | two lame horses | the wedding linen | a jar of nails | "
        "the lighthouse stairs | an unfinished boat | the smell of tar | a debt of forty crowns | the winter apples | "
        "the second grave | a sleeping dog | the torn sail | an old quarrel | the key to the chapel",
        "where": "behind the rope walk | at the foot of the stairs | beyond the third lock | in the lee of the wall | "
        "under the alders | on the far bank | in the kitchen at Harsey | across the yard | by the sluice gate | "
        "above the chandler's shop | in the long grass | between the tide marks | along the sea wall | "
        "near the lime kiln | outside the chapel | down in the hold | upon the causeway | at the turn of the lane",
        "time": "before daylight | that same evening | in the week of the storms | on the eve of the fair | "
        "long after the lamps were out | one Sunday in March | when the clocks had stopped | by noon | "
        "as the herring came in | in the third year of the drought | at the hour of the low tide | later | "
        "the morning after the funeral | towards Christmas | while the bells rang | for the first time in years",
        "manner": "without a word | with a great show of patience | as if in church | rather too quickly | "
        "with both hands | the way one counts sheep | smiling at no one | against all advice | out of pure habit | "
        "not unkindly | with the door open | like a man paying a fine | half asleep | in a voice like gravel | "
        "and was sorry at once | for want of anything better",
        "weather": "fog | rain | east wind | first snow | smoke | thaw | evening light | flood | long drought | hail",
        "moved": "came down | drifted | lay for days | turned | crept up | lifted | settled | drove in | broke | waited",
        "speech": "You were never good at waiting | The river keeps what it is given | I have seen smaller boats come home | "
        "Leave it where it lies | Not while I hold the lamp | It was warmer in my day | They will ask for it in spring | "
        "Then let the eels have it | A bell is a poor sort of clock | I only came for the bread | Nobody owes the sea | "
        "Who told you there was a door | We shall want more rope | Put it back before he counts them",
    },
)
