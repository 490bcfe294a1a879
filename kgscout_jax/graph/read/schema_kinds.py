"""Kinds of schema.org of which several objects of one name are one thing.

Those of organisations, people and places; products and events of one name are several.
"""

from __future__ import annotations

import re

_ENDINGS = (
    "Organization Business Store Shop Restaurant Establishment Company Contractor "
    "Corporation Agency Agent Dealer Team Club Party Union School University Clinic "
    "Salon Center Office Building Theater Venue Station Terminal Resort Park "
    "Temple Church Hospital Museum Library Brand BodyOfWater"
).split()
"""Last words of their names: BookStore, NewsMediaOrganization, TrainStation."""
_OTHERS = (
    "Person Language Airline Consortium Cooperative NGO LibrarySystem PerformingGroup "
    "MusicGroup DanceGroup TheaterGroup "
    # businesses
    "AutoRental AutoRepair AutoWash MotorcycleRepair AnimalShelter ChildCare Dentist "
    "DryCleaningOrLaundry EmergencyService FinancialService AccountingService "
    "LegalService ProfessionalService Attorney Notary Casino Bakery BarOrPub Brewery "
    "Distillery Winery InternetCafe DaySpa TattooParlor Electrician HousePainter "
    "Locksmith Plumber BedAndBreakfast Campground Hostel Hotel Motel VacationRental "
    "Optician Pharmacy Physician Physiotherapy VeterinaryCare DiagnosticLab "
    "SelfStorage ArtGallery BowlingAlley ExerciseGym GolfCourse PublicSwimmingPool "
    "SportsActivityLocation StadiumOrArena TennisComplex Florist "
    # places
    "Place AdministrativeArea City Country State SchoolDistrict Continent Landform "
    "Mountain Volcano Canal Pond Reservoir Waterfall Beach CivicStructure Airport "
    "Aquarium Bridge Cemetery Crematorium CityHall Courthouse Embassy PlaceOfWorship "
    "Mosque Synagogue Zoo LandmarksOrHistoricalBuildings TouristAttraction "
    "TouristDestination"
).split()
_ONE_BY_NAME = re.compile(rf"\w*(?:{'|'.join(_ENDINGS)})|{'|'.join(_OTHERS)}")


def is_one_by_name(kind: str) -> bool:
    """Whether several objects of this kind and of one name are one.

    >>> [is_one_by_name(kind) for kind in ("BookStore", "City", "Book", "Event")]
    [True, True, False, False]
    """
    return _ONE_BY_NAME.fullmatch(kind) is not None
