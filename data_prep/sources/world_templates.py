"""Question templates of the built-in dataset: a relation path and ways to ask for it.

The last two phrases of a template are asked in test only, the third last in dev only,
the others in train.
"""

from __future__ import annotations

from dataclasses import dataclass

from data_prep.sources.world_facts import (
    BORDERS,
    CALLING_CODE,
    CAPITAL,
    CITY_COUNTRY,
    CITY_SERVED,
    CITY_STATE,
    CURRENCY,
    DEMONYM,
    DOMAIN_OF,
    IATA_CODE,
    LANGUAGE,
    SUBREGION,
    TIME_ZONE,
)

BACK = "^"
"""Marks a relation that is followed from tail to head."""


@dataclass(frozen=True, kw_only=True)
class Template:
    """One kind of question."""

    kind: str
    """What the topic is, a key of ``world_facts.KINDS``."""
    path: tuple[str, ...]
    """Relations from topic to answers, ``BACK`` before those followed backwards."""
    phrases: tuple[str, ...]
    """Wordings with ``{topic}``, at least six."""
    share: float = 1.0
    """How many questions are asked of it, against the usual number."""

    @property
    def train(self) -> tuple[str, ...]:
        """The wordings of the training questions."""
        return self.phrases[:-3]

    @property
    def dev(self) -> tuple[str, ...]:
        """The wording of the dev questions."""
        return self.phrases[-3:-2]

    @property
    def test(self) -> tuple[str, ...]:
        """The wordings of the test questions."""
        return self.phrases[-2:]


def _template(kind: str, path: str, phrases: str, share: float = 1.0) -> Template:
    """A template from a path of short names and one wording per line."""
    relations = tuple(
        BACK + SHORT[step[1:]] if step.startswith(BACK) else SHORT[step]
        for step in path.split()
    )
    wordings = tuple(line.strip() for line in phrases.strip().splitlines())
    return Template(kind=kind, path=relations, phrases=wordings, share=share)


SHORT = {
    "capital": CAPITAL,
    "borders": BORDERS,
    "currency": CURRENCY,
    "language": LANGUAGE,
    "subregion": SUBREGION,
    "calling": CALLING_CODE,
    "demonym": DEMONYM,
    "domain": DOMAIN_OF,
    "country": CITY_COUNTRY,
    "state": CITY_STATE,
    "zone": TIME_ZONE,
    "served": CITY_SERVED,
    "iata": IATA_CODE,
}

