"""What all tests share: hypothesis has no deadline, machines are sometimes busy."""

from hypothesis import settings

settings.register_profile("kgscout", deadline=None)
settings.load_profile("kgscout")
