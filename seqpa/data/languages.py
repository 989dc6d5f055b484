"""What the built-in tokenizer knows of a language: abbreviations, and words that open sentences.

Written by hand. A period after a title never ends a sentence; after another abbreviation only
where a word follows that often opens sentences; after a mark of numbers ("No. 5") never before a
number.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from seqpa.errors import SeqpaError, did_you_mean


@dataclass(frozen=True, slots=True)
class Language:
    """The words that rules for sentences and tokens look up, in lower case without periods.

    Parameters
    ----------
    titles : frozenset of str
        Abbreviations that stand before a name.
    abbreviations : frozenset of str
        Others, which may end a sentence.
    marks : frozenset of str
        Words that a period shortens only before a number.
    openers : frozenset of str
        Words that open a sentence so often that one ends before them.
    ordinals : bool
        Whether a period makes an ordinal of a number.
    elisions : tuple of str
        What is cut off before a vowel, up to its apostrophe.
    contractions : bool
        Whether English contractions are two tokens.
    """

    titles: frozenset[str] = frozenset()
    abbreviations: frozenset[str] = frozenset()
    marks: frozenset[str] = frozenset()
    openers: frozenset[str] = frozenset()
    ordinals: bool = False
    elisions: tuple[str, ...] = ()
    contractions: bool = False


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _english() -> Language:
    return Language(
        titles=_words(
            "mr mrs ms messrs mmes dr drs prof profs rev revd hon gen lt col maj capt cpt cmdr "
            "adm sgt cpl pvt gov lieut pres supt sen rep reps sens st mt ft msgr fr br sr vs "
            "v gens cols insp det atty"
        ),
        abbreviations=_words(
            "inc corp co cos ltd llc plc bros assn assoc dept depts univ inst est etc al cf ca "
            "approx appt apt ave blvd rd hwy bldg jr esq phd md ba ma bsc msc jan feb mar apr jun "
            "jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun ala ariz ark "
            "calif colo conn del fla ga ill ind kan kans ky la mass md mich minn miss mo mont neb "
            "nebr nev okla ore pa penn tenn tex va vt wash wis wyo dak ont que alta min max avg "
            "hr hrs sec secs yr yrs lb lbs oz ed eds trans repr cont misc govt intl natl gen "
            "mfg mgr dist div ext orig resp incl excl esp temp tel dia sq cu ft mi mph doz a.m p.m "
            "i.e e.g u.s u.k u.n d.c"
        ),
        marks=_words("no nos art arts fig figs p pp vol vols ch chap sec secs par eq eqs op nr"),
        openers=_words(
            "the a an this that these those he she it they we you i there here his her their our "
            "its my your in on at by for from with as if when while after before since although "
            "though because but and or so yet however meanwhile moreover then now today "
            "yesterday what who why how where which one two some many most all no not"
        ),
        contractions=True,
    )


def _german() -> Language:
    return Language(
        titles=_words(
            "hr hrn fr frl dr prof dipl ing med phil jur rer nat mag st hl gen lt hptm maj "
            "univ priv doz med dent habil kfm dir präs"
        ),
        abbreviations=_words(
            "abb abk abs abschn abt allg anm anmerk art aufl bd bde begr beisp bes bez bezgl bspw "
            "bsp bzgl bzw ca chr co dergl dgl ders dez dt ebd ehem eigtl einschl engl entspr erg "
            "etc evtl exkl feb febr ff forts franz gegr geb gem gen gest ggf griech hg hrsg inkl "
            "insb insbes inc ital jan jh jhd jhdt jhrh jr jul jun kap kath kgl lat lt lfd ltd "
            "max mind min mio mrd mwst mär mrz nov nördl o.ä okt österr östl phil plz pos red "
            "resp röm s.o s.u sen sept sog sonst spez std stdn str südl tel teilw u.a u.ä urspr "
            "usw v.a vgl verh verst vorm vs westl wg z.b z.t zit zw zzgl zz d.h i.d.r m.e n.chr "
            "v.chr u.u o.g bzw mo di mi do sa"
        ),
        marks=_words("nr nrn art abs abb bd kap s §§ ziff tab no anl az"),
        openers=_words(
            "der die das ein eine er sie es wir ihr ich dies diese dieser dieses jene sein seine "
            "in im am an auf bei mit nach von vor zu zum zur für durch über unter als wenn weil "
            "da dann doch aber und oder denn so auch nun heute gestern hier dort man was wer wie "
            "wo warum allerdings dabei damit danach daher deshalb zudem außerdem jedoch"
        ),
        ordinals=True,
    )


def _french() -> Language:
    return Language(
        titles=_words("m mm mme mmes mlle mlles dr pr me mgr st ste sts gal gén col cap lt cdt"),
        abbreviations=_words(
            "adj adm apr av bd boul bibl cf ch chap circ cie coll dép dept dir éd env etc ex exp "
            "fasc féd fig fr id ibid inf janv févr avr juil sept oct nov déc ltd mar max min "
            "n.b obs op p.ex p.m s.a sc sq suiv sup suppl tél trad univ v.o env j.-c al rem réf"
        ),
        marks=_words("n no nos art fig p pp vol chap t al §"),
        openers=_words(
            "le la les un une des il elle ils elles on nous vous je tu ce cet cette ces son sa ses "
            "leur leurs en dans à au aux par pour avec sur sous chez depuis après avant lorsque "
            "quand si comme mais et ou donc or ni car puis ainsi alors cependant toutefois enfin "
            "ici là aujourd'hui hier que qui quoi où pourquoi comment"
        ),
        elisions=(
            *("l", "d", "j", "m", "t", "s", "c", "n", "ç"),
            *("qu", "jusqu", "lorsqu", "puisqu", "quoiqu"),
        ),
    )


def _spanish() -> Language:
    return Language(
        titles=_words(
            "sr sra sres sras srta srtas d dña dn dra dr dres prof profa lic licda ing arq gral "
            "cnel cap tte sgto fr hno hna mons pbro rvdo excmo excma ilmo ilma sto sta san"
        ),
        abbreviations=_words(
            "admón apdo aprox art av avda bco c.v cap cía cf cta ctra dcha depto dpto ed ej ene "
            "feb abr jun jul ago sept oct nov dic etc ext fig íd ibíd izq izqda ltda máx mín "
            "n.b núm pág págs p.ej pl prov ptas pto s.a s.l sdad seg sig sigs ss tel tfno "
            "ud uds univ vd vds vol ee.uu a.c d.c a.m p.m rr.hh ff.aa"
        ),
        marks=_words("núm núms no nº n art pág págs p pp vol cap fig t §"),
        openers=_words(
            "el la los las un una unos unas él ella ellos ellas yo tú nosotros usted ustedes este "
            "esta estos estas ese esa su sus mi en de a al del por para con sin sobre desde hasta "
            "tras según cuando si como aunque mientras pero y o ni pues así entonces además sin "
            "embargo hoy ayer aquí allí qué quién cómo dónde cuándo no se lo"
        ),
    )


_MAKERS = {"english": _english, "german": _german, "french": _french, "spanish": _spanish}
_CODES = {"en": "english", "de": "german", "fr": "french", "es": "spanish"}
LANGUAGES = (*_MAKERS, "any")


@lru_cache(maxsize=16)
def language_of(name: str) -> Language:
    """What is known of a language.

    Parameters
    ----------
    name : str
        One of `LANGUAGES` or its code of two letters; ``any`` knows what holds everywhere.

    Returns
    -------
    Language

    Examples
    --------
    >>> "bzw" in language_of("de").abbreviations, language_of("any").titles
    (True, frozenset())
    """
    known = _CODES.get(name.lower(), name.lower())
    if known == "any":
        return Language()
    if known not in _MAKERS:
        hint = did_you_mean(name, _MAKERS, listed=False)
        raise SeqpaError(
            f"language: {name!r} is none of {', '.join(LANGUAGES)}{hint or '; say any for others'}"
        )
    return _MAKERS[known]()