TEMPLATES: tuple[Template, ...] = (
    # One hop.
    _template(
        "country",
        "capital",
        """
        What is the capital of {topic}?
        Which city is the capital of {topic}?
        Name the capital city of {topic}.
        What city is the seat of government in {topic}?
        In which city would you find the national government of {topic}?
        {topic} is governed from which city?
        """,
        share=0.35,
    ),
    _template(
        "country",
        "borders",
        """
        Which countries border {topic}?
        What countries share a border with {topic}?
        Name the neighbours of {topic}.
        Which nations lie next to {topic}?
        Leaving {topic} by land, which countries can one enter?
        Who are the direct neighbours of {topic}?
        """,
        share=0.35,
    ),
    _template(
        "city",
        "country",
        """
        In which country is {topic}?
        What country does {topic} belong to?
        {topic} is a city in which country?
        Which country contains {topic}?
        Where in the world is {topic}, by country?
        Travelling to {topic}, which country would one visit?
        """,
        share=0.35,
    ),
    _template(
        "airport",
        "served",
        """
        Which city is served by {topic}?
        What city does {topic} serve?
        {topic} is the airport of which city?
        Which town do flights to {topic} take you to?
        Landing at {topic}, which city is one in?
        For which city was {topic} built?
        """,
        share=0.35,
    ),
    _template(
        "city",
        "^served",
        """
        Which airports serve {topic}?
        What airports does {topic} have?
        Name an airport of {topic}.
        Where do planes land in {topic}?
        Flying to {topic}, at which airport does one arrive?
        From which airports can people in {topic} take off?
        """,
        share=0.35,
    ),
    _template(
        "country",
        "currency",
        """
        What is the currency of {topic}?
        Which currency is used in {topic}?
        What money do people use in {topic}?
        In which currency are prices given in {topic}?
        How does one pay for things in {topic}?
        Which notes and coins circulate in {topic}?
        """,
        share=0.35,
    ),
    _template(
        "country",
        "language",
        """
        What languages are spoken in {topic}?
        Which language do people speak in {topic}?
        What do the people of {topic} speak?
        Which tongues are in use in {topic}?
        In what language would one talk to the locals of {topic}?
        Which languages does one hear in {topic}?
        """,
        share=0.35,
    ),
    _template(
        "language",
        "^language",
        """
        In which countries is the {topic} spoken?
        Where do people speak the {topic}?
        Which countries use the {topic}?
        What countries have speakers of the {topic}?
        Learning the {topic} helps in which countries?
        Of which nations is the {topic} a tongue?
        """,
        share=0.35,
    ),
    # Two hops.
    _template(
        "city",
        "country language",
        """
        What language is spoken in the country where {topic} lies?
        Which languages do people speak in the country of {topic}?
        {topic} is in a country where people speak which language?
        What do the inhabitants of the country around {topic} speak?
        Which language is used in the nation that {topic} is part of?
        People from the country that contains {topic} speak what language?
        To chat with people across the country of {topic}, what should one learn?
        """,
        share=0.25,
    ),
    _template(
        "city",
        "country currency",
        """
        What is the currency of the country where {topic} lies?
        Which currency is used in the country of {topic}?
        {topic} is in a country that uses which money?
        What money does the country that contains {topic} have?
        Which currency is legal tender in the nation of {topic}?
        How do shoppers pay in the country that {topic} belongs to?
        Before a trip to {topic}, which currency should one get?
        """,
        share=0.4,
    ),
    _template(
        "city",
        "country capital",
        """
        What is the capital of the country where {topic} lies?
        Which city is the capital of the country of {topic}?
        {topic} is in a country with which capital?
        Name the capital of the nation that contains {topic}.
        What capital city governs the country of {topic}?
        From which city is the country that {topic} belongs to ruled?
        Where is the national government of the people of {topic}?
        """,
        share=1.4,
    ),
    _template(
        "city",
        "country demonym",
        """
        What are people from the country where {topic} lies called?
        What do you call someone from the country of {topic}?
        What is the demonym of the country that contains {topic}?
        {topic} is in a country whose people are called what?
        What name is given to citizens of the nation of {topic}?
        A citizen of the country that {topic} belongs to is known as what?
        What nationality does somebody from {topic} have?
        """,
        share=0.5,
    ),
    _template(
        "city",
        "country ^domain",
        """
        What is the internet domain of the country where {topic} lies?
        Which top-level domain does the country of {topic} have?
        {topic} is in a country with which web suffix?
        What domain ending belongs to the country that contains {topic}?
        Which internet suffix does the nation of {topic} use?
        How do web addresses from the country that {topic} belongs to end?
        What comes after the last dot on sites from the country around {topic}?
        """,
        share=0.25,
    ),
    _template(
        "city",
        "country borders",
        """
        Which countries border the country where {topic} lies?
        What are the neighbours of the country of {topic}?
        {topic} is in a country that borders which others?
        Name the countries next to the one that contains {topic}.
        Which states touch the nation of {topic}?
        Which lands adjoin the country that {topic} belongs to?
        Driving out of the country of {topic}, which countries can be reached?
        """,
        share=0.25,
    ),
    _template(
        "city",
        "country subregion",
        """
        In which part of the world is the country where {topic} lies?
        Which region is the country of {topic} in?
        {topic} is in a country of which subregion?
        What area of its continent is the country that contains {topic} part of?
        To which subregion does the nation of {topic} belong?
        In which world region would one look for the country of {topic}?
        Which group of countries is the homeland of {topic} counted among?
        """,
        share=0.25,
    ),
    _template(
        "airport",
        "served country",
        """
        In which country is the city that {topic} serves?
        Which country is {topic} in?
        {topic} serves a city in which country?
        What country does one enter at {topic}?
        To which nation does the city of {topic} belong?
        Whose border guards check passports at {topic}?
        In what country do passengers to {topic} land?
        """,
        share=0.25,
    ),
    _template(
        "airport",
        "served state",
        """
        In which state is the city that {topic} serves?
        Which U.S. state is {topic} in?
        {topic} serves a city in which state?
        What state does one land in at {topic}?
        Which American state does the city of {topic} belong to?
        Whose governor looks after the town next to {topic}?
        In what part of the United States do passengers to {topic} arrive?
        """,
        share=0.25,
    ),
    _template(
        "country",
        "borders capital",
        """
        What are the capitals of the countries that border {topic}?
        Which capitals do the neighbours of {topic} have?
        Name the capital cities of the countries next to {topic}.
        Which cities are capitals of nations that share a border with {topic}?
        From which cities are the neighbours of {topic} governed?
        Which capital cities lie just across the frontiers of {topic}?
        """,
        share=1.4,
    ),
    _template(
        "country",
        "borders currency",
        """
        Which currencies are used in the countries that border {topic}?
        What money do the neighbours of {topic} use?
        Name the currencies of the countries next to {topic}.
        What currencies have the nations that share a border with {topic}?
        How do people pay in the countries around {topic}?
        Crossing the frontiers of {topic}, which money might one need?
        """,
        share=0.25,
    ),
    _template(
        "country",
        "capital ^served",
        """
        Which airports serve the capital of {topic}?
        What airports does the capital city of {topic} have?
        Name an airport in the capital of {topic}.
        Where do planes to the capital of {topic} land?
        At which airport do diplomats visiting the government of {topic} arrive?
        Flying to the seat of government of {topic}, where does one touch down?
        """,
    ),
    _template(
        "country",
        "capital zone",
        """
        What is the time zone of the capital of {topic}?
        Which time zone is the capital city of {topic} in?
        Name the time zone that the capital of {topic} follows.
        By which time zone are clocks set in the capital of {topic}?
        Which zone tells the government of {topic} what time it is?
        Calling the seat of government of {topic}, whose local time matters?
        """,
        share=0.25,
    ),
    _template(
        "iata",
        "^iata served",
        """
        Which city is served by the airport with the code {topic}?
        What city has the airport {topic}?
        {topic} is the airport code of which city?
        Which town do tickets to {topic} take you to?
        A suitcase labelled {topic} goes to which city?
        With {topic} on the boarding pass, in which city does one land?
        """,
        share=0.5,
    ),
    _template(
        "domain",
        "domain capital",
        """
        What is the capital of the country with the internet domain {topic}?
        Which capital has the country whose web sites end in {topic}?
        {topic} is the domain of a country with which capital?
        Name the capital of the nation that owns the domain {topic}.
        From which city is the country behind {topic} addresses governed?
        Pages under {topic} come from a country with which seat of government?
        """,
    ),
    _template(
        "domain",
        "domain currency",
        """
        What is the currency of the country with the internet domain {topic}?
        Which money is used where web sites end in {topic}?
        {topic} is the domain of a country with which currency?
        Name the currency of the nation that owns the domain {topic}.
        How do people pay in the country behind {topic} addresses?
        Shops under {topic} are at home in a country with which money?
        """,
        share=0.5,
    ),
    _template(
        "calling code",
        "^calling currency",
        """
        What is the currency of the country with the calling code {topic}?
        Which money is used in the country that one dials with {topic}?
        {topic} is the dialling code of a country with which currency?
        Name the currency of the nation reached by dialling {topic}.
        Callers whose number starts with {topic} pay at home with what?
        Which currency is legal tender where telephones answer to {topic}?
        """,
        share=0.6,
    ),
    _template(
        "calling code",
        "^calling capital",
        """
        What is the capital of the country with the calling code {topic}?
        Which capital has the country that one dials with {topic}?
        {topic} is the dialling code of a country with which capital?
        Name the capital of the nation reached by dialling {topic}.
        Callers whose number starts with {topic} are governed from which city?
        Where is the seat of government of those who answer to {topic}?
        """,
    ),
    _template(
        "calling code",
        "^calling language",
        """
        What language is spoken in the country with the calling code {topic}?
        Which languages do people speak in the country that one dials with {topic}?
        {topic} is the dialling code of a country that speaks which language?
        Name the languages of the nation reached by dialling {topic}.
        In which tongue do callers whose number starts with {topic} say hello?
        What will one hear when the number dialled begins with {topic}?
        """,
        share=0.4,
    ),
    _template(
        "calling code",
        "^calling demonym",
        """
        What are people from the country with the calling code {topic} called?
        What do you call citizens of the country that one dials with {topic}?
        {topic} is the dialling code of a country whose people are called what?
        What is the demonym of the nation reached by dialling {topic}?
        Which nationality have callers whose number starts with {topic}?
        A passport from the land behind the prefix {topic} makes its holder what?
        """,
    ),
    _template(
        "domain",
        "domain demonym",
        """
        What are people from the country with the internet domain {topic} called?
        What do you call citizens of the country whose web sites end in {topic}?
        {topic} is the domain of a country whose people are called what?
        What is the demonym of the nation that owns the domain {topic}?
        Which nationality have the people behind {topic} addresses?
        A passport from the country of {topic} pages makes its holder what?
        """,
        share=0.6,
    ),
    _template(
        "demonym",
        "^demonym capital",
        """
        What is the capital of the country whose people are called {topic}?
        Which capital has the country of {topic} people?
        {topic} citizens come from a country with which capital?
        Name the capital of the nation with {topic} inhabitants.
        In which city does the {topic} government meet?
        From where are {topic} people governed?
        """,
        share=0.25,
    ),
    # Three hops.
    _template(
        "airport",
        "served country capital",
        """
        What is the capital of the country where {topic} is located?
        Which capital has the country of the city that {topic} serves?
        {topic} serves a city in a country with which capital?
        Name the capital of the nation that one enters at {topic}.
        What capital city governs the country of {topic}?
        From which city is the country around {topic} ruled?
        Landing at {topic}, one is in a country with which seat of government?
        """,
        share=1.4,
    ),
    _template(
        "airport",
        "served country currency",
        """
        Which currency is used where {topic} is located?
        What is the currency of the country of the city that {topic} serves?
        {topic} serves a city in a country with which money?
        Name the currency of the nation that one enters at {topic}.
        What money does the country of {topic} use?
        Taking a taxi from {topic}, in which currency does one pay?
        Which notes should travellers carry when they land at {topic}?
        """,
    ),
    _template(
        "airport",
        "served country language",
        """
        Which language is spoken where {topic} is located?
        What is the language of the country of the city that {topic} serves?
        {topic} serves a city in a country that speaks which language?
        Name the languages of the nation that one enters at {topic}.
        What do people in the country of {topic} speak?
        Which phrase book helps travellers who land at {topic}?
        In what tongue would a taxi driver at {topic} greet passengers?
        """,
        share=1.4,
    ),
    _template(
        "airport",
        "served country calling",
        """
        What is the calling code of the country where {topic} is located?
        Which dialling code has the country of the city that {topic} serves?
        {topic} serves a city in a country with which telephone code?
        Name the international prefix of the nation that one enters at {topic}.
        What code does one dial for the country of {topic}?
        Phoning a hotel near {topic} from abroad, which country prefix is needed?
        With which digits does a phone number from the land around {topic} start?
        """,
        share=0.5,
    ),
    _template(
        "airport",
        "served country demonym",
        """
        What are people from the country where {topic} is located called?
        What is the demonym of the country of the city that {topic} serves?
        {topic} serves a city in a country whose people are called what?
        What do you call citizens of the nation that one enters at {topic}?
        What name do the people of the country of {topic} go by?
        Which nationality have the locals who live around {topic}?
        A passport from the country of {topic} makes its holder what?
        """,
        share=1.4,
    ),
    _template(
        "airport",
        "served country borders",
        """
        Which countries border the country where {topic} is located?
        What are the neighbours of the country of the city that {topic} serves?
        {topic} serves a city in a country that borders which others?
        Name the countries next to the nation that one enters at {topic}.
        Which nations touch the country of {topic}?
        Renting a car at {topic}, to which countries can one drive directly?
        Which lands adjoin the country that {topic} belongs to?
        """,
        share=0.5,
    ),
    _template(
        "city",
        "country borders capital",
        """
        What are the capitals of the countries that border the country of {topic}?
        Which capitals have the neighbours of the country where {topic} lies?
        {topic} is in a country whose neighbours have which capitals?
        Name the capitals of the countries next to the one that contains {topic}.
        Which cities are capitals of states that touch the nation of {topic}?
        From which cities are the lands around the country of {topic} governed?
        Which seats of government lie across the borders of the country of {topic}?
        """,
        share=1.4,
    ),
    _template(
        "city",
        "country borders currency",
        """
        Which currencies are used in the countries that border the country of {topic}?
        What money do the neighbours of the country where {topic} lies use?
        {topic} is in a country whose neighbours have which currencies?
        Name the currencies of the countries next to the one that contains {topic}.
        Which currencies have the states that touch the nation of {topic}?
        How do people pay in the lands that adjoin the country of {topic}?
        Leaving the country of {topic} by car, which money might one need?
        """,
        share=0.25,
    ),
    _template(
        "city",
        "country capital ^served",
        """
        Which airports serve the capital of the country where {topic} lies?
        What airports has the capital of the country of {topic}?
        {topic} is in a country whose capital has which airports?
        Name an airport in the capital of the nation that contains {topic}.
        Where do planes to the capital of the country of {topic} land?
        Flying to the seat of government of people in {topic}, where does one arrive?
        At which airport do envoys to the country that {topic} belongs to land?
        """,
        share=1.4,
    ),
    _template(
        "iata",
        "^iata served country",
        """
        In which country is the airport with the code {topic}?
        What country has the city of the airport {topic}?
        {topic} is the airport code of a city in which country?
        Which nation do tickets to {topic} take you to?
        A suitcase labelled {topic} goes to which country?
        With {topic} on the boarding pass, in which country does one land?
        """,
        share=0.25,
    ),
    _template(
        "country",
        "borders capital ^served",
        """
        Which airports serve the capitals of the countries that border {topic}?
        What airports have the capitals of the neighbours of {topic}?
        Name the airports in the capital cities of the countries next to {topic}.
        Where do planes to the capitals of nations that adjoin {topic} land?
        Visiting the governments of the countries around {topic}, where does one land?
        At which airports do envoys to the neighbours of {topic} arrive?
        """,
        share=1.4,
    ),
    _template(
        "domain",
        "domain capital ^served",
        """
        Which airports serve the capital of the country with the domain {topic}?
        What airports has the capital of the country whose web sites end in {topic}?
        {topic} is the domain of a country whose capital has which airports?
        Name an airport in the capital of the nation that owns the domain {topic}.
        Flying to the government of the country behind {topic}, where does one land?
        At which airports do envoys to the country of {topic} addresses arrive?
        """,
    ),
    _template(
        "domain",
        "domain borders capital",
        """
        What are the capitals of the neighbours of the country with the domain {topic}?
        Which capitals have the countries next to the one whose sites end in {topic}?
        {topic} is the domain of a country whose neighbours have which capitals?
        Name the capitals of countries that border the nation owning the domain {topic}.
        From which cities are the lands around the country behind {topic} governed?
        Across the borders of the country of {topic} lie which seats of government?
        """,
    ),
    _template(
        "calling code",
        "^calling capital ^served",
        """
        Which airports serve the capital of the country with the code {topic}?
        What airports has the capital of the country that one dials with {topic}?
        {topic} is the dialling code of a country whose capital has which airports?
        Name an airport in the capital of the nation reached by dialling {topic}.
        Flying to the government of callers from {topic}, where does one land?
        At which airports do envoys to the land behind the prefix {topic} arrive?
        """,
    ),
    _template(
        "currency",
        "^currency capital ^served",
        """
        Which airports serve the capital of a country that uses the {topic}?
        What airports have the capitals of countries whose currency is the {topic}?
        The {topic} is the money of countries whose capitals have which airports?
        Name an airport in the capital of a nation where one pays with the {topic}.
        Flying to governments that tax people in the {topic}, where does one land?
        With the {topic} in one's wallet, at which airports of capitals can one arrive?
        """,
    ),
    # Four hops.
    _template(
        "airport",
        "served country borders capital",
        """
        What are the capitals of the countries that border the country of {topic}?
        Which capitals have the neighbours of the country where {topic} is located?
        {topic} serves a city in a country whose neighbours have which capitals?
        Name the capitals of the countries next to the one that one enters at {topic}.
        From which cities are the lands around the country of {topic} governed?
        Which seats of government lie across the borders of the country of {topic}?
        """,
        share=1.4,
    ),
    _template(
        "airport",
        "served country capital ^served",
        """
        Which airports serve the capital of the country where {topic} is located?
        {topic} serves a city in a country whose capital has which airports?
        Name an airport in the capital of the nation that one enters at {topic}.
        Where do planes to the capital of the country of {topic} land?
        Going on from {topic} to the national capital by air, where does one land?
        At which airport do envoys to the country around {topic} arrive?
        """,
    ),
    _template(
        "iata",
        "^iata served country capital",
        """
        What is the capital of the country of the airport with the code {topic}?
        Which capital has the country of the city of the airport {topic}?
        {topic} is the airport code of a city in a country with which capital?
        Name the capital of the nation that tickets to {topic} take you to.
        A suitcase labelled {topic} goes to a country with which capital?
        With {topic} on the boarding pass, one lands in a country ruled from where?
        """,
    ),
    _template(
        "city",
        "country borders capital ^served",
        """
        Which airports serve the capitals of the neighbours of the country of {topic}?
        {topic} is in a country whose neighbours have capitals with which airports?
        What airports have the capitals of countries next to the nation of {topic}?
        Name airports in capitals across the borders of the country of {topic}.
        Visiting the governments of lands around the nation of {topic}, where to land?
        At which airports do envoys from {topic} to the adjoining countries arrive?
        """,
        share=1.4,
    ),
    _template(
        "iata",
        "^iata served country currency",
        """
        What is the currency of the country of the airport with the code {topic}?
        Which money has the country of the city of the airport {topic}?
        {topic} is the airport code of a city in a country with which currency?
        Name the currency of the nation that tickets to {topic} take you to.
        A suitcase labelled {topic} goes to a country with which money?
        With {topic} on the boarding pass, one lands where people pay with what?
        """,
        share=0.25,
    ),
)
"""Every kind of question, in the order in which they are asked."""
